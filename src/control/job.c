// SPDX-License-Identifier: Apache-2.0
/* job.c - does what job_plan.c decides: one plan at a time for each Job
 *
 * When to look at a Job is keeper.c's to know.  A status carries the revision it was decided on, so a decision made on
 * old knowledge fails and is made anew.
 *
 * Pods whose Job is gone still have the finalizer by which it counted them; a second queue takes it from them.
 */
#include "control/job.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/job_plan.h"
#include "control/keeper.h"
#include "kinds/job.h"
#include "kinds/selector.h"

#define VERSION "batch/v1"
#define MANAGER "kubernetes.io/job-controller" /* what managedBy says of Jobs that are ours */

struct jobs {
	struct client *client;
	struct owned *owned;
	struct keeper *keeper;
	struct workqueue *strays;   /* pods by uid */
	struct calls *stray_writes; /* by the pod's uid too */
	struct map past;            /* "ns/name" -> struct job_past, of Jobs that have one */
	struct map manual;          /* "ns/name" of Jobs with a selector of their author's -> struct selector */
	struct gate *gate;          /* in front of the cluster, or NULL */
	struct map held;            /* "ns/name" of Jobs that hold themselves back -> why, as they were told */
};

static void decref_selector(void *s)
{
	selector_free(s);
}

/* ---- writing ---- */

static void untrack(struct calls *calls, const char *key, const struct pod_facts *p)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	json_auto_t *patch = json_pack("{s:{s:s, s:[s]}}", "metadata", "uid", p->uid,
				       "$deleteFromPrimitiveList/finalizers", JOB_FINALIZER);

	calls_patch(calls, key, &ref, "strategic", patch, NULL, NULL);
}

static void apply(struct jobs *k, const char *key, const json_t *job, const struct job_plan *p)
{
	for (size_t i = 0; i < p->ncreate; i++) {
		json_auto_t *pod = job_pod(job, &p->create[i]);

		keeper_create_pod(k->keeper, key, job, pod);
	}
	for (size_t i = 0; i < p->nremove; i++) {
		if (p->remove[i]->tracked)
			untrack(keeper_calls(k->keeper), key, p->remove[i]);
		keeper_remove_pod(k->keeper, key, job, p->remove[i]);
	}
	for (size_t i = 0; i < p->nend; i++)
		keeper_remove_pod(k->keeper, key, job, p->end[i]);
	for (size_t i = 0; i < p->nuntrack; i++)
		untrack(keeper_calls(k->keeper), key, p->untrack[i]);
	if (p->status)
		keeper_write_status(k->keeper, key, job, p->status);
	for (size_t i = 0; i < p->nevents; i++)
		events_note(keeper_events(k->keeper), job, p->events[i].warning ? "Warning" : "Normal",
			    p->events[i].reason, "%s", p->events[i].message);
	if (p->expired)
		keeper_expire(k->keeper, key, job);
	if (p->again >= 0)
		keeper_look_after(k->keeper, key, clock_until_ms(p->again));
}

/* ---- looking at one Job ---- */

static const struct keeper_kind job_kind;

static bool is_ours(const json_t *job)
{
	return streq(jsonx_str_or(job, "spec.managedBy", MANAGER), MANAGER);
}

static bool may_adopt(const json_t *job)
{
	return !job_finished(job);
}

/* By its own word; then it is told why, once for each reason.  What runs of it goes on. */
static bool is_held(struct jobs *k, const char *key, const json_t *job)
{
	struct gate_rule rule = { 0 };
	bool over = job_finished(job) || jsonx_at(job, "metadata.deletionTimestamp");
	int64_t left;

	if (!k->gate)
		return false;
	if (over || !k->gate->ops->held(k->gate, job_kind.plural, job, &rule)) {
		map_remove(&k->held, key);
		if (over)
			k->gate->ops->forget(k->gate, job_kind.plural, job);
		return false;
	}
	if (!str_same(map_find(&k->held, key), rule.why)) {
		map_set(&k->held, key, xstrdup(rule.why));
		events_note(keeper_events(k->keeper), job, "Normal", "Waiting", "Waiting: %s", rule.why);
	}
	left = rule.until_ms - clock_wall_micros() / 1000;
	if (rule.until_ms)
		keeper_look_after(k->keeper, key, left > 0 ? left + 1 : 1);
	return true;
}

