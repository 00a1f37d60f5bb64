// SPDX-License-Identifier: Apache-2.0
/* scheduling.c - taints, tolerations and spreading */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

#define EFFECTS "NoSchedule|PreferNoSchedule|NoExecute"

static void taint_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_text(json_object_get(obj, "key"), PATH_FIELD(at, "key"), e, name_check_qualified);
	rule_text(json_object_get(obj, "value"), PATH_FIELD(at, "value"), e, name_check_label_value);
}

static const struct field taint_fields[] = {
	F(1, "key", STRING, .flags = FIELD_REQUIRED, .doc = "Key of the taint."),
	F(2, "value", STRING, .doc = "Value of the taint."),
	F(3, "effect", STRING, .flags = FIELD_REQUIRED, .values = EFFECTS,
	  .doc = "NoSchedule, PreferNoSchedule or NoExecute."),
	FP(4, "timeAdded", TIME, .doc = "When a NoExecute taint was added."),
};
const struct message core_taint =
	MESSAGE("io.k8s.api.core.v1.Taint", taint_fields,
		.doc = "A mark on a node that keeps away pods which do not tolerate it.", .validate = taint_validate);

static void toleration_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *op = jsonx_str_or(obj, "operator", ""), *effect = jsonx_str_or(obj, "effect", "");
	const struct path *op_at = PATH_FIELD(at, "operator");
	bool exists = streq(op, "Exists");

	rule_text(json_object_get(obj, "key"), PATH_FIELD(at, "key"), e, name_check_qualified);
	if (!*jsonx_str_or(obj, "key", "") && !exists)
		rule_invalid(
			json_object_get(obj, "operator"), op_at, e,
			"operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
	if (json_object_get(obj, "tolerationSeconds") && !streq(effect, "NoExecute"))
		rule_invalid(json_object_get(obj, "effect"), PATH_FIELD(at, "effect"), e,
			     "effect must be 'NoExecute' when `tolerationSeconds` is set");
	if (exists && *jsonx_str_or(obj, "value", ""))
		rule_invalid(json_object_get(obj, "operator"), op_at, e,
			     "value must be empty when `operator` is 'Exists'");
	if (!exists)
		rule_text(json_object_get(obj, "value"), PATH_FIELD(at, "value"), e, name_check_label_value);
}

static const struct field toleration_fields[] = {
	F(1, "key", STRING, .doc = "Key of the taint; empty with operator Exists matches every taint."),
	F(2, "operator", STRING, .values = "Equal|Exists",
	  .doc = "Equal compares the value, Exists matches any; Equal if absent."),
	F(3, "value", STRING, .doc = "Value of the taint, for Equal."),
	F(4, "effect", STRING, .values = EFFECTS, .doc = "Effect of the taint; empty matches every effect."),
	FP(5, "tolerationSeconds", INT64, .doc = "How long a NoExecute taint is tolerated; for ever if absent."),
};
const struct message core_toleration =
	MESSAGE("io.k8s.api.core.v1.Toleration", toleration_fields,
		.doc = "Lets a pod onto nodes with a matching taint.", .validate = toleration_validate);

static void spread_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *skew = json_object_get(obj, "maxSkew"), *domains = json_object_get(obj, "minDomains");

	if (skew && json_integer_value(skew) <= 0)
		path_invalid(PATH_FIELD(at, "maxSkew"), e, skew, "must be greater than zero");
	if (domains && json_integer_value(domains) <= 0)
		path_invalid(PATH_FIELD(at, "minDomains"), e, domains, "must be greater than zero");
	if (domains && !streq(jsonx_str_or(obj, "whenUnsatisfiable", ""), "DoNotSchedule"))
		path_invalid(PATH_FIELD(at, "minDomains"), e, domains,
			     "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %s",
			     jsonx_str_or(obj, "whenUnsatisfiable", ""));
}

static const struct field topology_spread_constraint_fields[] = {
	F(1, "maxSkew", INT32, .flags = FIELD_REQUIRED, .doc = "Largest allowed difference between two parts."),
	F(2, "topologyKey", STRING, .flags = FIELD_REQUIRED, .doc = "Node label whose values are the parts."),
	F(3, "whenUnsatisfiable", STRING, .flags = FIELD_REQUIRED, .values = "DoNotSchedule|ScheduleAnyway",
	  .doc = "DoNotSchedule or ScheduleAnyway."),
	FP(4, "labelSelector", OBJECT, .msg = &meta_label_selector, .doc = "Which pods are counted."),
	FP(5, "minDomains", INT32, .doc = "Least number of parts that must be eligible."),
	FP(6, "nodeAffinityPolicy", STRING, .values = "Honor|Ignore",
	   .doc = "Whether nodes excluded by affinity count."),
	FP(7, "nodeTaintsPolicy", STRING, .values = "Honor|Ignore", .doc = "Whether tainted nodes count."),
	FL(8, "matchLabelKeys", STRING, .doc = "Labels whose value is taken from the pod itself."),
};
const struct message core_topology_spread_constraint =
	MESSAGE("io.k8s.api.core.v1.TopologySpreadConstraint", topology_spread_constraint_fields,
		.doc = "How evenly matching pods spread over parts of the cluster.", .validate = spread_validate);

static const struct field topology_selector_label_requirement_fields[] = {
	F(1, "key", STRING, .flags = FIELD_REQUIRED, .doc = "The label's key."),
	FL(2, "values", STRING, .flags = FIELD_REQUIRED, .doc = "Allowed values."),
};
static const struct message topology_selector_label_requirement =
	MESSAGE("io.k8s.api.core.v1.TopologySelectorLabelRequirement", topology_selector_label_requirement_fields,
		.doc = "A label that a volume's topology must have.");

static const struct field topology_selector_term_fields[] = {
	FL(1, "matchLabelExpressions", OBJECT, .msg = &topology_selector_label_requirement,
	   .doc = "Labels that must all match."),
};
const struct message core_topology_selector_term =
	MESSAGE("io.k8s.api.core.v1.TopologySelectorTerm", topology_selector_term_fields,
		.doc = "Where a volume may be made.", .atomic = true);
