// SPDX-License-Identifier: Apache-2.0
/* training_plan.c - what a training job does next
 *
 * A job that runs is looked at in this order: has it succeeded, is its time over, has somebody failed, and only then
 * what is missing.  Success comes first because the others often fail when the one who decides has gone.
 *
 * Whoever is still running when the job has ended is stopped at once.  cleanPodPolicy says whether its pod is deleted
 * or only ended; the latter is done by a deadline in its spec, which every kubelet obeys.
 */
#include "control/training_plan.h"

#include <stdarg.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_template.h"
#include "control/status.h"
#include "control/training_parts.h"

#define DELAY_MOST 300 /* seconds between two runs of a replica that fails again and again */

__attribute__((format(printf, 4, 5))) static void note(struct training_work *w, bool warning, const char *reason,
						       const char *fmt, ...)
{
	struct training_event *e = &w->p->events[w->p->nevents];
	va_list ap;

	if (w->p->nevents == ARRAY_SIZE(w->p->events))
		return;
	w->p->nevents++;
	e->warning = warning;
	snprintf(e->reason, sizeof(e->reason), "%s", reason);
	va_start(ap, fmt);
	vsnprintf(e->message, sizeof(e->message), fmt, ap);
	va_end(ap);
}

static void again_in(struct training_work *w, int64_t seconds)
{
	if (w->p->again < 0 || seconds < w->p->again)
		w->p->again = seconds > 0 ? seconds : 0;
}

/* "TFJob ns/name" */
static char *title(const struct training_job *j)
{
	return j->form->full_name ? xasprintf("%s %s/%s", j->form->kind, j->ns, j->name)
				  : xasprintf("%s %s", j->form->kind, j->name);
}

/* A condition of that type with the event that goes with it; `word` is the end of their reason. */
static void tell_why(struct training_work *w, const char *type, const char *word, bool warning, const char *message)
{
	auto_free char *reason = xasprintf("%s%s", w->job->form->kind, word);

	training_set_condition(w, type, true, word, message);
	note(w, warning, reason, "%s", message);
}

static void tell(struct training_work *w, const char *type, bool warning, const char *message)
{
	tell_why(w, type, type, warning, message);
}

static void remove_pod(struct training_work *w, const struct pod_facts *p)
{
	if (!p->deleting)
		ARRAY_PUSH(w->p->remove, w->p->nremove, w->p->remove_cap, p);
}

static void drop_service(struct training_work *w, const json_t *service)
{
	if (!jsonx_at(service, "metadata.deletionTimestamp"))
		ARRAY_PUSH(w->p->drop, w->p->ndrop, w->p->drop_cap, service);
}

/* ---- the end ---- */

/* `word` says why, where the end itself does not. */
static void finish_by(struct training_work *w, bool succeeded, const char *word, const char *message)
{
	const char *type = succeeded ? "Succeeded" : "Failed";

	training_count(w);
	training_freeze(w, succeeded);
	training_set_time(w->status, "completionTime", w->v->now);
	if (w->job->form->listed && !succeeded)
		json_object_set_new(w->status, "reason", jsonx_string(message));
	status_set_failure(w->status, w->v->now, NULL, NULL);
	tell_why(w, type, word ? word : type, !succeeded, message);
}

static void finish(struct training_work *w, bool succeeded, const char *message)
{
	finish_by(w, succeeded, NULL, message);
}

static void succeed(struct training_work *w)
{
	auto_free char *who = title(w->job);
	auto_free char *message = xasprintf("%s %s.", who, w->job->form->succeeded);

	finish(w, true, message);
}

static json_t *record_of(struct training_work *w, const struct replica *r)
{
	return object_at(object_at(w->status, "replicas"), r->name);
}

static bool has_failed(const struct replica *r)
{
	return r->is == REPLICA_FAILED || r->is == REPLICA_DOWN;
}

static void tell_exit(struct training_work *w, const struct replica *r)
{
	int code = has_failed(r) ? replica_end(r).code : -1;

	if (code >= 0)
		note(w, false, "ExitedWithCode", "Pod: %s.%s exited with code %d", w->job->ns, r->pod->name, code);
}

/* For whoever asks when its pod has gone, or was stopped with the others. */
static void record_exit(struct training_work *w, const struct replica *r)
{
	int code = replica_end(r).code;

	if (code >= 0)
		json_object_set_new(record_of(w, r), "exitCode", json_integer(code));
}

