// SPDX-License-Identifier: Apache-2.0
/* pod_qos.c - the quality-of-service class of a pod
 *
 * Guaranteed: every container has limits for cpu and memory, and requests equal to them.  BestEffort: no container asks
 * for either.  Burstable: the rest.  A request that is absent counts as the limit, so the answer is the same before and
 * after defaults.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/quantity.h"
#include "kinds/rules.h"

static const char *const qos_resources[] = { "cpu", "memory" };

struct qos {
	bool any;   /* something was asked for */
	bool exact; /* so far every amount has a limit that equals its request */
};

static bool positive(const json_t *amount, struct quantity *ret)
{
	return amount && rule_quantity_parse(amount, ret) && ret->nano > 0;
}

static void qos_add(struct qos *qos, const json_t *containers)
{
	size_t i;
	json_t *container;

	json_array_foreach (containers, i, container) {
		const json_t *limits = jsonx_at(container, "resources.limits"),
			     *requests = jsonx_at(container, "resources.requests");

		for (size_t k = 0; k < ARRAY_SIZE(qos_resources); k++) {
			struct quantity limit, request;
			bool limited = positive(json_object_get(limits, qos_resources[k]), &limit);
			bool asked = positive(json_object_get(requests, qos_resources[k]), &request);

			qos->any |= limited || asked;
			qos->exact &= limited && (!asked || quantity_cmp(&limit, &request) == 0);
		}
	}
}

const char *pod_qos_class(const json_t *pod_spec)
{
	struct qos qos = { .exact = true };

	qos_add(&qos, json_object_get(pod_spec, "initContainers"));
	qos_add(&qos, json_object_get(pod_spec, "containers"));
	if (!qos.any)
		return "BestEffort";
	return qos.exact ? "Guaranteed" : "Burstable";
}
