// SPDX-License-Identifier: Apache-2.0
/* pbs_run.c - the life of a PBS job, or of one element of an array: waiting, running, ending, and anew; pure */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pbs_abroad.h"
#include "control/pbs_parts.h"
#include "kinds/pbs_time.h"
#include "kinds/pbs_values.h"

#define STUCK        "Job has its nodes but does not begin: "
#define OVERDUE      5  /* seconds after which a pod that should be gone is no longer waited for */
#define FALSE_STARTS 10 /* runs that came to nothing on their nodes before the job is given up */

static const char *const run_fields[] = { "startTime", "execHost",    "execGpus",        "sessionId",
					  "pods",      "suspendTime", "suspendedSeconds" };

void pbs_again(struct pbs_work *w, int64_t seconds)
{
	if (seconds >= 0 && (w->p->again < 0 || seconds < w->p->again))
		w->p->again = seconds;
}

void pbs_holder(const json_t *job, int index, char *out, size_t n)
{
	const char *ns = jsonx_str_or(job, "metadata.namespace", "");
	const char *name = jsonx_str_or(job, "metadata.name", "");

	if (index >= 0)
		snprintf(out, n, "%s/%s[%d]", ns, name, index);
	else
		snprintf(out, n, "%s/%s", ns, name);
}

static void drop(struct pbs_work *w, const struct pod_facts *p, int64_t grace)
{
	if (!p->deleting)
		ARRAY_PUSH(w->p->drop, w->p->ndrop, w->p->drop_cap, ((struct pbs_drop){ p, grace }));
}

void pbs_drop_pods(struct pbs_work *w, const struct pod_facts *const *pods, size_t n, bool all, int64_t grace)
{
	for (size_t i = 0; i < n; i++)
		if (all || !pod_ended(pods[i]))
			drop(w, pods[i], grace);
}

/* When a pod that is being deleted should be gone; the API sets the time with the grace added. */
static int64_t left_of(const struct pbs_work *w, const struct pod_facts *p)
{
	return time_at(p->obj, "metadata.deletionTimestamp") + OVERDUE - w->v->now;
}

/* ---- changes of state ---- */

static void start(struct pbs_work *w, struct pbs_unit *u)
{
	auto_free struct pbs_seat *seats = xcalloc((size_t)u->ranks, sizeof(*seats));
	auto_sbuf struct sbuf hosts = SBUF(1024 * 1024);
	auto_sbuf struct sbuf cards = SBUF(1024 * 1024);
	json_t *names = json_array();
	char holder[600];
	int64_t began;

	for (int i = 0; i < u->ranks; i++) {
		const char *node = u->now[i]->node;
		const char *host = w->v->host ? w->v->host(w->v->arg, node) : node;

		seats[i] = (struct pbs_seat){ host, pbs_order_req(u->order, i)->ppn };
		json_array_append_new(names, jsonx_string(u->now[i]->name));
	}
	pbs_cards_text(u->now, seats, (size_t)u->ranks, &cards);
	pbs_holder(w->v->job, u->index, holder, sizeof(holder));
	pbs_slots_take(w->v->slots, holder, seats, (size_t)u->ranks, w->v->set->exec_host_style, &hosts);
	u->state = 'R';
	u->start_count++;
	began = time_at(u->now[0]->obj, "status.startTime");
	pbs_set_time(u->run, "startTime", began > 0 ? began : w->v->now);
	json_object_set_new(u->run, "execHost", jsonx_string(hosts.n ? hosts.p : ""));
	if (cards.n)
		json_object_set_new(u->run, "execGpus", jsonx_string(cards.p));
	json_object_set_new(u->run, "pods", names);
	pbs_comment_started(w->v->now, u->why, sizeof(u->why));
}

static void read_session(struct pbs_unit *u)
{
	static const char scheme[] = "process://";
	const char *id = jsonx_str_or(json_array_get(jsonx_at(u->now[0]->obj, "status.containerStatuses"), 0),
				      "containerID", "");
	int64_t pid;

	if (str_starts(id, scheme) && str_int64(id + strlen(scheme), 1, INT32_MAX, &pid))
		json_object_set_new(u->run, "sessionId", json_integer(pid));
}

