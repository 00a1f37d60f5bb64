// SPDX-License-Identifier: Apache-2.0
/* job.c - does what job_plan.c decides: one plan at a time for each Job
 *
 * While writes for a Job are under way it is not planned again.  A status carries the revision it was decided on, so a
 * decision made on old knowledge fails and is made anew.
 *
 * Pods whose Job is gone still have the finalizer by which it counted them; a second queue takes it from them.
 */
#include "control/job.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"
#include "control/job_plan.h"
#include "kinds/job.h"
#include "kinds/selector.h"

#define VERSION    "batch/v1"
#define COMPONENT  "job-controller"
#define MANAGER    "kubernetes.io/job-controller" /* what managedBy says of Jobs that are ours */
#define RELAXED_MS 500                            /* for changes that only show in the status: they come in crowds */
#define BEHIND_MS  1000

struct jobs {
	struct client *client;
	struct owned *owned;
	struct events *events;
	struct informer *informer;
	struct workqueue *queue;  /* Jobs by "ns/name" */
	struct workqueue *strays; /* pods by uid */
	struct calls *calls;      /* of both */
	struct map manual;        /* "ns/name" of Jobs with a selector of their author's -> struct selector */
	struct map adopt;         /* "ns/name" of Jobs that may find orphans of theirs */
	struct map written;       /* "ns/name" -> revision of the last status, as text, until it is seen */
};

static char *key_of(const json_t *obj)
{
	return xasprintf("%s/%s", jsonx_str_or(obj, "metadata.namespace", ""), jsonx_str_or(obj, "metadata.name", ""));
}

static const json_t *find_job(const struct jobs *k, const char *key)
{
	auto_free char *ns = xstrdup(key);
	char *name = strchr(ns, '/');

	*name++ = '\0';
	return informer_find(k->informer, ns, name);
}

static void decref_selector(void *s)
{
	selector_free(s);
}

/* ---- writing ---- */

static void on_created(void *arg, const struct answer *a)
{
	struct jobs *k = arg;

	if (a->e->kind == ERR_NONE) {
		owned_expect(k->owned, jsonx_str_or(a->what, "metadata.uid", ""), a->obj);
		events_note(k->events, a->what, "Normal", "SuccessfulCreate", "Created pod: %s",
			    jsonx_str_or(a->obj, "metadata.name", ""));
		return;
	}
	/* A namespace on its way out takes nothing new, and the Job goes with it. */
	if (a->e->ncauses && a->e->causes[0].kind == CAUSE_TERMINATING)
		return;
	events_note(k->events, a->what, "Warning", "FailedCreate", "Error creating: %s", a->e->text);
}

/* What it carries is {"job", "uid", "name"}. */
static void on_removed(void *arg, const struct answer *a)
{
	struct jobs *k = arg;
	const json_t *job = json_object_get(a->what, "job");
	const char *name = jsonx_str_or(a->what, "name", "");

	if (a->e->kind == ERR_NONE) {
		owned_expect_gone(k->owned, jsonx_str_or(job, "metadata.uid", ""), jsonx_str_or(a->what, "uid", ""));
		events_note(k->events, job, "Normal", "SuccessfulDelete", "Deleted pod: %s", name);
	} else if (a->e->kind != ERR_NOT_FOUND && a->e->kind != ERR_CONFLICT) {
		events_note(k->events, job, "Warning", "FailedDelete", "Error deleting: %s", a->e->text);
	}
}

static void on_status(void *arg, const struct answer *a)
{
	struct jobs *k = arg;
	const char *rv = jsonx_str(a->obj, "metadata.resourceVersion");

	if (rv)
		map_set(&k->written, a->key, xstrdup(rv));
	else if (a->e->kind != ERR_CONFLICT && a->e->kind != ERR_NOT_FOUND)
		log_warn("write status of job=%s: %s, trying again", a->key, a->e->text);
}

static void untrack(struct jobs *k, const char *key, const struct pod_facts *p)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	json_auto_t *patch = json_pack("{s:{s:s, s:[s]}}", "metadata", "uid", p->uid,
				       "$deleteFromPrimitiveList/finalizers", JOB_FINALIZER);

	calls_patch(k->calls, key, &ref, "strategic", patch, NULL, NULL);
}

static void remove_pod(struct jobs *k, const char *key, const json_t *job, const struct pod_facts *p)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid", p->uid);
	json_auto_t *what = json_pack("{s:O, s:s, s:s}", "job", job, "uid", p->uid, "name", p->name);

	calls_remove(k->calls, key, &ref, options, on_removed, what);
}

static void create_pod(struct jobs *k, const char *key, const json_t *job, const struct job_new_pod *p)
{
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = jsonx_str(job, "metadata.namespace") };
	json_auto_t *pod = job_pod(job, p);

	calls_create(k->calls, key, &ref, pod, on_created, job);
}

static void write_status(struct jobs *k, const char *key, const json_t *job, json_t *status)
{
	struct ref ref = calls_ref(VERSION, "jobs", job);
	json_auto_t *next = json_copy((json_t *)job);

	ref.subresource = "status";
	json_object_set(next, "status", status);
	calls_update(k->calls, key, &ref, next, on_status, NULL);
}

