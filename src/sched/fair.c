// SPDX-License-Identifier: Apache-2.0
/* fair.c - see fair.h
 *
 * Use is kept in units of a fixed moment, `epoch_ms`: what is used now counts 2^(time since / half-life) of them, and
 * reading a number divides by that.  When the factor has grown large, all numbers move to a new moment.
 *
 * During a walk each share above the leaves has a heap of the children that still have something to hand out in the
 * present rank, the one whose turn it is on top.  A step goes down along the tops; whatever changes a share moves it
 * and those above it in their heaps.
 */
#include "sched/fair.h"

#include <math.h>

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"

#define FACTOR_MOST 1e12
#define NOT_IN_HEAP SIZE_MAX
#define NEAR        64 /* places that who enters a list looks at */
#define RUNS_MOST   48 /* powers of two */

struct share {
	char *name;
	struct share *parent;
	struct map children; /* name -> struct share */
	struct share **heap; /* of the walk: children with something to hand out */
	size_t nheap, cap_heap;
	size_t at; /* in the parent's heap */
	double weight;
	double used;               /* in units of the epoch; without what ran since `charged` */
	double charged;            /* where fair->elapsed was then */
	double running;            /* fraction of the machine */
	size_t waiting;            /* things in lists below */
	struct turn *first, *last; /* a leaf's list */
	bool messy;                /* it is not in order: tidy() */
	bool is_list;              /* see fair_list() */
	struct turn *cursor;       /* a leaf's next in the walk; NULL: none */
	uint64_t skipped;          /* the walk in which nothing more is wanted */
	int64_t skipped_rank;      /* the rank in which nothing more is wanted, in that walk */
	uint64_t skipped_walk;
};

struct fair {
	struct share top;
	double half_life_ms;
	int64_t epoch_ms, now_ms;
	double factor;  /* of now */
	double elapsed; /* seconds since the epoch, each counted as much as what is used in it */
	uint64_t walk;  /* its number; 0: there was none yet */
	bool walking;
	int64_t rank; /* the present one */
	size_t steps; /* fair_steps() */
};

/* ---- the tree ---- */

static void share_free(void *v)
{
	struct share *s = v;

	map_done(&s->children);
	free(s->heap);
	free(s->name);
	free(s);
}

static void share_init(struct share *s, struct share *parent)
{
	s->parent = parent;
	s->weight = 1;
	s->at = NOT_IN_HEAP;
	map_init(&s->children, share_free);
}

struct fair *fair_new(int64_t half_life)
{
	struct fair *f = xcalloc(1, sizeof(*f));

	share_init(&f->top, NULL);
	f->half_life_ms = (double)half_life * 1000;
	f->factor = 1;
	return f;
}

void fair_free(struct fair *f)
{
	if (!f)
		return;
	map_done(&f->top.children);
	free(f->top.heap);
	free(f);
}

struct share *fair_share(struct fair *f, struct share *parent, const char *name)
{
	struct share *above = parent ? parent : &f->top;
	struct share *s = map_find(&above->children, name);

	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	share_init(s, above);
	s->charged = f->elapsed;
	s->name = xstrdup(name);
	map_set(&above->children, name, s);
	return s;
}

struct share *fair_list(struct fair *f, struct share *user, const char *name)
{
	struct share *list = fair_share(f, user, name);

	list->is_list = true;
	return list;
}

const char *share_name(const struct share *s)
{
	return s->name;
}

struct share *share_parent(const struct share *s)
{
	return s->parent && s->parent->parent ? s->parent : NULL;
}

/* ---- use ---- */

/* What it has used by now, in units of the epoch. */
static double used_of(const struct fair *f, const struct share *s)
{
	return s->used + s->running * (f->elapsed - s->charged);
}

/* Before `running` changes. */
static void charge(const struct fair *f, struct share *s)
{
	s->used = used_of(f, s);
	s->charged = f->elapsed;
}

