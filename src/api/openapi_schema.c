// SPDX-License-Identifier: Apache-2.0
/* openapi_schema.c - one definition from a field table, with what kubectl reads in it: types, docs, patch strategies */
#include "api/openapi.h"
#include "base/jsonx.h"
#include "base/mem.h"

static void set_string(json_t *obj, const char *name, const char *value)
{
	json_object_set_new(obj, name, json_string(value));
}

static json_t *string_parts(const char *text, char sep)
{
	json_t *list = json_array();
	struct str rest = str_of(text);
	struct str part;

	while (str_split(&rest, sep, &part))
		json_array_append_new(list, json_stringn(part.p, part.n));
	return list;
}

/* The schema of one value of the row, list and map put aside. */
static json_t *value_schema(const struct openapi *o, const struct field *f)
{
	static const struct {
		const char *type, *format;
	} plain[] = {
		[FIELD_STRING] = { "string", NULL },     [FIELD_BOOL] = { "boolean", NULL },
		[FIELD_INT32] = { "integer", "int32" },  [FIELD_INT64] = { "integer", "int64" },
		[FIELD_DOUBLE] = { "number", "double" }, [FIELD_BYTES] = { "string", "byte" },
	};
	const struct openapi_scalar *scalar = openapi_scalar_of((enum field_type)f->type);
	json_t *s;

	if (f->type == FIELD_OBJECT)
		return openapi_ref(o, f->msg->name);
	if (scalar)
		return openapi_ref(o, scalar->name);
	s = json_object();
	if (f->type == FIELD_ANY) {
		if (f->flags & FIELD_EMBEDDED)
			json_object_set_new(s, "x-kubernetes-embedded-resource", json_true());
		if (o->dialect == OPENAPI_V3)
			json_object_set_new(s, "x-kubernetes-preserve-unknown-fields", json_true());
		return s;
	}
	set_string(s, "type", plain[f->type].type);
	if (plain[f->type].format)
		set_string(s, "format", plain[f->type].format);
	if (f->values)
		json_object_set_new(s, "enum", string_parts(f->values, '|'));
	return s;
}

/* In v3 a reference may have no neighbours, so that it hides in an allOf where a description is to stand beside it. */
static json_t *with_neighbours(const struct openapi *o, json_t *schema)
{
	if (o->dialect == OPENAPI_V2 || !json_object_get(schema, "$ref"))
		return schema;
	return json_pack("{s:[o]}", "allOf", schema);
}

static void set_list_type(json_t *s, const struct field *f)
{
	const char *keys = f->list_keys ? f->list_keys : f->merge_key;

	if (f->flags & FIELD_SET) {
		set_string(s, "x-kubernetes-list-type", "set");
	} else if (keys && !(f->flags & FIELD_ATOMIC)) {
		set_string(s, "x-kubernetes-list-type", "map");
		json_object_set_new(s, "x-kubernetes-list-map-keys", string_parts(keys, ','));
	} else {
		set_string(s, "x-kubernetes-list-type", "atomic");
	}
}

static void set_patch_strategy(json_t *s, const struct field *f)
{
	bool merges = f->merge_key || (f->flags & FIELD_SET);
	bool retains = f->flags & FIELD_RETAIN_KEYS;

	if (f->merge_key)
		set_string(s, "x-kubernetes-patch-merge-key", f->merge_key);
	if (merges || retains)
		set_string(s, "x-kubernetes-patch-strategy",
			   merges && retains ? "merge,retainKeys"
			   : merges          ? "merge"
					     : "retainKeys");
	else if (f->flags & FIELD_REPLACE)
		set_string(s, "x-kubernetes-patch-strategy", "replace");
}

static json_t *field_schema(const struct openapi *o, const struct field *f)
{
	json_t *s = value_schema(o, f);

	if (f->shape == SHAPE_LIST) {
		s = json_pack("{s:s, s:o}", "type", "array", "items", s);
		set_list_type(s, f);
	} else if (f->shape == SHAPE_MAP) {
		s = json_pack("{s:s, s:o}", "type", "object", "additionalProperties", s);
	} else {
		s = with_neighbours(o, s);
	}
	if (f->shape != SHAPE_LIST && (f->flags & FIELD_ATOMIC))
		set_string(s, "x-kubernetes-map-type", "atomic");
	if (f->doc)
		set_string(s, "description", f->doc);
	set_patch_strategy(s, f);
	return s;
}

static void add_properties(const struct openapi *o, const struct message *m, json_t *props, json_t *required)
{
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[i];

		if (f->flags & FIELD_INLINE) {
			add_properties(o, f->msg, props, required);
			continue;
		}
		json_object_set_new(props, f->name, field_schema(o, f));
		if (f->flags & FIELD_REQUIRED)
			json_array_append_new(required, json_string(f->name));
	}
}

static json_t *message_schema(const struct openapi *o, const struct message *m)
{
	json_t *s = json_pack("{s:s}", "type", "object");
	json_t *props = json_object();
	json_auto_t *required = json_array();

	if (m->doc)
		set_string(s, "description", m->doc);
	add_properties(o, m, props, required);
	if (json_array_size(required))
		json_object_set(s, "required", required);
	if (json_object_size(props))
		json_object_set_new(s, "properties", props);
	else
		json_decref(props);
	if (m->atomic)
		set_string(s, "x-kubernetes-map-type", "atomic");
	return s;
}

static json_t *list_schema(const struct openapi *o, const struct kind *k)
{
	auto_sbuf struct sbuf name = SBUF(4096);
	json_t *s;

	openapi_kind_name(k, &name);
	s = json_pack("{s:s, s:o, s:[s], s:{s:{s:s}, s:{s:s}, s:{s:s, s:o}, s:o}}", "type", "object", "description",
		      jsonx_stringf("A list of %s.", k->kind), "required", "items", "properties", "apiVersion", "type",
		      "string", "kind", "type", "string", "items", "type", "array", "items", openapi_ref(o, name.p),
		      "metadata", openapi_ref(o, meta_list.name));
	return s;
}

/* v3 can say what v2 cannot: a string or a number. */
static json_t *scalar_schema(const struct openapi *o, const struct openapi_scalar *scalar)
{
	json_t *s = json_pack("{s:s}", "description", scalar->doc);
	bool number = scalar == openapi_scalar_of(FIELD_QUANTITY);
	bool integer = scalar == openapi_scalar_of(FIELD_INTSTR);

	if (scalar->format)
		set_string(s, "format", scalar->format);
	if (o->dialect == OPENAPI_V3 && (number || integer))
		json_object_set_new(s, "oneOf",
				    json_pack("[{s:s}, {s:s}]", "type", integer ? "integer" : "string", "type",
					      integer ? "string" : "number"));
	else
		set_string(s, "type", scalar->type);
	return s;
}

json_t *openapi_schema(const struct openapi *o, const struct openapi_def *def)
{
	json_t *s = def->source == DEF_MESSAGE  ? message_schema(o, def->msg)
		    : def->source == DEF_CUSTOM ? openapi_custom(o, def->kind)
		    : def->source == DEF_LIST   ? list_schema(o, def->kind)
						: scalar_schema(o, def->scalar);

	if (def->gvks)
		json_object_set(s, "x-kubernetes-group-version-kind", def->gvks);
	return s;
}
