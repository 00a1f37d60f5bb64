// SPDX-License-Identifier: Apache-2.0
/* pbs.h - the controller of PBS jobs: a PBSJob becomes pods, and what becomes of them its state */
#ifndef STOKER_CONTROL_PBS_H
#define STOKER_CONTROL_PBS_H

#include "control/owned.h"
#include "control/workqueue.h"

struct pbs_jobs;

/* `owned` is shared and outlives it. */
struct pbs_jobs *pbs_jobs_new(struct client *c, struct owned *owned);
void pbs_jobs_free(struct pbs_jobs *k);
struct workqueue_counts pbs_jobs_counts(const struct pbs_jobs *k);

#endif
