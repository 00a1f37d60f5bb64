// SPDX-License-Identifier: Apache-2.0
/* gated.h - what controllers have to do with a gate in front of their cluster (loop/gate.h) */
#ifndef STOKER_CONTROL_GATED_H
#define STOKER_CONTROL_GATED_H

#include "control/owned.h"
#include "control/training_plan.h"
#include "loop/gate.h"

struct gated;

/* Tells the gate of all pods.  Both outlive it. */
struct gated *gated_new(struct owned *pods, struct gate *gate);
void gated_free(struct gated *g);

/* What the gate says of a job goes into its view. */
void gated_view(struct gate *gate, struct training_view *v);
/* Keeps of the pods that are to be made those that may be, `most` at once. */
void gated_hold(struct gate *gate, const struct training_job *job, size_t most, struct training_plan *p);
/* Of a job that holds itself back none may be. */
void gated_hold_all(struct gate *gate, const struct training_view *v, struct training_plan *p);
/* The job is over, or gone. */
void gated_forget(struct gate *gate, const struct training_job *job);
/* A pod that is to be made gets what holds it, if that is how it is held. */
void gated_close(struct gate *gate, const struct training_job *job, json_t *pod);

#endif
