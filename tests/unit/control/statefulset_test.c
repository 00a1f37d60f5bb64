// SPDX-License-Identifier: Apache-2.0
/* StatefulSets with everything real but the containers. */
#include "control/statefulset.h"

#include "control/revisions.h"

#include "job_cluster.h"

#define SETS   "apps/v1/statefulsets"
#define CLAIMS "v1/persistentvolumeclaims"

struct world {
	struct cluster c;
	struct statefulsets *sets;
};

static struct world world_new(bool with_node)
{
	struct world w = { .c = cluster_new(with_node) };

	w.sets = statefulsets_new(w.c.client, w.c.owned);
	for (int i = 0; i < 3; i++)
		server_settle(&w.c.s);
	return w;
}

static void world_done(struct world *w)
{
	statefulsets_free(w->sets);
	cluster_done(&w->c);
}

static void make(struct world *w, const char *spec)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'web'},'spec':{%s,'serviceName':'svc','selector':{'matchLabels':{'a':'b'"
			  "}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'terminationGracePeriodSeconds':0,"
			  "'containers':[{'name':'c','image':'host','command':['x']}]}}}}",
			  spec);

	server_do(&w->c.s, VERB_CREATE, SETS, "default", NULL, body);
}

static void patch(struct world *w, const char *what, const char *name, const char *sub, const char *body)
{
	struct api_request req = server_request(&w->c.s, VERB_PATCH, what, "default", name);

	req.patch = PATCH_MERGE;
	req.subresource = sub;
	json_auto_t *done = server_call(&w->c.s, &req, body);

	CHECK(done != NULL);
}

static json_t *get(struct world *w, const char *what, const char *name)
{
	return server_ask(&w->c.s, VERB_GET, what, "default", name, NULL);
}

/* "replicas,ready,current,updated" and the names of the pods. */
static char *state_of(struct world *w)
{
	json_auto_t *set = get(w, SETS, "web");
	json_auto_t *pods = all_of(&w->c, "v1/pods");
	struct sbuf text = SBUF(1000);
	json_t *pod;
	size_t i;

	sbuf_addf(&text, "%lld,%lld,%lld,%lld", (long long)jsonx_int_or(set, "status.replicas", -1),
		  (long long)jsonx_int_or(set, "status.readyReplicas", 0),
		  (long long)jsonx_int_or(set, "status.currentReplicas", 0),
		  (long long)jsonx_int_or(set, "status.updatedReplicas", 0));
	json_array_foreach (pods, i, pod)
		sbuf_addf(&text, " %s", jsonx_str_or(pod, "metadata.name", "?"));
	return sbuf_steal(&text);
}

static void wait_for(struct world *w, int line, const char *want)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	for (;;) {
		auto_free char *got = state_of(w);

		if (streq(got, want))
			return;
		if (clock_mono_ms() > end) {
			test_fail(__FILE__, line, "the set is at \"%s\", not \"%s\"", got, want);
			return;
		}
		server_turn(&w->c.s);
		usleep(500);
	}
}
#define WAIT_FOR(w, want) wait_for(w, __LINE__, want)

static bool text_wait(struct world *w, const char *what, const char *name, const char *path, const char *want)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *obj = get(w, what, name);

		if (str_same(obj ? jsonx_str_or(obj, path, "") : "(none)", want))
			return true;
		server_turn(&w->c.s);
		usleep(500);
	}
	return false;
}

static void settle(struct world *w)
{
	for (int i = 0; i < 6; i++)
		server_settle(&w->c.s);
}

#define ENV(v)                                                                                                         \
	"{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'host','command':['x'],'env':[{'name':'V',"    \
	"'value':'" v "'}]}]}}}}"

