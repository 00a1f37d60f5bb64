// SPDX-License-Identifier: Apache-2.0
/* job.h - the parts of batch/v1 Job that its files share */
#ifndef STOKER_KINDS_JOB_H
#define STOKER_KINDS_JOB_H

#include "kinds/kind.h"

#define LABEL_JOB_NAME              "batch.kubernetes.io/job-name"
#define LABEL_JOB_NAME_LEGACY       "job-name"
#define LABEL_CONTROLLER_UID        "batch.kubernetes.io/controller-uid"
#define LABEL_CONTROLLER_UID_LEGACY "controller-uid"

/* job_policy.c: which failures count, and when enough has succeeded. */
extern const struct message job_pod_failure_policy, job_success_policy;
/* job_success.c: a successPolicy beside the completions of its JobSpec. */
void job_success_validate(const json_t *spec, const struct path *at, struct err *e);
/* job_rules.c: rules of a JobSpec wherever it stands, and those of a Job. */
void job_spec_validate(const json_t *spec, const struct path *at, struct err *e);
void job_validate(const json_t *obj, struct err *e);
void job_validate_update(const json_t *obj, const json_t *old, struct err *e);

#endif
