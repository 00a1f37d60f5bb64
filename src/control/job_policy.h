// SPDX-License-Identifier: Apache-2.0
/* job_policy.h - what a Job's two policies say: of a failed pod, and of the indexes that have succeeded; pure */
#ifndef STOKER_CONTROL_JOB_POLICY_H
#define STOKER_CONTROL_JOB_POLICY_H

#include <jansson.h>

#include "control/job_indexes.h"

enum failure_means { FAILURE_COUNTS, FAILURE_IGNORED, FAILURE_ENDS_INDEX, FAILURE_ENDS_JOB };

/* The first rule of podFailurePolicy (or NULL) that holds decides.  Says why if the Job ends; `why` may be
 * NULL. */
enum failure_means job_failure_means(const json_t *policy, const json_t *pod, struct sbuf *why);
/* Whether a rule of successPolicy (or NULL) is fulfilled; says which. */
bool job_success_met(const json_t *policy, int completions, const struct index_set *succeeded, struct sbuf *why);

#endif
