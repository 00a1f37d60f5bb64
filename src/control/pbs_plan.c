// SPDX-License-Identifier: Apache-2.0
/* pbs_plan.c - see pbs_plan.h: a job as a whole
 *
 * What keeps a job from running is looked at in PBS's order: holds, then other jobs, then its time, then the server's
 * will; only what passes all of that becomes pods, and then it is the scheduler's turn.
 */
#include "control/pbs_plan.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pbs_abroad.h"
#include "control/pbs_parts.h"

void pbs_plan_done(struct pbs_plan *p)
{
	free(p->make);
	free(p->drop);
	free(p->mark);
	free(p->limit);
	for (size_t i = 0; i < p->ntell; i++)
		free(p->tell[i].nodes);
	free(p->tell);
	json_decref(p->status);
	for (size_t i = 0; i < p->norders; i++) {
		pbs_order_done(p->orders[i]);
		free(p->orders[i]);
	}
	free(p->orders);
	*p = (struct pbs_plan){ 0 };
}

/* ---- what keeps it ---- */

static void read_gate(struct pbs_work *w)
{
	const char *hold = jsonx_str_or(w->spec, "hold", "n");
	int64_t at = time_at(w->spec, "executionTime");

	w->gate = 'Q';
	if (!streq(hold, "n") && *hold) {
		w->gate = 'H';
		pbs_comment_held(hold, w->comment, sizeof(w->comment));
	} else if (w->v->others->verdict == PBS_WAITS) {
		w->gate = 'H';
		snprintf(w->comment, sizeof(w->comment), PBS_NOT_RUNNING "Job %s", w->v->others->words);
	} else if (at > w->v->now) {
		w->gate = 'W';
		pbs_comment_until(at, w->comment, sizeof(w->comment));
		pbs_again(w, at - w->v->now);
	} else if (!w->v->set->scheduling && !jsonx_bool_or(w->spec, "runNow", false)) {
		w->stopped = true;
		snprintf(w->comment, sizeof(w->comment), PBS_NOT_RUNNING "The server starts no jobs at present");
	} else {
		w->may_start = true;
	}
}

/* ---- how it ends ---- */

void pbs_end_job(struct pbs_work *w, bool has_exit, int code, bool cancelled, const char *comment)
{
	json_object_set_new(w->status, "state", json_string("C"));
	pbs_set_time(w->status, "completionTime", w->v->now);
	if (has_exit)
		json_object_set_new(w->status, "exitStatus", json_integer(code));
	if (cancelled)
		json_object_set_new(w->status, "cancelled", json_true());
	if (*comment)
		json_object_set_new(w->status, "comment", jsonx_string(comment));
}

/* Before it was ever started, and not by its own fault. */
static void end_unstarted(struct pbs_work *w, const char *comment)
{
	int64_t code = w->v->set->cancel_code;

	pbs_end_job(w, code != PBS_NO_CODE, (int)code, true, comment);
}

void pbs_say_cancel(const struct pbs_work *w, char *out, size_t n)
{
	const char *by = jsonx_str_or(w->spec, "cancel.by", jsonx_str_or(w->spec, "owner", ""));
	const char *message = jsonx_str_or(w->spec, "cancel.message", "");

	snprintf(out, n, "Job deleted%s%s%s%s", *by ? " at request of " : "", by, *message ? ": " : "", message);
}

static bool is_quiet(const struct pbs_work *w)
{
	for (size_t i = 0; i < w->v->n; i++)
		if (!pod_ended(w->v->pods[i]))
			return false;
	return true;
}

/* It has ended: what is left of it goes, and in time it as well. */
static void keep(struct pbs_work *w)
{
	int64_t left = time_at(w->status, "completionTime") + w->v->set->keep - w->v->now;
	bool array = json_object_get(w->spec, "array") != NULL;

	pbs_drop_pods(w, w->v->pods, w->v->n, array, w->purge ? 0 : -1);
	if (w->deleted)
		w->p->released = w->purge || is_quiet(w);
	else if (w->v->wanted)
		pbs_again(w, left > 1 ? left : 1);
	else if (left > 0)
		pbs_again(w, left);
	else
		w->p->expired = true;
}

/* ---- one job ---- */

