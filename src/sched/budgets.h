// SPDX-License-Identifier: Apache-2.0
/* budgets.h - PodDisruptionBudgets: whom preemption leaves alone */
#ifndef STOKER_SCHED_BUDGETS_H
#define STOKER_SCHED_BUDGETS_H

#include "client/client.h"
#include "sched/feed.h"

struct budgets;

/* `pods` is a cache of all pods that run, `feed` knows their names; `more`: somebody may be evicted who could not. */
struct budgets *budgets_new(struct client *c, const struct feed *feed, const struct informer *pods,
			    void (*more)(void *arg), void *arg);
void budgets_free(struct budgets *b);
bool budgets_synced(const struct budgets *b);
/* For world_set_budgets(); the argument is the budgets. */
bool budgets_allow(void *arg, struct work *const *works, size_t n);

#endif
