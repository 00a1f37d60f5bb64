// SPDX-License-Identifier: Apache-2.0
/* Two clients that remember what they are asked, and the one that stands before them. */
#include "client/split.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "test.h"

struct side {
	struct client base;
	char said[512]; /* the calls, in a line */
	json_t *sent;
	json_t *answer;        /* to everything, */
	enum err_kind refuses; /* unless this is set: to the next call */
	client_event *event;
	void *arg;
};

static void note(struct side *s, const char *verb, const struct ref *ref, const char *labels)
{
	size_t n = strlen(s->said);

	snprintf(s->said + n, sizeof(s->said) - n, "%s%s %s%s%s%s%s", n ? ", " : "", verb, ref->plural,
		 ref->name ? " " : "", ref->name ? ref->name : "", labels ? " " : "", labels ? labels : "");
}

static void reply(struct side *s, const json_t *sent, client_done *done, void *arg)
{
	struct err e = ERR_INIT;

	json_decref(s->sent);
	s->sent = jsonx_copy(sent);
	if (s->refuses != ERR_NONE)
		err_set(&e, s->refuses, "no");
	s->refuses = ERR_NONE;
	done(arg, e.kind == ERR_NONE ? s->answer : NULL, &e);
}

static void side_get(struct client *c, const struct ref *ref, client_done *done, void *arg)
{
	note((struct side *)c, "get", ref, NULL);
	reply((struct side *)c, NULL, done, arg);
}

static void side_list(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
		      void *arg)
{
	note((struct side *)c, "list", ref, o ? o->labels : NULL);
	reply((struct side *)c, NULL, done, arg);
}

static void side_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	note((struct side *)c, "create", ref, NULL);
	reply((struct side *)c, obj, done, arg);
}

static void side_update(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	note((struct side *)c, "update", ref, NULL);
	reply((struct side *)c, obj, done, arg);
}

static void side_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch,
		       client_done *done, void *arg)
{
	(void)type;
	note((struct side *)c, "patch", ref, NULL);
	reply((struct side *)c, patch, done, arg);
}

static void side_remove(struct client *c, const struct ref *ref, const json_t *options, client_done *done, void *arg)
{
	note((struct side *)c, "remove", ref, NULL);
	reply((struct side *)c, options, done, arg);
}

static void *side_watch(struct client *c, const struct ref *ref, const struct list_options *o, client_event *event,
			void *arg)
{
	struct side *s = (struct side *)c;

	note(s, "watch", ref, o ? o->labels : NULL);
	s->event = event;
	s->arg = arg;
	return s;
}

static void side_watch_stop(struct client *c, void *watch)
{
	CHECK(watch == c);
	((struct side *)c)->event = NULL;
}

static const struct client_ops side_ops = { .get = side_get,
					    .list = side_list,
					    .create = side_create,
					    .update = side_update,
					    .patch = side_patch,
					    .remove = side_remove,
					    .watch = side_watch,
					    .watch_stop = side_watch_stop };

struct world {
	struct loop *loop;
	struct side near, far;
	struct client *c;
	json_t *seen; /* the last answer or event */
	enum err_kind kind;
	int calls;
};

static json_t *loose(const char *text)
{
	auto_free char *copy = xstrdup(text);
	json_t *v;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	v = json_loads(copy, 0, NULL);
	CHECK(v != NULL);
	return v;
}

static void world_init(struct world *w)
{
	*w = (struct world){ .loop = loop_new() };
	w->near.base = (struct client){ .ops = &side_ops, .loop = w->loop };
	w->far.base = (struct client){ .ops = &side_ops, .loop = w->loop, .page = 7 };
	w->c = client_split_new(&(struct split_config){ .near = &w->near.base,
							.far = &w->far.base,
							.group = "stoker.dev",
							.id = "here",
							.pods = "stoker.dev/pbsjob" });
}

static void world_done(struct world *w)
{
	client_free(w->c);
	json_decref(w->near.sent);
	json_decref(w->far.sent);
	json_decref(w->near.answer);
	json_decref(w->far.answer);
	json_decref(w->seen);
	loop_free(w->loop);
}

static void on_done(void *arg, const json_t *obj, const struct err *e)
{
	struct world *w = arg;

	w->calls++;
	w->kind = e->kind;
	json_decref(w->seen);
	w->seen = jsonx_copy(obj);
}

static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	(void)type;
	on_done(arg, obj, e);
}

#define REF(more_)                                                                                                     \
	"{'apiVersion':'stoker.dev/v1','kind':'PBSJob','name':'7','uid':'u','controller':true,"                        \
	"'blockOwnerDeletion':true}" more_
static json_t *noted(const char *store)
{
	auto_free char *text = xasprintf("{\"apiVersion\":\"stoker.dev/v1\",\"kind\":\"PBSJob\",\"name\":\"7\","
					 "\"uid\":\"u\",\"store\":\"%s\"}",
					 store);

	return json_pack("{s:{s:s, s:{s:s}}}", "metadata", "name", "7-0", "annotations", SPLIT_NOTE, text);
}

