// SPDX-License-Identifier: Apache-2.0
/* reserve.h - Reservations as the API has them, told to a world */
#ifndef STOKER_SCHED_RESERVE_H
#define STOKER_SCHED_RESERVE_H

#include "client/client.h"
#include "sched/world.h"

struct reserve;

/* `nodes` is a cache of all Nodes; `changed`: the world should be asked for a pass. */
struct reserve *reserve_new(struct client *c, struct world *w, const struct informer *nodes, void (*changed)(void *arg),
			    void *arg);
/* Before the world and the cache. */
void reserve_free(struct reserve *r);
bool reserve_synced(const struct reserve *r);
/* A node came, went or has other labels. */
void reserve_nodes_changed(struct reserve *r);

#endif
