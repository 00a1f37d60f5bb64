// SPDX-License-Identifier: Apache-2.0
/* field.c - rows by name and by number, and paths as error texts spell them
 *
 * decode.c, default.c and check.c walk objects with these.  A path is a chain on the stack; its text is only made when
 * there is something to complain about.
 */
#include "kinds/field.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/limits.h"

#define PATH_MAX_TEXT  512
#define VALUE_MAX_TEXT 200

/* A table is scanned, not hashed: rows are few, and the first two bytes tell nearly all names apart without a call. */
const struct field *message_field(const struct message *m, const char *name)
{
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[i];

		if (f->flags & FIELD_INLINE) {
			const struct field *inner = message_field(f->msg, name);

			if (inner)
				return inner;
		} else if (f->name[0] == name[0] && f->name[0] && f->name[1] == name[1] && streq(f->name, name)) {
			return f;
		}
	}
	return NULL;
}

const struct field *message_field_number(const struct message *m, unsigned number)
{
	/* Most tables are written in the order of their numbers. */
	if (number && number <= m->nfields && m->fields[number - 1].number == number)
		return &m->fields[number - 1];
	for (size_t i = 0; number && i < m->nfields; i++)
		if (m->fields[i].number == number)
			return &m->fields[i];
	return NULL;
}

/* Writes the path from its root and returns how much of buf is used. */
static size_t put_path(const struct path *at, char *buf, size_t n)
{
	size_t used = at->up ? put_path(at->up, buf, n) : 0;
	size_t room = n - used;
	int len;

	if (at->name)
		len = snprintf(buf + used, room, "%s%s", used ? "." : "", at->name);
	else if (at->key)
		len = snprintf(buf + used, room, "[%s]", at->key);
	else
		len = snprintf(buf + used, room, "[%zu]", at->index);
	if (len < 0)
		return used;
	return (size_t)len < room ? used + (size_t)len : n - 1;
}

const char *path_text(const struct path *at, char *buf, size_t n)
{
	buf[0] = '\0';
	if (at)
		put_path(at, buf, n);
	return buf;
}

int path_required(const struct path *at, struct err *e, const char *detail)
{
	char where[PATH_MAX_TEXT];

	return err_cause(e, CAUSE_REQUIRED, path_text(at, where, sizeof(where)), "Required value%s%s",
			 detail ? ": " : "", detail ? detail : "");
}

/* A value as complaints quote it; a long one is cut, a person only has to recognise it. */
static void put_value(const json_t *value, struct sbuf *out)
{
	const char *s = json_string_value(value);
	size_t n = s ? json_string_length(value) : 0;
	size_t keep = n < VALUE_MAX_TEXT ? n : VALUE_MAX_TEXT;

	if (!value) {
		sbuf_adds(out, "null");
	} else if (s) {
		while (keep < n && keep && ((unsigned char)s[keep] & 0xc0) == 0x80)
			keep--;
		sbuf_add_json_string(out, s, keep);
	} else {
		auto_sbuf struct sbuf text = SBUF(VALUE_MAX_TEXT);

		jsonx_dump(value, &text);
		sbuf_add(out, sbuf_str(&text).p, text.n);
		n += text.over;
	}
	if (keep < n)
		sbuf_adds(out, "...");
}

int path_invalid(const struct path *at, struct err *e, const json_t *value, const char *fmt, ...)
{
	char where[PATH_MAX_TEXT];
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);
	va_list ap;

	put_value(value, &text);
	sbuf_adds(&text, ": ");
	va_start(ap, fmt);
	sbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	return err_cause(e, CAUSE_INVALID, path_text(at, where, sizeof(where)), "Invalid value: %s", text.p);
}

int path_unsupported(const struct path *at, struct err *e, const char *value, const char *values)
{
	char where[PATH_MAX_TEXT];
	struct str rest = str_of(values);
	struct str part;
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);

	sbuf_add_json_string(&text, value, strnlen(value, VALUE_MAX_TEXT));
	for (const char *lead = ": supported values: "; str_split(&rest, '|', &part); lead = ", ")
		sbuf_addf(&text, "%s\"%.*s\"", lead, STR_FMT(part));
	return err_cause(e, CAUSE_NOT_SUPPORTED, path_text(at, where, sizeof(where)), "Unsupported value: %s", text.p);
}

int path_duplicate(const struct path *at, struct err *e, const json_t *value)
{
	char where[PATH_MAX_TEXT];
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);

	put_value(value, &text);
	return err_cause(e, CAUSE_DUPLICATE, path_text(at, where, sizeof(where)), "Duplicate value: %s", text.p);
}

int path_forbidden(const struct path *at, struct err *e, const char *fmt, ...)
{
	char where[PATH_MAX_TEXT];
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	return err_cause(e, CAUSE_FORBIDDEN, path_text(at, where, sizeof(where)), "Forbidden: %s", sbuf_str(&text).p);
}
