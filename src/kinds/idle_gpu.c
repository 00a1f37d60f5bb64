// SPDX-License-Identifier: Apache-2.0
/* idle_gpu.c - reads what is asked and what is told about GPUs that nobody uses */
#include "kinds/idle_gpu.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/condition.h"
#include "kinds/resource_list.h"
#include "kinds/walltime.h"

static int64_t seconds_at(const json_t *obj, const char *field)
{
	const char *text = jsonx_str(obj, field);
	int64_t seconds;

	return text && walltime_parse(text, &seconds) && seconds > 0 ? seconds : 0;
}

struct idle_policy idle_policy_of(const json_t *queue_spec)
{
	const json_t *idle = json_object_get(queue_spec, "idleGpu");
	struct idle_policy p = { .warn_s = seconds_at(idle, "warnAfter") };

	if (!p.warn_s)
		return p;
	p.end_s = seconds_at(idle, "endAfter");
	p.below = (int)jsonx_int_or(idle, "below", IDLE_GPU_BELOW);
	return p;
}

struct idle_word pod_idle_word(const json_t *pod)
{
	const json_t *c = condition_of(pod, POD_GPU_ACTIVE);
	struct idle_word w = { .message = jsonx_str_or(c, "message", "") };
	int64_t from;
	int64_t until;

	if (!str_same(jsonx_str(c, "status"), "False"))
		return w;
	w.idle = true;
	w.too_long = str_same(jsonx_str(c, "reason"), GPU_IDLE_LONG);
	if (clock_parse_rfc3339(jsonx_str_or(c, "lastTransitionTime", ""), &from) &&
	    clock_parse_rfc3339(jsonx_str_or(c, "lastProbeTime", ""), &until) && until > from)
		w.seconds = (until - from) / 1000000;
	return w;
}

const json_t *pod_failure_target(const json_t *pod)
{
	const json_t *c = condition_of(pod, POD_FAILURE_TARGET);

	return str_same(jsonx_str(c, "status"), "True") ? c : NULL;
}

bool pod_wants_gpu(const json_t *pod)
{
	static const char *const names[] = { "nvidia.com/gpu", RESOURCE_NAME_GPU_MEMORY };
	struct resource_list limits = { 0 };
	bool any = false;

	pod_resources(json_object_get(pod, "spec"), "limits", false, &limits);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct quantity *q = resource_list_find(&limits, names[i]);

		any |= q && q->nano > 0;
	}
	resource_list_done(&limits);
	return any;
}
