// SPDX-License-Identifier: Apache-2.0
/* job_plan.c - how a Job stands, and which pods come and go
 *
 * The order of questions is that of Kubernetes' own controller, since their answers are what people see: has the end
 * been decided before?  Do failures, restarts, time or indexes decide it now?  If not: are there too many pods, or too
 * few?  job_count.c turns the answers into the next status.
 */
#include "control/job_plan.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/job_parts.h"
#include "kinds/condition.h"

/* The condition, if it holds. */
static const json_t *condition(const json_t *job, const char *type)
{
	return condition_holds(job, type) ? condition_of(job, type) : NULL;
}

const json_t *job_finished(const json_t *job)
{
	const json_t *c = condition(job, "Complete");

	return c ? c : condition(job, "Failed");
}

void job_plan_done(struct job_plan *p)
{
	free(p->create);
	free(p->remove);
	free(p->end);
	free(p->untrack);
	json_decref(p->status);
	*p = (struct job_plan){ 0 };
}

void job_note(struct job_plan *p, bool warning, const char *reason, const char *message)
{
	struct job_event *ev;

	if (p->nevents == ARRAY_SIZE(p->events))
		return;
	ev = &p->events[p->nevents++];
	ev->warning = warning;
	ev->reason = reason;
	snprintf(ev->message, sizeof(ev->message), "%s", message);
}

static void look_again(struct job_plan *p, int64_t seconds)
{
	if (seconds < 0)
		seconds = 0;
	if (p->again < 0 || seconds < p->again)
		p->again = seconds;
}

/* ---- the Job and its pods in numbers ---- */

static void read_spec(struct job_work *w)
{
	const json_t *spec = json_object_get(w->job, "spec");

	w->parallelism = jsonx_int_or(spec, "parallelism", 1);
	w->completions = jsonx_int_or(spec, "completions", -1);
	w->backoff_limit = jsonx_int_or(spec, "backoffLimit", 6);
	w->indexed = str_same(jsonx_str(spec, "completionMode"), "Indexed");
	w->per_index = w->indexed ? jsonx_int_or(spec, "backoffLimitPerIndex", -1) : -1;
	w->failure_policy = json_object_get(spec, "podFailurePolicy");
	w->replace_failed_only = w->failure_policy || str_same(jsonx_str(spec, "podReplacementPolicy"), "Failed");
	w->suspended = jsonx_bool_or(spec, "suspend", false);
	w->deleting = jsonx_at(w->job, "metadata.deletionTimestamp") != NULL;
	if (w->indexed && w->completions < 0)
		w->completions = 0;
}

static void read_uids(struct map *m, const json_t *uids)
{
	json_t *uid;
	size_t i;

	map_init(m, NULL);
	json_array_foreach (uids, i, uid)
		map_set(m, json_string_value(uid), uid);
}

static bool counted_before(const struct job_work *w, const struct pod_facts *p)
{
	return map_find(&w->uncounted_succeeded, p->uid) || map_find(&w->uncounted_failed, p->uid);
}

bool job_index_valid(const struct job_work *w, const struct pod_facts *p)
{
	return p->index >= 0 && p->index < w->completions;
}

bool job_pod_failed(const struct job_work *w, const struct pod_facts *p)
{
	/* A pod that is deleted will be replaced at once unless the Job waits for its end, so it counts at once. */
	return p->phase == POD_IS_FAILED || (!w->replace_failed_only && p->deleting && p->phase != POD_IS_SUCCEEDED);
}

/* A failure that is not in any counter yet. */
static void read_failure(struct job_work *w, const struct pod_facts *p)
{
	enum failure_means means = FAILURE_COUNTS;

	if (w->failure_policy)
		means = job_failure_means(w->failure_policy, p->obj, w->why.n ? NULL : &w->why);
	if (means == FAILURE_ENDS_JOB)
		w->policy_ends = true;
	if (means != FAILURE_IGNORED)
		w->failed++;
	if (w->per_index >= 0 && job_index_valid(w, p) && means != FAILURE_IGNORED &&
	    (means == FAILURE_ENDS_INDEX || p->index_failures >= w->per_index))
		index_set_add(&w->failed_indexes, p->index);
}

