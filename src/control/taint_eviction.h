// SPDX-License-Identifier: Apache-2.0
/* taint_eviction.h - pods leave nodes whose NoExecute taints they do not tolerate, or no longer */
#ifndef STOKER_CONTROL_TAINT_EVICTION_H
#define STOKER_CONTROL_TAINT_EVICTION_H

#include "control/owned.h"
#include "control/workqueue.h"

struct taint_eviction;

/* `owned` outlives it. */
struct taint_eviction *taint_eviction_new(struct client *c, struct owned *owned);
void taint_eviction_free(struct taint_eviction *k);
struct workqueue_counts taint_eviction_counts(const struct taint_eviction *k);

#endif
