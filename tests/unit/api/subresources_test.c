// SPDX-License-Identifier: Apache-2.0
#include "api/verbs.h"
#include "server.h"

#define DEPLOYMENT                                                                                                     \
	"{'metadata':{'name':'d'},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}},'template':{"              \
	"'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}"

static json_t *sub(struct server *s, enum verb verb, const char *what, const char *name, const char *subresource,
		   const char *body)
{
	struct api_request req = server_request(s, verb, what, "default", name);

	req.subresource = subresource;
	req.patch = PATCH_MERGE;
	return server_call(s, &req, body);
}

TEST("a scale shows and changes the number of replicas")
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "apps/v1/deployments", "default", NULL, DEPLOYMENT);
	json_auto_t *got = sub(&s, VERB_GET, "apps/v1/deployments", "d", "scale", NULL);
	CHECK_STR(jsonx_str(got, "kind"), "Scale");
	CHECK_STR(jsonx_str(got, "apiVersion"), "autoscaling/v1");
	CHECK_INT(jsonx_int_or(got, "spec.replicas", -1), 2);
	CHECK_STR(jsonx_str(got, "status.selector"), "a=b");
	json_auto_t *patched = sub(&s, VERB_PATCH, "apps/v1/deployments", "d", "scale", "{'spec':{'replicas':4}}");
	CHECK_STR(jsonx_str(patched, "kind"), "Scale");
	CHECK_INT(jsonx_int_or(patched, "spec.replicas", -1), 4);
	json_auto_t *put = sub(&s, VERB_UPDATE, "apps/v1/deployments", "d", "scale", "{'spec':{'replicas':0}}");
	CHECK_INT(jsonx_int_or(put, "spec.replicas", -1), 0);
	json_auto_t *whole = server_ask(&s, VERB_GET, "apps/v1/deployments", "default", "d", NULL);
	CHECK_INT(jsonx_int_or(whole, "spec.replicas", -1), 0);
	CHECK_INT(jsonx_int_or(whole, "metadata.generation", -1), 3);
	server_done(&s);
}

TEST("a scale that makes no sense is refused")
{
	static const struct {
		enum verb verb;
		const char *body;
		int code;
	} rows[] = {
		{ VERB_UPDATE, "{'spec':{'replicas':-1}}", 422 },
		{ VERB_UPDATE, "{'spec':{'replicas':'many'}}", 422 },
		{ VERB_UPDATE, "{'metadata':{'resourceVersion':'1'},'spec':{'replicas':1}}", 409 },
		{ VERB_UPDATE, "[]", 400 },
		{ VERB_PATCH, "7", 400 },
	};
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "apps/v1/deployments", "default", NULL, DEPLOYMENT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *got = sub(&s, rows[i].verb, "apps/v1/deployments", "d", "scale", rows[i].body);

		if (got || s.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d: %s", rows[i].body, s.code, s.message);
	}
	json_auto_t *absent = sub(&s, VERB_GET, "apps/v1/deployments", "e", "scale", NULL);
	CHECK(!absent);
	CHECK_INT(s.code, 404);
	server_done(&s);
}

TEST("a binding gives a pod its node, once")
{
	struct server s = server_new();

	server_make_pod(&s, "p");
	json_auto_t *nowhere = sub(&s, VERB_CREATE, "v1/pods", "p", "binding", "{'target':{}}");
	CHECK(!nowhere);
	CHECK_INT(s.code, 422);
	json_auto_t *done = sub(&s, VERB_CREATE, "v1/pods", "p", "binding", "{'target':{'kind':'Node','name':'n1'}}");
	CHECK_INT(s.code, 201);
	CHECK_STR(jsonx_str(done, "status"), "Success");
	json_auto_t *pod = server_ask(&s, VERB_GET, "v1/pods", "default", "p", NULL);
	CHECK_STR(jsonx_str(pod, "spec.nodeName"), "n1");
	json_auto_t *twice = sub(&s, VERB_CREATE, "v1/pods", "p", "binding", "{'target':{'name':'n2'}}");
	CHECK(!twice);
	CHECK_INT(s.code, 409);
	CHECK_STR(s.message, "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node "
			     "\"n1\"");
	server_done(&s);
}

