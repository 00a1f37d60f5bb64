// SPDX-License-Identifier: Apache-2.0
/* block.h - qsub -W block=true: waits for the job's end */
#ifndef STOKER_PBS_BLOCK_H
#define STOKER_PBS_BLOCK_H

#include "pbs/pbs.h"

/* What a job in this state tells who waits for it: -1 to wait on, else the exit status.  `gone`: the object is deleted.
 * Pure. */
int block_status(const json_t *job, bool gone);
/* Follows the job that was made; the exit status of qsub. */
int block_until_done(struct pbs *p, const json_t *job);

#endif
