// SPDX-License-Identifier: Apache-2.0
/* work.h - what waits and runs: a pod alone, or a gang of them */
#ifndef STOKER_SCHED_WORK_H
#define STOKER_SCHED_WORK_H

#include "kinds/queue_limits.h"
#include "sched/backfill.h"
#include "sched/fair.h"
#include "sched/quota.h"
#include "sched/space.h"

#define WALLTIME_NONE (-1) /* it may run for ever */

/* What keeps a work from being considered at all. */
enum work_hold {
	HOLD_USER = 1 << 0,     /* stoker.dev/hold: user; qhold -h u */
	HOLD_OPERATOR = 1 << 1, /* stoker.dev/hold: operator */
	HOLD_SYSTEM = 1 << 2,
	HOLD_AFTER = 1 << 3,   /* waits for another workload (depend.h) */
	HOLD_MEMBERS = 1 << 4, /* not all pods of the gang are there */
	HOLD_SLOT = 1 << 5,    /* of an array that runs as many as it may */
};

/* Why it did not start when it was looked at last. */
enum work_why {
	WHY_NOT_SEEN, /* nobody has looked yet */
	WHY_HELD,
	WHY_NOT_BEFORE,
	WHY_QUEUE_STOPPED, /* or there is no such queue */
	WHY_LIMIT,         /* work->hit */
	WHY_QUOTA,         /* work->quota */
	WHY_SHARE,         /* the queue may not borrow, and has its share of the machine */
	WHY_IMPOSSIBLE,    /* no node could ever take it */
	WHY_NO_ROOM,
	WHY_RESERVED,   /* there is room, but it would delay another's reservation */
	WHY_PREEMPTING, /* victims are going */
	WHY_STARTING,
};

struct member {
	char *id; /* the pod's uid */
	struct seat seat;
	bool bound; /* the API has it; otherwise the seat is ours to give */
	bool fresh; /* the seat is from the last decision; whoever carries it out takes note and clears this */
};

struct queue;

struct work {
	struct turn turn; /* its place while it waits; turn.leaf is a list of its user's */
	char *key;        /* "ns/pods/name", or "ns/gang": unique */
	struct queue *queue;
	char *user, *group;
	char *after; /* with HOLD_AFTER: what it waits for, in words; or NULL */
	bool stuck;  /* with HOLD_AFTER: that never comes true by itself */
	int64_t priority;
	int64_t submitted_ms, not_before_ms;
	int64_t walltime_ms;
	int64_t started_ms; /* 0: it does not run */
	unsigned holds;
	bool may_preempt; /* its priority class says so */
	bool may_requeue; /* as a victim it can wait and run again */
	bool pbs;         /* of a PBS job */
	bool run_now;     /* an operator says so */
	bool boosted;     /* so old that it goes before all others of its queue's priority */
	size_t size;      /* so many members must have room at once */
	struct member *members;
	size_t n, cap;
	size_t nbound, nseated;          /* of them with a node as the API has it; and with a seat */
	struct amount_of_limits asks;    /* of all members together */
	struct amount_of_limits counted; /* what the queue and its user were charged with while it runs */
	double cost;                     /* so was the tree of shares */
	size_t running_at;               /* place in the world's list of what runs */
	int standing;                    /* queue_count.c's, as is: */
	size_t dated_at;                 /* place in the world's list of what waits for a time */
	/* What the last pass found. */
	enum work_why why;
	struct limit_hit hit;
	struct quota_hit quota;
	bool hit_server;                 /* it is a limit of the PBSServer's, not of the queue's */
	struct reservation *reservation; /* or NULL */
	struct work *evicted_for;        /* it is being evicted; the other may be gone: only compare */
	bool gives_back;                 /* then: because its queue has borrowed */
	bool ends_soon;                  /* so soon that nobody needs to evict it; preempt.c's, of the last plan */
	uint64_t soon_pass;              /* the last pass in which its room was given to who waits for that */
	bool claims;                     /* others give back for it: nobody borrows that before it has started */
	void *arg;                       /* the owner's */
};

/* A gang that has a member with a seat has begun: the others follow one by one. */
static inline bool work_has_begun(const struct work *w)
{
	return w->nseated > 0;
}

/* One pod that is no gang. */
static inline bool work_is_alone(const struct work *w)
{
	return w->n == 1 && w->size <= 1;
}

/* Whose a limit's room is; of the last pass. */
struct limit_turn {
	const struct work *work; /* or NULL */
	int64_t at_ms;           /* there is room for it then */
	enum limit_of of;        /* what is limited */
};

/* A queue as the plan sees it. */
struct queue {
	char *name;
	int64_t priority;
	bool exists; /* false: work names it, but nobody has made it or it was deleted */
	bool enabled, started, borrowing;
	bool open; /* takes what anybody puts into it: no ACL, no Route, not from Routes only */
	double weight;
	struct limits limits;
	struct limits_use use;
	struct limit_turn turns[LIMIT_SCOPE__COUNT];
	struct quota quota;
	struct amount_of_limits claimed;              /* by works that have claims */
	int64_t default_walltime_ms, max_walltime_ms; /* WALLTIME_NONE: none */
	char **properties;                            /* labels or properties that nodes must have; NULL-terminated */
	struct share *share;
	size_t works, running; /* all, and those of them that have begun */
	size_t held;           /* not for missing members */
};

#endif
