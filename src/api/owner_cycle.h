// SPDX-License-Identifier: Apache-2.0
/* owner_cycle.h - no object owns itself */
#ifndef STOKER_API_OWNER_CYCLE_H
#define STOKER_API_OWNER_CYCLE_H

#include "api/api.h"

/* ERR_INVALID for an update whose new metadata.ownerReferences lead back to the object itself, with the way they do. */
int owner_cycle_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);

#endif
