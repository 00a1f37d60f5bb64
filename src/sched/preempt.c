// SPDX-License-Identifier: Apache-2.0
/* preempt.c - see preempt.h
 *
 * Tried out in the space and undone: victims rise, cheapest first and in growing numbers, until the work fits; then
 * each of them sits down again, the dearest first, unless the work no longer fits.
 */
#include "sched/preempt.h"

#include <stdint.h>

#include "base/mem.h"
#include "sched/world.h"

#define TRIES 32 /* sets of victims that budgets forbid before one gives up */

/* A victim, and where its members sat. */
struct victim {
	struct work *work;
	double price;
	struct seat *seats; /* NULL: it was never asked to go */
	bool gone;
};

static bool is_lower(const struct work *a, const struct work *b)
{
	if (a->queue->priority != b->queue->priority)
		return a->queue->priority < b->queue->priority;
	return a->priority < b->priority;
}

/* What went before all of its queue's priority because of its age is not evicted for one of those. */
static bool is_old(const struct work *a, const struct work *b)
{
	return a->boosted && !b->boosted && a->queue->priority == b->queue->priority;
}

/* What is lost with it: the part of the machine that it used, times how long. */
static double price_of(const struct work *w, int64_t now_ms)
{
	return w->cost * (double)(now_ms > w->started_ms ? now_ms - w->started_ms : 0);
}

/* Dearest last. */
static int by_price(const void *x, const void *y)
{
	const struct victim *a = x;
	const struct victim *b = y;

	if (is_lower(a->work, b->work) || is_lower(b->work, a->work))
		return is_lower(a->work, b->work) ? -1 : 1;
	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	return a->work->cost < b->work->cost ? -1 : a->work->cost > b->work->cost;
}

static bool find_seat(const struct preempt_view *v, struct seat *seat)
{
	if (!space_find(v->space, seat, v->filter))
		return false;
	if (v->check)
		backfill_take(v->check, seat, 1);
	return true;
}

static bool fits(const struct preempt_view *v, struct work *w)
{
	struct quota_hit hit;
	size_t least = work_has_begun(w) ? w->nseated + 1 : w->size;
	auto_free struct seat **tried = xcalloc(w->n + 1, sizeof(*tried));
	size_t mark = space_mark(v->space);
	size_t missing = 0;
	size_t found = 0;
	size_t ntried = 0;

	if (!work_has_begun(w) && quota_exceeded(v->queues, w->queue, &w->asks, &hit))
		least = SIZE_MAX;
	for (size_t i = 0; i < w->n && w->n - missing >= least; i++) {
		struct seat *seat = &w->members[i].seat;

		if (seat->node)
			found++;
		else if (find_seat(v, seat))
			tried[ntried++] = seat;
		else
			missing++;
	}
	found += ntried;
	while (v->check && ntried)
		backfill_take(v->check, tried[--ntried], -1);
	space_undo(v->space, mark);
	return found >= least;
}

static void yield(const struct preempt_view *v, struct victim *victim, bool gone)
{
	struct work *w = victim->work;

	victim->gone = gone;
	/* What was waited for in this pass has left its room to the reservations already. */
	for (size_t i = 0; v->check && w->soon_pass != v->pass && i < w->n; i++)
		backfill_yield(v->check, w, &victim->seats[i], gone ? 1 : -1);
}

static void evict(const struct preempt_view *v, struct victim *victim)
{
	struct work *w = victim->work;

	victim->seats = xcalloc(w->n, sizeof(*victim->seats));
	for (size_t i = 0; i < w->n; i++) {
		victim->seats[i] = w->members[i].seat;
		if (w->members[i].seat.node)
			space_rise(v->space, &w->members[i].seat);
	}
	quota_count(w, -1);
	yield(v, victim, true);
}

static void spare(const struct preempt_view *v, struct victim *victim)
{
	struct work *w = victim->work;

	for (size_t i = 0; i < w->n; i++)
		if (victim->seats[i].node)
			space_sit(v->space, &w->members[i].seat, victim->seats[i].node, victim->seats[i].cards);
	quota_count(w, 1);
	yield(v, victim, false);
}

