// SPDX-License-Identifier: Apache-2.0
/* outcome.c - see outcome.h
 *
 * What a user was due is summed up as time goes on: at each moment an equal part for each of those who have work.
 */
#include "sched/outcome.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sched/parts.h"

#define TELL_EVERY 64 /* moments */

struct play {
	struct outcome *o;
	struct workload *w;
	struct world *world;
	size_t *user_of; /* by job */
	size_t *order;   /* jobs by arrival */
	size_t arrived;
	size_t told; /* of those that have ended at this moment, so many are counted */
	size_t busy; /* users who have work */
	double part; /* seconds of the machine that were due to one who always had some */
	int64_t last_ms;
	unsigned long moments;
	const struct outcome_progress *progress;
};

/* ---- who ---- */

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct outcome_user *)x)->name, ((const struct outcome_user *)y)->name);
}

static size_t find_user(const struct outcome *o, const char *name)
{
	struct outcome_user key = { .name = name };
	const struct outcome_user *u = bsearch(&key, o->users, o->nusers, sizeof(*o->users), by_name);

	return (size_t)(u - o->users);
}

static void list_users(struct outcome *o, const struct workload *w)
{
	struct map seen;
	size_t cap = 0;

	map_init(&seen, NULL);
	for (size_t i = 0; i < w->n; i++) {
		if (map_find(&seen, w->jobs[i].user))
			continue;
		map_set(&seen, w->jobs[i].user, &seen);
		ARRAY_PUSH(o->users, o->nusers, cap, ((struct outcome_user){ .name = w->jobs[i].user }));
	}
	map_done(&seen);
	if (o->nusers)
		qsort(o->users, o->nusers, sizeof(*o->users), by_name);
}

/* ---- as time goes on ---- */

/* An equal part of the time since then for each user who has work. */
static void promise(struct play *p, int64_t now_ms)
{
	if (p->busy)
		p->part += (double)(now_ms - p->last_ms) / 1000 / (double)p->busy;
	p->last_ms = now_ms;
}

static void user_came(struct play *p, struct outcome_user *u)
{
	if (u->left++ > 0)
		return;
	p->busy++;
	u->promised -= p->part;
}

static void user_left(struct play *p, struct outcome_user *u)
{
	if (--u->left > 0)
		return;
	p->busy--;
	u->promised += p->part;
}

/* Who has arrived by now, and who has ended. */
static void catch_up(struct play *p, const struct sim *s, int64_t now_ms)
{
	const struct sim_job *const *ended;
	size_t n = sim_ended(s, &ended);

	while (p->arrived < p->w->n && p->w->jobs[p->order[p->arrived]].submit_ms <= now_ms)
		user_came(p, &p->o->users[p->user_of[p->order[p->arrived++]]]);
	/* A moment may have several passes; the list of those that end then grows. */
	for (; p->told < n; p->told++, p->o->done++)
		user_left(p, &p->o->users[p->user_of[ended[p->told] - p->w->jobs]]);
}

static bool on_moment(void *arg, struct sim *s, int64_t now_ms)
{
	struct play *p = arg;

	if (now_ms != p->last_ms)
		p->told = 0;
	promise(p, now_ms);
	catch_up(p, s, now_ms);
	if (p->progress && p->progress->tell && ++p->moments % TELL_EVERY == 0)
		return p->progress->tell(p->progress->arg, p->o->done, p->w->n, now_ms);
	return true;
}

/* ---- sums ---- */

