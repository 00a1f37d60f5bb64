// SPDX-License-Identifier: Apache-2.0
/* resources.c - discovery as a list of resources
 *
 * One document has them all, from servers that know it.  Kubernetes before 1.26 answers with a list of versions
 * instead; then each version's own list is asked for.
 */
#include "control/resources.h"

#include "base/jsonx.h"
#include "base/mem.h"

static bool has_verb(const json_t *resource, const char *verb)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(resource, "verbs"), i, v)
		if (str_same(json_string_value(v), verb))
			return true;
	return false;
}

static bool known(const struct resources *r, const char *group, const char *plural)
{
	for (size_t i = 0; i < r->n; i++) {
		const char *slash = strchr(r->items[i].api_version, '/');
		size_t len = slash ? (size_t)(slash - r->items[i].api_version) : 0;

		if (streq(r->items[i].plural, plural) && strlen(group) == len &&
		    strncmp(r->items[i].api_version, group, len) == 0)
			return true;
	}
	return false;
}

static void add_one(struct resources *r, const char *group, const char *version, const char *plural, const char *kind,
		    bool namespaced)
{
	struct resource item = { .namespaced = namespaced };

	if (known(r, group, plural))
		return;
	item.api_version = *group ? xasprintf("%s/%s", group, version) : xstrdup(version);
	item.plural = xstrdup(plural);
	item.kind = xstrdup(kind);
	ARRAY_PUSH(r->items, r->n, r->cap, item);
}

static bool is_dealt_with(const json_t *resource)
{
	return has_verb(resource, "list") && has_verb(resource, "delete") && has_verb(resource, "watch");
}

static void add_version(struct resources *r, const char *group, const json_t *version)
{
	const char *v = jsonx_str_or(version, "version", "");
	json_t *res;
	size_t i;

	json_array_foreach (json_object_get(version, "resources"), i, res)
		if (is_dealt_with(res))
			add_one(r, group, v, jsonx_str_or(res, "resource", ""),
				jsonx_str_or(res, "responseKind.kind", ""),
				streq(jsonx_str_or(res, "scope", ""), "Namespaced"));
}

void resources_add_list(struct resources *r, const json_t *list)
{
	const char *gv = jsonx_str_or(list, "groupVersion", "");
	const char *slash = strchr(gv, '/');
	auto_free char *group = xstrndup(gv, slash ? (size_t)(slash - gv) : 0);
	json_t *res;
	size_t i;

	json_array_foreach (json_object_get(list, "resources"), i, res)
		if (is_dealt_with(res))
			add_one(r, group, slash ? slash + 1 : gv, jsonx_str_or(res, "name", ""),
				jsonx_str_or(res, "kind", ""), jsonx_bool_or(res, "namespaced", false));
}

void resources_paths(const json_t *doc, json_t *paths)
{
	json_t *one;
	json_t *version;
	size_t i;
	size_t k;

	json_array_foreach (json_object_get(doc, "versions"), i, one)
		json_array_append_new(paths, jsonx_stringf("/api/%s", json_string_value(one) ?: ""));
	json_array_foreach (json_object_get(doc, "groups"), i, one) {
		const char *first = jsonx_str_or(one, "preferredVersion.groupVersion", "");

		json_array_append_new(paths, jsonx_stringf("/apis/%s", first));
		json_array_foreach (json_object_get(one, "versions"), k, version)
			if (!streq(jsonx_str_or(version, "groupVersion", ""), first))
				json_array_append_new(
					paths, jsonx_stringf("/apis/%s", jsonx_str_or(version, "groupVersion", "")));
	}
}

void resources_add(struct resources *r, const json_t *discovery)
{
	json_t *group;
	json_t *version;
	size_t i;
	size_t k;

	json_array_foreach (json_object_get(discovery, "items"), i, group)
		json_array_foreach (json_object_get(group, "versions"), k, version)
			add_version(r, jsonx_str_or(group, "metadata.name", ""), version);
}

void resources_free(struct resources *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		free(r->items[i].api_version);
		free(r->items[i].plural);
		free(r->items[i].kind);
	}
	free(r->items);
	free(r);
}

const struct resource *resources_find(const struct resources *r, const char *api_version, const char *kind)
{
	const char *slash = strchr(api_version, '/');
	size_t len = slash ? (size_t)(slash - api_version) : 0;

	for (size_t i = 0; i < r->n; i++) {
		const char *s = strchr(r->items[i].api_version, '/');

		if (streq(r->items[i].kind, kind) && (s ? (size_t)(s - r->items[i].api_version) : 0) == len &&
		    strncmp(r->items[i].api_version, api_version, len) == 0)
			return &r->items[i];
	}
	return NULL;
}

#define ROOTS 2 /* /api and /apis */

struct load {
	struct client *client;
	struct resources *list;
	json_t *paths; /* to ask for */
	size_t at;
	void (*done)(void *arg, struct resources *list, const struct err *e);
	void *arg;
};

static void ask(struct load *l);

static void load_end(struct load *l, const struct err *e)
{
	if (e->kind != ERR_NONE) {
		resources_free(l->list);
		l->list = NULL;
	}
	l->done(l->arg, l->list, e);
	json_decref(l->paths);
	free(l);
}

/* Half of what there is would look like all of it: whatever does not answer is an error. */
static void on_document(void *arg, int code, struct str body, const struct err *transport)
{
	struct load *l = arg;
	struct err e = *transport;
	json_auto_t *doc = NULL;

	if (e.kind == ERR_NONE && code != 200)
		err_set(&e, ERR_UNAVAILABLE, "discovery of %s answered %d",
			json_string_value(json_array_get(l->paths, l->at)), code);
	if (e.kind == ERR_NONE)
		jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e);
	if (e.kind != ERR_NONE) {
		load_end(l, &e);
		return;
	}
	if (json_object_get(doc, "items"))
		resources_add(l->list, doc);
	else if (json_object_get(doc, "resources"))
		resources_add_list(l->list, doc);
	else if (l->at < ROOTS)
		resources_paths(doc, l->paths);
	l->at++;
	ask(l);
}

static void ask(struct load *l)
{
	struct err none = ERR_INIT;
	const char *path = json_string_value(json_array_get(l->paths, l->at));

	if (!path)
		load_end(l, &none);
	else
		l->client->ops->raw(l->client, "GET", path, (struct str){ "", 0 }, on_document, l);
}

void resources_load(struct client *c, void (*done)(void *arg, struct resources *list, const struct err *e), void *arg)
{
	struct load *l = xcalloc(1, sizeof(*l));

	l->client = c;
	l->list = xcalloc(1, sizeof(*l->list));
	l->paths = json_pack("[s, s]", "/api", "/apis");
	l->done = done;
	l->arg = arg;
	ask(l);
}
