// SPDX-License-Identifier: Apache-2.0
/* volume.c - the volumes of a pod
 *
 * The sources that Stoker's node mounts are here and in volume_projection.c; volume_net.c and volume_cloud.c have the
 * rest.
 */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

#define HOST_PATH_TYPES "|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket"

static void host_path_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *type = jsonx_str_or(obj, "type", ""), *path = jsonx_str_or(obj, "path", "");

	if (!rule_one_of(type, HOST_PATH_TYPES))
		path_unsupported(PATH_FIELD(at, "type"), e, type, HOST_PATH_TYPES);
	if (streq(path, "..") || str_starts(path, "../") || strstr(path, "/../") || str_ends(path, "/.."))
		path_invalid(PATH_FIELD(at, "path"), e, json_object_get(obj, "path"), "must not contain '..'");
}

static const struct field host_path_volume_source_fields[] = {
	F(1, "path", STRING, .flags = FIELD_REQUIRED, .doc = "Path on the node."),
	FP(2, "type", STRING, .dflt = "\"\"",
	   .doc = "What must be there, or be made: Directory, DirectoryOrCreate, File, FileOrCreate, Socket, "
		  "CharDevice, BlockDevice; empty checks nothing."),
};
const struct message core_host_path_volume_source =
	MESSAGE("io.k8s.api.core.v1.HostPathVolumeSource", host_path_volume_source_fields,
		.doc = "A file or directory of the node.", .validate = host_path_validate);

static void empty_dir_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_quantity(json_object_get(obj, "sizeLimit"), PATH_FIELD(at, "sizeLimit"), e);
}

static const struct field empty_dir_volume_source_fields[] = {
	F(1, "medium", STRING, .doc = "Memory for a file system in memory; empty for the node's disk."),
	FP(2, "sizeLimit", QUANTITY, .doc = "The most it may hold."),
};
static const struct message empty_dir_volume_source =
	MESSAGE("io.k8s.api.core.v1.EmptyDirVolumeSource", empty_dir_volume_source_fields,
		.doc = "A directory that begins empty and ends with the pod.", .validate = empty_dir_validate);

