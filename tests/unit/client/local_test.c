// SPDX-License-Identifier: Apache-2.0
#include "api/server.h"
#include "client/client.h"

struct answer {
	int calls;
	json_t *doc;
	struct err e;
};

static void on_done(void *arg, const json_t *obj, const struct err *e)
{
	struct answer *a = arg;

	a->calls++;
	json_decref(a->doc);
	a->doc = json_incref((json_t *)obj);
	a->e = *e;
}

static const struct ref maps = { .api_version = "v1", .plural = "configmaps", .ns = "default" };
static const struct ref map_m = { .api_version = "v1", .plural = "configmaps", .ns = "default", .name = "m" };

TEST("answers come after the commit, never from within the call")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	json_auto_t *body = sample_json("{'metadata':{'name':'m'}}");
	struct answer a = { 0 };

	c->ops->create(c, &maps, body, on_done, &a);
	CHECK_INT(a.calls, 0);
	server_turn(&s);
	CHECK_INT(a.calls, 1);
	CHECK_STR(jsonx_str(a.doc, "kind"), "ConfigMap");
	CHECK_JSON(body, "{'metadata':{'name':'m'}}"); /* ours is left as it was */
	c->ops->get(c, &map_m, on_done, &a);
	CHECK_INT(a.calls, 1);
	server_turn(&s);
	CHECK_INT(a.calls, 2);
	CHECK_STR(jsonx_str(a.doc, "metadata.name"), "m");
	json_decref(a.doc);
	client_free(c);
	server_done(&s);
}

TEST("errors come as answers too, in the words of a Status")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	json_auto_t *body = sample_json("{}");
	struct ref nothing = { .api_version = "v9", .plural = "nothings" };
	struct answer a = { 0 };

	c->ops->get(c, &map_m, on_done, &a);
	CHECK_INT(a.calls, 0);
	server_turn(&s);
	CHECK_INT(a.calls, 1);
	CHECK(!a.doc);
	CHECK_INT(a.e.kind, ERR_NOT_FOUND);
	CHECK_STR(a.e.text, "configmaps \"m\" not found");
	c->ops->update(c, &nothing, body, on_done, &a);
	server_turn(&s);
	CHECK_STR(a.e.text, "there is no resource nothings in v9");
	c->ops->list(c, &nothing, NULL, on_done, &a);
	server_turn(&s);
	CHECK_INT(a.e.kind, ERR_NOT_FOUND);
	c->ops->list(c, &maps, &(struct list_options){ .labels = "!!" }, on_done, &a);
	server_turn(&s);
	CHECK_INT(a.e.kind, ERR_BAD_REQUEST);
	CHECK_INT(a.calls, 4);
	client_free(c);
	server_done(&s);
}

TEST("each kind of patch is known by its name")
{
	static const struct {
		const char *type, *body, *data;
	} rows[] = {
		{ "merge", "{'data':{'a':'1'}}", "{'a':'1'}" },
		{ "json", "[{'op':'add','path':'/data/b','value':'2'}]", "{'a':'1','b':'2'}" },
		{ "strategic", "{'data':{'a':null}}", "{'b':'2'}" },
		{ "apply", "{'kind':'ConfigMap','apiVersion':'v1','data':{'c':'3'}}", "{'b':'2','c':'3'}" },
	};
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	struct answer a = { 0 };

	server_make_map(&s, "m", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *body = sample_json(rows[i].body);

		c->ops->patch(c, &map_m, rows[i].type, body, on_done, &a);
		server_turn(&s);
		CHECK_STR(a.e.text, "");
		CHECK_JSON(jsonx_at(a.doc, "data"), rows[i].data);
	}
	json_decref(a.doc);
	client_free(c);
	server_done(&s);
}

TEST("a list has its pages, revision and types")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	struct answer a = { 0 };

	server_make_map(&s, "a", "{'x':'y'}");
	server_make_map(&s, "b", "{}");
	c->ops->list(c, &maps, &(struct list_options){ .limit = 1 }, on_done, &a);
	server_turn(&s);
	CHECK_STR(jsonx_str(a.doc, "kind"), "ConfigMapList");
	CHECK_INT(json_array_size(json_object_get(a.doc, "items")), 1);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(a.doc, "items"), 0), "apiVersion"), "v1");
	auto_free char *cont = xstrdup(jsonx_str_or(a.doc, "metadata.continue", ""));
	c->ops->list(c, &maps, &(struct list_options){ .cont = cont }, on_done, &a);
	server_turn(&s);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(a.doc, "items"), 0), "metadata.name"), "b");
	CHECK(!jsonx_str(a.doc, "metadata.continue"));
	c->ops->list(c, &maps, &(struct list_options){ .fields = "metadata.name=b" }, on_done, &a);
	server_turn(&s);
	CHECK_INT(json_array_size(json_object_get(a.doc, "items")), 1);
	json_decref(a.doc);
	client_free(c);
	server_done(&s);
}

