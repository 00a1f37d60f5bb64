// SPDX-License-Identifier: Apache-2.0
/* job_count.c - the next status of a Job, and which pods are counted for good
 *
 * job_plan.h says in which steps an end is counted.  What is written here and what was read from the status must not
 * be mixed up: a finalizer may only go for what the stored status already says.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/job_parts.h"
#include "kinds/condition.h"

#define UNCOUNTED_MOST 500 /* uids in the status at a time: it must stay small enough to be stored */

struct count {
	struct job_work *w;
	json_t *status;
	json_t *succeeded, *failed; /* uids for the next status */
	bool told;                  /* the stored status says how the Job will end, if it does */
	size_t tracked;             /* pods that still have their finalizer */
	size_t recorded;            /* new in this status */
	char now[CLOCK_RFC3339_LEN];
};

/* ---- conditions ---- */

static void set_condition(struct count *k, const char *type, const char *value, const char *reason, const char *message)
{
	json_t *all = json_object_get(k->status, "conditions");
	json_t *c = condition_in(json_object_get(k->status, "conditions"), type);

	if (!all) {
		all = json_array();
		json_object_set_new(k->status, "conditions", all);
	}
	if (!c) {
		c = json_pack("{s:s}", "type", type);
		json_array_append_new(all, c);
	}
	json_object_set_new(c, "status", json_string(value));
	json_object_set_new(c, "lastProbeTime", json_string(k->now));
	json_object_set_new(c, "lastTransitionTime", json_string(k->now));
	json_object_set_new(c, "reason", jsonx_string(reason));
	json_object_set_new(c, "message", jsonx_string(message));
}

static bool has_condition(const json_t *status, const char *type)
{
	return str_same(jsonx_str(condition_in(json_object_get(status, "conditions"), type), "status"), "True");
}

static void set_suspended(struct count *k)
{
	bool was = has_condition(k->status, "Suspended");

	if (k->w->suspended && !was) {
		set_condition(k, "Suspended", "True", "JobSuspended", "Job suspended");
		job_note(k->w->plan, false, "Suspended", "Job suspended");
	} else if (!k->w->suspended && was) {
		set_condition(k, "Suspended", "False", "JobResumed", "Job resumed");
		job_note(k->w->plan, false, "Resumed", "Job resumed");
		json_object_set_new(k->status, "startTime", json_string(k->now));
	}
}

/* ---- pods whose end is counted ---- */

/* The last failed pod of an index knows how often the index failed: it stays until another one knows more. */
static bool is_held(const struct job_work *w, const struct pod_facts *p)
{
	int count = p->index_failures + p->index_ignored;

	if (w->per_index < 0 || !job_index_valid(w, p) || index_set_has(&w->failed_indexes, p->index) ||
	    index_set_has(&w->succeeded_indexes, p->index))
		return false;
	for (size_t i = 0; i < w->view->n; i++) {
		const struct pod_facts *q = w->view->pods[i];

		if (q->index == p->index && q->index_failures + q->index_ignored > count)
			return false;
	}
	return true;
}

static bool can_let_go(const struct job_work *w, const struct pod_facts *p)
{
	if (w->deleting || w->end != JOB_GOES_ON || p->phase == POD_IS_SUCCEEDED)
		return true;
	return job_pod_failed(w, p) && !is_held(w, p);
}

static bool failure_counts(const struct job_work *w, const struct pod_facts *p)
{
	if (w->indexed && !job_index_valid(w, p))
		return false;
	return !w->failure_policy || job_failure_means(w->failure_policy, p->obj, NULL) != FAILURE_IGNORED;
}

/* The list that a pod's uid has to be in before the finalizer may go, or NULL. */
static json_t *list_for(const struct count *k, const struct pod_facts *p)
{
	const struct job_work *w = k->w;

	if (map_find(&w->uncounted_failed, p->uid))
		return k->failed;
	if (p->phase == POD_IS_SUCCEEDED)
		return w->indexed ? NULL : k->succeeded;
	/* Whom a Job that has succeeded sends away has not failed. */
	if (w->end == JOB_SUCCEEDS && p->phase != POD_IS_FAILED)
		return NULL;
	/* When a Job fails, whoever still works on it fails with it. */
	if (job_pod_failed(w, p) || w->end == JOB_FAILS)
		return failure_counts(w, p) ? k->failed : NULL;
	return NULL;
}

static bool is_recorded(const struct count *k, const struct pod_facts *p)
{
	const struct job_work *w = k->w;

	if (map_find(&w->uncounted_succeeded, p->uid) || map_find(&w->uncounted_failed, p->uid))
		return true;
	if (p->phase == POD_IS_SUCCEEDED && w->indexed)
		return !job_index_valid(w, p) || index_set_has(&w->recorded_indexes, p->index);
	return !list_for(k, p);
}

/* Whether the stored status has all that the pods say. */
static bool is_stored(const struct job_work *w)
{
	return jsonx_int_or(w->job, "status.succeeded", 0) == w->succeeded &&
	       jsonx_int_or(w->job, "status.failed", 0) == w->failed &&
	       index_set_count(&w->recorded_indexes) == index_set_count(&w->succeeded_indexes);
}

static void count_pod(struct count *k, const struct pod_facts *p)
{
	struct job_plan *plan = k->w->plan;
	json_t *list;

	if (!p->tracked)
		return;
	k->tracked++;
	if (!can_let_go(k->w, p))
		return;
	if (k->w->by_pods) {
		if (k->told && is_stored(k->w))
			ARRAY_PUSH(plan->untrack, plan->nuntrack, plan->untrack_cap, p);
		return;
	}
	list = list_for(k, p);
	if (is_recorded(k, p)) {
		if (list)
			json_array_append_new(list, jsonx_string(p->uid));
		if (k->told)
			ARRAY_PUSH(plan->untrack, plan->nuntrack, plan->untrack_cap, p);
	} else if (k->recorded < UNCOUNTED_MOST) {
		k->recorded++;
		if (list)
			json_array_append_new(list, jsonx_string(p->uid));
		else
			index_set_add(&k->w->recorded_indexes, p->index);
	}
}

