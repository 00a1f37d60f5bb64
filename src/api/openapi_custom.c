// SPDX-License-Identifier: Apache-2.0
/* openapi_custom.c - a custom kind's schema as clients may see it
 *
 * v3 shows it as it is.  v2 has no words for nullable, anyOf and its kin, and kubectl takes any `properties` there for
 * all there are; so what v2 cannot say is left out, and where unknown fields are kept nothing below is named.
 */
#include "api/openapi.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/schema.h"

static const char doc_kind[] = "What this object is, in CamelCase.";
static const char doc_version[] = "Group and version of the form this object is written in.";

static void add_own_fields(const struct openapi *o, json_t *schema)
{
	json_t *props = json_object_get(schema, "properties");

	if (!json_is_object(props)) {
		props = json_object();
		json_object_set_new(schema, "properties", props);
	}
	json_object_set_new(props, "apiVersion", json_pack("{s:s, s:s}", "type", "string", "description", doc_version));
	json_object_set_new(props, "kind", json_pack("{s:s, s:s}", "type", "string", "description", doc_kind));
	json_object_set_new(props, "metadata", openapi_ref(o, meta_object.name));
}

static void drop(json_t *s, const char *const *names)
{
	for (; *names; names++)
		json_object_del(s, *names);
}

static void downgrade(json_t *s)
{
	static const char *const unsayable[] = { "allOf",    "anyOf",   "oneOf",   "not",
						 "nullable", "default", "example", "x-kubernetes-validations",
						 NULL };
	static const char *const children[] = { "items", "properties", "additionalProperties", NULL };
	bool nullable = json_is_true(json_object_get(s, "nullable"));
	bool preserve = json_is_true(json_object_get(s, "x-kubernetes-preserve-unknown-fields"));
	json_t *extra = json_object_get(s, "additionalProperties");
	const char *key;
	json_t *child;

	drop(s, unsayable);
	if (nullable || preserve) {
		drop(s, children);
		if (nullable || str_same(jsonx_str(s, "type"), "array"))
			json_object_del(s, "type");
		return;
	}
	if (json_is_boolean(extra))
		json_object_del(s, "additionalProperties");
	else if (extra)
		downgrade(extra);
	if ((child = json_object_get(s, "items")))
		downgrade(child);
	json_object_foreach (json_object_get(s, "properties"), key, child)
		downgrade(child);
}

/* Embedded objects have the three fields of every object, whether the schema names them or not. */
static void complete_embedded(const struct openapi *o, json_t *s)
{
	const char *key;
	json_t *child;

	if (json_is_true(json_object_get(s, "x-kubernetes-embedded-resource")))
		add_own_fields(o, s);
	if ((child = json_object_get(s, "items")))
		complete_embedded(o, child);
	if (json_is_object(child = json_object_get(s, "additionalProperties")))
		complete_embedded(o, child);
	json_object_foreach (json_object_get(s, "properties"), key, child)
		complete_embedded(o, child);
}

json_t *openapi_custom(const struct openapi *o, const struct kind *k)
{
	json_t *s = k->schema ? jsonx_copy(schema_json(k->schema)) : json_pack("{s:s}", "type", "object");
	bool open = !k->schema || json_is_true(json_object_get(s, "x-kubernetes-preserve-unknown-fields"));

	json_object_del(json_object_get(s, "properties"), "metadata");
	complete_embedded(o, s);
	if (o->dialect == OPENAPI_V2)
		downgrade(s);
	if (!open || o->dialect == OPENAPI_V3)
		add_own_fields(o, s);
	return s;
}
