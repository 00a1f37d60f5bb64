// SPDX-License-Identifier: Apache-2.0
/* pod_gc.c - removes what pod_gc_plan.c finds
 *
 * Nothing runs by the clock: a pod is looked at when it or its node changes, and the number of ended pods is kept as
 * they come and go.  A node that is missed may only be being registered anew, so its pods are left alone for a while,
 * and the API is asked once more before they go.  A pod that waits for such a node is told so: its author may have
 * written spec.nodeName for another cluster.
 */
#include "control/pod_gc.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"

#define COMPONENT     "pod-garbage-collector"
#define QUARANTINE_MS 40000 /* as in Kubernetes */
#define AT_ONCE       200   /* ended pods that go in one turn: to find the oldest all are sorted, so not one by one */
#define NODES_SHOWN   200   /* bytes of names in an event */

struct pod_gc {
	struct client *client;
	struct owned *owned;
	struct informer *nodes;
	struct workqueue *queue; /* pods by uid */
	struct calls *calls;
	struct events *events;
	struct map missed; /* name of a node -> since when, int64_t */
	size_t ended;
	int64_t quarantine_ms;
	struct loop_hook trim;
	bool started;
};

/* ---- removing ---- */

/* Failed first: whoever counts pods must not wait for this one. */
static void collect(struct pod_gc *k, const struct pod_facts *p, bool lost)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	struct ref status = ref;
	json_auto_t *options = json_pack("{s:i, s:{s:s}}", "gracePeriodSeconds", 0, "preconditions", "uid", p->uid);
	json_auto_t *patch = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "uid", p->uid, "status", "phase", "Failed");
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(clock_wall(), now);
	status.subresource = "status";
	if (lost)
		jsonx_set_new(patch, "status.conditions",
			      json_pack("[{s:s, s:s, s:s, s:s, s:s}]", "type", "DisruptionTarget", "status", "True",
					"reason", "DeletionByPodGC", "message", "PodGC: node no longer exists",
					"lastTransitionTime", now));
	if (!pod_ended(p))
		calls_patch(k->calls, p->uid, &status, "strategic", patch, NULL, NULL);
	calls_remove(k->calls, p->uid, &ref, options, NULL, NULL);
}

/* ---- ended pods ---- */

static void on_trim(void *arg)
{
	struct pod_gc *k = arg;
	auto_free const struct pod_facts **pods = xcalloc(k->ended + 1, sizeof(*pods));
	const struct owned_pod *p;
	size_t pos = 0;
	size_t n = 0;

	while (n < k->ended && owned_next(k->owned, &pos, &p))
		if (pod_ended(&p->facts) && !calls_busy(k->calls, p->facts.uid))
			pods[n++] = &p->facts;
	n = pod_gc_excess(pods, n, POD_GC_KEEP);
	for (size_t i = 0; i < n && i < AT_ONCE; i++)
		collect(k, pods[i], false);
}

static bool are_too_many(const struct pod_gc *k)
{
	return k->ended >= POD_GC_KEEP + AT_ONCE;
}

/* ---- one pod ---- */

static void on_asked(void *arg, const struct answer *a)
{
	struct pod_gc *k = arg;
	const struct owned_pod *p = owned_find(k->owned, a->key);

	if (p && a->e->kind == ERR_NOT_FOUND)
		collect(k, &p->facts, true);
}

/* "vm, gpu-2", as far as they fit. */
static void list_nodes(const struct pod_gc *k, struct sbuf *out)
{
	const json_t *node;
	size_t pos = 0;

	while (out->n < NODES_SHOWN && informer_next(k->nodes, &pos, &node))
		sbuf_addf(out, "%s%s", out->n ? ", " : "", jsonx_str_or(node, "metadata.name", ""));
	if (out->n >= NODES_SHOWN)
		sbuf_adds(out, " and others");
}

static void tell_missing(struct pod_gc *k, const struct pod_facts *p, const char *name)
{
	auto_sbuf struct sbuf nodes = SBUF(LIMIT_STATUS_TEXT);

	list_nodes(k, &nodes);
	events_note(k->events, p->obj, "Warning", "NodeNotFound",
		    "spec.nodeName: node \"%s\" does not exist; the pod is removed if it does not come. Nodes: %s",
		    name, nodes.n ? nodes.p : "none");
}

static void miss_node(struct pod_gc *k, const struct pod_facts *p)
{
	const char *name = jsonx_str_or(p->obj, "spec.nodeName", "");
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = name };
	int64_t *since = map_find(&k->missed, name);
	int64_t left;

	if (!since) {
		since = xcalloc(1, sizeof(*since));
		*since = clock_awake_ms();
		map_set(&k->missed, name, since);
	}
	left = *since + k->quarantine_ms - clock_awake_ms();
	if (left <= 0) {
		calls_get(k->calls, p->uid, &ref, on_asked, NULL);
		return;
	}
	if (p->phase == POD_IS_PENDING && !p->deleting)
		tell_missing(k, p, name);
	workqueue_add_after(k->queue, p->uid, left);
}

