// SPDX-License-Identifier: Apache-2.0
/* backfill.c - see backfill.h
 *
 * The future is tried out in the space itself: what ends by a moment rises, what is reserved by then sits down, and the
 * work looks for seats; then everything is undone.  Each reservation remembers what would be left of every node at its
 * beginning, so asking whether something may start in front of it is a comparison of a few numbers.
 */
#include "sched/backfill.h"

#include "base/mem.h"
#include "sched/parts.h"
#include "sched/world.h"

void backfill_init(struct backfill *b, int64_t patience_ms)
{
	*b = (struct backfill){ .patience_ms = patience_ms };
}

static void forget(struct backfill *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->items[i].work)
			b->items[i].work->reservation = NULL;
		free(b->items[i].seats);
		free(b->items[i].left);
	}
	b->n = b->nblocks = 0;
}

/* There may be more room than there was, and who looked in vain may have gone with its shape. */
static void forget_fruitless(struct backfill *b)
{
	b->nfruitless = 0;
}

/* It stays in its place, because others point to theirs, but concerns nobody: it ends before it begins. */
void backfill_drop(struct backfill *b, struct work *w)
{
	forget_fruitless(b);
	for (size_t i = 0; i < b->n; i++) {
		if (b->items[i].work != w)
			continue;
		free(b->items[i].seats);
		free(b->items[i].left);
		b->items[i] = (struct reservation){ .work = NULL };
		w->reservation = NULL;
	}
}

void backfill_done(struct backfill *b)
{
	forget(b);
	free(b->endings);
}

/* ---- what ends when ---- */

/* What should have ended is taken to end now.  A node measures walltimes by a clock that is never set, so where ours
 * was set forward work goes on long after its end, as we see it. */
int64_t work_ends_by(const struct work *w, int64_t now_ms)
{
	int64_t end = w->evicted_for ? now_ms : work_end(w, w->started_ms);

	if (end >= now_ms)
		return end;
	return now_ms - end > OVERDUE_MS ? TIME_UNKNOWN : now_ms;
}

void backfill_begin(struct backfill *b, struct space *s)
{
	forget(b);
	forget_fruitless(b);
	b->searches = b->steps = 0;
	b->resources = space_resources(s);
	b->nendings = 0;
	b->gathered = b->sorted = false;
}

void backfill_gather(struct backfill *b, int64_t now_ms, struct work *const *running, size_t n)
{
	if (b->gathered)
		return;
	b->gathered = true;
	for (size_t i = 0; i < n; i++)
		ARRAY_PUSH(b->endings, b->nendings, b->cap_endings,
			   ((struct ending){ .at_ms = work_ends_by(running[i], now_ms), .work = running[i] }));
}

/* Of those that never end the youngest is asked to make room in thought, and the least important. */
static int by_end(const void *x, const void *y)
{
	const struct ending *a = x;
	const struct ending *b = y;

	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	if (a->work->priority != b->work->priority)
		return a->work->priority < b->work->priority ? -1 : 1;
	return a->work->started_ms > b->work->started_ms ? -1 : a->work->started_ms < b->work->started_ms;
}

/* Those with a known end go first; returns how many they are. */
static size_t part_endings(struct backfill *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->nendings; i++) {
		struct ending one = b->endings[i];

		if (one.at_ms == TIME_UNKNOWN)
			continue;
		b->endings[i] = b->endings[n];
		b->endings[n++] = one;
	}
	return n;
}

static void sort_endings(struct backfill *b)
{
	size_t n;

	if (b->sorted)
		return;
	n = part_endings(b);
	if (n)
		qsort(b->endings, n, sizeof(*b->endings), by_end);
	b->sorted = true;
	b->sorted_endless = false;
}

/* In the order in which they are asked to make room, which most looks ahead do not come to. */
static void sort_endless(struct backfill *b, size_t from)
{
	if (!b->sorted_endless && from < b->nendings)
		qsort(&b->endings[from], b->nendings - from, sizeof(*b->endings), by_end);
	b->sorted_endless = true;
}

/* ---- trying the future out ---- */

/* The state of a trial: how far time has gone. */
struct future {
	struct backfill *backfill;
	struct space *space;
	int64_t now_ms;
	size_t ended; /* of the endings */
	size_t steps; /* how often seats were looked for */
	bool sat[ITEMS_MOST], rose[ITEMS_MOST];
	struct seat *seats[ITEMS_MOST]; /* of reservations that sit; ours */
};

static void rise_all(struct space *s, struct work *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->members[i].seat.node)
			space_rise(s, &w->members[i].seat);
}