TEST("a binding is for the pod that was seen")
{
	struct server s = server_new();

	server_make_pod(&s, "p");
	json_auto_t *other = sub(&s, VERB_CREATE, "v1/pods", "p", "binding",
				 "{'metadata':{'name':'p','uid':'u-0'},'target':{'name':'n1'}}");
	CHECK(!other);
	CHECK_INT(s.code, 409);
	CHECK(strstr(s.message, "Precondition failed: UID in precondition: u-0, UID in object meta: "));
	json_auto_t *older = sub(&s, VERB_CREATE, "v1/pods", "p", "binding",
				 "{'metadata':{'resourceVersion':'1'},'target':{'name':'n1'}}");
	CHECK(!older);
	CHECK_INT(s.code, 409);
	json_auto_t *wrong =
		sub(&s, VERB_CREATE, "v1/pods", "p", "binding", "{'metadata':{'name':'q'},'target':{'name':'n1'}}");
	CHECK(!wrong);
	CHECK_INT(s.code, 400);
	json_auto_t *pod = server_ask(&s, VERB_GET, "v1/pods", "default", "p", NULL);
	auto_free char *body = xasprintf("{'metadata':{'name':'p','uid':'%s'},'target':{'name':'n1'}}",
					 jsonx_str(pod, "metadata.uid"));
	json_auto_t *done = sub(&s, VERB_CREATE, "v1/pods", "p", "binding", body);
	CHECK(done != NULL);
	server_done(&s);
}

TEST("a pod that could not be placed before has one PodScheduled condition after its binding")
{
	struct server s = server_new();

	server_make_pod(&s, "p");
	json_auto_t *waiting = sub(&s, VERB_PATCH, "v1/pods", "p", "status",
				   "{'status':{'conditions':[{'type':'Ready','status':'False'},{'type':'PodScheduled',"
				   "'status':'False','reason':'Unschedulable','message':'no room'}]}}");
	CHECK(waiting != NULL);
	json_auto_t *done = sub(&s, VERB_CREATE, "v1/pods", "p", "binding", "{'target':{'name':'n1'}}");
	CHECK(done != NULL);
	json_auto_t *pod = server_ask(&s, VERB_GET, "v1/pods", "default", "p", NULL);
	const json_t *conditions = jsonx_at(pod, "status.conditions");
	CHECK_INT(json_array_size(conditions), 2);
	CHECK_STR(jsonx_str(json_array_get(conditions, 1), "type"), "PodScheduled");
	CHECK_STR(jsonx_str(json_array_get(conditions, 1), "status"), "True");
	CHECK(!jsonx_str(json_array_get(conditions, 1), "reason"));
	server_done(&s);
}

TEST("an eviction deletes a pod unless a budget forbids it")
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'p','labels':{'app':'x'}},'spec':{'containers':[{'name':'c','image':'i'}]}}");
	server_make_pod(&s, "q");
	server_do(&s, VERB_CREATE, "policy/v1/poddisruptionbudgets", "default", NULL,
		  "{'metadata':{'name':'b'},'spec':{'minAvailable':1,'selector':{'matchLabels':{'app':'x'}}}}");
	json_auto_t *running = sub(&s, VERB_PATCH, "v1/pods", "p", "status", "{'status':{'phase':'Running'}}");
	CHECK(running != NULL);
	json_auto_t *blocked = sub(&s, VERB_CREATE, "v1/pods", "p", "eviction", "{'metadata':{'name':'p'}}");
	CHECK(!blocked);
	CHECK_INT(s.code, 429);
	CHECK_STR(s.message, "Cannot evict pod as it would violate the pod's disruption budget.");
	CHECK_INT(s.e.retry_after, 0);
	json_auto_t *other = sub(&s, VERB_CREATE, "v1/pods", "q", "eviction", "{'metadata':{'name':'q'}}");
	CHECK_INT(s.code, 201);
	CHECK_STR(jsonx_str(other, "status"), "Success");
	CHECK(!server_has(&s, "v1/pods", "default", "q"));
	json_auto_t *dry = sub(&s, VERB_CREATE, "v1/pods", "q", "eviction", "{}");
	CHECK(!dry);
	CHECK_INT(s.code, 404);
	server_done(&s);
}

