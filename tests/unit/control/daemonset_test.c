// SPDX-License-Identifier: Apache-2.0
/* daemonset_test.c - three nodes that exist only in the API; the test says what becomes of pods */
#include "control/daemonset.h"

#include "api/server.h"
#include "base/clock.h"
#include "client/client.h"
#include "control/gc.h"
#include "kinds/condition.h"
#include "sched/sched.h"

#define SETS        "apps/v1/daemonsets"
#define PATIENCE_MS 120000

struct cluster {
	struct server s;
	struct client *client;
	struct owned *owned;
	struct daemonsets *sets;
	struct sched *sched;
	struct gc *gc;
	size_t least_ready; /* pods that were ready at any time since it was set */
};

static void control_start(struct cluster *c)
{
	c->owned = owned_new(c->client);
	c->sets = daemonsets_new(c->client, c->owned);
	server_settle(&c->s);
}

static void control_stop(struct cluster *c)
{
	daemonsets_free(c->sets);
	owned_free(c->owned);
}

static void patch(struct cluster *c, const char *what, const char *ns, const char *name, const char *sub,
		  const char *body)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, what, ns, name);

	req.patch = PATCH_MERGE;
	req.subresource = sub;
	json_auto_t *done = server_call(&c->s, &req, body);

	if (!done)
		test_fail(__FILE__, __LINE__, "patch %s: %s", what, c->s.message);
}

static void add_node(struct cluster *c, const char *name)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'}}", name);

	server_do(&c->s, VERB_CREATE, "v1/nodes", "", NULL, body);
	patch(c, "v1/nodes", "", name, "status",
	      "{'status':{'allocatable':{'cpu':'4','memory':'4Gi','pods':'9'},'conditions':[{'type':'Ready','status':"
	      "'True'}]}}");
}

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.gc = gc_new(c.client);
	c.sched = sched_new(c.client);
	add_node(&c, "a");
	add_node(&c, "b");
	add_node(&c, "c");
	control_start(&c);
	return c;
}

static void cluster_done(struct cluster *c)
{
	control_stop(c);
	sched_free(c->sched);
	gc_free(c->gc);
	server_settle(&c->s);
	client_free(c->client);
	server_done(&c->s);
}

static bool take_item(void *arg, const struct api_item *item)
{
	json_array_append(arg, item->object);
	return true;
}

static json_t *all_of(struct cluster *c, const char *what)
{
	struct api_request req = server_request(&c->s, VERB_LIST, what, "default", NULL);
	json_t *list = json_array();
	auto_free char *cont = NULL;
	int64_t rv;
	int64_t remaining;

	c->s.e = ERR_INIT;
	CHECK_INT(api_list(c->s.api, &req, true, take_item, list, &rv, &cont, &remaining, &c->s.e), 0);
	return list;
}

/* What the agents of the nodes would do: pods that are bound become ready, pods that are deleted go. */
static void agents(struct cluster *c)
{
	json_auto_t *pods = all_of(c, "v1/pods");
	size_t ready = 0;
	json_t *pod;
	size_t i;

	json_array_foreach (pods, i, pod) {
		const char *name = jsonx_str_or(pod, "metadata.name", "");
		bool is_ready = streq(condition_status(pod, "Ready"), "True");

		if (jsonx_at(pod, "metadata.deletionTimestamp")) {
			struct api_request req = server_request(&c->s, VERB_DELETE, "v1/pods", "default", name);

			req.grace_seconds = 0;
			json_auto_t *gone = server_call(&c->s, &req, NULL);

			CHECK(gone != NULL);
			continue;
		}
		ready += is_ready;
		if (!is_ready && *jsonx_str_or(pod, "spec.nodeName", "") &&
		    !streq(jsonx_str_or(pod, "status.phase", ""), "Failed"))
			patch(c, "v1/pods", "default", name, "status",
			      "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True',"
			      "'lastTransitionTime':'2026-01-01T00:00:00Z'}]}}");
	}
	if (ready < c->least_ready)
		c->least_ready = ready;
}

