// SPDX-License-Identifier: Apache-2.0
/* nodes.c - hears nodes, and does what nodes_plan.c makes of their health
 *
 * A node lives while its lease or the heartbeat in its status changes.  What the times in them say does not matter,
 * only when we saw them change: clocks that differ or are set do no harm, and after a start of ours every node has its
 * full time to be heard.  The same after a timer that comes late: then it was us who slept.  A node whose time is up is
 * doubted for a moment before it is judged, and its lease is read once more; if that fails, again, we cannot hear.
 *
 * With one node that is well this takes two looks a minute.
 *
 * Conditions are written first, taints when those have been seen.  Evictions are taint_eviction.c's.
 */
#include "control/nodes.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"
#include "control/calls.h"
#include "control/nodes_plan.h"
#include "kinds/condition.h"
#include "kinds/placement.h"

#define LEASES        "kube-node-lease"
#define GRACE_SECONDS 40 /* as in Kubernetes */
#define DOUBT_PART    8  /* of the grace is added to it */
#define DOUBT_MAX_MS  5000
#define ASLEEP_MS     1000 /* a timer that is this late means that we did not run */
#define COMPONENT     "node-controller"

struct health {
	char *lease, *status; /* the last heartbeats, as they were written */
	int64_t heard;        /* when either changed last, by clock_awake_ms() */
	int64_t grace_ms;     /* how long it may be silent */
	bool doubted, asking, late;
	bool not_ready;
	bool mark; /* its pods are to be marked */
};

struct nodes {
	struct client *client;
	struct owned *owned;
	struct events *events;
	struct informer *nodes, *leases;
	struct workqueue *queue; /* names of nodes */
	struct calls *calls;
	struct map health; /* name -> struct health */
	size_t not_ready;
	enum disruption disruption;
	struct loop_timer tick;
	int64_t due; /* when it should fire */
	bool started;
};

static void health_free(void *p)
{
	struct health *h = p;

	free(h->lease);
	free(h->status);
	free(h);
}

/* ---- hearing ---- */

static void queue_all(struct nodes *k)
{
	const char *name;
	size_t pos = 0;

	while (map_next(&k->health, &pos, &name, NULL))
		workqueue_add(k->queue, name);
}

/* How the cluster does decides for each node. */
static void count(struct nodes *k)
{
	enum disruption now = nodes_disruption(k->health.n - k->not_ready, k->not_ready);

	if (now == k->disruption)
		return;
	k->disruption = now;
	queue_all(k);
}

static void judge(struct nodes *k, const char *name, struct health *h, const json_t *node)
{
	bool not_ready = node_is_not_ready(node, h->late);

	if (not_ready != h->not_ready)
		k->not_ready += not_ready ? 1 : (size_t)-1;
	h->not_ready = not_ready;
	workqueue_add(k->queue, name);
	count(k);
}

/* True if the heartbeat is another than before. */
static bool hear(struct health *h, char **last, const char *beat)
{
	if (str_same(*last, beat))
		return false;
	free(*last);
	*last = beat ? xstrdup(beat) : NULL;
	h->heard = clock_awake_ms();
	h->late = h->doubted = false;
	return true;
}

static void tick_after(struct nodes *k, int64_t ms)
{
	int64_t due = clock_awake_ms() + ms;

	if (loop_timer_pending(&k->tick) && k->due <= due)
		return;
	k->due = due;
	loop_timer_set(k->client->loop, &k->tick, ms);
}

/* Also how long its silence may last. */
static bool hear_lease(struct nodes *k, struct health *h, const json_t *lease)
{
	h->grace_ms = clock_ms_of(jsonx_int_or(lease, "spec.leaseDurationSeconds", GRACE_SECONDS));
	tick_after(k, h->grace_ms);
	return hear(h, &h->lease, jsonx_str(lease, "spec.renewTime"));
}

static const char *heartbeat(const json_t *node)
{
	return jsonx_str(condition_of(node, "Ready"), "lastHeartbeatTime");
}

static void on_lease(void *arg, const json_t *obj, const json_t *old)
{
	struct nodes *k = arg;
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");
	struct health *h = map_find(&k->health, name);
	bool was_late = h && h->late;

	if (!h || !obj || !hear_lease(k, h, obj) || !was_late)
		return;
	judge(k, name, h, informer_find(k->nodes, NULL, name));
}