static void move_epoch(struct fair *f, struct share *s)
{
	size_t pos = 0;
	void *child;

	s->used = used_of(f, s) / f->factor;
	s->charged = 0;
	while (map_next(&s->children, &pos, NULL, &child))
		move_epoch(f, child);
}

void fair_now(struct fair *f, int64_t now_ms)
{
	double before = f->factor;

	if (!f->now_ms)
		f->epoch_ms = f->now_ms = now_ms;
	if (now_ms <= f->now_ms)
		return;
	f->now_ms = now_ms;
	if (f->half_life_ms <= 0)
		return;
	f->factor = exp2((double)(now_ms - f->epoch_ms) / f->half_life_ms);
	/* The integral of the factor over the time that has passed. */
	f->elapsed += (f->factor - before) * f->half_life_ms / 1000 / M_LN2;
	if (f->factor < FACTOR_MOST)
		return;
	move_epoch(f, &f->top);
	f->epoch_ms = now_ms;
	f->factor = 1;
	f->elapsed = 0;
}

double share_use(const struct fair *f, const struct share *s)
{
	return used_of(f, s) / f->factor;
}

double share_level(const struct fair *f, const struct share *s)
{
	return (used_of(f, s) / f->factor + s->running * FAIR_AHEAD) / s->weight;
}

static bool is_active(const struct share *s)
{
	return s->waiting > 0 || s->running > 1e-12;
}

double share_due(const struct fair *f, const struct share *s)
{
	double due = 1;

	for (; s != &f->top; s = s->parent) {
		double sum = 0;
		size_t pos = 0;
		void *v;

		while (map_next(&s->parent->children, &pos, NULL, &v)) {
			const struct share *sibling = v;

			sum += sibling == s || is_active(sibling) ? sibling->weight : 0;
		}
		due *= s->weight / sum;
	}
	return due;
}

/* ---- heaps ---- */

/* What the share would hand out next. */
static const struct turn *next_of(const struct share *s)
{
	while (s->nheap)
		s = s->heap[0];
	return s->cursor;
}

static bool goes_before(const struct fair *f, const struct share *a, const struct share *b)
{
	double la = share_level(f, a);
	double lb = share_level(f, b);
	const struct turn *ta = next_of(a);
	const struct turn *tb = next_of(b);

	if (la != lb && !a->is_list)
		return la < lb;
	if (ta && tb && a->is_list && ta->own != tb->own)
		return ta->own > tb->own;
	return ta && tb && ta->age < tb->age;
}

static void heap_put(struct share *parent, size_t at, struct share *s)
{
	parent->heap[at] = s;
	s->at = at;
}

static void heap_settle(const struct fair *f, struct share *s)
{
	struct share *p = s->parent;
	size_t at = s->at;

	while (at > 0 && goes_before(f, s, p->heap[(at - 1) / 2])) {
		heap_put(p, at, p->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= p->nheap)
			break;
		if (child + 1 < p->nheap && goes_before(f, p->heap[child + 1], p->heap[child]))
			child++;
		if (!goes_before(f, p->heap[child], s))
			break;
		heap_put(p, at, p->heap[child]);
		at = child;
	}
	heap_put(p, at, s);
}

static void heap_remove(const struct fair *f, struct share *s)
{
	struct share *p = s->parent;
	struct share *last = p->heap[--p->nheap];
	size_t at = s->at;

	s->at = NOT_IN_HEAP;
	if (last == s)
		return;
	heap_put(p, at, last);
	heap_settle(f, last);
}

/* A share has changed: so has the order of it and of those above among their siblings. */
static void settle_path(const struct fair *f, struct share *s)
{
	for (; s->parent; s = s->parent)
		if (s->at != NOT_IN_HEAP)
			heap_settle(f, s);
}

/* Takes a share out, and those above that have nothing else. */
static void drop_path(const struct fair *f, struct share *s)
{
	while (s->parent && s->at != NOT_IN_HEAP) {
		struct share *p = s->parent;

		heap_remove(f, s);
		s = p;
		if (s->nheap)
			break;
	}
	settle_path(f, s);
}