/* The one that ended it may have more to say about it. */
static void finish(struct pbs_work *w, struct pbs_unit *u, int code, const struct pod_facts *by)
{
	const struct pod_facts *p = u->now[0];
	char holder[600];
	json_t *used;

	u->state = 'C';
	u->has_exit = true;
	u->exit = code;
	if (p)
		read_session(u); /* a short one has not been looked at before */
	if (by)
		pbs_say_end(by, jsonx_str_or(u->spec, "resources.walltime", ""), u->why, sizeof(u->why));
	pbs_holder(w->v->job, u->index, holder, sizeof(holder));
	pbs_slots_hold(w->v->slots, holder, NULL);
	used = pbs_used(p, u->run);
	if (json_object_get(used, PBS_RUNTIME))
		json_object_set(u->run, "totalRuntime", json_object_get(used, PBS_RUNTIME));
	json_object_del(used, PBS_RUNTIME);
	json_object_set_new(u->run, "resourcesUsed", used);
}

/* It waits again, as the run that comes after this one. */
static void requeue(struct pbs_work *w, struct pbs_unit *u, const char *why)
{
	char holder[600];

	u->state = 'Q';
	for (size_t i = 0; i < ARRAY_SIZE(run_fields); i++)
		json_object_del(u->run, run_fields[i]);
	pbs_holder(w->v->job, u->index, holder, sizeof(holder));
	pbs_slots_hold(w->v->slots, holder, NULL);
	snprintf(u->why, sizeof(u->why), PBS_NOT_RUNNING "%s", why);
	if (u->index >= 0)
		pbs_event(w->p, false, "Requeued", PBS_ELEMENT_EVENT "%d: %s", u->index, why);
	else
		pbs_event(w->p, false, "Requeued", "%s", why);
}

/* Its node, or somebody, took it away. */
static void lose(struct pbs_work *w, struct pbs_unit *u, const char *why)
{
	bool ran = time_at(u->now[0] ? u->now[0]->obj : NULL, "status.startTime") > 0;

	if (!ran && u->start_count >= FALSE_STARTS)
		finish(w, u, PBS_EXIT_BEFORE, NULL);
	else if (jsonx_bool_or(u->spec, "rerunnable", true))
		requeue(w, u, why);
	else
		finish(w, u, PBS_EXIT_ABORTED, NULL);
}

static void give_up(struct pbs_work *w, struct pbs_unit *u, int code)
{
	finish(w, u, code, NULL);
	pbs_retry_give_up(u);
}

/* The script's pod has ended. */
static void end(struct pbs_work *w, struct pbs_unit *u)
{
	int code;

	if (!pbs_exit_of(u->now[0], w->v->set, &code))
		lose(w, u, "its node lost it");
	else if (code != w->v->set->requeue_code || !jsonx_bool_or(u->spec, "rerunnable", true))
		finish(w, u, code, u->now[0]);
	else if (pbs_retry(w, u))
		requeue(w, u, "it asked to be run again");
	else
		give_up(w, u, code);
}

/* ---- running ---- */

static bool is_over(const struct pbs_unit *u)
{
	for (int i = 0; i < u->ranks; i++)
		if (u->now[i] && !pod_ended(u->now[i]))
			return false;
	return true;
}

static void cancel_running(struct pbs_work *w, struct pbs_unit *u)
{
	/* It was faster than who wanted to end it. */
	if (u->state != 'E' && u->now[0] && pod_ended(u->now[0]) && !u->now[0]->deleting) {
		end(w, u);
		return;
	}
	u->cancelled = true;
	if (w->purge || is_over(u)) {
		finish(w, u, PBS_EXIT_CANCELLED, NULL);
		return;
	}
	u->state = 'E';
	pbs_drop_pods(w, u->pods, u->n, false, w->delay);
}

/* A pod that is gone, or going, before its job has ended.  True if the job lost it. */
static bool lost_any(struct pbs_work *w, struct pbs_unit *u)
{
	for (int i = 0; i < u->ranks; i++) {
		const struct pod_facts *p = u->now[i];

		if (!p || pod_ended(p))
			return true; /* a sister that ends has failed: it only waits */
		if (p->deleting && left_of(w, p) <= 0)
			return true;
		if (p->deleting)
			pbs_again(w, left_of(w, p));
	}
	return false;
}

/* A limit that a sister ran into ends the whole job. */
static bool sister_ended(struct pbs_work *w, struct pbs_unit *u)
{
	int code;

	for (int i = 1; i < u->ranks; i++)
		if (u->now[i] && u->now[i]->phase == POD_IS_FAILED && pbs_exit_of(u->now[i], w->v->set, &code) &&
		    code < 0) {
			finish(w, u, code, u->now[i]);
			return true;
		}
	return false;
}

static void keep_time(const struct pbs_work *w, struct pbs_unit *u, bool suspended)
{
	if (suspended == (json_object_get(u->run, "suspendTime") != NULL))
		return;
	if (suspended) {
		pbs_set_time(u->run, "suspendTime", w->v->now);
		return;
	}
	json_object_set_new(u->run, "suspendedSeconds", json_integer(pbs_time_suspended(u->run, w->v->now)));
	json_object_del(u->run, "suspendTime");
}