static void plan(void *arg, const char *key, const json_t *job)
{
	struct jobs *k = arg;
	struct owned_list own = owned_by(k->owned, jsonx_str_or(job, "metadata.uid", ""));
	auto_free const struct pod_facts **pods = xcalloc(own.n + 1, sizeof(*pods));
	const struct job_past *past = map_find(&k->past, key);
	struct job_view v = { .job = job,
			      .pods = pods,
			      .n = own.n,
			      .now = clock_wall(),
			      .past = past ? *past : (struct job_past){ 0 },
			      .create_most = keeper_failures(k->keeper, key) ? 1 : JOB_CREATE_MOST };
	struct job_plan p;

	if (is_held(k, key, job))
		v.create_most = 0;
	for (size_t i = 0; i < own.n; i++)
		pods[i] = &own.pods[i]->facts;
	job_plan(&v, &p);
	apply(k, key, job, &p);
	job_plan_done(&p);
}

/* ---- pods that lost their Job ---- */

static void on_owner(void *arg, const struct answer *a)
{
	struct jobs *k = arg;
	const struct owned_pod *p = owned_find(k->owned, a->key);
	const char *uid = jsonx_str(p ? controller_of(p->facts.obj) : NULL, "uid");

	if (!p || (a->e->kind != ERR_NONE && a->e->kind != ERR_NOT_FOUND))
		return;
	if (a->e->kind == ERR_NOT_FOUND || !str_same(jsonx_str(a->obj, "metadata.uid"), uid))
		untrack(k->stray_writes, a->key, &p->facts);
}

static const json_t *job_ref(const struct pod_facts *p)
{
	const json_t *ref = controller_of(p->obj);

	return str_same(jsonx_str(ref, "kind"), "Job") && str_starts(jsonx_str_or(ref, "apiVersion", ""), "batch/")
		       ? ref
		       : NULL;
}

static void look_at_stray(void *arg, const char *uid)
{
	struct jobs *k = arg;
	const struct owned_pod *p = owned_find(k->owned, uid);
	const json_t *ref = p ? job_ref(&p->facts) : NULL;
	const char *ns = p ? jsonx_str_or(p->facts.obj, "metadata.namespace", "") : "";
	const char *name = jsonx_str_or(ref, "name", "");
	auto_free char *key = xasprintf("%s/%s", ns, name);
	struct ref job = { .api_version = VERSION, .plural = "jobs", .ns = ns, .name = name };

	if (!p || !p->facts.tracked || calls_busy(k->stray_writes, uid))
		return;
	if (!ref)
		untrack(k->stray_writes, uid, &p->facts);
	else if (!str_same(jsonx_str(keeper_find(k->keeper, key), "metadata.uid"), jsonx_str(ref, "uid")))
		calls_get(k->stray_writes, uid, &job, on_owner, NULL);
}

static void on_stray_idle(void *arg, const char *uid, bool failed)
{
	struct jobs *k = arg;

	workqueue_written(k->strays, uid, failed);
}

/* ---- what happens ---- */

static void on_job(void *arg, const char *key, const json_t *obj, const json_t *old)
{
	struct jobs *k = arg;
	struct selector *selector = NULL;
	struct err e = ERR_INIT;

	if (old && !str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(old, "metadata.uid"))) {
		struct owned_list own = owned_by(k->owned, jsonx_str_or(old, "metadata.uid", ""));

		for (size_t i = 0; i < own.n; i++)
			if (own.pods[i]->facts.tracked)
				workqueue_add(k->strays, own.pods[i]->facts.uid);
		map_remove(&k->manual, key);
		map_remove(&k->past, key);
		map_remove(&k->held, key);
		if (k->gate)
			k->gate->ops->forget(k->gate, job_kind.plural, old);
	}
	if (obj && jsonx_bool_or(obj, "spec.manualSelector", false) && !map_find(&k->manual, key) &&
	    selector_from_json(jsonx_at(obj, "spec.selector"), &selector, &e) == 0) {
		map_set(&k->manual, key, selector);
		keeper_may_adopt(k->keeper, key);
	}
}

/* Whether a change of a pod can lead to something other than other numbers. */
static bool matters(const struct pod_facts *now, const struct pod_facts *old)
{
	return !now || !old || now->phase != old->phase || now->deleting != old->deleting ||
	       now->tracked != old->tracked || now->restarts != old->restarts;
}

static bool shows(const struct pod_facts *now, const struct pod_facts *old)
{
	return now->ready != old->ready;
}