/* Reservations before this one take their room, and give it back at their end. */
static void move_reservations(struct future *f, int64_t at_ms)
{
	for (size_t i = 0; i < f->backfill->n; i++) {
		const struct reservation *r = &f->backfill->items[i];

		if (!f->sat[i] && r->nseats && r->start_ms <= at_ms) {
			f->sat[i] = true;
			f->seats[i] = xcalloc(r->nseats, sizeof(*r->seats));
			for (size_t k = 0; k < r->nseats; k++) {
				f->seats[i][k] = (struct seat){ .shape = r->seats[k].shape };
				space_sit(f->space, &f->seats[i][k], r->seats[k].node, 0);
			}
		}
		if (f->sat[i] && !f->rose[i] && r->end_ms <= at_ms) {
			f->rose[i] = true;
			for (size_t k = 0; k < r->nseats; k++)
				space_rise(f->space, &f->seats[i][k]);
		}
	}
}

/* The next moment at which anything changes after at_ms; TIME_UNKNOWN if only what never ends is left. */
static int64_t next_moment(const struct future *f, int64_t at_ms)
{
	int64_t next = f->ended < f->backfill->nendings ? f->backfill->endings[f->ended].at_ms : TIME_UNKNOWN;

	for (size_t i = 0; i < f->backfill->n; i++) {
		const struct reservation *r = &f->backfill->items[i];

		if (!f->sat[i] && r->nseats && r->start_ms > at_ms && r->start_ms < next)
			next = r->start_ms;
		if (!f->rose[i] && r->end_ms > at_ms && r->end_ms < next)
			next = r->end_ms;
	}
	return next;
}

static void move_to(struct future *f, int64_t at_ms)
{
	while (f->ended < f->backfill->nendings && f->backfill->endings[f->ended].at_ms <= at_ms)
		rise_all(f->space, f->backfill->endings[f->ended++].work);
	move_reservations(f, at_ms);
}

struct seeker {
	const struct work *work;
	struct backfill_check check;
};

static bool allows(void *arg, const struct node *n, const struct shape *sh)
{
	const struct seeker *seeker = arg;

	return work_may_sit(seeker->work, n) && backfill_allows(&seeker->check, n, sh);
}

static struct seeker seeker_at(const struct future *f, const struct work *w, int64_t at_ms)
{
	return (struct seeker){
		.work = w,
		.check = { .backfill = f->backfill,
			   .now_ms = at_ms,
			   .end_ms = at_ms == TIME_UNKNOWN ? TIME_UNKNOWN : work_end(w, at_ms),
			   .exempt = backfill_exempt(f->backfill, w),
			   .future = true },
	};
}

/* Seats for the work at that moment; what it does not find is undone, and all of it if we only ask. */
static bool find_seats(struct future *f, struct work *w, int64_t at_ms, bool only_ask)
{
	struct seeker seeker = seeker_at(f, w, at_ms);
	struct space_filter filter = { .allows = allows, .arg = &seeker };
	size_t least = work_has_begun(w) ? 1 : w->size;
	size_t mark = space_mark(f->space);
	size_t found = 0;
	size_t missing = 0;
	auto_free struct seat **tried = xcalloc(w->n + 1, sizeof(*tried));
	size_t ntried = 0;
	bool enough;

	f->steps++;
	for (size_t i = 0; i < w->n && w->n - missing >= least; i++) {
		struct seat *seat = &w->members[i].seat;

		if (seat->node) {
			found++;
		} else if (space_find(f->space, seat, &filter)) {
			backfill_take(&seeker.check, seat, 1);
			tried[ntried++] = seat;
			found++;
		} else {
			missing++;
		}
	}
	enough = found >= least && found > w->nseated;
	if (enough && !only_ask) {
		space_keep(f->space, mark);
		return true;
	}
	while (ntried)
		backfill_take(&seeker.check, tried[--ntried], -1);
	space_undo(f->space, mark);
	return enough;
}

static bool find_moment(struct future *f, struct work *w, int64_t *ret_ms)
{
	int64_t at_ms = f->now_ms;

	for (;;) {
		move_to(f, at_ms);
		if (find_seats(f, w, at_ms, false)) {
			*ret_ms = at_ms;
			return true;
		}
		at_ms = next_moment(f, at_ms);
		if (at_ms == TIME_UNKNOWN)
			return false;
	}
}

/* All members ask for the same, and for nobody's company: more room is never worse for it. */
static bool is_uniform(const struct work *w)
{
	const struct shape *sh = w->n ? w->members[0].seat.shape : NULL;

	for (size_t i = 1; i < w->n; i++)
		if (w->members[i].seat.shape != sh)
			return false;
	return sh && !sh->core->near && !work_has_begun(w);
}