/* `r` is whose fault it was, or NULL. */
static void fail_by_limit(struct training_work *w, const char *why, const struct replica *r)
{
	auto_sbuf struct sbuf text = SBUF(1024);

	sbuf_addf(&text, "Job %s has failed because it %s", w->job->name, why);
	if (r) {
		sbuf_adds(&text, ". ");
		replica_blame(r, &text);
		record_exit(w, r);
		tell_exit(w, r);
	}
	finish(w, false, text.p);
}

static int count_failed(const struct training_work *w, const struct training_role *role)
{
	int n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->replicas[i].role == role && has_failed(&w->replicas[i]);
	return n;
}

static void fail_by(struct training_work *w, const struct replica *r)
{
	auto_sbuf struct sbuf text = SBUF(1024);
	auto_free char *who = title(w->job);

	sbuf_addf(&text, "%s %s", who, w->job->form->failed);
	if (!w->job->form->old_words)
		sbuf_addf(&text, " because %d %s replica(s) failed", count_failed(w, r->role), r->role->type);
	sbuf_adds(&text, ". ");
	replica_blame(r, &text);
	record_exit(w, r);
	tell_exit(w, r);
	finish(w, false, text.p);
}

/* ---- after the end ---- */

static bool is_stopped(const struct pod_facts *p)
{
	return jsonx_int_or(p->obj, "spec.activeDeadlineSeconds", 0) == 1;
}

static void clean_pod(struct training_work *w, const struct pod_facts *p)
{
	bool remove = w->job->clean == CLEAN_ALL || (w->job->clean == CLEAN_RUNNING && !pod_ended(p));

	/* A pod without a node has nothing that could be kept. */
	if (remove || (!pod_ended(p) && !p->assigned))
		remove_pod(w, p);
	else if (!pod_ended(p) && !p->deleting && !is_stopped(p))
		ARRAY_PUSH(w->p->stop, w->p->nstop, w->p->stop_cap, p);
}

/* Whether a pod that is to stay is behind this Service. */
static bool is_in_use(const struct training_work *w, const char *service)
{
	const struct replica *r = map_find(&w->hosts, service);

	return r && r->pod && pod_ended(r->pod) && !r->pod->deleting;
}

static void clean_up(struct training_work *w)
{
	int64_t left = w->job->ttl + time_at(w->job->obj, "status.completionTime") - w->v->now;

	for (size_t i = 0; i < w->v->n; i++)
		clean_pod(w, w->v->pods[i]);
	for (size_t i = 0; i < w->v->nservices; i++)
		if (w->job->clean == CLEAN_ALL || (w->job->clean == CLEAN_RUNNING &&
						   !is_in_use(w, jsonx_str_or(w->v->services[i], "metadata.name", ""))))
			drop_service(w, w->v->services[i]);
	if (w->job->ttl < 0)
		return;
	w->p->expired = left <= 0;
	if (left > 0)
		again_in(w, left);
}

/* ---- the beginning ---- */

static void warn_of_policy(struct training_work *w)
{
	for (size_t i = 0; w->job->form->set_policy && i < w->job->n; i++) {
		const char *asked = jsonx_str_or(w->job->roles[i].template, "spec.restartPolicy", "Always");
		static const char *const names[] = { "Never", "OnFailure", "Always", "Never" };

		/* Always is what a template has if nobody says anything. */
		if (!streq(asked, "Always") && !streq(asked, names[w->job->roles[i].restart]))
			note(w, true, w->job->form->set_policy,
			     "Restart policy in pod template will be overwritten by restart policy in replica spec");
	}
}

static void begin(struct training_work *w)
{
	auto_free char *who = title(w->job);
	auto_free char *message = xasprintf("%s is created.", who);

	if (!training_condition_of(w->status, "Created", "True")) {
		tell(w, "Created", false, message);
		warn_of_policy(w);
	}
}

/* ---- suspended ---- */

static void suspend(struct training_work *w)
{
	auto_free char *who = title(w->job);
	auto_free char *message = xasprintf("%s is suspended.", who);

	for (size_t i = 0; i < w->v->n; i++)
		remove_pod(w, w->v->pods[i]);
	for (size_t i = 0; i < w->v->nservices; i++)
		drop_service(w, w->v->services[i]);
	/* Also what a node says of a pod that ends in this moment. */
	training_forget(w->status);
	begin(w);
	if (!training_condition_of(w->status, "Suspended", "True"))
		tell(w, "Suspended", false, message);
}