static void suspend(struct pbs_work *w, struct pbs_unit *u)
{
	bool wanted = jsonx_bool_or(u->spec, "suspend", false);
	size_t before = w->p->nmark;

	for (int i = 0; i < u->ranks; i++) {
		const json_t *notes = jsonx_at(u->now[i]->obj, "metadata.annotations");

		if (wanted != (json_object_get(notes, PBS_SUSPEND) != NULL))
			ARRAY_PUSH(w->p->mark, w->p->nmark, w->p->mark_cap,
				   ((struct pbs_mark){ u->now[i], wanted, pbs_time_suspended(u->run, w->v->now) }));
	}
	/* Whether another cluster's pods have heard it is known when they are marked. */
	if (!w->v->set->abroad || w->p->nmark == before) {
		u->state = wanted ? 'S' : 'R';
		keep_time(w, u, wanted);
	}
}

/* Limits of what runs follow the job's; another cluster gives a pod no more time than it was made with. */
static void limit(struct pbs_work *w, struct pbs_unit *u)
{
	const char *cput = jsonx_str_or(u->spec, "resources.cput", "0");
	int64_t seconds;

	if (!pbs_time_parse(jsonx_str_or(u->spec, "resources.walltime", ""), &seconds) || seconds <= 0)
		seconds = 0;
	for (int i = 0; i < u->ranks; i++) {
		const json_t *notes = jsonx_at(u->now[i]->obj, "metadata.annotations");
		int64_t had = jsonx_int_or(u->now[i]->obj, "spec.activeDeadlineSeconds", 0);
		const char *had_cput = json_string_value(json_object_get(notes, PBS_CPUT_NOTE));
		struct pbs_limit l = { .pod = u->now[i] };

		if (seconds != had && !(w->v->set->abroad && had && seconds > had))
			l.seconds = seconds;
		if (!streq(cput, had_cput ? had_cput : "0"))
			l.cput = cput;
		if (l.seconds || l.cput)
			ARRAY_PUSH(w->p->limit, w->p->nlimit, w->p->limit_cap, l);
	}
}

static void tell(struct pbs_work *w, struct pbs_unit *u)
{
	char *nodes = w->v->set->abroad ? pbs_abroad_nodes(u->order, u->index, u->now[0]) : NULL;

	if (nodes)
		ARRAY_PUSH(w->p->tell, w->p->ntell, w->p->tell_cap, ((struct pbs_tell){ u->now[0], nodes }));
}

/* What has nodes counts as running, as in PBS; that it does not is said. */
static void say_stuck(struct pbs_work *w, struct pbs_unit *u)
{
	char why[PBS_COMMENT - sizeof(STUCK)];

	for (int i = 0; i < u->ranks; i++)
		if (pbs_pod_stuck(u->now[i], why, sizeof(why))) {
			snprintf(u->why, sizeof(u->why), STUCK "%s", why);
			return;
		}
	if (*u->why || u->index >= 0 || !str_starts(jsonx_str_or(w->status, "comment", ""), STUCK))
		return;
	pbs_comment_started(time_at(u->run, "startTime"), u->why, sizeof(u->why));
}

static void rerun(struct pbs_work *w, struct pbs_unit *u)
{
	const char *message = jsonx_str_or(w->spec, "rerunMessage", "");
	char why[PBS_COMMENT];

	snprintf(why, sizeof(why), "it is to be run again%s%s", *message ? ": " : "", message);
	requeue(w, u, why);
}

static void run(struct pbs_work *w, struct pbs_unit *u)
{
	if (u->cancel) {
		cancel_running(w, u);
	} else if (u->now[0] && pod_ended(u->now[0])) {
		end(w, u);
	} else if (sister_ended(w, u)) {
		return;
	} else if (lost_any(w, u)) {
		lose(w, u, "its node lost it");
	} else if (jsonx_int_or(u->spec, "rerunAfter", -1) == u->start_count &&
		   jsonx_bool_or(u->spec, "rerunnable", true)) {
		rerun(w, u);
	} else {
		read_session(u);
		suspend(w, u);
		limit(w, u);
		tell(w, u);
		say_stuck(w, u);
	}
}

/* ---- waiting ---- */

/* Pods of earlier runs go first: two runs of a job must not write the same files.  True if there are some. */
static bool await_past(struct pbs_work *w, struct pbs_unit *u)
{
	bool any = false;

	for (size_t i = 0; i < u->n; i++) {
		const struct pod_facts *p = u->pods[i];

		if (pbs_pod_is(p).run == u->start_count)
			continue;
		drop(w, p, -1);
		if (pod_ended(p))
			continue;
		if (!p->deleting || left_of(w, p) > 0)
			any = true;
		if (p->deleting)
			pbs_again(w, left_of(w, p) > 0 ? left_of(w, p) : -1);
	}
	return any;
}

