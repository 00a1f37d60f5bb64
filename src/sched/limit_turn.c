// SPDX-License-Identifier: Apache-2.0
/* limit_turn.c - what a limit of a queue leaves is kept for work that has waited long for it; pure
 *
 * A large work that a limit holds back would wait for ever if smaller ones went on starting under that limit.  So when
 * it is old (world_config.patience_ms) the limit is its own from then on: whoever would still be there when enough of
 * what runs has ended, by its walltime, does not start.  If that moment cannot be told because work without a walltime
 * stands in the way, nothing is kept: it might be for ever.
 *
 * Of each scope of a queue's limits there is one such work at a time, the first in line.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sched/world_parts.h"

/* In one pass: for each all that runs is looked at. */
#define LOOKS_MOST 4

static bool is_of_scope(const struct work *a, const struct work *b, enum limit_scope scope)
{
	return scope == LIMIT_TOTAL ||
	       streq(scope == LIMIT_PER_USER ? a->user : a->group, scope == LIMIT_PER_USER ? b->user : b->group);
}

struct relief {
	int64_t at_ms, amount;
};

static int by_time(const void *x, const void *y)
{
	const struct relief *a = x;
	const struct relief *b = y;

	return a->at_ms < b->at_ms ? -1 : a->at_ms > b->at_ms;
}

/* When there is room for it under the limit, TIME_UNKNOWN. */
static int64_t lifted(const struct world *w, const struct work *work, int64_t now_ms)
{
	const struct limit_hit *hit = &work->hit;
	auto_free struct relief *all = xcalloc(w->nrunning + 1, sizeof(*all));
	int64_t lacks = hit->used + work->asks.v[hit->of] - hit->most;
	size_t n = 0;

	for (size_t i = 0; i < w->nrunning; i++) {
		const struct work *r = w->running[i];

		if (r->queue == work->queue && is_of_scope(r, work, hit->scope))
			all[n++] = (struct relief){ work_ends_by(r, now_ms), r->counted.v[hit->of] };
	}
	qsort(all, n, sizeof(*all), by_time);
	for (size_t i = 0; i < n; i++) {
		lacks -= all[i].amount;
		if (lacks <= 0)
			return all[i].at_ms;
	}
	return TIME_UNKNOWN;
}

void limit_keep(struct world *w, struct work *work, int64_t now_ms)
{
	struct limit_turn *turn = &work->queue->turns[work->hit.scope];
	int64_t at_ms;

	if (turn->work || work->hit_server || now_ms - work->submitted_ms < w->config.patience_ms ||
	    w->limit_looks >= LOOKS_MOST)
		return;
	w->limit_looks++;
	w->backfill.searches++; /* it takes as long as looking ahead */
	at_ms = lifted(w, work, now_ms);
	if (at_ms >= TIME_UNKNOWN - OVERDUE_MS)
		return;
	*turn = (struct limit_turn){ .work = work, .at_ms = at_ms, .of = work->hit.of };
	/* Should it not be so then. */
	w->next_ms = at_ms + OVERDUE_MS < w->next_ms ? at_ms + OVERDUE_MS + 1 : w->next_ms;
}

const struct limit_turn *limit_kept_for(const struct work *work, int64_t now_ms)
{
	if (work->run_now)
		return NULL;
	for (int scope = 0; scope < LIMIT_SCOPE__COUNT; scope++) {
		const struct limit_turn *turn = &work->queue->turns[scope];

		if (turn->work && turn->work != work && work->asks.v[turn->of] &&
		    is_of_scope(turn->work, work, scope) && work_end(work, now_ms) > turn->at_ms)
			return turn;
	}
	return NULL;
}

void limit_forget(const struct work *work)
{
	for (int scope = 0; work->queue && scope < LIMIT_SCOPE__COUNT; scope++)
		if (work->queue->turns[scope].work == work)
			work->queue->turns[scope] = (struct limit_turn){ 0 };
}
