// SPDX-License-Identifier: Apache-2.0
/* deployment.c - apps/v1 Deployment: a number of equal pods, replaced step by step when their template changes */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"
#include "kinds/workload.h"

static const struct field rolling_update_fields[] = {
	FP(1, "maxUnavailable", INTSTR, .dflt = "\"25%\"",
	   .doc = "How many pods, as a number or a percentage, may be missing during an update."),
	FP(2, "maxSurge", INTSTR, .dflt = "\"25%\"",
	   .doc = "How many pods above the wanted number may exist during an update."),
};

static void rolling_update_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *unavailable = json_object_get(obj, "maxUnavailable"), *surge = json_object_get(obj, "maxSurge");

	rule_at_most_100_percent(unavailable, PATH_FIELD(at, "maxUnavailable"), e);
	rule_int_or_percent(surge, PATH_FIELD(at, "maxSurge"), e);
	if (intstr_is_zero(unavailable) && intstr_is_zero(surge))
		path_invalid(PATH_FIELD(at, "maxUnavailable"), e, unavailable, "may not be 0 when `maxSurge` is 0");
}

static const struct message rolling_update =
	MESSAGE("io.k8s.api.apps.v1.RollingUpdateDeployment", rolling_update_fields,
		.doc = "Bounds of a step-by-step update.", .validate = rolling_update_validate);

static const struct field strategy_fields[] = {
	F(1, "type", STRING, .dflt = "\"RollingUpdate\"", .values = "Recreate|RollingUpdate",
	  .doc = "RollingUpdate replaces pods a few at a time; Recreate stops all of them first."),
	F(2, "rollingUpdate", OBJECT, .msg = &rolling_update, .doc = "Bounds for type RollingUpdate."),
};

static void strategy_defaults(json_t *obj)
{
	if (str_same(jsonx_str(obj, "type"), "RollingUpdate"))
		set_if_absent(obj, "rollingUpdate", json_object());
}

static void strategy_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (str_same(jsonx_str(obj, "type"), "Recreate") && json_object_get(obj, "rollingUpdate"))
		path_forbidden(PATH_FIELD(at, "rollingUpdate"), e,
			       "may not be specified when strategy `type` is 'Recreate'");
}

static const struct message strategy =
	MESSAGE("io.k8s.api.apps.v1.DeploymentStrategy", strategy_fields, .doc = "How old pods give way to new ones.",
		.defaults = strategy_defaults, .validate = strategy_validate);

static const struct field spec_fields[] = {
	FP(1, "replicas", INT32, .dflt = "1", .has_min = true, .doc = "How many pods are wanted."),
	F(2, "selector", OBJECT, .msg = &meta_label_selector, .flags = FIELD_REQUIRED,
	  .doc = "Which pods belong to this Deployment; it must match the template's labels and cannot change."),
	F(3, "template", OBJECT, .msg = &core_pod_template_spec, .flags = FIELD_REQUIRED,
	  .doc = "The pods to create. Their restartPolicy is Always."),
	F(4, "strategy", OBJECT, .msg = &strategy, .flags = FIELD_RETAIN_KEYS, .dflt = "{}",
	  .doc = "How old pods give way to new ones."),
	F(5, "minReadySeconds", INT32, .has_min = true,
	  .doc = "Seconds a new pod must be ready before it counts as available."),
	FP(6, "revisionHistoryLimit", INT32, .dflt = "10", .has_min = true,
	   .doc = "How many old ReplicaSets are kept for `kubectl rollout undo`."),
	F(7, "paused", BOOL, .doc = "While true, changes of the template are not rolled out."),
	FP(9, "progressDeadlineSeconds", INT32, .dflt = "600", .has_min = true,
	   .doc = "Seconds without progress after which an update is reported as failed."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *deadline = json_object_get(obj, "progressDeadlineSeconds");

	workload_check_selector(obj, at, "deployment", e);
	workload_check_restart(obj, at, "ReplicaSet", e);
	if (json_is_integer(deadline) && json_integer_value(deadline) <= jsonx_int_or(obj, "minReadySeconds", 0))
		path_invalid(PATH_FIELD(at, "progressDeadlineSeconds"), e, deadline,
			     "must be greater than minReadySeconds");
}

static const struct message spec = MESSAGE("io.k8s.api.apps.v1.DeploymentSpec", spec_fields,
					   .doc = "What is wanted of a Deployment.", .validate = spec_validate);

static const struct field condition_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .doc = "Available, Progressing or ReplicaFailure."),
	F(2, "status", STRING, .flags = FIELD_REQUIRED, .doc = "True, False or Unknown."),
	F(4, "reason", STRING, .doc = "One word for programs: why status is what it is."),
	F(5, "message", STRING, .doc = "The same for people."),
	F(6, "lastUpdateTime", TIME, .doc = "When this condition was last written."),
	F(7, "lastTransitionTime", TIME, .doc = "When status last changed."),
};

