// SPDX-License-Identifier: Apache-2.0
/* pbs_stage.h - a PBS job that has files copied before its start and after its end; pure */
#ifndef STOKER_NODE_PBS_STAGE_H
#define STOKER_NODE_PBS_STAGE_H

#include "node/pbs_process.h"

/* Puts the copying around the process of `doc` (process_spec.h), if the job has some. */
int pbs_stage_around(const struct pbs_place *p, json_t *env, json_t *doc, struct err *e);

#endif
