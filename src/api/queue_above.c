// SPDX-License-Identifier: Apache-2.0
/* queue_above.c - see queue_parts.h
 *
 * A pod follows its Job, its Job the CronJob; a pod its ReplicaSet, that one the Deployment.  Most of them say nothing
 * about queues, and then are not decoded: words in the text tell.  Thousands of pods of one Job come in a row, so what
 * was read last is kept; only of a controller without one of its own, whose revision says it all.
 */
#include "api/object.h"
#include "api/pod_owner.h"
#include "api/queue_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define HIGHEST 4 /* a pod, a Job, a CronJob, and one to spare */

static bool says_something(struct str body)
{
	static const char *const words[] = { "\"" QUEUE_LABEL "\"", "\"" WALLTIME_ANNOTATION "\"",
					     "\"activeDeadlineSeconds\"", "\"walltime\"", "\"controller\":true" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (queue_mentions(body, words[i]))
			return true;
	return false;
}

/* The lower one's word counts. */
static void take(struct queue_above *above, const json_t *obj)
{
	if (!above->queue[0])
		snprintf(above->queue, sizeof(above->queue), "%s", queue_label(obj));
	if (above->walltime == TIME_NONE)
		above->walltime = queue_walltime(obj);
}

/* One step up: *ret_obj is the controller if it has something to say, else NULL. */
static int climb(struct api *api, const char *ns, const json_t *obj, struct queue_above *above, json_t **ret_obj,
		 struct err *e)
{
	struct queues *qs = api_queues(api);
	const json_t *ref = pod_owner_controller(obj);
	const struct kind *k = ref ? pod_owner_controller_kind(api, ref) : NULL;
	struct record r;
	int number;

	*ret_obj = NULL;
	if (!k || !k->namespaced)
		return 0;
	if (api_store_kind(api, k, &number, e) < 0)
		return -1;
	if (store_get(api_store(api), number, ns, jsonx_str_or(ref, "name", ""), &r, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
		return 0;
	}
	if (r.rv == qs->above_rv && r.kind == qs->above_kind) {
		if (!above->queue[0])
			memcpy(above->queue, qs->above.queue, sizeof(above->queue));
		if (above->walltime == TIME_NONE)
			above->walltime = qs->above.walltime;
		return 0;
	}
	if (says_something(r.body)) {
		*ret_obj = store_recent_at(api_store(api), r.rv);
		if (!*ret_obj && object_parse(r.body, ret_obj, e) < 0)
			return -1;
	}
	take(above, *ret_obj);
	if (*ret_obj && pod_owner_controller(*ret_obj))
		return 0;
	qs->above = (struct queue_above){ .walltime = TIME_NONE };
	take(&qs->above, *ret_obj);
	qs->above_rv = r.rv;
	qs->above_kind = r.kind;
	turn_guard_watch_read(&qs->guard, api_store(api));
	return 0;
}

int queue_above_read(struct api *api, const char *ns, const json_t *obj, struct queue_above *ret, struct err *e)
{
	json_auto_t *at = json_incref((json_t *)obj);

	*ret = (struct queue_above){ .walltime = TIME_NONE };
	for (int i = 0; at && i < HIGHEST; i++) {
		json_t *up = NULL;

		if (climb(api, ns, at, ret, &up, e) < 0)
			return -1;
		json_decref(at);
		at = up;
	}
	return 0;
}