static void plan_plain(struct pbs_work *w)
{
	char before = *jsonx_str_or(w->status, "state", "Q");
	struct pbs_unit u = { .index = PBS_PLAIN,
			      .state = strchr("RSE", before) ? before : 'Q',
			      .start_count = (int)jsonx_int_or(w->status, "startCount", 0),
			      .run = w->status,
			      .spec = w->spec,
			      .order = w->order,
			      .cancel = json_object_get(w->spec, "cancel") != NULL,
			      .pods = w->v->pods,
			      .n = w->v->n };
	char letter[2] = { 0 };

	pbs_unit_plan(w, &u);
	if (u.start_count)
		json_object_set_new(w->status, "startCount", json_integer(u.start_count));
	if (u.cancelled)
		pbs_say_cancel(w, u.why, sizeof(u.why));
	if (u.state == 'C') {
		pbs_end_job(w, u.has_exit, u.exit, u.cancelled, u.why);
		/* Most end well, and their status says all of it. */
		if (u.has_exit && u.exit != 0)
			pbs_event(w->p, true, "Completed", "Job ended with exit status %d", u.exit);
		return;
	}
	letter[0] = u.state == 'Q' ? w->gate : u.state;
	json_object_set_new(w->status, "state", json_string(letter));
	if (u.cancelled)
		json_object_set_new(w->status, "cancelled", json_true());
	if (*u.why)
		json_object_set_new(w->status, "comment", jsonx_string(u.why));
	else if (u.state == 'Q' && *w->comment)
		json_object_set_new(w->status, "comment", jsonx_string(w->comment));
	else if (u.state == 'Q' && before != 'Q')
		json_object_del(w->status, "comment");
}

static bool has_begun(const struct pbs_work *w)
{
	return strchr("RSE", *jsonx_str_or(w->status, "state", "Q")) || jsonx_int_or(w->status, "startCount", 0) > 0 ||
	       json_array_size(json_object_get(w->status, "active")) > 0;
}

struct pbs_order *pbs_plan_order(struct pbs_work *w, const json_t *job, struct err *e)
{
	struct pbs_order *o = xcalloc(1, sizeof(*o));

	if (pbs_order_init(o, job, w->v->set, w->v->place, e) < 0) {
		pbs_order_done(o);
		free(o);
		return NULL;
	}
	ARRAY_PUSH(w->p->orders, w->p->norders, w->p->orders_cap, o);
	return o;
}

static void plan_open(struct pbs_work *w)
{
	struct err e = ERR_INIT;
	char text[PBS_COMMENT];

	if (w->v->others->verdict == PBS_NEVER && !has_begun(w) && !json_object_get(w->spec, "cancel")) {
		snprintf(text, sizeof(text), "Job deleted as result of dependency on job %s", w->v->others->culprit);
		pbs_event(w->p, true, "DependencyNeverSatisfied", "%s", text);
		end_unstarted(w, text);
		return;
	}
	w->order = pbs_plan_order(w, w->v->job, &e);
	if (!w->order || (w->v->set->abroad && !has_begun(w) && pbs_abroad_check(w->order, &e) < 0)) {
		snprintf(text, sizeof(text), "Job cannot run: %.900s", e.text);
		pbs_end_job(w, true, PBS_EXIT_BEFORE, false, text);
		return;
	}
	read_gate(w);
	if (json_object_get(w->spec, "array"))
		pbs_elements_plan(w);
	else
		plan_plain(w);
}

/* Nothing has happened to it yet, and its pods soon will tell more: not worth a write of its own. */
static bool is_news(const struct pbs_work *w)
{
	const json_t *before = json_object_get(w->v->job, "status");

	return !before || json_object_get(before, "observedGeneration") || !json_equal(before, w->status);
}

/* What every job has once there is something to say of it. */
static void stamp(struct pbs_work *w)
{
	const char *state = jsonx_str_or(w->status, "state", "Q");

	if (json_object_get(w->status, "eligibleTime") && !is_news(w))
		return;

	if (!json_object_get(w->status, "queueTime"))
		pbs_set_time(w->status, "queueTime", time_at(w->v->job, "metadata.creationTimestamp"));
	if (!json_object_get(w->status, "eligibleTime") && strchr("QRSE", *state))
		pbs_set_time(w->status, "eligibleTime", w->v->now);
	if (jsonx_at(w->v->job, "metadata.generation"))
		json_object_set(w->status, "observedGeneration", jsonx_at(w->v->job, "metadata.generation"));
	if (w->v->others->parents)
		json_object_set(w->status, "parents", w->v->others->parents);
}

/* It is to be seen to its end before it goes: api/pbs_delete.c. */
static bool is_held(const json_t *job)
{
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(job, "metadata.finalizers"), i, v)
		if (str_same(json_string_value(v), PBS_FINALIZER))
			return true;
	return false;
}

void pbs_plan(const struct pbs_view *v, struct pbs_plan *ret)
{
	struct pbs_work w = { .v = v, .p = ret, .spec = json_object_get(v->job, "spec"), .delay = -1 };

	*ret = (struct pbs_plan){ .again = -1 };
	w.deleted = jsonx_at(v->job, "metadata.deletionTimestamp") != NULL;
	if (w.deleted && !is_held(v->job))
		return;
	w.status = jsonx_copy(json_object_get(v->job, "status"));
	if (!w.status)
		w.status = json_object();
	w.purge = jsonx_bool_or(w.spec, "cancel.purge", false);
	w.delay = jsonx_int_or(w.spec, "cancel.delaySeconds", -1);
	if (*jsonx_str_or(w.status, "state", "Q") == 'C')
		keep(&w);
	else
		plan_open(&w);
	stamp(&w);
	ret->status = w.status;
}