static bool is_stale(const struct pbs_unit *u, const struct pod_facts *p)
{
	const json_t *notes = jsonx_at(p->obj, "metadata.annotations");

	return !p->assigned && !str_same(json_string_value(json_object_get(notes, PBS_FROM_NOTE)), u->order->hash);
}

static void fill(struct pbs_work *w, struct pbs_unit *u)
{
	for (int i = 0; i < u->ranks; i++) {
		const struct pod_facts *p = u->now[i];

		if (p && is_stale(u, p))
			drop(w, p, -1);
		if (!p && w->p->nmake < w->v->create_most)
			ARRAY_PUSH(w->p->make, w->p->nmake, w->p->make_cap,
				   ((struct pbs_new_pod){ u->index, i, u->start_count, u->order }));
	}
}

/* Why it waits: the gate's words, or the scheduler's about the first pod that has some. */
static void explain(const struct pbs_work *w, struct pbs_unit *u)
{
	const struct pbs_view *v = w->v;
	const char *held = v->held ? v->held(v->arg, v->job, u->index, u->start_count) : NULL;

	if (held)
		snprintf(u->why, sizeof(u->why), PBS_NOT_RUNNING "%s", held);
	for (int i = 0; i < u->ranks && !*u->why; i++)
		if (u->now[i] && *pbs_pod_waits(u->now[i]))
			snprintf(u->why, sizeof(u->why), PBS_NOT_RUNNING "%s", pbs_pod_waits(u->now[i]));
	if (!*u->why && w->v->refused)
		snprintf(u->why, sizeof(u->why), PBS_NOT_RUNNING "%s", w->v->refused);
}

static bool all_placed(const struct pbs_unit *u)
{
	for (int i = 0; i < u->ranks; i++)
		if (!u->now[i] || !u->now[i]->assigned || (u->now[i]->deleting && !pod_ended(u->now[i])))
			return false;
	return true;
}

static void cancel_waiting(const struct pbs_work *w, struct pbs_unit *u)
{
	u->state = 'C';
	u->cancelled = true;
	u->has_exit = w->v->set->cancel_code != PBS_NO_CODE;
	u->exit = u->has_exit ? (int)w->v->set->cancel_code : 0;
}

/* A process of one node begins there without waiting for this look. */
static bool is_lone_process(const struct pbs_unit *u)
{
	return u->ranks == 1 && str_same(jsonx_str(u->now[0]->obj, "spec.runtimeClassName"), PBS_HOST_CLASS);
}

static void wait(struct pbs_work *w, struct pbs_unit *u)
{
	bool now = w->stopped && jsonx_bool_or(u->spec, "runNow", false);
	int64_t later = pbs_retry_left(w, u);
	bool may_start = (w->may_start || now) && !later && !u->blocked && !u->cancel;
	bool placed = all_placed(u), lone = placed && is_lone_process(u);
	bool begun = placed && (lone || u->now[0]->phase != POD_IS_PENDING);

	if (lone && may_start && !jsonx_at(u->now[0]->obj, "status.startTime"))
		return; /* the node is about to say that it runs, or that it has run already */
	if (begun || (may_start && placed)) {
		start(w, u);
		run(w, u);
	} else if (u->cancel) {
		cancel_waiting(w, u);
	} else if (!may_start) {
		pbs_drop_pods(w, u->pods, u->n, true, -1);
		if (later)
			pbs_retry_wait(w, u);
	} else if (!await_past(w, u)) {
		fill(w, u);
		explain(w, u);
	}
}

/* ---- */

static void sort_pods(struct pbs_unit *u)
{
	int number = u->state == 'Q' ? u->start_count : u->start_count - 1;

	for (size_t i = 0; i < u->n; i++) {
		struct pbs_pod_is is = pbs_pod_is(u->pods[i]);

		if (is.run == number && is.rank >= 0 && is.rank < u->ranks)
			u->now[is.rank] = u->pods[i];
	}
}

void pbs_unit_plan(struct pbs_work *w, struct pbs_unit *u)
{
	auto_free const struct pod_facts **now = xcalloc((size_t)u->order->nodes.count + 1, sizeof(*now));

	u->ranks = u->order->nodes.count;
	u->now = now;
	sort_pods(u);
	if (u->state == 'Q')
		wait(w, u);
	else
		run(w, u);
	u->now = NULL;
}
