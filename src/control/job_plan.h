// SPDX-License-Identifier: Apache-2.0
/* job_plan.h - what is to be done for a Job now, from the Job and its pods alone; pure
 *
 * Every pod of a Job has a finalizer until its end is counted, so that no end can be missed.  An end is counted in
 * steps, and a crash after any of them leads to the same numbers:
 *
 *	1. the pod's uid goes into status.uncountedTerminatedPods (of an Indexed success: the index into
 *	   completedIndexes, which is enough);
 *	2. the finalizer goes from the pod;
 *	3. the uid leaves the status and the counter is raised, in one write.
 *
 * Servers before Kubernetes 1.22 drop those uids from the status, which is how they are known.  There the counter is
 * what it was or the number of pods that ended, whichever is larger, and the finalizer goes when the stored status says
 * so: an end is never counted twice, and forgotten only if somebody deletes the pod of an earlier one before the next.
 *
 * A Job ends in two conditions: first what its end will be (SuccessCriteriaMet, FailureTarget), written before any
 * evidence may go; then, when every pod is counted and none is left, the end itself (Complete, Failed).
 */
#ifndef STOKER_CONTROL_JOB_PLAN_H
#define STOKER_CONTROL_JOB_PLAN_H

#include <jansson.h>

#include "control/pod_facts.h"

#define JOB_CREATE_MOST 100 /* pods made for one Job in a turn, so that a large one does not hold the others */

/* Failed pods that are gone: whoever deletes them must not end the back-off. */
struct job_past {
	int64_t failures;
	int64_t last; /* when the newest ended */
};

struct job_view {
	const json_t *job;
	const struct pod_facts *const *pods;
	size_t n;
	int64_t now; /* seconds since 1970 */
	struct job_past past;
	size_t create_most; /* 1 after a failed creation: why try a hundred times what fails; 0: it is held back */
};

/* A pod to create. */
struct job_new_pod {
	int index; /* -1: without */
	int failures, ignored;
};

struct job_event {
	bool warning;
	const char *reason;
	char message[512];
};

struct job_plan {
	struct job_new_pod *create;
	const struct pod_facts **remove;  /* active pods to delete, without counting them: their finalizer goes first */
	const struct pod_facts **end;     /* active pods to delete because the Job has ended */
	const struct pod_facts **untrack; /* pods whose finalizer can go */
	size_t ncreate, nremove, nend, nuntrack;
	size_t create_cap, remove_cap, end_cap, untrack_cap;
	json_t *status; /* the new status, or NULL if it stays; owned */
	bool expired;   /* ttlSecondsAfterFinished is over: delete the Job */
	int64_t again;  /* seconds after which to plan again even if nothing happens; -1: no need */
	struct job_event events[3];
	size_t nevents;
};

void job_plan(const struct job_view *v, struct job_plan *ret);
void job_plan_done(struct job_plan *p);
/* Complete or Failed; the condition, or NULL. */
const json_t *job_finished(const json_t *job);

/* --- job_pod.c --- */
/* The pod itself, new. */
json_t *job_pod(const json_t *job, const struct job_new_pod *p);

#endif
