// SPDX-License-Identifier: Apache-2.0
/* daemonset.h - DaemonSets keep one pod on each node that takes it */
#ifndef STOKER_CONTROL_DAEMONSET_H
#define STOKER_CONTROL_DAEMONSET_H

#include "client/client.h"
#include "control/owned.h"
#include "control/workqueue.h"

struct daemonsets;

/* `owned` is shared and outlives it. */
struct daemonsets *daemonsets_new(struct client *c, struct owned *owned);
void daemonsets_free(struct daemonsets *k);
struct workqueue_counts daemonsets_counts(const struct daemonsets *k);

#endif
