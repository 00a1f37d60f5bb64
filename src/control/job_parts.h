// SPDX-License-Identifier: Apache-2.0
/* job_parts.h - what job_plan.c finds out about a Job and job_count.c turns into a status */
#ifndef STOKER_CONTROL_JOB_PARTS_H
#define STOKER_CONTROL_JOB_PARTS_H

#include "base/map.h"
#include "control/job_indexes.h"
#include "control/job_plan.h"
#include "control/job_policy.h"

enum job_end { JOB_GOES_ON, JOB_SUCCEEDS, JOB_FAILS };

struct job_work {
	const json_t *job;
	const struct job_view *view;
	struct job_plan *plan;
	int64_t now;
	/* spec */
	int64_t parallelism, completions, backoff_limit, per_index; /* the second and fourth are -1 if absent */
	const json_t *failure_policy;
	bool indexed, replace_failed_only, suspended, deleting;
	bool by_pods; /* the server has no room for uids in the status: job_plan.h */
	/* status: uids that wait for their finalizer to go */
	struct map uncounted_succeeded, uncounted_failed;
	struct index_set recorded_indexes; /* as the status has them */
	/* with what is new among the pods */
	struct index_set succeeded_indexes, failed_indexes;
	int64_t succeeded, failed, ready, terminating, restarts;
	const struct pod_facts **active;
	size_t nactive, active_cap;
	bool policy_ends; /* a pod's failure ends the Job, */
	struct sbuf why;  /* and this is why */
	/* the decision */
	enum job_end end;
	const char *end_reason;
	char end_message[512];
};

bool job_pod_failed(const struct job_work *w, const struct pod_facts *p);
bool job_index_valid(const struct job_work *w, const struct pod_facts *p);
void job_note(struct job_plan *p, bool warning, const char *reason, const char *message);

/* job_count.c: sets plan->status and plan->untrack. */
void job_count(struct job_work *w);

#endif
