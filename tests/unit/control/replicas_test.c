// SPDX-License-Identifier: Apache-2.0
/* ReplicaSets and ReplicationControllers with everything real but the containers. */
#include "control/replicas.h"

#include "job_cluster.h"

#define RS "apps/v1/replicasets"
#define RC "v1/replicationcontrollers"

struct world {
	struct cluster c;
	struct replicas *sets, *controllers;
};

static void world_control(struct world *w)
{
	w->sets = replicasets_new(w->c.client, w->c.owned);
	w->controllers = replicationcontrollers_new(w->c.client, w->c.owned);
}

static void world_uncontrol(struct world *w)
{
	replicas_free(w->controllers);
	replicas_free(w->sets);
}

static struct world world_new(void)
{
	struct world w = { .c = cluster_new(true) };

	world_control(&w);
	for (int i = 0; i < 3; i++)
		server_settle(&w.c.s);
	return w;
}

static void world_done(struct world *w)
{
	world_uncontrol(w);
	cluster_done(&w->c);
}

static void make(struct world *w, const char *what, const char *name, const char *spec, const char *pod)
{
	auto_free char *selector =
		streq(what, RS) ? xasprintf("{'matchLabels':{'app':'%s'}}", name) : xasprintf("{'app':'%s'}", name);
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s'},'spec':{%s,'selector':%s,'template':{'metadata':{'labels':{'app':"
			  "'%s'}},'spec':{%s'terminationGracePeriodSeconds':0,'containers':[{'name':'c','image':'host',"
			  "'command':['x']}]}}}}",
			  name, spec, selector, name, pod);

	server_do(&w->c.s, VERB_CREATE, what, "default", NULL, body);
}

static json_t *patch(struct world *w, const char *what, const char *name, const char *sub, const char *body)
{
	struct api_request req =
		server_request(&w->c.s, VERB_PATCH, what, streq(what, "v1/namespaces") ? "" : "default", name);

	req.patch = PATCH_MERGE;
	req.subresource = sub;
	return server_call(&w->c.s, &req, body);
}

static void scale(struct world *w, const char *what, const char *name, int replicas)
{
	auto_free char *body = xasprintf("{'spec':{'replicas':%d}}", replicas);
	json_auto_t *done = patch(w, what, name, "scale", body);

	CHECK_INT(jsonx_int_or(done, "spec.replicas", -1), replicas);
}

static char *counts_of(const json_t *obj)
{
	return xasprintf("%lld,%lld,%lld,%lld", (long long)jsonx_int_or(obj, "status.replicas", -1),
			 (long long)jsonx_int_or(obj, "status.fullyLabeledReplicas", 0),
			 (long long)jsonx_int_or(obj, "status.readyReplicas", 0),
			 (long long)jsonx_int_or(obj, "status.availableReplicas", 0));
}

/* Until the object's counts are these and there are so many pods. */
static void wait_for(struct world *w, int line, const char *what, const char *name, const char *counts, size_t npods)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	for (;;) {
		json_auto_t *obj = server_ask(&w->c.s, VERB_GET, what, "default", name, NULL);
		json_auto_t *pods = all_of(&w->c, "v1/pods");
		auto_free char *got = counts_of(obj);

		if (streq(got, counts) && json_array_size(pods) == npods)
			return;
		if (clock_mono_ms() > end) {
			test_fail(__FILE__, line, "%s is at %s with %zu pods", name, got, json_array_size(pods));
			return;
		}
		server_turn(&w->c.s);
		usleep(500);
	}
}
#define WAIT_FOR(w, what, name, counts, npods) wait_for(w, __LINE__, what, name, counts, npods)

static json_t *condition_of(struct world *w, const char *what, const char *name)
{
	json_auto_t *obj = server_ask(&w->c.s, VERB_GET, what, "default", name, NULL);

	return json_incref(json_array_get(jsonx_at(obj, "status.conditions"), 0));
}

static void check_life(const char *what, const char *kind)
{
	struct world w = world_new();
	json_auto_t *pods = NULL;

	make(&w, what, "a", "'replicas':5", "");
	WAIT_FOR(&w, what, "a", "5,5,5,5", 5);
	pods = all_of(&w.c, "v1/pods");
	const json_t *pod = json_array_get(pods, 0);
	const json_t *ref = json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0);

	CHECK_INT(strlen(jsonx_str(pod, "metadata.name")), 2 + 5);
	CHECK_STR(jsonx_str(ref, "kind"), kind);
	CHECK(jsonx_bool_or(ref, "controller", false) && jsonx_bool_or(ref, "blockOwnerDeletion", false));
	CHECK(strstr(events_of(&w.c, "a"), "SuccessfulCreate;") != NULL);
	scale(&w, what, "a", 2);
	WAIT_FOR(&w, what, "a", "2,2,2,2", 2);
	CHECK(strstr(events_of(&w.c, "a"), "SuccessfulDelete;") != NULL);
	/* a pod that somebody deletes is replaced */
	json_auto_t *left = all_of(&w.c, "v1/pods");

	server_do(&w.c.s, VERB_DELETE, "v1/pods", "default", jsonx_str(json_array_get(left, 0), "metadata.name"), NULL);
	for (int i = 0; i < 5; i++)
		server_settle(&w.c.s);
	WAIT_FOR(&w, what, "a", "2,2,2,2", 2);
	/* everything goes with it */
	struct api_request req = server_request(&w.c.s, VERB_DELETE, what, "default", "a");

	req.propagation = PROPAGATE_FOREGROUND;
	json_auto_t *done = server_call(&w.c.s, &req, NULL);
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	CHECK(done != NULL);
	while (server_has(&w.c.s, what, "default", "a") && clock_mono_ms() < end)
		server_turn(&w.c.s);
	json_auto_t *none = all_of(&w.c, "v1/pods");

	CHECK_INT(json_array_size(none), 0);
	world_done(&w);
}

