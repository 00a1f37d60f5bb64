// SPDX-License-Identifier: Apache-2.0
/* world_pass.c - one look at everything that waits: what starts, what is reserved, what must go
 *
 * Within a pass room only shrinks and reservations only grow.  So a shape that found no room for something that ends at
 * a certain time finds none for what ends later, and a million equal works cost little more than one.
 */
#include "base/mem.h"
#include "sched/parts.h"
#include "sched/world_ask.h"
#include "sched/world_parts.h"

#define ASK_EVERY   32 /* works between two questions whether to stop */
#define BOOST_EVERY 60000
#define BOOST_MOST  1000 /* in one pass */

bool permit_has_properties(const struct permit *p, const struct node *n)
{
	return work_may_sit(p->work, n);
}

bool permit_allows(void *arg, const struct node *n, const struct shape *sh)
{
	const struct permit *p = arg;

	return permit_has_properties(p, n) && (!p->reservations || backfill_allows(&p->check, n, sh));
}

struct permit permit_for(struct world *w, const struct work *work, int64_t now_ms)
{
	return (struct permit){
		.work = work,
		.check = { .backfill = &w->backfill,
			   .now_ms = now_ms,
			   .end_ms = work_end(work, now_ms),
			   .exempt = backfill_exempt(&w->backfill, work) },
		.reservations = true,
	};
}

/* ---- placing ---- */

/* The same shape was refused in this pass for something that ends no later. */
static bool was_refused(struct world *w, struct shape *sh, int64_t end_ms, bool properties)
{
	const struct shape_memo *memo = shape_memo(w->space, sh);

	return space_failed(w->space, sh) || (!properties && memo->pass == w->pass && memo->value <= end_ms);
}

static void refuse(struct world *w, struct shape *sh, int64_t end_ms, bool properties)
{
	struct shape_memo *memo = shape_memo(w->space, sh);

	if (properties || (memo->pass == w->pass && memo->value <= end_ms))
		return;
	*memo = (struct shape_memo){ .pass = w->pass, .value = end_ms };
}

/* Seats for all members that have none, or for as many as there is room for. */
static size_t seat_members(struct world *w, struct work *work, struct permit *p)
{
	struct space_filter filter = { .allows = permit_allows, .arg = p };
	/* It may sit where others of its shape may not, or the other way round. */
	bool properties = work->queue->properties || p->check.exempt;
	size_t least = work_has_begun(work) ? 0 : work->size;
	size_t missing = 0;
	size_t seated = 0;

	for (size_t i = 0; i < work->n; i++) {
		struct seat *seat = &work->members[i].seat;

		if (seat->node)
			continue;
		if (!was_refused(w, seat->shape, p->check.end_ms, properties) && space_find(w->space, seat, &filter)) {
			work->members[i].fresh = true;
			backfill_take(&p->check, seat, 1);
			seated++;
			continue;
		}
		/* Beside others of its gang: alone it might have had room. */
		if (!seated)
			refuse(w, seat->shape, p->check.end_ms, properties);
		if (work->n - ++missing < least)
			break;
	}
	return seated;
}

static void give_up(struct world *w, struct work *work, const struct permit *p, size_t mark)
{
	/* What had begun before found nothing, else it would not give up. */
	for (size_t i = 0; i < work->n && !work_has_begun(work); i++)
		if (work->members[i].fresh) {
			backfill_take(&p->check, &work->members[i].seat, -1);
			work->members[i].fresh = false;
		}
	space_undo(w->space, mark);
}

static bool place(struct world *w, struct work *work, int64_t now_ms)
{
	struct permit p = permit_for(w, work, now_ms);
	/* One alone needs no trial, and that it failed is remembered for all like it. */
	bool trial = work->n - work->nseated > 1;
	size_t mark = trial ? space_mark(w->space) : 0;
	size_t seated = seat_members(w, work, &p);

	if (!seated || (!work_has_begun(work) && seated < work->size)) {
		if (trial)
			give_up(w, work, &p, mark);
		return false;
	}
	if (trial)
		space_keep(w->space, mark);
	work->nseated += seated;
	backfill_began(&w->backfill, work, p.check.end_ms);
	return true;
}