static int by_number(const void *x, const void *y)
{
	double a = *(const double *)x;
	double b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static struct outcome_waits waits_of(double *waits, size_t n)
{
	struct outcome_waits w = { 0 };

	if (!n)
		return w;
	qsort(waits, n, sizeof(*waits), by_number);
	for (size_t i = 0; i < n; i++)
		w.mean += waits[i] / (double)n;
	w.median = waits[n / 2];
	w.p95 = waits[(n - 1) * 95 / 100];
	w.most = waits[n - 1];
	return w;
}

/* user SIZE_MAX: of all. */
static struct outcome_waits collect_waits(const struct play *p, size_t user, double *room)
{
	size_t n = 0;

	for (size_t i = 0; i < p->w->n; i++) {
		const struct sim_job *j = &p->w->jobs[i];

		if ((user == SIZE_MAX || p->user_of[i] == user) && j->start_ms != TIME_UNKNOWN)
			room[n++] = (double)(j->start_ms - j->submit_ms) / 1000;
	}
	return waits_of(room, n);
}

static double used_by(const struct outcome *o, const struct sim_job *j)
{
	if (o->gpus)
		return j->gpu_seconds;
	if (j->start_ms == TIME_UNKNOWN || j->end_ms == TIME_UNKNOWN)
		return 0;
	return (double)(j->end_ms - j->start_ms) / 1000 * (double)j->cpu_milli / 1000 * (double)j->members;
}

static void sum_up(struct play *p)
{
	struct outcome *o = p->o;
	double *room = xcalloc(p->w->n + 1, sizeof(*room));
	double used = 0;
	double promised = 0;

	for (size_t i = 0; i < p->w->n; i++) {
		const struct sim_job *j = &p->w->jobs[i];
		struct outcome_user *u = &o->users[p->user_of[i]];

		u->jobs++;
		u->used += used_by(o, j);
		used += used_by(o, j);
		o->evictions += j->evictions;
		o->never += j->start_ms == TIME_UNKNOWN;
		if (j->end_ms != TIME_UNKNOWN && j->end_ms > o->to_ms)
			o->to_ms = j->end_ms;
	}
	for (size_t i = 0; i < o->nusers; i++) {
		o->users[i].waits = collect_waits(p, i, room);
		o->users[i].promised += o->users[i].left ? p->part : 0; /* who never got all he asked for */
		promised += o->users[i].promised;
	}
	for (size_t i = 0; i < o->nusers; i++) {
		o->users[i].had = used > 0 ? o->users[i].used / used : 0;
		o->users[i].due = promised > 0 ? o->users[i].promised / promised : 0;
	}
	o->waits = collect_waits(p, SIZE_MAX, room);
	if (o->to_ms > o->from_ms && o->capacity > 0)
		o->utilisation = used / o->capacity / ((double)(o->to_ms - o->from_ms) / 1000);
	free(room);
}

/* ---- the run ---- */

static int by_arrival(const void *x, const void *y, void *arg)
{
	const struct sim_job *jobs = arg;
	const struct sim_job *a = &jobs[*(const size_t *)x];
	const struct sim_job *b = &jobs[*(const size_t *)y];

	return a->submit_ms < b->submit_ms ? -1 : a->submit_ms > b->submit_ms;
}

static struct world *build(const struct workload *w, const json_t *nodes, const struct world_config *config)
{
	struct world *world = world_new(config);
	const char *name;
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)nodes, i, v)
		world_set_node(world, v);
	world_queue(world, "batch", NULL);
	for (i = 0; i < w->n; i++)
		if (!world_find_queue(world, w->jobs[i].queue))
			world_queue(world, w->jobs[i].queue, NULL);
	json_object_foreach (w->queues, name, v)
		world_queue(world, name, v);
	return world;
}

static void prepare(struct play *p)
{
	p->user_of = xcalloc(p->w->n + 1, sizeof(*p->user_of));
	p->order = xcalloc(p->w->n + 1, sizeof(*p->order));
	for (size_t i = 0; i < p->w->n; i++) {
		p->order[i] = i;
		p->user_of[i] = find_user(p->o, p->w->jobs[i].user);
	}
	qsort_r(p->order, p->w->n, sizeof(*p->order), by_arrival, p->w->jobs);
	p->o->from_ms = p->o->to_ms = p->last_ms = p->w->n ? p->w->jobs[p->order[0]].submit_ms : 0;
}

void outcome_run(struct outcome *o, struct workload *w, const json_t *nodes, const struct world_config *config,
		 const struct outcome_progress *progress)
{
	struct play p = { .o = o, .w = w, .progress = progress };
	struct sim *sim;

	*o = (struct outcome){ .jobs = w->n };
	list_users(o, w);
	prepare(&p);
	p.world = build(w, nodes, config);
	o->gpus = space_total(world_space(p.world), RESOURCE_GPU) > 0;
	o->capacity = o->gpus ? (double)space_total(world_space(p.world), RESOURCE_GPU)
			      : (double)space_total(world_space(p.world), RESOURCE_CPU) / 1000;
	sim = sim_new(p.world, o->from_ms);
	for (size_t i = 0; i < w->n; i++)
		sim_add(sim, &w->jobs[p.order[i]]);
	sim_run(sim, TIME_UNKNOWN - 1, &(struct sim_watch){ .moment = on_moment, .arg = &p });
	sum_up(&p);
	sim_free(sim);
	world_free(p.world);
	free(p.user_of);
	free(p.order);
}

void outcome_done(struct outcome *o)
{
	free(o->users);
	*o = (struct outcome){ 0 };
}

static json_t *waits_json(const struct outcome_waits *w)
{
	return json_pack("{s:f,s:f,s:f,s:f}", "mean", w->mean, "median", w->median, "p95", w->p95, "max", w->most);
}

json_t *outcome_json(const struct outcome *o)
{
	json_t *users = json_array();

	for (size_t i = 0; i < o->nusers; i++) {
		const struct outcome_user *u = &o->users[i];

		json_array_append_new(users, json_pack("{s:s,s:I,s:f,s:f,s:f,s:o}", "user", u->name, "jobs",
						       (json_int_t)u->jobs, o->gpus ? "gpuSeconds" : "cpuSeconds",
						       u->used, "shareDue", u->due, "shareHad", u->had, "waitSeconds",
						       waits_json(&u->waits)));
	}
	return json_pack("{s:I,s:I,s:I,s:f,s:s,s:f,s:f,s:o,s:o}", "jobs", (json_int_t)o->jobs, "neverStarted",
			 (json_int_t)o->never, "evictions", (json_int_t)o->evictions, "capacity", o->capacity, "unit",
			 o->gpus ? "gpu" : "cpu", "utilisation", o->utilisation, "makespanSeconds",
			 (double)(o->to_ms - o->from_ms) / 1000, "waitSeconds", waits_json(&o->waits), "users", users);
}
