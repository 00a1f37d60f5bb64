// SPDX-License-Identifier: Apache-2.0
/* node_lease.h - a small object that says every few seconds that this node is alive: Lease kube-node-lease/NAME */
#ifndef STOKER_NODE_NODE_LEASE_H
#define STOKER_NODE_NODE_LEASE_H

#include "client/client.h"

struct node_lease;

/* `lost`: for a while nobody could hear of this node, or its Node was deleted; the Node should be written again. */
struct node_lease *node_lease_new(struct client *c, const char *name, void (*lost)(void *arg), void *arg);
void node_lease_free(struct node_lease *l);
/* The Node was written; the first time starts it. */
void node_lease_belongs_to(struct node_lease *l, const char *node_uid);

#endif
