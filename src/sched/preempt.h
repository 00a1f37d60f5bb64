// SPDX-License-Identifier: Apache-2.0
/* preempt.h - whom to evict so that a work of a higher priority has room; pure
 *
 * Only works of a lower priority, whole gangs of them, the cheapest: the lowest priority first, then those with which
 * the least is lost of what was computed.  Work that may not be requeued is taken only if nothing else helps.  What a
 * PodDisruptionBudget protects is not taken, and between queues with quotas quota.h says who may be.  Nobody is evicted
 * in vain: if the room that they leave is reserved for others, they stay.
 *
 * Nor is who ends, by his walltime, within the time that an eviction takes: waiting for that is as quick, and nothing
 * is lost.  And who has just begun gets a moment: else short work that starts in gaps between larger ones is thrown out
 * again and again, and never ends.
 */
#ifndef STOKER_SCHED_PREEMPT_H
#define STOKER_SCHED_PREEMPT_H

#include "sched/work.h"

struct preempt_view {
	struct space *space;
	struct work *const *running;
	size_t n;
	int64_t now_ms;
	const struct map *queues;          /* all of them, by name */
	uint64_t pass;                     /* its number, for work.soon_pass */
	int64_t young_ms;                  /* see world_config */
	const struct space_filter *filter; /* where the work may sit; NULL: anywhere */
	struct backfill_check *check;      /* the reservations that the filter heeds; NULL: none */
	/* Whether evicting all of these together leaves every budget whole; NULL: there are none. */
	bool (*may_evict)(void *arg, struct work *const *works, size_t n);
	void *arg;
};

#define PREEMPT_SOON_MS 30000 /* what a pod has to end in, if nobody says otherwise */

/* The victims, malloc'ed; 0 if there is no set that helps, or those that are going already are enough.  The space is as
 * before.  *ret_soon: until when those are waited for whose end is near (work.ends_soon), TIME_UNKNOWN without any. */
size_t preempt_plan(const struct preempt_view *v, struct work *w, struct work ***ret_victims, int64_t *ret_soon);
/* Whether there would be victims if there were no budgets; for those who explain that there are none. */
bool preempt_is_forbidden(const struct preempt_view *v, struct work *w);

#endif
