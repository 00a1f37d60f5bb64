// SPDX-License-Identifier: Apache-2.0
/* world_judge_test.c - the judge of world_random_test.c: counts everything anew from what was asked for and from the
 * seats, and knows nothing else of the plan
 */
#include <math.h>

#include "world_game.h"

const char *host_name(size_t i)
{
	static const char *const names[NODES] = { "n0", "n1", "n2", "n3", "n4" };

	return names[i];
}

const char *user_name(size_t i)
{
	static const char *const names[USERS] = { "anna", "ben", "carl", "dora" };

	return names[i];
}

static size_t host_number(const struct node *n)
{
	return (size_t)(node_name(n)[1] - '0');
}

struct use {
	int64_t cpu, memory, gpus, pods;
	card_set cards;
};

static void add_shape(struct use *u, const struct shape *sh)
{
	u->cpu += shape_wants(sh, RESOURCE_CPU);
	u->memory += shape_wants(sh, RESOURCE_MEMORY);
	u->gpus += shape_wants(sh, RESOURCE_GPU);
	u->pods++;
}

static void count_seat(struct game *g, struct use *u, const struct member *m)
{
	const struct shape *sh = m->seat.shape;
	card_set cards = m->seat.cards;

	add_shape(u, sh);
	JUDGE(!(u->cards & cards), "a card of %s is given twice", node_name(m->seat.node));
	JUDGE(__builtin_popcountll(cards) == shape_wants(sh, RESOURCE_GPU), "the cards are not as many as asked for");
	u->cards |= cards;
}

static void count_nodes(struct game *g, struct use use[NODES])
{
	memset(use, 0, NODES * sizeof(*use));
	for (size_t i = 0; i < JOBS; i++)
		for (size_t k = 0; g->jobs[i].work && k < g->jobs[i].work->n; k++) {
			const struct member *m = &g->jobs[i].work->members[k];

			if (m->seat.node)
				count_seat(g, &use[host_number(m->seat.node)], m);
		}
}

/* What it does not ask for may be exceeded: hosts shrink. */
static bool is_over(const struct host *h, const struct use *u, const struct shape *sh)
{
	return u->cpu > h->cpu || u->memory > ((int64_t)64 << 30) || u->pods > 6 ||
	       (shape_wants(sh, RESOURCE_GPU) && u->gpus > h->gpus);
}

/* Of what has begun in a queue: in all, of a user, or of a group. */
static struct amount_of_limits count_running(const struct game *g, const struct queue *q, const char *user,
					     const char *group)
{
	struct amount_of_limits sum = { 0 };

	for (size_t i = 0; i < JOBS; i++) {
		const struct work *work = g->jobs[i].work;

		if (!work || work->queue != q || (user && strcmp(user, work->user) != 0) ||
		    (group && strcmp(group, work->group) != 0))
			continue;
		sum.v[LIMIT_QUEUED]++;
		if (!work_has_begun(work))
			continue;
		sum.v[LIMIT_RUNNING]++;
		for (size_t k = 0; k < work->n; k++) {
			sum.v[LIMIT_GPUS] += shape_wants(work->members[k].seat.shape, RESOURCE_GPU);
			sum.v[LIMIT_CPUS] += shape_wants(work->members[k].seat.shape, RESOURCE_CPU);
			sum.v[LIMIT_MEMORY] += shape_wants(work->members[k].seat.shape, RESOURCE_MEMORY);
		}
	}
	return sum;
}

static const struct line *line_of(const struct game *g, const struct work *work)
{
	return &g->lines[work->queue->name[0] == 'b' ? 0 : work->queue->name[0] == 'f' ? 1 : 2];
}

