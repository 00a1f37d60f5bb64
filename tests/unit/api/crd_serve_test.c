// SPDX-License-Identifier: Apache-2.0
/* Custom kinds on a server: what happens to those who use one while it changes or goes. */
#include "api/watch.h"
#include "server.h"
#include "store/store_impl.h"

#define CRDS "apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS(schema)                                                                                                \
	"{'metadata':{'name':'widgets.example.org'},'spec':{'group':'example.org','scope':'Namespaced','names':{"      \
	"'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{"         \
	"'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','properties':{" schema "}}}}}}]}}"
#define SIZE  "'size':{'type':'integer'}"
#define SIZES SIZE ",'colour':{'type':'string'}"

struct reader {
	struct watcher *w;
	int events, ended;
	bool cut;
};

static void on_write(void *arg, struct str line, struct http_shared **shared)
{
	struct reader *r = arg;

	(void)shared;
	for (size_t i = 0; i < line.n; i++)
		r->events += line.p[i] == '\n';
}

static size_t on_pending(void *arg)
{
	(void)arg;
	return 0;
}

static void on_end(void *arg, bool cut)
{
	struct reader *r = arg;

	r->cut = cut;
	r->w = NULL;
	r->ended++;
}

static void watch(struct server *s, struct reader *r)
{
	struct api_request req = server_request(s, VERB_WATCH, "example.org/v1/widgets", "default", NULL);
	struct watch_options o = { .meta_version = "v1", .timeout_seconds = 3600 };
	struct watch_sink sink = { .write = on_write, .pending = on_pending, .end = on_end, .arg = r };

	s->e = ERR_INIT;
	CHECK_INT(watch_start(api_hub(s->api), &req, &o, &sink, &r->w, &s->e), 0);
	server_settle(s);
}

static void make_widget(struct server *s, const char *name)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'spec':{'size':1,'colour':'red'}}", name);

	server_do(s, VERB_CREATE, "example.org/v1/widgets", "default", NULL, body);
}

TEST("a watch of a custom kind outlives a change of its schema")
{
	struct server s = server_new();
	struct reader r = { 0 };

	server_do(&s, VERB_CREATE, CRDS, "", NULL, WIDGETS(SIZE));
	server_settle(&s);
	watch(&s, &r);
	make_widget(&s, "a");
	CHECK_INT(r.events, 1);
	struct api_request req = server_request(&s, VERB_PATCH, CRDS, "", "widgets.example.org");
	req.patch = PATCH_MERGE;
	json_auto_t *changed = server_call(&s, &req, WIDGETS(SIZES));
	CHECK(changed != NULL);
	server_settle(&s);
	make_widget(&s, "b");
	json_auto_t *a = server_ask(&s, VERB_GET, "example.org/v1/widgets", "default", "a", NULL);
	json_auto_t *b = server_ask(&s, VERB_GET, "example.org/v1/widgets", "default", "b", NULL);
	CHECK(!jsonx_at(a, "spec.colour")); /* not in the schema of its time */
	CHECK_STR(jsonx_str(b, "spec.colour"), "red");
	CHECK(r.ended || r.events == 2);
	if (r.w)
		watch_stop(r.w);
	server_done(&s);
}

TEST("a definition that goes takes its objects, and its watches see them go")
{
	struct server s = server_new();
	struct reader r = { 0 };

	server_do(&s, VERB_CREATE, CRDS, "", NULL, WIDGETS(SIZE));
	server_settle(&s);
	make_widget(&s, "a");
	watch(&s, &r);
	server_do(&s, VERB_DELETE, CRDS, "", "widgets.example.org", NULL);
	for (int i = 0; i < 5; i++)
		server_settle(&s);
	CHECK(!server_has(&s, CRDS, "", "widgets.example.org"));
	CHECK_INT(r.events, 2); /* the object came and went */
	CHECK_INT(r.ended, 1);
	CHECK(!r.cut);
	CHECK(!registry_find(api_registry(s.api), "example.org", "v1", "widgets"));
	/* made anew it begins empty */
	server_do(&s, VERB_CREATE, CRDS, "", NULL, WIDGETS(SIZE));
	server_settle(&s);
	CHECK(!server_has(&s, "example.org/v1/widgets", "default", "a"));
	make_widget(&s, "a");
	if (r.w)
		watch_stop(r.w);
	server_done(&s);
}

TEST("a definition goes in the end, also if the deletion of its objects was not committed")
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, CRDS, "", NULL, WIDGETS(SIZE));
	server_settle(&s);
	make_widget(&s, "a");
	server_do(&s, VERB_DELETE, CRDS, "", "widgets.example.org", NULL);
	CHECK(store_dirty(s.store)); /* with the object's deletion */
	vfs_fail(s.store->vfs, &(struct store_fail){ .writes = true, .after = 1, .code = SQLITE_FULL });
	server_turn(&s);
	vfs_fail(s.store->vfs, &(struct store_fail){ 0 });
	s.store->full_timer.fire(s.store);
	CHECK(server_has(&s, "example.org/v1/widgets", "default", "a"));
	server_settle(&s);
	for (int i = 0; i < 10 && server_has(&s, CRDS, "", "widgets.example.org"); i++) {
		loop_turn(s.loop, false); /* until it is tried again */
		server_settle(&s);
	}
	CHECK(!server_has(&s, CRDS, "", "widgets.example.org"));
	server_done(&s);
}

TEST("a definition with rules that are not evaluated is accepted with a warning")
{
	static const char rules[] = "'size':{'type':'integer','x-kubernetes-validations':[{'rule':'self > 0'}]},"
				    "'list':{'type':'array','items':{'type':'object','x-kubernetes-validations':["
				    "{'rule':'true'}]}}";
	struct server s = server_new();
	auto_free char *body = NULL;
	struct api_request req = server_request(&s, VERB_CREATE, CRDS, "", NULL);
	json_auto_t *made = server_call(&s, &req, WIDGETS(SIZE));
	json_auto_t *changed = NULL;

	CHECK(made && !s.warnings);
	body = xasprintf("{'spec':{'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{"
			 "'type':'object','properties':{'spec':{'type':'object','properties':{%s}}}}}}]}}",
			 rules);
	req = server_request(&s, VERB_PATCH, CRDS, "", "widgets.example.org");
	req.patch = PATCH_MERGE;
	changed = server_call(&s, &req, body);
	CHECK(changed != NULL);
	CHECK_INT(json_array_size(s.warnings), 2);
	CHECK_STR(json_string_value(json_array_get(s.warnings, 0)),
		  "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size]: "
		  "x-kubernetes-validations are kept but not evaluated");
	CHECK_STR(json_string_value(json_array_get(s.warnings, 1)),
		  "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[list].items: "
		  "x-kubernetes-validations are kept but not evaluated");
	server_done(&s);
}
