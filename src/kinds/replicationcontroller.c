// SPDX-License-Identifier: Apache-2.0
/* replicationcontroller.c - ReplicationController: keeps a number of equal pods running; ReplicaSet's elder */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rules.h"
#include "kinds/workload.h"

static const struct field replication_controller_condition_fields[] = {
	F(1, "type", STRING, .doc = "Type of the condition, such as ReplicaFailure."),
	F(2, "status", STRING, .values = "False|True|Unknown", .doc = "True, False or Unknown."),
	F(3, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(4, "reason", STRING, .doc = "One word for the last change."),
	F(5, "message", STRING, .doc = "A sentence for people."),
};
static const struct message replication_controller_condition =
	MESSAGE("io.k8s.api.core.v1.ReplicationControllerCondition", replication_controller_condition_fields,
		.doc = "One aspect of a controller's state.");

static const struct field replication_controller_status_fields[] = {
	F(1, "replicas", INT32, .has_min = true, .doc = "Pods there are."),
	F(2, "fullyLabeledReplicas", INT32, .has_min = true, .doc = "Pods whose labels are those of the template."),
	F(3, "observedGeneration", INT64, .has_min = true, .doc = "Generation of the spec that this status is about."),
	F(4, "readyReplicas", INT32, .has_min = true, .doc = "Pods that are ready."),
	F(5, "availableReplicas", INT32, .has_min = true, .doc = "Pods that have been ready for minReadySeconds."),
	FL(6, "conditions", OBJECT, .msg = &replication_controller_condition, .merge_key = "type",
	   .doc = "Aspects of the controller's state."),
};
static const struct message replication_controller_status =
	MESSAGE("io.k8s.api.core.v1.ReplicationControllerStatus", replication_controller_status_fields,
		.doc = "What a controller has done.", .validate = workload_check_counts);

static const struct field replication_controller_spec_fields[] = {
	FP(1, "replicas", INT32, .dflt = "1", .has_min = true, .min = 0, .doc = "How many pods shall run."),
	FM(2, "selector", STRING, .flags = FIELD_ATOMIC,
	   .doc = "Labels of the pods that count; the template's if absent."),
	FP(3, "template", OBJECT, .msg = &core_pod_template_spec, .doc = "The pods."),
	F(4, "minReadySeconds", INT32, .has_min = true, .min = 0,
	  .doc = "How long a new pod must be ready before it counts as available."),
};
static const struct message replication_controller_spec =
	MESSAGE("io.k8s.api.core.v1.ReplicationControllerSpec", replication_controller_spec_fields,
		.doc = "How many pods, and what they are.");

/* Selector and labels are the template's labels unless given. */
static void rc_defaults(json_t *obj)
{
	json_t *labels = jsonx_at(obj, "spec.template.metadata.labels");

	if (!json_object_size(labels))
		return;
	if (!json_object_size(jsonx_at(obj, "spec.selector")))
		jsonx_set_new(obj, "spec.selector", jsonx_copy(labels));
	if (!json_object_size(jsonx_at(obj, "metadata.labels")))
		jsonx_set_new(obj, "metadata.labels", jsonx_copy(labels));
}

static const struct field replication_controller_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &replication_controller_spec, .dflt = "{}",
	  .doc = "How many pods, and what they are."),
	F(3, "status", OBJECT, .msg = &replication_controller_status, .doc = "What the controller has done."),
};
const struct message core_replication_controller =
	MESSAGE("io.k8s.api.core.v1.ReplicationController", replication_controller_fields,
		.doc = "Keeps a number of equal pods running.", .defaults = rc_defaults);

static bool map_matches(const json_t *selector, const json_t *labels)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)selector, key, value) {
		const json_t *label = json_object_get(labels, key);

		if (!label || !jsonx_equal(label, value))
			return false;
	}
	return true;
}

static void rc_validate(const json_t *obj, struct err *e)
{
	const struct path *at = PATH_FIELD(NULL, "spec"), *template_at = PATH_FIELD(at, "template");
	const json_t *selector = jsonx_at(obj, "spec.selector"), *pod = jsonx_at(obj, "spec.template"),
		     *labels = jsonx_at(pod, "metadata.labels");

	if (!json_object_size(selector))
		path_required(PATH_FIELD(at, "selector"), e, NULL);
	rule_labels(selector, PATH_FIELD(at, "selector"), e);
	if (!pod) {
		path_required(template_at, e, NULL);
		return;
	}
	if (!map_matches(selector, labels))
		path_invalid(PATH_FIELD(PATH_FIELD(template_at, "metadata"), "labels"), e, labels,
			     "`selector` does not match template `labels`");
	workload_check_restart(json_object_get(obj, "spec"), at, "ReplicationController", e);
}

static void rc_prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_pack("{s:i}", "replicas", 0));
}

static json_t *rc_desired(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_int_or(obj, "spec.replicas", 0);
}

static json_t *rc_current(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_int_or(obj, "status.replicas", 0);
}

static json_t *rc_ready(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_int_or(obj, "status.readyReplicas", 0);
}

static json_t *rc_containers(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_containers(jsonx_at(obj, "spec.template.spec"));
}

static json_t *rc_images(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_images(jsonx_at(obj, "spec.template.spec"));
}

static json_t *rc_selector(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_map_selector(jsonx_at(obj, "spec.selector"));
}

static const struct column rc_columns[] = {
	COLUMN_NAME,
	COLUMN_INT("Desired", "Pods that shall run.", rc_desired),
	COLUMN_INT("Current", "Pods there are.", rc_current),
	COLUMN_INT("Ready", "Pods that are ready.", rc_ready),
	COLUMN_AGE,
	COLUMN_WIDE("Containers", "Names of the containers.", rc_containers),
	COLUMN_WIDE("Images", "Images of the containers.", rc_images),
	COLUMN_WIDE("Selector", "Labels of the pods that count.", rc_selector),
};

static const struct selectable rc_selectable[] = {
	{ "status.replicas", "status.replicas", "0" },
};

static const struct subresource rc_subresources[] = {
	{ "scale", VERBS_STATUS, "autoscaling", "v1", "Scale" },
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_replication_controller = {
	.group = "",
	.version = "v1",
	.kind = "ReplicationController",
	.plural = "replicationcontrollers",
	.singular = "replicationcontroller",
	.short_names = (const char *const[]){ "rc", NULL },
	.categories = (const char *const[]){ "all", NULL },
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION | KIND_ORPHAN,
	.verbs = VERBS_ALL,
	.message = &core_replication_controller,
	.columns = rc_columns,
	.ncolumns = ARRAY_SIZE(rc_columns),
	.selectable = rc_selectable,
	.nselectable = ARRAY_SIZE(rc_selectable),
	.subresources = rc_subresources,
	.nsubresources = ARRAY_SIZE(rc_subresources),
	.scale_spec = "spec.replicas",
	.scale_status = "status.replicas",
	.scale_selector = "spec.selector",
	.prepare_create = rc_prepare_create,
	.validate = rc_validate,
};
