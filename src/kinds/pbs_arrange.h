// SPDX-License-Identifier: Apache-2.0
/* pbs_arrange.h - how a PBS job's parts are spread over machines: -l place=, naccesspolicy=; pure */
#ifndef STOKER_KINDS_PBS_ARRANGE_H
#define STOKER_KINDS_PBS_ARRANGE_H

#include <jansson.h>

#include "base/err.h"
#include "kinds/pbs_nodes.h"

/* Is it a value of place? */
int pbs_arrange_check(const char *place, struct err *e);
/* What a job's resources say of it, for the parts that they ask for. */
int pbs_arrange(const json_t *resources, struct pbs_nodes *n, struct err *e);

#endif