#define BUDGET "policy/v1/poddisruptionbudgets"

/* Pods with app=x that run and are ready or not, and one budget for them. */
static struct server with_budget(const char *spec, const char *status, const char *ready)
{
	struct server s = server_new();
	auto_free char *body =
		xasprintf("{'metadata':{'name':'b'},'spec':{%s'selector':{'matchLabels':{'app':'x'}}}}", spec);
	auto_free char *running =
		xasprintf("{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'%s'}]}}", ready);

	for (int i = 0; i < 3; i++) {
		auto_free char *name = xasprintf("p%d", i);
		auto_free char *pod = xasprintf("{'metadata':{'name':'%s','labels':{'app':'x'}},'spec':{'containers':"
						"[{'name':'c','image':'i'}]}}",
						name);

		server_do(&s, VERB_CREATE, "v1/pods", "default", NULL, pod);
		json_decref(sub(&s, VERB_PATCH, "v1/pods", name, "status", running));
	}
	server_do(&s, VERB_CREATE, BUDGET, "default", NULL, body);
	json_decref(sub(&s, VERB_PATCH, BUDGET, "b", "status", status));
	return s;
}

static int evict(struct server *s, const char *name, const char *body)
{
	json_decref(sub(s, VERB_CREATE, "v1/pods", name, "eviction", body));
	return s->code;
}

TEST("an eviction is counted before the next one is looked at")
{
	struct server s = with_budget("'minAvailable':2,",
				      "{'status':{'disruptionsAllowed':1,'desiredHealthy':2,'currentHealthy':3,"
				      "'expectedPods':3,'observedGeneration':1}}",
				      "True");

	s.batch = true; /* both in one turn */
	CHECK_INT(evict(&s, "p0", "{'deleteOptions':{'dryRun':['All']}}"), 201);
	CHECK_INT(evict(&s, "p0", "{}"), 201);
	CHECK_INT(evict(&s, "p1", "{}"), 429);
	CHECK_INT(s.e.causes[0].kind, CAUSE_BUDGET);
	CHECK_STR(err_cause_text(&s.e, 0), "The disruption budget b needs 2 healthy pods and has 3 currently");
	s.batch = false;
	json_auto_t *b = server_ask(&s, VERB_GET, BUDGET, "default", "b", NULL);
	CHECK_INT(jsonx_int_or(b, "status.disruptionsAllowed", -1), 0);
	CHECK(jsonx_str(json_object_get(jsonx_at(b, "status"), "disruptedPods"), "p0") != NULL);
	CHECK(server_has(&s, "v1/pods", "default", "p1"));
	server_done(&s);
}

TEST("an eviction that is no deletion is not counted")
{
	struct server s =
		with_budget("'minAvailable':2,", "{'status':{'disruptionsAllowed':1,'observedGeneration':1}}", "True");

	CHECK_INT(evict(&s, "p0", "{'deleteOptions':{'preconditions':{'uid':'other'}}}"), 409);
	CHECK_INT(evict(&s, "p0", "{'metadata':{'name':'p1'}}"), 400);
	CHECK_INT(evict(&s, "p0", "{'deleteOptions':{'gracePeriodSeconds':'1'}}"), 400);
	json_auto_t *b = server_ask(&s, VERB_GET, BUDGET, "default", "b", NULL);
	CHECK_INT(jsonx_int_or(b, "status.disruptionsAllowed", -1), 1);
	server_done(&s);
}