void share_set_weight(struct fair *f, struct share *s, double weight)
{
	s->weight = weight > 0 ? weight : 1;
	settle_path(f, s);
}

void fair_run(struct fair *f, struct share *leaf, double cost)
{
	for (struct share *s = leaf; s; s = s->parent) {
		charge(f, s);
		s->running += cost;
		if (s->running < 0)
			s->running = 0;
	}
	settle_path(f, leaf);
}

/* As fair_now() would have charged it then. */
void fair_ran(struct fair *f, struct share *leaf, double cost, int64_t from_ms, int64_t to_ms)
{
	double use;

	if (f->half_life_ms <= 0 || to_ms <= from_ms || !(cost > 0) || !isfinite(cost))
		return;
	use = exp2((double)(to_ms - f->epoch_ms) / f->half_life_ms) -
	      exp2((double)(from_ms - f->epoch_ms) / f->half_life_ms);
	use *= cost * f->half_life_ms / 1000 / M_LN2;
	for (struct share *s = leaf; s; s = s->parent)
		s->used += use;
	settle_path(f, leaf);
}

/* ---- looking ---- */

void fair_each(const struct fair *f, const struct share *parent, void (*each)(void *arg, const struct share *s),
	       void *arg)
{
	const struct share *above = parent ? parent : &f->top;
	size_t pos = 0;
	void *child;

	while (map_next(&above->children, &pos, NULL, &child))
		if (!((const struct share *)child)->is_list)
			each(arg, child);
}

double share_weight(const struct share *s)
{
	return s->weight;
}

double share_running(const struct share *s)
{
	return s->running;
}

size_t share_waiting(const struct share *s)
{
	return s->waiting;
}

/* ---- lists ---- */

static bool is_before(const struct turn *a, const struct turn *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return a->own != b->own ? a->own > b->own : a->age < b->age;
}

/* The one that it goes behind, or NULL.  Mostly it is the youngest.  Whose place is not near the end goes there all the
 * same, and the list is put in order before the next walk: of very many that are told in an order of their own, such as
 * that of their names, each would look at most of the others. */
static struct turn *place_for(struct fair *f, struct share *leaf, const struct turn *t)
{
	struct turn *at = leaf->last;
	int looked = 0;

	while (at && !leaf->messy && is_before(t, at) && looked++ < NEAR)
		at = at->prev;
	f->steps += (size_t)looked + 1;
	if (looked <= NEAR && !leaf->messy)
		return at;
	leaf->messy = true;
	return leaf->last;
}

void fair_enter(struct fair *f, struct share *leaf, struct turn *t)
{
	struct turn *before = place_for(f, leaf, t);

	t->leaf = leaf;
	t->prev = before;
	t->next = before ? before->next : leaf->first;
	*(t->prev ? &t->prev->next : &leaf->first) = t;
	*(t->next ? &t->next->prev : &leaf->last) = t;
	for (struct share *s = leaf; s; s = s->parent)
		s->waiting++;
}

/* The leaf's next thing in this rank is the cursor, if it has one: else it is done for now. */
static void settle_leaf(const struct fair *f, struct share *leaf)
{
	if (leaf->at == NOT_IN_HEAP)
		return;
	if (!leaf->cursor || leaf->cursor->rank != f->rank)
		drop_path(f, leaf);
	else
		settle_path(f, leaf);
}

void fair_leave(struct fair *f, struct turn *t)
{
	struct share *leaf = t->leaf;

	if (!leaf)
		return;
	*(t->prev ? &t->prev->next : &leaf->first) = t->next;
	*(t->next ? &t->next->prev : &leaf->last) = t->prev;
	for (struct share *s = leaf; s; s = s->parent)
		s->waiting--;
	if (f->walking && leaf->cursor == t) {
		leaf->cursor = t->next;
		settle_leaf(f, leaf);
	}
	if (leaf->is_list && !leaf->first) {
		drop_path(f, leaf);
		map_remove(&leaf->parent->children, leaf->name);
	}
	*t = (struct turn){ .rank = t->rank, .own = t->own, .age = t->age };
}

