// SPDX-License-Identifier: Apache-2.0
/* daemonset.c - apps/v1 DaemonSet: one pod on every node that takes it */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"
#include "kinds/workload.h"

static const struct field rolling_update_fields[] = {
	FP(1, "maxUnavailable", INTSTR, .dflt = "1",
	   .doc = "On how many nodes, as a number or a percentage, the pod may be missing during an update."),
	FP(2, "maxSurge", INTSTR, .dflt = "0",
	   .doc = "On how many nodes the old and the new pod may run side by side."),
};

static void rolling_update_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *unavailable = json_object_get(obj, "maxUnavailable"), *surge = json_object_get(obj, "maxSurge");

	rule_at_most_100_percent(unavailable, PATH_FIELD(at, "maxUnavailable"), e);
	rule_at_most_100_percent(surge, PATH_FIELD(at, "maxSurge"), e);
	if (!unavailable || !surge)
		return;
	if (intstr_is_zero(unavailable) && intstr_is_zero(surge))
		path_required(PATH_FIELD(at, "maxUnavailable"), e, "cannot be 0 when maxSurge is 0");
	else if (!intstr_is_zero(unavailable) && !intstr_is_zero(surge))
		path_invalid(PATH_FIELD(at, "maxSurge"), e, surge, "may not be set when maxUnavailable is non-zero");
}

static const struct message rolling_update =
	MESSAGE("io.k8s.api.apps.v1.RollingUpdateDaemonSet", rolling_update_fields,
		.doc = "Bounds of a node-by-node update.", .validate = rolling_update_validate);

static const struct field strategy_fields[] = {
	F(1, "type", STRING, .dflt = "\"RollingUpdate\"", .values = "OnDelete|RollingUpdate",
	  .doc = "RollingUpdate replaces pods node by node; OnDelete waits until someone deletes them."),
	F(2, "rollingUpdate", OBJECT, .msg = &rolling_update, .doc = "Bounds for type RollingUpdate."),
};

static void strategy_defaults(json_t *obj)
{
	if (str_same(jsonx_str(obj, "type"), "RollingUpdate"))
		set_if_absent(obj, "rollingUpdate", json_object());
}

static const struct message strategy =
	MESSAGE("io.k8s.api.apps.v1.DaemonSetUpdateStrategy", strategy_fields,
		.doc = "How pods follow a change of the template.", .defaults = strategy_defaults);

static const struct field spec_fields[] = {
	F(1, "selector", OBJECT, .msg = &meta_label_selector, .flags = FIELD_REQUIRED,
	  .doc = "Which pods belong to this DaemonSet; it must match the template's labels and cannot change."),
	F(2, "template", OBJECT, .msg = &core_pod_template_spec, .flags = FIELD_REQUIRED,
	  .doc = "The pod to run on each node. Its node selector and tolerations choose the nodes."),
	F(3, "updateStrategy", OBJECT, .msg = &strategy, .dflt = "{}",
	  .doc = "How pods follow a change of the template."),
	F(4, "minReadySeconds", INT32, .has_min = true,
	  .doc = "Seconds a new pod must be ready before it counts as available."),
	FP(6, "revisionHistoryLimit", INT32, .dflt = "10", .has_min = true,
	   .doc = "How many old ControllerRevisions are kept."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	workload_check_selector(obj, at, "daemonset", e);
	workload_check_restart(obj, at, "DaemonSet", e);
}

static const struct message spec = MESSAGE("io.k8s.api.apps.v1.DaemonSetSpec", spec_fields,
					   .doc = "What is wanted of a DaemonSet.", .validate = spec_validate);

static const struct field condition_fields[] = { CONDITION_ROWS };

static const struct message condition =
	MESSAGE("io.k8s.api.apps.v1.DaemonSetCondition", condition_fields, .doc = "One fact about a DaemonSet.");

static const struct field status_fields[] = {
	F(1, "currentNumberScheduled", INT32, .doc = "Nodes that run the pod and should."),
	F(2, "numberMisscheduled", INT32, .doc = "Nodes that run the pod and should not."),
	F(3, "desiredNumberScheduled", INT32, .doc = "Nodes that should run the pod."),
	F(4, "numberReady", INT32, .doc = "Nodes whose pod is ready."),
	F(5, "observedGeneration", INT64, .doc = "The metadata.generation that this status is about."),
	F(6, "updatedNumberScheduled", INT32, .doc = "Nodes whose pod is made from the present template."),
	F(7, "numberAvailable", INT32, .doc = "Nodes whose pod has been ready for at least minReadySeconds."),
	F(8, "numberUnavailable", INT32, .doc = "Nodes that should have an available pod and have none."),
	FP(9, "collisionCount", INT32, .doc = "How often a revision's name was already taken; part of the next name."),
	FL(10, "conditions", OBJECT, .msg = &condition, .merge_key = "type", .doc = "Facts about the DaemonSet."),
};

static const struct message status = MESSAGE("io.k8s.api.apps.v1.DaemonSetStatus", status_fields,
					     .doc = "What the controller last saw of a DaemonSet.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What is wanted."),
	F(3, "status", OBJECT, .msg = &status, .doc = "What is; written by the controller."),
};

static const struct message daemon_set =
	MESSAGE("io.k8s.api.apps.v1.DaemonSet", fields, .doc = "Runs one pod on every node that takes it.");

static void prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status",
			    json_pack("{s:i, s:i, s:i, s:i}", "currentNumberScheduled", 0, "desiredNumberScheduled", 0,
				      "numberMisscheduled", 0, "numberReady", 0));
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.selector", e);
}

CELL_INT(cell_desired, "status.desiredNumberScheduled")
CELL_INT(cell_current, "status.currentNumberScheduled")
CELL_INT(cell_ready, "status.numberReady")
CELL_INT(cell_updated, "status.updatedNumberScheduled")
CELL_INT(cell_available, "status.numberAvailable")

static json_t *cell_nodes(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_map_selector(jsonx_at(obj, "spec.template.spec.nodeSelector"));
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN_INT("Desired", "Nodes that should run the pod.", cell_desired),
	COLUMN_INT("Current", "Nodes that run it.", cell_current),
	COLUMN_INT("Ready", "Nodes whose pod is ready.", cell_ready),
	COLUMN_INT("Up-to-date", "Nodes whose pod is made from the present template.", cell_updated),
	COLUMN_INT("Available", "Nodes whose pod has been ready for long enough.", cell_available),
	COLUMN("Node Selector", "Which nodes take the pod.", cell_nodes),
	COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
};

static const char *const short_names[] = { "ds", NULL };

const struct kind kind_daemon_set = {
	.group = "apps",
	.version = "v1",
	.kind = "DaemonSet",
	.plural = "daemonsets",
	.singular = "daemonset",
	.short_names = short_names,
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &daemon_set,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = prepare_create,
	.validate_update = validate_update,
};
