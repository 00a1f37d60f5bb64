// SPDX-License-Identifier: Apache-2.0
/* pbs_pod_rules.c - pods of PBS jobs: processes of the machine itself, and containers inside such a job
 *
 * The controller, the scheduler and the node go by what a pod of a job says about itself, and the job's owner may write
 * pods.  So what it says is the server's word: whose wish changes it goes by the PBSJob, where wishes are looked at.
 *
 * runtimeClassName host-process is a pod without a sandbox.
 * Such a pod takes everything it runs from its PBSJob, as the job's owner.  So only the server makes one, for a job
 * that is there, and whose owner has an account on this machine; pod_owner.c has made sure whose the pod is.
 */
#include "api/accounts.h"
#include "api/pbs_parts.h"
#include "api/pod_owner.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pod_security.h"

#define DOMAIN "stoker.dev"

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
	if (stored_see(api, &api_pbs(api)->job_kind, ns, jsonx_str_or(ref, "name", ""), ret, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		return refuse(pod, "its PBSJob is gone", e);
	}
	if (!str_same(jsonx_str(*ret, "metadata.uid"), jsonx_str(ref, "uid")))
		return refuse(pod, "its PBSJob is gone", e);
	return 0;
}

/* ---- inside a job ---- */

static int refuse_inside(const json_t *pod, const char *why, struct err *e)
{
	return err_set(e, ERR_FORBIDDEN,
		       "pods \"%.253s\" is forbidden: metadata.annotations[" POD_IN_JOB_ANNOTATION "]: \"%.253s\": %s",
		       jsonx_str_or(pod, "metadata.name", jsonx_str_or(pod, "metadata.generateName", "")),
		       work_note(pod, POD_IN_JOB_ANNOTATION), why);
}

static bool asks_for_room(const json_t *spec)
{
	for (size_t l = 0; l < ARRAY_SIZE(pod_container_lists); l++) {
		json_t *c;
		size_t i;

		json_array_foreach (json_object_get(spec, pod_container_lists[l]), i, c)
			if (json_object_size(jsonx_at(c, "resources.requests")) ||
			    json_object_size(jsonx_at(c, "resources.limits")))
				return true;
	}
	return false;
}

static const char *not_inside(const json_t *host, const json_t *pod)
{
	const char *phase = jsonx_str_or(host, "status.phase", "");

	if (!str_same(jsonx_str(host, "spec.runtimeClassName"), PBS_HOST_CLASS))
		return "it is no process of a PBS job";
	if (!*work_note(host, POD_UID_ANNOTATION) ||
	    !streq(work_note(host, POD_UID_ANNOTATION), work_note(pod, POD_UID_ANNOTATION)))
		return "it is another user's";
	if (!*jsonx_str_or(host, "spec.nodeName", "") || jsonx_at(host, "metadata.deletionTimestamp") ||
	    (!streq(phase, "Running") && !streq(phase, "Pending")))
		return "it does not run";
	if (asks_for_room(json_object_get(pod, "spec")))
		return "containers in a job use the job's room: resources must be left out";
	return NULL;
}

/* It is where the job is, has what the job has, and goes with the job.  Nobody else needs to find room for it. */
static int go_inside(struct api *api, const struct api_request *req, json_t *pod, struct err *e)
{
	struct stored_kind pods = { .group = "", .version = "v1", .plural = "pods" };
	json_auto_t *host = NULL;
	const char *why, *uid;

	if (stored_get(api, &pods, req->ns, work_note(pod, POD_IN_JOB_ANNOTATION), &host, e) < 0)
		return e->kind == ERR_NOT_FOUND ? refuse_inside(pod, "there is no such pod", e) : -1;
	why = not_inside(host, pod);
	if (why)
		return refuse_inside(pod, why, e);
	uid = jsonx_str_or(host, "metadata.uid", "");
	jsonx_set_new(pod, "spec.nodeName", jsonx_string(jsonx_str_or(host, "spec.nodeName", "")));
	jsonx_set_new(pod, "metadata.ownerReferences",
		      json_pack("[{s:s, s:s, s:o, s:o}]", "apiVersion", "v1", "kind", "Pod", "name",
				jsonx_string(jsonx_str_or(host, "metadata.name", "")), "uid", jsonx_string(uid)));
	json_object_set_new(jsonx_at(pod, "metadata.annotations"), POD_IN_JOB_UID_ANNOTATION, jsonx_string(uid));
	return 0;
}

