// SPDX-License-Identifier: Apache-2.0
/* backfill.h - who gets a reservation, and who may start in front of it; pure
 *
 * The first works of a pass that find no room get a reservation each: the earliest moment at which, by the walltimes of
 * what runs, there is room for all their members, and the nodes there.  A work behind them starts only if, at every
 * moment of its own walltime, each reservation still has its room.
 *
 * What runs without a walltime never ends as far as is known.  If no moment can be told, the reservation is of nodes
 * without a time: those where the least stands in the way, and nobody else sits down there who might still be there
 * when they become free.  So even then an old large work does not starve.
 */
#ifndef STOKER_SCHED_BACKFILL_H
#define STOKER_SCHED_BACKFILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/space.h"

#define RESERVATIONS_MOST 16
#define TIME_UNKNOWN      INT64_MAX

struct work;

struct reservation {
	struct work *work;        /* NULL: an advance reservation or a maintenance, of `nodes` */
	int64_t start_ms, end_ms; /* TIME_UNKNOWN: not before something without a walltime ends; never ends */
	int64_t *left;            /* what others may use at each node while it is there: slots x resources */
	size_t nodes;             /* slots */
};

struct backfill {
	struct reservation items[RESERVATIONS_MOST];
	size_t n;
	size_t resources;
	/* What runs, by when it ends; refreshed by backfill_begin(). */
	struct ending *endings;
	size_t nendings, cap_endings;
};

/* When something that runs ends at the latest, and what it gives back then. */
struct ending {
	int64_t at_ms; /* TIME_UNKNOWN */
	struct work *work;
};

void backfill_init(struct backfill *b);
void backfill_done(struct backfill *b);
/* A pass begins: reservations of the last one are forgotten. */
void backfill_begin(struct backfill *b, struct space *s, int64_t now_ms, struct work *const *running, size_t n);
/* A reservation for a work that finds no room now; NULL if there are as many as may be. */
struct reservation *backfill_reserve(struct backfill *b, struct space *s, struct work *w, int64_t now_ms);
/* Nodes that are somebody's, or nobody's, for a time: no work sits there that would still be there at start_ms.
 * nodes: names, NULL-terminated. */
void backfill_block(struct backfill *b, struct space *s, const char *const *nodes, int64_t start_ms, int64_t end_ms);
/* For space_find(): may something that lasts until end_ms sit at a node, as far as reservations go?  Set up `f` with
 * it. */
struct backfill_check {
	const struct backfill *backfill;
	int64_t now_ms, end_ms;
	const struct work *self; /* its own reservation does not count */
};
void backfill_filter(struct backfill_check *c, struct space_filter *ret);
/* It sat down and will be there until end_ms: what it takes from the reservations' remainders. */
void backfill_took(struct backfill *b, const struct seat *seat, int64_t end_ms);

#endif