static void judge_limits(struct game *g, const struct work *work)
{
	const struct line *l = line_of(g, work);
	struct amount_of_limits all = count_running(g, work->queue, NULL, NULL);
	struct amount_of_limits user = count_running(g, work->queue, work->user, NULL);
	struct amount_of_limits group = count_running(g, work->queue, NULL, work->group);

	JUDGE(l->there && l->started, "%s starts in a stopped queue", work->key);
	JUDGE(l->running < 0 || all.v[LIMIT_RUNNING] <= l->running, "%s: too many run", work->key);
	JUDGE(l->gpus < 0 || !work->asks.v[LIMIT_GPUS] || all.v[LIMIT_GPUS] <= l->gpus, "%s: GPUs", work->key);
	JUDGE(l->user_gpus < 0 || !work->asks.v[LIMIT_GPUS] || user.v[LIMIT_GPUS] <= l->user_gpus,
	      "%s: the user's GPUs", work->key);
	JUDGE(l->group_cpus < 0 || !*work->group || group.v[LIMIT_CPUS] <= l->group_cpus, "%s: the group's CPUs",
	      work->key);
}

/* All that was decided together has its seats already: the cohort as a whole is judged where only one starts. */
static void judge_quota(struct game *g, const struct work *work)
{
	const struct line *l = line_of(g, work);
	int64_t used = count_running(g, work->queue, NULL, NULL).v[LIMIT_GPUS];
	int64_t all = 0;
	int64_t all_used = 0;

	if (l->quota < 0 || !work->asks.v[LIMIT_GPUS] || used <= l->quota)
		return;
	JUDGE(l->borrowing, "%s borrows, which its queue may not", work->key);
	JUDGE(l->borrow < 0 || used <= l->quota + l->borrow, "%s borrows too much", work->key);
	for (size_t i = 0; i < QUEUES; i++) {
		const struct queue *q = world_find_queue(g->w, i == 0 ? "batch" : i == 1 ? "fast" : "night");

		if (g->lines[i].quota < 0 || !q || !g->lines[i].there)
			continue;
		all += g->lines[i].quota;
		all_used += count_running(g, q, NULL, NULL).v[LIMIT_GPUS];
	}
	JUDGE(g->d.n > 1 || all_used <= all, "%s borrows what nobody lends", work->key);
}

/* Nothing sits at a node that is kept from a time on and would still be there then. */
static void judge_block(struct game *g, const struct work *work, size_t host)
{
	int64_t wall = work_walltime(work);

	if (!g->blocked || g->now >= g->block_to || host >= NODES || !(g->block_hosts >> host & 1))
		return;
	JUDGE(wall != WALLTIME_NONE && g->now + wall <= g->block_from, "%s sits on %s, which is kept", work->key,
	      host_name(host));
}

/* ---- shares ---- */

static size_t user_number(const struct work *work)
{
	size_t i = 0;

	while (i + 1 < USERS && strcmp(user_name(i), work->user) != 0)
		i++;
	return i;
}

static void count_cards(const struct game *g, const struct work *but, double running[USERS])
{
	memset(running, 0, USERS * sizeof(*running));
	for (size_t i = 0; i < JOBS; i++)
		if (g->jobs[i].work && g->jobs[i].work != but && work_has_begun(g->jobs[i].work))
			running[user_number(g->jobs[i].work)]++;
}

void judge_time(struct game *g)
{
	double half = (double)g->config.half_life;
	double seconds = (double)(g->now - g->used_ms) / 1000;
	double left = exp2(-seconds / half);
	double running[USERS];

	count_cards(g, NULL, running);
	for (size_t i = 0; i < USERS; i++)
		g->used[i] = g->used[i] * left + running[i] * (1 - left) * half / M_LN2;
	g->used_ms = g->now;
}

/* The fairest there is: of all users with a job that waits, it is the turn of who had least. */
static void judge_turn(struct game *g, const struct work *work)
{
	double running[USERS];
	size_t me = user_number(work);

	count_cards(g, work, running);
	for (size_t i = 0; i < JOBS; i++) {
		const struct work *other = g->jobs[i].work;
		size_t you = other ? user_number(other) : me;
		double mine = g->used[me] + running[me] * FAIR_AHEAD;
		double yours = g->used[you] + running[you] * FAIR_AHEAD;

		if (!other || other == work || work_has_begun(other))
			continue;
		JUDGE(mine <= yours + 1e-6 * (1 + yours), "%s starts, who had %g, and %s waits, who had %g", work->user,
		      mine, other->user, yours);
	}
}