TEST("a StatefulSet makes numbered pods, updates and shrinks them, and takes all with it")
{
	struct world w = world_new(true);

	make(&w, "'replicas':3");
	WAIT_FOR(&w, "3,3,3,3 web-0 web-1 web-2");
	json_auto_t *pod = get(&w, "v1/pods", "web-1");
	json_auto_t *set = get(&w, SETS, "web");
	const json_t *labels = jsonx_at(pod, "metadata.labels");

	CHECK_STR(jsonx_str(pod, "spec.hostname"), "web-1");
	CHECK_STR(jsonx_str(pod, "spec.subdomain"), "svc");
	CHECK_STR(json_string_value(json_object_get(labels, "statefulset.kubernetes.io/pod-name")), "web-1");
	CHECK_STR(json_string_value(json_object_get(labels, "apps.kubernetes.io/pod-index")), "1");
	CHECK_STR(json_string_value(json_object_get(labels, LABEL_REVISION_HASH)),
		  jsonx_str(set, "status.updateRevision"));
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0), "kind"), "StatefulSet");
	CHECK_INT(jsonx_int_or(set, "status.observedGeneration", 0), 1);

	patch(&w, SETS, "web", NULL, ENV("two"));
	settle(&w);
	WAIT_FOR(&w, "3,3,3,3 web-0 web-1 web-2");
	json_auto_t *after = get(&w, "v1/pods", "web-1");
	json_auto_t *rolled = get(&w, SETS, "web");

	CHECK(!str_same(jsonx_str(after, "metadata.uid"), jsonx_str(pod, "metadata.uid")));
	CHECK(!str_same(jsonx_str(rolled, "status.currentRevision"), jsonx_str(set, "status.currentRevision")));
	CHECK_STR(jsonx_str(rolled, "status.currentRevision"), jsonx_str(rolled, "status.updateRevision"));

	patch(&w, SETS, "web", "scale", "{'spec':{'replicas':1}}");
	WAIT_FOR(&w, "1,1,1,1 web-0");
	CHECK(strstr(events_of(&w.c, "web"), "SuccessfulDelete;") != NULL);
	server_do(&w.c.s, VERB_DELETE, SETS, "default", "web", NULL);
	CHECK(text_wait(&w, "v1/pods", "web-0", "x", "(none)"));
	json_auto_t *revisions = all_of(&w.c, "apps/v1/controllerrevisions");

	CHECK_INT(json_array_size(revisions), 0);
	world_done(&w);
}

TEST("a controller that is killed in the middle of an update goes on where it was")
{
	struct world w = world_new(true);

	make(&w, "'replicas':4");
	WAIT_FOR(&w, "4,4,4,4 web-0 web-1 web-2 web-3");
	json_auto_t *before = get(&w, SETS, "web");

	patch(&w, SETS, "web", NULL, ENV("two"));
	for (int i = 0; i < 12; i++) {
		for (int n = 0; n < 4 + i; n++)
			server_turn(&w.c.s);
		statefulsets_free(w.sets);
		w.sets = statefulsets_new(w.c.client, w.c.owned);
	}
	settle(&w);
	WAIT_FOR(&w, "4,4,4,4 web-0 web-1 web-2 web-3");
	json_auto_t *after = get(&w, SETS, "web");
	json_auto_t *revisions = all_of(&w.c, "apps/v1/controllerrevisions");

	CHECK(!str_same(jsonx_str(before, "status.currentRevision"), jsonx_str(after, "status.currentRevision")));
	CHECK_INT(json_array_size(revisions), 2);
	world_done(&w);
}

TEST("a name that another pod has is told, and taken when that pod is gone")
{
	struct world w = world_new(true);

	server_do(&w.c.s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'web-0'},'spec':{'terminationGracePeriodSeconds':0,'containers':[{'name':'c',"
		  "'image':'host','command':['x']}]}}");
	make(&w, "'replicas':1");
	settle(&w);
	CHECK(strstr(events_of(&w.c, "web"), "FailedCreate;") != NULL);
	/* tried again ever later, so that only the pod's end can make it quick */
	for (int i = 0; i < 300; i++) {
		server_turn(&w.c.s);
		usleep(1000);
	}
	json_auto_t *set = get(&w, SETS, "web");

	CHECK_STR(jsonx_str(json_array_get(jsonx_at(set, "status.conditions"), 0), "type"), "ReplicaFailure");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(set, "status.conditions"), 0), "message"),
		  "pods \"web-0\" already exists");
	server_do(&w.c.s, VERB_DELETE, "v1/pods", "default", "web-0", NULL);
	WAIT_FOR(&w, "1,1,1,1 web-0");
	json_auto_t *fine = get(&w, SETS, "web");

	CHECK(!jsonx_at(fine, "status.conditions"));
	world_done(&w);
}

TEST("pods are adopted by selector and name, and let go when either does not fit")
{
	struct world w = world_new(true);

	for (int i = 0; i < 2; i++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'%s','labels':{'a':'b'}},'spec':{"
						 "'terminationGracePeriodSeconds':0,'containers':[{'name':'c','image':"
						 "'host','command':['x']}]}}",
						 i ? "web-0" : "other");

		server_do(&w.c.s, VERB_CREATE, "v1/pods", "default", NULL, body);
	}
	make(&w, "'replicas':2,'updateStrategy':{'type':'OnDelete'}");
	WAIT_FOR(&w, "2,2,1,1 other web-0 web-1");
	json_auto_t *other = get(&w, "v1/pods", "other");
	json_auto_t *own = get(&w, "v1/pods", "web-0");

	CHECK(!jsonx_at(other, "metadata.ownerReferences"));
	CHECK_INT(json_array_size(jsonx_at(own, "metadata.ownerReferences")), 1);
	patch(&w, "v1/pods", "web-1", NULL, "{'metadata':{'labels':{'a':'c'}}}");
	settle(&w);
	json_auto_t *released = get(&w, "v1/pods", "web-1");

	CHECK(!jsonx_at(released, "metadata.ownerReferences"));
	world_done(&w);
}

