// SPDX-License-Identifier: Apache-2.0
/* job.h - runs the pods of Jobs to their end */
#ifndef STOKER_CONTROL_JOB_H
#define STOKER_CONTROL_JOB_H

#include "control/owned.h"
#include "control/workqueue.h"
#include "loop/gate.h"

struct jobs;
/* `owned` is shared and outlives it. */
struct jobs *jobs_new(struct client *c, struct owned *owned);
/* A gate in front of the cluster, which outlives it: Jobs that say so are held back. */
void jobs_gate(struct jobs *k, struct gate *gate);
void jobs_free(struct jobs *k);
struct workqueue_counts jobs_counts(const struct jobs *k);

#endif
