// SPDX-License-Identifier: Apache-2.0
/* Revisions in a real store; the owner is a StatefulSet that nobody looks after. */
#include "control/revisions.h"

#include "api/server.h"
#include "base/jsonx.h"

#define SETS      "apps/v1/statefulsets"
#define REVISIONS "apps/v1/controllerrevisions"
#define KEY       "default/web"

struct world {
	struct server s;
	struct client *client;
	struct revisions *revisions;
	struct calls *calls;
	int changes, synced, failures;
};

static void on_idle(void *arg, const char *key, bool failed)
{
	struct world *w = arg;

	CHECK_STR(key, KEY);
	w->failures += failed;
}

static void on_change(void *arg, const char *key)
{
	struct world *w = arg;

	CHECK_STR(key, KEY);
	w->changes++;
}

static void on_synced(void *arg)
{
	struct world *w = arg;

	w->synced++;
}

static void make_set(struct world *w, const char *image)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'web'},'spec':{'serviceName':'web','selector':{'matchLabels':{'a':'b'}},"
			  "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'%s'}]"
			  "}}}}",
			  image);

	server_do(&w->s, VERB_CREATE, SETS, "default", NULL, body);
}

static void world_init(struct world *w)
{
	*w = (struct world){ .s = server_new() };
	make_set(w, "one");
	w->client = client_local_new(w->s.api, &caller_system);
	w->calls = calls_new(w->client, on_idle, w);
	w->revisions = revisions_new(w->client);
	revisions_follow(w->revisions, &(struct revisions_handlers){ "StatefulSet", on_change, on_synced, w });
	server_settle(&w->s);
	CHECK(revisions_synced(w->revisions));
	CHECK_INT(w->synced, 1);
}

static void world_done(struct world *w)
{
	revisions_unfollow(w->revisions, w);
	revisions_free(w->revisions);
	calls_free(w->calls);
	client_free(w->client);
	server_done(&w->s);
}

static json_t *set_get(struct world *w)
{
	return server_ask(&w->s, VERB_GET, SETS, "default", "web", NULL);
}

/* One step as a controller makes it; true if there is nothing to write any more. */
static bool step(struct world *w)
{
	json_auto_t *set = set_get(w);
	struct revision *all;
	struct revision_view v = { .api_version = "apps/v1", .kind = "StatefulSet", .plural = "statefulsets" };
	struct revision_plan p;
	bool wrote;

	v.owner = set;
	v.n = revisions_of(w->revisions, jsonx_str_or(set, "metadata.uid", ""), &all);
	v.all = all;
	wrote = revisions_adopt(w->revisions, w->calls, KEY, &v);
	if (!wrote) {
		revision_plan(&v, &p);
		wrote = revision_apply(w->calls, KEY, &v, &p);
		revision_plan_done(&p);
	}
	free(all);
	server_settle(&w->s);
	return !wrote;
}

/* "1:one 2:two " */
static const char *told(struct world *w)
{
	static char out[400];
	json_auto_t *set = set_get(w);
	auto_sbuf struct sbuf text = SBUF(sizeof(out) - 1);
	struct revision *all;
	size_t n = revisions_of(w->revisions, jsonx_str_or(set, "metadata.uid", ""), &all);

	for (size_t i = 0; i < n; i++)
		sbuf_addf(&text, "%d:%s ", (int)all[i].number,
			  jsonx_str_or(json_array_get(jsonx_at(revision_template(&all[i]), "spec.containers"), 0),
				       "image", "?"));
	free(all);
	snprintf(out, sizeof(out), "%s", text.p ? text.p : "");
	return out;
}

static void set_image(struct world *w, const char *image)
{
	struct api_request req = server_request(&w->s, VERB_PATCH, SETS, "default", "web");
	auto_free char *body =
		xasprintf("{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'%s'}]}}}}", image);

	req.patch = PATCH_STRATEGIC;
	json_auto_t *done = server_call(&w->s, &req, body);

	CHECK(done != NULL);
}

TEST("each state of a template is kept once, and one that comes back is the newest")
{
	struct world w;

	world_init(&w);
	CHECK(!step(&w));
	CHECK_STR(told(&w), "1:one ");
	CHECK(step(&w));
	set_image(&w, "two");
	CHECK(!step(&w));
	CHECK(step(&w));
	CHECK_STR(told(&w), "1:one 2:two ");
	set_image(&w, "one");
	CHECK(!step(&w));
	CHECK(step(&w));
	CHECK_STR(told(&w), "2:two 3:one ");
	CHECK(w.changes >= 3);
	CHECK_INT(w.failures, 0);
	world_done(&w);
}

TEST("revisions beyond the limit are removed")
{
	static const char *const images[] = { "one", "two", "three", "four" };
	struct api_request req;
	struct world w;

	world_init(&w);
	req = server_request(&w.s, VERB_PATCH, SETS, "default", "web");
	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&w.s, &req, "{'spec':{'revisionHistoryLimit':1}}");
	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		set_image(&w, images[i]);
		CHECK(!step(&w));
		CHECK(step(&w));
	}
	CHECK_STR(told(&w), "3:three 4:four ");
	world_done(&w);
}

TEST("a name that another state has taken is counted, and the next one is another")
{
	struct world w;

	world_init(&w);
	json_auto_t *set = set_get(&w);
	struct revision_view v = { .api_version = "apps/v1", .kind = "StatefulSet", .owner = set };
	json_auto_t *made = revision_make(&v, 1);
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s'},'revision':7,'data':{'x':1}}", jsonx_str(made, "metadata.name"));

	server_do(&w.s, VERB_CREATE, REVISIONS, "default", NULL, body);
	server_settle(&w.s);
	CHECK(!step(&w));
	json_auto_t *after = set_get(&w);
	CHECK_INT(jsonx_int_or(after, "status.collisionCount", 0), 1);
	CHECK_STR(told(&w), "");
	CHECK(!step(&w));
	CHECK(step(&w));
	CHECK_STR(told(&w), "1:one ");
	world_done(&w);
}

TEST("revisions that an earlier owner of that name left behind are taken over")
{
	struct world w;

	world_init(&w);
	CHECK(!step(&w));
	set_image(&w, "two");
	CHECK(!step(&w));
	json_auto_t *set = set_get(&w);
	struct revision *all;
	size_t n = revisions_of(w.revisions, jsonx_str_or(set, "metadata.uid", ""), &all);

	CHECK_INT(n, 2);
	for (size_t i = 0; i < n; i++) {
		struct api_request req = server_request(&w.s, VERB_PATCH, REVISIONS, "default", all[i].name);

		req.patch = PATCH_MERGE;
		json_auto_t *done = server_call(&w.s, &req, "{'metadata':{'ownerReferences':null}}");
		CHECK(done != NULL);
	}
	free(all);
	server_do(&w.s, VERB_DELETE, SETS, "default", "web", NULL);
	make_set(&w, "two");
	server_settle(&w.s);
	CHECK_STR(told(&w), "");
	CHECK(!step(&w));
	CHECK_STR(told(&w), "1:one 2:two ");
	CHECK(step(&w));
	world_done(&w);
}
