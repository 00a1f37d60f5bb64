// SPDX-License-Identifier: Apache-2.0
/* idle_plan.h - whether a workload holds GPUs that it does not use, from what its pods say of themselves; pure
 *
 * A workload is idle when every pod of it that has GPUs is: one that computes is reason enough for others to wait.
 * While one of them is not running yet, or again, the others have reason to wait too.
 */
#ifndef STOKER_CONTROL_IDLE_PLAN_H
#define STOKER_CONTROL_IDLE_PLAN_H

#include <stddef.h>

#include "control/pod_facts.h"

enum idle_is { IDLE_IS_BUSY, IDLE_IS_WARNED, IDLE_IS_OVER };

/* *ret_least is the pod that is so for the shortest time, or NULL. */
enum idle_is idle_plan(const struct pod_facts *const *pods, size_t n, const struct pod_facts **ret_least);

/* How what made the pods is ended, such that it makes no others. */
enum idle_end {
	IDLE_END_NOT,   /* nobody here knows how: it is only warned */
	IDLE_END_FAIL,  /* it fails, by a condition FailureTarget */
	IDLE_END_SCALE, /* it cannot fail: it is to have no pods */
	IDLE_END_QDEL,  /* it is deleted as by qdel, which leaves its record */
};
/* By the kind of the owner. */
enum idle_end idle_end_of(const char *kind);

/* The status of an object that is to fail, or NULL if there is nothing to do: it has ended, or will.  New. */
json_t *idle_fail_status(const json_t *obj, const char *type, const char *message, int64_t now);

#endif
