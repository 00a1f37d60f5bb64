// SPDX-License-Identifier: Apache-2.0
/* statefulset.c - apps/v1 StatefulSet: pods with a number, a name and volumes of their own that outlive them */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"
#include "kinds/rules.h"
#include "kinds/workload.h"

static const struct field rolling_update_fields[] = {
	FP(1, "partition", INT32, .dflt = "0", .has_min = true,
	   .doc = "Only pods with this number or a higher one are updated."),
	FP(2, "maxUnavailable", INTSTR, .doc = "How many pods, as a number or a percentage, may be missing at once."),
};

static void rolling_update_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(obj, "maxUnavailable");

	rule_at_most_100_percent(v, PATH_FIELD(at, "maxUnavailable"), e);
	if (intstr_is_zero(v))
		path_invalid(PATH_FIELD(at, "maxUnavailable"), e, v, "cannot be 0");
}

static const struct message rolling_update =
	MESSAGE("io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy", rolling_update_fields,
		.doc = "Bounds of a step-by-step update.", .validate = rolling_update_validate);

static const struct field strategy_fields[] = {
	F(1, "type", STRING, .dflt = "\"RollingUpdate\"", .values = "OnDelete|RollingUpdate",
	  .doc = "RollingUpdate replaces pods from the last to the first; OnDelete waits until someone deletes them."),
	F(2, "rollingUpdate", OBJECT, .msg = &rolling_update, .doc = "Bounds for type RollingUpdate."),
};

static void strategy_defaults(json_t *obj)
{
	if (str_same(jsonx_str(obj, "type"), "RollingUpdate"))
		set_if_absent(obj, "rollingUpdate", json_object());
}

static void strategy_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *bounds = json_object_get(obj, "rollingUpdate");

	if (bounds && str_same(jsonx_str(obj, "type"), "OnDelete"))
		path_invalid(PATH_FIELD(at, "rollingUpdate"), e, bounds,
			     "only allowed for updateStrategy 'RollingUpdate'");
}

static const struct message strategy = MESSAGE("io.k8s.api.apps.v1.StatefulSetUpdateStrategy", strategy_fields,
					       .doc = "How pods follow a change of the template.",
					       .defaults = strategy_defaults, .validate = strategy_validate);

static const struct field retention_fields[] = {
	F(1, "whenDeleted", STRING, .dflt = "\"Retain\"", .values = "Retain|Delete",
	  .doc = "What becomes of the claims when the StatefulSet is deleted."),
	F(2, "whenScaled", STRING, .dflt = "\"Retain\"", .values = "Retain|Delete",
	  .doc = "What becomes of the claims of pods that scaling down removes."),
};

static const struct message retention =
	MESSAGE("io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", retention_fields,
		.doc = "How long claims made from the templates live.");

static const struct field ordinals_fields[] = {
	F(1, "start", INT32, .has_min = true, .doc = "Number of the first pod."),
};

static const struct message ordinals =
	MESSAGE("io.k8s.api.apps.v1.StatefulSetOrdinals", ordinals_fields, .doc = "How pods are numbered.");

static const struct field spec_fields[] = {
	FP(1, "replicas", INT32, .dflt = "1", .has_min = true, .doc = "How many pods are wanted."),
	F(2, "selector", OBJECT, .msg = &meta_label_selector, .flags = FIELD_REQUIRED,
	  .doc = "Which pods belong to this StatefulSet; it must match the template's labels and cannot change."),
	F(3, "template", OBJECT, .msg = &core_pod_template_spec, .flags = FIELD_REQUIRED,
	  .doc = "The pods to create, named after the StatefulSet with a number at the end."),
	FL(4, "volumeClaimTemplates", OBJECT, .msg = &core_pvc,
	   .doc = "Claims that each pod gets of its own and finds again after a restart."),
	F(5, "serviceName", STRING, .doc = "The headless Service that gives the pods their host names."),
	F(6, "podManagementPolicy", STRING, .dflt = "\"OrderedReady\"", .values = "OrderedReady|Parallel",
	  .doc = "OrderedReady starts pods one after the other, each when the one before is ready; Parallel all at "
		 "once."),
	F(7, "updateStrategy", OBJECT, .msg = &strategy, .dflt = "{}",
	  .doc = "How pods follow a change of the template."),
	FP(8, "revisionHistoryLimit", INT32, .dflt = "10", .has_min = true,
	   .doc = "How many old ControllerRevisions are kept."),
	F(9, "minReadySeconds", INT32, .has_min = true,
	  .doc = "Seconds a new pod must be ready before it counts as available."),
	F(10, "persistentVolumeClaimRetentionPolicy", OBJECT, .msg = &retention, .dflt = "{}",
	  .doc = "How long the pods' claims live; by default for ever."),
	F(11, "ordinals", OBJECT, .msg = &ordinals, .doc = "How pods are numbered; from 0 by default."),
};

static void spec_defaults(json_t *obj)
{
	json_t *claim;
	size_t i;

	json_array_foreach (json_object_get(obj, "volumeClaimTemplates"), i, claim) {
		if (!json_is_object(claim))
			continue;
		set_if_absent(claim, "apiVersion", json_string("v1"));
		set_if_absent(claim, "kind", json_string("PersistentVolumeClaim"));
		json_object_set_new(claim, "status", json_pack("{s:s}", "phase", "Pending"));
	}
}