static enum pod_gc_why why_of(const struct pod_gc *k, const struct pod_facts *p)
{
	const char *name = jsonx_str_or(p->obj, "spec.nodeName", "");

	return pod_gc_why(p, p->assigned ? informer_find(k->nodes, NULL, name) : NULL);
}

/* By its own wish, now or later. */
static void look_at_ended(struct pod_gc *k, const char *uid, const struct owned_pod *p)
{
	int64_t left = p ? pod_gc_left(&p->facts, clock_wall()) : -1;

	if (left == 0)
		collect(k, &p->facts, false);
	else
		workqueue_forget(k->queue, uid);
	if (left > 0)
		workqueue_add_after(k->queue, uid, clock_ms_of(left));
}

static void look(void *arg, const char *uid)
{
	struct pod_gc *k = arg;
	const struct owned_pod *p = owned_find(k->owned, uid);
	enum pod_gc_why why = p ? why_of(k, &p->facts) : POD_GC_STAYS;

	if (calls_busy(k->calls, uid))
		return; /* on_idle() comes back to it */
	if (why == POD_GC_STAYS)
		look_at_ended(k, uid, p);
	else if (why == POD_GC_NO_NODE)
		miss_node(k, &p->facts);
	else
		collect(k, &p->facts, false);
}

static void on_idle(void *arg, const char *uid, bool failed)
{
	struct pod_gc *k = arg;

	workqueue_written(k->queue, uid, failed);
	if (!failed && are_too_many(k))
		loop_schedule(k->client->loop, &k->trim);
}

/* ---- what happens ---- */

static void on_pod(void *arg, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct pod_gc *k = arg;

	k->ended += (pod && pod_ended(pod)) - (size_t)(old && pod_ended(old));
	if (!k->started)
		return;
	if (are_too_many(k) && !(old && pod_ended(old)))
		loop_schedule(k->client->loop, &k->trim);
	if (pod && (!old || pod->deleting != old->deleting || pod->assigned != old->assigned) &&
	    why_of(k, pod) != POD_GC_STAYS)
		workqueue_add(k->queue, pod->uid);
	else if (pod && pod_gc_left(pod, 0) >= 0)
		workqueue_add(k->queue, pod->uid);
}

static void on_node(void *arg, const json_t *obj, const json_t *old)
{
	struct pod_gc *k = arg;
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");

	if (obj)
		map_remove(&k->missed, name);
	if (!k->started || (obj && json_equal(jsonx_at(obj, "spec.taints"), jsonx_at(old, "spec.taints"))))
		return;
	for (const struct owned_pod *p = owned_on(k->owned, name); p; p = p->beside)
		workqueue_add(k->queue, p->facts.uid);
}

static void on_synced(void *arg)
{
	struct pod_gc *k = arg;
	const struct owned_pod *p;
	size_t pos = 0;

	if (k->started || !k->nodes || !informer_synced(k->nodes) || !owned_synced(k->owned))
		return;
	k->started = true;
	while (owned_next(k->owned, &pos, &p))
		if (why_of(k, &p->facts) != POD_GC_STAYS || pod_gc_left(&p->facts, 0) >= 0)
			workqueue_add(k->queue, p->facts.uid);
	if (k->ended > POD_GC_KEEP)
		loop_schedule(k->client->loop, &k->trim);
	workqueue_start(k->queue);
}

struct pod_gc *pod_gc_new(struct client *c, struct owned *owned)
{
	struct pod_gc *k = xcalloc(1, sizeof(*k));
	const struct owned_pod *p;
	size_t pos = 0;

	k->client = c;
	k->owned = owned;
	k->quarantine_ms = QUARANTINE_MS;
	k->queue = workqueue_new(c->loop, look, k);
	k->calls = calls_new(c, on_idle, k);
	k->events = events_new(c, COMPONENT, NULL);
	k->trim = (struct loop_hook){ .run = on_trim, .arg = k, .phase = LOOP_WORK };
	map_init(&k->missed, free);
	while (owned_next(owned, &pos, &p))
		k->ended += pod_ended(&p->facts);
	owned_follow(owned, &(struct owned_handlers){ .any = on_pod, .synced = on_synced, .arg = k });
	k->nodes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL,
				&(struct informer_handlers){ .change = on_node, .synced = on_synced, .arg = k });
	return k;
}

void pod_gc_set_quarantine(struct pod_gc *k, int64_t ms)
{
	k->quarantine_ms = ms;
}

void pod_gc_free(struct pod_gc *k)
{
	if (!k)
		return;
	owned_unfollow(k->owned, k);
	informer_free(k->nodes);
	workqueue_free(k->queue);
	calls_free(k->calls);
	events_free(k->events);
	loop_unschedule(k->client->loop, &k->trim);
	map_done(&k->missed);
	free(k);
}

struct workqueue_counts pod_gc_counts(const struct pod_gc *k)
{
	return workqueue_counts(k->queue);
}
