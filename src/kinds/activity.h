// SPDX-License-Identifier: Apache-2.0
/* activity.h - how a pod says that it has stopped doing anything, for whoever asked to be told; pure
 *
 * Asked is by an annotation.  The node then watches what the pod prints and how much it computes, and when both have
 * been nothing for that long a condition of the pod turns False.  It is written when it changes and at no other time.
 */
#ifndef STOKER_KINDS_ACTIVITY_H
#define STOKER_KINDS_ACTIVITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* On training jobs, which hand it on to their pods: 10m, 90s, 1h30m, 00:10:00. */
#define HANG_AFTER      "stoker.dev/hang-after"
#define HANG_AFTER_RULE "must be a duration of at least 1s, such as 90s, 10m, 1h30m or 00:10:00"
/* On pods: False since it last did something. */
#define POD_ACTIVE "stoker.dev/Active"

bool hang_after_parse(const char *text, int64_t *ret_seconds);
/* What an object asks for, in seconds; 0: nothing. */
int64_t hang_after_of(const json_t *obj);
/* The condition, or NULL. */
const json_t *pod_active_condition(const json_t *pod);
/* Since when a pod is silent, in seconds since 1970; 0: it is not, or nobody knows. */
int64_t pod_silent_since(const json_t *pod);

#endif
