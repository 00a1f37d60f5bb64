// SPDX-License-Identifier: Apache-2.0
/* sched.c - follows pods and nodes, and binds what fits
 *
 * Pods that wait are in a queue by priority, then age (queue.c).  In the work phase of a turn it is walked once, and
 * whatever first_fit.c finds a node for is bound, until the turn's share of time is used up.  A pod is counted at its
 * node from the moment its binding is sent; if that fails it is counted no more and waits again.
 *
 * Pods of a gang are bound all or none (gang.c), and what a gang lacks that has begun comes first.  A pod that finds no
 * room is told so only after a moment: in a burst most of them have a node by then, and two writes for each would be
 * most of the work.
 */
#include "sched/sched.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"
#include "sched/first_fit.h"
#include "sched/gang.h"
#include "sched/queue.h"

#define TURN_NS     (10 * 1000000LL) /* of work in one turn; a binding takes about 0.1 ms */
#define SAY_AFTER   200              /* ms without a node before a pod is said to find none */
#define SAY_AT_ONCE 64               /* pods told in one go; the others follow */
#define SAY_NEXT    10               /* ms later */
#define RETRY_MS    1000             /* after a binding that failed for no fault of the pod's */
#define COMPONENT   "default-scheduler"

struct sched {
	struct client *client;
	struct events *events;
	struct informer *pods, *nodes;
	struct fit *fit;
	struct map waiting; /* uid -> struct waiting: without a node, also while a binding is under way */
	struct queue queue; /* those of them that are to be placed */
	struct gangs gangs;
	struct loop_hook work;
	struct loop_timer say, retry;
	unsigned calls; /* under way; the last frees us if `freed` */
	bool freed;
};

/* A binding under way. */
struct call {
	struct sched *sched;
	char *uid;
};

/* The client may be gone by now. */
static void sched_done(struct sched *s)
{
	size_t pos = 0;
	void *w;

	queue_done(&s->queue);
	while (map_next(&s->waiting, &pos, NULL, &w)) {
		fit_drop_shape(s->fit, ((struct waiting *)w)->shape);
		waiting_free(w);
	}
	map_done(&s->waiting);
	gangs_done(&s->gangs);
	fit_free(s->fit);
	events_free(s->events);
	free(s);
}

static void work_soon(struct sched *s)
{
	if (s->queue.n)
		loop_schedule(s->client->loop, &s->work);
}

/* --- what changes --- */

/* Ours to place, and ready for it.  Gates are for whoever set them to lift. */
static bool wants_node(const json_t *pod)
{
	static const char *const names[] = { "default-scheduler", "stoker" };
	const char *scheduler = jsonx_str_or(pod, "spec.schedulerName", names[0]);
	const char *phase = jsonx_str_or(pod, "status.phase", "");
	bool ours = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ours |= streq(scheduler, names[i]);
	return ours && !*jsonx_str_or(pod, "spec.nodeName", "") && !jsonx_at(pod, "metadata.deletionTimestamp") &&
	       !json_array_size(jsonx_at(pod, "spec.schedulingGates")) && !streq(phase, "Succeeded") &&
	       !streq(phase, "Failed");
}

static void stop_waiting(struct sched *s, const char *uid)
{
	struct waiting *w = map_find(&s->waiting, uid);

	if (!w)
		return;
	queue_remove(&s->queue, w);
	map_remove(&s->waiting, uid);
	gangs_leave(&s->gangs, w);
	if (w->placed)
		fit_take_pod(s->fit, uid);
	fit_drop_shape(s->fit, w->shape);
	waiting_free(w);
}

static void start_waiting(struct sched *s, const json_t *pod)
{
	struct waiting *w = waiting_new(pod);

	w->shape = fit_shape(s->fit, pod);
	map_set(&s->waiting, w->uid, w);
	gangs_wait(&s->gangs, pod, w);
	queue_add(&s->queue, w);
	work_soon(s);
}

static void forget_pod(struct sched *s, const char *uid)
{
	stop_waiting(s, uid);
	gangs_gone(&s->gangs, uid);
	fit_take_pod(s->fit, uid);
	work_soon(s);
}

