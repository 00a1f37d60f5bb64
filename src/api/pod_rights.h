// SPDX-License-Identifier: Apache-2.0
/* pod_rights.h - a user's pod has the user's rights and no more. Pure */
#ifndef STOKER_API_POD_RIGHTS_H
#define STOKER_API_POD_RIGHTS_H

#include <jansson.h>

#include "api/accounts.h"
#include "base/err.h"

/* Fills in who the pod runs as, and refuses (ERR_FORBIDDEN, naming field, value and what is allowed) what goes beyond
 * the account's own rights.  `host_roots`: array of directories below which hostPath volumes may be; NULL: the
 * account's home. */
int pod_rights_apply(const struct account *acc, const json_t *host_roots, json_t *pod, struct err *e);

/* Whether path is root or below it, going by the text alone; ".." is never below anything. */
bool pod_rights_below(const char *root, const char *path);

#endif
