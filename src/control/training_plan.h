// SPDX-License-Identifier: Apache-2.0
/* training_plan.h - what is to be done for a training job now, from the job, its pods and its Services alone; pure
 *
 * Each replica has a number of its present run, the sum of two counters in the status; its pod carries the number of
 * the run it was made for.  A restart is counted first: the counter goes up, and when that is stored the pod is of a
 * run that is over, so it goes and another is made.  Whenever the controller is killed, the same follows, and nothing
 * is counted twice.
 *
 * In the same way a success is written down before its pod may go (by the node, node/pod_success.c, if nobody is here
 * to do it), and the end of the job before anything is stopped.
 */
#ifndef STOKER_CONTROL_TRAINING_PLAN_H
#define STOKER_CONTROL_TRAINING_PLAN_H

#include "control/pod_facts.h"
#include "control/training_job.h"
#include "loop/gate.h"

#define TRAINING_CREATE_MOST 100 /* pods made for one job in a turn */

struct training_view {
	const struct training_job *job;
	const struct pod_facts *const *pods;
	size_t n;
	const json_t *const *services;
	size_t nservices;
	bool prepared; /* what else the form needs is there */
	int64_t now;   /* seconds since 1970 */
	size_t create_most;
	const char *refused; /* why the last Service or pod could not be made, or NULL */
	enum gate_state queued;
	const char *queued_why; /* with GATE_WAITS */
	bool held;              /* by its own word: nothing is made */
	int64_t held_until_ms;  /* if that is a time, else 0 */
};

/* A replica, and which run of it. */
struct training_piece {
	const struct training_role *role;
	int index, attempt;
};

struct training_event {
	bool warning;
	char reason[48];
	char message[1024];
};

struct training_plan {
	struct training_piece *services, *pods; /* to create */
	const struct pod_facts **remove;        /* to delete, */
	const struct pod_facts **stop;          /* to end, but not to delete */
	const json_t **drop;                    /* Services to delete */
	size_t nservices, npods, nremove, nstop, ndrop;
	size_t services_cap, pods_cap, remove_cap, stop_cap, drop_cap;
	json_t *status; /* the new status, or NULL if it stays; owned */
	char *waits;    /* who cannot start, and why; or NULL; owned */
	bool prepare;   /* what else the form needs is to be made */
	bool expired;   /* ttlSecondsAfterFinished is over: delete the job */
	int64_t again;  /* seconds after which to plan again even if nothing happens; -1: no need */
	struct training_event events[6];
	size_t nevents;
};

void training_plan(const struct training_view *v, struct training_plan *ret);
void training_plan_done(struct training_plan *p);
/* Succeeded or Failed; the condition, or NULL. */
const json_t *training_finished(const json_t *job);

#endif
