// SPDX-License-Identifier: Apache-2.0
/* budget.h - which evictions a PodDisruptionBudget has a say in; pure */
#ifndef STOKER_KINDS_BUDGET_H
#define STOKER_KINDS_BUDGET_H

#include <jansson.h>
#include <stdbool.h>

/* A budget counts pods that run; to remove any other disturbs nobody. */
bool budget_is_needed(const json_t *pod);
/* Whether the eviction of a pod that the budget is about is one of those it allows.  A pod that is not ready counts for
 * nothing, so it may go if the others are enough or the budget does not mind. */
bool budget_counts(const json_t *budget, const json_t *pod);

#endif
