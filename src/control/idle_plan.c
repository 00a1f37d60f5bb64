// SPDX-License-Identifier: Apache-2.0
/* idle_plan.c - see idle_plan.h */
#include "control/idle_plan.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/condition.h"
#include "kinds/idle_gpu.h"

enum idle_is idle_plan(const struct pod_facts *const *pods, size_t n, const struct pod_facts **ret_least)
{
	enum idle_is is = IDLE_IS_OVER;
	int64_t shortest = 0;

	*ret_least = NULL;
	for (size_t i = 0; i < n; i++) {
		struct idle_word word = pod_idle_word(pods[i]->obj);

		if (!pod_active(pods[i]) || !pod_wants_gpu(pods[i]->obj))
			continue;
		if (pods[i]->phase != POD_IS_RUNNING || !word.idle) {
			*ret_least = NULL;
			return IDLE_IS_BUSY;
		}
		if (!word.too_long)
			is = IDLE_IS_WARNED;
		if (!*ret_least || word.seconds < shortest) {
			*ret_least = pods[i];
			shortest = word.seconds;
		}
	}
	return *ret_least ? is : IDLE_IS_BUSY;
}

enum idle_end idle_end_of(const char *kind)
{
	static const struct {
		const char *kind;
		enum idle_end end;
	} rows[] = {
		{ "Job", IDLE_END_FAIL },
		{ "TFJob", IDLE_END_FAIL },
		{ "PyTorchJob", IDLE_END_FAIL },
		{ "PaddleJob", IDLE_END_FAIL },
		{ "MPIJob", IDLE_END_FAIL },
		{ "Deployment", IDLE_END_SCALE },
		{ "StatefulSet", IDLE_END_SCALE },
		{ "ReplicaSet", IDLE_END_SCALE },
		{ "ReplicationController", IDLE_END_SCALE },
		{ "PBSJob", IDLE_END_QDEL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(kind, rows[i].kind))
			return rows[i].end;
	return IDLE_END_NOT;
}

static bool has_ended(const json_t *obj, const char *target)
{
	const char *const types[] = { "Complete", "Failed", "Succeeded", "SuccessCriteriaMet", target };
	const char *phase = jsonx_str_or(obj, "status.phase", "");

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (condition_holds(obj, types[i]))
			return true;
	return streq(phase, "Succeeded") || streq(phase, "Failed") || jsonx_at(obj, "metadata.deletionTimestamp");
}

json_t *idle_fail_status(const json_t *obj, const char *type, const char *message, int64_t now)
{
	char at[CLOCK_RFC3339_LEN];
	json_t *status;
	json_t *list;

	if (has_ended(obj, type))
		return NULL;
	clock_rfc3339(now, at);
	status = jsonx_copy(json_object_get(obj, "status"));
	if (!json_is_object(status)) {
		json_decref(status);
		status = json_object();
	}
	list = json_object_get(status, "conditions");
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(status, "conditions", list);
	}
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:s}", "type", type, "status", "True", "reason",
					      GPU_IDLE, "message", jsonx_string(message), "lastTransitionTime", at));
	return status;
}