static bool keeps_uids(const json_t *job)
{
	return !jsonx_at(job, "status.startTime") || jsonx_at(job, "status.uncountedTerminatedPods");
}

/* What the Job itself sent away, letting go of it first, is nobody's failure. */
static bool is_counted(const struct job_work *w, const struct pod_facts *p)
{
	return w->by_pods ? p->tracked || pod_ended(p) : p->tracked && !counted_before(w, p);
}

static int64_t at_least(int64_t n, int64_t least)
{
	return n > least ? n : least;
}

static void read_pods(struct job_work *w, const struct job_view *v)
{
	int64_t succeeded = jsonx_int_or(w->job, "status.succeeded", 0);
	int64_t failed = jsonx_int_or(w->job, "status.failed", 0);

	w->succeeded = w->by_pods ? 0 : succeeded + (int64_t)w->uncounted_succeeded.n;
	w->failed = w->by_pods ? 0 : failed + (int64_t)w->uncounted_failed.n;
	for (size_t i = 0; i < v->n; i++) {
		const struct pod_facts *p = v->pods[i];
		bool is_new = is_counted(w, p);

		if (pod_active(p)) {
			ARRAY_PUSH(w->active, w->nactive, w->active_cap, p);
			w->ready += p->ready;
			w->restarts += p->restarts;
		} else if (p->deleting && !pod_ended(p)) {
			w->terminating++;
		}
		if (is_new && p->phase == POD_IS_SUCCEEDED) {
			w->succeeded++;
			if (w->indexed && job_index_valid(w, p))
				index_set_add(&w->succeeded_indexes, p->index);
		} else if (is_new && job_pod_failed(w, p)) {
			read_failure(w, p);
		}
	}
	if (w->indexed)
		w->succeeded = index_set_count(&w->succeeded_indexes);
	if (w->by_pods) {
		w->succeeded = at_least(w->succeeded, succeeded);
		w->failed = at_least(w->failed, failed);
	}
}

static void work_init(struct job_work *w, const struct job_view *v, struct job_plan *p)
{
	const json_t *uncounted = jsonx_at(v->job, "status.uncountedTerminatedPods");

	*w = (struct job_work){ .job = v->job, .now = v->now, .view = v, .plan = p };
	sbuf_init(&w->why, sizeof(p->events[0].message));
	read_spec(w);
	w->by_pods = !keeps_uids(v->job);
	read_uids(&w->uncounted_succeeded, json_object_get(uncounted, "succeeded"));
	read_uids(&w->uncounted_failed, json_object_get(uncounted, "failed"));
	if (w->indexed) {
		const char *done = jsonx_str(v->job, "status.completedIndexes");

		index_set_parse(&w->recorded_indexes, done, (int)w->completions);
		index_set_parse(&w->succeeded_indexes, done, (int)w->completions);
		index_set_parse(&w->failed_indexes, jsonx_str(v->job, "status.failedIndexes"), (int)w->completions);
	}
	read_pods(w, v);
}

static void work_done(struct job_work *w)
{
	map_done(&w->uncounted_succeeded);
	map_done(&w->uncounted_failed);
	index_set_done(&w->recorded_indexes);
	index_set_done(&w->succeeded_indexes);
	index_set_done(&w->failed_indexes);
	sbuf_done(&w->why);
	free(w->active);
}

/* ---- is this the end? ---- */

static void decide(struct job_work *w, enum job_end end, const char *reason, const char *message)
{
	w->end = end;
	w->end_reason = reason;
	snprintf(w->end_message, sizeof(w->end_message), "%s", message);
}

