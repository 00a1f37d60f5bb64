// SPDX-License-Identifier: Apache-2.0
/* world.h - all that waits and runs, and what to do about it: the scheduler's plan; pure
 *
 * The server tells it what happens (sched.c), a simulation what would (simulate.c); both ask it for passes.  A pass
 * walks what waits in order (queue priority, job priority, fair share, age), starts what has room and delays nobody's
 * reservation, reserves for the first that have none, and evicts for those of a higher priority.
 *
 * A long pass is done in slices: between two of them anything may change.
 */
#ifndef STOKER_SCHED_WORLD_H
#define STOKER_SCHED_WORLD_H

#include "sched/preempt.h"
#include "sched/work.h"

struct world;

struct world_config {
	int64_t half_life; /* seconds */
	enum space_policy policy;
	bool backfill, preemption;
	bool fair_share;     /* false: in a queue, first come, first served */
	int64_t patience_ms; /* see backfill.h */
	int64_t starving_ms; /* a work that old goes before all of its queue's priority; 0: never */
	int64_t young_ms;    /* who began later than this is not evicted, if waiting so long helps */
};
#define WORLD_CONFIG                                                                                                   \
	{                                                                                                              \
		.half_life = FAIR_HALF_LIFE, .backfill = true, .preemption = true, .fair_share = true,                 \
		.patience_ms = 3600 * 1000, .starving_ms = (int64_t)3 * 24 * 3600 * 1000, .young_ms = 1000             \
	}

struct world *world_new(const struct world_config *config);
void world_free(struct world *w);
struct space *world_space(struct world *w);
struct fair *world_fair(struct world *w);

/* --- what is told --- */
/* A Node, as space.h takes it. */
void world_set_node(struct world *w, const json_t *node);
/* The labels of a namespace, or NULL: it is gone. */
void world_set_namespace(struct world *w, const char *name, const json_t *labels);
void world_remove_node(struct world *w, const char *name);
/* Something outside may have made a start possible: look again. */
void world_touch(struct world *w);

/* spec of a Queue, NULL for defaults.  A queue that is removed takes nothing new; what is in it stays. */
struct queue *world_queue(struct world *w, const char *name, const json_t *spec);
void world_remove_queue(struct world *w, const char *name);
/* spec of the PBSServer, NULL for no limits of its own. */
void world_pbs_server(struct world *w, const json_t *spec);
void world_pbs_same(struct world *w, const struct world *from);
struct queue *world_find_queue(const struct world *w, const char *name);

/* Facts about a work; texts are copied. */
struct work_facts {
	const char *key, *queue, *user, *group;
	int64_t priority, submitted_ms, not_before_ms, walltime_ms;
	unsigned holds;
	bool may_preempt, may_requeue;
	size_t size;
	const char *after; /* with HOLD_AFTER: what it waits for, in words; NULL */
	bool stuck;        /* with HOLD_AFTER: that never comes true by itself */
	bool pbs;          /* a PBS job's: the PBSServer's limits count it */
	bool run_now;      /* before all others, even if its queue does not start anything */
	int own;           /* higher goes first among its owner's */
	uint64_t place;    /* among its owner's, as place_at() has it; 0: as it came */
};
/* A place that was given in a second since 1970, of several in one second by number, of several by index. */
static inline uint64_t place_at(int64_t seconds, int64_t number, int64_t index)
{
	return (uint64_t)seconds << 32 | ((uint64_t)number & 0xfff) << 20 |
	       (uint64_t)(index < 0xfffff ? index : 0xfffff);
}
/* Made, or changed: its members stay. */
struct work *world_work(struct world *w, const struct work_facts *f);
struct work *world_find(const struct world *w, const char *key);
/* Its holds (enum work_hold) are others now. */
void work_hold(struct world *w, struct work *work, unsigned holds);
/* Takes over one reference of the shape.  A member of that id that is there already is left as it is. */
struct member *work_member(struct world *w, struct work *work, const char *id, struct shape *shape);
/* It has a node, by our decision or another's. */
void work_bound(struct world *w, struct work *work, const char *id, const char *node, card_set cards,
		int64_t started_ms);
