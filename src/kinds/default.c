// SPDX-License-Identifier: Apache-2.0
/* default.c - what the tables say an absent field means
 *
 * For each object: the rows' literals, then the message's own function, then the children, so that a default that adds
 * an object ("securityContext": {}) is itself filled in.
 */
#include "base/jsonx.h"
#include "kinds/field.h"

/* Literals are nearly always a word, a number or {}: those need no parser. */
static json_t *literal(const char *text)
{
	struct err e = ERR_INIT;
	size_t n = strlen(text);
	int64_t number;
	json_t *v = NULL;

	if (text[0] == '"' && n >= 2 && !memchr(text, '\\', n))
		return json_stringn_nocheck(text + 1, n - 2);
	if (str_int64(text, INT64_MIN, INT64_MAX, &number))
		return json_integer(number);
	if (streq(text, "true") || streq(text, "false"))
		return json_boolean(text[0] == 't');
	if (streq(text, "{}"))
		return json_object();
	if (streq(text, "[]"))
		return json_array();
	return jsonx_parse(text, n, NULL, NULL, &v, &e) < 0 ? NULL : v;
}

/* Go cannot tell an absent value from a zero one unless the field is a pointer, and its defaulting replaces both.
 * Numbers only count as such where the wire table (field.number) says how the field is declared. */
static bool is_unset(const struct field *f, const json_t *v)
{
	if (!v)
		return true;
	if (f->flags & FIELD_POINTER)
		return false;
	if (json_is_string(v))
		return json_string_length(v) == 0;
	return f->number && json_is_integer(v) && json_integer_value(v) == 0;
}

void message_default_top(const struct message *m, json_t *obj)
{
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[i];

		if (f->flags & FIELD_INLINE)
			message_default_top(f->msg, obj);
		else if (f->dflt && is_unset(f, json_object_get(obj, f->name)))
			json_object_set_new_nocheck(obj, f->name, literal(f->dflt));
	}
	if (m->defaults)
		m->defaults(obj);
}

static void default_children(const struct field *f, json_t *v)
{
	const char *key;
	json_t *child;
	size_t i;

	switch (f->shape) {
	case SHAPE_ONE:
		message_default(f->msg, v);
		break;
	case SHAPE_LIST:
		json_array_foreach (v, i, child)
			message_default(f->msg, child);
		break;
	default:
		json_object_foreach (v, key, child)
			message_default(f->msg, child);
	}
}

void message_default(const struct message *m, json_t *obj)
{
	const char *key;
	json_t *v;

	if (!json_is_object(obj))
		return;
	message_default_top(m, obj);
	json_object_foreach (obj, key, v) {
		const struct field *f;

		if (!json_is_object(v) && !json_is_array(v))
			continue;
		f = message_field(m, key);
		if (f && f->type == FIELD_OBJECT)
			default_children(f, v);
	}
}
