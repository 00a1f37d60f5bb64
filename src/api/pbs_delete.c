// SPDX-License-Identifier: Apache-2.0
/* pbs_delete.c - see pbs_parts.h: kubectl delete of a PBSJob is qdel, and then the object goes
 *
 * A job that waits goes at once.  One that runs stays, by a finalizer, until its controller (control/pbs_plan.c) has
 * seen its processes end and has written down what it used: as long as it has cards, qstat shows whose they are.
 * Without its owner a pod would be nobody's job to end, so pods are never left behind.
 */
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"

static bool lists(const json_t *finalizers, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)finalizers, i, v)
		if (str_same(json_string_value(v), name))
			return true;
	return false;
}

/* Who asked is in PBS's accounts; of an array all is to end, not only what was so far. */
static json_t *asked_for(const struct api_request *req, const json_t *old)
{
	const json_t *cancel = jsonx_at(old, "spec.cancel");
	json_t *obj;

	if (cancel && !*jsonx_str_or(cancel, "elements", ""))
		return json_incref((json_t *)old);
	obj = jsonx_copy(old);
	if (!cancel)
		jsonx_set_new(obj, "spec.cancel", json_object());
	jsonx_set_new(obj, "spec.cancel.by", jsonx_string(req->caller->user));
	jsonx_del(obj, "spec.cancel.elements");
	return obj;
}

int pbs_mark_deleted(struct api *api, const struct api_request *req, json_t *finalizers, json_t **obj, struct err *e)
{
	json_t *old = *obj;
	char state;

	if (!pbs_is_job(req->kind))
		return 0;
	if (lists(finalizers, "orphan"))
		return err_set(
			e, ERR_FORBIDDEN,
			"pbsjobs.stoker.dev \"%.253s\" is forbidden: propagationPolicy: Orphan: what a job runs does "
			"not outlive it",
			jsonx_str_or(old, "metadata.name", ""));
	if (*jsonx_str_or(old, "status.state", "Q") == 'C')
		return 0;
	if (pbs_state(api, old, &state, e) < 0)
		return -1;
	if (strchr("RSE", state) && !jsonx_at(old, "metadata.deletionTimestamp"))
		json_array_append_new(finalizers, json_string(PBS_FINALIZER));
	*obj = asked_for(req, old);
	json_decref(old);
	return 0;
}

int pbs_check_deleted(const struct caller *c, const json_t *obj, const json_t *old, struct err *e)
{
	const json_t *cancel = jsonx_at(obj, "spec.cancel");

	if (!jsonx_at(old, "metadata.deletionTimestamp") || pbs_is_admin(c))
		return 0;
	if (lists(jsonx_at(old, "metadata.finalizers"), PBS_FINALIZER) &&
	    !lists(jsonx_at(obj, "metadata.finalizers"), PBS_FINALIZER))
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_PERM,
				     "operation not permitted: the server takes the finalizer " PBS_FINALIZER
				     " away when the job's processes are gone");
	return cancel && !*jsonx_str_or(cancel, "elements", "") ? 0 : pbs_error_state(e, 'E');
}