static void resume(struct training_work *w)
{
	auto_free char *who = title(w->job);
	auto_free char *message = xasprintf("%s is resumed.", who);
	auto_free char *reason = xasprintf("%sResumed", w->job->form->kind);

	training_set_condition(w, "Suspended", false, "Resumed", message);
	note(w, false, reason, "%s", message);
}

/* ---- while it runs ---- */

static bool a_role_runs(const struct training_work *w)
{
	for (size_t i = 0; i < w->job->n; i++) {
		int n = 0;

		for (size_t k = 0; k < w->n; k++)
			n += w->replicas[k].role == &w->job->roles[i] && w->replicas[k].is == REPLICA_RUNNING;
		if (n && n == w->job->roles[i].replicas)
			return true;
	}
	return false;
}

static void start_clock(struct training_work *w)
{
	if (!json_object_get(w->status, "startTime") && (!w->job->form->late_start || a_role_runs(w)))
		training_set_time(w->status, "startTime", w->v->now);
}

static void record_successes(struct training_work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];

		if (r->is != REPLICA_SUCCEEDED)
			continue;
		json_object_set_new(record_of(w, r), "succeeded", json_true());
		json_object_set_new(record_of(w, r), "run", json_integer(r->attempt));
	}
}

/* True if the job's time is over. */
static bool is_late(struct training_work *w)
{
	int64_t start = time_at(w->status, "startTime");
	int64_t left = start + w->job->deadline - w->v->now;

	if (w->job->deadline < 0 || !start)
		return false;
	if (left > 0)
		again_in(w, left);
	return left <= 0;
}

/* With workers that may come and go, one that fails is no loss while another is there. */
static bool is_no_loss(const struct training_work *w, const struct replica *r)
{
	if (!w->job->dynamic || !streq(r->role->lower, "worker"))
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (w->replicas[i].role == r->role && w->replicas[i].is != REPLICA_FAILED)
			return true;
	return false;
}

/* A gang also starts anew when one of its pods is taken from it. */
static bool is_to_restart(const struct training_work *w, const struct replica *r)
{
	if (r->is == REPLICA_FAILED)
		return replica_may_restart(w, r);
	return w->job->gang && r->deleted;
}

static void tell_restart(struct training_work *w, const struct replica *r)
{
	auto_sbuf struct sbuf text = SBUF(1024);
	auto_free char *who = title(w->job);
	int failed = count_failed(w, r->role);

	sbuf_addf(&text, "%s is restarting", who);
	if (!w->job->form->old_words && failed)
		sbuf_addf(&text, " because %d %s replica(s) failed", failed, r->role->type);
	sbuf_adds(&text, ". ");
	if (has_failed(r))
		replica_blame(r, &text);
	else
		sbuf_addf(&text, "%s was deleted", r->name);
	tell_exit(w, r);
	tell(w, "Restarting", true, text.p);
}

/* A program that its pod will run again is told of once, until all run. */
static void tell_down(struct training_work *w)
{
	if (training_condition_of(w->status, "Restarting", "True"))
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->replicas[i].is == REPLICA_DOWN) {
			tell_restart(w, &w->replicas[i]);
			return;
		}
}

/* What is counted here is done by the next plan, when the number is stored. */
static void count_restart(struct training_work *w, const struct replica *r)
{
	json_t *record = record_of(w, r);
	int64_t n = jsonx_int_or(record, "restarts", 0) + 1 + r->pod->restarts;

	json_object_set_new(record, "restarts", json_integer(n));
}

static void count_gang_restart(struct training_work *w)
{
	json_t *records = json_object_get(w->status, "replicas");

	json_object_set_new(w->status, "gangRestarts", json_integer(jsonx_int_or(w->status, "gangRestarts", 0) + 1));
	/* All begin anew: what some had reached, they reached with the others. */
	for (size_t i = 0; i < w->n; i++)
		json_object_del(json_object_get(records, w->replicas[i].name), "succeeded");
}

static void restart(struct training_work *w, const struct replica *first)
{
	tell_restart(w, first);
	if (w->job->gang) {
		count_gang_restart(w);
		return;
	}
	for (size_t i = 0; i < w->n; i++)
		if (is_to_restart(w, &w->replicas[i]))
			count_restart(w, &w->replicas[i]);
}

