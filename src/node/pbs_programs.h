// SPDX-License-Identifier: Apache-2.0
/* pbs_programs.h - programs that scripts may run themselves where all others belong into containers */
#ifndef STOKER_NODE_PBS_PROGRAMS_H
#define STOKER_NODE_PBS_PROGRAMS_H

#include <jansson.h>

/* On pods of queues with containers: required; the controller's word alone. */
#define PBS_CONFINED "stoker.dev/containers"

/* Files, some of which may not be there: shells and small tools, `dir`/stoker and `dir`/stoker-pbs, what loads
 * programs, and the files of `own` (NULL-terminated).  Owned. */
json_t *pbs_programs(const char *dir, const char *const *own);

#endif
