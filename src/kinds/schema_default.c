// SPDX-License-Identifier: Apache-2.0
/* schema_default.c - what a CRD's schema does to an object before it is checked: prune, then fill in
 *
 * Pruning removes fields that no schema names, because a later version of the definition may give them a meaning.
 * Defaults go into objects that are there; an absent object stays absent unless it has a default itself.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/schema_impl.h"

/* apiVersion, kind and metadata belong to the API, not to the schema. */
static bool is_own_field(const char *name)
{
	return streq(name, "apiVersion") || streq(name, "kind") || streq(name, "metadata");
}

static void report_field(struct decode_report *report, const struct path *at)
{
	char text[512];

	if (!report)
		return;
	if (!report->unknown)
		report->unknown = json_array();
	json_array_append_new(report->unknown, jsonx_string(path_text(at, text, sizeof(text))));
}

static void prune(const struct schema_node *n, json_t *v, const struct path *at, bool root,
		  struct decode_report *report);

static void prune_object(const struct schema_node *n, json_t *v, const struct path *at, bool root,
			 struct decode_report *report)
{
	const char *name;
	json_t *child;
	void *tmp;

	json_object_foreach_safe (v, tmp, name, child) {
		const struct schema_node *prop = map_find(&n->properties, name);
		bool named = !n->additional;

		if ((root || n->embedded) && is_own_field(name))
			continue;
		if (!prop)
			prop = n->additional;
		if (prop) {
			prune(prop, child, named ? PATH_FIELD(at, name) : PATH_KEY(at, name), false, report);
		} else if (!n->preserve && !n->additional_any) {
			report_field(report, PATH_FIELD(at, name));
			json_object_del(v, name);
		}
	}
}

static void prune(const struct schema_node *n, json_t *v, const struct path *at, bool root,
		  struct decode_report *report)
{
	size_t i;
	json_t *item;

	if (json_is_object(v)) {
		prune_object(n, v, at, root, report);
	} else if (json_is_array(v) && n->items) {
		json_array_foreach (v, i, item)
			prune(n->items, item, PATH_INDEX(at, i), false, report);
	}
}

void schema_prune(const struct schema *s, json_t *obj, struct decode_report *report)
{
	prune(s->root, obj, NULL, true, report);
}

static void fill(const struct schema_node *n, json_t *v);

static void fill_object(const struct schema_node *n, json_t *v)
{
	size_t pos = 0;
	const char *name;
	void *value;
	json_t *child;

	while (map_next(&n->properties, &pos, &name, &value)) {
		const struct schema_node *prop = value;

		child = json_object_get(v, name);
		/* A null that the schema does not allow counts as absent where there is a default. */
		if (prop->dflt && (!child || (json_is_null(child) && !prop->nullable))) {
			child = jsonx_copy(prop->dflt);
			json_object_set_new(v, name, child);
		}
		if (child)
			fill(prop, child);
	}
	if (!n->additional)
		return;
	json_object_foreach (v, name, child)
		fill(n->additional, child);
}

static void fill(const struct schema_node *n, json_t *v)
{
	size_t i;
	json_t *item;

	if (json_is_object(v)) {
		fill_object(n, v);
	} else if (json_is_array(v) && n->items) {
		json_array_foreach (v, i, item)
			fill(n->items, item);
	}
}

void schema_default(const struct schema *s, json_t *obj)
{
	fill(s->root, obj);
}
