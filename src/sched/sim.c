// SPDX-License-Identifier: Apache-2.0
/* sim.c - see sim.h: two queues of what happens next, and the world between them */
#include "sched/sim.h"

#include <stdlib.h>

#include "base/mem.h"

/* One job on its way; work->arg points here. */
struct run {
	struct sim_job *job;
	struct work *work; /* NULL: not submitted yet, or over */
	int64_t at_ms;     /* when it arrives, or ends */
	size_t number;     /* as they were added */
	int64_t began_ms;
	size_t heap_at;
};

/* The earliest on top; those of the same moment as they were added. */
struct heap {
	struct run **items;
	size_t n, cap;
};

struct sim {
	struct world *world;
	int64_t now_ms;
	struct run **runs; /* all of them, to be freed */
	size_t nruns, cap_runs;
	struct heap arrivals, endings;
	const struct sim_job **ended; /* at this moment */
	size_t nended, cap_ended;
	bool (*stop)(void *arg);
	void *stop_arg;
};

/* ---- heaps ---- */

static bool comes_before(const struct run *a, const struct run *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->number < b->number;
}

static void heap_put(struct heap *h, size_t at, struct run *r)
{
	h->items[at] = r;
	r->heap_at = at;
}

static void heap_settle(struct heap *h, size_t at)
{
	struct run *r = h->items[at];

	while (at > 0 && comes_before(r, h->items[(at - 1) / 2])) {
		heap_put(h, at, h->items[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
		if (child + 1 < h->n && comes_before(h->items[child + 1], h->items[child]))
			child++;
		if (!comes_before(h->items[child], r))
			break;
		heap_put(h, at, h->items[child]);
	}
	heap_put(h, at, r);
}

static void heap_add(struct heap *h, struct run *r)
{
	ARRAY_PUSH(h->items, h->n, h->cap, r);
	r->heap_at = h->n - 1;
	heap_settle(h, r->heap_at);
}

static void heap_remove(struct heap *h, struct run *r)
{
	size_t at = r->heap_at;
	struct run *last = h->items[--h->n];

	if (last == r)
		return;
	heap_put(h, at, last);
	heap_settle(h, at);
}

static int64_t heap_next(const struct heap *h)
{
	return h->n ? h->items[0]->at_ms : TIME_UNKNOWN;
}

/* ---- jobs ---- */

static struct run *run_new(struct sim *s, struct sim_job *j)
{
	struct run *r = xcalloc(1, sizeof(*r));

	r->job = j;
	j->start_ms = j->end_ms = TIME_UNKNOWN;
	j->evictions = 0;
	j->gpu_seconds = 0;
	r->number = s->nruns;
	ARRAY_PUSH(s->runs, s->nruns, s->cap_runs, r);
	return r;
}

void sim_add(struct sim *s, struct sim_job *j)
{
	struct run *r = run_new(s, j);

	r->at_ms = j->submit_ms;
	heap_add(&s->arrivals, r);
}

/* How long it lasts once it runs. */
static int64_t lasts(const struct sim_job *j)
{
	return j->walltime_ms != WALLTIME_NONE && j->walltime_ms < j->run_ms ? j->walltime_ms : j->run_ms;
}

static void begin(struct sim *s, struct run *r, int64_t start_ms, int64_t end_ms)
{
	r->began_ms = start_ms;
	r->job->start_ms = start_ms;
	r->at_ms = end_ms;
	if (end_ms != TIME_UNKNOWN)
		heap_add(&s->endings, r);
}

void sim_adopt(struct sim *s, struct work *work, struct sim_job *j)
{
	int64_t end_ms = j->end_ms;
	struct run *r = run_new(s, j);

	r->work = work;
	work->arg = r;
	if (work_has_begun(work))
		begin(s, r, work->started_ms, end_ms < s->now_ms ? s->now_ms : end_ms);
}

static void submit(struct sim *s, struct run *r)
{
	const struct sim_job *j = r->job;
	struct space *space = world_space(s->world);
	struct work_facts facts = {
		.key = j->key,
		.queue = j->queue,
		.user = j->user,
		.group = j->group,
		.priority = j->priority,
		.submitted_ms = j->submit_ms,
		.walltime_ms = j->walltime_ms,
		.may_preempt = true,
		.may_requeue = true,
		.size = j->members,
	};

	r->work = world_work(s->world, &facts);
	r->work->arg = r;
	for (size_t i = 0; i < j->members; i++) {
		char id[32];

		snprintf(id, sizeof(id), "%zu", i);
		work_member(s->world, r->work, id,
			    space_shape_plain(space, j->cpu_milli, j->memory, j->gpus, j->model));
	}
}

/* The work is gone with its last member. */
static void remove_work(struct sim *s, struct run *r)
{
	struct work *work = r->work;

	r->work = NULL;
	for (size_t left = work->n; left > 0; left--)
		work_gone(s->world, work, work->members[left - 1].id, s->now_ms);
}

static void account(const struct sim *s, struct run *r)
{
	struct sim_job *j = r->job;

	j->gpu_seconds += (double)(s->now_ms - r->began_ms) / 1000 * (double)j->gpus * (double)j->members;
}

static void end(struct sim *s, struct run *r)
{
	account(s, r);
	r->job->end_ms = s->now_ms;
	ARRAY_PUSH(s->ended, s->nended, s->cap_ended, r->job);
	remove_work(s, r);
}

/* ---- decisions ---- */

/* It runs again from its beginning, if somebody would start it again. */
static void evict(struct sim *s, struct run *r)
{
	bool again = r->work->may_requeue;

	if (r->at_ms != TIME_UNKNOWN)
		heap_remove(&s->endings, r);
	r->job->evictions++;
	if (!again) {
		end(s, r);
		return;
	}
	account(s, r);
	r->job->start_ms = TIME_UNKNOWN;
	remove_work(s, r);
	submit(s, r);
}

static void carry_out(struct sim *s, const struct decision *d)
{
	struct run *r = d->work->arg;

	if (d->what == DECIDE_EVICT) {
		evict(s, r);
		return;
	}
	for (size_t i = 0; i < d->work->n; i++) {
		struct member *m = &d->work->members[i];

		if (m->fresh)
			work_bound(s->world, d->work, m->id, node_name(m->seat.node), m->seat.cards, s->now_ms);
		m->fresh = false;
	}
	if (r->job->start_ms == TIME_UNKNOWN) {
		int64_t end_ms;

		if (__builtin_add_overflow(s->now_ms, lasts(r->job), &end_ms))
			end_ms = TIME_UNKNOWN;
		begin(s, r, s->now_ms, end_ms);
	}
}

static bool is_stopped(const struct sim *s)
{
	return s->stop && s->stop(s->stop_arg);
}

/* False: it was stopped on the way. */
static bool decide(struct sim *s, int64_t *ret_next_ms)
{
	struct world_slice slice = { .now_ms = s->now_ms, .most = SIZE_MAX, .stop = s->stop, .arg = s->stop_arg };
	struct decisions d = { 0 };
	bool more;

	do {
		world_pass(s->world, &slice, &d);
		for (size_t i = 0; i < d.n; i++)
			carry_out(s, &d.items[i]);
		more = d.more || d.n;
	} while (more && !is_stopped(s));
	*ret_next_ms = d.next_ms;
	decisions_done(&d);
	return !more;
}

/* ---- time ---- */

struct sim *sim_new(struct world *w, int64_t now_ms)
{
	struct sim *s = xcalloc(1, sizeof(*s));

	s->world = w;
	s->now_ms = now_ms;
	return s;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nruns; i++)
		free(s->runs[i]);
	free(s->runs);
	free(s->arrivals.items);
	free(s->endings.items);
	free(s->ended);
	free(s);
}

void sim_set_stop(struct sim *s, bool (*stop)(void *arg), void *arg)
{
	s->stop = stop;
	s->stop_arg = arg;
}

size_t sim_ended(const struct sim *s, const struct sim_job *const **ret)
{
	*ret = s->ended;
	return s->nended;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What ends or arrives by now.  Before the first decision too: who is on his way out must not be evicted once more. */
static void happen(struct sim *s)
{
	while (heap_next(&s->endings) <= s->now_ms) {
		struct run *r = s->endings.items[0];

		heap_remove(&s->endings, r);
		end(s, r);
	}
	while (heap_next(&s->arrivals) <= s->now_ms) {
		struct run *r = s->arrivals.items[0];

		heap_remove(&s->arrivals, r);
		submit(s, r);
	}
}

int64_t sim_run(struct sim *s, int64_t until_ms, const struct sim_watch *watch)
{
	for (;;) {
		int64_t next;

		happen(s);
		if (!decide(s, &next))
			return s->now_ms;
		if (watch && !watch->moment(watch->arg, s, s->now_ms))
			return s->now_ms;
		next = earlier(next, earlier(heap_next(&s->arrivals), heap_next(&s->endings)));
		if (next == TIME_UNKNOWN || next > until_ms)
			return s->now_ms;
		if (next > s->now_ms)
			s->nended = 0;
		s->now_ms = next > s->now_ms ? next : s->now_ms;
	}
}
