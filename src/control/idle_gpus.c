// SPDX-License-Identifier: Apache-2.0
/* idle_gpus.c - does what idle_plan.c finds
 *
 * Nodes know the queues' policies and say in a condition of each pod how long it has not used its GPUs, and whether
 * that is too long (kinds/idle_gpu.h).  Here the pods of a workload come together.  What is ended must not begin again,
 * so the end is that of the workload: what can fail is marked as a Job is by its own controller (FailureTarget), which
 * then ends its pods and says so; what cannot is left with no pods; a pod that nobody controls is failed by its node.
 *
 * No clock runs here: nodes write when there is news.
 */
#include "control/idle_gpus.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"
#include "control/calls.h"
#include "control/idle_plan.h"
#include "kinds/idle_gpu.h"
#include "kinds/workloads.h"

#define COMPONENT "idle-gpu-controller"
#define AGAIN_MS  30000 /* then what was ended, and still is there, is looked at once more */

struct idle_gpus {
	struct client *client;
	struct owned *owned;
	struct informer *sets;   /* ReplicaSets that somebody controls */
	struct workqueue *queue; /* uids of who controls pods; of pods that nobody controls their own */
	struct calls *calls;
	struct events *events;
	struct map warned; /* those uids */
	struct map ended;  /* uid -> when, int64_t */
	bool started;
};

/* What is looked at. */
struct work {
	json_t *top; /* reference to what is to be ended: apiVersion, kind, metadata; owned */
	const struct pod_facts **pods;
	size_t n, cap;
};

/* ---- the workload of a key ---- */

static void add_pods(struct work *w, struct owned_list l)
{
	for (size_t i = 0; i < l.n; i++)
		ARRAY_PUSH(w->pods, w->n, w->cap, &l.pods[i]->facts);
}

static json_t *about(const json_t *ref, const char *ns)
{
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "apiVersion", jsonx_str_or(ref, "apiVersion", ""), "kind",
			 jsonx_str_or(ref, "kind", ""), "metadata", "namespace", ns, "name",
			 jsonx_str_or(ref, "name", ""), "uid", jsonx_str_or(ref, "uid", ""));
}

/* The pods of a Deployment are those of all its ReplicaSets. */
static void add_sets(struct idle_gpus *k, struct work *w, const char *top_uid)
{
	const json_t *set;
	size_t pos = 0;

	while (informer_next(k->sets, &pos, &set))
		if (str_same(jsonx_str(controller_of(set), "uid"), top_uid))
			add_pods(w, owned_by(k->owned, jsonx_str_or(set, "metadata.uid", "")));
}

static bool work_find(struct idle_gpus *k, const char *key, struct work *ret)
{
	struct owned_list l = owned_by(k->owned, key);
	const struct owned_pod *alone = l.n ? NULL : owned_find(k->owned, key);
	const struct pod_facts *first = l.n ? &l.pods[0]->facts : alone ? &alone->facts : NULL;
	const char *ns = first ? jsonx_str_or(first->obj, "metadata.namespace", "") : NULL;
	const json_t *owner = first ? controller_of(first->obj) : NULL;
	const json_t *set = owner && str_same(jsonx_str(owner, "kind"), "ReplicaSet")
				    ? informer_find(k->sets, ns, jsonx_str_or(owner, "name", ""))
				    : NULL;

	*ret = (struct work){ 0 };
	if (!first)
		return false;
	if (!owner) {
		json_auto_t *self = json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", "v1", "kind", "Pod", "name",
					      first->name, "uid", first->uid);

		ret->top = about(self, ns);
		ARRAY_PUSH(ret->pods, ret->n, ret->cap, first);
	} else if (set) {
		ret->top = about(controller_of(set), ns);
		add_sets(k, ret, jsonx_str_or(controller_of(set), "uid", ""));
	} else {
		ret->top = about(owner, ns);
		add_pods(ret, l);
	}
	return true;
}

static void work_done(struct work *w)
{
	json_decref(w->top);
	free(w->pods);
}

/* ---- telling ---- */

