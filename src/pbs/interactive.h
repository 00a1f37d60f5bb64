// SPDX-License-Identifier: Apache-2.0
/* interactive.h - qsub -I: waits for the job's start and sits down at its terminal */
#ifndef STOKER_PBS_INTERACTIVE_H
#define STOKER_PBS_INTERACTIVE_H

#include "pbs/pbs.h"

enum interactive_state { INTERACTIVE_WAITS, INTERACTIVE_READY, INTERACTIVE_GONE };

/* How a job stands for who wants to sit at it.  Pure. */
enum interactive_state interactive_state(const json_t *job, bool gone);
/* The exit status of qsub.  Ctrl-C before the start asks whether to end the job. */
int interactive_run(struct pbs *p, const json_t *job);

#endif
