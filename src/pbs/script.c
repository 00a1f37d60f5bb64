// SPDX-License-Identifier: Apache-2.0
/* script.c - finds the directives in a job's script
 *
 * A directive counts only before the first line that a shell would run: later ones are comments, as in every PBS.  The
 * rest of the script is kept byte by byte.
 */
#include "pbs/script.h"

#include <ctype.h>

enum { TORQUE_LOOKS_AT = 50 }; /* bytes at the beginning, for what no text has */

int script_check(struct str text, struct err *e)
{
	bool binary = memchr(text.p ? text.p : "", 0, text.n) || !str_is_utf8(text.p, text.n);

	for (size_t i = 0; i < text.n && i < TORQUE_LOOKS_AT; i++)
		binary |= iscntrl((unsigned char)text.p[i]) && !isspace((unsigned char)text.p[i]);
	if (binary)
		return err_set(e, ERR_INVALID, " file must be an ascii script");
	for (size_t i = 1; i < text.n; i++)
		if (text.p[i] == '\n' && text.p[i - 1] == '\r')
			return err_set(e, ERR_INVALID, " script is written in DOS/Windows text format");
	return 0;
}

/* Cuts one line off, with its end. */
static struct str line_cut(struct str *rest)
{
	const char *end = memchr(rest->p, '\n', rest->n);
	size_t n = end ? (size_t)(end - rest->p) + 1 : rest->n;
	struct str line = { rest->p, n };

	*rest = (struct str){ rest->p + n, rest->n - n };
	return line;
}

static struct str after_blanks(struct str s)
{
	size_t n = 0;

	while (n < s.n && isspace((unsigned char)s.p[n]))
		n++;
	return (struct str){ s.p + n, s.n - n };
}

static bool starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

static bool is_comment(struct str line)
{
	struct str s = after_blanks(line);

	return starts(line, ":") || !s.n || s.p[0] == '#';
}

/* Is there a backslash at its end?  The last line may have no end of line. */
static bool continues(struct str line)
{
	size_t n = line.n && line.p[line.n - 1] == '\n' ? line.n - 1 : line.n;

	return n && line.p[n - 1] == '\\';
}

/* Appends a directive with the lines that continue it. */
static int directive_join(struct str line, struct str *rest, struct sbuf *kept, struct err *e)
{
	while (continues(line)) {
		sbuf_add(kept, line.p, line.n - (line.p[line.n - 1] == '\n' ? 2 : 1));
		if (!rest->n)
			return err_set(e, ERR_INVALID, "the script ends within a directive that is continued by \\");
		line = line_cut(rest);
	}
	sbuf_add(kept, line.p, line.n);
	return 0;
}

static size_t line_number(struct str text, const char *at)
{
	size_t n = 1;

	for (const char *p = text.p; p < at; p++)
		n += *p == '\n';
	return n;
}

int script_scan(struct str text, const char *prefix, script_directive *directive, void *arg, struct sbuf *kept,
		size_t *ret_line, struct err *e)
{
	struct str rest = text;
	bool looking = prefix[0] != 0;

	while (looking && rest.n) {
		struct str before = rest;
		struct str line = line_cut(&rest);
		size_t from = kept->n;
		struct str whole;

		if (!starts(after_blanks(line), prefix)) {
			looking = is_comment(line);
			if (looking)
				sbuf_add(kept, line.p, line.n);
			else
				rest = before;
			continue;
		}
		if (ret_line)
			*ret_line = line_number(text, line.p);
		if (directive_join(line, &rest, kept, e) < 0)
			return -1;
		whole = after_blanks((struct str){ kept->p + from, kept->n - from });
		whole = (struct str){ whole.p + strlen(prefix), whole.n - strlen(prefix) };
		if (directive(arg, whole, e) < 0)
			return -1;
	}
	sbuf_add(kept, rest.p, rest.n);
	if (kept->n && kept->p[kept->n - 1] != '\n')
		sbuf_addc(kept, '\n');
	return 0;
}