static bool is_pod(const json_t *obj)
{
	return str_same(jsonx_str(obj, "kind"), "Pod");
}

/* Nobody, if there are no pods left that could be meant. */
static void tell_all(struct idle_gpus *k, const struct work *w, const char *type, const char *reason,
		     const char *message)
{
	bool any = false;

	for (size_t i = 0; i < w->n; i++)
		if (pod_active(w->pods[i]) && pod_wants_gpu(w->pods[i]->obj)) {
			events_note(k->events, w->pods[i]->obj, type, reason, "%s", message);
			any = true;
		}
	if (any && !is_pod(w->top))
		events_note(k->events, w->top, type, reason, "%s", message);
}

static void warn(struct idle_gpus *k, const char *key, const struct work *w, const char *message)
{
	if (map_find(&k->warned, key))
		return;
	map_set(&k->warned, key, k);
	tell_all(k, w, "Warning", GPU_IDLE, message);
}

static void spare(struct idle_gpus *k, const char *key, const struct work *w)
{
	if (map_remove(&k->warned, key))
		tell_all(k, w, "Normal", "GPUActive", "its GPUs are in use again");
	map_remove(&k->ended, key);
	workqueue_forget(k->queue, key);
}

/* ---- ending ---- */

static struct ref ref_of(const json_t *top)
{
	const struct kind *kind = workload_of(top);

	return calls_ref(jsonx_str_or(top, "apiVersion", ""), kind ? kind->plural : "", top);
}

/* With the revision that was read: whoever wrote meanwhile knows more. */
static void on_read(void *arg, const struct answer *a)
{
	const json_t *top = json_object_get(a->what, "top");
	struct ref ref = ref_of(top);
	json_auto_t *obj = a->obj ? jsonx_copy(a->obj) : NULL;
	json_t *status = NULL;

	(void)arg;
	if (!obj || !str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(top, "metadata.uid")))
		return;
	status = idle_fail_status(obj, is_pod(top) ? POD_FAILURE_TARGET : "FailureTarget",
				  jsonx_str_or(a->what, "message", ""), clock_wall());
	if (!status)
		return;
	json_object_set_new(obj, "status", status);
	ref.subresource = "status";
	calls_update(a->calls, a->key, &ref, obj, NULL, NULL);
}

static void fail(struct idle_gpus *k, const char *key, const struct work *w, const char *message)
{
	json_auto_t *what = json_pack("{s:O, s:s}", "top", w->top, "message", message);
	struct ref ref = ref_of(w->top);

	calls_get(k->calls, key, &ref, on_read, what);
}

/* What its author asks for. */
static void change(struct idle_gpus *k, const char *key, const struct work *w, const json_t *patch, const char *message)
{
	struct ref ref = ref_of(w->top);

	calls_patch(k->calls, key, &ref, "merge", patch, NULL, NULL);
	events_note(k->events, w->top, "Warning", GPU_IDLE, "%s", message);
}

static void scale(struct idle_gpus *k, const char *key, const struct work *w, const char *message)
{
	json_auto_t *patch =
		json_pack("{s:{s:O, s:{s:s}}, s:{s:i}}", "metadata", "uid", jsonx_at(w->top, "metadata.uid"),
			  "annotations", IDLE_GPU_ENDED, message, "spec", "replicas", 0);

	change(k, key, w, patch, message);
}

static void cancel(struct idle_gpus *k, const char *key, const struct work *w, const char *message)
{
	json_auto_t *patch = json_pack("{s:{s:O}, s:{s:{s:s}}}", "metadata", "uid", jsonx_at(w->top, "metadata.uid"),
				       "spec", "cancel", "message", message);

	change(k, key, w, patch, message);
}

static bool was_ended(struct idle_gpus *k, const char *key)
{
	int64_t *at = map_find(&k->ended, key);
	int64_t now = clock_mono_ms();

	if (at && now - *at < AGAIN_MS) {
		workqueue_add_after(k->queue, key, *at + AGAIN_MS - now);
		return true;
	}
	at = xcalloc(1, sizeof(*at));
	*at = now;
	map_set(&k->ended, key, at);
	return false;
}