size_t fair_steps(const struct fair *f)
{
	return f->steps;
}

size_t fair_waiting(const struct fair *f)
{
	return f->top.waiting;
}

/* Two lists in order become one; of equals those of the first go first.  Only `next` is set. */
static struct turn *merge(struct fair *f, struct turn *a, struct turn *b)
{
	struct turn *first = NULL;
	struct turn **end = &first;

	while (a && b) {
		struct turn **from = is_before(b, a) ? &b : &a;

		*end = *from;
		end = &(*end)->next;
		*from = *end;
		f->steps++;
	}
	*end = a ? a : b;
	return first;
}

/* The rest behind what is in order from the beginning, which is cut off. */
static struct turn *cut_run(struct turn *t)
{
	struct turn *rest;

	while (t->next && !is_before(t->next, t))
		t = t->next;
	rest = t->next;
	t->next = NULL;
	return rest;
}

/* Puts a list in order: what is in order is merged, two of about the same length at a time. */
static void tidy(struct fair *f, struct share *leaf)
{
	struct turn *runs[RUNS_MOST] = { NULL };
	struct turn *all = NULL;
	size_t i;

	for (struct turn *run = leaf->first, *rest; run; run = rest) {
		rest = cut_run(run);
		for (i = 0; runs[i]; i++) {
			run = merge(f, runs[i], run);
			runs[i] = NULL;
		}
		runs[i] = run;
	}
	for (i = 0; i < RUNS_MOST; i++)
		all = merge(f, runs[i], all);
	leaf->first = all;
	leaf->last = NULL;
	for (struct turn *t = all; t; t = t->next) {
		t->prev = leaf->last;
		leaf->last = t;
	}
	leaf->messy = false;
}

static void each_list(struct fair *f, struct share *s, void (*each)(void *arg, struct turn *first), void *arg)
{
	size_t pos = 0;
	void *child;

	if (!s->waiting)
		return;
	if (s->messy)
		tidy(f, s);
	if (s->first)
		each(arg, s->first);
	while (map_next(&s->children, &pos, NULL, &child))
		each_list(f, child, each, arg);
}

void fair_each_list(struct fair *f, void (*each)(void *arg, struct turn *first), void *arg)
{
	each_list(f, &f->top, each, arg);
}

void fair_rerank(struct fair *f, struct share *s,
		 int64_t (*name)(void *arg, struct turn *first, char ret[FAIR_LIST_NAME]), void *arg)
{
	struct map old = s->children;
	size_t pos = 0;
	void *v;

	map_init(&s->children, share_free);
	while (map_next(&old, &pos, NULL, &v)) {
		struct share *child = v;
		char called[FAIR_LIST_NAME];

		if (child->is_list) {
			int64_t rank = name(arg, child->first, called);

			for (struct turn *t = child->first; t; t = t->next)
				t->rank = rank;
			free(child->name);
			child->name = xstrdup(called);
		} else {
			fair_rerank(f, child, name, arg);
		}
		map_set(&s->children, child->name, child);
	}
	old.free_value = NULL;
	map_done(&old);
}

/* ---- the walk ---- */

static bool is_skipped(const struct fair *f, const struct share *s)
{
	return s->skipped == f->walk || (s->skipped_walk == f->walk && s->skipped_rank == f->rank);
}

/* Begins a rank: heaps of all shares below, with those that have something in it.  Returns whether there is any. */
static bool fill_heaps(struct fair *f, struct share *s)
{
	size_t pos = 0;
	void *v;

	s->nheap = 0;
	if (!s->waiting || (s->parent && is_skipped(f, s)))
		return false;
	while (map_next(&s->children, &pos, NULL, &v)) {
		struct share *child = v;

		child->at = NOT_IN_HEAP;
		if (!fill_heaps(f, child))
			continue;
		ARRAY_PUSH(s->heap, s->nheap, s->cap_heap, child);
		child->at = s->nheap - 1;
		heap_settle(f, child);
	}
	return s->nheap || (s->cursor && s->cursor->rank == f->rank);
}