static const struct field pvc_volume_source_fields[] = {
	F(1, "claimName", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the claim."),
	F(2, "readOnly", BOOL, .doc = "Whether every mount is read-only."),
};
static const struct message pvc_volume_source =
	MESSAGE("io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource", pvc_volume_source_fields,
		.doc = "A claim of the same namespace.");

static const struct field ephemeral_volume_source_fields[] = {
	FP(1, "volumeClaimTemplate", OBJECT, .msg = &core_pvc_template,
	   .doc = "The claim; it is named after the pod and the volume."),
};
static const struct message ephemeral_volume_source =
	MESSAGE("io.k8s.api.core.v1.EphemeralVolumeSource", ephemeral_volume_source_fields,
		.doc = "A claim made for the pod and deleted with it.");

static const struct field image_volume_source_fields[] = {
	F(1, "reference", STRING, .doc = "Image, as in a container."),
	F(2, "pullPolicy", STRING, .values = "Always|IfNotPresent|Never", .doc = "When the image is fetched."),
};
static const struct message image_volume_source =
	MESSAGE("io.k8s.api.core.v1.ImageVolumeSource", image_volume_source_fields, .doc = "The files of an image.");

static const struct field volume_source_fields[] = {
	FP(1, "hostPath", OBJECT, .msg = &core_host_path_volume_source, .doc = "A file or directory of the node."),
	FP(2, "emptyDir", OBJECT, .msg = &empty_dir_volume_source,
	   .doc = "A directory that begins empty and ends with the pod."),
	FP(3, "gcePersistentDisk", OBJECT, .msg = &core_gce_persistent_disk_volume_source,
	   .doc = "A disk of Google's cloud."),
	FP(4, "awsElasticBlockStore", OBJECT, .msg = &core_aws_elastic_block_store_volume_source,
	   .doc = "A disk of Amazon's cloud."),
	FP(5, "gitRepo", OBJECT, .msg = &core_git_repo_volume_source, .doc = "A clone of a git repository."),
	FP(6, "secret", OBJECT, .msg = &core_secret_volume_source, .doc = "Files made of a Secret's keys."),
	FP(7, "nfs", OBJECT, .msg = &core_nfs_volume_source, .doc = "A directory of an NFS server."),
	FP(8, "iscsi", OBJECT, .msg = &core_iscsi_volume_source, .doc = "An iSCSI disk."),
	FP(9, "glusterfs", OBJECT, .msg = &core_glusterfs_volume_source, .doc = "A GlusterFS volume."),
	FP(10, "persistentVolumeClaim", OBJECT, .msg = &pvc_volume_source, .doc = "A claim of the same namespace."),
	FP(11, "rbd", OBJECT, .msg = &core_rbd_volume_source, .doc = "A Ceph block device."),
	FP(12, "flexVolume", OBJECT, .msg = &core_flex_volume_source, .doc = "A volume of a FlexVolume driver."),
	FP(13, "cinder", OBJECT, .msg = &core_cinder_volume_source, .doc = "An OpenStack disk."),
	FP(14, "cephfs", OBJECT, .msg = &core_ceph_fs_volume_source, .doc = "A Ceph file system."),
	FP(15, "flocker", OBJECT, .msg = &core_flocker_volume_source, .doc = "A Flocker volume."),
	FP(16, "downwardAPI", OBJECT, .msg = &core_downward_api_volume_source,
	   .doc = "Files with facts about the pod."),
	FP(17, "fc", OBJECT, .msg = &core_fc_volume_source, .doc = "A Fibre Channel disk."),
	FP(18, "azureFile", OBJECT, .msg = &core_azure_file_volume_source, .doc = "A file share of Microsoft's cloud."),
	FP(19, "configMap", OBJECT, .msg = &core_config_map_volume_source, .doc = "Files made of a ConfigMap's keys."),
	FP(20, "vsphereVolume", OBJECT, .msg = &core_vsphere_virtual_disk_volume_source, .doc = "A vSphere disk."),
	FP(21, "quobyte", OBJECT, .msg = &core_quobyte_volume_source, .doc = "A Quobyte volume."),
	FP(22, "azureDisk", OBJECT, .msg = &core_azure_disk_volume_source, .doc = "A disk of Microsoft's cloud."),
	FP(23, "photonPersistentDisk", OBJECT, .msg = &core_photon_persistent_disk_volume_source,
	   .doc = "A Photon disk."),
	FP(24, "portworxVolume", OBJECT, .msg = &core_portworx_volume_source, .doc = "A Portworx volume."),
	FP(25, "scaleIO", OBJECT, .msg = &core_scale_io_volume_source, .doc = "A ScaleIO volume."),
	FP(26, "projected", OBJECT, .msg = &core_projected_volume_source, .doc = "Several sources in one directory."),
	FP(27, "storageos", OBJECT, .msg = &core_storage_os_volume_source, .doc = "A StorageOS volume."),
	FP(28, "csi", OBJECT, .msg = &core_csi_volume_source, .doc = "A volume that a CSI driver makes for the pod."),
	FP(29, "ephemeral", OBJECT, .msg = &ephemeral_volume_source,
	   .doc = "A claim made for the pod and deleted with it."),
	FP(30, "image", OBJECT, .msg = &image_volume_source, .doc = "The files of an image."),
};
static const struct message volume_source = MESSAGE("io.k8s.api.core.v1.VolumeSource", volume_source_fields,
						    .doc = "Where a volume's files come from; exactly one is set.");

/* A volume without a source is an empty directory. */
static void volume_defaults(json_t *obj)
{
	for (size_t i = 0; i < volume_source.nfields; i++)
		if (json_object_get(obj, volume_source.fields[i].name))
			return;
	json_object_set_new(obj, "emptyDir", json_object());
}

static void volume_validate(const json_t *obj, const struct path *at, struct err *e)
{
	bool found = false;

	rule_text(json_object_get(obj, "name"), PATH_FIELD(at, "name"), e, name_check_label);
	for (size_t i = 0; i < volume_source.nfields; i++) {
		const char *name = volume_source.fields[i].name;

		if (!json_object_get(obj, name))
			continue;
		if (found)
			path_forbidden(PATH_FIELD(at, name), e, "may not specify more than 1 volume type");
		found = true;
	}
	if (!found)
		path_required(at, e, "must specify a volume type");
}

static const struct field volume_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the volume, unique in the pod."),
	F(2, "", OBJECT, .msg = &volume_source, .flags = FIELD_INLINE),
};
const struct message core_volume =
	MESSAGE("io.k8s.api.core.v1.Volume", volume_fields, .doc = "A directory that containers of a pod may mount.",
		.defaults = volume_defaults, .validate = volume_validate);
