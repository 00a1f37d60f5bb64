// SPDX-License-Identifier: Apache-2.0
/* drain_pods.c - see drain_pods.h */
#include "cli/drain_pods.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "cli/find.h"
#include "kinds/walltime.h"

bool drain_pod_stays(const json_t *pod)
{
	const json_t *notes = jsonx_at(pod, "metadata.annotations");

	return str_same(jsonx_str(find_controller(pod), "kind"), "DaemonSet") ||
	       json_object_get(notes, "kubernetes.io/config.mirror");
}

int64_t drain_pod_end(const json_t *pod, int64_t now)
{
	const json_t *note = json_object_get(jsonx_at(pod, "metadata.annotations"), "stoker.dev/walltime");
	int64_t seconds = jsonx_int_or(pod, "spec.activeDeadlineSeconds", 0);
	int64_t started;

	if (!clock_parse_rfc3339(jsonx_str_or(pod, "status.startTime", ""), &started))
		started = now * 1000000;
	if (json_is_string(note))
		walltime_parse(json_string_value(note), &seconds);
	return seconds > 0 ? started / 1000000 + clock_ms_of(seconds) / 1000 : 0;
}
