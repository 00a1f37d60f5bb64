// SPDX-License-Identifier: Apache-2.0
/* pbs_stage.h - files that a PBS job has copied before or after it: LOCAL@HOST:REMOTE; pure */
#ifndef STOKER_KINDS_PBS_STAGE_H
#define STOKER_KINDS_PBS_STAGE_H

#include "base/str.h"

struct pbs_stage {
	struct str local; /* on the machine that it runs on */
	struct str host;
	struct str remote; /* there */
};

/* False if it is none. */
bool pbs_stage_parse(struct str text, struct pbs_stage *ret);

#endif
