// SPDX-License-Identifier: Apache-2.0
/* taint_eviction.c - deletes pods from tainted nodes, at once or when their tolerations run out
 *
 * A pod's time starts when we first see it together with the taint, and does not run while the machine sleeps: a server
 * that was away gives everyone their full time.  As long as no node has a NoExecute taint, nothing is looked at.
 */
#include "control/taint_eviction.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"
#include "control/nodes_plan.h"

#define COMPONENT "taint-eviction-controller"

struct taint_eviction {
	struct client *client;
	struct owned *owned;
	struct events *events;
	struct informer *nodes;
	struct map tainted;      /* name of a node -> its taints, json_t */
	struct map since;        /* uid of a pod -> when its time started, int64_t */
	struct workqueue *queue; /* pods by uid */
	struct calls *calls;
	bool started;
};

static void free_taints(void *p)
{
	json_decref(p);
}

/* ---- one pod ---- */

/* The condition first: it tells whoever counts failures that this one is not the pod's own. */
static void evict(struct taint_eviction *k, const struct pod_facts *p)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	struct ref status = calls_ref("v1", "pods", p->obj);
	json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid", p->uid);
	json_auto_t *patch = NULL;
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(clock_wall(), now);
	status.subresource = "status";
	patch = json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s, s:s}]}}", "metadata", "uid", p->uid, "status",
			  "conditions", "type", "DisruptionTarget", "status", "True", "reason",
			  "DeletionByTaintManager", "message", "Taint manager: deleting due to NoExecute taint",
			  "lastTransitionTime", now);
	events_note(k->events, p->obj, "Normal", "TaintManagerEviction", "Marking for deletion Pod %s/%s", ref.ns,
		    ref.name);
	calls_patch(k->calls, p->uid, &status, "strategic", patch, NULL, NULL);
	calls_remove(k->calls, p->uid, &ref, options, NULL, NULL);
}

/* The taint went, or the pod now tolerates it. */
static void spare(struct taint_eviction *k, const char *uid, const struct pod_facts *p)
{
	if (map_remove(&k->since, uid) && p && !p->deleting)
		events_note(k->events, p->obj, "Normal", "TaintManagerEviction", "Cancelling deletion of Pod %s/%s",
			    jsonx_str_or(p->obj, "metadata.namespace", ""), p->name);
}

static int64_t start_of(struct taint_eviction *k, const char *uid)
{
	int64_t *since = map_find(&k->since, uid);

	if (!since) {
		since = xcalloc(1, sizeof(*since));
		*since = clock_awake_ms();
		map_set(&k->since, uid, since);
	}
	return *since;
}

static void look(void *arg, const char *uid)
{
	struct taint_eviction *k = arg;
	const struct owned_pod *p = owned_find(k->owned, uid);
	const json_t *taints = p ? map_find(&k->tainted, jsonx_str_or(p->facts.obj, "spec.nodeName", "")) : NULL;
	int64_t after = -1;
	int64_t left;

	if (calls_busy(k->calls, uid))
		return; /* on_idle() comes back to it */
	if (taints && pod_active(&p->facts))
		after = taint_eviction_after(taints, jsonx_at(p->facts.obj, "spec.tolerations"));
	if (after < 0) {
		spare(k, uid, p ? &p->facts : NULL);
		workqueue_forget(k->queue, uid);
		return;
	}
	left = start_of(k, uid) + clock_ms_of(after) - clock_awake_ms();
	if (left > 0)
		workqueue_add_after(k->queue, uid, left);
	else
		evict(k, &p->facts);
}

static void on_idle(void *arg, const char *uid, bool failed)
{
	struct taint_eviction *k = arg;

	workqueue_written(k->queue, uid, failed);
}

/* ---- what happens ---- */

static void on_pod(void *arg, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct taint_eviction *k = arg;
	const char *uid = pod ? pod->uid : old->uid;

	if (!k->tainted.n && !k->since.n)
		return;
	if (map_find(&k->since, uid) || (pod && map_find(&k->tainted, jsonx_str_or(pod->obj, "spec.nodeName", ""))))
		workqueue_add(k->queue, uid);
}

static void look_at_pods(struct taint_eviction *k, const char *node)
{
	for (const struct owned_pod *p = owned_on(k->owned, node); p; p = p->beside)
		workqueue_add(k->queue, p->facts.uid);
}

static void on_node(void *arg, const json_t *obj, const json_t *old)
{
	struct taint_eviction *k = arg;
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");
	const json_t *taints = jsonx_at(obj, "spec.taints");
	const json_t *before = map_find(&k->tainted, name);
	bool execute = has_no_execute_taint(taints);

	if (!execute && !before)
		return;
	if (execute && json_equal(taints, before))
		return;
	if (execute)
		map_set(&k->tainted, name, json_incref((json_t *)taints));
	else
		map_remove(&k->tainted, name);
	look_at_pods(k, name);
}

static void on_synced(void *arg)
{
	struct taint_eviction *k = arg;
	const char *name;
	size_t pos = 0;

	if (k->started || !k->nodes || !informer_synced(k->nodes) || !owned_synced(k->owned))
		return;
	k->started = true;
	while (map_next(&k->tainted, &pos, &name, NULL))
		look_at_pods(k, name);
	workqueue_start(k->queue);
}

struct taint_eviction *taint_eviction_new(struct client *c, struct owned *owned)
{
	struct taint_eviction *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->owned = owned;
	k->events = events_new(c, COMPONENT, NULL);
	k->queue = workqueue_new(c->loop, look, k);
	k->calls = calls_new(c, on_idle, k);
	map_init(&k->tainted, free_taints);
	map_init(&k->since, free);
	owned_follow(owned, &(struct owned_handlers){ .any = on_pod, .synced = on_synced, .arg = k });
	k->nodes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL,
				&(struct informer_handlers){ .change = on_node, .synced = on_synced, .arg = k });
	return k;
}

void taint_eviction_free(struct taint_eviction *k)
{
	if (!k)
		return;
	owned_unfollow(k->owned, k);
	informer_free(k->nodes);
	workqueue_free(k->queue);
	calls_free(k->calls);
	events_free(k->events);
	map_done(&k->tainted);
	map_done(&k->since);
	free(k);
}

struct workqueue_counts taint_eviction_counts(const struct taint_eviction *k)
{
	return workqueue_counts(k->queue);
}