static bool decided_before(struct job_work *w)
{
	const json_t *good = condition(w->job, "SuccessCriteriaMet");
	const json_t *c = good ? good : condition(w->job, "FailureTarget");

	if (!c)
		return false;
	decide(w, good ? JOB_SUCCEEDS : JOB_FAILS, jsonx_str_or(c, "reason", ""), jsonx_str_or(c, "message", ""));
	return true;
}

/* Containers that restart in their pods (restartPolicy OnFailure) are failures too. */
static bool too_many_restarts(const struct job_work *w)
{
	if (!str_same(jsonx_str(w->job, "spec.template.spec.restartPolicy"), "OnFailure"))
		return false;
	return w->backoff_limit == 0 ? w->restarts > 0 : w->restarts >= w->backoff_limit;
}

static bool too_late(struct job_work *w)
{
	int64_t seconds = jsonx_int_or(w->job, "spec.activeDeadlineSeconds", -1);
	int64_t start = time_at(w->job, "status.startTime");

	if (seconds < 0 || w->suspended)
		return false;
	if (!start)
		start = w->now;
	if (w->now - start >= seconds)
		return true;
	look_again(w->plan, start + seconds - w->now);
	return false;
}

static void decide_by_indexes(struct job_work *w)
{
	int64_t failed = index_set_count(&w->failed_indexes);
	int64_t most = jsonx_int_or(w->job, "spec.maxFailedIndexes", -1);
	auto_sbuf struct sbuf why = SBUF(64);

	if (w->per_index >= 0 && most >= 0 && failed > most)
		decide(w, JOB_FAILS, "MaxFailedIndexesExceeded",
		       "Job has exceeded the specified maximal number of failed indexes");
	else if (w->per_index >= 0 && failed > 0 && failed + w->succeeded >= w->completions)
		decide(w, JOB_FAILS, "FailedIndexes", "Job has failed indexes");
	else if (job_success_met(jsonx_at(w->job, "spec.successPolicy"), (int)w->completions, &w->succeeded_indexes,
				 &why))
		decide(w, JOB_SUCCEEDS, "SuccessPolicy", why.p);
}

static void decide_end(struct job_work *w)
{
	if (decided_before(w))
		return;
	if (w->policy_ends)
		decide(w, JOB_FAILS, "PodFailurePolicy", w->why.p ? w->why.p : "");
	else if (w->failed > w->backoff_limit || too_many_restarts(w))
		decide(w, JOB_FAILS, "BackoffLimitExceeded", "Job has reached the specified backoff limit");
	else if (too_late(w))
		decide(w, JOB_FAILS, "DeadlineExceeded", "Job was active longer than specified deadline");
	else if (w->indexed)
		decide_by_indexes(w);
}

/* ---- which pods come and go ---- */

static int by_rank(const void *a, const void *b)
{
	return pod_rank(*(const struct pod_facts *const *)a, *(const struct pod_facts *const *)b);
}

static void remove_pod(struct job_work *w, const struct pod_facts *p)
{
	struct job_plan *plan = w->plan;

	ARRAY_PUSH(plan->remove, plan->nremove, plan->remove_cap, p);
}

/* At least so many; of an Indexed Job also those whose index is taken twice or no longer wanted. */
static void remove_pods(struct job_work *w, int64_t least)
{
	auto_index_set struct index_set taken = { 0 };
	size_t left = 0;

	if (!w->nactive || (!w->indexed && least <= 0))
		return;
	qsort(w->active, w->nactive, sizeof(*w->active), by_rank);
	/* From the most valuable down, so that of two with the same index the better one stays. */
	for (size_t i = w->nactive; i-- > 0;) {
		const struct pod_facts *p = w->active[i];

		if (w->indexed && (!job_index_valid(w, p) || index_set_has(&taken, p->index))) {
			remove_pod(w, p);
			w->active[i] = NULL;
		} else if (w->indexed) {
			index_set_add(&taken, p->index);
		}
	}
	for (size_t i = 0; i < w->nactive; i++) {
		if (!w->active[i])
			continue;
		if ((int64_t)w->plan->nremove < least)
			remove_pod(w, w->active[i]);
		else
			w->active[left++] = w->active[i];
	}
	w->nactive = left;
}

