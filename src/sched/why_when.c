// SPDX-License-Identifier: Apache-2.0
/* why_when.c - until when something waits, in words: whose end lets it start, or why nobody can tell
 *
 * The look ahead knows whose end it was that let a work start there.  Where there is none, whoever ends at that very
 * moment is the one: what runs, what has a reservation before it, or a Reservation.
 */
#include "sched/why_parts.h"
#include "sched/world_parts.h"

/* ---- who has what it waits for ---- */

/* Of what runs, those that stand in its way. */
struct holders {
	const struct why_view *v;
	const struct in_the_way *those;
	int64_t by_ms;     /* one that ends just then is the one that is waited for */
	struct work *next; /* ends first, or then */
	int64_t next_ms;
	const struct work *endless; /* the first that has no walltime */
	const struct work *late;    /* the first that should have ended long ago */
	size_t nendless, n;
};

static bool see_holder(void *arg, struct work *work)
{
	struct holders *h = arg;
	int64_t end_ms = work_end(work, work->started_ms);

	if (work == h->v->work || !h->those->has(h->v, work, h->those->resource))
		return true;
	h->n++;
	if (end_ms == TIME_UNKNOWN) {
		h->endless = h->endless ? h->endless : work;
		h->nendless++;
	} else if (work_ends_by(work, h->v->now_ms) == TIME_UNKNOWN) {
		h->late = h->late ? h->late : work;
	} else if (end_ms > h->v->now_ms &&
		   (!h->next || end_ms == h->by_ms || (h->next_ms != h->by_ms && end_ms < h->next_ms))) {
		h->next = work;
		h->next_ms = end_ms;
	}
	return true;
}

/* ---- a moment that is known ---- */

static void say_end(const struct why_view *v, const struct work *other, int64_t end_ms, struct sbuf *out)
{
	say_other(v, other, out);
	sbuf_adds(out, work_has_begun(other) ? " ends by " : " runs before it, until ");
	say_time(end_ms, v->now_ms, out);
	sbuf_adds(out, " at the latest");
}

/* A work began when its pod was bound; the last pass may have reckoned from when it decided that. */
static bool is_about(int64_t a_ms, int64_t b_ms)
{
	return a_ms != TIME_UNKNOWN && b_ms != TIME_UNKNOWN && a_ms - b_ms < 2000 && b_ms - a_ms < 2000;
}

struct ending_then {
	const struct why_view *v;
	const struct work *work;
	int64_t at_ms;
};

static bool see_ending(void *arg, struct work *work)
{
	struct ending_then *then = arg;

	if (work != then->v->work && is_about(work_end(work, work->started_ms), then->at_ms))
		then->work = work;
	return !then->work;
}

/* What ends at that moment, as far as the world itself knows. */
static bool say_ending_then(const struct why_view *v, int64_t at_ms, const struct block *said, struct sbuf *out)
{
	struct ending_then then = { .v = v, .at_ms = at_ms };
	const struct backfill *b = &v->world->backfill;

	world_each_running(v->world, see_ending, &then);
	for (size_t i = 0; i < b->n && !then.work; i++) {
		const struct reservation *r = &b->items[i];

		if (!is_about(r->end_ms, at_ms) || r->work == v->work)
			continue;
		if (r->block && r->block == said)
			return false;
		if (r->block) {
			sbuf_addf(out, "reservation %s ends at ", r->block->key);
			say_time(at_ms, v->now_ms, out);
			return true;
		}
		then.work = r->work;
	}
	if (then.work)
		say_end(v, then.work, at_ms, out);
	return then.work != NULL;
}

void say_reserved_start(const struct why_view *v, const struct block *said, struct sbuf *out)
{
	const struct reservation *r = v->work->reservation;

	if (!r || r->work != v->work || r->start_ms == TIME_UNKNOWN || r->start_ms <= v->now_ms)
		return;
	sbuf_adds(out, " (");
	if (say_ending_then(v, r->start_ms, said, out))
		sbuf_adds(out, ", ");
	sbuf_adds(out, "expected start ");
	say_time(r->start_ms, v->now_ms, out);
	sbuf_addc(out, ')');
}

/* ---- a moment that is not ---- */

static void say_endless(const struct why_view *v, const struct holders *h, struct sbuf *out)
{
	if (h->nendless > 1 && h->nendless == h->n) {
		sbuf_addf(out, "the %zu jobs that stand in the way have no walltime", h->n);
	} else if (h->nendless > 1) {
		sbuf_addf(out, "%zu of the %zu jobs that stand in the way have no walltime", h->nendless, h->n);
	} else {
		say_other(v, h->endless, out);
		if (h->n > 1)
			sbuf_addf(out, ", one of the %zu that stand in the way, has no walltime", h->n);
		else
			sbuf_adds(out, ", which stands in the way, has no walltime");
	}
}

/* The first reservation that it is kept from and that nobody has said the end of, or NULL. */
static const struct block *endless_block(const struct why_view *v)
{
	const struct world *w = v->world;

	for (size_t i = 0; i < w->nblocks; i++)
		if (w->blocks[i].end_ms == TIME_UNKNOWN && !block_is_for(&w->blocks[i], v->work))
			return &w->blocks[i];
	return NULL;
}

static void say_unknown(const struct why_view *v, const struct holders *h, struct sbuf *out)
{
	const struct block *block = endless_block(v);

	if (!h->nendless && !h->late && !v->foretold)
		return;
	sbuf_adds(out, "; when it can start is not known");
	if (h->nendless) {
		sbuf_adds(out, ": ");
		say_endless(v, h, out);
	} else if (h->late) {
		sbuf_adds(out, ": ");
		say_other(v, h->late, out);
		sbuf_adds(out, " should have ended by ");
		say_time(work_end(h->late, h->late->started_ms), v->now_ms, out);
	} else if (v->behind) {
		sbuf_adds(out, ": ");
		say_other(v, v->behind, out);
		sbuf_adds(out, " starts before it and has no walltime");
	} else if (block) {
		sbuf_addf(out, ": reservation %s has no end", block->key);
	}
}

/* ---- both ---- */

static bool nobody(const struct why_view *v, const struct work *other, size_t resource)
{
	(void)v;
	(void)other;
	(void)resource;
	return false;
}

void say_when(const struct why_view *v, const struct in_the_way *those, struct sbuf *out)
{
	static const struct in_the_way none = { .has = nobody };
	const struct reservation *r = v->work->reservation;
	struct holders h = { .v = v, .those = those ? those : &none, .by_ms = v->expected_ms };

	if (v->expected_ms != TIME_UNKNOWN && v->expected_ms <= v->now_ms)
		return;
	if (v->expected_ms != TIME_UNKNOWN && v->after) {
		sbuf_adds(out, "; ");
		say_end(v, v->after, v->expected_ms, out);
		return;
	}
	if (h.by_ms == TIME_UNKNOWN && r && r->work == v->work)
		h.by_ms = r->start_ms;
	world_each_running(v->world, see_holder, &h);
	if (h.next) {
		sbuf_adds(out, "; ");
		say_end(v, h.next, h.next_ms, out);
	}
	if (v->expected_ms == TIME_UNKNOWN)
		say_unknown(v, &h, out);
}
