// SPDX-License-Identifier: Apache-2.0
/* replicas.h - ReplicaSets and ReplicationControllers keep their number of pods */
#ifndef STOKER_CONTROL_REPLICAS_H
#define STOKER_CONTROL_REPLICAS_H

#include "client/client.h"
#include "control/owned.h"
#include "control/workqueue.h"

struct replicas;

/* `owned` is shared and outlives them. */
struct replicas *replicasets_new(struct client *c, struct owned *owned);
struct replicas *replicationcontrollers_new(struct client *c, struct owned *owned);
void replicas_free(struct replicas *k);
struct workqueue_counts replicas_counts(const struct replicas *k);
#define replicasets_free              replicas_free
#define replicationcontrollers_free   replicas_free
#define replicasets_counts            replicas_counts
#define replicationcontrollers_counts replicas_counts

#endif