static void expire(struct jobs *k, const char *key, const json_t *job)
{
	struct ref ref = calls_ref(VERSION, "jobs", job);
	json_auto_t *options = json_pack("{s:s, s:{s:s}}", "propagationPolicy", "Foreground", "preconditions", "uid",
					 jsonx_str_or(job, "metadata.uid", ""));

	calls_remove(k->calls, key, &ref, options, NULL, NULL);
}

static void apply(struct jobs *k, const char *key, const json_t *job, const struct job_plan *p)
{
	for (size_t i = 0; i < p->ncreate; i++)
		create_pod(k, key, job, &p->create[i]);
	for (size_t i = 0; i < p->nremove; i++) {
		if (p->remove[i]->tracked)
			untrack(k, key, p->remove[i]);
		remove_pod(k, key, job, p->remove[i]);
	}
	for (size_t i = 0; i < p->nend; i++)
		remove_pod(k, key, job, p->end[i]);
	for (size_t i = 0; i < p->nuntrack; i++)
		untrack(k, key, p->untrack[i]);
	if (p->status)
		write_status(k, key, job, p->status);
	for (size_t i = 0; i < p->nevents; i++)
		events_note(k->events, job, p->events[i].warning ? "Warning" : "Normal", p->events[i].reason, "%s",
			    p->events[i].message);
	if (p->expired)
		expire(k, key, job);
	if (p->again >= 0)
		workqueue_add_after(k->queue, key, clock_until_ms(p->again));
}

/* ---- looking at one Job ---- */

static bool is_ours(const json_t *job)
{
	return streq(jsonx_str_or(job, "spec.managedBy", MANAGER), MANAGER);
}

/* Whether the cache is behind our own last write. */
static bool is_behind(struct jobs *k, const char *key, const json_t *job)
{
	const char *written = map_find(&k->written, key);
	int64_t at = 0;
	int64_t have = 0;

	if (!written)
		return false;
	if (str_int64(written, 0, INT64_MAX, &at) &&
	    str_int64(jsonx_str_or(job, "metadata.resourceVersion", ""), 0, INT64_MAX, &have) && have < at)
		return true;
	map_remove(&k->written, key);
	return false;
}

/* True if pods are being claimed or let go. */
static bool claim(struct jobs *k, const char *key, const json_t *job)
{
	struct owned_list own = owned_by(k->owned, jsonx_str_or(job, "metadata.uid", ""));
	bool adopt = map_find(&k->adopt, key) || map_find(&k->manual, key);
	struct claim_request r = { .owner = job,
				   .api_version = VERSION,
				   .kind = "Job",
				   .plural = "jobs",
				   .finalizer = JOB_FINALIZER,
				   .adopt = adopt && !job_finished(job) };
	struct selector *selector = NULL;
	struct err e = ERR_INIT;
	bool needed = r.adopt;
	bool called;

	map_remove(&k->adopt, key);
	for (size_t i = 0; !needed && i < own.n; i++)
		needed = !own.pods[i]->checked;
	if (!needed || selector_from_json(jsonx_at(job, "spec.selector"), &selector, &e) < 0)
		return false;
	r.selector = selector;
	called = owned_claim(k->owned, k->calls, key, &r);
	selector_free(selector);
	return called;
}

static void plan(struct jobs *k, const char *key, const json_t *job)
{
	struct owned_list own = owned_by(k->owned, jsonx_str_or(job, "metadata.uid", ""));
	auto_free const struct pod_facts **pods = xcalloc(own.n + 1, sizeof(*pods));
	struct job_view v = { .job = job,
			      .pods = pods,
			      .n = own.n,
			      .now = clock_wall(),
			      .create_most = workqueue_failures(k->queue, key) ? 1 : JOB_CREATE_MOST };
	struct job_plan p;

	for (size_t i = 0; i < own.n; i++)
		pods[i] = &own.pods[i]->facts;
	job_plan(&v, &p);
	apply(k, key, job, &p);
	job_plan_done(&p);
}

static void look(void *arg, const char *key)
{
	struct jobs *k = arg;
	json_auto_t *job = NULL;

	if (calls_busy(k->calls, key))
		return; /* on_idle() comes back to it */
	job = json_incref((json_t *)find_job(k, key));
	if (!job) {
		workqueue_forget(k->queue, key);
		return;
	}
	if (!is_ours(job))
		return;
	if (is_behind(k, key, job) || !owned_settled(k->owned, jsonx_str_or(job, "metadata.uid", ""))) {
		workqueue_add_after(k->queue, key, BEHIND_MS);
		return;
	}
	if (!claim(k, key, job))
		plan(k, key, job);
}

static bool is_job_key(const char *key)
{
	return strchr(key, '/') != NULL;
}

