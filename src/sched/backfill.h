// SPDX-License-Identifier: Apache-2.0
/* backfill.h - who gets a reservation, and who may start in front of it; pure
 *
 * The first works of a pass that find no room get a reservation each: the earliest moment at which, by the walltimes of
 * what runs and by the reservations before it, there is room for all their members.  A work behind them starts only if
 * it leaves each reservation its room at the moment when that begins.
 *
 * What runs without a walltime never ends as far as is known.  If no moment can be told, a work gets a reservation only
 * when it has waited long: of the nodes where the least stands in its way, from the unknown moment on when that is
 * gone. Nobody else sits down in that room.  So small work without a walltime flows around a large one for a while, but
 * not for ever.
 */
#ifndef STOKER_SCHED_BACKFILL_H
#define STOKER_SCHED_BACKFILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/space.h"

#define RESERVATIONS_MOST 16
/* With those for whom others are being evicted, and who need not wait for their turn to have a reservation. */
#define RESERVATIONS_ALL 64
#define BLOCKS_MOST      48 /* those that begin first count; bits of a word */
#define ITEMS_MOST       (BLOCKS_MOST + RESERVATIONS_ALL)
#define TIME_UNKNOWN     INT64_MAX
/* What looking ahead in vain may cost in one pass: sorts of works that are remembered, and moments looked at. */
#define FRUITLESS_MOST  64
#define FRUITLESS_STEPS 16384

struct work;

/* Nodes, or GPUs wherever they are, that are only for some from a time on: maintenance, advance reservations. */
struct block {
	char *key;
	char **nodes;                     /* of these, NULL-terminated; NULL: of all */
	int64_t gpus;                     /* so many GPUs; 0: the whole nodes */
	int64_t start_ms, end_ms;         /* TIME_UNKNOWN: until it is taken back */
	char **users, **groups, **queues; /* whose work is not kept out; NULL-terminated, or NULL */
};
/* Whether the work is one of those that it is for. */
bool block_is_for(const struct block *b, const struct work *w);

struct reservation {
	struct work *work; /* NULL: a block */
	const struct block *block;
	int64_t start_ms, end_ms; /* TIME_UNKNOWN: not before something without a walltime ends; never */
	struct seat *seats;       /* where its members would sit */
	size_t nseats;
	int64_t *left; /* what others may use of each node from its start on: slots x resources */
	size_t slots;
};

/* By so much may a work be late, because it is still ending: who is more so promises nothing. */
#define OVERDUE_MS (5 * 60 * 1000)
/* When what runs ends at the latest, as far as one can rely on it; TIME_UNKNOWN. */
int64_t work_ends_by(const struct work *w, int64_t now_ms);

/* When something that runs ends. */
struct ending {
	int64_t at_ms; /* TIME_UNKNOWN */
	struct work *work;
};

/* Works like this one get no reservation in this pass. */
struct fruitless {
	const struct shape *shape; /* of all members */
	const struct queue *queue; /* if it has a word about nodes; or NULL */
	uint64_t exempt;
	size_t size;    /* or more members */
	int64_t end_ms; /* or later, if it began now */
	bool old;       /* however long they wait; else only those that have not waited long */
};

struct backfill {
	struct reservation items[ITEMS_MOST]; /* blocks first */
	size_t n, nblocks;
	size_t resources;
	struct ending *endings; /* of what runs, once somebody has asked in this pass */
	size_t nendings, cap_endings;
	bool gathered, sorted;
	bool sorted_endless; /* those among them that end at no known time, which are the last */
	int64_t patience_ms; /* how long a work waits before it gets a reservation of an unknown moment */
	/* Of this pass. */
	struct fruitless fruitless[FRUITLESS_MOST];
	size_t nfruitless, steps;
	size_t searches; /* looks ahead, in vain or not */
};

void backfill_init(struct backfill *b, int64_t patience_ms);
void backfill_done(struct backfill *b);
/* A pass begins: reservations of the last one are forgotten. */
void backfill_begin(struct backfill *b, struct space *s);
/* What runs, for who looks ahead or evicts: before the first of them in a pass. */
void backfill_gather(struct backfill *b, int64_t now_ms, struct work *const *running, size_t n);
/* A work's reservation is no more: it has fewer members, or is gone. */
void backfill_drop(struct backfill *b, struct work *w);
/* A reservation for a work that finds no room now, or NULL: there are `most`, or nothing can be said.  Room only
 * shrinks within a pass, so who is like one that looked in vain does not look, and when many did nobody looks any more.
 */
struct reservation *backfill_reserve(struct backfill *b, struct space *s, struct work *w, int64_t now_ms, size_t most);
/* Before any reservation: no work sits there that would still be there when the block begins, but for those that it is
 * for.  The block stays the caller's until the next pass begins. */
void backfill_block(struct backfill *b, struct space *s, const struct block *block);
/* The blocks that do not count for a work, as bits. */
uint64_t backfill_exempt(const struct backfill *b, const struct work *w);
/* For space_find(): may something that lasts from now_ms to end_ms sit at a node, as far as reservations go? */
struct backfill_check {
	struct backfill *backfill;
	int64_t now_ms, end_ms;
	uint64_t exempt; /* backfill_exempt() */
	bool future;     /* of a trial, in which reservations that have begun by now_ms sit in the space */
};
bool backfill_allows(const struct backfill_check *c, const struct node *n, const struct shape *sh);
/* The first reservation that forbids it, or NULL. */
const struct reservation *backfill_barrier(const struct backfill_check *c, const struct node *n,
					   const struct shape *sh);
/* How much of a resource all reservations together leave to it at a node; INT64_MAX: they do not matter. */
int64_t backfill_left(const struct backfill_check *c, const struct node *n, size_t resource);
/* The work is gone before its time came: nothing is kept for it. */
void backfill_forget(struct backfill *b, const struct work *w);
/* Somebody sits down there (sign 1) or rises again (-1): what that takes from the reservations. */
void backfill_take(const struct backfill_check *c, const struct seat *seat, int sign);
/* A seat of what runs is free for a trial (sign 1), or is not (-1): reservations that counted on less have more. */
void backfill_yield(const struct backfill_check *c, const struct work *w, const struct seat *seat, int sign);
/* Something that runs will be evicted: its room is there for all from now on. */
void backfill_evict(const struct backfill_check *c, struct work *w);
/* A work has begun in this pass, or has more members with a fresh seat. */
void backfill_began(struct backfill *b, struct work *w, int64_t end_ms);

#endif
