// SPDX-License-Identifier: Apache-2.0
/* pod_facts.c - a pod in numbers */
#include "control/pod_facts.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/activity.h"
#include "kinds/condition.h"

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
	return condition_holds(pod, "Ready") ? condition_of(pod, "Ready") : NULL;
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

static void read_restarts(const json_t *pod, struct pod_facts *p)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
	json_t *c;
	size_t n;

	for (int i = 0; i < 2; i++)
		json_array_foreach (jsonx_at(pod, lists[i]), n, c) {
			int64_t count = jsonx_int_or(c, "restartCount", 0);

			p->restarts += count;
			if (count > p->most_restarts)
				p->most_restarts = count;
		}
}

/* A reason that every container has for a moment says nothing, unless a message is with it. */
static bool is_stuck(const json_t *waiting)
{
	const char *reason = jsonx_str_or(waiting, "reason", "ContainerCreating");

	return *jsonx_str_or(waiting, "message", "") ||
	       (!streq(reason, "ContainerCreating") && !streq(reason, "PodInitializing"));
}

static const json_t *stuck_at(const json_t *pod)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
	json_t *c;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (jsonx_at(pod, lists[i]), n, c) {
			const json_t *waiting = jsonx_at(c, "state.waiting");

			if (waiting && is_stuck(waiting))
				return waiting;
		}
	return NULL;
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
		.node = jsonx_str_or(pod, "spec.nodeName", ""),
		.created = time_at(pod, "metadata.creationTimestamp"),
		.ready_since = time_at(ready, "lastTransitionTime"),
		.deletion_cost = cost_of(annotations),
		.tracked = is_tracked(pod),
		.index = number_at(annotations, JOB_INDEX, -1),
		.index_failures = number_at(annotations, JOB_INDEX_FAILURES, 0),
		.index_ignored = number_at(annotations, JOB_INDEX_IGNORED, 0),
	};

	p.assigned = *p.node != '\0';
	if (p.phase == POD_IS_PENDING && p.assigned)
		p.stuck = stuck_at(pod);
	read_restarts(pod, &p);
	if (json_object_get(annotations, HANG_AFTER))
		p.silent_since = pod_silent_since(pod);
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

/* ---- too many ---- */

static int less(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Whether it works, and how well. */
static int by_state(const struct pod_facts *a, const struct pod_facts *b)
{
	/* Pending is worth less than unknown, which is worth less than running. */
	static const int worth[] = { [POD_IS_PENDING] = 0,
				     [POD_IS_UNKNOWN] = 1,
				     [POD_IS_RUNNING] = 2,
				     [POD_IS_SUCCEEDED] = 3,
				     [POD_IS_FAILED] = 3 };
	int d = less(a->assigned, b->assigned);

	if (!d)
		d = less(worth[a->phase], worth[b->phase]);
	return d ? d : less(a->ready, b->ready);
}

int pod_rank(const struct pod_facts *a, const struct pod_facts *b)
{
	int d = by_state(a, b);

	if (!d)
		d = less(b->ready_since, a->ready_since);
	if (!d)
		d = less(b->most_restarts, a->most_restarts);
	if (!d)
		d = less(b->created, a->created);
	return d ? d : strcmp(b->name, a->name);
}

/* In nanoseconds, as Kubernetes counts; -1 for what is not over yet. */
static int power_of_two(int64_t since, int64_t now)
{
	int64_t seconds = now - since;

	if (!since || seconds <= 0 || seconds > INT64_MAX / 1000000000)
		return -1;
	return 63 - __builtin_clzll((unsigned long long)seconds * 1000000000);
}

int pod_surplus_rank(const void *a_, const void *b_)
{
	const struct pod_surplus *a = a_;
	const struct pod_surplus *b = b_;
	int d = by_state(a->pod, b->pod);

	if (!d)
		d = less(a->pod->deletion_cost, b->pod->deletion_cost);
	if (!d)
		d = less((int64_t)b->beside, (int64_t)a->beside);
	if (!d)
		d = less(power_of_two(a->pod->ready_since, a->now), power_of_two(b->pod->ready_since, b->now));
	if (!d)
		d = less(b->pod->most_restarts, a->pod->most_restarts);
	if (!d)
		d = less(power_of_two(a->pod->created, a->now), power_of_two(b->pod->created, b->now));
	return d ? d : strcmp(a->pod->uid, b->pod->uid);
}
