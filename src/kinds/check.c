// SPDX-License-Identifier: Apache-2.0
/* check.c - the rules a row can state: required, one of, at least; and the call of each message's own rules
 *
 * Works on decoded and defaulted objects, so types are already right.  Missing fields of an object are told first, then
 * what is wrong with those it has and everything below them, then the message's own complaints.
 */
#include "kinds/field.h"

static bool is_empty(const struct field *f, const json_t *v)
{
	if (!v || json_is_null(v))
		return true;
	if (json_is_string(v))
		return json_string_length(v) == 0;
	return f->shape == SHAPE_LIST ? json_array_size(v) == 0 : f->shape == SHAPE_MAP && json_object_size(v) == 0;
}

static void check_required(const struct message *m, const json_t *obj, const struct path *at, struct err *e)
{
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[i];

		if (f->flags & FIELD_INLINE)
			check_required(f->msg, obj, at, e);
		else if (f->flags & FIELD_REQUIRED && is_empty(f, json_object_get(obj, f->name)))
			path_required(PATH_FIELD(at, f->name), e, NULL);
	}
}

static bool is_one_of(const char *values, const char *s)
{
	struct str rest = str_of(values);
	struct str part;

	while (str_split(&rest, '|', &part))
		if (str_eq(part, s))
			return true;
	return false;
}

static void check_value(const struct field *f, const json_t *v, const struct path *at, struct err *e)
{
	if (f->type == FIELD_OBJECT) {
		message_validate(f->msg, v, at, e);
		return;
	}
	if (f->values && json_is_string(v)) {
		const char *s = json_string_value(v);

		/* A single empty string is an unset one; if that is wrong, FIELD_REQUIRED has said so. */
		if ((s[0] || f->shape != SHAPE_ONE) && !is_one_of(f->values, s))
			path_unsupported(at, e, s, f->values);
	}
	if (f->has_min && json_is_number(v) && json_number_value(v) < f->min)
		path_invalid(at, e, v, "must be greater than or equal to %d", (int)f->min);
}

static void check_field(const struct field *f, const json_t *v, const struct path *at, struct err *e)
{
	const char *key;
	json_t *child;
	size_t i;

	switch (f->shape) {
	case SHAPE_ONE:
		check_value(f, v, at, e);
		break;
	case SHAPE_LIST:
		json_array_foreach (v, i, child)
			check_value(f, child, PATH_INDEX(at, i), e);
		break;
	default:
		json_object_foreach ((json_t *)v, key, child)
			check_value(f, child, PATH_KEY(at, key), e);
	}
}

/* An inlined message's own rules see the object it is inlined in. */
static void check_own(const struct message *m, const json_t *obj, const struct path *at, struct err *e)
{
	for (size_t i = 0; i < m->nfields; i++)
		if (m->fields[i].flags & FIELD_INLINE)
			check_own(m->fields[i].msg, obj, at, e);
	if (m->validate)
		m->validate(obj, at, e);
}

int message_validate(const struct message *m, const json_t *obj, const struct path *at, struct err *e)
{
	unsigned before = e->ncauses;
	const char *key;
	json_t *v;

	check_required(m, obj, at, e);
	json_object_foreach ((json_t *)obj, key, v) {
		const struct field *f = message_field(m, key);

		if (f && (f->type == FIELD_OBJECT || f->values || f->has_min))
			check_field(f, v, &(struct path){ .up = at, .name = key, .in = obj }, e);
	}
	check_own(m, obj, at, e);
	return e->ncauses > before ? -1 : 0;
}
