// SPDX-License-Identifier: Apache-2.0
/* own_job.h - the pods of the job that a command was called in: startdocker's and pbsdsh's way to them */
#ifndef STOKER_PBS_OWN_JOB_H
#define STOKER_PBS_OWN_JOB_H

#include "pbs/pbs.h"

/* "/api/v1/namespaces/NS/pods[/NAME]", appended. */
void job_pod_path(const char *ns, const char *name, struct sbuf *out);
/* All of the job's that $PBS_JOBID names, in the order of their ranks: an array of pods that have not ended, owned.
 * NULL, and 0, outside of jobs.  p->ns becomes the job's. */
int job_pods(struct pbs *p, json_t **ret, struct err *e);
/* The name of the one that this process is in ($PBS_NODENUM), owned; NULL outside of jobs. */
int job_pod_here(struct pbs *p, char **ret, struct err *e);

#endif
