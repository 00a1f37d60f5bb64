// SPDX-License-Identifier: Apache-2.0
/* typeref.c - a cursor over field tables and CRD schemas, see typeref.h
 *
 * A typeref is a value: stepping down makes a new one, and nothing is owned.  A cursor that leaves what is known
 * becomes all zero and stays so.
 */
#include "kinds/typeref.h"

#include "base/jsonx.h"

static const struct typeref unknown;

static struct typeref of_field(const struct field *f)
{
	return (struct typeref){
		.field = f,
		.msg = f->shape == SHAPE_ONE && f->type == FIELD_OBJECT ? f->msg : NULL,
		.whole = f->shape == SHAPE_ONE && f->type == FIELD_ANY && f->flags & FIELD_EMBEDDED,
	};
}

static bool schema_flag(const json_t *schema, const char *name)
{
	return json_is_true(json_object_get(schema, name));
}

static struct typeref of_schema(const json_t *schema)
{
	if (!json_is_object(schema))
		return unknown;
	return (struct typeref){ .schema = schema, .whole = schema_flag(schema, "x-kubernetes-embedded-resource") };
}

struct typeref typeref_of_kind(const struct kind *k)
{
	if (k->message)
		return (struct typeref){ .msg = k->message };
	return (struct typeref){ .schema = k->schema ? schema_json(k->schema) : NULL, .whole = true };
}

static struct typeref schema_member(const json_t *schema, const char *name)
{
	const json_t *named = json_object_get(json_object_get(schema, "properties"), name);

	return of_schema(named ? named : json_object_get(schema, "additionalProperties"));
}

struct typeref typeref_member(struct typeref t, const char *name)
{
	const struct field *f;

	/* Schemas say nothing useful about metadata: it is the same in every object. */
	if (t.whole && streq(name, "metadata"))
		return (struct typeref){ .msg = &meta_object };
	if (t.msg) {
		f = message_field(t.msg, name);
		return f ? of_field(f) : unknown;
	}
	if (t.schema)
		return schema_member(t.schema, name);
	return t.field && t.field->shape == SHAPE_MAP ? typeref_item(t) : unknown;
}

bool typeref_named(struct typeref t, const char *name)
{
	if (t.whole && streq(name, "metadata"))
		return true;
	if (t.msg)
		return message_field(t.msg, name) != NULL;
	return json_object_get(json_object_get(t.schema, "properties"), name) != NULL;
}

struct typeref typeref_item(struct typeref t)
{
	const json_t *items;

	if (t.field && t.field->shape != SHAPE_ONE && !t.item)
		return (struct typeref){
			.field = t.field,
			.msg = t.field->type == FIELD_OBJECT ? t.field->msg : NULL,
			.whole = t.field->type == FIELD_ANY && t.field->flags & FIELD_EMBEDDED,
			.item = true,
		};
	if (!t.schema)
		return unknown;
	items = json_object_get(t.schema, "items");
	return of_schema(items ? items : json_object_get(t.schema, "additionalProperties"));
}

bool typeref_atomic(struct typeref t)
{
	const char *type;

	if (t.msg && t.msg->atomic)
		return true;
	if (t.field && t.field->type == FIELD_ANY && (t.item || t.field->shape == SHAPE_ONE))
		return !(t.field->flags & FIELD_EMBEDDED);
	if (t.field && t.field->shape != SHAPE_LIST && !t.item && t.field->flags & FIELD_ATOMIC)
		return true;
	type = json_string_value(json_object_get(t.schema, "x-kubernetes-map-type"));
	return type && streq(type, "atomic");
}

bool typeref_struct(struct typeref t)
{
	return t.msg && !t.item && t.field && !(t.field->flags & FIELD_POINTER);
}

enum list_type typeref_list_type(struct typeref t)
{
	const char *type = json_string_value(json_object_get(t.schema, "x-kubernetes-list-type"));

	if (type)
		return streq(type, "map") ? LIST_MAP : streq(type, "set") ? LIST_SET : LIST_ATOMIC;
	if (!t.field || t.field->shape != SHAPE_LIST || t.item || t.field->flags & FIELD_ATOMIC)
		return LIST_ATOMIC;
	if (t.field->flags & FIELD_SET)
		return LIST_SET;
	return t.field->list_keys || t.field->merge_key ? LIST_MAP : LIST_ATOMIC;
}

size_t typeref_list_keys(struct typeref t, struct str *ret_keys, size_t max)
{
	const json_t *names = json_object_get(t.schema, "x-kubernetes-list-map-keys");
	struct str rest = { 0 };
	struct str part;
	size_t n = 0;
	size_t i;
	const json_t *name;

	json_array_foreach (names, i, name) {
		if (n < max && json_is_string(name))
			ret_keys[n++] = (struct str){ json_string_value(name), json_string_length(name) };
	}
	if (t.field)
		rest = str_of(t.field->list_keys ? t.field->list_keys : t.field->merge_key);
	while (n < max && str_split(&rest, ',', &part))
		ret_keys[n++] = str_trim(part);
	return n;
}

static json_t *literal(const char *text)
{
	struct err ignored = ERR_INIT;
	json_t *v = NULL;

	jsonx_parse(text, strlen(text), NULL, NULL, &v, &ignored);
	return v;
}

json_t *typeref_key_default(struct typeref t, struct str key)
{
	struct typeref item = typeref_item(t);
	const json_t *property;
	const struct field *f;

	if (item.schema) {
		property = json_object_getn(json_object_get(item.schema, "properties"), key.p, key.n);
		return jsonx_copy(json_object_get(property, "default"));
	}
	for (size_t i = 0; item.msg && i < item.msg->nfields; i++) {
		f = &item.msg->fields[i];
		if (str_eq(key, f->name))
			return f->dflt ? literal(f->dflt) : NULL;
	}
	return NULL;
}
