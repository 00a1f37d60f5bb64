// SPDX-License-Identifier: Apache-2.0
/* deployment.h - Deployments: a number of equal pods, replaced step by step when their template changes */
#ifndef STOKER_CONTROL_DEPLOYMENT_H
#define STOKER_CONTROL_DEPLOYMENT_H

#include "control/owned.h"
#include "control/workqueue.h"

struct deployments;

/* `owned` is shared and outlives it. */
struct deployments *deployments_new(struct client *c, struct owned *owned);
void deployments_free(struct deployments *k);
struct workqueue_counts deployments_counts(const struct deployments *k);

#endif
