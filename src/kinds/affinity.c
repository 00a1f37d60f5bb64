// SPDX-License-Identifier: Apache-2.0
/* affinity.c - which nodes, and which neighbours, a pod wants or shuns */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

/* What operators ask of their values. */
enum arity { VALUES_SOME, VALUES_NONE, VALUES_ONE };
static const struct {
	const char *name;
	enum arity arity;
} node_operators[] = {
	{ "In", VALUES_SOME },           { "NotIn", VALUES_SOME }, { "Exists", VALUES_NONE },
	{ "DoesNotExist", VALUES_NONE }, { "Gt", VALUES_ONE },     { "Lt", VALUES_ONE },
};

static void arity_validate(enum arity arity, size_t n, const struct path *at, struct err *e)
{
	if (arity == VALUES_SOME && n == 0)
		path_required(at, e, "must be specified when `operator` is 'In' or 'NotIn'");
	else if (arity == VALUES_NONE && n > 0)
		path_forbidden(at, e, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
	else if (arity == VALUES_ONE && n != 1)
		path_required(at, e, "must be specified single value when `operator` is 'Lt' or 'Gt'");
}

static void node_requirement_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *op = json_object_get(obj, "operator");
	size_t n = json_array_size(json_object_get(obj, "values"));

	rule_text(json_object_get(obj, "key"), PATH_FIELD(at, "key"), e, name_check_qualified);
	if (!json_string_length(op))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(node_operators); i++) {
		if (streq(node_operators[i].name, json_string_value(op))) {
			arity_validate(node_operators[i].arity, n, PATH_FIELD(at, "values"), e);
			return;
		}
	}
	path_invalid(PATH_FIELD(at, "operator"), e, op, "not a valid selector operator");
}

static const struct field node_selector_requirement_fields[] = {
	F(1, "key", STRING, .flags = FIELD_REQUIRED, .doc = "The label's key, or the field's path."),
	F(2, "operator", STRING, .flags = FIELD_REQUIRED, .doc = "In, NotIn, Exists, DoesNotExist, Gt or Lt."),
	FL(3, "values", STRING,
	   .doc = "Values to compare with: some for In and NotIn, one number for Gt and Lt, else none."),
};
static const struct message node_selector_requirement =
	MESSAGE("io.k8s.api.core.v1.NodeSelectorRequirement", node_selector_requirement_fields,
		.doc = "One condition on a node's label or field.", .validate = node_requirement_validate);

static const struct field node_selector_term_fields[] = {
	FL(1, "matchExpressions", OBJECT, .msg = &node_selector_requirement, .doc = "Conditions on labels."),
	FL(2, "matchFields", OBJECT, .msg = &node_selector_requirement,
	   .doc = "Conditions on fields; only metadata.name."),
};
const struct message core_node_selector_term = MESSAGE("io.k8s.api.core.v1.NodeSelectorTerm", node_selector_term_fields,
						       .doc = "Conditions that must all hold.", .atomic = true);

static void node_selector_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (!json_array_size(json_object_get(obj, "nodeSelectorTerms")))
		path_required(PATH_FIELD(at, "nodeSelectorTerms"), e, "must have at least one node selector term");
}

static const struct field node_selector_fields[] = {
	FL(1, "nodeSelectorTerms", OBJECT, .msg = &core_node_selector_term, .doc = "The terms."),
};
const struct message core_node_selector = MESSAGE("io.k8s.api.core.v1.NodeSelector", node_selector_fields,
						  .doc = "Nodes for which at least one of the terms holds.",
						  .validate = node_selector_validate, .atomic = true);

static void weight_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *weight = json_object_get(obj, "weight");

	if (weight && (json_integer_value(weight) < 1 || json_integer_value(weight) > 100))
		path_invalid(PATH_FIELD(at, "weight"), e, weight, "must be in the range 1-100");
}

static const struct field preferred_scheduling_term_fields[] = {
	F(1, "weight", INT32, .flags = FIELD_REQUIRED, .doc = "How much it counts, 1 to 100."),
	F(2, "preference", OBJECT, .msg = &core_node_selector_term, .flags = FIELD_REQUIRED,
	  .doc = "The nodes that are wished for."),
};
static const struct message preferred_scheduling_term =
	MESSAGE("io.k8s.api.core.v1.PreferredSchedulingTerm", preferred_scheduling_term_fields,
		.doc = "A wish about nodes.", .validate = weight_validate);

