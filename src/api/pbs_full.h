// SPDX-License-Identifier: Apache-2.0
/* pbs_full.h - one job, or one element of an array, as an object for those who may see it */
#ifndef STOKER_API_PBS_FULL_H
#define STOKER_API_PBS_FULL_H

#include "api/pbs_board.h"

/* Appends its text; false if the job is not there any more. */
bool pbs_full_item(struct pbs_view *v, struct sbuf *out);

#endif