/* Whether it may go for the other's sake, now that those before it have gone. */
static bool may_go(const struct work *r, const struct work *w)
{
	bool any;

	return quota_may_evict(w, r, &any) && (any || (is_lower(r, w) && !is_old(r, w)));
}

/* In growing steps, because asking whether it fits is what costs. */
static size_t evict_until_it_fits(const struct preempt_view *v, struct work *w, struct victim *victims, size_t n)
{
	size_t step = 1;
	size_t gone = 0;

	while (gone < n) {
		for (size_t i = 0; i < step && gone < n; gone++)
			if (may_go(victims[gone].work, w)) {
				evict(v, &victims[gone]);
				i++;
			}
		if (fits(v, w))
			return gone;
		step *= 2;
	}
	return 0;
}

static void spare_who_need_not_go(const struct preempt_view *v, struct work *w, struct victim *victims, size_t n)
{
	while (n-- > 0) {
		size_t mark;

		if (!victims[n].gone)
			continue;
		mark = space_mark(v->space);
		spare(v, &victims[n]);
		if (fits(v, w)) {
			space_keep(v->space, mark);
			continue;
		}
		space_undo(v->space, mark);
		quota_count(victims[n].work, -1);
		yield(v, &victims[n], true);
	}
}

static size_t collect(const struct preempt_view *v, const struct work *w, bool all, struct victim *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		struct work *r = v->running[i];

		if (r->evicted_for || !may_go(r, w) || (!all && !r->may_requeue) ||
		    (v->may_evict && !v->may_evict(v->arg, &r, 1)))
			continue;
		ret[n++] = (struct victim){ .work = r, .price = price_of(r, v->now_ms) };
	}
	qsort(ret, n, sizeof(*ret), by_price);
	return n;
}

/* When it ends, or may be evicted. */
static int64_t spared_until(const struct preempt_view *v, const struct work *r)
{
	int64_t end_ms = work_end(r, r->started_ms);
	int64_t young_ms = r->started_ms + v->young_ms;

	return young_ms > v->now_ms && young_ms < end_ms ? young_ms : end_ms;
}

/* Whom to wait for; until when. */
static int64_t mark_those_that_end(const struct preempt_view *v, const struct work *w)
{
	int64_t last_ms = TIME_UNKNOWN;

	for (size_t i = 0; i < v->n; i++) {
		struct work *r = v->running[i];
		int64_t end_ms = r->evicted_for || !may_go(r, w) ? TIME_UNKNOWN : spared_until(v, r);

		r->ends_soon = end_ms != TIME_UNKNOWN && end_ms > v->now_ms && end_ms - v->now_ms <= PREEMPT_SOON_MS;
		if (r->ends_soon && (last_ms == TIME_UNKNOWN || end_ms > last_ms))
			last_ms = end_ms;
	}
	return last_ms;
}

static bool goes_anyway(const struct work *r)
{
	return r->evicted_for || r->ends_soon;
}

/* Those that are going already are as good as gone. */
static void let_go(const struct preempt_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		struct work *r = v->running[i];

		if (!goes_anyway(r))
			continue;
		quota_count(r, -1);
		for (size_t k = 0; k < r->n; k++) {
			if (v->check && r->ends_soon && r->soon_pass != v->pass)
				backfill_yield(v->check, r, &r->members[k].seat, 1);
			if (r->members[k].seat.node)
				space_rise(v->space, &r->members[k].seat);
		}
	}
}

/* The space is as it was already. */
static void take_back(const struct preempt_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		struct work *r = v->running[i];

		if (!goes_anyway(r))
			continue;
		quota_count(r, 1);
		for (size_t k = 0; v->check && r->ends_soon && r->soon_pass != v->pass && k < r->n; k++)
			backfill_yield(v->check, r, &r->members[k].seat, -1);
	}
}

/* Whether it is enough to wait for those that end soon; until when, else TIME_UNKNOWN. */
static int64_t soon_enough(const struct preempt_view *v, struct work *w)
{
	int64_t soon_ms = mark_those_that_end(v, w);
	size_t mark = space_mark(v->space);
	bool enough = false;

	if (soon_ms != TIME_UNKNOWN) {
		let_go(v);
		enough = fits(v, w);
	}
	space_undo(v->space, mark);
	if (soon_ms != TIME_UNKNOWN)
		take_back(v);
	for (size_t i = 0; !enough && i < v->n; i++)
		v->running[i]->ends_soon = false;
	return enough ? soon_ms : TIME_UNKNOWN;
}

