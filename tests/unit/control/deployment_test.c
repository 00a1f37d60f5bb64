// SPDX-License-Identifier: Apache-2.0
/* Deployments with everything real but the containers. */
#include "control/deployment.h"

#include "control/replicas.h"
#include "job_cluster.h"

#define DEPLOYMENTS "apps/v1/deployments"
#define SETS        "apps/v1/replicasets"

struct world {
	struct cluster c;
	struct replicas *sets;
	struct deployments *deployments;
};

static void world_control(struct world *w)
{
	w->sets = replicasets_new(w->c.client, w->c.owned);
	w->deployments = deployments_new(w->c.client, w->c.owned);
}

static void world_uncontrol(struct world *w)
{
	deployments_free(w->deployments);
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

/* `spec` ends with a comma if it says anything; `fake` are the runtime's orders. */
static void make(struct world *w, const char *name, const char *spec, const char *fake)
{
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'%s'},'spec':{%s'selector':{'matchLabels':{'app':'d'}},'template':{'metadata':{"
		"'labels':{'app':'d'},'annotations':{%s}},'spec':{'terminationGracePeriodSeconds':0,'containers':[{"
		"'name':'c','image':'host','command':['1']}]}}}}",
		name, spec, fake);

	server_do(&w->c.s, VERB_CREATE, DEPLOYMENTS, "default", NULL, body);
}

static void patch(struct world *w, const char *what, const char *name, const char *body)
{
	struct api_request req = server_request(&w->c.s, VERB_PATCH, what, "default", name);

	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&w->c.s, &req, body);

	if (!done)
		test_fail(__FILE__, __LINE__, "patch %s: %s", name, w->c.s.message);
}

/* What `kubectl set image` does: another command, and with it another template. */
static void change(struct world *w, const char *command)
{
	auto_free char *body = xasprintf("{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'host',"
					 "'command':['%s']}]}}}}",
					 command);

	patch(w, DEPLOYMENTS, "d", body);
}

static json_t *get(struct world *w)
{
	return server_ask(&w->c.s, VERB_GET, DEPLOYMENTS, "default", "d", NULL);
}

static const char *reason_of(const json_t *obj, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(obj, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), type))
			return jsonx_str_or(c, "reason", "");
	return "";
}

/* As kubectl rollout status judges it, and nothing else is left. */
static bool rolled_out(const json_t *d)
{
	int64_t want = jsonx_int_or(d, "spec.replicas", -1);

	return jsonx_int_or(d, "status.observedGeneration", 0) >= jsonx_int_or(d, "metadata.generation", 1) &&
	       jsonx_int_or(d, "status.updatedReplicas", 0) == want && jsonx_int_or(d, "status.replicas", 0) == want &&
	       jsonx_int_or(d, "status.availableReplicas", 0) == want &&
	       str_same(reason_of(d, "Progressing"), "NewReplicaSetAvailable");
}

static bool turn_until(struct world *w, bool (*good)(struct world *w))
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		if (good(w))
			return true;
		server_turn(&w->c.s);
		usleep(200);
	}
	return false;
}

static bool is_rolled_out(struct world *w)
{
	json_auto_t *d = get(w);

	return rolled_out(d);
}

static bool no_pods(struct world *w)
{
	json_auto_t *pods = all_of(&w->c, "v1/pods");

	return json_array_size(pods) == 0;
}

/* The ReplicaSets as "command revision replicas;", in the order of their numbers. */
static char *history(struct world *w)
{
	json_auto_t *sets = all_of(&w->c, SETS);
	auto_sbuf struct sbuf out = SBUF(1000);

	for (int revision = 0; revision < 20; revision++)
		for (size_t i = 0; i < json_array_size(sets); i++) {
			const json_t *set = json_array_get(sets, i);
			const json_t *c = json_array_get(jsonx_at(set, "spec.template.spec.containers"), 0);
			const char *note = json_string_value(json_object_get(jsonx_at(set, "metadata.annotations"),
									     "deployment.kubernetes.io/revision"));

			if ((int)strtol(note ? note : "0", NULL, 10) == revision)
				sbuf_addf(&out, "%s %d %lld;",
					  json_string_value(json_array_get(json_object_get(c, "command"), 0)), revision,
					  (long long)jsonx_int_or(set, "spec.replicas", -1));
		}
	return xstrdup(out.p ? out.p : "");
}

#define CHECK_HISTORY(w, want)                                                                                         \
	do {                                                                                                           \
		auto_free char *history_ = history(w);                                                                 \
		CHECK_STR(history_, want);                                                                             \
	} while (0)

