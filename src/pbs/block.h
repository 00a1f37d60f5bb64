// SPDX-License-Identifier: Apache-2.0
/* block.h - follows a job: qsub -W block=true waits for its end */
#ifndef STOKER_PBS_BLOCK_H
#define STOKER_PBS_BLOCK_H

#include "pbs/pbs.h"

/* What a job in this state tells who waits for it: -1 to wait on, else the exit status.  `gone`: the object is deleted.
 * Pure. */
int block_status(const json_t *job, bool gone);
/* One watch of a job, from how it was given on. */
int block_watch(struct pbs *p, const json_t *job, pbs_event *event, void *arg, struct err *e);
/* Follows the job that was made; the exit status of qsub. */
int block_until_done(struct pbs *p, const json_t *job);

#endif
