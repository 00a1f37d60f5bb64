// SPDX-License-Identifier: Apache-2.0
/* pv.c - PersistentVolume: a piece of storage that outlives pods */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/quantity.h"
#include "kinds/rules.h"

#define ACCESS_MODES "ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod"

static const struct field local_volume_source_fields[] = {
	F(1, "path", STRING, .flags = FIELD_REQUIRED, .doc = "Path on the node."),
	FP(2, "fsType", STRING, .doc = "File system of a disk."),
};
static const struct message local_volume_source = MESSAGE(
	"io.k8s.api.core.v1.LocalVolumeSource", local_volume_source_fields, .doc = "A directory or disk of one node.");

static const struct field volume_node_affinity_fields[] = {
	FP(1, "required", OBJECT, .msg = &core_node_selector, .doc = "The nodes."),
};
static const struct message volume_node_affinity =
	MESSAGE("io.k8s.api.core.v1.VolumeNodeAffinity", volume_node_affinity_fields,
		.doc = "From where a volume can be reached.");

static const struct field pv_source_fields[] = {
	FP(1, "gcePersistentDisk", OBJECT, .msg = &core_gce_persistent_disk_volume_source,
	   .doc = "A disk of Google's cloud."),
	FP(2, "awsElasticBlockStore", OBJECT, .msg = &core_aws_elastic_block_store_volume_source,
	   .doc = "A disk of Amazon's cloud."),
	FP(3, "hostPath", OBJECT, .msg = &core_host_path_volume_source, .doc = "A file or directory of the node."),
	FP(4, "glusterfs", OBJECT, .msg = &core_glusterfs_persistent_volume_source, .doc = "A GlusterFS volume."),
	FP(5, "nfs", OBJECT, .msg = &core_nfs_volume_source, .doc = "A directory of an NFS server."),
	FP(6, "rbd", OBJECT, .msg = &core_rbd_persistent_volume_source, .doc = "A Ceph block device."),
	FP(7, "iscsi", OBJECT, .msg = &core_iscsi_persistent_volume_source, .doc = "An iSCSI disk."),
	FP(8, "cinder", OBJECT, .msg = &core_cinder_persistent_volume_source, .doc = "An OpenStack disk."),
	FP(9, "cephfs", OBJECT, .msg = &core_ceph_fs_persistent_volume_source, .doc = "A Ceph file system."),
	FP(10, "fc", OBJECT, .msg = &core_fc_volume_source, .doc = "A Fibre Channel disk."),
	FP(11, "flocker", OBJECT, .msg = &core_flocker_volume_source, .doc = "A Flocker volume."),
	FP(12, "flexVolume", OBJECT, .msg = &core_flex_persistent_volume_source,
	   .doc = "A volume of a FlexVolume driver."),
	FP(13, "azureFile", OBJECT, .msg = &core_azure_file_persistent_volume_source,
	   .doc = "A file share of Microsoft's cloud."),
	FP(14, "vsphereVolume", OBJECT, .msg = &core_vsphere_virtual_disk_volume_source, .doc = "A vSphere disk."),
	FP(15, "quobyte", OBJECT, .msg = &core_quobyte_volume_source, .doc = "A Quobyte volume."),
	FP(16, "azureDisk", OBJECT, .msg = &core_azure_disk_volume_source, .doc = "A disk of Microsoft's cloud."),
	FP(17, "photonPersistentDisk", OBJECT, .msg = &core_photon_persistent_disk_volume_source,
	   .doc = "A Photon disk."),
	FP(18, "portworxVolume", OBJECT, .msg = &core_portworx_volume_source, .doc = "A Portworx volume."),
	FP(19, "scaleIO", OBJECT, .msg = &core_scale_io_persistent_volume_source, .doc = "A ScaleIO volume."),
	FP(20, "local", OBJECT, .msg = &local_volume_source, .doc = "A directory or disk of one node."),
	FP(21, "storageos", OBJECT, .msg = &core_storage_os_persistent_volume_source, .doc = "A StorageOS volume."),
	FP(22, "csi", OBJECT, .msg = &core_csi_persistent_volume_source, .doc = "A volume of a CSI driver."),
};
static const struct message pv_source = MESSAGE("io.k8s.api.core.v1.PersistentVolumeSource", pv_source_fields,
						.doc = "What a volume is; exactly one is set.");

