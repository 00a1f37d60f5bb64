// SPDX-License-Identifier: Apache-2.0
/* template_hash.h - a short name for a template of pods; pure
 *
 * ReplicaSets of a Deployment and revisions of StatefulSets and DaemonSets are named by it, so it stays the same over
 * restarts and releases: whoever changes it makes every workload roll.
 */
#ifndef STOKER_CONTROL_TEMPLATE_HASH_H
#define STOKER_CONTROL_TEMPLATE_HASH_H

#include <jansson.h>
#include <stdint.h>

/* Of any JSON; the order of keys and fields that are null do not matter.  `collisions` (status.collisionCount, 0 if
 * absent) gives another name to the same template.  At most ten characters of Kubernetes' safe alphabet; owned. */
char *template_hash(const json_t *template, int64_t collisions);

#endif
