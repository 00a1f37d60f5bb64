// SPDX-License-Identifier: Apache-2.0
/* world_parts.h - what world.c and world_pass.c share */
#ifndef STOKER_SCHED_WORLD_PARTS_H
#define STOKER_SCHED_WORLD_PARTS_H

#include "sched/world.h"

struct world {
	struct world_config config;
	struct space *space;
	struct fair *fair;
	struct backfill backfill;
	struct map queues; /* name -> struct queue */
	struct map works;  /* key -> struct work */
	struct work **running;
	size_t nrunning, cap_running;
	struct work **dated; /* that may begin from a time on */
	size_t ndated, cap_dated;
	struct block *blocks;
	size_t nblocks, cap_blocks;
	bool (*may_evict)(void *arg, struct work *const *works, size_t n);
	void *evict_arg;
	uint64_t ages;
	struct limits pbs_limits; /* of PBS jobs in all queues together */
	struct limits_use pbs_use;
	/* Gone within a pass, which may still look at them: without members, they say nothing. */
	struct work **ghosts;
	size_t nghosts, cap_ghosts;
	/* The pass. */
	uint64_t pass; /* its number */
	bool passing;
	bool changed;    /* something was told that may let something start */
	int64_t next_ms; /* a pass is due then although nothing is told */
	int64_t lowest;  /* precedence of what runs, if it is known; nothing below it can be evicted */
	size_t nlowest;  /* so many have it */
	bool lowest_known;
	int64_t boost_ms; /* when the old were looked for last */
	unsigned limit_looks;
};

/* Where a work may sit: at nodes with its queue's properties, and where it leaves reservations their room. */
struct permit {
	const struct work *work;
	struct backfill_check check;
	bool reservations; /* are looked at */
};
/* For a space_filter. */
bool permit_allows(void *arg, const struct node *n, const struct shape *sh);
bool permit_has_properties(const struct permit *p, const struct node *n);
struct permit permit_for(struct world *w, const struct work *work, int64_t now_ms);

/* The work has begun, or has more or fewer members than before: what it is charged with follows. */
void work_charge(struct world *w, struct work *work);
/* The queue's priority, then its own. */
int64_t work_precedence(const struct work *work);
static inline struct work *work_of_turn(struct turn *t)
{
	return (struct work *)((char *)t - offsetof(struct work, turn));
}
/* Those that are gone for good. */
void world_bury(struct world *w);
/* In the list of what may be started, or not. */
void work_line_up(struct world *w, struct work *work);

/* --- world_blocks.c --- */
void world_blocks_done(struct world *w);

/* --- limit_turn.c --- */
/* A limit is in its way (work->hit): what is left under it is kept for it if it has waited long. */
void limit_keep(struct world *w, struct work *work, int64_t now_ms);
/* That for whom something is kept which the work would still use then, or NULL. */
const struct limit_turn *limit_kept_for(const struct work *work, int64_t now_ms);
/* Nothing is kept for it any more. */
void limit_forget(const struct work *work);

/* --- queue_count.c --- */
/* What the counts of its queue say about it is true again; or they no longer have it. */
void work_recount(struct world *w, struct work *work);
void work_uncount(struct world *w, struct work *work);

#endif
