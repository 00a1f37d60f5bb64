// SPDX-License-Identifier: Apache-2.0
/* pbs_far.h - what is run in a pod of another cluster for a PBS job, besides its script; pure
 *
 * No node of ours is there, so a shell in the container does it.  A pod's containers share one space of processes, so
 * that the script is not number 1, whom signals do not reach; it has noted its number in a file.
 */
#ifndef STOKER_KINDS_PBS_FAR_H
#define STOKER_KINDS_PBS_FAR_H

#include <jansson.h>

#include "base/str.h"

/* In the environment of the script: {"namespace","pods":[names by rank],"resources"}. */
#define PBS_FAR_JOB "STOKER_PBS_JOB"
#define PBS_FAR_PID "/var/spool/pbs/aux/pid"

/* A signal to all processes.  The command's words, a new array, as for all of these. */
json_t *pbs_far_signal(int signo);
/* Text into what the script prints to (1 or 2). */
json_t *pbs_far_message(int stream, struct str text);

#endif
