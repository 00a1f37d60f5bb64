// SPDX-License-Identifier: Apache-2.0
/* reserve_test.c - Reservations and budgets as the API has them */
#include "base/clock.h"
#include "sched/cluster.h"

#define RESERVATIONS "stoker.dev/v1/reservations"

static void make_reservation(struct cluster *c, const char *name, const char *spec)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'spec':%s}", name, spec);

	server_do(&c->s, VERB_CREATE, RESERVATIONS, "", NULL, body);
	settle(c);
}

static const char *phase_of(struct cluster *c, const char *name)
{
	static char out[64];
	json_auto_t *obj = server_ask(&c->s, VERB_GET, RESERVATIONS, "", name, NULL);

	snprintf(out, sizeof(out), "%s", jsonx_str_or(obj, "status.phase", "-"));
	return out;
}

static void label_node(struct cluster *c, const char *patch)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, "v1/nodes", "", "n");
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	done = server_call(&c->s, &req, patch);
	CHECK(done != NULL);
	settle(c);
}

TEST("a reservation keeps work out that it is not for, until it is deleted")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");

	make_reservation(&c, "r", "{'start':'2020-01-01T00:00:00Z','nodes':['n'],'groups':['lab']}");
	CHECK_STR(phase_of(&c, "r"), "Active");
	make_pod(&c, "a", "");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "a"), "-");
	CHECK_STR(scheduled(&c, "a"), "False Unschedulable the room that is free is kept for reservation r until that "
				      "is deleted");
	server_do(&c.s, VERB_DELETE, RESERVATIONS, "", "r", NULL);
	settle(&c);
	CHECK_STR(node_of(&c, "a"), "n");
	cluster_done(&c);
}

TEST("a reservation is for its users, and later ones are for what ends before")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");

	make_reservation(&c, "r", "{'start':'2100-01-01T00:00:00Z','duration':'2h','nodes':['n'],'users':['default']}");
	CHECK_STR(phase_of(&c, "r"), "Pending");
	make_pod(&c, "a", ""); /* its user is its namespace, default */
	settle(&c);
	CHECK_STR(node_of(&c, "a"), "n");
	make_reservation(&c, "s", "{'start':'2100-01-01T00:00:00Z','end':'2100-01-02T00:00:00Z','nodes':['n']}");
	make_pod(&c, "b", "");
	make_pod(&c, "c", ",'activeDeadlineSeconds':3600");
	settle(&c);
	CHECK_STR(node_of(&c, "b"), "-");
	CHECK_STR(node_of(&c, "c"), "n");
	make_reservation(&c, "old", "{'start':'2000-01-01T00:00:00Z','duration':'1h','nodes':['n']}");
	CHECK_STR(phase_of(&c, "old"), "Ended");
	cluster_done(&c);
}

TEST("a selector follows the labels of nodes")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");
	json_auto_t *obj = NULL;

	make_reservation(&c, "r", "{'start':'2020-01-01T00:00:00Z','nodeSelector':{'rack':'b'}}");
	make_pod(&c, "a", "");
	settle(&c);
	CHECK_STR(node_of(&c, "a"), "n");
	label_node(&c, "{'metadata':{'labels':{'rack':'b'}}}");
	make_pod(&c, "b", "");
	settle(&c);
	CHECK_STR(node_of(&c, "b"), "-");
	obj = server_ask(&c.s, VERB_GET, RESERVATIONS, "", "r", NULL);
	CHECK_JSON(jsonx_at(obj, "status.nodes"), "['n']");
	label_node(&c, "{'metadata':{'labels':{'rack':null}}}");
	CHECK_STR(node_of(&c, "b"), "n");
	cluster_done(&c);
}