/* The pod has a node: count it there, unless that is long known. */
static void settle_pod(struct sched *s, const json_t *pod, const char *uid)
{
	const char *node = jsonx_str_or(pod, "spec.nodeName", "");
	struct shape *shape;

	if (jsonx_at(pod, "metadata.deletionTimestamp"))
		gangs_gone(&s->gangs, uid);
	else
		gangs_bound(&s->gangs, pod, uid);
	stop_waiting(s, uid);
	if (str_same(fit_node_of(s->fit, uid), node))
		return;
	shape = fit_shape(s->fit, pod);
	fit_put_pod(s->fit, uid, shape, node);
	fit_drop_shape(s->fit, shape);
}

static void on_pod(void *arg, const json_t *obj, const json_t *old)
{
	struct sched *s = arg;
	const char *uid = jsonx_str_or(obj ? obj : old, "metadata.uid", "");
	const char *old_uid = jsonx_str_or(old, "metadata.uid", uid);
	const struct waiting *w;

	if (!streq(uid, old_uid))
		forget_pod(s, old_uid);
	if (!obj) {
		forget_pod(s, uid);
		return;
	}
	if (*jsonx_str_or(obj, "spec.nodeName", "")) {
		settle_pod(s, obj, uid);
		return;
	}
	w = map_find(&s->waiting, uid);
	if (w && w->binding)
		return;
	if (w && wants_node(obj) && old && jsonx_equal(json_object_get(old, "spec"), json_object_get(obj, "spec")))
		return;
	stop_waiting(s, uid);
	if (wants_node(obj))
		start_waiting(s, obj);
}

static void on_node(void *arg, const json_t *obj, const json_t *old)
{
	struct sched *s = arg;

	if (obj)
		fit_set_node(s->fit, obj);
	else
		fit_remove_node(s->fit, jsonx_str_or(old, "metadata.name", ""));
	work_soon(s);
}

static void on_synced(void *arg)
{
	work_soon(arg);
}

/* --- binding --- */

static void try_again(struct sched *s, struct waiting *w)
{
	w->binding = false;
	queue_add(&s->queue, w);
	loop_timer_set(s->client->loop, &s->retry, RETRY_MS);
}

static void on_bound(void *arg, const json_t *obj, const struct err *e)
{
	struct call *call = arg;
	struct sched *s = call->sched;
	struct waiting *w;

	(void)obj;
	if (!s->freed && e->kind != ERR_NONE) {
		log_warn("bind a pod: %s, trying again if it is still there", e->text);
		w = map_find(&s->waiting, call->uid);
		/* Otherwise the pods' informer has told more than this answer. */
		if (w && w->binding) {
			fit_take_pod(s->fit, call->uid);
			try_again(s, w);
		}
	}
	free(call->uid);
	free(call);
	if (--s->calls == 0 && s->freed)
		sched_done(s);
}

/* With the binding, not after it: one commit has both, and a binding hardly ever fails. */
static void tell_bound(struct sched *s, const json_t *pod, const struct waiting *w, const char *node)
{
	events_note(s->events, pod, "Normal", "Scheduled", "Successfully assigned %s/%s to %s", w->ns, w->name, node);
}

static void bind_pod(struct sched *s, struct waiting *w, const char *node)
{
	const json_t *pod = informer_find(s->pods, w->ns, w->name);
	struct ref ref = {
		.api_version = "v1", .plural = "pods", .ns = w->ns, .name = w->name, .subresource = "binding"
	};
	json_auto_t *body = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "apiVersion", "v1", "kind",
				      "Binding", "metadata", "name", w->name, "namespace", w->ns, "uid", w->uid,
				      "target", "apiVersion", "v1", "kind", "Node", "name", node);
	struct call *call = xcalloc(1, sizeof(*call));

	*call = (struct call){ .sched = s, .uid = xstrdup(w->uid) };
	w->binding = true;
	w->placed = false;
	s->calls++;
	fit_put_pod(s->fit, w->uid, w->shape, node);
	s->client->ops->create(s->client, &ref, body, on_bound, call);
	if (pod)
		tell_bound(s, pod, w, node);
}

/* A node for the pod, or NULL; one of a gang has one only together with the others. */
static const char *node_for(struct sched *s, struct waiting *w)
{
	if (w->gang && !gang_place(w->gang, s->fit))
		return NULL;
	if (w->placed)
		return fit_node_of(s->fit, w->uid);
	return fit_failed(s->fit, w->shape) ? NULL : fit_find(s->fit, w->shape);
}

