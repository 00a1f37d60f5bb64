// SPDX-License-Identifier: Apache-2.0
/* nodes_test.c - nodes that only say that they live, and controllers that listen */
#include "control/nodes.h"

#include "api/server.h"
#include "base/clock.h"
#include "client/client.h"
#include "control/pod_gc.h"
#include "control/taint_eviction.h"
#include "kinds/condition.h"
#include "kinds/placement.h"

#define LEASES      "coordination.k8s.io/v1/leases"
#define PATIENCE_MS 120000

struct cluster {
	struct server s;
	struct client *client;
	struct owned *owned;
	struct nodes *nodes;
	struct taint_eviction *evictions;
	struct pod_gc *gc;
	unsigned beats;
};

static void control_start(struct cluster *c)
{
	c->owned = owned_new(c->client);
	c->nodes = nodes_new(c->client, c->owned);
	c->evictions = taint_eviction_new(c->client, c->owned);
	c->gc = pod_gc_new(c->client, c->owned);
	for (int i = 0; i < 3; i++)
		server_settle(&c->s);
}

static void control_stop(struct cluster *c)
{
	pod_gc_free(c->gc);
	taint_eviction_free(c->evictions);
	nodes_free(c->nodes);
	owned_free(c->owned);
}

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	control_start(&c);
	return c;
}

static void cluster_done(struct cluster *c)
{
	control_stop(c);
	server_settle(&c->s);
	client_free(c->client);
	server_done(&c->s);
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

/* A heartbeat, as its agent would send it. */
static void beat(struct cluster *c, const char *name)
{
	auto_free char *body = xasprintf("{'spec':{'renewTime':'2026-01-01T00:00:00.%06uZ'}}", ++c->beats);

	patch(c, LEASES, "kube-node-lease", name, NULL, body);
}

static void say(struct cluster *c, const char *name, const char *ready)
{
	auto_free char *body = xasprintf("{'status':{'conditions':[{'type':'Ready','status':'%s','lastHeartbeatTime':"
					 "'2026-01-01T00:00:%02uZ'}]}}",
					 ready, ++c->beats % 60);

	patch(c, "v1/nodes", "", name, "status", body);
}

static void add_node(struct cluster *c, const char *name, int seconds)
{
	auto_free char *node = xasprintf("{'metadata':{'name':'%s'}}", name);
	auto_free char *lease = xasprintf("{'metadata':{'name':'%s'},'spec':{'leaseDurationSeconds':%d,'renewTime':"
					  "'2026-01-01T00:00:00.000000Z'}}",
					  name, seconds);

	server_do(&c->s, VERB_CREATE, LEASES, "kube-node-lease", NULL, lease);
	server_do(&c->s, VERB_CREATE, "v1/nodes", "", NULL, node);
	say(c, name, "True");
}

static void add_pod(struct cluster *c, const char *name, const char *node, const char *tolerations)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s'},'spec':{'nodeName':'%s','terminationGracePeriodSeconds':0,"
			  "'tolerations':[%s],'containers':[{'name':'c','image':'host'}]}}",
			  name, node, tolerations);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
	patch(c, "v1/pods", "default", name, "status",
	      "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");
}

/* Time passes; `alive` (or NULL) goes on renewing. */
static bool wait_until(struct cluster *c, bool (*done)(struct cluster *c, const char *name, const char *want),
		       const char *name, const char *want, const char *alive)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	int64_t next = 0;

	while (clock_mono_ms() < end) {
		if (done(c, name, want))
			return true;
		if (alive && clock_mono_ms() >= next) {
			beat(c, alive);
			next = clock_mono_ms() + 100;
		}
		server_turn(&c->s);
		usleep(1000);
	}
	return false;
}

static void live(struct cluster *c, int ms, const char *alive)
{
	int64_t end = clock_mono_ms() + ms;
	int64_t next = 0;

	while (clock_mono_ms() < end) {
		if (alive && clock_mono_ms() >= next) {
			beat(c, alive);
			next = clock_mono_ms() + 100;
		}
		server_turn(&c->s);
		usleep(1000);
	}
}