TEST("a budget that its controller has not seen yet allows nothing")
{
	struct server s =
		with_budget("'minAvailable':2,", "{'status':{'disruptionsAllowed':1,'observedGeneration':0}}", "True");

	CHECK_INT(evict(&s, "p0", "{}"), 429);
	CHECK_STR(err_cause_text(&s.e, 0), "The disruption budget b is still being processed by the server.");
	server_done(&s);
}

TEST("pods that are not ready go as their budget says")
{
	static const struct {
		const char *spec, *status;
		int code;
	} rows[] = {
		{ "'minAvailable':2,", "{'status':{'desiredHealthy':2,'currentHealthy':1}}", 429 },
		{ "'minAvailable':2,", "{'status':{'desiredHealthy':2,'currentHealthy':2}}", 201 },
		{ "'minAvailable':2,'unhealthyPodEvictionPolicy':'AlwaysAllow',",
		  "{'status':{'desiredHealthy':2,'currentHealthy':0}}", 201 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct server s = with_budget(rows[i].spec, rows[i].status, "False");

		CHECK_INT(evict(&s, "p0", "{}"), rows[i].code);
		server_done(&s);
	}
}

TEST("a pod with two budgets is not evicted")
{
	struct server s = with_budget("'minAvailable':1,", "{'status':{'disruptionsAllowed':9}}", "True");

	server_do(&s, VERB_CREATE, BUDGET, "default", NULL,
		  "{'metadata':{'name':'b2'},'spec':{'minAvailable':0,'selector':{}}}");
	CHECK_INT(evict(&s, "p0", "{}"), 500);
	CHECK_STR(s.message,
		  "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
	server_done(&s);
}

TEST("a budget does not protect pods that do not run")
{
	static const char *const phases[] = { "Pending", "Succeeded", "Failed" };
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "policy/v1/poddisruptionbudgets", "default", NULL,
		  "{'metadata':{'name':'b'},'spec':{'minAvailable':1,'selector':{}}}");
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		auto_free char *status = xasprintf("{'status':{'phase':'%s'}}", phases[i]);

		server_make_pod(&s, "p");
		json_auto_t *set = sub(&s, VERB_PATCH, "v1/pods", "p", "status", status);
		json_auto_t *gone = sub(&s, VERB_CREATE, "v1/pods", "p", "eviction", "{}");
		CHECK(set != NULL);
		if (!gone)
			test_fail(__FILE__, __LINE__, "%s: %s", phases[i], s.message);
	}
	server_done(&s);
}

/* The reason of a pod's DisruptionTarget, "" if it has none. */
static void disruption_of(struct server *s, const char *name, char out[64])
{
	json_auto_t *pod = server_ask(s, VERB_GET, "v1/pods", "default", name, NULL);
	json_t *c;
	size_t i;

	out[0] = '\0';
	json_array_foreach (jsonx_at(pod, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), "DisruptionTarget") && str_same(jsonx_str(c, "status"), "True"))
			snprintf(out, 64, "%s: %s", jsonx_str_or(c, "reason", ""), jsonx_str_or(c, "message", ""));
}

TEST("a pod that is evicted says so while it goes")
{
	static const struct {
		const char *phase, *body, *reason;
		bool going;
	} rows[] = {
		{ "Running", "{'deleteOptions':{'dryRun':['All']}}", "", false },
		{ "Running", "{}", "EvictionByEvictionAPI: Eviction API: evicting", true },
		{ "Failed", "{}", "", true },
	};
	struct server s = server_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *name = xasprintf("p%zu", i);
		auto_free char *pod = xasprintf("{'metadata':{'name':'%s','finalizers':['e.org/x']},'spec':{'nodeName':"
						"'n1','containers':[{'name':'c','image':'i'}]}}",
						name);
		auto_free char *status = xasprintf("{'status':{'phase':'%s'}}", rows[i].phase);
		char reason[64];

		server_do(&s, VERB_CREATE, "v1/pods", "default", NULL, pod);
		json_decref(sub(&s, VERB_PATCH, "v1/pods", name, "status", status));
		CHECK_INT(evict(&s, name, rows[i].body), 201);
		disruption_of(&s, name, reason);
		CHECK_STR(reason, rows[i].reason);
		json_auto_t *left = server_ask(&s, VERB_GET, "v1/pods", "default", name, NULL);
		CHECK(!jsonx_at(left, "metadata.deletionTimestamp") == !rows[i].going);
	}
	server_done(&s);
}