static void on_idle(void *arg, const char *key, bool failed)
{
	struct jobs *k = arg;
	struct workqueue *q = is_job_key(key) ? k->queue : k->strays;

	if (failed) {
		workqueue_retry(q, key);
		return;
	}
	workqueue_forget(q, key);
	workqueue_add(q, key);
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
		untrack(k, a->key, &p->facts);
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
	struct ref job = { .api_version = VERSION, .plural = "jobs", .ns = ns, .name = name };

	if (!p || !p->facts.tracked || calls_busy(k->calls, uid))
		return;
	if (!ref)
		untrack(k, uid, &p->facts);
	else if (!str_same(jsonx_str(informer_find(k->informer, ns, name), "metadata.uid"), jsonx_str(ref, "uid")))
		calls_get(k->calls, uid, &job, on_owner, NULL);
}

/* ---- what happens ---- */

static void on_job(void *arg, const json_t *obj, const json_t *old)
{
	struct jobs *k = arg;
	const json_t *any = obj ? obj : old;
	auto_free char *key = key_of(any);
	struct selector *selector = NULL;
	struct err e = ERR_INIT;

	if (old && !str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(old, "metadata.uid"))) {
		struct owned_list own = owned_by(k->owned, jsonx_str_or(old, "metadata.uid", ""));

		for (size_t i = 0; i < own.n; i++)
			if (own.pods[i]->facts.tracked)
				workqueue_add(k->strays, own.pods[i]->facts.uid);
		map_remove(&k->manual, key);
		map_remove(&k->written, key);
	}
	if (obj && jsonx_bool_or(obj, "spec.manualSelector", false) && !map_find(&k->manual, key) &&
	    selector_from_json(jsonx_at(obj, "spec.selector"), &selector, &e) == 0)
		map_set(&k->manual, key, selector);
	workqueue_add(k->queue, key);
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

static void on_pod(void *arg, const json_t *owner_ref, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct jobs *k = arg;
	const json_t *any = pod ? pod->obj : old->obj;
	auto_free char *key =
		xasprintf("%s/%s", jsonx_str_or(any, "metadata.namespace", ""), jsonx_str_or(owner_ref, "name", ""));
	bool running = pod && old && old->phase == POD_IS_PENDING && pod->phase == POD_IS_RUNNING;

	if (matters(pod, old) && !running)
		workqueue_add(k->queue, key);
	else if (running || shows(pod, old) ||
		 !json_equal(jsonx_at(pod->obj, "metadata.labels"), jsonx_at(old->obj, "metadata.labels")))
		workqueue_add_after(k->queue, key, RELAXED_MS);
	if (pod && pod->tracked && owned_synced(k->owned) && informer_synced(k->informer) && !find_job(k, key))
		workqueue_add(k->strays, pod->uid);
}

static void may_adopt(struct jobs *k, const char *key)
{
	map_set(&k->adopt, key, k);
	workqueue_add(k->queue, key);
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

		may_adopt(k, job);
	}
	while (!pod->deleting && map_next(&k->manual, &pos, &key, &selector))
		if (strncmp(key, ns, strlen(ns)) == 0 && key[strlen(ns)] == '/' &&
		    selector_match_labels(selector, labels))
			may_adopt(k, key);
}

static void on_synced(void *arg)
{
	struct jobs *k = arg;
	const struct owned_pod *pod;
	const json_t *job;
	size_t pos = 0;

	if (!k->informer || !informer_synced(k->informer) || !owned_synced(k->owned))
		return;
	while (informer_next(k->informer, &pos, &job)) {
		auto_free char *key = key_of(job);

		workqueue_add(k->queue, key);
	}
	pos = 0;
	while (owned_next(k->owned, &pos, &pod))
		if (!pod->owner)
			on_orphan(k, &pod->facts);
		else if (pod->facts.tracked)
			workqueue_add(k->strays, pod->facts.uid);
	workqueue_start(k->queue);
	workqueue_start(k->strays);
}

struct jobs *jobs_new(struct client *c, struct owned *owned)
{
	struct jobs *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->owned = owned;
	k->events = events_new(c, COMPONENT, NULL);
	k->queue = workqueue_new(c->loop, look, k);
	k->strays = workqueue_new(c->loop, look_at_stray, k);
	k->calls = calls_new(c, on_idle, k);
	map_init(&k->manual, decref_selector);
	map_init(&k->adopt, NULL);
	map_init(&k->written, free);
	owned_follow(owned, &(struct owned_handlers){ "Job", on_pod, on_orphan, on_synced, k });
	k->informer = informer_new(c, &(struct ref){ .api_version = VERSION, .plural = "jobs" }, NULL,
				   &(struct informer_handlers){ .change = on_job, .synced = on_synced, .arg = k });
	return k;
}

void jobs_free(struct jobs *k)
{
	if (!k)
		return;
	owned_unfollow(k->owned, k);
	informer_free(k->informer);
	workqueue_free(k->queue);
	workqueue_free(k->strays);
	calls_free(k->calls);
	events_free(k->events);
	map_done(&k->manual);
	map_done(&k->adopt);
	map_done(&k->written);
	free(k);
}

struct workqueue_counts jobs_counts(const struct jobs *k)
{
	return workqueue_counts(k->queue);
}
