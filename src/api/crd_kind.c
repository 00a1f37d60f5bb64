// SPDX-License-Identifier: Apache-2.0
/* crd_kind.c - one CustomResourceDefinition as `struct kind`s, one a version
 *
 * The definition has been admitted (crd_check.c), so what is read here is there and of the right type.
 */
#include "api/crd_impl.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/schema.h"

/* One version: the kind and the arrays it points to. */
struct custom_version {
	struct kind kind;
	struct schema *schema;
	struct column *columns;
	struct subresource subs[2];
	bool served;
};

struct custom {
	json_t *crd;
	const char **short_names, **categories;
	struct custom_version *versions; /* in the definition's order */
	size_t n;
	size_t storage;
};

void custom_free(struct custom *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		schema_free(c->versions[i].schema);
		free(c->versions[i].columns);
	}
	free(c->versions);
	free(c->short_names);
	free(c->categories);
	json_decref(c->crd);
	free(c);
}

const struct kind *custom_storage(const struct custom *c)
{
	return &c->versions[c->storage].kind;
}

const struct kind *custom_served(const struct custom *c, size_t i)
{
	for (size_t v = 0; v < c->n; v++)
		if (c->versions[v].served && i-- == 0)
			return &c->versions[v].kind;
	return NULL;
}

void custom_stop_creating(struct custom *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->versions[i].kind.verbs &= ~V(CREATE);
}

static const char **string_array(const json_t *list)
{
	const char **a;
	size_t i;
	json_t *v;

	if (!json_array_size(list))
		return NULL;
	a = xcalloc(json_array_size(list) + 1, sizeof(*a));
	json_array_foreach ((json_t *)list, i, v)
		a[i] = json_string_value(v);
	return a;
}

/* Name first; then what the definition asks for, else Age. */
static void make_columns(struct custom_version *v, const json_t *extra)
{
	static const struct column name = { .name = "Name",
					    .type = "string",
					    .format = "name",
					    .doc = "Name of the object, unique in its namespace.",
					    .path = ".metadata.name" };
	static const struct column age = { .name = "Age",
					   .type = "date",
					   .doc = "Time since the object was created.",
					   .path = ".metadata.creationTimestamp" };
	size_t n = json_array_size(extra);
	json_t *c;
	size_t i;

	v->columns = xcalloc(n + 2, sizeof(*v->columns));
	v->columns[0] = name;
	v->columns[1] = age;
	json_array_foreach ((json_t *)extra, i, c)
		v->columns[i + 1] = (struct column){ .name = jsonx_str_or(c, "name", ""),
						     .type = jsonx_str_or(c, "type", "string"),
						     .format = jsonx_str_or(c, "format", ""),
						     .doc = jsonx_str_or(c, "description", ""),
						     .priority = (int)jsonx_int_or(c, "priority", 0),
						     .path = jsonx_str_or(c, "jsonPath", "") };
	v->kind.columns = v->columns;
	v->kind.ncolumns = n ? n + 1 : 2;
}

static void make_subresources(struct custom_version *v, const json_t *subs)
{
	const json_t *scale = json_object_get(subs, "scale");
	struct kind *k = &v->kind;
	size_t n = 0;

	if (json_is_object(json_object_get(subs, "status"))) {
		k->flags |= KIND_STATUS;
		v->subs[n++] = (struct subresource){ .name = "status", .verbs = VERBS_STATUS };
	}
	if (json_is_object(scale)) {
		v->subs[n++] = (struct subresource){
			.name = "scale", .verbs = VERBS_STATUS, .group = "autoscaling", .version = "v1", .kind = "Scale"
		};
		k->scale_spec = jsonx_str(scale, "specReplicasPath");
		k->scale_status = jsonx_str(scale, "statusReplicasPath");
		k->scale_selector = jsonx_str(scale, "labelSelectorPath");
	}
	k->subresources = v->subs;
	k->nsubresources = n;
}

/* The names it was given, which may be fewer than those it asks for. */
static const json_t *given_names(const json_t *crd)
{
	const json_t *names = jsonx_at(crd, "status.acceptedNames");

	return names ? names : jsonx_at(crd, "spec.names");
}

static int make_version(struct custom *c, size_t i, struct err *e)
{
	const json_t *spec = json_object_get(c->crd, "spec");
	const json_t *js = json_array_get(json_object_get(spec, "versions"), i);
	const json_t *schema = jsonx_at(js, "schema.openAPIV3Schema");
	struct custom_version *v = &c->versions[i];
	const struct path *at = PATH_FIELD(PATH_INDEX(PATH_FIELD(PATH_FIELD(NULL, "spec"), "versions"), i), "schema");

	v->served = json_is_true(json_object_get(js, "served"));
	if (json_is_true(json_object_get(js, "storage")))
		c->storage = i;
	v->kind = (struct kind){
		.group = jsonx_str_or(spec, "group", ""),
		.version = jsonx_str_or(js, "name", ""),
		.kind = jsonx_str_or(spec, "names.kind", ""),
		.plural = jsonx_str_or(spec, "names.plural", ""),
		.singular = jsonx_str_or(given_names(c->crd), "singular", ""),
		.short_names = c->short_names,
		.categories = c->categories,
		.namespaced = streq(jsonx_str_or(spec, "scope", ""), "Namespaced"),
		.name_rule = NAME_SUBDOMAIN,
		.flags = KIND_CUSTOM | KIND_NEEDS_RV | KIND_GENERATION,
		.verbs = VERBS_ALL,
	};
	if (schema && schema_compile(schema, PATH_FIELD(at, "openAPIV3Schema"), &v->schema, e) < 0)
		return -1;
	v->kind.schema = v->schema;
	make_columns(v, json_object_get(js, "additionalPrinterColumns"));
	make_subresources(v, json_object_get(js, "subresources"));
	return 0;
}

struct custom *custom_new(const json_t *crd, struct err *e)
{
	struct custom *c = xcalloc(1, sizeof(*c));
	const json_t *names = given_names(crd);

	c->crd = json_incref((json_t *)crd);
	c->short_names = string_array(json_object_get(names, "shortNames"));
	c->categories = string_array(json_object_get(names, "categories"));
	c->n = json_array_size(jsonx_at(crd, "spec.versions"));
	c->versions = xcalloc(c->n + 1, sizeof(*c->versions));
	for (size_t i = 0; i < c->n; i++)
		if (make_version(c, i, e) < 0) {
			custom_free(c);
			return NULL;
		}
	for (size_t i = 0; i < c->n; i++)
		if (i != c->storage)
			c->versions[i].kind.storage = custom_storage(c);
	return c;
}
