// SPDX-License-Identifier: Apache-2.0
/* registry.c - see registry.h
 *
 * The registry's own API: first its catalog, by pages, then the tags of each name.  A registry on this machine is asked
 * in the plain, as pulls do; another one with TLS and, where nobody speaks that, in the plain too: there is nothing
 * secret in the question.  Its CA is found where containers' programs look for it.
 */
#include "client/registry.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "loop/fetch.h"

#define PAGE   1000
#define CA_MAX (1024u * 1024)

struct registry {
	const char *name;
	struct loop *loop;
	struct fetcher *fetcher;
	char *url; /* the fetcher's */
	struct sbuf ca;
};

struct reply {
	bool done;
	int code;
	json_t *doc;
	struct err e;
};

static void on_reply(void *arg, int code, struct str body, const struct err *e)
{
	struct reply *r = arg;

	r->done = true;
	r->code = code;
	r->e = *e;
	if (e->kind == ERR_NONE && code == 200)
		jsonx_parse(body.p, body.n, NULL, NULL, &r->doc, &r->e);
}

static int refused(const struct registry *g, int code, struct err *e)
{
	if (code == 401 || code == 403)
		return err_set(e, ERR_UNAUTHORIZED, "the registry %s tells its images only after a login", g->name);
	if (code == 404)
		return err_set(e, ERR_NOT_FOUND, "%s has no catalog of images", g->name);
	return err_set(e, ERR_UNAVAILABLE, "the registry %s answers with status %d", g->name, code);
}

static int ask(struct registry *g, const char *path, json_t **ret, struct err *e)
{
	struct reply r = { .e = ERR_INIT };

	fetch_start(g->fetcher,
		    &(struct fetch_request){
			    .method = "GET", .path = path, .accept = "application/json", .done = on_reply, .arg = &r });
	while (!r.done)
		loop_turn(g->loop, false);
	if (r.e.kind != ERR_NONE)
		return err_set(e, ERR_UNAVAILABLE, "the registry %s does not answer: %s", g->name, r.e.text);
	if (!r.doc)
		return refused(g, r.code, e);
	*ret = r.doc;
	return 0;
}

/* ---- which way ---- */

static void read_ca(struct registry *g)
{
	static const char *const places[] = { "/etc/containers/certs.d", "/etc/docker/certs.d" };

	for (size_t i = 0; i < ARRAY_SIZE(places) && !g->ca.n; i++) {
		auto_free char *path = xasprintf("%s/%s/ca.crt", places[i], g->name);
		struct err ignored = ERR_INIT;

		file_read(path, CA_MAX, &g->ca, &ignored);
	}
}

static int try_way(struct registry *g, const char *scheme, struct err *e)
{
	struct fetch_config c = { .ca_pem = g->ca.n ? g->ca.p : NULL, .user_agent = "stoker/" STOKER_VERSION };
	json_auto_t *first = NULL;

	fetcher_free(g->fetcher);
	g->fetcher = NULL;
	free(g->url);
	c.base_url = g->url = xasprintf("%s://%s", scheme, g->name);
	if (fetcher_new(g->loop, &c, &g->fetcher, e) < 0)
		return -1;
	return ask(g, "/v2/_catalog?n=1", &first, e);
}

static bool is_here(const char *name)
{
	return str_starts(name, "localhost:") || str_starts(name, "127.") || str_starts(name, "[::1]");
}

static int find_way(struct registry *g, struct err *e)
{
	struct err plain = ERR_INIT;

	if (is_here(g->name))
		return try_way(g, "http", e);
	read_ca(g);
	if (try_way(g, "https", e) == 0)
		return 0;
	if (e->kind != ERR_UNAVAILABLE || try_way(g, "http", &plain) < 0)
		return -1;
	err_clear(e);
	return 0;
}

/* ---- what it has ---- */

void registry_add_tags(const char *registry, const json_t *reply, json_t *list)
{
	const char *name = jsonx_str_or(reply, "name", "");
	json_t *tag;
	size_t i;

	json_array_foreach (json_object_get(reply, "tags"), i, tag)
		if (*name && json_is_string(tag))
			json_array_append_new(list, jsonx_stringf("%s/%s:%s", registry, name, json_string_value(tag)));
}

/* A name whose tags were all deleted may be in the catalog still. */
static int add_tags(struct registry *g, const char *name, json_t *list, struct err *e)
{
	auto_free char *path = xasprintf("/v2/%s/tags/list", name);
	json_auto_t *reply = NULL;

	if (ask(g, path, &reply, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
		return 0;
	}
	registry_add_tags(g->name, reply, list);
	return 0;
}

static int add_all(struct registry *g, json_t *list, struct err *e)
{
	auto_free char *last = NULL;

	for (;;) {
		auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
		json_auto_t *page = NULL;
		const json_t *names;
		json_t *name;
		size_t i;

		sbuf_addf(&path, "/v2/_catalog?n=%d", PAGE);
		if (last) {
			sbuf_adds(&path, "&last=");
			client_escape(&path, last);
		}
		if (ask(g, path.p, &page, e) < 0)
			return -1;
		names = json_object_get(page, "repositories");
		json_array_foreach ((json_t *)names, i, name)
			if (json_is_string(name) && add_tags(g, json_string_value(name), list, e) < 0)
				return -1;
		name = json_array_get(names, json_array_size(names) - 1);
		if (json_array_size(names) < PAGE || !json_is_string(name) || str_same(last, json_string_value(name)))
			return 0;
		free(last);
		last = xstrdup(json_string_value(name));
	}
}

int registry_images(const char *registry, json_t **ret, struct err *e)
{
	struct registry g = { .name = registry, .loop = loop_new(), .ca = SBUF(CA_MAX) };
	json_auto_t *list = json_array();
	int r = find_way(&g, e);

	if (r == 0)
		r = add_all(&g, list, e);
	if (r == 0)
		*ret = TAKE(list);
	fetcher_free(g.fetcher);
	free(g.url);
	sbuf_done(&g.ca);
	loop_free(g.loop);
	return r;
}