void judge_start(struct game *g, struct work *work)
{
	struct job *j = work->arg;
	struct use use[NODES];

	count_nodes(g, use);
	for (size_t i = 0; i < work->n; i++) {
		size_t host = work->members[i].seat.node ? host_number(work->members[i].seat.node) : NODES;

		if (!work->members[i].fresh)
			continue;
		JUDGE(!line_of(g, work)->there || !line_of(g, work)->even || host % 2 == 0,
		      "%s sits where its queue may not", work->key);
		JUDGE(host < NODES && g->hosts[host].there && !g->hosts[host].cordoned, "%s sits nowhere", work->key);
		judge_block(g, work, host);
		JUDGE(host < NODES && !is_over(&g->hosts[host], &use[host], work->members[i].seat.shape),
		      "%s has more than there is", work->key);
	}
	if (j->begun)
		return;
	JUDGE(work->nseated >= work->size, "a part of the gang %s starts", work->key);
	JUDGE(!work->holds, "%s is held and starts", work->key);
	JUDGE(work->not_before_ms <= g->now, "%s starts before its time", work->key);
	judge_limits(g, work);
	judge_quota(g, work);
	if (g->fair)
		judge_turn(g, work);
}

static bool may_reclaim_any(const struct line *l)
{
	return !l->there || (l->quota >= 0 && l->reclaim == 0);
}

/* Between queues of which one has a quota: the victim's has borrowed, and who evicts takes only what is its own. */
static void judge_reclaim(struct game *g, const struct work *a, const struct work *b)
{
	const struct line *from = line_of(g, a), *to = line_of(g, b);
	int64_t lent = count_running(g, a->queue, NULL, NULL).v[LIMIT_GPUS];
	int64_t own = count_running(g, b->queue, NULL, NULL).v[LIMIT_GPUS];

	if (!from->there || !to->there) /* what was said last of a queue that is gone still counts for its work */
		return;
	JUDGE(from->quota < 0 || lent > from->quota, "%s evicts %s, whose queue has borrowed nothing", b->key, a->key);
	if (to->quota < 0)
		return;
	JUDGE(from->quota >= 0 && to->reclaim != 2, "%s takes from %s, which owes it nothing", b->key, a->key);
	for (size_t i = 0; i < g->d.n; i++)
		if (g->d.items[i].what == DECIDE_START)
			return;
	for (size_t i = 0; i < JOBS; i++) /* what is going is as good as gone */
		if (g->jobs[i].work && g->jobs[i].work->queue == b->queue && g->jobs[i].work->evicted_for)
			own -= g->jobs[i].work->counted.v[LIMIT_GPUS];
	JUDGE(work_has_begun(b) || !b->asks.v[LIMIT_GPUS] || own + b->asks.v[LIMIT_GPUS] <= to->quota,
	      "%s evicts to borrow", b->key);
}

void judge_eviction(struct game *g, const struct decision *d)
{
	const struct work *a = d->work;
	const struct work *b = d->whom;

	JUDGE(g->config.preemption && b->may_preempt, "%s may not evict", b->key);
	if (a->queue != b->queue && (line_of(g, a)->quota >= 0 || line_of(g, b)->quota >= 0))
		judge_reclaim(g, a, b);
	JUDGE((a->queue != b->queue && may_reclaim_any(line_of(g, b))) || a->queue->priority < b->queue->priority ||
		      (a->queue->priority == b->queue->priority && a->priority < b->priority),
	      "%s evicts %s, which is not lower", b->key, a->key);
	JUDGE(!a->boosted || b->boosted || may_reclaim_any(line_of(g, b)) || a->queue->priority < b->queue->priority,
	      "%s evicts %s, which went before it for its age", b->key, a->key);
	JUDGE(work_has_begun(a), "%s does not run and is evicted", a->key);
	JUDGE(!b->holds && (work_has_begun(b) || b->queue->started), "%s could not start and evicts", b->key);
}

