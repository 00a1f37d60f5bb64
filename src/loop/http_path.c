// SPDX-License-Identifier: Apache-2.0
/* http_path.c - percent-encoding and query strings; pure, and the first code that foreign bytes meet after the parser
 */
#include <ctype.h>

#include "loop/http.h"

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool http_unescape(struct str in, bool query, struct sbuf *out)
{
	size_t start = out->n;
	size_t run = 0;

	for (size_t i = 0; i < in.n; i++) {
		char c = in.p[i];

		if (c == '\0')
			return false;
		if (c != '%' && !(query && c == '+'))
			continue;
		sbuf_add(out, in.p + run, i - run);
		if (c == '+') {
			sbuf_addc(out, ' ');
		} else {
			bool whole = in.n - i > 2;
			int hi = whole ? hex_value(in.p[i + 1]) : -1;
			int lo = whole ? hex_value(in.p[i + 2]) : -1;

			if (hi < 0 || lo < 0 || (hi == 0 && lo == 0))
				return false;
			sbuf_addc(out, (char)(hi << 4 | lo));
			i += 2;
		}
		run = i + 1;
	}
	sbuf_add(out, in.p + run, in.n - run);
	return !out->over && str_is_utf8(out->p ? out->p + start : "", out->n - start);
}

bool http_query_next(struct str *rest, struct sbuf *key, struct sbuf *value, bool *bad)
{
	struct str part;

	*bad = false;
	while (rest->n && str_split(rest, '&', &part)) {
		struct str name = { NULL, 0 };

		if (!part.n) /* "a=1&&b=2" */
			continue;
		str_split(&part, '=', &name);
		sbuf_reset(key);
		sbuf_reset(value);
		if (!http_unescape(name, true, key) || (part.p && !http_unescape(part, true, value))) {
			*bad = true;
			return false;
		}
		return true;
	}
	return false;
}