static void decide(struct decisions *d, struct decision one)
{
	ARRAY_PUSH(d->items, d->n, d->cap, one);
}

static int64_t lower(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Reservations count on its end.  When it is so late that they cannot any more, they are made anew. */
static void count_on(struct world *w, const struct work *work, int64_t now_ms)
{
	int64_t end_ms = work_end(work, work->started_ms);

	if (end_ms < TIME_UNKNOWN - OVERDUE_MS && end_ms + OVERDUE_MS >= now_ms)
		w->next_ms = lower(w->next_ms, end_ms + OVERDUE_MS + 1);
}

static void start(struct world *w, struct work *work, int64_t now_ms, struct decisions *d)
{
	if (!work->started_ms)
		work->started_ms = now_ms;
	count_on(w, work, now_ms);
	work->why = WHY_STARTING;
	work->reservation = NULL;
	quota_claim(work, false);
	limit_forget(work);
	work_charge(w, work);
	work_line_up(w, work);
	decide(d, (struct decision){ .what = DECIDE_START, .work = work });
}

/* ---- what stands in the way ---- */

/* A queue that may not borrow keeps to its part among the queues. */
static bool exceeds_share(const struct world *w, const struct work *work, double used)
{
	const struct queue *q = work->queue;
	double sum = 0;
	size_t pos = 0;
	void *v;

	while (map_next(&w->queues, &pos, NULL, &v)) {
		const struct queue *other = v;

		sum += other->exists ? other->weight : 0;
	}
	return used + world_cost(w, work) > q->weight / sum + 1e-9;
}

bool work_exceeds_share(const struct world *w, const struct work *work)
{
	return exceeds_share(w, work, 0);
}

static bool has_its_share(const struct world *w, const struct work *work)
{
	const struct queue *q = work->queue;
	double used = 0;

	if (q->borrowing || q->quota.some)
		return false;
	for (size_t i = 0; i < w->nrunning; i++)
		used += w->running[i]->queue == q ? w->running[i]->cost : 0;
	return exceeds_share(w, work, used);
}

static bool is_possible(struct world *w, const struct work *work)
{
	auto_sbuf struct sbuf ignored = SBUF(1024);

	if (work_exceeds_machine(w->space, work) != SIZE_MAX)
		return false;
	for (size_t i = 0; i < work->n; i++)
		if (!work->members[i].seat.node && !space_possible(w->space, work->members[i].seat.shape, &ignored))
			return false;
	return true;
}

/* Besides room; WHY_STARTING: nothing. */
static enum work_why obstacle(struct world *w, struct work *work, int64_t now_ms)
{
	const struct queue *q = work->queue;

	if (work->holds)
		return WHY_HELD;
	if (work_has_begun(work))
		return WHY_STARTING;
	if (work->not_before_ms > now_ms)
		return WHY_NOT_BEFORE;
	if (!q->exists || (!q->started && !work->run_now))
		return WHY_QUEUE_STOPPED;
	work->hit_server = false;
	if (limits_exceeded(&q->limits, &q->use, work->user, work->group, &work->asks, &work->hit))
		return WHY_LIMIT;
	if (work->pbs &&
	    limits_exceeded(&w->pbs_limits, &w->pbs_use, work->user, work->group, &work->asks, &work->hit)) {
		work->hit_server = true;
		return WHY_LIMIT;
	}
	if (quota_exceeded(&w->queues, q, &work->asks, &work->quota))
		return WHY_QUOTA;
	if (has_its_share(w, work))
		return WHY_SHARE;
	return limit_kept_for(work, now_ms) ? WHY_RESERVED : WHY_STARTING;
}

enum work_why world_why(struct world *w, struct work *work, int64_t now_ms)
{
	enum work_why why = obstacle(w, work, now_ms);

	if (why == WHY_QUOTA && work->why == WHY_PREEMPTING)
		return work->why;
	if (why != WHY_STARTING)
		work->why = why;
	else if (work->nseated == work->n)
		work->why = WHY_STARTING;
	else if (!is_possible(w, work))
		work->why = WHY_IMPOSSIBLE;
	else if (work->why <= WHY_IMPOSSIBLE)
		work->why = WHY_NO_ROOM; /* as others of its sort, for which it was not asked since */
	return work->why;
}

/* Nobody else of the same sort, user, group or queue needs to be asked: what stands in the way is the same for them,
 * unless it stands in the way of its labels. */
static void skip_others(struct world *w, const struct work *work, int64_t now_ms)
{
	struct share *list = work->turn.leaf;
	bool limited = work->why == WHY_LIMIT || limit_kept_for(work, now_ms);
	bool jobs = work->why == WHY_LIMIT && work->hit.of == LIMIT_RUNNING && !work->hit_server;

	if (work->why == WHY_QUEUE_STOPPED || (jobs && work->hit.scope == LIMIT_TOTAL))
		fair_walk_skip(w->fair, work->queue->share, false);
	else if (jobs && w->config.fair_share && work->hit.scope == LIMIT_PER_USER)
		fair_walk_skip(w->fair, share_parent(list), false);
	else if (jobs && w->config.fair_share)
		fair_walk_skip(w->fair, share_parent(share_parent(list)), false);
	else if (work_is_alone(work) && !space_shuns(w->space, work->members[0].seat.shape) &&
		 work->why != WHY_NOT_BEFORE && work->why != WHY_PREEMPTING &&
		 (w->config.fair_share || (!limited && !w->backfill.nblocks)))
		fair_walk_skip(w->fair, list, true);
}

/* ---- no room ---- */

/* Victims of its own are still on their way out. */
static bool waits_for_victims(const struct world *w, const struct work *work)
{
	for (size_t i = 0; i < w->nrunning; i++)
		if (w->running[i]->evicted_for == work)
			return true;
	return false;
}

/* Who could go for it; the caller adds where it may sit. */
static struct preempt_view view_of(struct world *w, int64_t now_ms)
{
	return (struct preempt_view){ .space = w->space,
				      .running = w->running,
				      .n = w->nrunning,
				      .now_ms = now_ms,
				      .queues = &w->queues,
				      .pass = w->pass,
				      .young_ms = w->config.young_ms,
				      .may_evict = w->may_evict,
				      .arg = w->evict_arg };
}

bool world_budgets_forbid(struct world *w, struct work *work, int64_t now_ms)
{
	struct permit p = { .work = work };
	struct space_filter filter = { .allows = permit_allows, .arg = &p };
	struct preempt_view view = view_of(w, now_ms);

	view.filter = &filter;
	return w->config.preemption && work->may_preempt && preempt_is_forbidden(&view, work);
}

/* Of those that run. */
static int64_t lowest_precedence(struct world *w)
{
	if (w->lowest_known)
		return w->lowest;
	w->lowest_known = true;
	w->lowest = INT64_MAX;
	for (size_t i = 0; i < w->nrunning; i++) {
		int64_t p = work_precedence(w->running[i]);

		w->nlowest = p == w->lowest ? w->nlowest + 1 : p < w->lowest ? 1 : w->nlowest;
		w->lowest = lower(w->lowest, p);
	}
	return w->lowest;
}

/* What runs, for who looks ahead or evicts: before the first of them in a pass. */
static void gather(struct world *w, int64_t now_ms)
{
	if (w->backfill.gathered)
		return;
	backfill_gather(&w->backfill, now_ms, w->running, w->nrunning);
	for (size_t i = 0; i < w->nrunning; i++)
		count_on(w, w->running[i], now_ms);
}

/* Only for who has a reservation, else others would take the room, and would be evicted again. */
static bool evict_for(struct world *w, struct work *work, int64_t now_ms, struct decisions *d)
{
	struct permit p = permit_for(w, work, now_ms);
	struct space_filter filter = { .allows = permit_allows, .arg = &p };
	struct preempt_view view = view_of(w, now_ms);
	auto_free struct work **victims = NULL;
	int64_t soon_ms;
	size_t n;

	if (!w->config.preemption || !work->may_preempt ||
	    (lowest_precedence(w) >= work_precedence(work) && !quota_is_own(work)) ||
	    w->backfill.n - w->backfill.nblocks == RESERVATIONS_ALL)
		return false;
	view.filter = &filter;
	view.check = &p.check;
	gather(w, now_ms);
	n = preempt_plan(&view, work, &victims, &soon_ms);
	for (size_t i = 0; soon_ms != TIME_UNKNOWN && i < w->nrunning; i++)
		if (w->running[i]->ends_soon && w->running[i]->soon_pass != w->pass) {
			w->running[i]->soon_pass = w->pass;
			backfill_evict(&p.check, w->running[i]);
		}
	/* Should they still be there then. */
	w->next_ms = soon_ms == TIME_UNKNOWN ? w->next_ms : lower(w->next_ms, soon_ms);
	for (size_t i = 0; i < n; i++) {
		victims[i]->evicted_for = work;
		victims[i]->gives_back = quota_gives_back(victims[i], work);
		if (victims[i]->gives_back)
			quota_claim(work, true);
		/* Else its room is there already. */
		if (victims[i]->soon_pass != w->pass)
			backfill_evict(&p.check, victims[i]);
		decide(d, (struct decision){ .what = DECIDE_EVICT, .work = victims[i], .whom = work });
	}
	return n > 0 || soon_ms != TIME_UNKNOWN || waits_for_victims(w, work);
}

/* For who evicts, so that nobody else takes what is left. */
static void reserve(struct world *w, struct work *work, int64_t now_ms)
{
	bool evicts = work->why == WHY_PREEMPTING;

	work->reservation = NULL;
	if (!w->config.backfill && !evicts)
		return;
	gather(w, now_ms);
	work->reservation =
		backfill_reserve(&w->backfill, w->space, work, now_ms, evicts ? RESERVATIONS_ALL : RESERVATIONS_MOST);
}

static void no_room(struct world *w, struct work *work, int64_t now_ms, struct decisions *d)
{
	bool reserved = w->backfill.n > 0;

	work->reservation = NULL;
	work->why = evict_for(w, work, now_ms, d) ? WHY_PREEMPTING : WHY_NO_ROOM;
	if (work->why == WHY_NO_ROOM)
		quota_claim(work, false);
	if (work->why == WHY_NO_ROOM && !is_possible(w, work)) {
		work->why = WHY_IMPOSSIBLE;
		return;
	}
	if (reserved && work->why == WHY_NO_ROOM && work->n == 1 &&
	    !space_failed(w->space, work->members[0].seat.shape))
		work->why = WHY_RESERVED;
	reserve(w, work, now_ms);
}

/* Others of its own queue may have to go. */
static bool evicts_within_quota(struct world *w, struct work *work, int64_t now_ms, struct decisions *d)
{
	if (!evict_for(w, work, now_ms, d))
		return false;
	work->why = WHY_PREEMPTING;
	reserve(w, work, now_ms);
	return true;
}

static void consider(struct world *w, struct work *work, int64_t now_ms, struct decisions *d)
{
	enum work_why why = obstacle(w, work, now_ms);

	if (why == WHY_QUOTA && evicts_within_quota(w, work, now_ms, d)) {
		skip_others(w, work, now_ms);
	} else if (why != WHY_STARTING) {
		work->why = why;
		work->reservation = NULL;
		quota_claim(work, false);
		if (why == WHY_NOT_BEFORE && work->not_before_ms < w->next_ms)
			w->next_ms = work->not_before_ms;
		if (why == WHY_LIMIT)
			limit_keep(w, work, now_ms);
		skip_others(w, work, now_ms);
	} else if (place(w, work, now_ms)) {
		start(w, work, now_ms, d);
	} else {
		no_room(w, work, now_ms, d);
		skip_others(w, work, now_ms);
	}
}

/* ---- the pass ---- */

struct old_ones {
	struct work *items[BOOST_MOST];
	size_t n;
	int64_t before_ms;
};

/* A list is in order of age. */
static void find_old(void *arg, struct turn *first)
{
	struct old_ones *old = arg;

	for (struct turn *t = first; t && old->n < BOOST_MOST; t = t->next) {
		struct work *work = work_of_turn(t);

		if (work->boosted || work_has_begun(work) || work->submitted_ms > old->before_ms)
			return;
		old->items[old->n++] = work;
	}
}

/* What has waited for very long goes before its queue's others. */
static void boost_the_old(struct world *w, int64_t now_ms)
{
	struct old_ones old = { .before_ms = now_ms - w->config.starving_ms };

	if (now_ms < w->boost_ms)
		w->boost_ms = 0; /* the clock was set back */
	if (!w->config.starving_ms || now_ms - w->boost_ms < BOOST_EVERY)
		return;
	fair_each_list(w->fair, find_old, &old);
	for (size_t i = 0; i < old.n; i++) {
		old.items[i]->boosted = true;
		work_line_up(w, old.items[i]);
	}
	if (old.n < BOOST_MOST)
		w->boost_ms = now_ms;
}

/* Those that are over are of no use to anybody; when one is, something may start. */
static void heed_blocks(struct world *w, int64_t now_ms)
{
	for (size_t i = 0; i < w->nblocks; i++) {
		const struct block *b = &w->blocks[i];

		if (b->end_ms <= now_ms)
			continue;
		if (b->gpus)
			gather(w, now_ms);
		backfill_block(&w->backfill, w->space, b);
		w->next_ms = b->end_ms < w->next_ms ? b->end_ms : w->next_ms;
	}
}

static void begin_pass(struct world *w, int64_t now_ms)
{
	size_t pos = 0;
	void *q;

	w->pass++;
	w->passing = true;
	w->changed = false;
	w->next_ms = TIME_UNKNOWN;
	fair_now(w->fair, now_ms);
	boost_the_old(w, now_ms);
	backfill_begin(&w->backfill, w->space);
	w->limit_looks = 0;
	while (map_next(&w->queues, &pos, NULL, &q))
		memset(((struct queue *)q)->turns, 0, sizeof(((struct queue *)q)->turns));
	world_bury(w);
	heed_blocks(w, now_ms);
	fair_walk_begin(w->fair);
}

void world_pass(struct world *w, const struct world_slice *slice, struct decisions *ret)
{
	struct turn *t = NULL;

	ret->n = 0;
	if (!w->passing && !w->changed && slice->now_ms < w->next_ms) {
		ret->more = false;
		ret->next_ms = w->next_ms;
		return;
	}
	if (!w->passing)
		begin_pass(w, slice->now_ms);
	for (unsigned n = 1; ret->n < slice->most; n++) {
		size_t searches = w->backfill.searches;

		if (slice->stop && n % ASK_EVERY == 0 && slice->stop(slice->arg))
			break;
		t = fair_walk_next(w->fair);
		if (!t)
			break;
		consider(w, work_of_turn(t), slice->now_ms, ret);
		/* Looking ahead takes long, in vain most of all. */
		if (w->backfill.searches > searches)
			n = ASK_EVERY - 1;
	}
	w->passing = t != NULL;
	ret->more = w->passing || w->changed;
	ret->next_ms = w->next_ms;
}

void decisions_done(struct decisions *d)
{
	free(d->items);
	*d = (struct decisions){ 0 };
}

void world_each_waiting(struct world *w, bool (*each)(void *arg, struct work *work, size_t position), void *arg)
{
	size_t position = 0;
	struct turn *t;

	/* There is one walk at a time: a pass that was under way begins anew. */
	w->changed |= w->passing;
	w->passing = false;
	fair_walk_begin(w->fair);
	while ((t = fair_walk_next(w->fair)))
		if (!each(arg, work_of_turn(t), ++position))
			return;
}
