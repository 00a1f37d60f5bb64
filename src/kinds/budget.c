// SPDX-License-Identifier: Apache-2.0
/* budget.c - see budget.h */
#include "kinds/budget.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/placement.h"

bool budget_is_needed(const json_t *pod)
{
	static const char *const idle[] = { "Pending", "Succeeded", "Failed" };
	const char *phase = jsonx_str_or(pod, "status.phase", "");

	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		if (streq(phase, idle[i]))
			return false;
	return !jsonx_at(pod, "metadata.deletionTimestamp");
}

bool budget_counts(const json_t *budget, const json_t *pod)
{
	int64_t healthy = jsonx_int_or(budget, "status.currentHealthy", 0);
	int64_t wanted = jsonx_int_or(budget, "status.desiredHealthy", 0);

	if (condition_holds(pod, "Ready"))
		return true;
	return !str_same(jsonx_str(budget, "spec.unhealthyPodEvictionPolicy"), "AlwaysAllow") &&
	       !(wanted > 0 && healthy >= wanted);
}