static int64_t back_off(int64_t failures)
{
	int64_t seconds = 10;

	while (--failures > 0 && seconds < 360)
		seconds *= 2;
	return seconds < 360 ? seconds : 360;
}

/* Seconds to wait before a failed pod is replaced: by how many have failed since the last success. */
static int64_t wait_for_all(const struct job_work *w)
{
	const struct job_view *v = w->view;
	int64_t success = 0;
	int64_t last = 0;
	int64_t failures = 0;

	for (size_t i = 0; i < v->n; i++)
		if (v->pods[i]->phase == POD_IS_SUCCEEDED && v->pods[i]->finished > success)
			success = v->pods[i]->finished;
	for (size_t i = 0; i < v->n; i++) {
		const struct pod_facts *p = v->pods[i];

		/* What the Job itself removed, when it was suspended or made smaller, is no failure. */
		if (!job_pod_failed(w, p) || (p->deleting && !p->tracked) || p->finished < success)
			continue;
		failures++;
		last = p->finished > last ? p->finished : last;
	}
	if (v->past.failures && v->past.last >= success) {
		failures += v->past.failures;
		last = v->past.last > last ? v->past.last : last;
	}
	return failures ? last + back_off(failures) - w->now : 0;
}

/* The newest failed pod of an index, or NULL. */
static const struct pod_facts *last_failed(const struct job_work *w, int index)
{
	const struct pod_facts *last = NULL;

	for (size_t i = 0; i < w->view->n; i++) {
		const struct pod_facts *p = w->view->pods[i];

		if (p->index == index && job_pod_failed(w, p) && !(p->deleting && !p->tracked) &&
		    (!last || p->index_failures + p->index_ignored > last->index_failures + last->index_ignored))
			last = p;
	}
	return last;
}

/* Fills in how often an index has failed.  Returns the seconds it still has to wait. */
static int64_t wait_for_index(const struct job_work *w, struct job_new_pod *n)
{
	const struct pod_facts *last = last_failed(w, n->index);

	if (!last)
		return 0;
	n->failures = last->index_failures;
	n->ignored = last->index_ignored;
	if (w->failure_policy && job_failure_means(w->failure_policy, last->obj, NULL) == FAILURE_IGNORED)
		n->ignored++;
	else
		n->failures++;
	return last->finished + back_off(n->failures + n->ignored) - w->now;
}

static void create_pod(struct job_work *w, struct job_new_pod n)
{
	struct job_plan *p = w->plan;

	ARRAY_PUSH(p->create, p->ncreate, p->create_cap, n);
}

/* Indexes that nobody works on. */
static void create_indexed(struct job_work *w, int64_t want)
{
	auto_index_set struct index_set taken = { 0 };
	int index = 0;

	for (size_t i = 0; i < w->succeeded_indexes.n; i++)
		index_set_add_span(&taken, w->succeeded_indexes.spans[i].first, w->succeeded_indexes.spans[i].last);
	for (size_t i = 0; i < w->failed_indexes.n; i++)
		index_set_add_span(&taken, w->failed_indexes.spans[i].first, w->failed_indexes.spans[i].last);
	for (size_t i = 0; i < w->view->n; i++) {
		const struct pod_facts *p = w->view->pods[i];

		if (p->index >= 0 && (pod_active(p) || (w->replace_failed_only && !pod_ended(p))))
			index_set_add(&taken, p->index);
	}
	for (; want > 0; index++) {
		struct job_new_pod n = { 0 };
		int64_t wait;

		index = index_set_gap(&taken, index);
		if (index >= w->completions)
			return;
		n.index = index;
		want--;
		wait = w->per_index >= 0 ? wait_for_index(w, &n) : 0;
		if (wait > 0)
			look_again(w->plan, wait);
		else
			create_pod(w, n);
	}
}