static void count_by_pods(struct count *k)
{
	struct job_work *w = k->w;

	json_object_set_new(k->status, "succeeded", json_integer(w->succeeded));
	json_object_set_new(k->status, "failed", json_integer(w->failed));
	for (size_t i = 0; i < w->succeeded_indexes.n; i++)
		index_set_add_span(&w->recorded_indexes, w->succeeded_indexes.spans[i].first,
				   w->succeeded_indexes.spans[i].last);
}

/* What was in the status and has no finalizer any more is counted. */
static void raise_counters(struct count *k)
{
	int64_t succeeded = (int64_t)k->w->uncounted_succeeded.n;
	int64_t failed = (int64_t)k->w->uncounted_failed.n;

	if (k->w->by_pods) {
		count_by_pods(k);
		return;
	}
	for (size_t i = 0; i < k->w->view->n; i++) {
		const struct pod_facts *p = k->w->view->pods[i];

		if (!p->tracked)
			continue;
		succeeded -= map_find(&k->w->uncounted_succeeded, p->uid) != NULL;
		failed -= map_find(&k->w->uncounted_failed, p->uid) != NULL;
	}
	succeeded += jsonx_int_or(k->status, "succeeded", 0);
	failed += jsonx_int_or(k->status, "failed", 0);
	json_object_set_new(k->status, "succeeded", json_integer(succeeded));
	json_object_set_new(k->status, "failed", json_integer(failed));
}

static void write_indexes(struct count *k)
{
	auto_sbuf struct sbuf done = SBUF(1u << 20);
	auto_sbuf struct sbuf failed = SBUF(1u << 20);

	if (!k->w->indexed)
		return;
	index_set_text(&k->w->recorded_indexes, &done);
	if (done.n)
		json_object_set_new(k->status, "completedIndexes", json_string(done.p));
	else
		json_object_del(k->status, "completedIndexes");
	json_object_set_new(k->status, "succeeded", json_integer(index_set_count(&k->w->recorded_indexes)));
	if (k->w->per_index >= 0) {
		index_set_text(&k->w->failed_indexes, &failed);
		json_object_set_new(k->status, "failedIndexes", json_string(failed.p ? failed.p : ""));
	}
}

/* ---- the end ---- */

static const char *first_condition(const struct job_work *w)
{
	return w->end == JOB_SUCCEEDS ? "SuccessCriteriaMet" : "FailureTarget";
}

static void finish(struct count *k)
{
	struct job_work *w = k->w;
	bool good = w->end == JOB_SUCCEEDS;

	if (w->end == JOB_GOES_ON)
		return;
	if (!has_condition(k->status, first_condition(w)))
		set_condition(k, first_condition(w), "True", w->end_reason, w->end_message);
	if (k->tracked || w->terminating || json_array_size(k->succeeded) || json_array_size(k->failed))
		return;
	set_condition(k, good ? "Complete" : "Failed", "True", w->end_reason, w->end_message);
	if (good)
		json_object_set_new(k->status, "completionTime", json_string(k->now));
	job_note(w->plan, !good, good ? "Completed" : w->end_reason, good ? "Job completed" : w->end_message);
}

/* Counters that are zero are not there, but for those that Kubernetes always shows. */
static void write_counters(struct count *k)
{
	static const char *const optional[] = { "active", "succeeded", "failed" };
	const struct job_work *w = k->w;
	json_t *uncounted = json_object();
	/* Pods that are being made count already, unless the last could not be. */
	size_t hoped = w->view->create_most > 1 ? w->plan->ncreate : 0;

	json_object_set_new(k->status, "active", json_integer((json_int_t)(w->nactive + hoped)));
	json_object_set_new(k->status, "ready", json_integer(w->ready));
	json_object_set_new(k->status, "terminating", json_integer(w->terminating + (json_int_t)w->plan->nremove));
	for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
		if (!jsonx_int_or(k->status, optional[i], 0))
			json_object_del(k->status, optional[i]);
	if (json_array_size(k->succeeded))
		json_object_set(uncounted, "succeeded", k->succeeded);
	if (json_array_size(k->failed))
		json_object_set(uncounted, "failed", k->failed);
	if (w->by_pods)
		json_decref(uncounted);
	else
		json_object_set_new(k->status, "uncountedTerminatedPods", uncounted);
}

void job_count(struct job_work *w)
{
	const json_t *old = json_object_get(w->job, "status");
	struct count k = { .w = w, .succeeded = json_array(), .failed = json_array() };

	k.status = old ? jsonx_copy(old) : json_object();
	clock_rfc3339(w->now, k.now);
	k.told = w->end == JOB_GOES_ON || has_condition(old, first_condition(w));
	if (!w->suspended && !json_object_get(k.status, "startTime"))
		json_object_set_new(k.status, "startTime", json_string(k.now));
	if (w->end == JOB_GOES_ON && !w->deleting)
		set_suspended(&k);
	for (size_t i = 0; i < w->view->n; i++)
		count_pod(&k, w->view->pods[i]);
	raise_counters(&k);
	write_indexes(&k);
	finish(&k);
	write_counters(&k);
	if (!old || !jsonx_equal(old, k.status))
		w->plan->status = json_incref(k.status);
	json_decref(k.status);
	json_decref(k.succeeded);
	json_decref(k.failed);
}
