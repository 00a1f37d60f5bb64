// SPDX-License-Identifier: Apache-2.0
/* priority.h - which priority a pod has; for api/admission.c */
#ifndef STOKER_API_PRIORITY_H
#define STOKER_API_PRIORITY_H

#include "api/api.h"

/* Puts a new pod's priority and preemption policy in, from its class or the default one. */
int priority_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* Of all PriorityClasses one may be the default. */
int priority_admit_class(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);

#endif
