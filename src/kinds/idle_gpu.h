// SPDX-License-Identifier: Apache-2.0
/* idle_gpu.h - what a Queue says about work that holds a GPU without using it, and how a pod says that it does; pure
 *
 *	spec.idleGpu of a Queue: {warnAfter: 30m, endAfter: 2h, below: 5}
 *
 * The node measures.  When all cards of a pod have been used less than that for long enough, a condition of the pod
 * turns False: lastTransitionTime is when its idle time began, lastProbeTime until when it was watched.  Their
 *difference is the time that was seen; what nobody saw, while the server was away, does not count.
 */
#ifndef STOKER_KINDS_IDLE_GPU_H
#define STOKER_KINDS_IDLE_GPU_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define IDLE_GPU_BELOW      5 /* percent, if the queue names none */
#define IDLE_GPU_BELOW_TEXT "5"

/* The condition of pods, and its reasons: past warnAfter, past endAfter. */
#define POD_GPU_ACTIVE "stoker.dev/GPUActive"
#define GPU_IDLE       "GPUIdle"
#define GPU_IDLE_LONG  "GPUIdleTooLong"
/* A condition of pods that nobody controls: the node ends them as failed, with its reason and message. */
#define POD_FAILURE_TARGET "stoker.dev/FailureTarget"
/* On what cannot fail and was made to have no pods instead: why. */
#define IDLE_GPU_ENDED "stoker.dev/idle-gpu-ended"

struct idle_policy {
	int64_t warn_s; /* 0: there is no policy */
	int64_t end_s;  /* 0: it only warns */
	int below;      /* percent */
};

/* Of a Queue's spec; zeroes without one. */
struct idle_policy idle_policy_of(const json_t *queue_spec);

/* What a pod's condition says. */
struct idle_word {
	bool idle, too_long;
	int64_t seconds; /* that were seen */
	const char *message;
};
struct idle_word pod_idle_word(const json_t *pod);
/* {reason, message} of the condition by which a pod is to fail, or NULL. */
const json_t *pod_failure_target(const json_t *pod);
/* Whether any of its containers asks for a card or a part of one. */
bool pod_wants_gpu(const json_t *pod);

#endif
