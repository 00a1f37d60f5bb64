// SPDX-License-Identifier: Apache-2.0
/* crd_warn.c - what a definition asks for and does not get
 *
 * Rules in x-kubernetes-validations are an expression language of their own.  They are kept, so that a definition moves
 * on to another server whole, but nothing is checked by them; whoever relies on them has to know.
 */
#include "api/crd.h"
#include "api/object.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define RULES        "x-kubernetes-validations"
#define MAX_WARNINGS 20 /* as for unknown fields: each is a header of the reply */
#define PATH_ROOM    1024

static void walk(const json_t *schema, const struct path *at, json_t **warnings);

static void walk_map(const json_t *map, const struct path *at, json_t **warnings)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)map, key, v)
		walk(v, PATH_KEY(at, key), warnings);
}

static void walk_list(const json_t *list, const struct path *at, json_t **warnings)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		walk(v, PATH_INDEX(at, i), warnings);
}

/* Where a schema has further ones, and in which form. */
static const struct {
	const char *name;
	void (*fn)(const json_t *value, const struct path *at, json_t **warnings);
} parts[] = {
	{ "properties", walk_map },
	{ "items", walk },
	{ "additionalProperties", walk },
	{ "allOf", walk_list },
	{ "anyOf", walk_list },
	{ "oneOf", walk_list },
	{ "not", walk },
};

static void walk(const json_t *schema, const struct path *at, json_t **warnings)
{
	char where[PATH_ROOM];

	if (!json_is_object(schema) || json_array_size(*warnings) >= MAX_WARNINGS)
		return;
	if (json_array_size(json_object_get(schema, RULES)))
		object_warn(warnings, jsonx_stringf("%s: " RULES " are kept but not evaluated",
						    path_text(at, where, sizeof(where))));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (json_object_get(schema, parts[i].name))
			parts[i].fn(json_object_get(schema, parts[i].name), PATH_FIELD(at, parts[i].name), warnings);
}

void crd_warn(const json_t *crd, json_t **warnings)
{
	const struct path *versions = PATH_FIELD(PATH_FIELD(NULL, "spec"), "versions");
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(crd, "spec.versions"), i, v)
		walk(jsonx_at(v, "schema.openAPIV3Schema"),
		     PATH_FIELD(PATH_FIELD(PATH_INDEX(versions, i), "schema"), "openAPIV3Schema"), warnings);
}
