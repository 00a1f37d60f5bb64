// SPDX-License-Identifier: Apache-2.0
/* openapi_paths.c - the operations on each kind, as far as clients read them
 *
 * kubectl looks at paths for two things: is there a PATCH operation for a kind with the parameters dryRun and
 * fieldValidation, and (explain) which path belongs to a resource.  One row of a table below is one operation.
 */
#include "api/openapi.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

struct operation {
	enum verb verb;
	const char *method, *action;
	bool writes; /* takes dryRun, fieldManager and fieldValidation */
};

static const struct operation on_collection[] = {
	{ VERB_LIST, "get", "list", false },
	{ VERB_CREATE, "post", "post", true },
	{ VERB_DELETECOLLECTION, "delete", "deletecollection", false },
};
static const struct operation on_all_namespaces[] = { { VERB_LIST, "get", "list", false } };
static const struct operation on_object[] = {
	{ VERB_GET, "get", "get", false },
	{ VERB_UPDATE, "put", "put", true },
	{ VERB_PATCH, "patch", "patch", true },
	{ VERB_DELETE, "delete", "delete", false },
};
static const struct operation on_subresource[] = {
	{ VERB_GET, "get", "get", false },
	{ VERB_CREATE, "post", "post", true },
	{ VERB_UPDATE, "put", "put", true },
	{ VERB_PATCH, "patch", "patch", true },
};

struct emitter {
	const struct openapi *o;
	void (*fn)(void *arg, const char *path, const json_t *item);
	void *arg;
};

static void add_parameter(const struct openapi *o, json_t *list, const char *name, const char *type)
{
	json_t *p = json_pack("{s:s, s:s}", "name", name, "in", "query");

	if (o->dialect == OPENAPI_V2)
		json_object_set_new(p, "type", json_string(type));
	else
		json_object_set_new(p, "schema", json_pack("{s:s}", "type", type));
	json_array_append_new(list, p);
}

static json_t *operation_item(const struct openapi *o, const struct operation *op, json_t *gvk)
{
	json_t *item = json_pack("{s:{s:{s:s}}, s:s, s:O}", "responses", "200", "description", "OK",
				 "x-kubernetes-action", op->action, "x-kubernetes-group-version-kind", gvk);
	json_t *params;

	if (!op->writes && op->verb != VERB_DELETE && op->verb != VERB_DELETECOLLECTION)
		return item;
	params = json_array();
	add_parameter(o, params, "dryRun", "string");
	if (op->writes) {
		add_parameter(o, params, "fieldManager", "string");
		add_parameter(o, params, "fieldValidation", "string");
	}
	if (op->verb == VERB_PATCH)
		add_parameter(o, params, "force", "boolean");
	json_object_set_new(item, "parameters", params);
	return item;
}

static void emit(const struct emitter *em, const char *path, const struct operation *ops, size_t n, unsigned verbs,
		 json_t *gvk)
{
	json_auto_t *item = json_object();

	for (size_t i = 0; i < n; i++)
		if (verbs & (1u << ops[i].verb))
			json_object_set_new(item, ops[i].method, operation_item(em->o, &ops[i], gvk));
	if (json_object_size(item))
		em->fn(em->arg, path, item);
}

static void emit_subresources(const struct emitter *em, const struct kind *k, const char *object_path)
{
	for (size_t i = 0; i < k->nsubresources; i++) {
		const struct subresource *s = &k->subresources[i];
		auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
		json_auto_t *gvk = openapi_gvk(s->group ? s->group : k->group, s->version ? s->version : k->version,
					       s->kind ? s->kind : k->kind);

		sbuf_addf(&path, "%s/%s", object_path, s->name);
		emit(em, path.p, on_subresource, ARRAY_SIZE(on_subresource), s->verbs, gvk);
	}
}

static void emit_kind(const struct emitter *em, const struct kind *k)
{
	json_auto_t *gvk = openapi_gvk(k->group, k->version, k->kind);
	auto_sbuf struct sbuf base = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	sbuf_addf(&base, "%s%s/%s", *k->group ? "/apis/" : "/api", k->group, k->version);
	if (k->namespaced) {
		sbuf_addf(&path, "%s/%s", base.p, k->plural);
		emit(em, path.p, on_all_namespaces, ARRAY_SIZE(on_all_namespaces), k->verbs, gvk);
		sbuf_reset(&path);
	}
	sbuf_addf(&path, "%s%s/%s", base.p, k->namespaced ? "/namespaces/{namespace}" : "", k->plural);
	emit(em, path.p, on_collection, ARRAY_SIZE(on_collection), k->verbs, gvk);
	sbuf_adds(&path, "/{name}");
	emit(em, path.p, on_object, ARRAY_SIZE(on_object), k->verbs, gvk);
	emit_subresources(em, k, path.p);
}

void openapi_paths(const struct openapi *o, void (*fn)(void *arg, const char *path, const json_t *item), void *arg)
{
	const struct emitter em = { o, fn, arg };
	const struct kind *k;

	for (size_t i = 0; (k = registry_at(o->registry, i)); i++)
		if (openapi_wants(o, k))
			emit_kind(&em, k);
}