static bool node_is(struct cluster *c, const char *name, const char *want)
{
	json_auto_t *node = server_ask(&c->s, VERB_GET, "v1/nodes", "", name, NULL);

	return streq(condition_status(node, "Ready"), want);
}

static bool has_taints(struct cluster *c, const char *name, const char *want)
{
	json_auto_t *node = server_ask(&c->s, VERB_GET, "v1/nodes", "", name, NULL);
	auto_sbuf struct sbuf text = SBUF(1000);
	json_t *t;
	size_t i;

	json_array_foreach (jsonx_at(node, "spec.taints"), i, t)
		sbuf_addf(&text, "%s:%s;", strrchr(jsonx_str(t, "key"), '/') + 1, jsonx_str(t, "effect"));
	return streq(text.p ? text.p : "", want);
}

static bool pod_gone(struct cluster *c, const char *name, const char *want)
{
	(void)want;
	return !server_has(&c->s, "v1/pods", "default", name);
}

static bool pod_unready(struct cluster *c, const char *name, const char *want)
{
	json_auto_t *pod = server_ask(&c->s, VERB_GET, "v1/pods", "default", name, NULL);

	return streq(condition_status(pod, "Ready"), want);
}

TEST("a silent node is marked, loses its pods in time, and is well again when it says so")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 1);
	add_node(&c, "b", 1);
	add_pod(&c, "stays", "a", "");
	add_pod(&c, "goes", "b",
		"{'key':'node.kubernetes.io/"
		"unreachable','operator':'Exists','effect':'NoExecute','tolerationSeconds':0}");
	add_pod(&c, "waits", "b", "");
	CHECK(wait_until(&c, node_is, "b", "Unknown", "a"));
	CHECK(wait_until(&c, has_taints, "b", "unreachable:NoSchedule;unreachable:NoExecute;", "a"));
	CHECK(wait_until(&c, pod_gone, "goes", NULL, "a"));
	CHECK(wait_until(&c, pod_unready, "waits", "False", "a"));
	CHECK(node_is(&c, "a", "True"));
	CHECK(!pod_gone(&c, "stays", NULL) && !pod_gone(&c, "waits", NULL));
	beat(&c, "b");
	say(&c, "b", "True");
	CHECK(wait_until(&c, has_taints, "b", "", "a"));
	cluster_done(&c);
}

TEST("a node that renews its lease only is alive, whatever the time it writes")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 1);
	live(&c, 2500, "a");
	CHECK(node_is(&c, "a", "True"));
	cluster_done(&c);
}

TEST("when every node is silent nobody is evicted")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 1);
	add_pod(&c, "p", "a",
		"{'key':'node.kubernetes.io/"
		"unreachable','operator':'Exists','effect':'NoExecute','tolerationSeconds':0}");
	CHECK(wait_until(&c, node_is, "a", "Unknown", NULL));
	CHECK(wait_until(&c, has_taints, "a", "unreachable:NoSchedule;", NULL));
	live(&c, 300, NULL);
	CHECK(!pod_gone(&c, "p", NULL));
	cluster_done(&c);
}

TEST("after a start of ours, and after a standstill, nodes have their full time to be heard")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 2);
	add_node(&c, "b", 2);
	control_stop(&c);
	usleep(2500 * 1000);
	control_start(&c);
	live(&c, 500, NULL);
	CHECK(node_is(&c, "a", "True"));
	usleep(3500 * 1000);
	live(&c, 500, NULL);
	CHECK(node_is(&c, "a", "True"));
	CHECK(has_taints(&c, "a", ""));
	cluster_done(&c);
}

TEST("a taint evicts at once whom it does not tolerate, and a taint that goes spares who waits")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 40);
	add_pod(&c, "goes", "a", "");
	add_pod(&c, "stays", "a", "{'operator':'Exists'}");
	add_pod(&c, "waits", "a", "{'key':'x/y','operator':'Exists','effect':'NoExecute','tolerationSeconds':1}");
	patch(&c, "v1/nodes", "", "a", NULL, "{'spec':{'taints':[{'key':'x/y','effect':'NoExecute'}]}}");
	CHECK(wait_until(&c, pod_gone, "goes", NULL, NULL));
	patch(&c, "v1/nodes", "", "a", NULL, "{'spec':{'taints':null}}");
	live(&c, 1500, NULL);
	CHECK(!pod_gone(&c, "stays", NULL));
	CHECK(!pod_gone(&c, "waits", NULL));
	cluster_done(&c);
}

