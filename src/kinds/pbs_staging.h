// SPDX-License-Identifier: Apache-2.0
/* pbs_staging.h - a PBS job that has files copied before its start and after its end; pure */
#ifndef STOKER_KINDS_PBS_STAGING_H
#define STOKER_KINDS_PBS_STAGING_H

#include "kinds/pbs_process.h"

/* Puts the copying around the process of `doc` (node/process_spec.h), if the job has some. */
int pbs_stage_around(const struct pbs_place *p, json_t *env, json_t *doc, struct err *e);

#endif
