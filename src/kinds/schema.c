// SPDX-License-Identifier: Apache-2.0
/* schema.c - compiling a CRD's openAPIV3Schema: is it structural, and into what
 *
 * A structural schema says the type of every field outside of allOf, anyOf, oneOf and not; within those it only adds
 * rules.  That is what lets schema_default.c prune and fill in by walking the tree once.  Everything that can be wrong
 * with a schema is found here, with the path in the CRD, so that validation later cannot fail for the schema's sake.
 * x-kubernetes-validations (CEL) are kept in the document but not evaluated.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/schema_impl.h"

const char *const schema_type_names[TYPE__COUNT] = {
	[TYPE_NONE] = "",           [TYPE_OBJECT] = "object", [TYPE_ARRAY] = "array",     [TYPE_STRING] = "string",
	[TYPE_INTEGER] = "integer", [TYPE_NUMBER] = "number", [TYPE_BOOLEAN] = "boolean",
};

static const char *const junctor_names[JUNCTOR__COUNT] = {
	[ALL_OF] = "allOf", [ANY_OF] = "anyOf", [ONE_OF] = "oneOf", [NOT] = "not"
};

/* Where a schema stands decides what it must and may say. */
enum place { PLACE_ROOT, PLACE_FIELD, PLACE_ITEM, PLACE_LOGIC };

static struct schema_node *compile(const json_t *js, const struct path *at, enum place place, bool int_or_string,
				   struct err *e);

static void node_free(void *arg)
{
	struct schema_node *n = arg;

	if (!n)
		return;
	map_done(&n->properties);
	node_free(n->items);
	node_free(n->additional);
	regex_free(n->regex);
	for (int j = 0; j < JUNCTOR__COUNT; j++) {
		for (size_t i = 0; i < n->njunctors[j]; i++)
			node_free(n->junctors[j][i]);
		free(n->junctors[j]);
	}
	free(n);
}

/* --- words that hold plain values --- */

struct word {
	const char *name;
	enum { WORD_BOOL, WORD_COUNT, WORD_NUMBER, WORD_TEXT, WORD_STRINGS, WORD_ARRAY, WORD_ANY } type;
	size_t offset;
};

#define WORD(name_, type_, member_)                                                                                    \
	{                                                                                                              \
		name_, type_, offsetof(struct schema_node, member_)                                                    \
	}

static const struct word words[] = {
	WORD("nullable", WORD_BOOL, nullable),
	WORD("exclusiveMinimum", WORD_BOOL, min.exclusive),
	WORD("exclusiveMaximum", WORD_BOOL, max.exclusive),
	WORD("x-kubernetes-preserve-unknown-fields", WORD_BOOL, preserve),
	WORD("x-kubernetes-embedded-resource", WORD_BOOL, embedded),
	WORD("x-kubernetes-int-or-string", WORD_BOOL, int_or_string),
	WORD("minLength", WORD_COUNT, min_length),
	WORD("maxLength", WORD_COUNT, max_length),
	WORD("minItems", WORD_COUNT, min_items),
	WORD("maxItems", WORD_COUNT, max_items),
	WORD("minProperties", WORD_COUNT, min_props),
	WORD("maxProperties", WORD_COUNT, max_props),
	WORD("minimum", WORD_NUMBER, min),
	WORD("maximum", WORD_NUMBER, max),
	WORD("multipleOf", WORD_NUMBER, multiple),
	WORD("pattern", WORD_TEXT, pattern),
	WORD("format", WORD_TEXT, format),
	WORD("required", WORD_STRINGS, required),
	WORD("x-kubernetes-list-map-keys", WORD_STRINGS, list_keys),
	WORD("enum", WORD_ARRAY, enums),
	WORD("default", WORD_ANY, dflt),
};

static bool all_strings(const json_t *v)
{
	size_t i;
	json_t *item;

	json_array_foreach ((json_t *)v, i, item)
		if (!json_is_string(item))
			return false;
	return json_is_array(v);
}

