// SPDX-License-Identifier: Apache-2.0
/* volume_cloud.c - volume sources of clouds and of drivers
 *
 * Stoker mounts none of these itself; the tables let manifests that use them be stored, patched and sent on to a real
 * cluster unchanged.
 */
#include "kinds/core.h"

static const struct field aws_elastic_block_store_volume_source_fields[] = {
	F(1, "volumeID", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	F(3, "partition", INT32),
	F(4, "readOnly", BOOL),
};
const struct message core_aws_elastic_block_store_volume_source =
	MESSAGE("io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource", aws_elastic_block_store_volume_source_fields,
		.doc = NULL);

static const struct field azure_disk_volume_source_fields[] = {
	F(1, "diskName", STRING, .flags = FIELD_REQUIRED),
	F(2, "diskURI", STRING, .flags = FIELD_REQUIRED),
	FP(3, "cachingMode", STRING, .dflt = "\"ReadWrite\"", .values = "None|ReadOnly|ReadWrite"),
	FP(4, "fsType", STRING, .dflt = "\"ext4\""),
	FP(5, "readOnly", BOOL, .dflt = "false"),
	FP(6, "kind", STRING, .dflt = "\"Shared\"", .values = "Dedicated|Managed|Shared"),
};
const struct message core_azure_disk_volume_source =
	MESSAGE("io.k8s.api.core.v1.AzureDiskVolumeSource", azure_disk_volume_source_fields, .doc = NULL);

static const struct field azure_file_volume_source_fields[] = {
	F(1, "secretName", STRING, .flags = FIELD_REQUIRED),
	F(2, "shareName", STRING, .flags = FIELD_REQUIRED),
	F(3, "readOnly", BOOL),
};
const struct message core_azure_file_volume_source =
	MESSAGE("io.k8s.api.core.v1.AzureFileVolumeSource", azure_file_volume_source_fields, .doc = NULL);

static const struct field azure_file_persistent_volume_source_fields[] = {
	F(1, "secretName", STRING, .flags = FIELD_REQUIRED),
	F(2, "shareName", STRING, .flags = FIELD_REQUIRED),
	F(3, "readOnly", BOOL),
	FP(4, "secretNamespace", STRING),
};
const struct message core_azure_file_persistent_volume_source = MESSAGE(
	"io.k8s.api.core.v1.AzureFilePersistentVolumeSource", azure_file_persistent_volume_source_fields, .doc = NULL);

static const struct field cinder_volume_source_fields[] = {
	F(1, "volumeID", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	F(3, "readOnly", BOOL),
	FP(4, "secretRef", OBJECT, .msg = &core_local_object_reference),
};
const struct message core_cinder_volume_source =
	MESSAGE("io.k8s.api.core.v1.CinderVolumeSource", cinder_volume_source_fields, .doc = NULL);

static const struct field cinder_persistent_volume_source_fields[] = {
	F(1, "volumeID", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	F(3, "readOnly", BOOL),
	FP(4, "secretRef", OBJECT, .msg = &core_secret_reference),
};
const struct message core_cinder_persistent_volume_source =
	MESSAGE("io.k8s.api.core.v1.CinderPersistentVolumeSource", cinder_persistent_volume_source_fields, .doc = NULL);

static const struct field csi_volume_source_fields[] = {
	F(1, "driver", STRING, .flags = FIELD_REQUIRED),
	FP(2, "readOnly", BOOL),
	FP(3, "fsType", STRING),
	FM(4, "volumeAttributes", STRING),
	FP(5, "nodePublishSecretRef", OBJECT, .msg = &core_local_object_reference),
};
const struct message core_csi_volume_source = MESSAGE("io.k8s.api.core.v1.CSIVolumeSource", csi_volume_source_fields,
						      .doc = "A volume that a CSI driver makes for one pod.");

static const struct field csi_persistent_volume_source_fields[] = {
	F(1, "driver", STRING, .flags = FIELD_REQUIRED),
	F(2, "volumeHandle", STRING, .flags = FIELD_REQUIRED),
	F(3, "readOnly", BOOL),
	F(4, "fsType", STRING),
	FM(5, "volumeAttributes", STRING),
	FP(6, "controllerPublishSecretRef", OBJECT, .msg = &core_secret_reference),
	FP(7, "nodeStageSecretRef", OBJECT, .msg = &core_secret_reference),
	FP(8, "nodePublishSecretRef", OBJECT, .msg = &core_secret_reference),
	FP(9, "controllerExpandSecretRef", OBJECT, .msg = &core_secret_reference),
	FP(10, "nodeExpandSecretRef", OBJECT, .msg = &core_secret_reference),
};
const struct message core_csi_persistent_volume_source =
	MESSAGE("io.k8s.api.core.v1.CSIPersistentVolumeSource", csi_persistent_volume_source_fields,
		.doc = "A volume of a CSI driver.");

static const struct field flex_volume_source_fields[] = {
	F(1, "driver", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	FP(3, "secretRef", OBJECT, .msg = &core_local_object_reference),
	F(4, "readOnly", BOOL),
	FM(5, "options", STRING),
};
const struct message core_flex_volume_source =
	MESSAGE("io.k8s.api.core.v1.FlexVolumeSource", flex_volume_source_fields, .doc = NULL);

static const struct field flex_persistent_volume_source_fields[] = {
	F(1, "driver", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	FP(3, "secretRef", OBJECT, .msg = &core_secret_reference),
	F(4, "readOnly", BOOL),
	FM(5, "options", STRING),
};
const struct message core_flex_persistent_volume_source =
	MESSAGE("io.k8s.api.core.v1.FlexPersistentVolumeSource", flex_persistent_volume_source_fields, .doc = NULL);

static const struct field flocker_volume_source_fields[] = {
	F(1, "datasetName", STRING),
	F(2, "datasetUUID", STRING),
};
const struct message core_flocker_volume_source =
	MESSAGE("io.k8s.api.core.v1.FlockerVolumeSource", flocker_volume_source_fields, .doc = NULL);

static const struct field gce_persistent_disk_volume_source_fields[] = {
	F(1, "pdName", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	F(3, "partition", INT32),
	F(4, "readOnly", BOOL),
};
const struct message core_gce_persistent_disk_volume_source = MESSAGE(
	"io.k8s.api.core.v1.GCEPersistentDiskVolumeSource", gce_persistent_disk_volume_source_fields, .doc = NULL);

static const struct field photon_persistent_disk_volume_source_fields[] = {
	F(1, "pdID", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
};
const struct message core_photon_persistent_disk_volume_source =
	MESSAGE("io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource", photon_persistent_disk_volume_source_fields,
		.doc = NULL);

static const struct field portworx_volume_source_fields[] = {
	F(1, "volumeID", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	F(3, "readOnly", BOOL),
};
const struct message core_portworx_volume_source =
	MESSAGE("io.k8s.api.core.v1.PortworxVolumeSource", portworx_volume_source_fields, .doc = NULL);

static const struct field scale_io_volume_source_fields[] = {
	F(1, "gateway", STRING, .flags = FIELD_REQUIRED),
	F(2, "system", STRING, .flags = FIELD_REQUIRED),
	F(3, "secretRef", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_REQUIRED | FIELD_POINTER),
	F(4, "sslEnabled", BOOL),
	F(5, "protectionDomain", STRING),
	F(6, "storagePool", STRING),
	F(7, "storageMode", STRING, .dflt = "\"ThinProvisioned\""),
	F(8, "volumeName", STRING),
	F(9, "fsType", STRING, .dflt = "\"xfs\""),
	F(10, "readOnly", BOOL),
};
const struct message core_scale_io_volume_source =
	MESSAGE("io.k8s.api.core.v1.ScaleIOVolumeSource", scale_io_volume_source_fields, .doc = NULL);

static const struct field scale_io_persistent_volume_source_fields[] = {
	F(1, "gateway", STRING, .flags = FIELD_REQUIRED),
	F(2, "system", STRING, .flags = FIELD_REQUIRED),
	F(3, "secretRef", OBJECT, .msg = &core_secret_reference, .flags = FIELD_REQUIRED | FIELD_POINTER),
	F(4, "sslEnabled", BOOL),
	F(5, "protectionDomain", STRING),
	F(6, "storagePool", STRING),
	F(7, "storageMode", STRING, .dflt = "\"ThinProvisioned\""),
	F(8, "volumeName", STRING),
	F(9, "fsType", STRING, .dflt = "\"xfs\""),
	F(10, "readOnly", BOOL),
};
const struct message core_scale_io_persistent_volume_source = MESSAGE(
	"io.k8s.api.core.v1.ScaleIOPersistentVolumeSource", scale_io_persistent_volume_source_fields, .doc = NULL);

static const struct field storage_os_volume_source_fields[] = {
	F(1, "volumeName", STRING),
	F(2, "volumeNamespace", STRING),
	F(3, "fsType", STRING),
	F(4, "readOnly", BOOL),
	FP(5, "secretRef", OBJECT, .msg = &core_local_object_reference),
};
const struct message core_storage_os_volume_source =
	MESSAGE("io.k8s.api.core.v1.StorageOSVolumeSource", storage_os_volume_source_fields, .doc = NULL);

static const struct field storage_os_persistent_volume_source_fields[] = {
	F(1, "volumeName", STRING),
	F(2, "volumeNamespace", STRING),
	F(3, "fsType", STRING),
	F(4, "readOnly", BOOL),
	FP(5, "secretRef", OBJECT, .msg = &core_object_reference),
};
const struct message core_storage_os_persistent_volume_source = MESSAGE(
	"io.k8s.api.core.v1.StorageOSPersistentVolumeSource", storage_os_persistent_volume_source_fields, .doc = NULL);

static const struct field vsphere_virtual_disk_volume_source_fields[] = {
	F(1, "volumePath", STRING, .flags = FIELD_REQUIRED),
	F(2, "fsType", STRING),
	F(3, "storagePolicyName", STRING),
	F(4, "storagePolicyID", STRING),
};
const struct message core_vsphere_virtual_disk_volume_source = MESSAGE(
	"io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource", vsphere_virtual_disk_volume_source_fields, .doc = NULL);
