// SPDX-License-Identifier: Apache-2.0
/* pod_security.h - the Pod Security Standards as a namespace's labels ask for them; for api/admission.c */
#ifndef STOKER_API_POD_SECURITY_H
#define STOKER_API_POD_SECURITY_H

#include "api/api.h"

/* Labels of a namespace that cannot be understood are refused. */
int pod_security_admit_namespace(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
				 struct err *e);
/* Pods that break the enforced level are refused. */
int pod_security_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);

/* Which pods that are already there break a level that is now enforced. */
void pod_security_warn_namespace(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
				 struct api_result *ret);
/* What pods and templates break of the levels to warn of and to audit. */
void pod_security_warn(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		       struct api_result *ret);

#endif
