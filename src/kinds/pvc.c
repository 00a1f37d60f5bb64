// SPDX-License-Identifier: Apache-2.0
/* pvc.c - PersistentVolumeClaim: a wish for storage, and later the volume that fulfils it */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/quantity.h"
#include "kinds/rules.h"

#define ACCESS_MODES "ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod"
#define FINALIZER    "kubernetes.io/pvc-protection"

static void pvc_storage_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *storage = jsonx_at(spec, "resources.requests.storage");
	const struct path *resources = PATH_FIELD(at, "resources");
	struct quantity q;

	if (!storage)
		path_required(PATH_KEY(resources, "storage"), e, NULL);
	else if (rule_quantity_parse(storage, &q) && q.nano <= 0)
		path_invalid(PATH_KEY(PATH_FIELD(resources, "requests"), "storage"), e, storage,
			     "must be greater than zero");
}

static void pvc_spec_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *modes = json_object_get(spec, "accessModes");
	const struct path *modes_at = PATH_FIELD(at, "accessModes");
	size_t i;
	json_t *mode;

	if (!json_array_size(modes))
		path_required(modes_at, e, "at least 1 access mode is required");
	json_array_foreach (modes, i, mode)
		if (json_is_string(mode) && streq(json_string_value(mode), "ReadWriteOncePod") &&
		    json_array_size(modes) > 1)
			path_forbidden(modes_at, e, "may not use ReadWriteOncePod with other access modes");
	pvc_storage_validate(spec, at, e);
	rule_text(json_object_get(spec, "storageClassName"), PATH_FIELD(at, "storageClassName"), e,
		  name_check_subdomain);
}

static const struct field pvc_spec_fields[] = {
	FL(1, "accessModes", STRING, .values = ACCESS_MODES,
	   .doc = "How the volume is to be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod."),
	F(2, "resources", OBJECT, .msg = &core_volume_resource_requirements, .doc = "How much space is needed."),
	F(3, "volumeName", STRING, .doc = "The volume that fulfils the claim."),
	FP(4, "selector", OBJECT, .msg = &meta_label_selector, .doc = "Which volumes may."),
	FP(5, "storageClassName", STRING, .doc = "Class of the volume; the default class if absent, none if empty."),
	FP(6, "volumeMode", STRING, .dflt = "\"Filesystem\"", .values = "Block|Filesystem",
	   .doc = "Filesystem, or Block for a raw device."),
	FP(7, "dataSource", OBJECT, .msg = &core_typed_local_object_reference,
	   .doc = "What the volume is filled from."),
	FP(8, "dataSourceRef", OBJECT, .msg = &core_typed_object_reference,
	   .doc = "As dataSource, for any kind of object."),
	FP(9, "volumeAttributesClassName", STRING, .doc = "Class of the volume's adjustable properties."),
};
const struct message core_pvc_spec = MESSAGE("io.k8s.api.core.v1.PersistentVolumeClaimSpec", pvc_spec_fields,
					     .doc = "The storage that is wished for.", .validate = pvc_spec_validate);

static const struct field pvc_condition_fields[] = {
	F(1, "type", STRING, .doc = "Type of the condition, such as Resizing."),
	F(2, "status", STRING, .doc = "True, False or Unknown."),
	F(3, "lastProbeTime", TIME, .doc = "When it was last looked at."),
	F(4, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(5, "reason", STRING, .doc = "One word for the last change."),
	F(6, "message", STRING, .doc = "A sentence for people."),
};
static const struct message pvc_condition = MESSAGE("io.k8s.api.core.v1.PersistentVolumeClaimCondition",
						    pvc_condition_fields, .doc = "One aspect of a claim's state.");

static const struct field modify_volume_status_fields[] = {
	F(1, "targetVolumeAttributesClassName", STRING, .doc = "The class to which it changes."),
	F(2, "status", STRING, .doc = "Pending, InProgress or Infeasible."),
};
static const struct message modify_volume_status =
	MESSAGE("io.k8s.api.core.v1.ModifyVolumeStatus", modify_volume_status_fields,
		.doc = "A change of volumeAttributesClassName that is under way.");

static const struct field pvc_status_fields[] = {
	F(1, "phase", STRING, .dflt = "\"Pending\"", .values = "Bound|Lost|Pending", .doc = "Pending, Bound or Lost."),
	FL(2, "accessModes", STRING, .doc = "How the volume may be mounted."),
	FM(3, "capacity", QUANTITY, .doc = "How much the volume holds."),
	FL(4, "conditions", OBJECT, .msg = &pvc_condition, .merge_key = "type", .doc = "Aspects of the claim's state."),
	FM(5, "allocatedResources", QUANTITY, .doc = "Space that is being made."),
	FM(7, "allocatedResourceStatuses", STRING, .doc = "State of each resize."),
	FP(8, "currentVolumeAttributesClassName", STRING, .doc = "Class in force."),
	FP(9, "modifyVolumeStatus", OBJECT, .msg = &modify_volume_status,
	   .doc = "A change of class that is under way."),
};
static const struct message pvc_status = MESSAGE("io.k8s.api.core.v1.PersistentVolumeClaimStatus", pvc_status_fields,
						 .doc = "What has become of a claim.");

static const struct field pvc_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &core_pvc_spec, .dflt = "{}", .doc = "The storage that is wished for."),
	F(3, "status", OBJECT, .msg = &pvc_status, .dflt = "{}", .doc = "What has become of it."),
};
const struct message core_pvc =
	MESSAGE("io.k8s.api.core.v1.PersistentVolumeClaim", pvc_fields, .doc = "A wish for storage.");