TEST("kinds of the group and events are kept here, everything else is there")
{
	static const struct {
		const char *api_version, *plural;
		bool near;
	} rows[] = {
		{ "stoker.dev/v1", "pbsjobs", true },
		{ "stoker.dev/v1", "queues", true },
		{ "v1", "events", true },
		{ "v1", "pods", false },
		{ "v1", "nodes", false },
		{ "batch/v1", "jobs", false },
		{ "stoker.development/v1", "x", false },
	};
	struct world w;
	json_auto_t *obj = loose("{}");

	world_init(&w);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ref ref = { .api_version = rows[i].api_version, .plural = rows[i].plural, .name = "n" };
		struct side *yes = rows[i].near ? &w.near : &w.far;
		struct side *no = rows[i].near ? &w.far : &w.near;
		auto_free char *want = xasprintf("get %s n, create %s n, update %s n, patch %s n, remove %s n",
						 ref.plural, ref.plural, ref.plural, ref.plural, ref.plural);

		w.near.said[0] = w.far.said[0] = '\0';
		w.calls = 0;
		w.c->ops->get(w.c, &ref, on_done, &w);
		w.c->ops->create(w.c, &ref, obj, on_done, &w);
		w.c->ops->update(w.c, &ref, obj, on_done, &w);
		w.c->ops->patch(w.c, &ref, "merge", obj, on_done, &w);
		w.c->ops->remove(w.c, &ref, NULL, on_done, &w);
		CHECK_STR(yes->said, want);
		CHECK_STR(no->said, "");
		CHECK_INT(w.calls, 5);
	}
	CHECK_INT(w.c->page, 7);
	world_done(&w);
}

TEST("a reference of ours travels as a note, others as they are")
{
	struct world w;
	json_auto_t *pod = loose("{'metadata':{'name':'7-0','ownerReferences':[" REF("") "]}}");
	json_auto_t *two = loose("{'metadata':{'annotations':{'a':'b'},'ownerReferences':[{'kind':'X'}," REF("") "]}}");
	json_auto_t *none = loose("{'metadata':{'ownerReferences':[{'apiVersion':'apps/v1','controller':true}]}}");
	json_auto_t *want = noted("here");
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = "anna" };

	world_init(&w);
	w.far.answer = noted("here");
	w.c->ops->create(w.c, &ref, pod, on_done, &w);
	CHECK(json_equal(w.far.sent, want));
	CHECK(jsonx_at(pod, "metadata.ownerReferences") != NULL); /* the caller's is left alone */
	CHECK(json_equal(jsonx_at(w.seen, "metadata.ownerReferences"), jsonx_at(pod, "metadata.ownerReferences")));
	CHECK_INT(json_object_size(jsonx_at(w.seen, "metadata.annotations")), 0);
	w.c->ops->patch(w.c, &ref, "strategic", two, on_done, &w);
	CHECK_STR(jsonx_str(w.far.sent, "metadata.annotations.a"), "b");
	CHECK_INT(json_object_size(jsonx_at(w.far.sent, "metadata.annotations")), 2);
	CHECK_INT(json_array_size(jsonx_at(w.far.sent, "metadata.ownerReferences")), 1);
	w.c->ops->update(w.c, &ref, none, on_done, &w);
	CHECK(json_equal(w.far.sent, none));
	world_done(&w);
}

TEST("what comes back in lists and watches has its reference again, unless it is another store's")
{
	struct world w;
	struct ref ref = { .api_version = "v1", .plural = "pods" };
	json_auto_t *ours = noted("here");
	json_auto_t *others = noted("elsewhere");
	json_auto_t *broken = loose("{'metadata':{'annotations':{'stoker.dev/controller':'what'}}}");
	void *watch;
	struct err none = ERR_INIT;

	world_init(&w);
	w.far.answer = json_pack("{s:[O, O, O]}", "items", ours, others, broken);
	w.c->ops->list(w.c, &ref, NULL, on_done, &w);
	CHECK_STR(w.far.said, "list pods stoker.dev/pbsjob");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(json_array_get(json_object_get(w.seen, "items"), 0),
						    "metadata.ownerReferences"),
					   0),
			    "uid"),
		  "u");
	CHECK(json_equal(json_array_get(json_object_get(w.seen, "items"), 1), others));
	CHECK(json_equal(json_array_get(json_object_get(w.seen, "items"), 2), broken));
	watch = w.c->ops->watch(w.c, &ref, &(struct list_options){ .labels = "a=b" }, on_event, &w);
	CHECK_STR(w.far.said, "list pods stoker.dev/pbsjob, watch pods a=b,stoker.dev/pbsjob");
	w.far.event(w.far.arg, "MODIFIED", ours, &none);
	CHECK_INT(json_array_size(jsonx_at(w.seen, "metadata.ownerReferences")), 1);
	w.far.event(w.far.arg, "MODIFIED", others, &none);
	CHECK(json_equal(w.seen, others));
	w.c->ops->watch_stop(w.c, watch);
	CHECK(!w.far.event);
	/* Our own kinds are told of as they are, with the selectors that were asked for. */
	ref = (struct ref){ .api_version = "stoker.dev/v1", .plural = "pbsjobs" };
	watch = w.c->ops->watch(w.c, &ref, NULL, on_event, &w);
	CHECK_STR(w.near.said, "watch pbsjobs");
	w.near.event(w.near.arg, "ADDED", ours, &none);
	CHECK(json_equal(w.seen, ours));
	w.c->ops->watch_stop(w.c, watch);
	world_done(&w);
}

TEST("a namespace that is missing there is made, once")
{
	struct world w;
	json_auto_t *pod = loose("{'metadata':{'name':'7-0'}}");
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = "anna" };

	world_init(&w);
	w.far.answer = loose("{'metadata':{}}");
	w.far.refuses = ERR_NOT_FOUND;
	w.c->ops->create(w.c, &ref, pod, on_done, &w);
	CHECK_STR(w.far.said, "create pods, create namespaces, create pods");
	CHECK_INT(w.calls, 1);
	CHECK_INT(w.kind, ERR_NONE);
	w.far.refuses = ERR_FORBIDDEN;
	w.c->ops->create(w.c, &ref, pod, on_done, &w);
	CHECK_INT(w.kind, ERR_FORBIDDEN);
	CHECK_INT(w.calls, 2);
	world_done(&w);
}