static void begin_walk(struct fair *f, struct share *s)
{
	size_t pos = 0;
	void *child;

	if (s->messy)
		tidy(f, s);
	s->cursor = s->first;
	s->at = NOT_IN_HEAP;
	s->nheap = 0;
	while (map_next(&s->children, &pos, NULL, &child))
		begin_walk(f, child);
}

static void highest_rank(struct share *s, bool *found, int64_t *rank)
{
	size_t pos = 0;
	void *child;

	if (s->cursor && (!*found || s->cursor->rank > *rank)) {
		*rank = s->cursor->rank;
		*found = true;
	}
	while (map_next(&s->children, &pos, NULL, &child))
		highest_rank(child, found, rank);
}

/* What was skipped in the last rank has things of it left: the cursor goes past them. */
static void pass_rank(struct fair *f, struct share *s)
{
	size_t pos = 0;
	void *child;

	/* Mostly a list is all of one rank. */
	if (s->cursor && s->last->rank >= f->rank)
		s->cursor = NULL;
	while (s->cursor && s->cursor->rank >= f->rank)
		s->cursor = s->cursor->next;
	while (map_next(&s->children, &pos, NULL, &child))
		pass_rank(f, child);
}

static bool next_rank(struct fair *f)
{
	bool found = false;

	highest_rank(&f->top, &found, &f->rank);
	return found;
}

void fair_walk_begin(struct fair *f)
{
	f->walk++;
	begin_walk(f, &f->top);
	f->walking = next_rank(f);
	if (f->walking)
		fill_heaps(f, &f->top);
}

struct turn *fair_walk_next(struct fair *f)
{
	struct share *s = &f->top;
	struct turn *t;

	while (f->walking && !f->top.nheap) {
		pass_rank(f, &f->top);
		f->walking = next_rank(f);
		if (f->walking)
			fill_heaps(f, &f->top);
	}
	if (!f->walking)
		return NULL;
	while (s->nheap)
		s = s->heap[0];
	t = s->cursor;
	s->cursor = t->next;
	settle_leaf(f, s);
	return t;
}

void fair_walk_skip(struct fair *f, struct share *s, bool all_ranks)
{
	if (!f->walking)
		return;
	if (all_ranks)
		s->skipped = f->walk;
	s->skipped_walk = f->walk;
	s->skipped_rank = f->rank;
	drop_path(f, s);
}

/* ---- across restarts ---- */

static json_t *save_below(const struct fair *f, const struct share *s)
{
	json_t *names;
	size_t pos = 0;
	const char *name;
	void *child;

	if (!s->children.n)
		return json_real(share_use(f, s));
	names = json_object();
	while (map_next(&s->children, &pos, &name, &child)) {
		if (((const struct share *)child)->is_list) {
			json_decref(names);
			return json_real(share_use(f, s));
		}
		json_object_set_new(names, name, save_below(f, child));
	}
	return names;
}

json_t *fair_save(const struct fair *f)
{
	return json_pack("{s:I, s:o}", "at", (json_int_t)(f->now_ms / 1000), "use",
			 f->top.children.n ? save_below(f, &f->top) : json_object());
}

static void load_below(struct fair *f, struct share *s, const json_t *saved, double forget)
{
	const char *name;
	json_t *part;

	if (json_is_number(saved)) {
		double use = json_number_value(saved) * forget * f->factor;

		for (; use > 0 && isfinite(use) && s; s = s->parent)
			s->used += use;
		return;
	}
	json_object_foreach ((json_t *)saved, name, part)
		load_below(f, fair_share(f, s, name), part, forget);
}

void fair_load(struct fair *f, const json_t *saved, int64_t now_ms)
{
	int64_t at = jsonx_int_or(saved, "at", 0);
	double age = (double)now_ms - (double)at * 1000;

	fair_now(f, now_ms);
	if (f->half_life_ms <= 0 || !at)
		return;
	load_below(f, &f->top, json_object_get(saved, "use"), exp2(-(age > 0 ? age : 0) / f->half_life_ms));
}
