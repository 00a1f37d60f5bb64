// SPDX-License-Identifier: Apache-2.0
/* activity.c - reads what is asked and what is told about a pod's silence */
#include "kinds/activity.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/str.h"
#include "kinds/condition.h"
#include "kinds/walltime.h"

bool hang_after_parse(const char *text, int64_t *ret_seconds)
{
	int64_t seconds;

	if (!walltime_parse(text, &seconds) || seconds < 1)
		return false;
	*ret_seconds = seconds;
	return true;
}

int64_t hang_after_of(const json_t *obj)
{
	const char *text = json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), HANG_AFTER));
	int64_t seconds = 0;

	return text && hang_after_parse(text, &seconds) ? seconds : 0;
}

const json_t *pod_active_condition(const json_t *pod)
{
	return condition_of(pod, POD_ACTIVE);
}

int64_t pod_silent_since(const json_t *pod)
{
	const json_t *c = pod_active_condition(pod);
	int64_t micros;

	if (!c || !str_same(jsonx_str(c, "status"), "False") ||
	    !clock_parse_rfc3339(jsonx_str_or(c, "lastTransitionTime", ""), &micros))
		return 0;
	return micros / 1000000;
}
