// SPDX-License-Identifier: Apache-2.0
/* resources.c - aggregated discovery as a list of resources */
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

static void add_version(struct resources *r, const char *group, const json_t *version)
{
	const char *v = jsonx_str_or(version, "version", "");
	json_t *res;
	size_t i;

	json_array_foreach (json_object_get(version, "resources"), i, res) {
		const char *plural = jsonx_str_or(res, "resource", "");
		struct resource item;

		if (!has_verb(res, "list") || !has_verb(res, "delete") || !has_verb(res, "watch") ||
		    known(r, group, plural))
			continue;
		item.api_version = *group ? xasprintf("%s/%s", group, v) : xstrdup(v);
		item.plural = xstrdup(plural);
		item.kind = xstrdup(jsonx_str_or(res, "responseKind.kind", ""));
		item.namespaced = streq(jsonx_str_or(res, "scope", ""), "Namespaced");
		ARRAY_PUSH(r->items, r->n, r->cap, item);
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

struct load {
	struct client *client;
	struct resources *list;
	bool second;
	void (*done)(void *arg, struct resources *list, const struct err *e);
	void *arg;
};

static void on_document(void *arg, int code, struct str body, const struct err *transport)
{
	struct load *l = arg;
	struct err e = *transport;
	json_auto_t *doc = NULL;

	if (e.kind == ERR_NONE && code != 200)
		err_set(&e, ERR_UNAVAILABLE, "discovery answered %d", code);
	if (e.kind == ERR_NONE && jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e) == 0)
		resources_add(l->list, doc);
	if (e.kind == ERR_NONE && !l->second) {
		l->second = true;
		l->client->ops->raw(l->client, "GET", "/apis", (struct str){ "", 0 }, on_document, l);
		return;
	}
	if (e.kind != ERR_NONE) {
		resources_free(l->list);
		l->list = NULL;
	}
	l->done(l->arg, l->list, &e);
	free(l);
}

void resources_load(struct client *c, void (*done)(void *arg, struct resources *list, const struct err *e), void *arg)
{
	struct load *l = xcalloc(1, sizeof(*l));

	l->client = c;
	l->list = xcalloc(1, sizeof(*l->list));
	l->done = done;
	l->arg = arg;
	c->ops->raw(c, "GET", "/api", (struct str){ "", 0 }, on_document, l);
}