TEST("one object goes by its uid, a collection as a whole")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	json_auto_t *wrong = sample_json("{'preconditions':{'uid':'other'}}");
	struct answer a = { 0 };

	server_make_map(&s, "m", "{}");
	server_make_map(&s, "n", "{}");
	c->ops->remove(c, &map_m, wrong, on_done, &a);
	server_turn(&s);
	CHECK_INT(a.e.kind, ERR_CONFLICT);
	c->ops->remove(c, &map_m, NULL, on_done, &a);
	server_turn(&s);
	CHECK_INT(a.e.kind, ERR_NONE);
	CHECK_STR(jsonx_str(a.doc, "status"), "Success");
	c->ops->remove(c, &maps, NULL, on_done, &a);
	server_settle(&s);
	CHECK_INT(a.calls, 3);
	CHECK(!server_has(&s, "v1/configmaps", "default", "n"));
	json_decref(a.doc);
	client_free(c);
	server_done(&s);
}

struct seen {
	struct client *c;
	void *watch;
	struct sbuf text;
	int ends;
	struct err e;
};

static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	struct seen *w = arg;

	if (!obj) {
		w->ends++;
		w->e = *e;
		return;
	}
	CHECK_STR(jsonx_str(obj, "kind"), "ConfigMap");
	sbuf_addf(&w->text, "%s%c%s", w->text.n ? " " : "", type[0], jsonx_str_or(obj, "metadata.name", ""));
}

TEST("a watch gives objects with their type, from the start or from a revision")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	struct seen all = { .text = SBUF(1000) };
	struct seen late = { .text = SBUF(1000) };
	struct seen some = { .text = SBUF(1000) };
	char rv[32];

	server_make_map(&s, "a", "{}");
	snprintf(rv, sizeof(rv), "%lld", (long long)store_revision(s.store));
	all.watch = c->ops->watch(c, &maps, NULL, on_event, &all);
	late.watch = c->ops->watch(c, &maps, &(struct list_options){ .rv = rv }, on_event, &late);
	some.watch = c->ops->watch(c, &maps, &(struct list_options){ .labels = "x=y" }, on_event, &some);
	server_settle(&s);
	server_make_map(&s, "b", "{'x':'y'}");
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "a", NULL);
	CHECK_STR(all.text.p, "Aa Ab Da");
	CHECK_STR(late.text.p, "Ab Da");
	CHECK_STR(some.text.p, "Ab");
	c->ops->watch_stop(c, all.watch);
	c->ops->watch_stop(c, late.watch);
	c->ops->watch_stop(c, some.watch);
	server_make_map(&s, "c", "{}");
	CHECK_STR(all.text.p, "Aa Ab Da");
	sbuf_done(&all.text);
	sbuf_done(&late.text);
	sbuf_done(&some.text);
	client_free(c);
	server_done(&s);
}

TEST("a watch that cannot start says why from the loop")
{
	static const struct {
		struct ref ref;
		struct list_options o;
		enum err_kind kind;
	} rows[] = {
		{ { .api_version = "v9", .plural = "nothings" }, { 0 }, ERR_NOT_FOUND },
		{ { .api_version = "v1", .plural = "configmaps" }, { .labels = "!!" }, ERR_BAD_REQUEST },
		{ { .api_version = "v1", .plural = "configmaps" }, { .fields = "no.such=x" }, ERR_BAD_REQUEST },
		{ { .api_version = "v1", .plural = "configmaps" }, { .rv = "1" }, ERR_EXPIRED },
	};
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct seen w = { .text = SBUF(1000) };

		if (rows[i].kind == ERR_EXPIRED && store_oldest(s.store) <= 1)
			continue; /* nothing has been compacted */
		w.watch = c->ops->watch(c, &rows[i].ref, &rows[i].o, on_event, &w);
		CHECK_INT(w.ends, 0);
		server_settle(&s);
		CHECK_INT(w.ends, 1);
		CHECK_INT(w.e.kind, rows[i].kind);
		c->ops->watch_stop(c, w.watch);
		sbuf_done(&w.text);
	}
	client_free(c);
	server_done(&s);
}

static void on_raw(void *arg, int code, struct str body, const struct err *e)
{
	sbuf_addf(arg, "%d %d %.*s", code, (int)e->kind, STR_FMT(body));
}

TEST("discovery is there without the wire, other paths are not")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	auto_sbuf struct sbuf api = SBUF(1 << 20);
	auto_sbuf struct sbuf version = SBUF(1000);

	c->ops->raw(c, "GET", "/api", (struct str){ "", 0 }, on_raw, &api);
	CHECK(str_starts(api.p, "200 0 {") && strstr(api.p, "APIGroupDiscoveryList"));
	c->ops->raw(c, "GET", "/version", (struct str){ "", 0 }, on_raw, &version);
	CHECK(str_starts(version.p, "0 5 "));
	client_free(c);
	server_done(&s);
}

TEST("the caller of a client is who is asked for")
{
	static const char *const groups[] = { "system:authenticated", NULL };
	const struct caller eve = { .user = "eve", .uid = "", .groups = groups };
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &eve);
	struct answer a = { 0 };

	c->ops->list(c, &maps, NULL, on_done, &a);
	server_turn(&s);
	CHECK_INT(a.e.kind, ERR_FORBIDDEN);
	client_free(c);
	server_done(&s);
}
