// SPDX-License-Identifier: Apache-2.0
/* advice_pbs.h - what helps a PBS job, in the words of the PBS commands; a part of advice.c.  Pure */
#ifndef STOKER_CLI_ADVICE_PBS_H
#define STOKER_CLI_ADVICE_PBS_H

#include "cli/advice.h"

/* About a PBSJob that is held or suspended. */
void advice_pbs_held(const json_t *job, json_t *out);
/* About one that a limit of its own has ended; false if none has. */
bool advice_pbs_limit(const json_t *job, json_t *out);

#endif