static size_t choose_among(const struct preempt_view *v, struct work *w, struct victim *victims, size_t n,
			   struct work **ret)
{
	size_t mark = space_mark(v->space);
	size_t gone = evict_until_it_fits(v, w, victims, n);
	size_t chosen = 0;

	spare_who_need_not_go(v, w, victims, gone);
	for (size_t i = 0; i < gone; i++)
		if (victims[i].gone)
			ret[chosen++] = victims[i].work;
	space_undo(v->space, mark);
	for (size_t i = 0; i < n; i++) {
		if (victims[i].gone) {
			quota_count(victims[i].work, 1);
			yield(v, &victims[i], false);
		}
		free(victims[i].seats);
		victims[i].seats = NULL;
	}
	return chosen;
}

/* The first with whom it is too much for a budget, or NULL. */
static const struct work *over_budget(const struct preempt_view *v, struct work *const *works, size_t n)
{
	for (size_t i = 1; v->may_evict && i < n; i++)
		if (!v->may_evict(v->arg, works, i + 1))
			return works[i];
	return NULL;
}

/* Each alone may go, but a budget may not have enough for all that were chosen: then others are looked for. */
static size_t choose(const struct preempt_view *v, struct work *w, bool all, struct work **ret)
{
	struct victim *victims = xcalloc(v->n + 1, sizeof(*victims));
	size_t n = collect(v, w, all, victims);
	size_t chosen = 0;

	for (int i = 0; i < TRIES; i++) {
		const struct work *spared;
		size_t left = 0;

		chosen = choose_among(v, w, victims, n, ret);
		spared = over_budget(v, ret, chosen);
		if (!spared)
			break;
		for (size_t k = 0; k < n; k++)
			if (victims[k].work != spared)
				victims[left++] = victims[k];
		n = left;
		chosen = 0;
	}
	free(victims);
	return chosen;
}

size_t preempt_plan(const struct preempt_view *v, struct work *w, struct work ***ret_victims, int64_t *ret_soon)
{
	size_t mark;
	size_t n = 0;

	*ret_victims = xcalloc(v->n + 1, sizeof(**ret_victims));
	*ret_soon = soon_enough(v, w);
	if (*ret_soon != TIME_UNKNOWN)
		return 0;
	mark = space_mark(v->space);
	let_go(v);
	if (!fits(v, w)) {
		size_t inner = space_mark(v->space);

		n = choose(v, w, false, *ret_victims);
		space_undo(v->space, inner);
		if (!n)
			n = choose(v, w, true, *ret_victims);
	}
	space_undo(v->space, mark);
	take_back(v);
	return n;
}

/* Budgets matter only if they would not let all go that may. */
static bool all_may_go(const struct preempt_view *v, const struct work *w)
{
	auto_free struct work **lower = xcalloc(v->n + 1, sizeof(*lower));
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++)
		if (!v->running[i]->evicted_for && may_go(v->running[i], w))
			lower[n++] = v->running[i];
	return v->may_evict(v->arg, lower, n);
}

bool preempt_is_forbidden(const struct preempt_view *v, struct work *w)
{
	struct preempt_view free = *v;
	auto_free bool *soon = NULL;
	auto_free struct work **victims = NULL;
	int64_t soon_ms;
	size_t n;

	if (!v->may_evict || all_may_go(v, w))
		return false;
	/* Asking is not planning: what the last plan found out about who ends soon stays. */
	soon = xcalloc(v->n + 1, sizeof(*soon));
	for (size_t i = 0; i < v->n; i++)
		soon[i] = v->running[i]->ends_soon;
	free.may_evict = NULL;
	n = preempt_plan(&free, w, &victims, &soon_ms);
	for (size_t i = 0; i < v->n; i++)
		v->running[i]->ends_soon = soon[i];
	return n > 0;
}