TEST("a deployment is rolled out, changed, undone, and leaves no more history than it should")
{
	struct world w = world_new();
	json_auto_t *d = NULL;

	make(&w, "d", "'replicas':3,'revisionHistoryLimit':1,", "");
	CHECK(turn_until(&w, is_rolled_out));
	CHECK_HISTORY(&w, "1 1 3;");
	change(&w, "2");
	CHECK(turn_until(&w, is_rolled_out));
	CHECK_HISTORY(&w, "1 1 0;2 2 3;");
	change(&w, "1");
	CHECK(turn_until(&w, is_rolled_out));
	CHECK_HISTORY(&w, "2 2 0;1 3 3;");
	change(&w, "4");
	CHECK(turn_until(&w, is_rolled_out));
	server_settle(&w.c.s);
	CHECK_HISTORY(&w, "1 3 0;4 4 3;");
	d = get(&w);
	CHECK_STR(json_string_value(
			  json_object_get(jsonx_at(d, "metadata.annotations"), "deployment.kubernetes.io/revision")),
		  "4");
	CHECK_STR(reason_of(d, "Available"), "MinimumReplicasAvailable");
	CHECK(strstr(events_of(&w.c, "d"), "ScalingReplicaSet;") != NULL);
	server_do(&w.c.s, VERB_DELETE, DEPLOYMENTS, "default", "d", NULL);
	CHECK(turn_until(&w, no_pods));
	CHECK_HISTORY(&w, "");
	world_done(&w);
}

/* Pods of more than one template at once. */
static bool is_mixed(struct world *w)
{
	json_auto_t *pods = all_of(&w->c, "v1/pods");
	const char *first = NULL;
	json_t *pod;
	size_t i;

	json_array_foreach (pods, i, pod) {
		const char *hash = jsonx_str_or(pod, "metadata.labels.pod-template-hash", "");

		first = first ? first : hash;
		if (!streq(first, hash))
			return true;
	}
	return false;
}

TEST("with Recreate old and new pods never meet, however slowly the old ones go")
{
	struct world w = world_new();
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	bool mixed = false;

	make(&w, "d", "'replicas':2,'strategy':{'type':'Recreate'},", "'stoker.dev/fake-ignore-term':'true'");
	patch(&w, DEPLOYMENTS, "d", "{'spec':{'template':{'spec':{'terminationGracePeriodSeconds':1}}}}");
	CHECK(turn_until(&w, is_rolled_out));
	change(&w, "2");
	while (!is_rolled_out(&w) && clock_mono_ms() < end) {
		mixed = mixed || is_mixed(&w);
		server_turn(&w.c.s);
		usleep(200);
	}
	CHECK(is_rolled_out(&w));
	CHECK(!mixed);
	world_done(&w);
}

TEST("a paused deployment is scaled but not rolled out until it is resumed")
{
	struct world w = world_new();
	json_auto_t *d = NULL;

	make(&w, "d", "'replicas':2,", "");
	CHECK(turn_until(&w, is_rolled_out));
	patch(&w, DEPLOYMENTS, "d", "{'spec':{'paused':true,'replicas':4}}");
	change(&w, "2");
	for (int i = 0; i < 5; i++)
		server_settle(&w.c.s);
	CHECK_HISTORY(&w, "1 1 4;");
	d = get(&w);
	CHECK_STR(reason_of(d, "Progressing"), "DeploymentPaused");
	patch(&w, DEPLOYMENTS, "d", "{'spec':{'paused':false}}");
	CHECK(turn_until(&w, is_rolled_out));
	CHECK_HISTORY(&w, "1 1 0;2 2 4;");
	world_done(&w);
}

static bool is_stuck(struct world *w)
{
	json_auto_t *d = get(w);

	return streq(reason_of(d, "Progressing"), "ProgressDeadlineExceeded");
}

static bool has_two_old(struct world *w)
{
	json_auto_t *d = get(w);

	return jsonx_int_or(d, "status.updatedReplicas", 0) == 1 && jsonx_int_or(d, "status.availableReplicas", 0) == 3;
}

TEST("a roll-out that does not come on is told of at its deadline, and can be undone")
{
	struct world w = world_new();
	int64_t now = clock_wall();

	make(&w, "d", "'replicas':3,'progressDeadlineSeconds':60,", "");
	CHECK(turn_until(&w, is_rolled_out));
	patch(&w, DEPLOYMENTS, "d",
	      "{'spec':{'template':{'metadata':{'annotations':{'stoker.dev/fake-start-error':'no'}}}}}");
	CHECK(turn_until(&w, has_two_old));
	server_settle(&w.c.s);
	CHECK(!is_stuck(&w));
	clock_fake(now + 100);
	patch(&w, DEPLOYMENTS, "d", "{'metadata':{'annotations':{'look':'again'}}}");
	CHECK(turn_until(&w, is_stuck));
	clock_fake(-1);
	patch(&w, DEPLOYMENTS, "d",
	      "{'spec':{'template':{'metadata':{'annotations':{'stoker.dev/fake-start-error':null}}}}}");
	CHECK(turn_until(&w, is_rolled_out));
	CHECK_HISTORY(&w, "1 2 0;1 3 3;");
	world_done(&w);
}