static int read_word(struct schema_node *n, const struct word *w, const json_t *v, const struct path *at, struct err *e)
{
	void *to = (char *)n + w->offset;

	switch (w->type) {
	case WORD_BOOL:
		if (!json_is_boolean(v))
			return path_invalid(at, e, v, "must be a boolean");
		*(bool *)to = json_is_true(v);
		return 0;
	case WORD_COUNT:
		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return path_invalid(at, e, v, "must be a non-negative integer");
		*(int64_t *)to = json_integer_value(v);
		return 0;
	case WORD_NUMBER:
		if (!json_is_number(v))
			return path_invalid(at, e, v, "must be a number");
		((struct schema_bound *)to)->set = true;
		((struct schema_bound *)to)->value = json_number_value(v);
		return 0;
	case WORD_TEXT:
		if (!json_is_string(v))
			return path_invalid(at, e, v, "must be a string");
		*(const char **)to = json_string_value(v);
		return 0;
	case WORD_STRINGS:
		if (!all_strings(v))
			return path_invalid(at, e, v, "must be a list of strings");
		break;
	case WORD_ARRAY:
		if (!json_is_array(v))
			return path_invalid(at, e, v, "must be a list");
		break;
	case WORD_ANY:
		break;
	}
	*(const json_t **)to = v;
	return 0;
}

static int read_words(struct schema_node *n, const json_t *js, const struct path *at, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const json_t *v = json_object_get(js, words[i].name);

		if (v && !(json_is_null(v) && words[i].type != WORD_ANY))
			r |= read_word(n, &words[i], v, PATH_FIELD(at, words[i].name), e);
	}
	return r;
}

/* --- what a structural schema may not say --- */