/* Reservations of an unknown moment keep it off each node, whatever ends there. */
static bool is_shut_out(const struct future *f, const struct work *w)
{
	struct seeker seeker = seeker_at(f, w, TIME_UNKNOWN);

	for (size_t i = 0; i < space_node_slots(f->space); i++) {
		const struct node *n = space_node_at(f->space, i);

		if (n && allows(&seeker, n, w->members[0].seat.shape))
			return false;
	}
	return true;
}

/* Whether it would fit if everything had ended that runs. */
static bool fits_at_last(const struct future *f, struct work *w)
{
	struct future last = *f;
	size_t mark = space_mark(f->space);
	bool fits;

	while (last.ended < last.backfill->nendings)
		rise_all(last.space, last.backfill->endings[last.ended++].work);
	fits = find_seats(&last, w, TIME_UNKNOWN, true);
	space_undo(f->space, mark);
	return fits;
}

/* One after the other, until it would fit. */
static bool find_nodes(struct future *f, struct work *w)
{
	move_reservations(f, TIME_UNKNOWN - 1);
	/* One look instead of one for each that ends: those before may have taken it all. */
	if (f->backfill->n && is_uniform(w) && (is_shut_out(f, w) || !fits_at_last(f, w)))
		return false;
	sort_endless(f->backfill, f->ended);
	while (f->ended < f->backfill->nendings) {
		rise_all(f->space, f->backfill->endings[f->ended++].work);
		if (find_seats(f, w, TIME_UNKNOWN, false))
			return true;
	}
	return false;
}

static void note_left(struct backfill *b, struct space *s, struct reservation *r)
{
	r->slots = space_node_slots(s);
	r->left = xcalloc(r->slots * b->resources + 1, sizeof(*r->left));
	for (size_t i = 0; i < r->slots; i++) {
		const struct node *n = space_node_at(s, i);

		if (n)
			node_left(n, &r->left[i * b->resources], b->resources);
	}
}

static void note_seats(struct reservation *r, const struct work *w)
{
	r->seats = xcalloc(w->n + 1, sizeof(*r->seats));
	for (size_t i = 0; i < w->n; i++)
		if (w->members[i].seat.node && !w->members[i].bound)
			r->seats[r->nseats++] = w->members[i].seat;
}

static struct fruitless sort_of(const struct backfill *b, const struct work *w, int64_t now_ms)
{
	return (struct fruitless){ .shape = w->members[0].seat.shape,
				   .queue = w->queue->properties ? w->queue : NULL,
				   .exempt = backfill_exempt(b, w),
				   .size = w->size,
				   .end_ms = work_end(w, now_ms),
				   .old = now_ms - w->submitted_ms >= b->patience_ms };
}

/* One like it has looked in vain. */
static bool is_fruitless(const struct backfill *b, const struct work *w, int64_t now_ms)
{
	struct fruitless s;

	if (!is_uniform(w))
		return false;
	s = sort_of(b, w, now_ms);
	for (size_t i = 0; i < b->nfruitless; i++) {
		const struct fruitless *one = &b->fruitless[i];

		if (one->shape == s.shape && one->queue == s.queue && one->exempt == s.exempt && one->size <= s.size &&
		    one->end_ms <= s.end_ms && one->old >= s.old)
			return true;
	}
	return false;
}

static void note_fruitless(struct backfill *b, const struct future *f, const struct work *w)
{
	b->steps += f->steps + f->ended;
	if (b->nfruitless < FRUITLESS_MOST && is_uniform(w))
		b->fruitless[b->nfruitless++] = sort_of(b, w, f->now_ms);
}

/* The first moment, or nodes for an unknown one. */
static bool look_ahead_for(struct future *f, struct work *w, struct reservation *r)
{
	if (find_moment(f, w, &r->start_ms)) {
		r->end_ms = work_end(w, r->start_ms);
		return true;
	}
	r->start_ms = TIME_UNKNOWN;
	return f->now_ms - w->submitted_ms >= f->backfill->patience_ms && find_nodes(f, w);
}

struct reservation *backfill_reserve(struct backfill *b, struct space *s, struct work *w, int64_t now_ms, size_t most)
{
	struct future f = { .backfill = b, .space = s, .now_ms = now_ms };
	struct reservation r = { .work = w, .end_ms = TIME_UNKNOWN };
	size_t mark;
	bool found;

