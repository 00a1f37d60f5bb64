// SPDX-License-Identifier: Apache-2.0
/* why_array.h - elements of a PBS array that have no pods, which the scheduler knows nothing of */
#ifndef STOKER_CLI_WHY_ARRAY_H
#define STOKER_CLI_WHY_ARRAY_H

#include "client/client.h"
#include "kinds/pbs_array.h"

/* One element as a PBSJob of its own, as the board has it. */
int why_array_element(struct client *c, const char *job, int64_t index, json_t **ret, struct err *e);

/* Puts what is to be said of those that wait without pods before answers of the scheduler, if these are of an array's
 * elements. */
int why_array_rest(struct client *c, const char *ns, json_t *items, struct err *e);

/* Those of an array that wait, but for what the answers are about; pure. */
void why_array_silent(const json_t *job, const json_t *items, struct pbs_set *ret);

#endif
