// SPDX-License-Identifier: Apache-2.0
/* autoscaler.c - autoscaling/v1: HorizontalPodAutoscaler, kept as data, and Scale, the body of every /scale */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field target_fields[] = {
	F(1, "kind", STRING, .flags = FIELD_REQUIRED, .doc = "Kind of the object, such as Deployment."),
	F(2, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Its name."),
	F(3, "apiVersion", STRING, .doc = "Its group and version, such as apps/v1."),
};

static const struct message target = MESSAGE("io.k8s.api.autoscaling.v1.CrossVersionObjectReference", target_fields,
					     .doc = "An object that can be scaled.", .atomic = true);

static const struct field spec_fields[] = {
	F(1, "scaleTargetRef", OBJECT, .msg = &target, .flags = FIELD_REQUIRED,
	  .doc = "The object whose replicas to set."),
	FP(2, "minReplicas", INT32, .dflt = "1", .has_min = true, .min = 1, .doc = "Never fewer replicas than this."),
	F(3, "maxReplicas", INT32, .doc = "Never more replicas than this."),
	FP(4, "targetCPUUtilizationPercentage", INT32, .dflt = "80", .has_min = true, .min = 1,
	   .doc = "CPU use to aim at, in percent of what the pods request, averaged over them."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *max = json_object_get(obj, "maxReplicas");

	if (json_integer_value(max) < 1)
		path_invalid(PATH_FIELD(at, "maxReplicas"), e, max ? max : json_null(), "must be greater than 0");
	else if (json_integer_value(max) < jsonx_int_or(obj, "minReplicas", 1))
		path_invalid(PATH_FIELD(at, "maxReplicas"), e, max, "must be greater than or equal to `minReplicas`");
}

static const struct message spec = MESSAGE("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec", spec_fields,
					   .doc = "What to scale, and by what measure.", .validate = spec_validate);

static const struct field status_fields[] = {
	FP(1, "observedGeneration", INT64, .doc = "The metadata.generation that this status is about."),
	F(2, "lastScaleTime", TIME, .doc = "When the number of replicas was last changed."),
	F(3, "currentReplicas", INT32, .doc = "Replicas there are."),
	F(4, "desiredReplicas", INT32, .doc = "Replicas there should be."),
	FP(5, "currentCPUUtilizationPercentage", INT32, .doc = "CPU use at present, in percent of the requests."),
};

static const struct message status = MESSAGE("io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus", status_fields,
					     .doc = "What the controller last saw.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What to scale, and by what measure."),
	F(3, "status", OBJECT, .msg = &status, .doc = "How it stands."),
};

static const struct message autoscaler = MESSAGE("io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler", fields,
						 .doc = "Sets the number of an object's replicas by their load.");

static void prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_pack("{s:i, s:i}", "currentReplicas", 0, "desiredReplicas", 0));
}

static json_t *cell_reference(const json_t *obj, int64_t now)
{
	(void)now;
	return jsonx_stringf("%s/%s", jsonx_str_or(obj, "spec.scaleTargetRef.kind", ""),
			     jsonx_str_or(obj, "spec.scaleTargetRef.name", ""));
}

static json_t *cell_targets(const json_t *obj, int64_t now)
{
	const json_t *want = jsonx_at(obj, "spec.targetCPUUtilizationPercentage");
	const json_t *have = jsonx_at(obj, "status.currentCPUUtilizationPercentage");

	(void)now;
	if (!want)
		return json_string("<none>");
	if (!have)
		return jsonx_stringf("cpu: <unknown>/%lld%%", (long long)json_integer_value(want));
	return jsonx_stringf("cpu: %lld%%/%lld%%", (long long)json_integer_value(have),
			     (long long)json_integer_value(want));
}

static json_t *cell_min(const json_t *obj, int64_t now)
{
	const json_t *min = jsonx_at(obj, "spec.minReplicas");

	(void)now;
	return json_is_integer(min) ? jsonx_stringf("%lld", (long long)json_integer_value(min))
				    : json_string("<unset>");
}

CELL_INT(cell_max, "spec.maxReplicas")
CELL_INT(cell_replicas, "status.currentReplicas")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Reference", "The object whose replicas are set.", cell_reference),
	COLUMN("Targets", "The measure, as it is and as it should be.", cell_targets),
	COLUMN("MinPods", "Never fewer than this.", cell_min),
	COLUMN("MaxPods", "Never more than this.", cell_max),
	COLUMN("Replicas", "Replicas there are.", cell_replicas),
	COLUMN_AGE,
};

static const char *const short_names[] = { "hpa", NULL };

const struct kind kind_autoscaler = {
	.group = "autoscaling",
	.version = "v1",
	.kind = "HorizontalPodAutoscaler",
	.plural = "horizontalpodautoscalers",
	.singular = "horizontalpodautoscaler",
	.short_names = short_names,
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS,
	.verbs = VERBS_ALL,
	.message = &autoscaler,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = prepare_create,
};

static const struct field scale_spec_fields[] = {
	F(1, "replicas", INT32, .has_min = true, .doc = "How many replicas are wanted."),
};

static const struct message scale_spec =
	MESSAGE("io.k8s.api.autoscaling.v1.ScaleSpec", scale_spec_fields, .doc = "How many replicas are wanted.");

static const struct field scale_status_fields[] = {
	F(1, "replicas", INT32, .doc = "How many replicas there are."),
	F(2, "selector", STRING, .doc = "Their labels, as a selector's text."),
};

static const struct message scale_status =
	MESSAGE("io.k8s.api.autoscaling.v1.ScaleStatus", scale_status_fields, .doc = "How many replicas there are.");

static const struct field scale_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &scale_spec, .dflt = "{}", .doc = "How many replicas are wanted."),
	F(3, "status", OBJECT, .msg = &scale_status, .doc = "How many replicas there are."),
};

const struct message scale_message =
	MESSAGE("io.k8s.api.autoscaling.v1.Scale", scale_fields, .doc = "The number of replicas of an object.");
