// SPDX-License-Identifier: Apache-2.0
/* statefulset.h - the controller of StatefulSets: pods with a number, a name and claims of their own */
#ifndef STOKER_CONTROL_STATEFULSET_H
#define STOKER_CONTROL_STATEFULSET_H

#include "control/owned.h"
#include "control/workqueue.h"

struct statefulsets;

/* `owned` is shared and outlives it. */
struct statefulsets *statefulsets_new(struct client *c, struct owned *owned);
void statefulsets_free(struct statefulsets *k);
struct workqueue_counts statefulsets_counts(const struct statefulsets *k);

#endif