TEST("a ReplicaSet keeps its number of pods until it goes")
{
	check_life(RS, "ReplicaSet");
}

TEST("a ReplicationController does the same")
{
	check_life(RC, "ReplicationController");
}

TEST("a pod that no longer matches is let go and replaced, one that matches is adopted")
{
	struct world w = world_new();
	json_auto_t *pods = NULL;
	json_auto_t *let_go = NULL;
	json_auto_t *back = NULL;
	json_auto_t *one = NULL;
	const char *name;

	make(&w, RS, "a", "'replicas':1", "");
	WAIT_FOR(&w, RS, "a", "1,1,1,1", 1);
	pods = all_of(&w.c, "v1/pods");
	name = jsonx_str(json_array_get(pods, 0), "metadata.name");
	let_go = patch(&w, "v1/pods", name, NULL, "{'metadata':{'labels':{'app':'b'}}}");
	WAIT_FOR(&w, RS, "a", "1,1,1,1", 2);
	one = server_ask(&w.c.s, VERB_GET, "v1/pods", "default", name, NULL);
	CHECK_INT(json_array_size(jsonx_at(one, "metadata.ownerReferences")), 0);
	/* back again there is one too many */
	back = patch(&w, "v1/pods", name, NULL, "{'metadata':{'labels':{'app':'a'}}}");
	WAIT_FOR(&w, RS, "a", "1,1,1,1", 1);
	CHECK(let_go && back);
	world_done(&w);
}

TEST("what cannot be made is told in a condition that goes when it can, and tried in small steps")
{
	struct world w = world_new();
	json_auto_t *told = NULL;
	json_auto_t *closed = NULL;
	json_auto_t *opened = NULL;
	json_auto_t *none = NULL;
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	closed = patch(&w, "v1/namespaces", "default", NULL,
		       "{'metadata':{'labels':{'pod-security.kubernetes.io/enforce':'restricted'}}}");
	make(&w, RS, "a", "'replicas':4", "");
	while (!told && clock_mono_ms() < end) {
		server_turn(&w.c.s);
		told = condition_of(&w, RS, "a");
	}
	CHECK_STR(jsonx_str(told, "type"), "ReplicaFailure");
	CHECK_STR(jsonx_str(told, "reason"), "FailedCreate");
	CHECK(*jsonx_str_or(told, "message", "") != '\0');
	CHECK(strstr(events_of(&w.c, "a"), "FailedCreate;") != NULL);
	opened = patch(&w, "v1/namespaces", "default", NULL,
		       "{'metadata':{'labels':{'pod-security.kubernetes.io/enforce':null}}}");
	CHECK(closed && opened);
	WAIT_FOR(&w, RS, "a", "4,4,4,4", 4);
	none = condition_of(&w, RS, "a");
	CHECK(!none);
	world_done(&w);
}

TEST("minReadySeconds passes without anything else happening")
{
	struct world w = world_new();
	int64_t start = clock_mono_ms();

	make(&w, RS, "a", "'replicas':1,'minReadySeconds':2", "");
	WAIT_FOR(&w, RS, "a", "1,1,1,0", 1);
	WAIT_FOR(&w, RS, "a", "1,1,1,1", 1);
	CHECK(clock_mono_ms() - start >= 1000);
	world_done(&w);
}

TEST("a controller that is replaced after any number of turns leads to the same pods, and then rests")
{
	for (int every = 3; every <= 12; every += 3) {
		struct world w = world_new();
		struct workqueue_counts before;

		make(&w, RS, "a", "'replicas':7", "");
		for (int turn = 1; turn < 40; turn++) {
			server_turn(&w.c.s);
			if (turn % every == 0) {
				world_uncontrol(&w);
				world_control(&w);
			}
		}
		WAIT_FOR(&w, RS, "a", "7,7,7,7", 7);
		for (int i = 0; i < 5; i++)
			server_settle(&w.c.s);
		before = replicas_counts(w.sets);
		for (int i = 0; i < 20; i++)
			server_settle(&w.c.s);
		CHECK_INT(replicas_counts(w.sets).looked, before.looked);
		world_done(&w);
	}
}
