// SPDX-License-Identifier: Apache-2.0
/* replicas_plan.h - how many pods a ReplicaSet or ReplicationController lacks or has too many, and its status; pure */
#ifndef STOKER_CONTROL_REPLICAS_PLAN_H
#define STOKER_CONTROL_REPLICAS_PLAN_H

#include "control/pod_facts.h"

#define REPLICAS_BURST 500 /* pods that are made or deleted for one object in one look */

struct replicas_view {
	const json_t *obj;
	const struct pod_facts *const *pods;
	size_t n;
	/* Of all that belong together, its own among them: of two pods on one node one goes first.  Only needed when
	 * there are too many. */
	const struct pod_facts *const *related;
	size_t nrelated;
	int64_t now;        /* seconds since 1970 */
	size_t create_most; /* grows from 1 while it goes well */
	/* Why the last creation and the last deletion failed, or NULL. */
	const char *create_error, *remove_error;
};

struct replicas_plan {
	size_t create;
	const struct pod_facts **remove;
	size_t nremove;
	json_t *status; /* owned */
	int64_t again;  /* seconds after which to plan again even if nothing happens; -1: no need */
};

void replicas_plan(const struct replicas_view *v, struct replicas_plan *ret);
void replicas_plan_done(struct replicas_plan *p);

#endif
