// SPDX-License-Identifier: Apache-2.0
/* pbs_gate.h - PBS jobs at a gate in front of the cluster that their pods go to (loop/gate.h)
 *
 * A run of a job, or of an element of an array, is a gang: its pods go to the cluster's scheduler when there is room
 * for all of them.  A run of one pod waits there too, or it would always be before those of several.
 */
#ifndef STOKER_CONTROL_PBS_GATE_H
#define STOKER_CONTROL_PBS_GATE_H

#include "base/map.h"
#include "control/pbs_plan.h"
#include "loop/gate.h"

struct pbs_gate {
	struct gate *gate; /* NULL: nothing is held */
	struct map wished; /* key of a job -> json_t object: the gangs that it has asked for */
};

void pbs_gate_init(struct pbs_gate *g, struct gate *gate);
void pbs_gate_done(struct pbs_gate *g);

/* How many pods may be planned for at once: all of a gang, where they are asked for before they are made. */
size_t pbs_gate_most(const struct pbs_gate *g, size_t most);
/* Keeps of the pods that are to be made those that may be, `most` at once. */
void pbs_gate_hold(struct pbs_gate *g, const char *key, const json_t *job, size_t most, struct pbs_plan *p);
/* The job is gone, or has ended. */
void pbs_gate_forget(struct pbs_gate *g, const char *key);
/* A pod that is to be made gets what holds it, if that is how it is held. */
void pbs_gate_close(const struct pbs_gate *g, json_t *pod);
/* Why a run is held, or NULL; borrowed until the next turn. */
const char *pbs_gate_why(const struct pbs_gate *g, const json_t *job, int index, int run);

#endif