/* Complains about none or several sources. */
static void source_validate(const json_t *spec, const struct path *at, struct err *e)
{
	bool found = false;

	for (size_t i = 0; i < pv_source.nfields; i++) {
		const char *name = pv_source.fields[i].name;

		if (!json_object_get(spec, name))
			continue;
		if (found)
			path_forbidden(PATH_FIELD(at, name), e, "may not specify more than 1 volume type");
		found = true;
	}
	if (!found)
		path_required(at, e, "must specify a volume type");
}

static void capacity_validate(const json_t *capacity, const struct path *at, struct err *e)
{
	const char *name;
	json_t *amount;
	struct quantity q;

	if (!json_object_size(capacity))
		path_required(at, e, NULL);
	json_object_foreach ((json_t *)capacity, name, amount) {
		if (!streq(name, "storage"))
			path_unsupported(at, e, name, "storage");
		else if (rule_quantity_parse(amount, &q) && q.nano <= 0)
			path_invalid(PATH_KEY(at, name), e, amount, "must be greater than zero");
	}
}

static void pv_spec_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *modes = json_object_get(spec, "accessModes");
	const char *policy = jsonx_str_or(spec, "persistentVolumeReclaimPolicy", "");

	capacity_validate(json_object_get(spec, "capacity"), PATH_FIELD(at, "capacity"), e);
	if (!json_array_size(modes))
		path_required(PATH_FIELD(at, "accessModes"), e, NULL);
	source_validate(spec, at, e);
	if (json_object_get(spec, "local") && !jsonx_at(spec, "nodeAffinity.required"))
		path_required(PATH_FIELD(at, "nodeAffinity"), e, "Local volume requires node affinity");
	if (streq(jsonx_str_or(spec, "hostPath.path", ""), "/") && streq(policy, "Recycle"))
		path_forbidden(PATH_FIELD(at, "persistentVolumeReclaimPolicy"), e,
			       "may not be 'recycle' for a hostPath mount of '/'");
	rule_text(json_object_get(spec, "storageClassName"), PATH_FIELD(at, "storageClassName"), e,
		  name_check_subdomain);
}

static const struct field pv_spec_fields[] = {
	FM(1, "capacity", QUANTITY, .doc = "How much it holds."),
	F(2, "", OBJECT, .msg = &pv_source, .flags = FIELD_INLINE),
	FL(3, "accessModes", STRING, .values = ACCESS_MODES, .doc = "How it may be mounted."),
	FP(4, "claimRef", OBJECT, .msg = &core_object_reference, .doc = "The claim it is bound to."),
	F(5, "persistentVolumeReclaimPolicy", STRING, .dflt = "\"Retain\"", .values = "Delete|Recycle|Retain",
	  .doc = "What happens when its claim goes: Retain, Delete or Recycle."),
	F(6, "storageClassName", STRING, .doc = "Class of the volume; empty for none."),
	FL(7, "mountOptions", STRING, .doc = "Options of the mount, unchecked."),
	FP(8, "volumeMode", STRING, .dflt = "\"Filesystem\"", .values = "Block|Filesystem",
	   .doc = "Filesystem, or Block for a raw device."),
	FP(9, "nodeAffinity", OBJECT, .msg = &volume_node_affinity, .doc = "From where the volume can be reached."),
	FP(10, "volumeAttributesClassName", STRING, .doc = "Class of the volume's adjustable properties."),
};
const struct message core_pv_spec = MESSAGE("io.k8s.api.core.v1.PersistentVolumeSpec", pv_spec_fields,
					    .doc = "What a volume is.", .validate = pv_spec_validate);

static const struct field pv_status_fields[] = {
	F(1, "phase", STRING, .dflt = "\"Pending\"", .values = "Available|Bound|Failed|Pending|Released",
	  .doc = "Pending, Available, Bound, Released or Failed."),
	F(2, "message", STRING, .doc = "A sentence for people."),
	F(3, "reason", STRING, .doc = "One word for why it failed."),
	FP(4, "lastPhaseTransitionTime", TIME, .doc = "When phase last changed."),
};
static const struct message pv_status =
	MESSAGE("io.k8s.api.core.v1.PersistentVolumeStatus", pv_status_fields, .doc = "What a volume is doing.");