/* "desired current ready updated available", of a status that is about the set as it is. */
static bool becomes(struct cluster *c, const char *want)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *d = server_ask(&c->s, VERB_GET, SETS, "default", "d", NULL);
		const json_t *s = json_object_get(d, "status");
		auto_free char *got = xasprintf(
			"%d %d %d %d %d", (int)jsonx_int_or(s, "desiredNumberScheduled", 0),
			(int)jsonx_int_or(s, "currentNumberScheduled", 0), (int)jsonx_int_or(s, "numberReady", 0),
			(int)jsonx_int_or(s, "updatedNumberScheduled", 0), (int)jsonx_int_or(s, "numberAvailable", 0));

		if (streq(got, want) &&
		    jsonx_int_or(s, "observedGeneration", 0) == jsonx_int_or(d, "metadata.generation", 0))
			return true;
		server_turn(&c->s);
		agents(c);
		usleep(500);
	}
	return false;
}

static bool goes(struct cluster *c, const char *pod)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end && server_has(&c->s, "v1/pods", "default", pod)) {
		server_turn(&c->s);
		agents(c);
		usleep(500);
	}
	return !server_has(&c->s, "v1/pods", "default", pod);
}

static void add_set(struct cluster *c, const char *spec)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'d'},'spec':{%s'selector':{'matchLabels':{'app':'x'}},'template':{"
			  "'metadata':{'labels':{'app':'x'}},'spec':{'containers':[{'name':'c','image':'host'}]}}}}",
			  spec);

	server_do(&c->s, VERB_CREATE, SETS, "default", NULL, body);
}

#define TEMPLATE(v) "{'spec':{'template':{'metadata':{'annotations':{'v':'" v "'}}}}}"

TEST("a pod on each node, one node after the other when the template changes, and back again")
{
	struct cluster c = cluster_new();

	add_set(&c, "");
	CHECK(becomes(&c, "3 3 3 3 3"));
	c.least_ready = 3;
	patch(&c, SETS, "default", "d", NULL, TEMPLATE("2"));
	CHECK(becomes(&c, "3 3 3 3 3"));
	CHECK_INT(c.least_ready, 2);
	patch(&c, SETS, "default", "d", NULL, "{'spec':{'template':{'metadata':{'annotations':null}}}}");
	CHECK(becomes(&c, "3 3 3 3 3"));
	json_auto_t *revisions = all_of(&c, "apps/v1/controllerrevisions");

	CHECK_INT(json_array_size(revisions), 2);
	for (size_t i = 0; i < 2; i++)
		CHECK(jsonx_int_or(json_array_get(revisions, i), "revision", 0) >= 2);
	cluster_done(&c);
}

TEST("with surge no node is ever without, and a controller that is killed on the way goes on")
{
	struct cluster c = cluster_new();

	add_set(&c, "'updateStrategy':{'rollingUpdate':{'maxSurge':'34%','maxUnavailable':0}},");
	CHECK(becomes(&c, "3 3 3 3 3"));
	c.least_ready = 3;
	patch(&c, SETS, "default", "d", NULL, TEMPLATE("2"));
	for (int i = 0; i < 12; i++) {
		control_stop(&c);
		control_start(&c);
		agents(&c);
	}
	CHECK(becomes(&c, "3 3 3 3 3"));
	CHECK(c.least_ready >= 3);
	cluster_done(&c);
}

TEST("a node that comes gets a pod, one that is relabelled loses it, and a failed pod is replaced")
{
	struct cluster c = cluster_new();
	json_auto_t *pods = NULL;

	add_set(&c, "");
	patch(&c, SETS, "default", "d", NULL, "{'spec':{'template':{'spec':{'nodeSelector':{'disk':'ssd'}}}}}");
	CHECK(becomes(&c, "0 0 0 0 0"));
	patch(&c, "v1/nodes", "", "b", NULL, "{'metadata':{'labels':{'disk':'ssd'}}}");
	CHECK(becomes(&c, "1 1 1 1 1"));
	pods = all_of(&c, "v1/pods");
	CHECK_STR(jsonx_str(json_array_get(pods, 0), "spec.nodeName"), "b");
	const char *name = jsonx_str_or(json_array_get(pods, 0), "metadata.name", "");

	patch(&c, "v1/pods", "default", name, "status", "{'status':{'phase':'Failed','conditions':null}}");
	CHECK(goes(&c, name));
	CHECK(becomes(&c, "1 1 1 1 1"));
	json_auto_t *next = all_of(&c, "v1/pods");

	patch(&c, "v1/nodes", "", "b", NULL, "{'metadata':{'labels':null}}");
	CHECK(goes(&c, jsonx_str_or(json_array_get(next, 0), "metadata.name", "")));
	CHECK(becomes(&c, "0 0 0 0 0"));
	cluster_done(&c);
}