static int check_forbidden(const json_t *js, const struct path *at, enum place place, struct err *e)
{
	static const struct {
		const char *name;
		bool logic_only;
		const char *why;
	} rows[] = {
		{ "$ref", false, "$ref is not supported" },
		{ "definitions", false, "definitions is not supported" },
		{ "dependencies", false, "dependencies is not supported" },
		{ "patternProperties", false, "patternProperties is not supported" },
		{ "additionalItems", false, "additionalItems is not supported" },
		{ "id", false, "id is not supported" },
		{ "$schema", false, "$schema is not supported" },
		{ "description", true, "must be empty to be structural" },
		{ "default", true, "must be empty to be structural" },
		{ "title", true, "must be empty to be structural" },
		{ "nullable", true, "must be false to be structural" },
		{ "additionalProperties", true, "must not be set to be structural" },
		{ "x-kubernetes-preserve-unknown-fields", true, "must be false to be structural" },
		{ "x-kubernetes-embedded-resource", true, "must be false to be structural" },
		{ "x-kubernetes-int-or-string", true, "must be false to be structural" },
		{ "x-kubernetes-list-type", true, "must be empty to be structural" },
		{ "x-kubernetes-list-map-keys", true, "must be empty to be structural" },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const json_t *v = json_object_get(js, rows[i].name);

		if (!v || json_is_null(v) || json_is_false(v) || (rows[i].logic_only && place != PLACE_LOGIC))
			continue;
		r |= path_forbidden(PATH_FIELD(at, rows[i].name), e, "%s", rows[i].why);
	}
	if (json_is_true(json_object_get(js, "uniqueItems")))
		r |= path_forbidden(PATH_FIELD(at, "uniqueItems"), e,
				    "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
	return r;
}

/* The one case where a type may stand below anyOf: a field that is an integer or a string. */
static bool is_int_or_string_branch(const json_t *js)
{
	const char *type = json_string_value(json_object_get(js, "type"));

	return type && (streq(type, "integer") || streq(type, "string"));
}

static int read_type(struct schema_node *n, const json_t *js, const struct path *at, enum place place,
		     bool int_or_string, struct err *e)
{
	static const char *const missing[] = {
		[PLACE_ROOT] = "must not be empty at the root",
		[PLACE_FIELD] = "must not be empty for specified object fields",
		[PLACE_ITEM] = "must not be empty for specified array items",
	};
	const json_t *v = json_object_get(js, "type");
	const char *type = json_string_value(v);
	const struct path *here = PATH_FIELD(at, "type");

	if (v && !type && !json_is_null(v))
		return path_invalid(here, e, v, "must be a string");
	for (int t = TYPE_OBJECT; type && t < TYPE__COUNT; t++)
		if (streq(type, schema_type_names[t]))
			n->type = (enum schema_type)t;
	if (type && *type && n->type == TYPE_NONE)
		return path_unsupported(here, e, type, "array|boolean|integer|number|object|string");
	if (place == PLACE_LOGIC) {
		if (n->type != TYPE_NONE && !(int_or_string && is_int_or_string_branch(js)))
			return path_forbidden(here, e, "must be empty to be structural");
		return 0;
	}
	if (n->int_or_string && n->type != TYPE_NONE)
		return path_forbidden(here, e, "must be empty if x-kubernetes-int-or-string is true");
	if (n->type == TYPE_NONE && !n->int_or_string && (!n->preserve || place == PLACE_ROOT))
		return path_required(here, e, missing[place]);
	if (place == PLACE_ROOT && n->type != TYPE_OBJECT)
		return path_invalid(here, e, v, "must be object at the root");
	if (n->embedded && n->type != TYPE_OBJECT)
		return path_invalid(here, e, v, "must be object if x-kubernetes-embedded-resource is true");
	return 0;
}

/* --- children --- */

static int read_properties(struct schema_node *n, const json_t *js, const struct path *at, enum place place,
			   struct err *e)
{
	json_t *props = json_object_get(js, "properties");
	const char *name;
	json_t *child;
	int r = 0;

	if (!props || json_is_null(props))
		return 0;
	at = PATH_FIELD(at, "properties");
	if (!json_is_object(props))
		return path_invalid(at, e, props, "must be an object");
	json_object_foreach (props, name, child) {
		struct schema_node *node =
			compile(child, PATH_KEY(at, name), place == PLACE_LOGIC ? PLACE_LOGIC : PLACE_FIELD, false, e);

		if (node)
			map_set(&n->properties, name, node);
		else
			r = -1;
	}
	return r;
}

static int read_additional(struct schema_node *n, const json_t *js, const struct path *at, enum place place,
			   struct err *e)
{
	json_t *v = json_object_get(js, "additionalProperties");

	if (!v || json_is_null(v) || place == PLACE_LOGIC)
		return 0;
	at = PATH_FIELD(at, "additionalProperties");
	if (json_is_false(v))
		return path_forbidden(at, e, "additionalProperties cannot be set to false");
	if (n->properties.n)
		return path_forbidden(at, e, "additionalProperties and properties are mutual exclusive");
	if (place == PLACE_ROOT)
		return path_forbidden(at, e, "must not be used at the root");
	if (json_is_true(v)) {
		n->additional_any = true;
		return 0;
	}
	n->additional = compile(v, at, PLACE_FIELD, false, e);
	return n->additional ? 0 : -1;
}

static int read_items(struct schema_node *n, const json_t *js, const struct path *at, enum place place, struct err *e)
{
	json_t *v = json_object_get(js, "items");

	at = PATH_FIELD(at, "items");
	if (!v || json_is_null(v)) {
		if (n->type == TYPE_ARRAY && place != PLACE_LOGIC)
			return path_required(at, e, "must be specified");
		return 0;
	}
	if (json_is_array(v))
		return path_forbidden(at, e, "items must be a schema object and not an array");
	n->items = compile(v, at, place == PLACE_LOGIC ? PLACE_LOGIC : PLACE_ITEM, false, e);
	return n->items ? 0 : -1;
}

static int read_junctor(struct schema_node *n, enum schema_junctor j, const json_t *v, const struct path *at,
			bool int_or_string, struct err *e)
{
	size_t count = j == NOT ? 1 : json_array_size(v);

	if (j != NOT && !json_is_array(v))
		return path_invalid(at, e, v, "must be a list of schemas");
	n->junctors[j] = xcalloc(count + 1, sizeof(*n->junctors[j]));
	for (size_t i = 0; i < count; i++) {
		const json_t *child = j == NOT ? v : json_array_get(v, i);
		struct schema_node *node =
			compile(child, j == NOT ? at : PATH_INDEX(at, i), PLACE_LOGIC, int_or_string && j != NOT, e);

		if (!node)
			return -1;
		n->junctors[j][n->njunctors[j]++] = node;
	}
	return 0;
}

/* --- lists with meaning --- */

static int check_list_keys(const struct schema_node *n, const struct path *at, struct err *e)
{
	const struct path *here = PATH_FIELD(at, "x-kubernetes-list-map-keys");
	size_t i;
	json_t *key;
	int r = 0;

	if (json_array_size(n->list_keys) == 0)
		return path_required(here, e, "must not be empty if x-kubernetes-list-type is map");
	json_array_foreach ((json_t *)n->list_keys, i, key) {
		const char *name = json_string_value(key);
		const struct schema_node *prop = n->items ? map_find(&n->items->properties, name) : NULL;

		if (!prop)
			r |= path_invalid(PATH_INDEX(here, i), e, key, "entries must all be names of item properties");
		else if (prop->type == TYPE_OBJECT || prop->type == TYPE_ARRAY)
			r |= path_invalid(PATH_INDEX(here, i), e, key, "must be a scalar property");
	}
	return r;
}

static int read_list_type(struct schema_node *n, const json_t *js, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(js, "x-kubernetes-list-type");
	const char *type = json_string_value(v);
	const struct path *here = PATH_FIELD(at, "x-kubernetes-list-type");

	if (!v || json_is_null(v)) {
		if (json_array_size(n->list_keys) > 0)
			return path_required(here, e, "must be map if x-kubernetes-list-map-keys is non-empty");
		return 0;
	}
	if (!type || (!streq(type, "atomic") && !streq(type, "set") && !streq(type, "map")))
		return path_unsupported(here, e, type ? type : "", "atomic|map|set");
	if (n->type != TYPE_ARRAY)
		return path_invalid(PATH_FIELD(at, "type"), e, json_object_get(js, "type"),
				    "must be array if x-kubernetes-list-type is specified");
	n->list_set = streq(type, "set");
	n->list_map = streq(type, "map");
	if (n->list_map && (!n->items || n->items->type != TYPE_OBJECT))
		return path_invalid(PATH_FIELD(PATH_FIELD(at, "items"), "type"), e, NULL,
				    "must be object if parent array's x-kubernetes-list-type is map");
	return n->list_map ? check_list_keys(n, at, e) : 0;
}

static int check_map_type(const json_t *js, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(js, "x-kubernetes-map-type");
	const char *type = json_string_value(v);

	if (!v || json_is_null(v) || (type && (streq(type, "atomic") || streq(type, "granular"))))
		return 0;
	return path_unsupported(PATH_FIELD(at, "x-kubernetes-map-type"), e, type ? type : "", "atomic|granular");
}

/* --- the whole --- */

static int compile_pattern(struct schema_node *n, const json_t *js, const struct path *at, struct err *e)
{
	struct err why = ERR_INIT;

	if (!n->pattern || regex_compile(n->pattern, &n->regex, &why) == 0)
		return 0;
	return path_invalid(PATH_FIELD(at, "pattern"), e, json_object_get(js, "pattern"),
			    "must be a valid regular expression, but isn't: %s", why.text);
}

static int compile_into(struct schema_node *n, const json_t *js, const struct path *at, enum place place,
			bool int_or_string, struct err *e)
{
	int r = read_words(n, js, at, e);

	r |= check_forbidden(js, at, place, e);
	r |= read_type(n, js, at, place, int_or_string, e);
	r |= read_properties(n, js, at, place, e);
	r |= read_additional(n, js, at, place, e);
	r |= read_items(n, js, at, place, e);
	for (int j = 0; j < JUNCTOR__COUNT; j++) {
		const json_t *v = json_object_get(js, junctor_names[j]);

		if (v && !json_is_null(v))
			r |= read_junctor(n, (enum schema_junctor)j, v, PATH_FIELD(at, junctor_names[j]),
					  int_or_string || n->int_or_string, e);
	}
	r |= read_list_type(n, js, at, e);
	r |= check_map_type(js, at, e);
	r |= compile_pattern(n, js, at, e);
	if (n->embedded && !n->preserve && !n->properties.n)
		r |= path_required(PATH_FIELD(at, "properties"), e,
				   "must not be empty if x-kubernetes-embedded-resource is true without "
				   "x-kubernetes-preserve-unknown-fields");
	if (r == 0 && n->dflt)
		r = schema_node_validate(n, n->dflt, PATH_FIELD(at, "default"), false, e);
	return r;
}

static struct schema_node *compile(const json_t *js, const struct path *at, enum place place, bool int_or_string,
				   struct err *e)
{
	struct schema_node *n;

	if (!json_is_object(js)) {
		path_invalid(at, e, js, "must be a schema object");
		return NULL;
	}
	n = xcalloc(1, sizeof(*n));
	map_init(&n->properties, node_free);
	n->min_length = n->max_length = n->min_items = n->max_items = n->min_props = n->max_props = -1;
	if (compile_into(n, js, at, place, int_or_string, e) == 0)
		return n;
	node_free(n);
	return NULL;
}

int schema_compile(const json_t *openapi, const struct path *at, struct schema **ret, struct err *e)
{
	json_t *own = jsonx_copy(openapi);
	struct schema_node *root = compile(own, at, PLACE_ROOT, false, e);

	if (!root) {
		json_decref(own);
		return -1;
	}
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->json = own;
	(*ret)->root = root;
	return 0;
}

void schema_free(struct schema *s)
{
	if (!s)
		return;
	node_free(s->root);
	json_decref(s->json);
	free(s);
}

const json_t *schema_json(const struct schema *s)
{
	return s->json;
}
