// SPDX-License-Identifier: Apache-2.0
/* fair.h - whose turn it is: a tree of shares with a memory of past use; pure
 *
 * Queues, the groups in them, and the users in those are the nodes of a tree.  Each has a weight and a record of use,
 * of which half is forgotten every half-life.  Whose turn it is follows from the top: at each level the child with the
 * least use for its weight, and among equals the one whose oldest work is oldest.
 *
 * Forgetting is the same for all, so it changes no order: instead of shrinking what was, what is new counts more, and
 * once in a while all numbers are divided by the same.
 */
#ifndef STOKER_SCHED_FAIR_H
#define STOKER_SCHED_FAIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAIR_HALF_LIFE (7 * 24 * 3600) /* seconds */

struct fair;
struct share; /* a node of the tree */

struct fair *fair_new(int64_t half_life /* seconds; 0: nothing is remembered */);
void fair_free(struct fair *f);
/* Time goes on; a clock that is set back does nothing. */
void fair_now(struct fair *f, int64_t now_ms);

/* Found or made: "queue", or "group" in a queue, or "user" in a group.  parent NULL: at the top. */
struct share *fair_share(struct fair *f, struct share *parent, const char *name);
const char *share_name(const struct share *s);
struct share *share_parent(const struct share *s);
void share_set_weight(struct fair *f, struct share *s, double weight);
/* `amount` of use now (fraction of the machine times seconds), for the leaf and all above it. */
void fair_charge(struct fair *f, struct share *leaf, double amount);
/* What counts of it now, and that for its weight. */
double share_use(const struct fair *f, const struct share *s);
double share_level(const struct fair *f, const struct share *s);
/* The share of the machine that the tree promises it, 0..1, among those with `active` work. */
double share_due(const struct share *s);

/* --- walking in order ---
 * Leaves hold lists of waiting things, oldest first (`struct turn` embedded in them).  A walk hands them out in order
 * of whose turn it is; what is started is charged in advance, for the walk only, so that equals alternate. */
struct turn {
	struct share *leaf;       /* NULL: in no list */
	struct turn *prev, *next; /* in the leaf's list */
	int64_t rank;             /* higher first, before any fairness: a walk is over one rank after the other */
	uint64_t age;             /* lower is older */
};
void fair_enter(struct fair *f, struct share *leaf, struct turn *t);
void fair_leave(struct fair *f, struct turn *t);

struct fair_walk;
/* One walk at a time.  Things may enter and leave meanwhile: who enters is seen by the next walk. */
struct fair_walk *fair_walk_new(struct fair *f);
/* The next, or NULL at the end. */
struct turn *fair_walk_next(struct fair_walk *w);
/* What it handed out last was started, and would use so much: its leaf goes back in the line. */
void fair_walk_charge(struct fair_walk *w, double amount);
/* No more from this leaf, or from anything below this share, in this walk and rank (a limit is reached, a queue is
 * stopped). */
void fair_walk_skip(struct fair_walk *w, struct share *s);
void fair_walk_free(struct fair_walk *w);

/* Across restarts: {"now": seconds, "use": {"queue": {"group": {"user": number}}}}; reading adds to what is there. */
json_t *fair_save(const struct fair *f);
void fair_load(struct fair *f, const json_t *saved);

#endif
