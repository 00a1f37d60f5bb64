// SPDX-License-Identifier: Apache-2.0
/* pbs_pod.c - runtimeClassName host-process: a pod without a sandbox, a process of the machine itself
 *
 * Such a pod takes everything it runs from its PBSJob, as the job's owner.  So only the server makes one, for a job
 * that is there, and whose owner has an account on this machine; pod_owner.c has made sure whose the pod is.
 */
#include "api/accounts.h"
#include "api/pbs_parts.h"
#include "api/pod_owner.h"
#include "base/jsonx.h"
#include "base/mem.h"

static int refuse(const json_t *pod, const char *why, struct err *e)
{
	return err_set(e, ERR_FORBIDDEN,
		       "pods \"%.253s\" is forbidden: spec.runtimeClassName: \"" PBS_HOST_CLASS
		       "\" is for pods of PBS jobs only: %s",
		       jsonx_str_or(pod, "metadata.name", ""), why);
}

/* The job that controls the pod; a new reference. */
static int find_job(struct api *api, const char *ns, const json_t *pod, json_t **ret, struct err *e)
{
	const json_t *ref = pod_owner_controller(pod);
	const struct kind *k = ref ? pod_owner_controller_kind(api, ref) : NULL;

	if (!k || !pbs_is_job(k))
		return refuse(pod, "no PBSJob controls this one", e);
	if (stored_get(api, &api_pbs(api)->job_kind, ns, jsonx_str_or(ref, "name", ""), ret, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		return refuse(pod, "its PBSJob is gone", e);
	}
	if (!str_same(jsonx_str(*ret, "metadata.uid"), jsonx_str(ref, "uid")))
		return refuse(pod, "its PBSJob is gone", e);
	return 0;
}

int pbs_admit_pod(struct api *api, const struct api_request *req, json_t *pod, const json_t *old, struct err *e)
{
	json_auto_t *job = NULL;
	const struct account *acc;
	const char *owner;

	if (old || !str_same(jsonx_str(pod, "spec.runtimeClassName"), PBS_HOST_CLASS))
		return 0;
	if (!pbs_is_admin(req->caller))
		return refuse(pod, "the server makes them", e);
	if (find_job(api, req->ns, pod, &job, e) < 0)
		return -1;
	owner = jsonx_str_or(job, "spec.owner", "");
	if (!str_same(work_note(pod, USER_ANNOTATION), owner))
		return refuse(pod, "it is not its PBSJob's owner's", e);
	acc = accounts_find(api_accounts(api), owner, e);
	if (!acc)
		return -1;
	return acc->real && acc->uid ? 0 : refuse(pod, "its owner has no account on this machine", e);
}
