// SPDX-License-Identifier: Apache-2.0
/* pod_account.h - as whom a pod speaks to the API; for api/admission.c */
#ifndef STOKER_API_POD_ACCOUNT_H
#define STOKER_API_POD_ACCOUNT_H

#include "api/api.h"

/* A new pod's service account must exist; the pod gets its pull secrets and, unless told otherwise, a volume with a
 * token, the server's CA and the namespace's name. */
int pod_account_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);

#endif