static const struct field pvc_template_fields[] = {
	F(1, "metadata", OBJECT, .msg = &meta_object, .doc = "Labels and annotations of the claim."),
	F(2, "spec", OBJECT, .msg = &core_pvc_spec, .flags = FIELD_REQUIRED, .doc = "The storage that is wished for."),
};
const struct message core_pvc_template = MESSAGE("io.k8s.api.core.v1.PersistentVolumeClaimTemplate",
						 pvc_template_fields, .doc = "A claim that is made for each pod.");

static void pvc_prepare_create(json_t *obj)
{
	json_t *finalizers = jsonx_at(obj, "metadata.finalizers"), *item;
	size_t i;

	json_object_set_new(obj, "status", json_pack("{s:s}", "phase", "Pending"));
	json_array_foreach (finalizers, i, item)
		if (json_is_string(item) && streq(json_string_value(item), FINALIZER))
			return;
	if (json_is_array(finalizers))
		json_array_append_new(finalizers, json_string(FINALIZER));
	else
		jsonx_set_new(obj, "metadata.finalizers", json_pack("[s]", FINALIZER));
}

/* Puts back what may change, so that a comparison overlooks it. */
static json_t *without_growth(const json_t *spec, const json_t *old, bool bound)
{
	json_t *kept = jsonx_copy(spec), *class = json_object_get(old, "volumeAttributesClassName");

	if (!*jsonx_str_or(old, "volumeName", ""))
		json_object_del(kept, "volumeName");
	if (!json_object_get(old, "storageClassName"))
		json_object_del(kept, "storageClassName");
	if (!bound)
		return kept;
	if (class)
		json_object_set(kept, "volumeAttributesClassName", class);
	else
		json_object_del(kept, "volumeAttributesClassName");
	if (jsonx_at(kept, "resources.requests.storage") && jsonx_at(old, "resources.requests.storage"))
		jsonx_set_new(kept, "resources.requests.storage",
			      json_incref(jsonx_at(old, "resources.requests.storage")));
	return kept;
}

static void pvc_validate_update(const json_t *obj, const json_t *old_obj, struct err *e)
{
	const json_t *spec = json_object_get(obj, "spec"), *old = json_object_get(old_obj, "spec");
	const struct path *at = PATH_FIELD(NULL, "spec");
	bool bound = streq(jsonx_str_or(old_obj, "status.phase", ""), "Bound");
	json_auto_t *kept = without_growth(spec, old, bound);
	struct quantity before, after;

	if (!jsonx_equal(kept, old))
		path_forbidden(at, e,
			       "spec is immutable after creation except resources.requests and "
			       "volumeAttributesClassName for bound claims");
	if (rule_quantity_parse(jsonx_at(spec, "resources.requests.storage"), &after) &&
	    rule_quantity_parse(jsonx_at(old, "resources.requests.storage"), &before) &&
	    quantity_cmp(&after, &before) < 0)
		path_forbidden(PATH_FIELD(PATH_FIELD(PATH_FIELD(at, "resources"), "requests"), "storage"), e,
			       "field can not be less than previous value");
}

static json_t *pvc_phase(const json_t *obj, int64_t now)
{
	(void)now;
	if (jsonx_at(obj, "metadata.deletionTimestamp"))
		return json_string("Terminating");
	return cell_text_or(obj, "status.phase", "");
}

static json_t *pvc_volume(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.volumeName", "");
}

static json_t *pvc_capacity(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(*jsonx_str_or(obj, "spec.volumeName", "") ? obj : NULL, "status.capacity.storage", "");
}

static json_t *pvc_modes(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_access_modes(*jsonx_str_or(obj, "spec.volumeName", "") ? jsonx_at(obj, "status.accessModes")
									   : NULL);
}

static json_t *pvc_class(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.storageClassName", "");
}

static json_t *pvc_attributes_class(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.volumeAttributesClassName", "<unset>");
}

static json_t *pvc_volume_mode(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.volumeMode", "<unset>");
}

static const struct column pvc_columns[] = {
	COLUMN_NAME,
	COLUMN("Status", "Pending, Bound or Lost.", pvc_phase),
	COLUMN("Volume", "The volume that fulfils the claim.", pvc_volume),
	COLUMN("Capacity", "How much the volume holds.", pvc_capacity),
	COLUMN("Access Modes", "How the volume may be mounted.", pvc_modes),
	COLUMN("StorageClass", "Class of the volume.", pvc_class),
	COLUMN("VolumeAttributesClass", "Class of the volume's adjustable properties.", pvc_attributes_class),
	COLUMN_AGE,
	COLUMN_WIDE("VolumeMode", "Filesystem or Block.", pvc_volume_mode),
};

static const struct subresource pvc_subresources[] = {
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_pvc = {
	.group = "",
	.version = "v1",
	.kind = "PersistentVolumeClaim",
	.plural = "persistentvolumeclaims",
	.singular = "persistentvolumeclaim",
	.short_names = (const char *const[]){ "pvc", NULL },
	.namespaced = true,
	.flags = KIND_STATUS,
	.verbs = VERBS_ALL,
	.message = &core_pvc,
	.columns = pvc_columns,
	.ncolumns = ARRAY_SIZE(pvc_columns),
	.subresources = pvc_subresources,
	.nsubresources = ARRAY_SIZE(pvc_subresources),
	.prepare_create = pvc_prepare_create,
	.validate_update = pvc_validate_update,
};