/* Its binding was refused: its seat is free again, and it waits. */
void work_unbound(struct world *w, struct work *work, const char *id);
/* Somebody else may give it a node at any moment: it takes the first seat that is free, whoever waits.  If there is
 * none it waits like any other. */
void work_let_in(struct world *w, struct work *work, const char *id, int64_t now_ms);
/* Whoever was a member under one id is one under another: its seat stays. */
void work_rename(struct work *work, const char *id, const char *new_id);
/* The budgets say whether all of these works together may be evicted; NULL: always. */
void world_set_budgets(struct world *w, bool (*may_evict)(void *arg, struct work *const *works, size_t n), void *arg);
/* It has ended or was deleted.  A work without members is freed. */
void work_gone(struct world *w, struct work *work, const char *id, int64_t now_ms);
/* Nodes that are nobody's for a time: maintenance. */
void world_block(struct world *w, const char *key, const char *const *nodes, int64_t start_ms, int64_t end_ms);
/* Nodes or GPUs that are only for some: everything is copied.  Another one of the same key is replaced. */
void world_block_for(struct world *w, const struct block *b);
void world_unblock(struct world *w, const char *key);

/* --- what to do --- */
struct decision {
	enum { DECIDE_START, DECIDE_EVICT } what;
	struct work *work; /* START: members with a seat that are not bound are to be bound there */
	struct work *whom; /* EVICT: for whom */
};
struct decisions {
	struct decision *items;
	size_t n, cap;
	bool more;       /* the pass is not at its end: go on soon */
	int64_t next_ms; /* nothing will change before then unless something is told; TIME_UNKNOWN */
};
/* One slice of a pass; a new one begins if something has changed since the last was over, or its time has come.  It
 * ends when `stop` says so (asked now and then; NULL: never) or when `most` decisions are made.  What is started has
 * its seats at once.  *ret is filled anew. */
struct world_slice {
	int64_t now_ms;
	bool (*stop)(void *arg);
	void *arg;
	size_t most;
};
void world_pass(struct world *w, const struct world_slice *slice, struct decisions *ret);
void decisions_done(struct decisions *d);

/* --- what can be asked --- */
/* All that could be started, in the order of a pass that starts nothing; false from the callback ends it. */
void world_each_waiting(struct world *w, bool (*each)(void *arg, struct work *work, size_t position), void *arg);
void world_each_running(struct world *w, bool (*each)(void *arg, struct work *work), void *arg);
/* Queues, those too that work names and nobody has made; and what is in one. */
void world_each_queue(struct world *w, bool (*each)(void *arg, struct queue *q), void *arg);
struct queue_counts {
	size_t total, queued, held, waiting, running; /* waiting: for a time */
};
struct queue_counts world_count(const struct world *w, const struct queue *q, int64_t now_ms);
/* Everything, in no order. */
void world_each(struct world *w, bool (*each)(void *arg, struct work *work), void *arg);
/* The same in pieces: where it was told false it goes on next time, from *pos, which is 0 at first and after the end;
 * true: this was the end.  What comes and goes in between may be seen twice, or not before the next time. */
bool world_each_from(struct world *w, size_t *pos, bool (*each)(void *arg, struct work *work), void *arg);
/* Why it waits as of now, for what was not looked at in the last pass too; sets work->why and work->hit. */
enum work_why world_why(struct world *w, struct work *work, int64_t now_ms);
/* Whether its queue's node properties let it sit there. */
bool work_may_sit(const struct work *work, const struct node *n);
/* Its own walltime, else its queue's default; in ms, WALLTIME_NONE. */
int64_t work_walltime(const struct work *work);
/* When it ends at the latest if it begins at that time; TIME_UNKNOWN. */
int64_t work_end(const struct work *work, int64_t start_ms);
/* The fraction of the machine that it uses or wants: the largest of its resources'. */
double world_cost(const struct world *w, const struct work *work);

#endif
