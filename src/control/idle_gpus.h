// SPDX-License-Identifier: Apache-2.0
/* idle_gpus.h - work that holds GPUs without using them is warned, then ended, where its queue says so */
#ifndef STOKER_CONTROL_IDLE_GPUS_H
#define STOKER_CONTROL_IDLE_GPUS_H

#include "control/owned.h"
#include "control/workqueue.h"

struct idle_gpus;

/* `owned` outlives it. */
struct idle_gpus *idle_gpus_new(struct client *c, struct owned *owned);
void idle_gpus_free(struct idle_gpus *k);
struct workqueue_counts idle_gpus_counts(const struct idle_gpus *k);

#endif
