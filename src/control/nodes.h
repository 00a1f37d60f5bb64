// SPDX-License-Identifier: Apache-2.0
/* nodes.h - node lifecycle: nodes that fall silent are marked, and their pods with them */
#ifndef STOKER_CONTROL_NODES_H
#define STOKER_CONTROL_NODES_H

#include "control/owned.h"
#include "control/workqueue.h"

struct nodes;

/* `owned` outlives it.  A node may be silent for as long as its lease says: 40 seconds, if it does not. */
struct nodes *nodes_new(struct client *c, struct owned *owned);
void nodes_free(struct nodes *k);
struct workqueue_counts nodes_counts(const struct nodes *k);

#endif