/* ---- of a job ---- */

static bool is_controlled(const json_t *pod)
{
	const json_t *ref = pod_owner_controller(pod);

	return str_same(jsonx_str(ref, "kind"), "PBSJob") &&
	       str_starts(jsonx_str_or(ref, "apiVersion", ""), DOMAIN "/");
}

/* "stoker.dev/queue", "property.stoker.dev/S" */
static bool is_ours(const char *key)
{
	const char *slash = strchr(key, '/');
	size_t n = strlen(DOMAIN);

	return slash && (size_t)(slash - key) >= n && strncmp(slash - n, DOMAIN, n) == 0 &&
	       (slash - n == key || slash[-1 - (ptrdiff_t)n] == '.');
}

/* A key of ours that is in one map and not so in the other, or NULL. */
static const char *changed_key(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)a, key, value)
		if (is_ours(key) && !jsonx_equal(value, json_object_get(b, key)))
			return key;
	return NULL;
}

static int refuse_change(const json_t *pod, const char *what, const char *key, struct err *e)
{
	const json_t *ref = pod_owner_controller(pod);

	return err_set(
		e, ERR_FORBIDDEN,
		"pods \"%.253s\" is forbidden: metadata.%s%s%.253s%s: only the server writes it on a pod of PBSJob "
		"\"%.253s\"; change the job, such as by qalter, qhold, qmove or qsig",
		jsonx_str_or(pod, "metadata.name", jsonx_str_or(pod, "metadata.generateName", "")), what,
		*key ? "[" : "", key, *key ? "]" : "", jsonx_str_or(ref, "name", ""));
}

int pbs_check_pod_notes(const struct caller *c, const json_t *pod, const json_t *old, struct err *e)
{
	static const char *const maps[] = { "labels", "annotations" };
	const json_t *now = json_object_get(pod, "metadata"), *was = json_object_get(old, "metadata");
	const json_t *job = is_controlled(old) ? old : pod;

	if (pbs_is_admin(c) || now == was || !is_controlled(job))
		return 0;
	if (!jsonx_equal(json_object_get(now, "ownerReferences"), json_object_get(was, "ownerReferences")))
		return refuse_change(job, "ownerReferences", "", e);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		const json_t *a = json_object_get(now, maps[i]), *b = json_object_get(was, maps[i]);
		const char *key = changed_key(a, b);

		key = key ? key : changed_key(b, a);
		if (key)
			return refuse_change(job, maps[i], key, e);
	}
	return 0;
}

/* Only its job gives it more time. */
static int check_deadline(const struct api_request *req, const json_t *pod, const json_t *old, struct err *e)
{
	const json_t *after = jsonx_at(pod, "spec.activeDeadlineSeconds");
	const json_t *before = jsonx_at(old, "spec.activeDeadlineSeconds");

	if (req->caller == &caller_system || !json_is_integer(after) || !json_is_integer(before) ||
	    json_integer_value(after) <= json_integer_value(before))
		return 0;
	return err_set(
		e, ERR_INVALID,
		"Pod \"%.253s\" is invalid: spec.activeDeadlineSeconds: Invalid value: %lld: must be less than or "
		"equal to previous value",
		jsonx_str_or(old, "metadata.name", ""), (long long)json_integer_value(after));
}

int pbs_admit_pod(struct api *api, const struct api_request *req, json_t *pod, const json_t *old, struct err *e)
{
	json_auto_t *job = NULL;
	const struct account *acc;
	const char *owner;

	if (old && pbs_check_pod_notes(req->caller, pod, old, e) < 0)
		return -1;
	if (old)
		return pod_owner_controller(old) ? check_deadline(req, pod, old, e) : 0;
	if (*work_note(pod, POD_IN_JOB_ANNOTATION))
		return go_inside(api, req, pod, e);
	if (!str_same(jsonx_str(pod, "spec.runtimeClassName"), PBS_HOST_CLASS))
		return pbs_check_pod_notes(req->caller, pod, NULL, e);
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