/* Of a pod that was deleted while it ran the end is not the Job's failure, and it is replaced at once. */
static void remember(struct jobs *k, const char *key, const struct pod_facts *pod, const struct pod_facts *old)
{
	const char *uid = jsonx_str(keeper_find(k->keeper, key), "metadata.uid");
	struct job_past *past;

	if (pod && pod->phase == POD_IS_SUCCEEDED && (!old || old->phase != POD_IS_SUCCEEDED))
		map_remove(&k->past, key);
	if (pod || old->phase != POD_IS_FAILED || old->deleting || !uid ||
	    !str_same(jsonx_str(controller_of(old->obj), "uid"), uid))
		return;
	past = map_find(&k->past, key);
	if (!past) {
		past = xcalloc(1, sizeof(*past));
		map_set(&k->past, key, past);
	}
	past->failures++;
	past->last = old->finished > past->last ? old->finished : past->last;
}

static enum keeper_when on_pod(void *arg, const char *key, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct jobs *k = arg;
	bool running = pod && old && old->phase == POD_IS_PENDING && pod->phase == POD_IS_RUNNING;

	remember(k, key, pod, old);
	if (pod && pod->tracked && keeper_synced(k->keeper) && !keeper_find(k->keeper, key))
		workqueue_add(k->strays, pod->uid);
	if (matters(pod, old) && !running)
		return KEEPER_NOW;
	if (running || shows(pod, old) ||
	    !json_equal(jsonx_at(pod->obj, "metadata.labels"), jsonx_at(old->obj, "metadata.labels")))
		return KEEPER_SOON;
	return KEEPER_NOT;
}

static void on_orphan(void *arg, const struct pod_facts *pod)
{
	struct jobs *k = arg;
	const json_t *labels = jsonx_at(pod->obj, "metadata.labels");
	const char *ns = jsonx_str_or(pod->obj, "metadata.namespace", "");
	const char *name = json_string_value(json_object_get(labels, LABEL_JOB_NAME));
	const char *key;
	size_t pos = 0;
	void *selector;

	if (pod->tracked)
		workqueue_add(k->strays, pod->uid);
	if (!name)
		name = json_string_value(json_object_get(labels, LABEL_JOB_NAME_LEGACY));
	if (name && !pod->deleting) {
		auto_free char *job = xasprintf("%s/%s", ns, name);

		keeper_may_adopt(k->keeper, job);
	}
	while (!pod->deleting && map_next(&k->manual, &pos, &key, &selector))
		if (strncmp(key, ns, strlen(ns)) == 0 && key[strlen(ns)] == '/' &&
		    selector_match_labels(selector, labels))
			keeper_may_adopt(k->keeper, key);
}

static void on_started(void *arg)
{
	struct jobs *k = arg;
	const struct owned_pod *pod;
	size_t pos = 0;

	while (owned_next(k->owned, &pos, &pod))
		if (pod->owner && pod->facts.tracked)
			workqueue_add(k->strays, pod->facts.uid);
	workqueue_start(k->strays);
}

static const struct keeper_kind job_kind = {
	.api_version = VERSION,
	.kind = "Job",
	.plural = "jobs",
	.component = "job-controller",
	.finalizer = JOB_FINALIZER,
	.plan = plan,
	.changed = on_job,
	.pod_changed = on_pod,
	.orphan = on_orphan,
	.is_ours = is_ours,
	.may_adopt = may_adopt,
	.started = on_started,
};

struct jobs *jobs_new(struct client *c, struct owned *owned)
{
	struct jobs *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->owned = owned;
	k->strays = workqueue_new(c->loop, look_at_stray, k);
	k->stray_writes = calls_new(c, on_stray_idle, k);
	map_init(&k->manual, decref_selector);
	map_init(&k->past, free);
	map_init(&k->held, free);
	k->keeper = keeper_new(c, owned, &job_kind, k);
	return k;
}

static void on_gate(void *arg, const char *key)
{
	struct jobs *k = arg;

	if (key)
		keeper_look(k->keeper, key);
}

void jobs_gate(struct jobs *k, struct gate *gate)
{
	struct gate_follower f = {
		.kind = job_kind.kind, .plural = job_kind.plural, .look = on_gate, .arg = k, .alone = true
	};

	k->gate = gate;
	gate->ops->follow(gate, &f);
}

void jobs_free(struct jobs *k)
{
	if (!k)
		return;
	if (k->gate)
		k->gate->ops->unfollow(k->gate, k);
	keeper_free(k->keeper);
	workqueue_free(k->strays);
	calls_free(k->stray_writes);
	map_done(&k->manual);
	map_done(&k->past);
	map_done(&k->held);
	free(k);
}

struct workqueue_counts jobs_counts(const struct jobs *k)
{
	return workqueue_counts_sum(keeper_counts(k->keeper), workqueue_counts(k->strays));
}