TEST("finalize writes the namespace's own finalizers")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_UPDATE, "v1/namespaces", "", "n");

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'n'}}");
	req.subresource = "finalize";
	json_auto_t *two = server_call(&s, &req, "{'spec':{'finalizers':['kubernetes','e.org/x']}}");
	CHECK_JSON(jsonx_at(two, "spec.finalizers"), "['kubernetes','e.org/x']");
	json_auto_t *late = server_call(&s, &req, "{'metadata':{'name':'n','resourceVersion':'1'},'spec':{}}");
	CHECK(!late);
	CHECK_INT(s.code, 409);
	json_auto_t *none = server_call(&s, &req, "{'spec':{}}");
	CHECK(none && !jsonx_at(none, "spec.finalizers"));
	CHECK(server_has(&s, "v1/namespaces", "", "n"));
	server_done(&s);
}

/* As an informer has it. */
static json_t *cached_pod(struct server *s, const char *name)
{
	json_t *pod = server_ask(s, VERB_GET, "v1/pods", "default", name, NULL);

	json_object_del(json_object_get(pod, "metadata"), "managedFields");
	return pod;
}

TEST("a binding by way of what was seen of the pod stores the same, and an old sight does no harm")
{
	for (int seen = 0; seen < 3; seen++) { /* nothing, the newest state, an older one */
		struct server s = server_new();
		struct api_request bind = server_request(&s, VERB_CREATE, "v1/pods", "default", "p");
		json_auto_t *before = NULL, *then = NULL, *pod = NULL, *whole = NULL;

		server_do(&s, VERB_CREATE, "v1/pods", "default", NULL,
			  "{'metadata':{'name':'p','annotations':{'a':'b'}},'spec':{'containers':[{'name':'c',"
			  "'image':'host'}]}}");
		then = cached_pod(&s, "p");
		if (seen == 2)
			json_decref(
				sub(&s, VERB_PATCH, "v1/pods", "p", NULL, "{'metadata':{'annotations':{'a':'new'}}}"));
		before = cached_pod(&s, "p");
		whole = server_ask(&s, VERB_GET, "v1/pods", "default", "p", NULL);
		bind.subresource = "binding";
		bind.seen = seen ? then : NULL;
		json_decref(server_call(&s, &bind,
					"{'metadata':{'name':'p','annotations':{'x':'y'}},'target':{'name':'n'}}"));
		CHECK_INT(s.code, 201);
		pod = server_ask(&s, VERB_GET, "v1/pods", "default", "p", NULL);
		CHECK_STR(jsonx_str(pod, "spec.nodeName"), "n");
		CHECK_STR(jsonx_str(pod, "metadata.annotations.a"), seen == 2 ? "new" : "b");
		CHECK_STR(jsonx_str(pod, "metadata.annotations.x"), "y");
		CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "status.conditions"), 0), "type"), "PodScheduled");
		CHECK(json_equal(jsonx_at(pod, "metadata.managedFields"), jsonx_at(whole, "metadata.managedFields")));
		CHECK(json_array_size(jsonx_at(pod, "metadata.managedFields")) > 0);
		/* What was seen is as it was: others look at it too. */
		CHECK_STR(jsonx_str(then, "spec.nodeName"), NULL);
		CHECK_STR(jsonx_str(then, "metadata.annotations.x"), NULL);
		CHECK(!jsonx_at(then, "status.conditions") && !jsonx_at(before, "metadata.annotations.x"));
		server_done(&s);
	}
}
