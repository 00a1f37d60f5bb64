// SPDX-License-Identifier: Apache-2.0
/* slots.c - see slots.h */
#include "pbs/slots.h"

bool slots_next(struct str *rest, struct slots *ret)
{
	struct str part;
	const char *slash;

	while (rest->n && str_split(rest, '+', &part)) {
		if (!part.n)
			continue;
		slash = memchr(part.p, '/', part.n);
		ret->host = slash ? (struct str){ part.p, (size_t)(slash - part.p) } : part;
		ret->ranges = slash ? (struct str){ slash + 1, part.n - ret->host.n - 1 } : STR("0");
		return true;
	}
	return false;
}

static bool number(struct str s, int *ret)
{
	int v = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || v > SLOT_MOST)
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*ret = v;
	return s.n > 0 && v <= SLOT_MOST;
}

bool slots_range(struct str *ranges, int *ret_first, int *ret_last)
{
	struct str to;
	struct str from;

	if (!ranges->n || !str_split(ranges, ',', &to))
		return false;
	str_split(&to, '-', &from);
	if (!number(from, ret_first))
		return false;
	*ret_last = *ret_first;
	return !to.n || (number(to, ret_last) && *ret_last >= *ret_first);
}

void slots_expand(struct str exec_host, struct sbuf *out)
{
	struct slots s;
	bool any = false;
	int first;
	int last;

	while (slots_next(&exec_host, &s))
		while (slots_range(&s.ranges, &first, &last))
			for (int i = first; i <= last; i++, any = true)
				sbuf_addf(out, "%s%.*s/%d", any ? "+" : "", STR_FMT(s.host), i);
}

void slots_short_gpus(struct str exec_gpus, struct sbuf *out)
{
	struct str host = { NULL, 0 };
	struct slots s;

	while (slots_next(&exec_gpus, &s)) {
		if (host.p && host.n == s.host.n && memcmp(host.p, s.host.p, host.n) == 0)
			sbuf_addf(out, "/%.*s", STR_FMT(s.ranges));
		else
			sbuf_addf(out, "%s%.*s/%.*s", host.p ? "+" : "", STR_FMT(s.host), STR_FMT(s.ranges));
		host = s.host;
	}
}