TEST("bad reservations are refused with what is allowed")
{
	static const struct {
		const char *spec, *want;
	} rows[] = {
		{ "{'start':'2026-01-01T00:00:00Z'}", "spec.nodes: Required value: say what is reserved: nodes, "
						      "nodeSelector or gpus" },
		{ "{'gpus':1}", "spec.start: Required value" },
		{ "{'start':'2026-01-01T00:00:00Z','gpus':0}", "spec.gpus: Invalid value: 0: " },
		{ "{'start':'2026-01-01T00:00:00Z','gpus':1,'duration':'long'}",
		  "spec.duration: Invalid value: \"long\": must be a time such as 2h, 1:30:00 or 3600" },
		{ "{'start':'2026-01-01T00:00:00Z','gpus':1,'end':'2026-01-01T00:00:00Z'}",
		  "spec.end: Invalid value: \"2026-01-01T00:00:00Z\": must be after start" },
		{ "{'start':'2026-01-01T00:00:00Z','gpus':1,'end':'2026-01-02T00:00:00Z','duration':'1h'}",
		  "spec.duration: Forbidden: may not be set together with end" },
		{ "{'start':'2026-01-01T00:00:00Z','nodes':['a'],'nodeSelector':{'b':'c'}}",
		  "spec.nodeSelector: Forbidden: may not be set together with nodes" },
	};
	struct cluster c = cluster_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'r'},'spec':%s}", rows[i].spec);
		json_auto_t *obj = server_ask(&c.s, VERB_CREATE, RESERVATIONS, "", NULL, body);

		CHECK(!obj);
		if (!strstr(c.s.message, rows[i].want))
			CHECK_STR(c.s.message, rows[i].want);
	}
	cluster_done(&c);
}

/* A pod of a priority that holds all of the node, and runs. */
static void make_runner(struct cluster *c, const char *name)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s','labels':{'app':'web'}},'spec':{'containers':[{'name'"
			  ":'c','image':'host','resources':{'requests':{'cpu':'1'}}}]}}",
			  name);
	struct api_request req = server_request(&c->s, VERB_PATCH, "v1/pods", "default", name);
	json_auto_t *done = NULL;

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
	settle(c);
	req.patch = PATCH_MERGE;
	req.subresource = "status";
	done = server_call(&c->s, &req,
			   "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");
	settle(c);
}

static void allow_disruptions(struct cluster *c, int n)
{
	auto_free char *patch = xasprintf("{'status':{'disruptionsAllowed':%d,'currentHealthy':2,'desiredHealthy':1,"
					  "'expectedPods':2,'observedGeneration':1}}",
					  n);
	struct api_request req =
		server_request(&c->s, VERB_PATCH, "policy/v1/poddisruptionbudgets", "default", "budget");
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = "status";
	done = server_call(&c->s, &req, patch);
	if (!done)
		test_fail(__FILE__, __LINE__, "%s", c->s.message);
	settle(c);
}

static bool is_going(struct cluster *c, const char *name)
{
	json_auto_t *pod = server_ask(&c->s, VERB_GET, "v1/pods", "default", name, NULL);

	return !pod || jsonx_at(pod, "metadata.deletionTimestamp");
}

TEST("nobody is evicted whom a budget protects")
{
	struct cluster c = cluster_new("{'cpu':'2','pods':'10'}");

	server_do(&c.s, VERB_CREATE, "scheduling.k8s.io/v1/priorityclasses", "", NULL,
		  "{'metadata':{'name':'high'},'value':1000}");
	server_do(&c.s, VERB_CREATE, "policy/v1/poddisruptionbudgets", "default", NULL,
		  "{'metadata':{'name':'budget'},'spec':{'minAvailable':1,'selector':{'matchLabels':{'app':'web'}}}}");
	allow_disruptions(&c, 0);
	make_runner(&c, "w1");
	make_runner(&c, "w2");
	make_pod(&c, "top", ",'priorityClassName':'high'");
	settle(&c);
	CHECK(!is_going(&c, "w1") && !is_going(&c, "w2"));
	allow_disruptions(&c, 1);
	CHECK_INT(is_going(&c, "w1") + is_going(&c, "w2"), 1);
	cluster_done(&c);
}
