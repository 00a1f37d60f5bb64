// SPDX-License-Identifier: Apache-2.0
/* queue_count.c - how many works of a queue are held, and which wait for a time
 *
 * Kept up to date with every change of a work, since a million of them cannot be counted whenever somebody asks.  What
 * waits for a time stops to do so by itself: those are few, and are looked at.
 */
#include "base/mem.h"
#include "sched/world_parts.h"

enum { PLAIN, HELD, DATED };

static int standing_of(const struct work *work)
{
	if (work_has_begun(work))
		return PLAIN;
	if (work->holds & ~(unsigned)HOLD_MEMBERS)
		return HELD;
	return work->not_before_ms ? DATED : PLAIN;
}

void work_uncount(struct world *w, struct work *work)
{
	if (work->standing == HELD)
		work->queue->held--;
	if (work->standing == DATED) {
		struct work *last = w->dated[--w->ndated];

		w->dated[work->dated_at] = last;
		last->dated_at = work->dated_at;
	}
	work->standing = PLAIN;
}

void work_recount(struct world *w, struct work *work)
{
	int standing = standing_of(work);

	if (standing == work->standing)
		return;
	work_uncount(w, work);
	work->standing = standing;
	if (standing == HELD)
		work->queue->held++;
	if (standing == DATED) {
		ARRAY_PUSH(w->dated, w->ndated, w->cap_dated, work);
		work->dated_at = w->ndated - 1;
	}
}

struct queue_counts world_count(const struct world *w, const struct queue *q, int64_t now_ms)
{
	struct queue_counts c = { .total = q->works, .running = q->running, .held = q->held };

	for (size_t i = 0; i < w->ndated; i++)
		c.waiting += w->dated[i]->queue == q && w->dated[i]->not_before_ms > now_ms;
	c.queued = c.total - c.running - c.held - c.waiting;
	return c;
}

void world_each_queue(struct world *w, bool (*each)(void *arg, struct queue *q), void *arg)
{
	size_t pos = 0;
	void *q;

	while (map_next(&w->queues, &pos, NULL, &q))
		if (!each(arg, q))
			return;
}