static const struct message condition =
	MESSAGE("io.k8s.api.apps.v1.DeploymentCondition", condition_fields, .doc = "One fact about a Deployment.");

static const struct field status_fields[] = {
	F(1, "observedGeneration", INT64, .has_min = true, .doc = "The metadata.generation that this status is about."),
	F(2, "replicas", INT32, .has_min = true, .doc = "Pods that exist, old and new."),
	F(3, "updatedReplicas", INT32, .has_min = true, .doc = "Pods made from the present template."),
	F(4, "availableReplicas", INT32, .has_min = true, .doc = "Pods ready for at least minReadySeconds."),
	F(5, "unavailableReplicas", INT32, .has_min = true, .doc = "Pods still missing or not yet available."),
	FL(6, "conditions", OBJECT, .msg = &condition, .merge_key = "type", .doc = "How the roll-out goes."),
	F(7, "readyReplicas", INT32, .has_min = true, .doc = "Pods that are ready."),
	FP(8, "collisionCount", INT32, .has_min = true,
	   .doc = "How often a ReplicaSet's name was already taken; part of the next name."),
};

static const struct message status =
	MESSAGE("io.k8s.api.apps.v1.DeploymentStatus", status_fields,
		.doc = "What the controller last saw of a Deployment.", .validate = workload_check_counts);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What is wanted."),
	F(3, "status", OBJECT, .msg = &status, .doc = "What is; written by the controller."),
};

static const struct message deployment = MESSAGE(
	"io.k8s.api.apps.v1.Deployment", fields,
	.doc = "Keeps a number of equal pods running and replaces them step by step when their template changes.");

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	const json_t *collisions = jsonx_at(obj, "status.collisionCount");
	int64_t was = jsonx_int_or(old, "status.collisionCount", 0);

	rule_fixed(obj, old, "spec.selector", e);
	/* The next ReplicaSet would have a name that is known to be taken. */
	if (jsonx_int_or(obj, "status.collisionCount", 0) < was)
		path_invalid(PATH_FIELD(NULL, "status.collisionCount"), e, collisions ? collisions : json_null(),
			     "cannot be decremented");
}

static json_t *cell_ready(const json_t *obj, int64_t now)
{
	(void)now;
	return jsonx_stringf("%lld/%lld", (long long)jsonx_int_or(obj, "status.readyReplicas", 0),
			     (long long)jsonx_int_or(obj, "spec.replicas", 0));
}

CELL_INT(cell_updated, "status.updatedReplicas")
CELL_INT(cell_available, "status.availableReplicas")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Ready", "Ready pods of the wanted ones.", cell_ready),
	COLUMN("Up-to-date", "Pods made from the present template.", cell_updated),
	COLUMN("Available", "Pods ready for long enough.", cell_available),
	COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
};

static const char *const short_names[] = { "deploy", NULL };

const struct kind kind_deployment = {
	.group = "apps",
	.version = "v1",
	.kind = "Deployment",
	.plural = "deployments",
	.singular = "deployment",
	.short_names = short_names,
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &deployment,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_scale),
	.scale_spec = ".spec.replicas",
	.scale_status = ".status.replicas",
	.scale_selector = ".spec.selector",
	.prepare_create = status_begin,
	.validate_update = validate_update,
};
