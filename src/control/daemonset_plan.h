// SPDX-License-Identifier: Apache-2.0
/* daemonset_plan.h - what a DaemonSet does next; pure
 *
 *	daemonset_plan.c     which nodes get a pod, which pods go, and the status
 *	daemonset_update.c   which pods of the old template go now
 *	daemonset_pod.c      the pod for one node, and whether a node takes it
 */
#ifndef STOKER_CONTROL_DAEMONSET_PLAN_H
#define STOKER_CONTROL_DAEMONSET_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/pod_facts.h"

#define DAEMON_VERSION            "apps/v1"
#define DAEMON_KIND               "DaemonSet"
#define DAEMON_BURST              250 /* pods made or deleted at a time, as in Kubernetes */
#define LABEL_TEMPLATE_GENERATION "pod-template-generation"

struct daemon_view {
	const json_t *set;
	const json_t *const *nodes; /* by name */
	size_t nnodes;
	const struct pod_facts *const *pods; /* its own, in any order */
	size_t npods;
	const char *hash; /* of the present template */
	int64_t now;
	size_t create_most;
	/* Whether the failed pod of a node may be replaced already; the rest of its back-off if not, in ms. */
	int64_t (*backoff)(void *arg, const char *node);
	void *arg;
};

/* A failed or succeeded pod that makes room for another. */
struct daemon_ended {
	const struct pod_facts *pod;
	const char *node;
};

struct daemon_plan {
	const char **create; /* names of nodes */
	size_t ncreate;
	const struct pod_facts **remove;
	size_t nremove;
	struct daemon_ended *ended; /* of `remove`, those that are to be told of */
	size_t nended;
	json_t *status;
	int64_t again;   /* seconds until a pod becomes available; -1: none does */
	int64_t wait_ms; /* until a back-off ends; likewise */
	size_t cap_create, cap_remove, cap_ended;
};
void daemon_plan(const struct daemon_view *v, struct daemon_plan *p);
void daemon_plan_done(struct daemon_plan *p);

/* --- daemonset_pod.c --- */
/* A pod of the set's present template that only this node takes.  `generation` counts templates. */
json_t *daemon_pod(const json_t *set, const char *node, const char *hash, int64_t generation);
/* The node a pod is on, or is meant for; "" if that cannot be told. */
const char *daemon_pod_node(const json_t *pod);
struct daemon_fit {
	bool run;  /* the node should have a pod, */
	bool keep; /* or at least keep the one it has */
};
/* `tolerations` are daemon_tolerations() of the set. */
struct daemon_fit daemon_fits(const json_t *set, const json_t *tolerations, const json_t *node);
/* The template's, and those that daemons have by nature; a new array. */
json_t *daemon_tolerations(const json_t *set);

#endif
