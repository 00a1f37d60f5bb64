// SPDX-License-Identifier: Apache-2.0
/* replicaset.c - apps/v1 ReplicaSet: a number of equal pods, nothing more */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"
#include "kinds/workload.h"

static const struct field spec_fields[] = {
	FP(1, "replicas", INT32, .dflt = "1", .has_min = true, .doc = "How many pods are wanted."),
	F(2, "selector", OBJECT, .msg = &meta_label_selector, .flags = FIELD_REQUIRED,
	  .doc = "Which pods are counted; it must match the template's labels and cannot change."),
	F(3, "template", OBJECT, .msg = &core_pod_template_spec, .flags = FIELD_REQUIRED,
	  .doc = "The pods to create. Their restartPolicy is Always."),
	F(4, "minReadySeconds", INT32, .has_min = true,
	  .doc = "Seconds a new pod must be ready before it counts as available."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	workload_check_selector(obj, at, "replicaset", e);
	workload_check_restart(obj, at, "ReplicaSet", e);
}

static const struct message spec = MESSAGE("io.k8s.api.apps.v1.ReplicaSetSpec", spec_fields,
					   .doc = "What is wanted of a ReplicaSet.", .validate = spec_validate);

static const struct field condition_fields[] = { CONDITION_ROWS };

static const struct message condition =
	MESSAGE("io.k8s.api.apps.v1.ReplicaSetCondition", condition_fields, .doc = "One fact about a ReplicaSet.");

static const struct field status_fields[] = {
	F(1, "replicas", INT32, .has_min = true, .doc = "Pods that exist."),
	F(2, "fullyLabeledReplicas", INT32, .has_min = true, .doc = "Pods that carry every label of the template."),
	F(3, "observedGeneration", INT64, .has_min = true, .doc = "The metadata.generation that this status is about."),
	F(4, "readyReplicas", INT32, .has_min = true, .doc = "Pods that are ready."),
	F(5, "availableReplicas", INT32, .has_min = true, .doc = "Pods ready for at least minReadySeconds."),
	FL(6, "conditions", OBJECT, .msg = &condition, .merge_key = "type",
	   .doc = "What stands in the way, if anything."),
};

static const struct message status =
	MESSAGE("io.k8s.api.apps.v1.ReplicaSetStatus", status_fields,
		.doc = "What the controller last saw of a ReplicaSet.", .validate = workload_check_counts);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What is wanted."),
	F(3, "status", OBJECT, .msg = &status, .doc = "What is; written by the controller."),
};

static const struct message replica_set =
	MESSAGE("io.k8s.api.apps.v1.ReplicaSet", fields,
		.doc = "Keeps a number of equal pods running. Usually made by a Deployment.");

static void prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_pack("{s:i}", "replicas", 0));
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.selector", e);
}

CELL_INT(cell_desired, "spec.replicas")
CELL_INT(cell_current, "status.replicas")
CELL_INT(cell_ready, "status.readyReplicas")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN_INT("Desired", "Pods that are wanted.", cell_desired),
	COLUMN_INT("Current", "Pods that exist.", cell_current),
	COLUMN_INT("Ready", "Pods that are ready.", cell_ready),
	COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
};

static const char *const short_names[] = { "rs", NULL };

const struct kind kind_replica_set = {
	.group = "apps",
	.version = "v1",
	.kind = "ReplicaSet",
	.plural = "replicasets",
	.singular = "replicaset",
	.short_names = short_names,
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &replica_set,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_scale),
	.scale_spec = ".spec.replicas",
	.scale_status = ".status.replicas",
	.scale_selector = ".spec.selector",
	.prepare_create = prepare_create,
	.validate_update = validate_update,
};
