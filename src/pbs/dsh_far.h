// SPDX-License-Identifier: Apache-2.0
/* dsh_far.h - what pbsdsh knows of its job in a pod of another cluster, where no server of PBS's can be asked; pure */
#ifndef STOKER_PBS_DSH_FAR_H
#define STOKER_PBS_DSH_FAR_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* From $STOKER_PBS_JOB (kinds/pbs_far.h) and the node file: the job, with its namespace and resources, and its pods in
 * the order of their ranks, with names and nodes; both owned. */
int dsh_far(const char *text, struct str node_file, json_t **ret_job, json_t **ret_pods, struct err *e);

#endif
