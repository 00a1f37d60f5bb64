// SPDX-License-Identifier: Apache-2.0
/* pod_facts.c - a pod in numbers */
#include "control/pod_facts.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/str.h"

static enum pod_is phase_of(const json_t *pod)
{
	static const char *const names[] = { "Pending", "Running", "Succeeded", "Failed" };
	const char *phase = jsonx_str_or(pod, "status.phase", "Pending");

	for (int i = 0; i < 4; i++)
		if (streq(phase, names[i]))
			return (enum pod_is)i;
	return POD_IS_UNKNOWN;
}

int64_t time_at(const json_t *obj, const char *path)
{
	const char *text = jsonx_str(obj, path);
	int64_t micros;

	return text && clock_parse_rfc3339(text, &micros) ? micros / 1000000 : 0;
}

int64_t clock_until_ms(int64_t seconds)
{
	int64_t ms = seconds * 1000 - clock_wall_micros() % 1000000 / 1000;

	return ms > 0 ? ms + 1 : 0;
}

static const json_t *ready_condition(const json_t *pod)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), "Ready"))
			return str_same(jsonx_str(c, "status"), "True") ? c : NULL;
	return NULL;
}

/* The end of the last container; a pod whose containers say nothing ended when it was deleted, or is as old as it is.
 */
static int64_t end_of(const json_t *pod)
{
	int64_t last = 0;
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.containerStatuses"), i, c) {
		int64_t at = time_at(c, "state.terminated.finishedAt");

		last = at > last ? at : last;
	}
	if (!last)
		last = time_at(pod, "metadata.deletionTimestamp");
	return last ? last : time_at(pod, "metadata.creationTimestamp");
}

static int64_t restarts_of(const json_t *pod)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
	int64_t sum = 0;
	json_t *c;
	size_t n;

	for (int i = 0; i < 2; i++)
		json_array_foreach (jsonx_at(pod, lists[i]), n, c)
			sum += jsonx_int_or(c, "restartCount", 0);
	return sum;
}

static int cost_of(const json_t *annotations)
{
	const char *text = json_string_value(json_object_get(annotations, POD_DELETION_COST));
	int64_t n;

	return text && str_int64(text, INT32_MIN, INT32_MAX, &n) ? (int)n : 0;
}

static int number_at(const json_t *annotations, const char *key, int fallback)
{
	const char *text = json_string_value(json_object_get(annotations, key));
	int64_t n;

	return text && str_int64(text, 0, INT32_MAX, &n) ? (int)n : fallback;
}

static bool is_tracked(const json_t *pod)
{
	json_t *f;
	size_t i;

	json_array_foreach (jsonx_at(pod, "metadata.finalizers"), i, f)
		if (str_same(json_string_value(f), JOB_FINALIZER))
			return true;
	return false;
}

struct pod_facts pod_facts(const json_t *pod)
{
	const json_t *annotations = jsonx_at(pod, "metadata.annotations");
	const json_t *ready = ready_condition(pod);
	struct pod_facts p = {
		.obj = pod,
		.name = jsonx_str_or(pod, "metadata.name", ""),
		.uid = jsonx_str_or(pod, "metadata.uid", ""),
		.phase = phase_of(pod),
		.deleting = jsonx_at(pod, "metadata.deletionTimestamp") != NULL,
		.ready = ready != NULL,
		.assigned = *jsonx_str_or(pod, "spec.nodeName", "") != '\0',
		.created = time_at(pod, "metadata.creationTimestamp"),
		.ready_since = time_at(ready, "lastTransitionTime"),
		.restarts = restarts_of(pod),
		.deletion_cost = cost_of(annotations),
		.tracked = is_tracked(pod),
		.index = number_at(annotations, JOB_INDEX, -1),
		.index_failures = number_at(annotations, JOB_INDEX_FAILURES, 0),
		.index_ignored = number_at(annotations, JOB_INDEX_IGNORED, 0),
	};

	if (pod_ended(&p) || p.deleting)
		p.finished = end_of(pod);
	return p;
}

bool pod_available(const struct pod_facts *p, int64_t min_ready_seconds, int64_t now, int64_t *again)
{
	int64_t left = p->ready_since + min_ready_seconds - now;

	if (!p->ready)
		return false;
	if (min_ready_seconds <= 0 || left <= 0)
		return true;
	if (*again < 0 || left < *again)
		*again = left;
	return false;
}

const json_t *controller_of(const json_t *obj)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, ref)
		if (json_is_true(json_object_get(ref, "controller")))
			return ref;
	return NULL;
}

json_t *controller_ref(const char *api_version, const char *kind, const json_t *owner)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b}", "apiVersion", api_version, "kind", kind, "name",
			 jsonx_str_or(owner, "metadata.name", ""), "uid", jsonx_str_or(owner, "metadata.uid", ""),
			 "controller", 1, "blockOwnerDeletion", 1);
}

int pod_rank(const struct pod_facts *a, const struct pod_facts *b)
{
	/* Pending is worth less than unknown, which is worth less than running. */
	static const int worth[] = { [POD_IS_PENDING] = 0,
				     [POD_IS_UNKNOWN] = 1,
				     [POD_IS_RUNNING] = 2,
				     [POD_IS_SUCCEEDED] = 3,
				     [POD_IS_FAILED] = 3 };

	if (a->assigned != b->assigned)
		return a->assigned ? 1 : -1;
	if (worth[a->phase] != worth[b->phase])
		return worth[a->phase] - worth[b->phase];
	if (a->ready != b->ready)
		return a->ready ? 1 : -1;
	if (a->restarts != b->restarts)
		return a->restarts > b->restarts ? -1 : 1;
	if (a->created != b->created)
		return a->created > b->created ? -1 : 1;
	return strcmp(b->name, a->name);
}
