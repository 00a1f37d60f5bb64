// SPDX-License-Identifier: Apache-2.0
/* job_policy.c - podFailurePolicy and successPolicy of a Job: their fields and the rules inside them */
#include "kinds/core.h"
#include "kinds/job.h"
#include "kinds/rest_rules.h"

enum { MAX_RULES = 20, MAX_EXIT_CODES = 255, MAX_PATTERNS = 20 };

static const struct field exit_codes_fields[] = {
	FP(1, "containerName", STRING, .doc = "Only this container counts; any of them without it."),
	F(2, "operator", STRING, .flags = FIELD_REQUIRED, .values = "In|NotIn",
	  .doc = "In: one of values; NotIn: none of them."),
	FL(3, "values", INT32, .flags = FIELD_REQUIRED | FIELD_SET, .doc = "Exit codes, in rising order."),
};

static void exit_codes_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *values = json_object_get(obj, "values");
	bool in = str_same(jsonx_str(obj, "operator"), "In");
	json_int_t before = -1;
	json_t *v;
	size_t i;

	rule_max_items(values, MAX_EXIT_CODES, PATH_FIELD(at, "values"), e);
	json_array_foreach (values, i, v) {
		json_int_t code = json_integer_value(v);

		if (in && code == 0)
			path_invalid(PATH_INDEX(PATH_FIELD(at, "values"), i), e, v,
				     "must not be 0 for the In operator");
		if (i > 0 && code == before)
			path_duplicate(PATH_INDEX(PATH_FIELD(at, "values"), i), e, v);
		if (i > 0 && code < before) {
			path_invalid(PATH_FIELD(at, "values"), e, values, "must be ordered");
			return;
		}
		before = code;
	}
}

static const struct message exit_codes =
	MESSAGE("io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement", exit_codes_fields,
		.doc = "Which exit codes a rule is about.", .validate = exit_codes_validate);

static const struct field pattern_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .doc = "Type of a pod condition."),
	F(2, "status", STRING, .dflt = "\"True\"", .values = "False|True|Unknown", .doc = "Its status."),
};

static const struct message pattern = MESSAGE("io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern",
					      pattern_fields, .doc = "A pod condition that a rule is about.");

static const struct field rule_fields[] = {
	F(1, "action", STRING, .flags = FIELD_REQUIRED, .values = "Count|FailIndex|FailJob|Ignore",
	  .doc = "Count the failure as usual, fail the index or the whole Job, or ignore it and start a new pod."),
	F(2, "onExitCodes", OBJECT, .msg = &exit_codes, .doc = "The rule holds for these exit codes."),
	FL(3, "onPodConditions", OBJECT, .msg = &pattern,
	   .doc = "The rule holds for pods with one of these conditions."),
};

static void rule_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *codes = json_object_get(obj, "onExitCodes");
	const json_t *conditions = json_object_get(obj, "onPodConditions");

	rule_max_items(conditions, MAX_PATTERNS, PATH_FIELD(at, "onPodConditions"), e);
	if (codes && !value_is_empty(conditions))
		path_invalid(at, e, obj, "specifying both OnExitCodes and OnPodConditions is not supported");
	if (!codes && value_is_empty(conditions))
		path_invalid(at, e, obj, "specifying one of OnExitCodes and OnPodConditions is required");
}

static const struct message rule = MESSAGE("io.k8s.api.batch.v1.PodFailurePolicyRule", rule_fields,
					   .doc = "What one sort of failure means.", .validate = rule_validate);

static const struct field failure_fields[] = {
	FL(1, "rules", OBJECT, .msg = &rule, .flags = FIELD_ATOMIC, .doc = "The first rule that holds decides."),
};

static void failure_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_max_items(json_object_get(obj, "rules"), MAX_RULES, PATH_FIELD(at, "rules"), e);
}

const struct message job_pod_failure_policy =
	MESSAGE("io.k8s.api.batch.v1.PodFailurePolicy", failure_fields, .doc = "What the failure of a pod means.",
		.validate = failure_validate);

static const struct field success_rule_fields[] = {
	FP(1, "succeededIndexes", STRING, .doc = "Indexes that must succeed, such as 0,2-4."),
	FP(2, "succeededCount", INT32, .has_min = true, .min = 1, .doc = "How many indexes must succeed."),
};

static void success_rule_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (!json_object_get(obj, "succeededIndexes") && !json_object_get(obj, "succeededCount"))
		path_required(at, e, "at least one of succeededCount or succeededIndexes must be specified");
}

static const struct message success_rule =
	MESSAGE("io.k8s.api.batch.v1.SuccessPolicyRule", success_rule_fields, .doc = "When enough has succeeded.",
		.validate = success_rule_validate);

static const struct field success_fields[] = {
	FL(1, "rules", OBJECT, .msg = &success_rule, .flags = FIELD_ATOMIC, .doc = "Any of them is enough."),
};

static void success_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *rules = json_object_get(obj, "rules");

	rule_some(rules, PATH_FIELD(at, "rules"), e,
		  "at least one rules must be specified when the successPolicy is specified");
	rule_max_items(rules, MAX_RULES, PATH_FIELD(at, "rules"), e);
}

const struct message job_success_policy =
	MESSAGE("io.k8s.api.batch.v1.SuccessPolicy", success_fields, .doc = "When an Indexed Job has succeeded early.",
		.validate = success_validate);