TEST("a name that is taken makes another name")
{
	struct world w = world_new();
	json_auto_t *sets = NULL;
	json_auto_t *d = NULL;
	auto_free char *taken = NULL;

	make(&w, "d", "", "");
	CHECK(turn_until(&w, is_rolled_out));
	sets = all_of(&w.c, SETS);
	taken = xstrdup(jsonx_str(json_array_get(sets, 0), "metadata.name"));
	server_do(&w.c.s, VERB_DELETE, DEPLOYMENTS, "default", "d", NULL);
	CHECK(turn_until(&w, no_pods));
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s'},'spec':{'replicas':0,'selector':{'matchLabels':{'x':'y'}},"
			  "'template':{'metadata':{'labels':{'x':'y'}},'spec':{'containers':[{'name':'c',"
			  "'image':'host','command':['other']}]}}}}",
			  taken);

	server_do(&w.c.s, VERB_CREATE, SETS, "default", NULL, body);
	make(&w, "d", "", "");
	CHECK(turn_until(&w, is_rolled_out));
	d = get(&w);
	CHECK_INT(jsonx_int_or(d, "status.collisionCount", 0), 1);
	CHECK_HISTORY(&w, "other 0 0;1 1 1;");
	world_done(&w);
}

static bool is_refused(struct world *w)
{
	json_auto_t *list = all_of(&w->c, DEPLOYMENTS);

	return streq(reason_of(json_array_get(list, 0), "Progressing"), "ReplicaSetCreateError");
}

TEST("a ReplicaSet that cannot be made is told of in a condition and an event")
{
	struct world w = world_new();
	char name[252] = { 0 };

	memset(name, 'd', sizeof(name) - 1);
	make(&w, name, "", "");
	CHECK(turn_until(&w, is_refused));
	CHECK(strstr(events_of(&w.c, name), "ReplicaSetCreateError;") != NULL);
	world_done(&w);
}

TEST("a ReplicaSet left behind is adopted with its pods, and one that no longer matches is let go")
{
	struct world w = world_new();
	json_auto_t *before = NULL;
	json_auto_t *after = NULL;
	json_auto_t *sets = NULL;
	struct api_request orphan;

	make(&w, "d", "'replicas':2,", "");
	CHECK(turn_until(&w, is_rolled_out));
	before = all_of(&w.c, "v1/pods");
	orphan = server_request(&w.c.s, VERB_DELETE, DEPLOYMENTS, "default", "d");
	orphan.propagation = PROPAGATE_ORPHAN;
	json_auto_t *done = server_call(&w.c.s, &orphan, NULL);

	CHECK(done != NULL);
	for (int i = 0; i < 5; i++)
		server_settle(&w.c.s);
	make(&w, "d", "'replicas':2,", "");
	CHECK(turn_until(&w, is_rolled_out));
	after = all_of(&w.c, "v1/pods");
	CHECK_INT(json_array_size(after), 2);
	CHECK_STR(jsonx_str(json_array_get(after, 0), "metadata.uid"),
		  jsonx_str(json_array_get(before, 0), "metadata.uid"));
	CHECK_HISTORY(&w, "1 1 2;");
	sets = all_of(&w.c, SETS);
	patch(&w, SETS, jsonx_str(json_array_get(sets, 0), "metadata.name"), "{'metadata':{'labels':{'app':'free'}}}");
	CHECK(turn_until(&w, is_rolled_out));
	for (int i = 0; i < 5; i++)
		server_settle(&w.c.s);
	CHECK_HISTORY(&w, "1 1 2;1 1 2;");
	world_done(&w);
}

TEST("a controller that is replaced between any two turns makes one ReplicaSet for each template")
{
	for (int every = 1; every <= 5; every += 2) {
		struct world w = world_new();

		make(&w, "d", "'replicas':2,", "");
		for (int turn = 0; turn < 60; turn++) {
			if (turn == 30)
				change(&w, "2");
			if (turn % every == 0) {
				world_uncontrol(&w);
				world_control(&w);
			}
			server_turn(&w.c.s);
		}
		CHECK(turn_until(&w, is_rolled_out));
		CHECK_HISTORY(&w, "1 1 0;2 2 2;");
		world_done(&w);
	}
}

TEST("a deployment at rest is not looked at again")
{
	struct world w = world_new();
	uint64_t before;

	make(&w, "d", "'replicas':2,", "");
	CHECK(turn_until(&w, is_rolled_out));
	for (int i = 0; i < 5; i++)
		server_settle(&w.c.s);
	before = deployments_counts(w.deployments).looked;
	for (int i = 0; i < 20; i++)
		server_settle(&w.c.s);
	CHECK_INT(deployments_counts(w.deployments).looked, before);
	world_done(&w);
}