/* ---- silence ---- */

static void hear_all(struct nodes *k)
{
	size_t pos = 0;
	void *v;

	while (map_next(&k->health, &pos, NULL, &v)) {
		struct health *h = v;

		h->heard = clock_awake_ms();
		h->doubted = false;
	}
}

/* The answer to the last question before a node is judged. */
static void on_asked(void *arg, const struct answer *a)
{
	struct nodes *k = arg;
	struct health *h = map_find(&k->health, a->key);
	const json_t *node = informer_find(k->nodes, NULL, a->key);

	if (!h || !node)
		return;
	h->asking = false;
	if (a->e->kind != ERR_NONE && a->e->kind != ERR_NOT_FOUND) {
		hear_all(k);
		return;
	}
	if (a->obj && hear_lease(k, h, a->obj))
		return;
	h->late = true;
	judge(k, a->key, h, node);
}

static void ask(struct nodes *k, const char *name, struct health *h)
{
	struct ref ref = { .api_version = "coordination.k8s.io/v1", .plural = "leases", .ns = LEASES, .name = name };

	h->asking = true;
	calls_get(k->calls, name, &ref, on_asked, NULL);
}

/* How long until this node is to be looked at again; -1: until it is heard. */
static int64_t listen(struct nodes *k, const char *name, struct health *h, int64_t now)
{
	/* A node that has never said anything may still be starting. */
	int64_t grace = h->status ? h->grace_ms : h->grace_ms / 2 * 3;
	int64_t doubt = grace / DOUBT_PART < DOUBT_MAX_MS ? grace / DOUBT_PART : DOUBT_MAX_MS;
	int64_t left = h->heard + grace - now;

	if (h->late || h->asking)
		return -1;
	if (left > 0)
		return left;
	if (!h->doubted || calls_busy(k->calls, name)) {
		h->doubted = true;
		return doubt;
	}
	ask(k, name, h);
	return -1;
}

static void on_tick(void *arg)
{
	struct nodes *k = arg;
	int64_t now = clock_awake_ms();
	int64_t next = -1;
	const char *name;
	size_t pos = 0;
	void *v;

	if (now - k->due > ASLEEP_MS)
		hear_all(k);
	while (map_next(&k->health, &pos, &name, &v)) {
		int64_t ms = listen(k, name, v, now);

		if (ms >= 0 && (next < 0 || ms < next))
			next = ms;
	}
	if (next >= 0)
		tick_after(k, next);
}

/* ---- pods of a node that went ---- */

static void mark_pod(struct nodes *k, const char *key, const struct pod_facts *p)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	json_auto_t *patch = NULL;
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(clock_wall(), now);
	ref.subresource = "status";
	patch = json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:s}]}}", "metadata", "uid", p->uid, "status", "conditions",
			  "type", "Ready", "status", "False", "lastTransitionTime", now);
	events_note(k->events, p->obj, "Warning", "NodeNotReady", "Node is not ready");
	calls_patch(k->calls, key, &ref, "strategic", patch, NULL, NULL);
}

static void mark_pods(struct nodes *k, const char *name)
{
	for (const struct owned_pod *p = owned_on(k->owned, name); p; p = p->beside)
		if (p->facts.ready)
			mark_pod(k, name, &p->facts);
}

/* ---- one node ---- */

static void write_node(struct nodes *k, const char *name, const json_t *node, const struct node_plan *p)
{
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = name };
	json_auto_t *patch =
		json_pack("{s:{s:O}}", "metadata", "resourceVersion", jsonx_at(node, "metadata.resourceVersion"));

	if (p->conditions) {
		ref.subresource = "status";
		jsonx_set_new(patch, "status.conditions", json_incref(p->conditions));
	} else {
		jsonx_set_new(patch, "spec.taints", json_array_size(p->taints) ? json_incref(p->taints) : json_null());
	}
	calls_patch(k->calls, name, &ref, "merge", patch, NULL, NULL);
}

