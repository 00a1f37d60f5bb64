// SPDX-License-Identifier: Apache-2.0
/* run_job.h - from a command line to a Job.  Pure */
#ifndef STOKER_CLI_RUN_JOB_H
#define STOKER_CLI_RUN_JOB_H

#include "cli/run_pod.h"

#define RUN_CONTAINER   "main"
#define RUN_MASTER_PORT 29500 /* what PyTorch uses if nobody says otherwise */

/* *ret_service is NULL without workers.  Errors name the option. */
int run_job_make(const struct run_options *o, json_t **ret_job, json_t **ret_service, struct err *e);

#endif
