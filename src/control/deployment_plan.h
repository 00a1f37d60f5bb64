// SPDX-License-Identifier: Apache-2.0
/* deployment_plan.h - what is to be done for a Deployment now, from it and its ReplicaSets alone; pure
 *
 * A state of the template is a ReplicaSet, named by a hash of the template and numbered by an annotation.  A roll-out
 * moves replicas from old ones to the new one, a few at a time; each plan is one step of it, and the ReplicaSets'
 * counts tell when the next may follow.  An old ReplicaSet stays without replicas for `kubectl rollout undo`, which
 * puts its template back: then it is the new one.
 */
#ifndef STOKER_CONTROL_DEPLOYMENT_PLAN_H
#define STOKER_CONTROL_DEPLOYMENT_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define LABEL_TEMPLATE_HASH "pod-template-hash"
#define NOTE_REVISION       "deployment.kubernetes.io/revision"

struct deployment_child {
	const json_t *set; /* a ReplicaSet */
	bool has_pods;     /* that have not ended; also those that are being deleted */
};

struct deployment_view {
	const json_t *deployment;
	const struct deployment_child *children;
	size_t n;
	int64_t now; /* seconds since 1970 */
};

/* A ReplicaSet as it is to be. */
struct deployment_write {
	json_t *set; /* owned; with the revision it was decided on */
	int64_t from, to;
};

struct deployment_plan {
	json_t *create; /* the ReplicaSet to make, or NULL; owned */
	struct deployment_write *writes;
	const json_t **remove; /* ReplicaSets that are history */
	size_t nwrites, nremove;
	size_t writes_cap, remove_cap;
	char *revision; /* what the Deployment's annotation is to become, or NULL; owned */
	json_t *status; /* owned */
	int64_t again;  /* seconds after which to plan again even if nothing happens; -1: no need */
};

void deployment_plan(const struct deployment_view *v, struct deployment_plan *ret);
void deployment_plan_done(struct deployment_plan *p);

/* --- deployment_history.c --- */
/* Whether a ReplicaSet is that of the Deployment's template as it is. */
bool deployment_is_new(const json_t *deployment, const json_t *set);

/* --- deployment_status.c --- */
/* A copy of its status that tells what became of the new ReplicaSet's creation. */
json_t *deployment_told(const json_t *deployment, int64_t now, bool good, const char *reason, const char *message);
/* A copy of its status after the new ReplicaSet's name was found taken. */
json_t *deployment_collided(const json_t *deployment);

#endif
