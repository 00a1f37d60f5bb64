// SPDX-License-Identifier: Apache-2.0
/* nodes_plan.h - what a node's health makes of its conditions and taints, and which pods must leave it; pure */
#ifndef STOKER_CONTROL_NODES_PLAN_H
#define STOKER_CONTROL_NODES_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of the cluster is not ready: when it is most of it, the fault is likely ours, and nobody is evicted. */
enum disruption {
	DISRUPTION_NONE,
	DISRUPTION_PARTIAL, /* 55 % or more, and at least 3: no further node loses its pods */
	DISRUPTION_FULL,    /* no node is ready: none does */
};
enum disruption nodes_disruption(size_t ready, size_t not_ready);

struct node_health {
	const json_t *node;
	bool late; /* nobody has heard of it for longer than is allowed */
	enum disruption disruption;
	int64_t now;
};

struct node_plan {
	json_t *conditions; /* the whole new list, or NULL: they are right */
	json_t *taints;     /* likewise */
};
void node_plan(const struct node_health *h, struct node_plan *p);
void node_plan_done(struct node_plan *p);

/* Whether the node will be not ready once the plan is carried out. */
bool node_is_not_ready(const json_t *node, bool late);

/* Seconds after which a pod must leave a node with these taints, counted from when it met them: 0 at once, -1 never. */
int64_t taint_eviction_after(const json_t *taints, const json_t *tolerations);
bool has_no_execute_taint(const json_t *taints);

#endif