/* `r` is whose failure was one too many; NULL: it was one that a pod took care of itself. */
static void fail_by_backoff(struct training_work *w, const struct replica *r)
{
	struct replica *last = r ? NULL : replicas_last_failed(w);

	if (last)
		last->is = REPLICA_FAILED;
	fail_by_limit(w, "has reached the specified backoff limit", last ? last : r);
}

/* True if the job ends by it. */
static bool look_at_failures(struct training_work *w)
{
	const struct replica *first = NULL;
	int64_t before = replicas_restarts(w);
	int64_t in_place = replicas_in_place(w);
	int64_t wanted = 0;
	int64_t limit = w->job->backoff;

	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];
		bool again = is_to_restart(w, r);

		if (r->is == REPLICA_FAILED && !again && !is_no_loss(w, r)) {
			fail_by(w, r);
			return true;
		}
		wanted += again ? 1 + r->pod->restarts : 0;
		first = first || !again ? first : r;
	}
	if (w->job->gang && wanted)
		wanted = 1;
	if (limit >= 0 && in_place + wanted > 0 && before + in_place + wanted > limit) {
		fail_by_backoff(w, first);
		return true;
	}
	if (first)
		restart(w, first);
	else
		tell_down(w);
	return false;
}

/* Somebody above has decided that it fails: idle_gpus.c.  True if the job ends by it. */
static bool look_at_target(struct training_work *w)
{
	const json_t *c = training_condition_of(w->status, "FailureTarget", "True");
	auto_sbuf struct sbuf text = SBUF(1024);
	auto_free char *who = title(w->job);

	if (!c)
		return false;
	sbuf_addf(&text, "%s %s. It was %s", who, w->job->form->failed, jsonx_str_or(c, "message", "ended"));
	finish_by(w, false, jsonx_str_or(c, "reason", "Failed"), text.p);
	return true;
}

/* True if the job ends by it. */
static bool look_at_silence(struct training_work *w)
{
	auto_sbuf struct sbuf text = SBUF(1024);
	auto_free char *who = title(w->job);
	const struct replica *quietest = NULL;
	int64_t left;
	bool limit;

	if (!replicas_hang(w, &quietest, &left)) {
		if (left > 0)
			again_in(w, left);
		return false;
	}
	limit = w->job->backoff >= 0 && replicas_restarts(w) + 1 > w->job->backoff;
	if (w->job->gang && !limit)
		sbuf_addf(&text, "%s is restarting because it hangs. ", who);
	else if (w->job->gang)
		sbuf_addf(&text, "Job %s has failed because it hangs and has reached the specified backoff limit. ",
			  w->job->name);
	else
		sbuf_addf(&text, "%s %s because it hangs. ", who, w->job->form->failed);
	replica_silence(quietest, &text);
	if (w->job->gang && !limit) {
		tell_why(w, "Restarting", "Hung", true, text.p);
		count_gang_restart(w);
		return false;
	}
	finish_by(w, false, "Hung", text.p);
	return true;
}

/* ---- what is missing ---- */

/* Names first: whoever starts can look for all the others. */
static bool make_services(struct training_work *w)
{
	struct training_plan *p = w->p;

	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];

		if (!r->has_service)
			ARRAY_PUSH(p->services, p->nservices, p->services_cap,
				   ((struct training_piece){ r->role, r->index, 0 }));
	}
	return p->nservices == 0;
}

/* Seconds until a replica may run again: the first time at once, then 1, 2, 4... after the last restart. */
static int64_t delay_left(const struct training_work *w, const struct replica *r)
{
	const json_t *c = training_condition_of(w->status, "Restarting", "True");
	int64_t delay = r->attempt < 2 ? 0 : r->attempt > 10 ? DELAY_MOST : (int64_t)1 << (r->attempt - 2);

	if (!c || !delay)
		return 0;
	delay = delay > DELAY_MOST ? DELAY_MOST : delay;
	return time_at(c, "lastUpdateTime") + delay - w->v->now;
}

static bool anybody_leaves(const struct training_work *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->replicas[i].is == REPLICA_LEAVING)
			return true;
	return false;
}