TEST("a cordoned node has a taint for as long")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 40);
	patch(&c, "v1/nodes", "", "a", NULL, "{'spec':{'unschedulable':true}}");
	CHECK(wait_until(&c, has_taints, "a", "unschedulable:NoSchedule;", NULL));
	patch(&c, "v1/nodes", "", "a", NULL, "{'spec':{'unschedulable':null}}");
	CHECK(wait_until(&c, has_taints, "a", "", NULL));
	cluster_done(&c);
}

TEST("pods of a node that was deleted go after a while, unless it comes back")
{
	struct cluster c = cluster_new();

	pod_gc_set_quarantine(c.gc, 400);
	add_node(&c, "a", 40);
	add_node(&c, "b", 40);
	add_pod(&c, "stays", "a", "");
	add_pod(&c, "goes", "b", "");
	server_do(&c.s, VERB_DELETE, "v1/nodes", "", "a", NULL);
	server_do(&c.s, VERB_DELETE, "v1/nodes", "", "b", NULL);
	server_do(&c.s, VERB_CREATE, "v1/nodes", "", NULL, "{'metadata':{'name':'a'}}");
	live(&c, 100, NULL);
	CHECK(!pod_gone(&c, "goes", NULL));
	CHECK(wait_until(&c, pod_gone, "goes", NULL, NULL));
	CHECK(!pod_gone(&c, "stays", NULL));
	cluster_done(&c);
}

TEST("a pod that is being deleted on a node that is out of service goes at once")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 40);
	add_pod(&c, "p", "a", "{'operator':'Exists'}");
	patch(&c, "v1/pods", "default", "p", NULL, "{'metadata':{'finalizers':['a/b']}}");
	server_do(&c.s, VERB_DELETE, "v1/pods", "default", "p", NULL);
	live(&c, 50, NULL);
	CHECK(!pod_gone(&c, "p", NULL));
	say(&c, "a", "False");
	patch(&c, "v1/nodes", "", "a", NULL,
	      "{'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]}}");
	live(&c, 100, NULL);
	json_auto_t *pod = server_ask(&c.s, VERB_GET, "v1/pods", "default", "p", NULL);

	CHECK_STR(jsonx_str(pod, "status.phase"), "Failed");
	patch(&c, "v1/pods", "default", "p", NULL, "{'metadata':{'finalizers':null}}");
	CHECK(wait_until(&c, pod_gone, "p", NULL, NULL));
	cluster_done(&c);
}

static bool take_item(void *arg, const struct api_item *item)
{
	json_array_append(arg, item->object);
	return true;
}

static bool told_of_node(struct cluster *c, const char *name, const char *want)
{
	struct api_request req = server_request(&c->s, VERB_LIST, "v1/events", "default", NULL);
	json_auto_t *list = json_array();
	auto_free char *cont = NULL;
	int64_t rv, remaining;
	json_t *item;
	size_t i;

	c->s.e = ERR_INIT;
	CHECK_INT(api_list(c->s.api, &req, true, take_item, list, &rv, &cont, &remaining, &c->s.e), 0);
	json_array_foreach (list, i, item)
		if (str_same(jsonx_str(item, "involvedObject.name"), name) &&
		    str_same(jsonx_str(item, "reason"), "NodeNotFound") && str_same(jsonx_str(item, "message"), want))
			return true;
	return false;
}

TEST("a pod that waits for a node that does not exist is told which there are")
{
	struct cluster c = cluster_new();

	add_node(&c, "a", 40);
	server_do(&c.s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'p'},'spec':{'nodeName':'x','containers':[{'name':'c','image':'host'}]}}");
	CHECK(wait_until(&c, told_of_node, "p",
			 "spec.nodeName: node \"x\" does not exist; the pod is removed if it does not come. Nodes: a",
			 "a"));
	CHECK(!pod_gone(&c, "p", NULL));
	cluster_done(&c);
}
