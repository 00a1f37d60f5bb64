// SPDX-License-Identifier: Apache-2.0
/* placement.h - which nodes a pod's spec accepts and which taints it tolerates; pure
 *
 * The scheduler asks before it binds, and controllers ask it of pods that are on a node or shall be.
 */
#ifndef STOKER_KINDS_PLACEMENT_H
#define STOKER_KINDS_PLACEMENT_H

#include <jansson.h>
#include <stdbool.h>

#define TAINT_NOT_READY           "node.kubernetes.io/not-ready"
#define TAINT_UNREACHABLE         "node.kubernetes.io/unreachable"
#define TAINT_UNSCHEDULABLE       "node.kubernetes.io/unschedulable"
#define TAINT_MEMORY_PRESSURE     "node.kubernetes.io/memory-pressure"
#define TAINT_DISK_PRESSURE       "node.kubernetes.io/disk-pressure"
#define TAINT_PID_PRESSURE        "node.kubernetes.io/pid-pressure"
#define TAINT_NETWORK_UNAVAILABLE "node.kubernetes.io/network-unavailable"
#define TAINT_OUT_OF_SERVICE      "node.kubernetes.io/out-of-service"

/* Any part may be NULL: an absent text is "". */
struct taint {
	const char *key, *value, *effect;
};
struct taint taint_read(const json_t *taint);

bool toleration_covers(const json_t *toleration, const struct taint *t);
/* Whether one of the list does. */
bool taint_tolerated(const json_t *tolerations, const struct taint *t);

/* spec.nodeSelector against a node's labels. */
bool node_selector_matches(const json_t *selector, const json_t *labels);
/* The terms of required node affinity, one of which must match; NULL is no condition. */
const json_t *required_node_terms(const json_t *pod_spec);
bool node_terms_match(const json_t *terms, const json_t *labels, const char *node_name);

#endif
