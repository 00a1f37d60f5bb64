// SPDX-License-Identifier: Apache-2.0
/* training.h - the controllers of kubeflow.org's training jobs: one engine for all frameworks */
#ifndef STOKER_CONTROL_TRAINING_H
#define STOKER_CONTROL_TRAINING_H

#include "control/owned.h"
#include "control/workqueue.h"
#include "loop/gate.h"

struct training_jobs;

/* For the jobs of one kind, "TFJob"; `owned` is shared and outlives it. */
struct training_jobs *training_jobs_new(struct client *c, struct owned *owned, const char *kind);
/* Before anything has happened: new pods are held as the gate says.  It outlives the controller. */
void training_jobs_gate(struct training_jobs *k, struct gate *gate);
void training_jobs_free(struct training_jobs *k);
struct workqueue_counts training_jobs_counts(const struct training_jobs *k);

#endif