static void create_pods(struct job_work *w, int64_t want)
{
	int64_t wait = w->per_index >= 0 ? 0 : wait_for_all(w);

	if (wait > 0) {
		look_again(w->plan, wait);
		return;
	}
	/* The rest follows when these are made; if they are refused, no sooner than the next try. */
	if (want > (int64_t)w->view->create_most)
		want = (int64_t)w->view->create_most;
	if (w->indexed)
		create_indexed(w, want);
	else
		for (int64_t i = 0; i < want; i++)
			create_pod(w, (struct job_new_pod){ .index = -1 });
}

static int64_t want_active(const struct job_work *w)
{
	int64_t want;

	if (w->suspended)
		return 0;
	/* Without a number of completions the first success means that no more are started. */
	if (w->completions < 0)
		return w->succeeded > 0 ? (int64_t)w->nactive : w->parallelism;
	want = w->completions - w->succeeded;
	if (w->per_index >= 0)
		want -= index_set_count(&w->failed_indexes);
	if (want > w->parallelism)
		want = w->parallelism;
	return want > 0 ? want : 0;
}

/* Either some go or some come, never both in one plan. */
static void manage(struct job_work *w)
{
	int64_t want = want_active(w);
	int64_t waiting = w->replace_failed_only ? w->terminating : 0;

	if (w->deleting)
		return;
	remove_pods(w, (int64_t)w->nactive - want);
	if (w->plan->nremove || w->suspended)
		return;
	want -= (int64_t)w->nactive + waiting;
	if (want > 0)
		create_pods(w, want);
}

/* Enough has succeeded and nobody works any more. */
static void decide_success(struct job_work *w)
{
	bool enough = w->completions < 0 ? w->succeeded > 0 : w->succeeded >= w->completions;

	if (enough && !w->nactive && !w->plan->ncreate && !w->plan->nremove)
		decide(w, JOB_SUCCEEDS, "CompletionsReached", "Reached expected number of succeeded pods");
}

/* ---- all of it ---- */

static void end_pods(struct job_work *w)
{
	struct job_plan *p = w->plan;

	for (size_t i = 0; i < w->nactive; i++)
		ARRAY_PUSH(p->end, p->nend, p->end_cap, w->active[i]);
	w->terminating += (int64_t)w->nactive;
	w->nactive = 0;
	w->ready = 0;
}

/* A finished Job only lets go of what came late, and goes itself when its time is over. */
static void plan_finished(const struct job_view *v, struct job_plan *p)
{
	int64_t ttl = jsonx_int_or(v->job, "spec.ttlSecondsAfterFinished", -1);
	int64_t left = time_at(job_finished(v->job), "lastTransitionTime") + ttl - v->now;

	for (size_t i = 0; i < v->n; i++)
		if (v->pods[i]->tracked)
			ARRAY_PUSH(p->untrack, p->nuntrack, p->untrack_cap, v->pods[i]);
	if (ttl < 0 || jsonx_at(v->job, "metadata.deletionTimestamp"))
		return;
	if (left > 0)
		look_again(p, left);
	else
		p->expired = true;
}

void job_plan(const struct job_view *v, struct job_plan *ret)
{
	struct job_work w;

	*ret = (struct job_plan){ .again = -1 };
	if (job_finished(v->job)) {
		plan_finished(v, ret);
		return;
	}
	work_init(&w, v, ret);
	decide_end(&w);
	if (w.end == JOB_GOES_ON) {
		manage(&w);
		decide_success(&w);
	} else {
		end_pods(&w);
	}
	job_count(&w);
	work_done(&w);
}
