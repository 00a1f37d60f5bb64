// SPDX-License-Identifier: Apache-2.0
/* space_find.c - the best node for a shape
 *
 * Best is what is wished for most, and among equals what the policy says: the fullest node or the emptiest, then the
 * first by name.  Pods without GPUs go to nodes without, as long as there is room.
 */
#include "base/mem.h"
#include "sched/space_parts.h"

struct search {
	struct space *space;
	const struct shape *shape;
	const struct rules *rules;
	const struct space_filter *filter;
	bool near;     /* neighbours matter */
	bool filtered; /* a node was there, but the filter did not allow it */
	struct node *best;
	int64_t score; /* of the best */
	int64_t limit; /* no node has a higher one */
};

bool node_ports_refuse(const struct node *n, const struct shape *sh)
{
	for (size_t i = 0; i < sh->nports; i++)
		for (size_t k = 0; k < n->nports; k++)
			if (host_port_collides(&sh->ports[i], n->ports[k]))
				return true;
	return false;
}

bool node_lacks(const struct space *s, const struct node *n, const struct shape *sh, size_t resource)
{
	int64_t want = amounts_get(&sh->wants, resource);

	return want > 0 && want > space_left(s, n)[resource];
}

bool node_cards_suffice(const struct node *n, const struct shape *sh)
{
	const struct cards_want *w = &sh->cards;

	if (w->part_mib > n->part_most)
		return false;
	if (!w->part_mib && !w->model && !w->least_mib)
		return w->whole <= __builtin_popcountll(n->cards.free);
	return cards_pick(&n->cards, w) != 0;
}

static bool covers(const int64_t *have, const struct amounts *wants)
{
	for (size_t i = 0; i < wants->n; i++)
		if (wants->v[i] > have[i] && wants->v[i] > 0)
			return false;
	return true;
}

static int64_t score_of(const struct search *q, const struct node *n)
{
	int64_t wish = q->rules->wishes ? q->rules->wishes[n->rank] : 0;
	int64_t part = q->shape->cards.part_mib;

	/* A card that is shared already, rather than one that others could have whole. */
	if (q->near)
		wish += near_score(q->space->neighbours, q->shape->who, q->shape->near, n->slot);
	return 2 * wish + (part && part <= n->part_open);
}

/* A node that has the amounts; true if the search is over. */
static bool consider(struct search *q, struct node *n)
{
	const struct shape *sh = q->shape;
	int64_t score = score_of(q, n);

	if (q->best && score <= q->score)
		return false;
	if ((sh->nports && node_ports_refuse(n, sh)) ||
	    ((sh->cards.whole || sh->cards.part_mib) && !node_cards_suffice(n, sh)))
		return false;
	if (q->near && near_judge(q->space->neighbours, sh->who, sh->near, n->slot) != NEAR_OK)
		return false;
	if (q->filter && !q->filter->allows(q->filter->arg, n, sh)) {
		q->filtered = true;
		return false;
	}
	q->best = n;
	q->score = score;
	return score >= q->limit;
}

static bool search_level(struct search *q, struct levels *l, int level)
{
	struct space *s = q->space;
	const uint64_t *bits = l->bits + (size_t)level * s->words;
	bool any = false;

	if (!covers(l->most + (size_t)level * s->stride, &q->shape->wants))
		return false;
	for (size_t w = 0; w < s->words; w++)
		for (uint64_t b = bits[w] & q->rules->accept[w]; b; b &= b - 1) {
			struct node *n = s->by_rank[w * 64 + (size_t)__builtin_ctzll(b)];

			if (!covers(space_left(s, n), &q->shape->wants))
				continue;
			any = true;
			if (consider(q, n))
				return true;
		}
	if (!any && l->loose[level])
		levels_tighten(s, l, level);
	return false;
}

static bool search_kind(struct search *q, int kind)
{
	struct levels *l = &q->space->levels[kind];
	bool pack = q->space->policy == SPACE_PACK;

	for (uint64_t left = l->filled; left;) {
		int level = pack ? 63 - __builtin_clzll(left) : __builtin_ctzll(left);

		left &= ~((uint64_t)1 << level);
		if (search_level(q, l, level))
			return true;
	}
	return false;
}

static void search_named(struct search *q)
{
	for (size_t i = 0; i < q->rules->nonly; i++) {
		struct node *n = q->rules->only[i];

		if ((q->rules->accept[n->rank / 64] >> n->rank % 64 & 1) &&
		    covers(space_left(q->space, n), &q->shape->wants) && consider(q, n))
			return;
	}
}

static void search(struct search *q)
{
	bool cards = q->shape->cards.whole || q->shape->cards.part_mib;

	if (q->rules->names)
		search_named(q);
	else if (cards || !search_kind(q, NODE_PLAIN))
		search_kind(q, NODE_CARDS);
}

/* --- neighbours --- */

static bool node_counts(void *arg, size_t node, bool affinity, bool taints)
{
	const struct search *q = arg;
	const struct node *n = node < q->space->nslots ? q->space->slots[node] : NULL;
	const uint64_t *set = taints ? q->rules->accept : q->rules->affine;

	if (!n || !n->seen)
		return false;
	return (!affinity && !taints) || (set[n->rank / 64] >> n->rank % 64 & 1);
}

bool space_prepare_near(struct space *s, const struct shape *sh)
{
	struct search q = { .space = s, .rules = sh->rules };

	if (!neighbours_matter(s->neighbours, sh->who, sh->near))
		return false;
	near_prepare(s->neighbours, sh->near,
		     &(struct near_nodes){ .all = !sh->selector && !sh->terms, .counts = node_counts, .arg = &q });
	return true;
}

/* --- finding --- */

/* Within a trial it is forgotten with the trial. */
static void remember_failure(struct space *s, struct shape *sh)
{
	struct shape *m = shape_memory(s, sh);

	if (s->depth)
		ARRAY_PUSH(s->log, s->nlog, s->cap_log,
			   ((struct undo){ .what = UNDO_FAILED, .shape = m, .stamp = m->failed }));
	m->failed = shape_epoch(s, m);
}

bool space_failed(const struct space *s, const struct shape *sh)
{
	uint64_t epoch = shape_epoch(s, sh);

	return sh->failed == epoch || sh->core->failed == epoch;
}

bool space_find(struct space *s, struct seat *seat, const struct space_filter *filter)
{
	struct shape *core = seat->shape->core;
	struct search q = { .space = s, .shape = seat->shape, .rules = core->rules, .filter = filter };

	if (space_failed(s, seat->shape))
		return false;
	space_settle(s);
	rules_settle(s, core->rules);
	q.near = (seat->shape->who || core->near) && space_prepare_near(s, seat->shape);
	q.limit = 2 * (int64_t)core->rules->best + (core->cards.part_mib > 0);
	if (q.near && neighbours_have_wishes(s->neighbours, seat->shape->who, core->near))
		q.limit = INT64_MAX;
	search(&q);
	if (!q.best) {
		if (!q.filtered)
			remember_failure(s, seat->shape);
		return false;
	}
	space_sit(s, seat, q.best, 0);
	return true;
}
