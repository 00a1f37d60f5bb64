// SPDX-License-Identifier: Apache-2.0
/* world_ask.h - what would be, for those who explain: nothing is decided and nothing changes; pure
 *
 * Reservations are those of the last pass.
 */
#ifndef STOKER_SCHED_WORLD_ASK_H
#define STOKER_SCHED_WORLD_ASK_H

#include "sched/shortage.h"
#include "sched/world.h"

/* A pass is under way: who walks the line now makes it begin anew. */
bool world_is_passing(const struct world *w);
/* Its number, or 0. */
uint64_t world_pass_under_way(const struct world *w);

/* Whether something is held, and so not in line; if not, nobody needs to look for it. */
bool world_has_held(const struct world *w);

/* As many seats as it needs to start: all of a gang, or one more. */
size_t work_needs(const struct work *work);
/* All its members together. */
int64_t work_wants(const struct work *work, size_t resource);
/* What a gang wants more of, for all at once, than an empty machine has: it can never start.  SIZE_MAX: nothing. */
size_t work_exceeds_machine(const struct space *s, const struct work *work);
/* It alone is more than the share of its queue, which may not borrow: it can never start there. */
bool work_exceeds_share(const struct world *w, const struct work *work);
/* How many of its members without a seat would find one now if it ran until end_ms; `reservations`: heeding those. */
size_t world_room(struct world *w, const struct work *work, int64_t now_ms, int64_t end_ms, bool reservations);
/* Whether others would be evicted for it, did PodDisruptionBudgets not protect them. */
bool world_budgets_forbid(struct world *w, struct work *work, int64_t now_ms);
/* The longest time for which it could start now although reservations are near, in ms; 0: not for any. */
int64_t world_longest(struct world *w, const struct work *work, int64_t now_ms);
/* The reservation that keeps it from room that is free, or NULL. */
const struct reservation *world_barrier(struct world *w, const struct work *work, int64_t now_ms);
/* What a shape of its lacks at nodes of its queue; with `reservations`, of what those leave. */
void world_shortage(struct world *w, const struct work *work, struct shape *sh, int64_t now_ms, bool reservations,
		    struct shortage *ret);

#endif
