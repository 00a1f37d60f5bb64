// SPDX-License-Identifier: Apache-2.0
/* drain_pods.h - a pod on a node that is to be empty.  Pure */
#ifndef STOKER_CLI_DRAIN_PODS_H
#define STOKER_CLI_DRAIN_PODS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A DaemonSet's pod belongs to the node, and so does one that the node itself was told to run. */
bool drain_pod_stays(const json_t *pod);
/* When it ends at the latest, by its walltime, in seconds since 1970; 0: nobody knows. */
int64_t drain_pod_end(const json_t *pod, int64_t now);

#endif
