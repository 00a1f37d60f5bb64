// SPDX-License-Identifier: Apache-2.0
/* space.c - seats, and trials that are taken back
 *
 * `epoch` grows whenever something may have made room: a seat was left, a node came or changed.  Sitting down only
 * takes room, so within an epoch a shape that failed stays failed, and a long queue of equal pods costs one search.
 * Only those who want to be near others hope for others who sit down; for them `near_epoch` counts too.
 */
#include "sched/space.h"

#include "base/mem.h"
#include "sched/space_parts.h"

struct space *space_new(void)
{
	struct space *s = xcalloc(1, sizeof(*s));

	resource_names_init(&s->names);
	map_init(&s->shapes, NULL);
	map_init(&s->rules, NULL);
	map_init(&s->nodes, NULL);
	s->epoch = s->nodes_epoch = s->layout = 1;
	s->unranked = true;
	s->neighbours = neighbours_new();
	space_widen(s);
	return s;
}

void space_free(struct space *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nslots; i++)
		if (s->slots[i])
			node_discard(s->slots[i]);
	for (size_t k = 0; k < NODE__KINDS; k++) {
		free(s->levels[k].bits);
		free(s->levels[k].most);
	}
	free(s->slots);
	free(s->by_rank);
	free(s->left);
	free(s->total.v);
	free(s->whole.v);
	free(s->used.v);
	free(s->log);
	neighbours_free(s->neighbours);
	map_done(&s->shapes);
	map_done(&s->rules);
	map_done(&s->nodes);
	resource_names_done(&s->names);
	free(s);
}

void space_set_policy(struct space *s, enum space_policy p)
{
	s->policy = p;
}

int64_t space_total(const struct space *s, size_t resource)
{
	return amounts_get(&s->total, resource);
}

int64_t space_whole(const struct space *s, size_t resource)
{
	return amounts_get(&s->whole, resource);
}

int64_t space_used(const struct space *s, size_t resource)
{
	return amounts_get(&s->used, resource);
}

size_t space_resources(const struct space *s)
{
	return s->names.n;
}

uint64_t space_epoch(const struct space *s)
{
	return s->epoch + s->near_epoch;
}

struct shape_memo *shape_memo(const struct space *s, struct shape *sh)
{
	return &shape_memory(s, sh)->memo;
}

/* --- seats --- */

static void count_amounts(struct space *s, struct node *n, const struct shape *sh, int sign)
{
	/* 2048 pods with the largest requests there are would wrap it, and come back right when they go. */
	for (size_t i = 0; i < sh->wants.n; i++) {
		uint64_t more = (uint64_t)sign * (uint64_t)sh->wants.v[i];
		int64_t *used = amounts_at(&n->used, i);
		int64_t *all = amounts_at(&s->used, i);

		*used = (int64_t)((uint64_t)*used + more);
		if (n->takes)
			*all = (int64_t)((uint64_t)*all + more);
	}
	n->pods += (size_t)sign;
}

static void take_ports(struct node *n, const struct shape *sh)
{
	for (size_t i = 0; i < sh->nports; i++)
		ARRAY_PUSH(n->ports, n->nports, n->cap_ports, &sh->ports[i]);
}

static void give_ports_back(struct node *n, const struct shape *sh)
{
	for (size_t i = 0; i < sh->nports; i++)
		for (size_t k = 0; k < n->nports; k++)
			if (n->ports[k] == &sh->ports[i]) {
				n->ports[k] = n->ports[--n->nports];
				break;
			}
}

static bool wants_cards(const struct shape *sh)
{
	return sh->cards.whole > 0 || sh->cards.part_mib > 0;
}

/* With these very cards. */
static void put(struct space *s, struct seat *seat, struct node *n, card_set cards)
{
	const struct shape *sh = seat->shape;

	seat->node = n;
	seat->cards = cards;
	count_amounts(s, n, sh, 1);
	take_ports(n, sh);
	if (wants_cards(sh)) {
		cards_hold(&n->cards, &sh->cards, cards);
		node_update_cards(n);
	}
	if (sh->who && neighbours_sit(s->neighbours, sh->who, sh->near, n->slot))
		s->near_epoch++;
	node_update(s, n);
}

static void take(struct space *s, struct seat *seat)
{
	struct node *n = seat->node;
	const struct shape *sh = seat->shape;

	count_amounts(s, n, sh, -1);
	give_ports_back(n, sh);
	if (wants_cards(sh)) {
		cards_release(&n->cards, &sh->cards, seat->cards);
		node_update_cards(n);
	}
	neighbours_rise(s->neighbours, sh->who, sh->near, n->slot);
	seat->node = NULL;
	seat->cards = 0;
	s->ghosts |= !n->seen && !n->pods;
	node_update(s, n);
}

/* With its shape: the seat may be somebody else's when it is undone. */
static void remember(struct space *s, enum undo_what what, struct seat *seat)
{
	struct undo u = { .what = what, .seat = seat, .node = seat->node, .cards = seat->cards, .shape = seat->shape };

	if (s->depth)
		ARRAY_PUSH(s->log, s->nlog, s->cap_log, u);
}

static void get_up(struct space *s, struct seat *seat)
{
	remember(s, UNDO_RISE, seat);
	take(s, seat);
	s->epoch++;
}

void space_sit(struct space *s, struct seat *seat, struct node *n, card_set cards)
{
	struct node *old = seat->node;

	if (old == n && (!cards || cards == seat->cards))
		return;
	if (old)
		get_up(s, seat);
	if (!wants_cards(seat->shape))
		cards = 0;
	else if (!cards)
		cards = cards_pick(&n->cards, &seat->shape->cards);
	put(s, seat, n, cards);
	remember(s, UNDO_SIT, seat);
	if (old)
		node_drop_if_empty(s, old);
}

void space_rise(struct space *s, struct seat *seat)
{
	struct node *n = seat->node;

	if (!n)
		return;
	get_up(s, seat);
	node_drop_if_empty(s, n);
}

/* --- trials --- */

size_t space_mark(struct space *s)
{
	ARRAY_PUSH(s->log, s->nlog, s->cap_log,
		   ((struct undo){ .what = UNDO_MARK, .stamp = s->epoch, .near_stamp = s->near_epoch }));
	s->depth++;
	return s->nlog - 1;
}

static void undo_one(struct space *s, const struct undo *u)
{
	switch (u->what) {
	case UNDO_SIT:
		u->seat->shape = u->shape;
		take(s, u->seat);
		break;
	case UNDO_RISE:
		u->seat->shape = u->shape;
		put(s, u->seat, u->node, u->cards);
		break;
	case UNDO_FAILED:
		u->shape->failed = u->stamp;
		break;
	case UNDO_MARK:
		s->epoch = u->stamp;
		s->near_epoch = u->near_stamp;
		break;
	}
}

static void end_trial(struct space *s)
{
	if (--s->depth)
		return;
	s->nlog = 0;
	/* Nodes that nobody knows were spared while somebody might have gone back to them. */
	for (size_t i = 0; s->ghosts && i < s->nslots; i++)
		if (s->slots[i])
			node_drop_if_empty(s, s->slots[i]);
	s->ghosts = false;
}

void space_undo(struct space *s, size_t mark)
{
	while (s->nlog > mark)
		undo_one(s, &s->log[--s->nlog]);
	end_trial(s);
}

void space_keep(struct space *s, size_t mark)
{
	(void)mark; /* what is below may still be undone by an outer one */
	end_trial(s);
}