static void on_work(void *arg)
{
	struct sched *s = arg;
	int64_t end = clock_mono_ns() + TURN_NS;
	struct waiting *w;
	size_t at = 0;

	if (!informer_synced(s->pods) || !informer_synced(s->nodes))
		return;
	gangs_complete(&s->gangs, s->fit);
	while ((w = queue_at(&s->queue, at))) {
		const char *node = node_for(s, w);

		if (!node) {
			at++;
			continue;
		}
		if (clock_mono_ns() >= end) {
			loop_schedule(s->client->loop, &s->work);
			break;
		}
		queue_leave(&s->queue, at++);
		bind_pod(s, w, node);
	}
	queue_pack(&s->queue);
	if (s->queue.n && !loop_timer_pending(&s->say))
		loop_timer_set(s->client->loop, &s->say, SAY_AFTER);
}

/* --- telling those that wait --- */

static void on_told(void *arg, const json_t *obj, const struct err *e)
{
	struct sched *s = arg;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && !s->freed)
		log_warn("say why a pod waits: %s, ignoring", e->text);
	if (--s->calls == 0 && s->freed)
		sched_done(s);
}

/* When the condition became what it is. */
static const char *since(const json_t *pod, const char *now)
{
	const json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), "PodScheduled") && str_same(jsonx_str(c, "status"), "False"))
			return jsonx_str_or(c, "lastTransitionTime", now);
	return now;
}

static void tell_waiting(struct sched *s, struct waiting *w, const char *why)
{
	const json_t *pod = informer_find(s->pods, w->ns, w->name);
	struct ref ref = {
		.api_version = "v1", .plural = "pods", .ns = w->ns, .name = w->name, .subresource = "status"
	};
	json_auto_t *patch = NULL;
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(clock_wall(), now);
	free(w->said);
	w->said = xstrdup(why);
	patch = json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s, s:n, s:s}]}}", "metadata", "uid", w->uid, "status",
			  "conditions", "type", "PodScheduled", "status", "False", "reason", "Unschedulable", "message",
			  why, "lastProbeTime", "lastTransitionTime", since(pod, now));
	s->calls++;
	s->client->ops->patch(s->client, &ref, "strategic", patch, on_told, s);
	if (pod)
		events_note(s->events, pod, "Warning", "FailedScheduling", "%s", why);
}

static void on_say(void *arg)
{
	struct sched *s = arg;
	int64_t now = clock_mono_ms();
	unsigned told = 0;
	bool more = false;
	struct waiting *w;

	for (size_t at = 0; (w = queue_at(&s->queue, at)); at++) {
		const char *why = w->gang ? gang_why(w->gang) : NULL;

		if (!why && !fit_failed(s->fit, w->shape))
			continue;
		why = why ? why : fit_why(s->fit, w->shape);
		if (str_same(w->said, why))
			continue;
		if (now - w->since_ms < SAY_AFTER || told == SAY_AT_ONCE) {
			more = true;
			continue;
		}
		tell_waiting(s, w, why);
		told++;
	}
	if (more)
		loop_timer_set(s->client->loop, &s->say, told == SAY_AT_ONCE ? SAY_NEXT : SAY_AFTER);
}

static void on_retry(void *arg)
{
	work_soon(arg);
}

/* --- life --- */

struct sched *sched_new(struct client *c)
{
	struct sched *s = xcalloc(1, sizeof(*s));
	struct informer_handlers pods = { .change = on_pod, .synced = on_synced, .arg = s };
	struct informer_handlers nodes = { .change = on_node, .synced = on_synced, .arg = s };
	/* What has finished takes no room. */
	struct list_options live = { .fields = "status.phase!=Succeeded,status.phase!=Failed" };

	s->client = c;
	s->events = events_new(c, COMPONENT, NULL);
	s->fit = fit_new();
	map_init(&s->waiting, NULL);
	gangs_init(&s->gangs);
	s->work = (struct loop_hook){ .run = on_work, .arg = s, .phase = LOOP_WORK };
	s->say = (struct loop_timer){ .fire = on_say, .arg = s };
	s->retry = (struct loop_timer){ .fire = on_retry, .arg = s };
	s->nodes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL, &nodes);
	s->pods = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "pods" }, &live, &pods);
	return s;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	informer_free(s->pods);
	informer_free(s->nodes);
	loop_unschedule(s->client->loop, &s->work);
	loop_timer_done(&s->say);
	loop_timer_done(&s->retry);
	s->freed = true;
	if (!s->calls)
		sched_done(s);
}
