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
#define FAIR_AHEAD     3600            /* seconds that what runs now counts in advance */

struct fair;
struct share; /* a node of the tree */

struct fair *fair_new(int64_t half_life /* seconds; 0: nothing is remembered */);
void fair_free(struct fair *f);
/* Time goes on, and what runs is charged for it; a clock that is set back does nothing. */
void fair_now(struct fair *f, int64_t now_ms);

/* Found or made: "queue", or "group" in a queue, or "user" in a group.  parent NULL: at the top. */
struct share *fair_share(struct fair *f, struct share *parent, const char *name);
/* A list of a user's for what is equal in some way, so that all of it can be skipped at once.  A user's lists have no
 * shares of their own: the older thing goes first.  It is gone when it is empty. */
struct share *fair_list(struct fair *f, struct share *user, const char *name);
const char *share_name(const struct share *s);
struct share *share_parent(const struct share *s);
/* Above 0; 1 at first. */
void share_set_weight(struct fair *f, struct share *s, double weight);
/* Something of this cost, a fraction of the machine, begins to run for a leaf, or (below 0) has ended. */
void fair_run(struct fair *f, struct share *leaf, double cost);
/* Something of this cost ran for a leaf in the past; what of it was before the half-lives that count makes no
 * difference.  After fair_now(). */
void fair_ran(struct fair *f, struct share *leaf, double cost, int64_t from_ms, int64_t to_ms);
/* What counts now of what it used, in seconds of the whole machine; and with what runs, for its weight. */
double share_use(const struct fair *f, const struct share *s);
double share_level(const struct fair *f, const struct share *s);
/* What the weights promise it, of those that wait or run now: 0..1. */
double share_due(const struct fair *f, const struct share *s);

/* --- looking at it --- */
/* Shares right below one, or (NULL) at the top, in no order; a user's lists are none. */
void fair_each(const struct fair *f, const struct share *parent, void (*each)(void *arg, const struct share *s),
	       void *arg);
double share_weight(const struct share *s);
double share_running(const struct share *s); /* fraction of the machine */
size_t share_waiting(const struct share *s);

/* --- walking in order ---
 * Leaves hold lists of what waits (`struct turn` embedded in it).  A walk hands it out in order: higher ranks first,
 * and in a rank by whose turn it is.  What is started on the way is told by fair_run(), so equals alternate. */
struct turn {
	struct share *leaf;       /* NULL: in no list */
	struct turn *prev, *next; /* in the leaf's list: by rank, then by its owner's will, then by age */
	int64_t rank;             /* higher first, before any fairness */
	int own;                  /* higher first among its owner's, after all fairness */
	uint64_t age;             /* lower is older */
};
void fair_enter(struct fair *f, struct share *leaf, struct turn *t);
void fair_leave(struct fair *f, struct turn *t);
size_t fair_waiting(const struct fair *f);
/* How often two were compared so far to keep lists in order: for tests. */
size_t fair_steps(const struct fair *f);
/* Each list below a share gets another rank and the name that goes with it; what is in it stays in its order.  A walk
 * under way must begin anew.  `name` writes the name for the one that has such a first. */
#define FAIR_LIST_NAME 80
void fair_rerank(struct fair *f, struct share *s,
		 int64_t (*name)(void *arg, struct turn *first, char ret[FAIR_LIST_NAME]), void *arg);
/* The first of each list; nothing may enter or leave meanwhile. */
void fair_each_list(struct fair *f, void (*each)(void *arg, struct turn *first), void *arg);

/* One walk at a time; beginning one ends another.  Between two steps anything may enter, leave, begin and end: who
 * enters may be seen only by the next walk. */
void fair_walk_begin(struct fair *f);
/* The next, or NULL at the end. */
struct turn *fair_walk_next(struct fair *f);
/* Nothing more of a leaf, or of all below a share, in this rank (a limit is reached) or in the whole walk (the queue is
 * stopped). */
void fair_walk_skip(struct fair *f, struct share *s, bool all_ranks);

/* Across restarts: {"at": seconds since 1970, "use": {"queue": {"group": {"user": number}}}}; reading adds to what is
 * there. */
json_t *fair_save(const struct fair *f);
void fair_load(struct fair *f, const json_t *saved, int64_t now_ms);

#endif
