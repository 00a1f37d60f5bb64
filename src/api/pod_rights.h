// SPDX-License-Identifier: Apache-2.0
/* pod_rights.h - a user's pod has the user's rights and no more. Pure */
#ifndef STOKER_API_POD_RIGHTS_H
#define STOKER_API_POD_RIGHTS_H

#include <jansson.h>

#include "api/accounts.h"
#include "base/err.h"
#include "base/str.h"

/* Below which directories hostPath volumes may be: arrays of paths. */
struct pod_roots {
	const json_t *host;              /* NULL: the account's home */
	const json_t *shared, *readable; /* PBSServer's, also; the latter only to be read.  May be NULL */
};

/* Fills in who the pod runs as, and refuses (ERR_FORBIDDEN, naming field, value and what is allowed) what goes beyond
 * the account's own rights. */
int pod_rights_apply(const struct account *acc, const struct pod_roots *roots, json_t *pod, struct err *e);
/* Those of PBSServer's roots that the pod's volumes are below, separated by commas. */
void pod_rights_roots_used(const struct pod_roots *roots, const json_t *pod, struct sbuf *out);

/* Whether path is root or below it, going by the text alone; ".." is never below anything. */
bool pod_rights_below(const char *root, const char *path);

#endif