static void judge_amounts(struct game *g, const struct amount_of_limits *want, const struct amount_of_limits *have,
			  const char *whose)
{
	static const struct amount_of_limits nothing;

	have = have ? have : &nothing;
	JUDGE(memcmp(want, have, sizeof(*want)) == 0, "%s is charged with %lld GPUs of %lld jobs, not %lld of %lld",
	      whose, (long long)have->v[LIMIT_GPUS], (long long)have->v[LIMIT_RUNNING], (long long)want->v[LIMIT_GPUS],
	      (long long)want->v[LIMIT_RUNNING]);
}

/* What runs for a user in the tree of shares. */
static void judge_share(struct game *g, const struct work *work)
{
	struct fair *f = g->w->fair;
	bool fair = g->config.fair_share;
	struct share *group = fair_share(f, work->queue->share, fair ? work->group : "");
	struct share *user = fair_share(f, group, fair ? work->user : "");
	double have = (share_level(f, user) - share_use(f, user)) / FAIR_AHEAD;
	double want = 0;

	for (size_t i = 0; i < JOBS; i++) {
		const struct work *other = g->jobs[i].work;

		if (other && work_has_begun(other) && other->queue == work->queue &&
		    (!fair || (strcmp(other->user, work->user) == 0 && strcmp(other->group, work->group) == 0)))
			want += other->cost;
	}
	JUDGE(fabs(want - have) < 1e-9 * (1 + share_use(f, user)), "%s has %g of the machine, not %g", work->user, have,
	      want);
}

void judge_sums(struct game *g)
{
	struct use use[NODES];
	int64_t gpus = 0;
	size_t running = 0;

	for (size_t i = 0; i < JOBS; i++) {
		const struct work *work = g->jobs[i].work;
		struct amount_of_limits want;

		if (!work)
			continue;
		want = count_running(g, work->queue, NULL, NULL);
		judge_amounts(g, &want, &work->queue->use.total, work->queue->name);
		want = count_running(g, work->queue, work->user, NULL);
		judge_amounts(g, &want, map_find(&work->queue->use.users, work->user), work->user);
		want = count_running(g, work->queue, NULL, work->group);
		if (*work->group)
			judge_amounts(g, &want, map_find(&work->queue->use.groups, work->group), work->group);
		judge_share(g, work);
		running += work_has_begun(work);
	}
	JUDGE(running == g->w->nrunning, "%zu run, not %zu", g->w->nrunning, running);
	count_nodes(g, use);
	for (size_t i = 0; i < NODES; i++)
		gpus += g->hosts[i].there && !g->hosts[i].cordoned ? use[i].gpus : 0;
	JUDGE(gpus == space_used(g->w->space, RESOURCE_GPU), "%lld GPUs are used, not %lld",
	      (long long)space_used(g->w->space, RESOURCE_GPU), (long long)gpus);
}

static bool has_reservations(const struct game *g)
{
	for (size_t i = 0; i < g->w->backfill.n; i++)
		if (g->w->backfill.items[i].work)
			return true;
	return g->blocked && g->now < g->block_to;
}

static bool keeps_a_limit(const struct queue *q)
{
	return q->turns[LIMIT_TOTAL].work || q->turns[LIMIT_PER_USER].work || q->turns[LIMIT_PER_GROUP].work;
}