static void make_pods(struct training_work *w)
{
	struct training_plan *p = w->p;

	/* A gang that begins anew begins together. */
	if (w->job->gang && anybody_leaves(w))
		return;
	for (size_t i = 0; i < w->n && p->npods < w->v->create_most; i++) {
		const struct replica *r = &w->replicas[i];
		int64_t left = r->is == REPLICA_NONE ? delay_left(w, r) : 0;

		if (left > 0)
			again_in(w, left);
		else if (r->is == REPLICA_NONE)
			ARRAY_PUSH(p->pods, p->npods, p->pods_cap,
				   ((struct training_piece){ r->role, r->index, r->attempt }));
	}
	if (p->npods == w->v->create_most)
		again_in(w, 1);
}

static void remove_surplus(struct training_work *w)
{
	for (size_t i = 0; i < w->nsurplus; i++)
		remove_pod(w, w->surplus[i]);
	for (size_t i = 0; i < w->v->nservices; i++)
		if (!map_find(&w->hosts, jsonx_str_or(w->v->services[i], "metadata.name", "")))
			drop_service(w, w->v->services[i]);
}

static void say_running(struct training_work *w)
{
	auto_free char *who = title(w->job);
	auto_free char *message = xasprintf("%s is running.", who);

	if (replicas_running(w) && !training_condition_of(w->status, "Running", "True"))
		tell(w, "Running", false, message);
}

static void make_missing(struct training_work *w)
{
	if (!make_services(w))
		return;
	w->p->prepare = w->job->form->need && !w->v->prepared;
	if (!w->p->prepare)
		make_pods(w);
}

/* Whether the cluster has room for all of it; where nobody asks, nothing is said. */
static void say_queued(struct training_work *w)
{
	auto_free char *who = title(w->job);
	auto_free char *waits = NULL;
	auto_free char *in = NULL;
	auto_free char *reason = xasprintf("%sAdmitted", w->job->form->kind);
	const json_t *said = training_condition_of(w->status, "Queued", "True");

	if (w->v->queued == GATE_WAITS) {
		waits = xasprintf("%s waits: %s.", who, w->v->queued_why);
		if (!said || !str_same(jsonx_str(said, "message"), waits))
			tell(w, "Queued", false, waits);
	} else if (w->v->queued == GATE_IN && said) {
		in = xasprintf("%s is admitted.", who);
		training_set_condition(w, "Queued", false, "Admitted", in);
		note(w, false, reason, "%s", in);
	}
}

/* What could not be made is still missing. */
static void say_refused(struct training_work *w)
{
	bool missing = w->p->nservices || w->p->prepare || w->p->npods;
	const char *why = missing ? w->v->refused : NULL;

	status_set_failure(w->status, w->v->now, why ? "FailedCreate" : NULL, why);
}

static void run(struct training_work *w)
{
	begin(w);
	if (training_condition_of(w->status, "Suspended", "True"))
		resume(w);
	start_clock(w);
	record_successes(w);
	if (replicas_succeeded(w)) {
		succeed(w);
		return;
	}
	if (look_at_target(w))
		return;
	if (is_late(w)) {
		fail_by_limit(w, "was active longer than specified deadline", NULL);
		return;
	}
	say_running(w);
	if (look_at_failures(w) || look_at_silence(w))
		return;
	say_queued(w);
	training_count(w);
	remove_surplus(w);
	make_missing(w);
	say_refused(w);
	w->p->waits = replicas_wait(w);
}

void training_plan(const struct training_view *v, struct training_plan *ret)
{
	const json_t *before = json_object_get(v->job->obj, "status");
	struct training_work w = { .v = v, .job = v->job, .p = ret, .status = jsonx_copy(before) };

	*ret = (struct training_plan){ .again = -1 };
	if (!json_is_object(w.status)) {
		json_decref(w.status);
		w.status = json_object();
	}
	replicas_read(&w);
	if (jsonx_at(v->job->obj, "metadata.deletionTimestamp"))
		; /* the garbage collector takes everything with it */
	else if (training_finished(v->job->obj))
		clean_up(&w);
	else if (v->job->suspend)
		suspend(&w);
	else
		run(&w);
	if (before ? !json_equal(before, w.status) : json_object_size(w.status) > 0) {
		training_set_time(w.status, "lastReconcileTime", v->now);
		ret->status = json_incref(w.status);
	}
	json_decref(w.status);
	replicas_done(&w);
}

void training_plan_done(struct training_plan *p)
{
	free(p->services);
	free(p->pods);
	free(p->remove);
	free(p->stop);
	free(p->drop);
	free(p->waits);
	json_decref(p->status);
}
