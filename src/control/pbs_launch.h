// SPDX-License-Identifier: Apache-2.0
/* pbs_launch.h - the service account by which PBS jobs of several nodes start programs in their pods on another cluster
 *
 * It is made in the namespace of each user who has such jobs, and may do one thing: run commands in that namespace's
 * pods.  So pbsdsh needs nobody but the cluster's API.
 */
#ifndef STOKER_CONTROL_PBS_LAUNCH_H
#define STOKER_CONTROL_PBS_LAUNCH_H

#include "client/client.h"

struct pbs_launch;

/* `look` is told of a job, by its key, whose account is there now, or could not be had.  The client outlives it. */
struct pbs_launch *pbs_launch_new(struct client *c, const char *account, void (*look)(void *arg, const char *key),
				  void *arg);
void pbs_launch_free(struct pbs_launch *l);
const char *pbs_launch_account(const struct pbs_launch *l);
/* Whether the job's namespace has it; else it is being made, or *ret_why (borrowed) says why it is not there. */
bool pbs_launch_ready(struct pbs_launch *l, const char *ns, const char *key, const char **ret_why);

/* The object that is made as the i-th of PBS_LAUNCH_OBJECTS, and its kind.  Pure, a new object. */
#define PBS_LAUNCH_OBJECTS 3
json_t *pbs_launch_object(size_t i, const char *ns, const char *account, struct ref *ret_ref);

#endif