/* A pass is over: whatever is alone, and has room, and nothing in its way, would run by now. */
void judge_who_waits(struct game *g)
{
	struct use use[NODES];

	if (has_reservations(g))
		return;
	count_nodes(g, use);
	for (size_t i = 0; i < JOBS; i++) {
		struct work *work = g->jobs[i].work;
		struct limit_hit hit;
		struct quota_hit quota;

		if (!work || work->n != 1 || work->size > 1 || work_has_begun(work) || work->holds ||
		    work->not_before_ms > g->now || !work->queue->exists || !work->queue->started ||
		    !work->queue->borrowing || keeps_a_limit(work->queue) ||
		    quota_exceeded(&g->w->queues, work->queue, &work->asks, &quota) ||
		    limits_exceeded(&work->queue->limits, &work->queue->use, work->user, work->group, &work->asks,
				    &hit))
			continue;
		for (size_t k = 0; k < NODES; k += line_of(g, work)->even ? 2 : 1) {
			struct use u = use[k];
			struct member m = { .seat.shape = work->members[0].seat.shape };

			add_shape(&u, m.seat.shape);
			JUDGE(!g->hosts[k].there || g->hosts[k].cordoned || is_over(&g->hosts[k], &u, m.seat.shape),
			      "%s waits though %s has room", work->key, host_name(k));
		}
	}
}

/* Who sits there at that time as far as is known: what runs longer, and who has a reservation by then. */
static void count_later(struct game *g, int64_t at_ms, struct use use[NODES])
{
	const struct backfill *b = &g->w->backfill;

	memset(use, 0, NODES * sizeof(*use));
	for (size_t i = 0; i < JOBS; i++) {
		const struct work *work = g->jobs[i].work;

		/* Who has just begun is evicted in a moment. */
		if (!work || work->soon_pass == g->w->pass || work_ends_by(work, g->now) <= at_ms)
			continue;
		for (size_t k = 0; k < work->n; k++)
			if (work->members[k].seat.node)
				add_shape(&use[host_number(work->members[k].seat.node)], work->members[k].seat.shape);
	}
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0;
		     b->items[i].start_ms <= at_ms && b->items[i].end_ms > at_ms && k < b->items[i].nseats; k++)
			add_shape(&use[host_number(b->items[i].seats[k].node)], b->items[i].seats[k].shape);
}

/* Nobody was started who delays a reservation: at its time there is room for it, whoever else is there then. */
void judge_reservations(struct game *g)
{
	const struct backfill *b = &g->w->backfill;

	for (size_t i = 0; i < b->n; i++) {
		const struct reservation *r = &b->items[i];
		struct use use[NODES];

		/* What should be over by now, or is being evicted, is waited for. */
		if (!r->work || r->start_ms == TIME_UNKNOWN || r->start_ms <= g->now)
			continue;
		count_later(g, r->start_ms, use);
		for (size_t k = 0; k < r->nseats; k++) {
			size_t host = host_number(r->seats[k].node);

			JUDGE(!is_over(&g->hosts[host], &use[host], r->seats[k].shape),
			      "%s, whose turn comes in %lld s, has no room on %s then", r->work->key,
			      (long long)(r->start_ms - g->now) / 1000, host_name(host));
		}
	}
}

/* Nothing but time and ends: the first reservation never moves to a later time. */
void judge_promises(struct game *g)
{
	const struct backfill *b = &g->w->backfill;

	for (size_t i = 0; i < JOBS && g->calm && !g->fair; i++)
		JUDGE(!g->jobs[i].work || g->jobs[i].begun ||
			      g->now - g->jobs[i].work->submitted_ms <= JOBS * 31 * MINUTE,
		      "%s starves", g->jobs[i].key);
	for (size_t i = 0; i < b->n; i++) {
		const struct reservation *r = &b->items[i];
		struct job *j = r->work ? r->work->arg : NULL;

		JUDGE(!r->work || r->work->reservation == r, "%s does not know of its reservation", r->work->key);
		if (!g->calm || g->fair || i || !j)
			continue;
		JUDGE(r->start_ms <= j->promise || r->start_ms <= g->now, "%s was promised %lld and has %lld now",
		      j->key, (long long)(j->promise - T0) / 1000, (long long)(r->start_ms - T0) / 1000);
		j->promise = r->start_ms;
	}
}