static const struct field pv_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &core_pv_spec, .dflt = "{}", .doc = "What the volume is."),
	F(3, "status", OBJECT, .msg = &pv_status, .dflt = "{}", .doc = "What the volume is doing."),
};
const struct message core_pv =
	MESSAGE("io.k8s.api.core.v1.PersistentVolume", pv_fields, .doc = "A piece of storage that outlives pods.");

static void pv_prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_pack("{s:s}", "phase", "Pending"));
}

static void pv_validate_update(const json_t *obj, const json_t *old_obj, struct err *e)
{
	const json_t *spec = json_object_get(obj, "spec"), *old = json_object_get(old_obj, "spec");
	const struct path *at = PATH_FIELD(NULL, "spec");

	for (size_t i = 0; i < pv_source.nfields; i++) {
		const json_t *a = json_object_get(spec, pv_source.fields[i].name),
			     *b = json_object_get(old, pv_source.fields[i].name);

		if (a != b && (!a || !b || !jsonx_equal(a, b))) {
			path_forbidden(PATH_FIELD(at, "persistentvolumesource"), e,
				       "spec.persistentvolumesource is immutable after creation");
			break;
		}
	}
	rule_immutable(json_object_get(spec, "volumeMode"), json_object_get(old, "volumeMode"),
		       PATH_FIELD(at, "volumeMode"), e);
}

static json_t *pv_capacity(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.capacity.storage", "");
}

static json_t *pv_modes(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_access_modes(jsonx_at(obj, "spec.accessModes"));
}

static json_t *pv_policy(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.persistentVolumeReclaimPolicy", "");
}

static json_t *pv_phase(const json_t *obj, int64_t now)
{
	(void)now;
	if (jsonx_at(obj, "metadata.deletionTimestamp"))
		return json_string("Terminating");
	return cell_text_or(obj, "status.phase", "");
}

static json_t *pv_claim(const json_t *obj, int64_t now)
{
	(void)now;
	if (!jsonx_at(obj, "spec.claimRef"))
		return json_string("");
	return jsonx_stringf("%s/%s", jsonx_str_or(obj, "spec.claimRef.namespace", ""),
			     jsonx_str_or(obj, "spec.claimRef.name", ""));
}

static json_t *pv_class(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.storageClassName", "");
}

static json_t *pv_attributes_class(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.volumeAttributesClassName", "<unset>");
}

static json_t *pv_reason(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "status.reason", "");
}

static json_t *pv_volume_mode(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.volumeMode", "<unset>");
}

static const struct column pv_columns[] = {
	COLUMN_NAME,
	COLUMN("Capacity", "How much the volume holds.", pv_capacity),
	COLUMN("Access Modes", "How the volume may be mounted.", pv_modes),
	COLUMN("Reclaim Policy", "What happens when its claim goes.", pv_policy),
	COLUMN("Status", "Available, Bound, Released or Failed.", pv_phase),
	COLUMN("Claim", "The claim it is bound to.", pv_claim),
	COLUMN("StorageClass", "Class of the volume.", pv_class),
	COLUMN("VolumeAttributesClass", "Class of the volume's adjustable properties.", pv_attributes_class),
	COLUMN("Reason", "One word for why it failed.", pv_reason),
	COLUMN_AGE,
	COLUMN_WIDE("VolumeMode", "Filesystem or Block.", pv_volume_mode),
};

static const struct subresource pv_subresources[] = {
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_pv = {
	.group = "",
	.version = "v1",
	.kind = "PersistentVolume",
	.plural = "persistentvolumes",
	.singular = "persistentvolume",
	.short_names = (const char *const[]){ "pv", NULL },
	.flags = KIND_STATUS,
	.verbs = VERBS_ALL,
	.message = &core_pv,
	.columns = pv_columns,
	.ncolumns = ARRAY_SIZE(pv_columns),
	.subresources = pv_subresources,
	.nsubresources = ARRAY_SIZE(pv_subresources),
	.prepare_create = pv_prepare_create,
	.validate_update = pv_validate_update,
};
