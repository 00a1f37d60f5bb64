// SPDX-License-Identifier: Apache-2.0
/* disruption.h - PodDisruptionBudgets say how many of their pods may be evicted now */
#ifndef STOKER_CONTROL_DISRUPTION_H
#define STOKER_CONTROL_DISRUPTION_H

#include "control/owned.h"
#include "control/workqueue.h"

struct disruption;

/* `owned` outlives it. */
struct disruption *disruption_new(struct client *c, struct owned *owned);
void disruption_free(struct disruption *k);
struct workqueue_counts disruption_counts(const struct disruption *k);

#endif