static void look(void *arg, const char *name)
{
	struct nodes *k = arg;
	json_auto_t *node = json_incref((json_t *)informer_find(k->nodes, NULL, name));
	struct health *h = map_find(&k->health, name);
	struct node_plan p;

	if (!node || !h) {
		workqueue_forget(k->queue, name);
		return;
	}
	if (calls_busy(k->calls, name))
		return; /* on_idle() comes back to it */
	node_plan(&(struct node_health){ node, h->late, k->disruption, clock_wall() }, &p);
	if (p.conditions || p.taints)
		write_node(k, name, node, &p);
	node_plan_done(&p);
	if (h->mark && !condition_holds(node, "Ready"))
		mark_pods(k, name);
	h->mark = false;
}

static void on_idle(void *arg, const char *name, bool failed)
{
	struct nodes *k = arg;
	struct health *h = map_find(&k->health, name);

	if (failed) {
		if (h)
			h->mark = h->not_ready;
		workqueue_retry(k->queue, name);
		return;
	}
	workqueue_forget(k->queue, name);
	workqueue_add(k->queue, name);
}

/* ---- what happens ---- */

static struct health *meet(struct nodes *k, const char *name, const json_t *node)
{
	struct health *h = xcalloc(1, sizeof(*h));
	const json_t *lease = informer_find(k->leases, LEASES, name);

	map_set(&k->health, name, h);
	hear_lease(k, h, lease);
	hear(h, &h->status, heartbeat(node));
	h->heard = clock_awake_ms();
	if (k->started)
		events_note(k->events, node, "Normal", "RegisteredNode",
			    "Node %s event: Registered Node %s in Controller", name, name);
	return h;
}

static void part(struct nodes *k, const char *name, const json_t *node)
{
	const struct health *h = map_find(&k->health, name);

	events_note(k->events, node, "Normal", "RemovingNode", "Node %s event: Removing Node %s from Controller", name,
		    name);
	if (h && h->not_ready)
		k->not_ready--;
	map_remove(&k->health, name);
	count(k);
}

static void on_node(void *arg, const json_t *obj, const json_t *old)
{
	struct nodes *k = arg;
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");
	struct health *h = map_find(&k->health, name);
	bool ready = condition_holds(obj, "Ready");

	if (!obj) {
		part(k, name, old);
		return;
	}
	if (!h)
		h = meet(k, name, obj);
	else if (hear(h, &h->status, heartbeat(obj)))
		tick_after(k, h->grace_ms);
	if (old && !ready && condition_holds(old, "Ready")) {
		events_note(k->events, obj, "Normal", "NodeNotReady", "Node %s status is now: NodeNotReady", name);
		h->mark = true;
	}
	judge(k, name, h, obj);
}

static void on_synced(void *arg)
{
	struct nodes *k = arg;

	if (k->started || !k->nodes || !k->leases || !informer_synced(k->nodes) || !informer_synced(k->leases) ||
	    !owned_synced(k->owned))
		return;
	k->started = true;
	workqueue_start(k->queue);
}

struct nodes *nodes_new(struct client *c, struct owned *owned)
{
	struct nodes *k = xcalloc(1, sizeof(*k));
	struct ref leases = { .api_version = "coordination.k8s.io/v1", .plural = "leases", .ns = LEASES };

	k->client = c;
	k->owned = owned;
	k->events = events_new(c, COMPONENT, NULL);
	k->queue = workqueue_new(c->loop, look, k);
	k->calls = calls_new(c, on_idle, k);
	k->tick = (struct loop_timer){ .fire = on_tick, .arg = k };
	map_init(&k->health, health_free);
	owned_follow(owned, &(struct owned_handlers){ .synced = on_synced, .arg = k });
	k->leases = informer_new(c, &leases, NULL,
				 &(struct informer_handlers){ .change = on_lease, .synced = on_synced, .arg = k });
	k->nodes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL,
				&(struct informer_handlers){ .change = on_node, .synced = on_synced, .arg = k });
	return k;
}

void nodes_free(struct nodes *k)
{
	if (!k)
		return;
	owned_unfollow(k->owned, k);
	informer_free(k->nodes);
	informer_free(k->leases);
	workqueue_free(k->queue);
	calls_free(k->calls);
	loop_timer_done(&k->tick);
	events_free(k->events);
	map_done(&k->health);
	free(k);
}

struct workqueue_counts nodes_counts(const struct nodes *k)
{
	return workqueue_counts(k->queue);
}
