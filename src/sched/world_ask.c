// SPDX-License-Identifier: Apache-2.0
/* world_ask.c - see world_ask.h: everything is tried in the space, on seats of our own, and undone */
#include "sched/world_ask.h"

#include "base/mem.h"
#include "sched/parts.h"
#include "sched/world_parts.h"

uint64_t world_pass_under_way(const struct world *w)
{
	return w->passing ? w->pass : 0;
}

bool world_is_passing(const struct world *w)
{
	return w->passing;
}

bool world_has_held(const struct world *w)
{
	size_t twice = 0; /* runs, and waits for more pods */

	for (size_t i = 0; i < w->nrunning; i++)
		twice += w->running[i]->turn.leaf != NULL;
	return w->works.n > w->nrunning + fair_waiting(w->fair) - twice;
}

size_t work_needs(const struct work *work)
{
	return work_has_begun(work) || !work->size ? 1 : work->size;
}

int64_t work_wants(const struct work *work, size_t resource)
{
	int64_t sum = 0;

	for (size_t i = 0; i < work->n; i++)
		sum += shape_wants(work->members[i].seat.shape, resource);
	return sum;
}

size_t work_exceeds_machine(const struct space *s, const struct work *work)
{
	/* Of more members than must start at once nobody knows which. */
	if (work->size < 2 || work->n > work->size || work_has_begun(work))
		return SIZE_MAX;
	for (size_t r = 0; r < space_resources(s); r++)
		if (r != RESOURCE_PODS && work_wants(work, r) > space_whole(s, r))
			return space_count_nodes(s) ? r : SIZE_MAX;
	return SIZE_MAX;
}

size_t world_room(struct world *w, const struct work *work, int64_t now_ms, int64_t end_ms, bool reservations)
{
	auto_free struct seat *seats = xcalloc(work->n + 1, sizeof(*seats));
	struct permit p = permit_for(w, work, now_ms);
	struct space_filter filter = { .allows = permit_allows, .arg = &p };
	size_t mark = space_mark(w->space);
	size_t found = 0;

	p.check.end_ms = end_ms;
	p.reservations = reservations;
	for (size_t i = 0; i < work->n; i++) {
		if (work->members[i].seat.node)
			continue;
		seats[i].shape = work->members[i].seat.shape;
		found += space_find(w->space, &seats[i], &filter);
	}
	space_undo(w->space, mark);
	return found;
}

/* Room only shrinks with the time for which it is wanted, and only where a reservation begins. */
int64_t world_longest(struct world *w, const struct work *work, int64_t now_ms)
{
	int64_t longest = 0;

	for (size_t i = 0; i < w->backfill.n; i++) {
		int64_t at_ms = w->backfill.items[i].start_ms;

		if (at_ms == TIME_UNKNOWN || at_ms - now_ms <= longest)
			continue;
		if (world_room(w, work, now_ms, at_ms, true) >= work_needs(work))
			longest = at_ms - now_ms;
	}
	return longest;
}

/* Where it would sit if there were no reservations. */
static const struct node *seat_without(struct world *w, const struct work *work, struct shape *sh)
{
	struct permit p = { .work = work };
	struct space_filter filter = { .allows = permit_allows, .arg = &p };
	struct seat seat = { .shape = sh };
	size_t mark = space_mark(w->space);
	const struct node *n;

	space_find(w->space, &seat, &filter);
	n = seat.node;
	space_undo(w->space, mark);
	return n;
}

const struct reservation *world_barrier(struct world *w, const struct work *work, int64_t now_ms)
{
	struct permit p = permit_for(w, work, now_ms);
	const struct reservation *r = NULL;

	for (size_t i = 0; i < work->n && !r; i++) {
		struct shape *sh = work->members[i].seat.shape;
		const struct node *n = work->members[i].seat.node ? NULL : seat_without(w, work, sh);

		r = n ? backfill_barrier(&p.check, n, sh) : NULL;
	}
	return r;
}

static bool takes(void *arg, const struct node *n)
{
	return permit_has_properties(arg, n);
}

static int64_t may_use(void *arg, const struct node *n, size_t resource)
{
	const struct permit *p = arg;

	return backfill_left(&p->check, n, resource);
}

void world_shortage(struct world *w, const struct work *work, struct shape *sh, int64_t now_ms, bool reservations,
		    struct shortage *ret)
{
	struct permit p = permit_for(w, work, now_ms);
	struct shortage_view v = { .takes = takes, .may_use = reservations ? may_use : NULL, .arg = &p };

	space_shortage(w->space, sh, &v, ret);
}
