// SPDX-License-Identifier: Apache-2.0
/* volume_net.c - volume sources that are reached over a network
 *
 * NFS is mounted by Stoker's node; the others are carried for real clusters.
 */
#include "kinds/core.h"
#include "kinds/rules.h"

static void nfs_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_absolute_path(json_object_get(obj, "path"), PATH_FIELD(at, "path"), e);
}

static const struct field nfs_volume_source_fields[] = {
	F(1, "server", STRING, .flags = FIELD_REQUIRED, .doc = "Host name or address of the server."),
	F(2, "path", STRING, .flags = FIELD_REQUIRED, .doc = "Exported path; absolute."),
	F(3, "readOnly", BOOL, .doc = "Whether it is mounted read-only."),
};
const struct message core_nfs_volume_source = MESSAGE("io.k8s.api.core.v1.NFSVolumeSource", nfs_volume_source_fields,
						      .doc = "A directory of an NFS server.", .validate = nfs_validate);

static const struct field ceph_fs_volume_source_fields[] = {
	FL(1, "monitors", STRING, .flags = FIELD_REQUIRED),
	F(2, "path", STRING),
	F(3, "user", STRING),
	F(4, "secretFile", STRING),
	FP(5, "secretRef", OBJECT, .msg = &core_local_object_reference),
	F(6, "readOnly", BOOL),
};
const struct message core_ceph_fs_volume_source =
	MESSAGE("io.k8s.api.core.v1.CephFSVolumeSource", ceph_fs_volume_source_fields, .doc = NULL);

static const struct field ceph_fs_persistent_volume_source_fields[] = {
	FL(1, "monitors", STRING, .flags = FIELD_REQUIRED),
	F(2, "path", STRING),
	F(3, "user", STRING),
	F(4, "secretFile", STRING),
	FP(5, "secretRef", OBJECT, .msg = &core_secret_reference),
	F(6, "readOnly", BOOL),
};
const struct message core_ceph_fs_persistent_volume_source = MESSAGE(
	"io.k8s.api.core.v1.CephFSPersistentVolumeSource", ceph_fs_persistent_volume_source_fields, .doc = NULL);

static const struct field fc_volume_source_fields[] = {
	FL(1, "targetWWNs", STRING), FP(2, "lun", INT32),    F(3, "fsType", STRING),
	F(4, "readOnly", BOOL),      FL(5, "wwids", STRING),
};
const struct message core_fc_volume_source =
	MESSAGE("io.k8s.api.core.v1.FCVolumeSource", fc_volume_source_fields, .doc = NULL);

static const struct field git_repo_volume_source_fields[] = {
	F(1, "repository", STRING, .flags = FIELD_REQUIRED),
	F(2, "revision", STRING),
	F(3, "directory", STRING),
};
const struct message core_git_repo_volume_source =
	MESSAGE("io.k8s.api.core.v1.GitRepoVolumeSource", git_repo_volume_source_fields, .doc = NULL);

static const struct field glusterfs_volume_source_fields[] = {
	F(1, "endpoints", STRING, .flags = FIELD_REQUIRED),
	F(2, "path", STRING, .flags = FIELD_REQUIRED),
	F(3, "readOnly", BOOL),
};
const struct message core_glusterfs_volume_source =
	MESSAGE("io.k8s.api.core.v1.GlusterfsVolumeSource", glusterfs_volume_source_fields, .doc = NULL);

static const struct field glusterfs_persistent_volume_source_fields[] = {
	F(1, "endpoints", STRING, .flags = FIELD_REQUIRED),
	F(2, "path", STRING, .flags = FIELD_REQUIRED),
	F(3, "readOnly", BOOL),
	FP(4, "endpointsNamespace", STRING),
};
const struct message core_glusterfs_persistent_volume_source = MESSAGE(
	"io.k8s.api.core.v1.GlusterfsPersistentVolumeSource", glusterfs_persistent_volume_source_fields, .doc = NULL);