/* A claim's name becomes a volume's, and part of the claims' names. */
static void claims_validate(const json_t *claims, const struct path *at, struct err *e)
{
	json_auto_t *seen = json_object();
	json_t *claim;
	size_t i;

	json_array_foreach (claims, i, claim) {
		const json_t *name = jsonx_at(claim, "metadata.name");
		const struct path *here = PATH_FIELD(PATH_FIELD(PATH_INDEX(at, i), "metadata"), "name");

		if (!json_string_length(name))
			path_required(here, e, NULL);
		else if (json_object_get(seen, json_string_value(name)))
			path_duplicate(here, e, name);
		else
			rule_text(name, here, e, name_check_label);
		json_object_set_new(seen, json_string_length(name) ? json_string_value(name) : "", json_true());
	}
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	claims_validate(json_object_get(obj, "volumeClaimTemplates"), PATH_FIELD(at, "volumeClaimTemplates"), e);
	workload_check_selector(obj, at, "statefulset", e);
	workload_check_restart(obj, at, "StatefulSet", e);
}

static const struct message spec =
	MESSAGE("io.k8s.api.apps.v1.StatefulSetSpec", spec_fields, .doc = "What is wanted of a StatefulSet.",
		.defaults = spec_defaults, .validate = spec_validate);

static const struct field condition_fields[] = { CONDITION_ROWS };

static const struct message condition =
	MESSAGE("io.k8s.api.apps.v1.StatefulSetCondition", condition_fields, .doc = "One fact about a StatefulSet.");

static const struct field status_fields[] = {
	F(1, "observedGeneration", INT64, .has_min = true, .doc = "The metadata.generation that this status is about."),
	F(2, "replicas", INT32, .has_min = true, .doc = "Pods that exist."),
	F(3, "readyReplicas", INT32, .has_min = true, .doc = "Pods that are ready."),
	F(4, "currentReplicas", INT32, .has_min = true, .doc = "Pods of the revision in currentRevision."),
	F(5, "updatedReplicas", INT32, .has_min = true, .doc = "Pods of the revision in updateRevision."),
	F(6, "currentRevision", STRING, .doc = "Revision of the pods that are not yet updated."),
	F(7, "updateRevision", STRING, .doc = "Revision of the present template."),
	FP(9, "collisionCount", INT32, .has_min = true,
	   .doc = "How often a revision's name was already taken; part of the next name."),
	FL(10, "conditions", OBJECT, .msg = &condition, .merge_key = "type", .doc = "Facts about the StatefulSet."),
	F(11, "availableReplicas", INT32, .has_min = true, .doc = "Pods ready for at least minReadySeconds."),
};

static const struct message status =
	MESSAGE("io.k8s.api.apps.v1.StatefulSetStatus", status_fields,
		.doc = "What the controller last saw of a StatefulSet.", .validate = workload_check_counts);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What is wanted."),
	F(3, "status", OBJECT, .msg = &status, .doc = "What is; written by the controller."),
};

static const struct message stateful_set =
	MESSAGE("io.k8s.api.apps.v1.StatefulSet", fields,
		.doc = "Keeps numbered pods running, each with a lasting name and volumes of its own.");

static void prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_pack("{s:i, s:i}", "replicas", 0, "availableReplicas", 0));
}

/* What may change after creation; everything else in spec is fixed. */
static const char *const changeable[] = {
	"replicas",
	"ordinals",
	"template",
	"updateStrategy",
	"revisionHistoryLimit",
	"minReadySeconds",
	"persistentVolumeClaimRetentionPolicy",
};

static json_t *fixed_part(const json_t *obj)
{
	json_t *part = json_copy(json_object_get(obj, "spec"));

	for (size_t i = 0; i < ARRAY_SIZE(changeable); i++)
		json_object_del(part, changeable[i]);
	return part;
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	json_auto_t *now = fixed_part(obj), *was = fixed_part(old);

	if (now && was && !jsonx_equal(now, was))
		path_forbidden(PATH_FIELD(NULL, "spec"), e,
			       "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
			       "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
			       "'minReadySeconds' are forbidden");
}

static json_t *cell_ready(const json_t *obj, int64_t now)
{
	(void)now;
	return jsonx_stringf("%lld/%lld", (long long)jsonx_int_or(obj, "status.readyReplicas", 0),
			     (long long)jsonx_int_or(obj, "spec.replicas", 0));
}

static const struct column columns[] = {
	COLUMN_NAME,   COLUMN("Ready", "Ready pods of the wanted ones.", cell_ready), COLUMN_AGE, COLUMN_CONTAINERS,
	COLUMN_IMAGES,
};

static const char *const short_names[] = { "sts", NULL };

const struct kind kind_stateful_set = {
	.group = "apps",
	.version = "v1",
	.kind = "StatefulSet",
	.plural = "statefulsets",
	.singular = "statefulset",
	.short_names = short_names,
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &stateful_set,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_scale),
	.scale_spec = ".spec.replicas",
	.scale_status = ".status.replicas",
	.scale_selector = ".spec.selector",
	.prepare_create = prepare_create,
	.validate_update = validate_update,
};
