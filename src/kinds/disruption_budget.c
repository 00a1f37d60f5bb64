// SPDX-License-Identifier: Apache-2.0
/* disruption_budget.c - policy/v1 PodDisruptionBudget (also v1beta1), and Eviction, the body of pods/eviction */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field spec_fields[] = {
	FP(1, "minAvailable", INTSTR,
	   .doc = "How many of the pods, as a number or a percentage, must stay healthy; not with maxUnavailable."),
	F(2, "selector", OBJECT, .msg = &meta_label_selector, .flags = FIELD_REPLACE, .doc = "The pods it protects."),
	FP(3, "maxUnavailable", INTSTR,
	   .doc = "How many of the pods, as a number or a percentage, may be missing; not with minAvailable."),
	FP(4, "unhealthyPodEvictionPolicy", STRING, .values = "AlwaysAllow|IfHealthyBudget",
	   .doc = "Whether running pods that are not ready may be evicted at any time, or only if enough are healthy."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *min = json_object_get(obj, "minAvailable"), *max = json_object_get(obj, "maxUnavailable");

	if (min && max)
		path_invalid(at, e, obj, "minAvailable and maxUnavailable cannot be both set");
	rule_at_most_100_percent(min, PATH_FIELD(at, "minAvailable"), e);
	rule_at_most_100_percent(max, PATH_FIELD(at, "maxUnavailable"), e);
}

static const struct message spec = MESSAGE("io.k8s.api.policy.v1.PodDisruptionBudgetSpec", spec_fields,
					   .doc = "Which pods are protected, and how far.", .validate = spec_validate);

static const struct field status_fields[] = {
	F(1, "observedGeneration", INT64, .doc = "The metadata.generation that this status is about."),
	FM(2, "disruptedPods", TIME, .doc = "Pods whose eviction was allowed and is under way, and since when."),
	F(3, "disruptionsAllowed", INT32, .doc = "How many pods may be evicted now."),
	F(4, "currentHealthy", INT32, .doc = "Pods that are healthy."),
	F(5, "desiredHealthy", INT32, .doc = "Pods that must be healthy."),
	F(6, "expectedPods", INT32, .doc = "Pods that are counted."),
	FL(7, "conditions", OBJECT, .msg = &meta_condition, .merge_key = "type", .doc = "Facts about the budget."),
};

static const struct message status = MESSAGE("io.k8s.api.policy.v1.PodDisruptionBudgetStatus", status_fields,
					     .doc = "What the controller last saw.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "Which pods are protected, and how far."),
	F(3, "status", OBJECT, .msg = &status, .doc = "How many may be evicted now."),
};

#define BUDGET_DOC "Limits how many pods may be evicted at the same time."

static const struct message budget = MESSAGE("io.k8s.api.policy.v1.PodDisruptionBudget", fields, .doc = BUDGET_DOC);
static const struct message budget_v1beta1 =
	MESSAGE("io.k8s.api.policy.v1beta1.PodDisruptionBudget", fields, .doc = BUDGET_DOC);

static void prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status",
			    json_pack("{s:i, s:i, s:i, s:i}", "currentHealthy", 0, "desiredHealthy", 0,
				      "disruptionsAllowed", 0, "expectedPods", 0));
}

static json_t *intstr_cell(const json_t *v)
{
	if (json_is_integer(v))
		return jsonx_stringf("%lld", (long long)json_integer_value(v));
	return json_is_string(v) ? json_copy((json_t *)v) : json_string("N/A");
}

static json_t *cell_min(const json_t *obj, int64_t now)
{
	(void)now;
	return intstr_cell(jsonx_at(obj, "spec.minAvailable"));
}

static json_t *cell_max(const json_t *obj, int64_t now)
{
	(void)now;
	return intstr_cell(jsonx_at(obj, "spec.maxUnavailable"));
}

CELL_INT(cell_allowed, "status.disruptionsAllowed")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Min Available", "Pods that must stay healthy.", cell_min),
	COLUMN("Max Unavailable", "Pods that may be missing.", cell_max),
	COLUMN_INT("Allowed Disruptions", "Pods that may be evicted now.", cell_allowed),
	COLUMN_AGE,
};

static const char *const short_names[] = { "pdb", NULL };

/* Everything but the version and the message. */
#define BUDGET_KIND                                                                                                    \
	.group = "policy", .kind = "PodDisruptionBudget", .plural = "poddisruptionbudgets",                            \
	.singular = "poddisruptionbudget", .short_names = short_names, .namespaced = true,                             \
	.flags = KIND_STATUS | KIND_GENERATION, .verbs = VERBS_ALL, KIND_COLUMNS(columns),                             \
	KIND_SUBRESOURCES(status_only), .prepare_create = prepare_create

const struct kind kind_disruption_budget = { BUDGET_KIND, .version = "v1", .message = &budget };

/* The only one that kubectl 1.20 knows. */
const struct kind kind_disruption_budget_v1beta1 = {
	BUDGET_KIND,
	.version = "v1beta1",
	.message = &budget_v1beta1,
	.storage = &kind_disruption_budget,
};

static const struct field eviction_fields[] = {
	FIELDS_OBJECT,
	F(2, "deleteOptions", OBJECT, .msg = &meta_delete_options, .doc = "How the pod is deleted."),
};

const struct message eviction_message = MESSAGE("io.k8s.api.policy.v1.Eviction", eviction_fields,
						.doc = "Asks to delete a pod if its disruption budgets allow it.");