	if (b->n - b->nblocks >= most || is_fruitless(b, w, now_ms))
		return NULL;
	/* Whoever others make way for gets its room all the same. */
	if (b->steps >= FRUITLESS_STEPS && most <= RESERVATIONS_MOST)
		return NULL;
	b->searches++;
	sort_endings(b);
	mark = space_mark(s);
	found = look_ahead_for(&f, w, &r);
	if (found) {
		note_seats(&r, w);
		note_left(b, s, &r);
	}
	space_undo(s, mark);
	for (size_t i = 0; i < ARRAY_SIZE(f.seats); i++)
		free(f.seats[i]);
	if (!found) {
		note_fruitless(b, &f, w);
		return NULL;
	}
	b->items[b->n] = r;
	return &b->items[b->n++];
}

/* ---- who may pass ---- */

static bool is_in(char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (streq(*list, name))
			return true;
	return false;
}

bool block_is_for(const struct block *b, const struct work *w)
{
	return is_in(b->users, w->user) || is_in(b->groups, w->group) || is_in(b->queues, w->queue->name);
}

uint64_t backfill_exempt(const struct backfill *b, const struct work *w)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < b->nblocks; i++)
		if (block_is_for(b->items[i].block, w))
			bits |= (uint64_t)1 << i;
	return bits;
}

/* GPUs of a node that are free when a block begins. */
struct supply {
	size_t node;
	int64_t free;
};

static int most_first(const void *x, const void *y)
{
	const struct supply *a = x;
	const struct supply *b = y;

	return a->free != b->free ? (a->free > b->free ? -1 : 1) : (a->node > b->node) - (a->node < b->node);
}

static int64_t gpus_left(const struct backfill *b, const struct node *n)
{
	auto_free int64_t *left = xcalloc(b->resources, sizeof(*left));

	node_left(n, left, b->resources);
	return left[RESOURCE_GPU] > 0 ? left[RESOURCE_GPU] : 0;
}

/* What ends until then is free by then; those that the block is for use it already.  Returns how many they do. */
static int64_t look_ahead(const struct backfill *b, const struct block *block, struct supply *supply, size_t n)
{
	int64_t used = 0;

	for (size_t i = 0; i < b->nendings; i++) {
		const struct work *w = b->endings[i].work;
		bool ends = b->endings[i].at_ms <= block->start_ms;

		if (!ends && !block_is_for(block, w))
			continue;
		for (size_t k = 0; k < w->n; k++) {
			const struct seat *seat = &w->members[k].seat;
			int64_t gpus = seat->node ? shape_wants(seat->shape, RESOURCE_GPU) : 0;

			if (!ends)
				used += gpus;
			else if (gpus && node_index(seat->node) < n)
				supply[node_index(seat->node)].free += gpus;
		}
	}
	return used;
}

/* The GPUs are kept where most are free, so that they are together. */
static void keep_gpus(struct backfill *b, struct space *s, struct reservation *r, const char *may)
{
	struct supply *supply = xcalloc(r->slots + 1, sizeof(*supply));
	int64_t keep;

	for (size_t i = 0; i < r->slots; i++) {
		const struct node *n = space_node_at(s, i);

		supply[i] = (struct supply){ i, n ? gpus_left(b, n) : 0 };
	}
	keep = r->block->gpus - look_ahead(b, r->block, supply, r->slots);
	for (size_t i = 0; i < r->slots; i++)
		supply[i].free = may[i] ? supply[i].free : 0;
	qsort(supply, r->slots, sizeof(*supply), most_first);
	for (size_t i = 0; i < r->slots && keep > 0 && supply[i].free > 0; i++) {
		int64_t here = supply[i].free < keep ? supply[i].free : keep;

		r->left[supply[i].node * b->resources + RESOURCE_GPU] = supply[i].free - here;
		keep -= here;
	}
	free(supply);
}

void backfill_block(struct backfill *b, struct space *s, const struct block *block)
{
	struct reservation r = { .block = block, .start_ms = block->start_ms, .end_ms = block->end_ms };
	auto_free char *in = NULL;

	if (b->nblocks == BLOCKS_MOST || b->n > b->nblocks)
		return;
	/* Naming a node may make it known. */
	for (char **name = block->nodes; name && *name; name++)
		space_node(s, *name);
	r.slots = space_node_slots(s);
	in = xcalloc(r.slots + 1, 1);
	memset(in, !block->nodes, r.slots);
	for (char **name = block->nodes; name && *name; name++)
		in[node_index(space_node(s, *name))] = 1;
	r.left = xcalloc(r.slots * b->resources + 1, sizeof(*r.left));
	for (size_t i = 0; i < r.slots * b->resources; i++)
		r.left[i] = !block->gpus && in[i / b->resources] ? 0 : INT64_MAX;
	if (block->gpus)
		keep_gpus(b, s, &r, in);
	b->items[b->n++] = r;
	b->nblocks++;
}

