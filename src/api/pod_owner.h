// SPDX-License-Identifier: Apache-2.0
/* pod_owner.h - whose rights a pod has; for api/admission.c and api/rest_exec.c
 *
 * A pod belongs to the local user who owns its namespace (whoever created the pod), else to its creator if that is no
 * admin, else to who wrote the object that its controller made it from.  All other pods are an admin's, and nothing
 * here touches them.
 */
#ifndef STOKER_API_POD_OWNER_H
#define STOKER_API_POD_OWNER_H

#include "api/api.h"

/* Set on a namespace: the local user whose home it is. */
#define OWNER_ANNOTATION "stoker.dev/owner"
/* Set on a pod by the server alone: the uid of its owner.  The node opens host paths with that user's rights. */
#define POD_UID_ANNOTATION "stoker.dev/uid"
/* Which cards it has: the node's word alone. */
#define POD_GPUS_ANNOTATION "stoker.dev/gpus"
/* Which cards it is to have: the scheduler's word alone, said with its binding. */
#define POD_CARDS_ANNOTATION "stoker.dev/cards"
/* Directories of the PBSServer that its volumes are in: the API's word alone.  The node lets them be opened, too. */
#define POD_ROOTS_ANNOTATION "stoker.dev/host-roots"
/* startdocker's wish to be a part of that pod, which is a PBS job's; and the API's consent, the pod's uid. */
#define POD_IN_JOB_ANNOTATION     "stoker.dev/in-job"
#define POD_IN_JOB_UID_ANNOTATION "stoker.dev/in-job-uid"
/* Set by the server on what controllers make pods from: the last one who wrote it and is no admin. */
#define CREATOR_ANNOTATION "stoker.dev/creator"

/* Also sets USER_ANNOTATION and GROUP_ANNOTATION of kinds/queue.h on the pods of users. */
int pod_owner_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* What only parts of the server may say of a pod stays as it was in `old`, or is not there, if another wrote it. */
void pod_owner_keep_notes(const struct caller *c, json_t *pod, const json_t *old);
/* May the caller run commands in the pod?  They have the pod's rights: only for who has them, or an admin. */
int pod_owner_check_hands(struct api *api, const struct api_request *req, const json_t *pod, struct err *e);
/* Keeps CREATOR_ANNOTATION on kinds that lead to pods. */
int pod_owner_mark(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* The user whose the pods of a workload are, NULL for an admin's; a new text. */
int pod_owner_of_workload(struct api *api, const char *ns, const json_t *obj, char **ret, struct err *e);
/* The reference to an object's controller, or NULL; and the kind that it names, or NULL. */
const json_t *pod_owner_controller(const json_t *obj);
const struct kind *pod_owner_controller_kind(struct api *api, const json_t *ref);
/* Who is no admin gives no namespace away. */
int pod_owner_admit_namespace(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			      struct err *e);

#endif