static const struct field iscsi_volume_source_fields[] = {
	F(1, "targetPortal", STRING, .flags = FIELD_REQUIRED),
	F(2, "iqn", STRING, .flags = FIELD_REQUIRED),
	F(3, "lun", INT32, .flags = FIELD_REQUIRED),
	F(4, "iscsiInterface", STRING, .dflt = "\"default\""),
	F(5, "fsType", STRING),
	F(6, "readOnly", BOOL),
	FL(7, "portals", STRING),
	F(8, "chapAuthDiscovery", BOOL),
	FP(10, "secretRef", OBJECT, .msg = &core_local_object_reference),
	F(11, "chapAuthSession", BOOL),
	FP(12, "initiatorName", STRING),
};
const struct message core_iscsi_volume_source =
	MESSAGE("io.k8s.api.core.v1.ISCSIVolumeSource", iscsi_volume_source_fields, .doc = NULL);

static const struct field iscsi_persistent_volume_source_fields[] = {
	F(1, "targetPortal", STRING, .flags = FIELD_REQUIRED),
	F(2, "iqn", STRING, .flags = FIELD_REQUIRED),
	F(3, "lun", INT32, .flags = FIELD_REQUIRED),
	F(4, "iscsiInterface", STRING, .dflt = "\"default\""),
	F(5, "fsType", STRING),
	F(6, "readOnly", BOOL),
	FL(7, "portals", STRING),
	F(8, "chapAuthDiscovery", BOOL),
	FP(10, "secretRef", OBJECT, .msg = &core_secret_reference),
	F(11, "chapAuthSession", BOOL),
	FP(12, "initiatorName", STRING),
};
const struct message core_iscsi_persistent_volume_source =
	MESSAGE("io.k8s.api.core.v1.ISCSIPersistentVolumeSource", iscsi_persistent_volume_source_fields, .doc = NULL);

static const struct field quobyte_volume_source_fields[] = {
	F(1, "registry", STRING, .flags = FIELD_REQUIRED),
	F(2, "volume", STRING, .flags = FIELD_REQUIRED),
	F(3, "readOnly", BOOL),
	F(4, "user", STRING),
	F(5, "group", STRING),
	F(6, "tenant", STRING),
};
const struct message core_quobyte_volume_source =
	MESSAGE("io.k8s.api.core.v1.QuobyteVolumeSource", quobyte_volume_source_fields, .doc = NULL);

static const struct field rbd_volume_source_fields[] = {
	FL(1, "monitors", STRING, .flags = FIELD_REQUIRED),
	F(2, "image", STRING, .flags = FIELD_REQUIRED),
	F(3, "fsType", STRING),
	F(4, "pool", STRING, .dflt = "\"rbd\""),
	F(5, "user", STRING, .dflt = "\"admin\""),
	F(6, "keyring", STRING, .dflt = "\"/etc/ceph/keyring\""),
	FP(7, "secretRef", OBJECT, .msg = &core_local_object_reference),
	F(8, "readOnly", BOOL),
};
const struct message core_rbd_volume_source =
	MESSAGE("io.k8s.api.core.v1.RBDVolumeSource", rbd_volume_source_fields, .doc = NULL);

static const struct field rbd_persistent_volume_source_fields[] = {
	FL(1, "monitors", STRING, .flags = FIELD_REQUIRED),
	F(2, "image", STRING, .flags = FIELD_REQUIRED),
	F(3, "fsType", STRING),
	F(4, "pool", STRING, .dflt = "\"rbd\""),
	F(5, "user", STRING, .dflt = "\"admin\""),
	F(6, "keyring", STRING, .dflt = "\"/etc/ceph/keyring\""),
	FP(7, "secretRef", OBJECT, .msg = &core_secret_reference),
	F(8, "readOnly", BOOL),
};
const struct message core_rbd_persistent_volume_source =
	MESSAGE("io.k8s.api.core.v1.RBDPersistentVolumeSource", rbd_persistent_volume_source_fields, .doc = NULL);