/* Something that sits from now_ms to end_ms is there when the reservation begins. */
static bool concerns(const struct reservation *r, const struct backfill_check *c)
{
	if (r->start_ms == TIME_UNKNOWN)
		return true;
	if (c->future && r->work && r->start_ms <= c->now_ms)
		return false;
	return r->start_ms < c->end_ms && r->end_ms > c->now_ms;
}

/* Whether the one at that place is to be heeded by who asks. */
static bool counts(const struct backfill_check *c, size_t i)
{
	if (i < c->backfill->nblocks && (c->exempt >> i & 1))
		return false;
	return concerns(&c->backfill->items[i], c);
}

const struct reservation *backfill_barrier(const struct backfill_check *c, const struct node *n, const struct shape *sh)
{
	const struct backfill *b = c->backfill;
	size_t at = node_index(n);

	for (size_t i = 0; i < b->n; i++) {
		const struct reservation *r = &b->items[i];

		if (at >= r->slots || !counts(c, i))
			continue;
		for (size_t k = 0; k < b->resources; k++) {
			int64_t want = shape_wants(sh, k);

			if (want > 0 && want > r->left[at * b->resources + k])
				return r;
		}
	}
	return NULL;
}

bool backfill_allows(const struct backfill_check *c, const struct node *n, const struct shape *sh)
{
	return !backfill_barrier(c, n, sh);
}

int64_t backfill_left(const struct backfill_check *c, const struct node *n, size_t resource)
{
	const struct backfill *b = c->backfill;
	size_t at = node_index(n);
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < b->n && resource < b->resources; i++) {
		const struct reservation *r = &b->items[i];

		if (at < r->slots && counts(c, i) && r->left[at * b->resources + resource] < least)
			least = r->left[at * b->resources + resource];
	}
	return least;
}

void backfill_forget(struct backfill *b, const struct work *w)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->items[i].work == w) {
			b->items[i].work = NULL;
			b->items[i].start_ms = b->items[i].end_ms = 0;
			b->items[i].nseats = 0;
		}
}

static void change_left(const struct backfill *b, struct reservation *r, const struct seat *seat, int sign)
{
	size_t at = node_index(seat->node);

	for (size_t k = 0; at < r->slots && k < b->resources; k++)
		if (r->left[at * b->resources + k] != INT64_MAX)
			r->left[at * b->resources + k] += sign * shape_wants(seat->shape, k);
}

void backfill_take(const struct backfill_check *c, const struct seat *seat, int sign)
{
	struct backfill *b = c->backfill;

	for (size_t i = 0; i < b->n; i++)
		if (counts(c, i))
			change_left(b, &b->items[i], seat, -sign);
}

/* Whether there is more room beside the reservation when the work is gone.  Who would have made way for one of an
 * unknown moment is not known: it stays as it is.  Whole nodes are kept whoever is there, and what those use that a
 * block is for is kept for them. */
static bool gains(const struct reservation *r, const struct work *w)
{
	if (r->start_ms == TIME_UNKNOWN || r->start_ms >= work_end(w, w->started_ms))
		return false;
	return !r->block || (r->block->gpus && !block_is_for(r->block, w));
}

void backfill_yield(const struct backfill_check *c, const struct work *w, const struct seat *seat, int sign)
{
	struct backfill *b = c->backfill;

	for (size_t i = 0; seat->node && i < b->n; i++)
		if (gains(&b->items[i], w))
			change_left(b, &b->items[i], seat, sign);
}

void backfill_evict(const struct backfill_check *c, struct work *w)
{
	struct backfill *b = c->backfill;

	forget_fruitless(b);
	for (size_t i = 0; i < w->n; i++)
		backfill_yield(c, w, &w->members[i].seat, 1);
	for (size_t i = 0; i < b->nendings; i++)
		if (b->endings[i].work == w)
			b->endings[i].at_ms = c->now_ms;
	b->sorted = false;
}

void backfill_began(struct backfill *b, struct work *w, int64_t end_ms)
{
	size_t fresh = 0;

	if (!b->gathered)
		return;
	for (size_t i = 0; i < w->n; i++)
		fresh += w->members[i].fresh;
	/* What ran before the pass is there already. */
	if (fresh < w->nseated)
		return;
	ARRAY_PUSH(b->endings, b->nendings, b->cap_endings, ((struct ending){ .at_ms = end_ms, .work = w }));
	b->sorted = false;
}
