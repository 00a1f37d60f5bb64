// SPDX-License-Identifier: Apache-2.0
/* quota.h - ResourceQuotas: nobody writes more into a namespace than it may hold */
#ifndef STOKER_API_QUOTA_H
#define STOKER_API_QUOTA_H

#include "api/api.h"

/* What the quotas of all namespaces allow, and what is used of them. */
struct quotas;
struct quotas *quotas_new(struct api *api);
void quotas_free(struct quotas *qs);

/* ERR_FORBIDDEN, in Kubernetes' words, for a write that a quota of its namespace has no room for.  Nothing is charged
 * yet: that is for quota_written(), so a dry run is only checked. */
int quota_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* Charges and gives back; either may be NULL. */
void quota_written(struct api *api, const struct kind *k, const json_t *obj, const json_t *old);

#endif