#define WITH_CLAIM                                                                                                     \
	"'volumeClaimTemplates':[{'metadata':{'name':'d'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"       \
	"'requests':{'storage':'1Gi'}}}}],'podManagementPolicy':'Parallel'"

TEST("claims are made before their pods, and stay when the set shrinks or goes")
{
	struct world w = world_new(false);

	make(&w, "'replicas':2," WITH_CLAIM);
	settle(&w);
	json_auto_t *claim = get(&w, CLAIMS, "d-web-1");
	json_auto_t *pod = get(&w, "v1/pods", "web-1");
	const json_t *volume = json_array_get(jsonx_at(pod, "spec.volumes"), 0);

	CHECK_STR(jsonx_str(claim, "metadata.labels.a"), "b");
	CHECK(!jsonx_at(claim, "metadata.ownerReferences"));
	CHECK_STR(jsonx_str(volume, "name"), "d");
	CHECK_STR(jsonx_str(volume, "persistentVolumeClaim.claimName"), "d-web-1");
	CHECK(strstr(events_of(&w.c, "web"), "SuccessfulCreate;SuccessfulCreate;") != NULL);
	patch(&w, SETS, "web", "scale", "{'spec':{'replicas':1}}");
	CHECK(text_wait(&w, "v1/pods", "web-1", "x", "(none)"));
	settle(&w);
	CHECK(server_has(&w.c.s, CLAIMS, "default", "d-web-1"));
	server_do(&w.c.s, VERB_DELETE, SETS, "default", "web", NULL);
	CHECK(text_wait(&w, "v1/pods", "web-0", "x", "(none)"));
	settle(&w);
	CHECK(server_has(&w.c.s, CLAIMS, "default", "d-web-0"));
	world_done(&w);
}

TEST("claims go with the pod or the set where the policy says so, and come back with the pod")
{
	struct world w = world_new(false);

	make(&w,
	     "'replicas':2,'persistentVolumeClaimRetentionPolicy':{'whenScaled':'Delete','whenDeleted':'Delete'}," //
	     WITH_CLAIM);
	settle(&w);
	json_auto_t *claim = get(&w, CLAIMS, "d-web-1");

	CHECK_STR(jsonx_str(json_array_get(jsonx_at(claim, "metadata.ownerReferences"), 0), "kind"), "StatefulSet");
	patch(&w, SETS, "web", "scale", "{'spec':{'replicas':1}}");
	patch(&w, CLAIMS, "d-web-1", NULL, "{'metadata':{'finalizers':null}}"); /* nobody here looks after volumes */
	CHECK(text_wait(&w, CLAIMS, "d-web-1", "x", "(none)"));
	CHECK(server_has(&w.c.s, CLAIMS, "default", "d-web-0"));
	patch(&w, SETS, "web", "scale", "{'spec':{'replicas':2}}");
	CHECK(text_wait(&w, "v1/pods", "web-1", "metadata.name", "web-1"));
	CHECK(server_has(&w.c.s, CLAIMS, "default", "d-web-1"));
	patch(&w, CLAIMS, "d-web-0", NULL, "{'metadata':{'finalizers':null}}");
	patch(&w, CLAIMS, "d-web-1", NULL, "{'metadata':{'finalizers':null}}");
	server_do(&w.c.s, VERB_DELETE, SETS, "default", "web", NULL);
	CHECK(text_wait(&w, CLAIMS, "d-web-0", "x", "(none)"));
	CHECK(text_wait(&w, CLAIMS, "d-web-1", "x", "(none)"));
	world_done(&w);
}

TEST("a pod waits for a claim that is being deleted, and says so")
{
	struct world w = world_new(false);

	server_do(&w.c.s, VERB_CREATE, CLAIMS, "default", NULL,
		  "{'metadata':{'name':'d-web-0','finalizers':['x/y']},'spec':{'accessModes':['ReadWriteOnce'],"
		  "'resources':{'requests':{'storage':'1Gi'}}}}");
	server_do(&w.c.s, VERB_DELETE, CLAIMS, "default", "d-web-0", NULL);
	make(&w, "'replicas':1," WITH_CLAIM);
	settle(&w);
	CHECK(!server_has(&w.c.s, "v1/pods", "default", "web-0"));
	CHECK_STR(events_of(&w.c, "web"), "FailedCreate;");
	patch(&w, CLAIMS, "d-web-0", NULL, "{'metadata':{'finalizers':null}}");
	CHECK(text_wait(&w, "v1/pods", "web-0", "metadata.name", "web-0"));
	json_auto_t *claim = get(&w, CLAIMS, "d-web-0");

	CHECK(!jsonx_at(claim, "metadata.deletionTimestamp"));
	world_done(&w);
}