static const struct field node_affinity_fields[] = {
	FP(1, "requiredDuringSchedulingIgnoredDuringExecution", OBJECT, .msg = &core_node_selector,
	   .doc = "Nodes on which the pod may be placed."),
	FL(2, "preferredDuringSchedulingIgnoredDuringExecution", OBJECT, .msg = &preferred_scheduling_term,
	   .doc = "Nodes that are wished for; weights of all that match are added."),
};
static const struct message node_affinity =
	MESSAGE("io.k8s.api.core.v1.NodeAffinity", node_affinity_fields, .doc = "Rules about nodes.");

static void pod_term_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (!*jsonx_str_or(obj, "topologyKey", ""))
		path_required(PATH_FIELD(at, "topologyKey"), e, "can not be empty");
	rule_text(json_object_get(obj, "topologyKey"), PATH_FIELD(at, "topologyKey"), e, name_check_qualified);
	rule_texts(json_object_get(obj, "namespaces"), PATH_FIELD(at, "namespaces"), e, name_check_label);
}

static const struct field pod_affinity_term_fields[] = {
	FP(1, "labelSelector", OBJECT, .msg = &meta_label_selector, .doc = "Which pods."),
	FL(2, "namespaces", STRING, .doc = "Their namespaces; the pod's own if none are given."),
	F(3, "topologyKey", STRING, .doc = "Node label whose equal value means near."),
	FP(4, "namespaceSelector", OBJECT, .msg = &meta_label_selector, .doc = "Further namespaces, by their labels."),
	FL(5, "matchLabelKeys", STRING, .doc = "Labels that must equal the pod's own."),
	FL(6, "mismatchLabelKeys", STRING, .doc = "Labels that must differ from the pod's own."),
};
const struct message core_pod_affinity_term = MESSAGE(
	"io.k8s.api.core.v1.PodAffinityTerm", pod_affinity_term_fields,
	.doc = "Being near pods that match, where near means an equal node label.", .validate = pod_term_validate);

static const struct field weighted_pod_affinity_term_fields[] = {
	F(1, "weight", INT32, .flags = FIELD_REQUIRED, .doc = "How much it counts, 1 to 100."),
	F(2, "podAffinityTerm", OBJECT, .msg = &core_pod_affinity_term, .flags = FIELD_REQUIRED,
	  .doc = "The neighbours."),
};
static const struct message weighted_pod_affinity_term =
	MESSAGE("io.k8s.api.core.v1.WeightedPodAffinityTerm", weighted_pod_affinity_term_fields,
		.doc = "A wish about neighbours.", .validate = weight_validate);

static const struct field pod_affinity_fields[] = {
	FL(1, "requiredDuringSchedulingIgnoredDuringExecution", OBJECT, .msg = &core_pod_affinity_term,
	   .doc = "Neighbours that the pod must have."),
	FL(2, "preferredDuringSchedulingIgnoredDuringExecution", OBJECT, .msg = &weighted_pod_affinity_term,
	   .doc = "Neighbours that are wished for."),
};
static const struct message pod_affinity =
	MESSAGE("io.k8s.api.core.v1.PodAffinity", pod_affinity_fields, .doc = "Pods to be near to.");

static const struct field pod_anti_affinity_fields[] = {
	FL(1, "requiredDuringSchedulingIgnoredDuringExecution", OBJECT, .msg = &core_pod_affinity_term,
	   .doc = "Neighbours that the pod must not have."),
	FL(2, "preferredDuringSchedulingIgnoredDuringExecution", OBJECT, .msg = &weighted_pod_affinity_term,
	   .doc = "Neighbours that it would rather not have."),
};
static const struct message pod_anti_affinity =
	MESSAGE("io.k8s.api.core.v1.PodAntiAffinity", pod_anti_affinity_fields, .doc = "Pods to stay away from.");

static const struct field affinity_fields[] = {
	FP(1, "nodeAffinity", OBJECT, .msg = &node_affinity, .doc = "Rules about nodes."),
	FP(2, "podAffinity", OBJECT, .msg = &pod_affinity, .doc = "Pods to be near to."),
	FP(3, "podAntiAffinity", OBJECT, .msg = &pod_anti_affinity, .doc = "Pods to stay away from."),
};
const struct message core_affinity = MESSAGE("io.k8s.api.core.v1.Affinity", affinity_fields,
					     .doc = "Which nodes and neighbours a pod wants or shuns.");
