// SPDX-License-Identifier: Apache-2.0
/* pbs_begun.c - see pbs_parts.h: jobs that run although their status does not say so yet
 *
 * A process of one node is started there as soon as the pod has its node, and the job's status tells of it later: among
 * many that start the node says so only after a while.  Who asks something of the job in the meantime must not hear
 * that it is queued.
 */
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_id.h"

#define LOOK_MOST 64 /* elements of an array that wait as pods: control/pbs_plan.h, PBS_WINDOW */

static bool is_given(const json_t *pod, const json_t *job)
{
	const json_t *owner = json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0);
	const char *phase = jsonx_str_or(pod, "status.phase", "Pending");

	return str_same(jsonx_str(owner, "uid"), jsonx_str_or(job, "metadata.uid", "")) &&
	       streq(jsonx_str_or(pod, "spec.runtimeClassName", ""), PBS_HOST_CLASS) &&
	       *jsonx_str_or(pod, "spec.nodeName", "") && !streq(phase, "Succeeded") && !streq(phase, "Failed") &&
	       !jsonx_at(pod, "metadata.deletionTimestamp");
}

/* How often it has been started: the number of the run to come. */
static int run_of(const json_t *job, int index)
{
	json_t *v;
	size_t i;

	if (index < 0)
		return (int)jsonx_int_or(job, "status.startCount", 0);
	json_array_foreach (jsonx_at(job, "status.active"), i, v)
		if (jsonx_int_or(v, "index", -1) == index)
			return (int)jsonx_int_or(v, "startCount", 0);
	return 0;
}

int pbs_begun(struct api *api, const json_t *job, int index, json_t **ret, struct err *e)
{
	struct stored_kind k = { .group = "", .version = "v1", .plural = "pods" };
	auto_sbuf struct sbuf name = SBUF(512);
	json_auto_t *pod = NULL;

	*ret = NULL;
	pbs_id_pod(jsonx_str_or(job, "metadata.name", ""), index, 0, run_of(job, index), &name);
	if (stored_get(api, &k, jsonx_str_or(job, "metadata.namespace", ""), name.p, &pod, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
		return 0;
	}
	if (is_given(pod, job))
		*ret = TAKE(pod);
	return 0;
}

static void drop_set(struct pbs_set *s, const char *text)
{
	struct pbs_set less = { 0 };
	struct err e = ERR_INIT;
	int slots;

	if (text && pbs_array_parse(text, &less, &slots, &e) == 0)
		pbs_set_subtract(s, &less);
	pbs_set_done(&less);
}

/* Those that may have been started: neither ended nor known to run. */
static struct pbs_set waiting(const json_t *job)
{
	struct pbs_set s = { 0 };
	struct err e = ERR_INIT;
	const char *state;
	json_t *v;
	int slots;

	if (pbs_array_parse(jsonx_str_or(job, "spec.array.request", ""), &s, &slots, &e) < 0)
		return (struct pbs_set){ 0 };
	json_object_foreach (jsonx_at(job, "status.elements"), state, v)
		drop_set(&s, json_string_value(v));
	return s;
}

int pbs_begun_all(struct api *api, const json_t *job, int (*each)(void *arg, json_t *pod, struct err *e), void *arg,
		  struct err *e)
{
	struct pbs_set s = { 0 };
	int index = -1;
	int r = 0;

	if (jsonx_at(job, "spec.array"))
		s = waiting(job);
	else
		pbs_set_add(&s, 0, 0);
	for (int i = 0; i < LOOK_MOST && r == 0 && pbs_set_next(&s, &index); i++) {
		json_auto_t *pod = NULL;

		r = pbs_begun(api, job, jsonx_at(job, "spec.array") ? index : PBS_PLAIN, &pod, e);
		if (r == 0 && pod)
			r = each(arg, pod, e);
	}
	pbs_set_done(&s);
	return r;
}