static void end(struct idle_gpus *k, const char *key, const struct work *w, const char *why)
{
	static void (*const ends[])(
		struct idle_gpus * k, const char *key, const struct work *w,
		const char *message) = { [IDLE_END_FAIL] = fail, [IDLE_END_SCALE] = scale, [IDLE_END_QDEL] = cancel };
	const char *kind = jsonx_str_or(w->top, "kind", "");
	enum idle_end how = is_pod(w->top) ? IDLE_END_FAIL : idle_end_of(kind);
	auto_free char *message = xasprintf("ended by the policy of its queue: %s", why);

	if (how == IDLE_END_NOT || !workload_of(w->top) || was_ended(k, key))
		return;
	ends[how](k, key, w, message);
}

static void look(void *arg, const char *key)
{
	struct idle_gpus *k = arg;
	const struct pod_facts *least = NULL;
	struct work w;
	enum idle_is is;

	if (calls_busy(k->calls, key))
		return; /* on_idle() comes back to it */
	is = work_find(k, key, &w) ? idle_plan(w.pods, w.n, &least) : IDLE_IS_BUSY;
	if (is == IDLE_IS_BUSY) {
		spare(k, key, &w);
	} else {
		struct idle_word word = pod_idle_word(least->obj);

		warn(k, key, &w, word.message);
		if (is == IDLE_IS_OVER)
			end(k, key, &w, word.message);
	}
	work_done(&w);
}

static void on_idle(void *arg, const char *key, bool failed)
{
	struct idle_gpus *k = arg;

	if (failed)
		map_remove(&k->ended, key);
	workqueue_written(k->queue, key, failed);
}

/* ---- what happens ---- */

/* Most pods never say anything about it, and those of a workload that was warned are looked at until none is left. */
static void on_pod(void *arg, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct idle_gpus *k = arg;
	const struct pod_facts *p = pod ? pod : old;
	const json_t *owner = controller_of(p->obj);
	const char *key = owner ? jsonx_str_or(owner, "uid", "") : p->uid;

	if ((pod && pod_idle_word(pod->obj).idle) || map_find(&k->warned, key) || map_find(&k->ended, key))
		workqueue_add(k->queue, key);
}

static bool has_owner(void *arg, const json_t *obj)
{
	(void)arg;
	return controller_of(obj) != NULL;
}

static void on_synced(void *arg)
{
	struct idle_gpus *k = arg;
	const struct owned_pod *p;
	size_t pos = 0;

	if (k->started || !k->sets || !informer_synced(k->sets) || !owned_synced(k->owned))
		return;
	k->started = true;
	while (owned_next(k->owned, &pos, &p))
		on_pod(k, &p->facts, NULL);
	workqueue_start(k->queue);
}

static void on_set(void *arg, const json_t *obj, const json_t *old)
{
	(void)arg;
	(void)obj;
	(void)old;
}

struct idle_gpus *idle_gpus_new(struct client *c, struct owned *owned)
{
	struct idle_gpus *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->owned = owned;
	k->events = events_new(c, COMPONENT, NULL);
	k->queue = workqueue_new(c->loop, look, k);
	k->calls = calls_new(c, on_idle, k);
	map_init(&k->warned, NULL);
	map_init(&k->ended, free);
	owned_follow(owned, &(struct owned_handlers){ .any = on_pod, .synced = on_synced, .arg = k });
	k->sets = informer_new(
		c, &(struct ref){ .api_version = "apps/v1", .plural = "replicasets" }, NULL,
		&(struct informer_handlers){ .change = on_set, .synced = on_synced, .keep = has_owner, .arg = k });
	return k;
}

void idle_gpus_free(struct idle_gpus *k)
{
	if (!k)
		return;
	owned_unfollow(k->owned, k);
	informer_free(k->sets);
	workqueue_free(k->queue);
	calls_free(k->calls);
	events_free(k->events);
	map_done(&k->warned);
	map_done(&k->ended);
	free(k);
}

struct workqueue_counts idle_gpus_counts(const struct idle_gpus *k)
{
	return workqueue_counts(k->queue);
}
