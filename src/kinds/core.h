// SPDX-License-Identifier: Apache-2.0
/* core.h - the messages of core/v1 that other files refer to
 *
 * One `core_x` for each message of io.k8s.api.core.v1 that is used outside its own file.  Messages used in one file
 * only are static there.
 */
#ifndef STOKER_KINDS_CORE_H
#define STOKER_KINDS_CORE_H

#include "kinds/builtin.h"
#include "kinds/kind.h"

/* A row for a Go pointer: protobuf keeps its zero value. */
#define FP(no_, name_, type_, ...) F(no_, name_, type_, .flags = FIELD_POINTER, ##__VA_ARGS__)

/* kind, apiVersion and metadata, with which the table of every object begins. */
#define FIELDS_OBJECT                                                                                                  \
	F(0, "kind", STRING, .doc = "What this object is, in CamelCase."),                                             \
		F(0, "apiVersion", STRING, .doc = "Group and version of the form this object is written in."),         \
		F(1, "metadata", OBJECT, .msg = &meta_object, .doc = "Name, namespace, labels and annotations.")

/* refs.c */
extern const struct message core_object_reference, core_local_object_reference, core_typed_local_object_reference,
	core_typed_object_reference, core_secret_reference, core_object_field_selector, core_resource_field_selector,
	core_key_to_path;
/* affinity.c, scheduling.c */
extern const struct message core_affinity, core_pod_affinity_term, core_node_selector, core_node_selector_term,
	core_toleration, core_taint, core_topology_spread_constraint, core_topology_selector_term;
/* security.c */
extern const struct message core_security_context, core_pod_security_context;
/* resources.c */
extern const struct message core_resource_requirements, core_volume_resource_requirements;
/* env.c, probe.c, container.c */
extern const struct message core_env_var, core_env_from_source, core_probe, core_lifecycle, core_container_port,
	core_volume_mount, core_volume_device, core_container_resize_policy, core_container, core_ephemeral_container;
/* volume.c, volume_projection.c, volume_cloud.c, volume_net.c */
extern const struct message core_volume, core_host_path_volume_source, core_nfs_volume_source,
	core_config_map_volume_source, core_secret_volume_source, core_downward_api_volume_source,
	core_projected_volume_source;
extern const struct message core_aws_elastic_block_store_volume_source, core_azure_disk_volume_source,
	core_azure_file_volume_source, core_azure_file_persistent_volume_source, core_ceph_fs_volume_source,
	core_ceph_fs_persistent_volume_source, core_cinder_volume_source, core_cinder_persistent_volume_source,
	core_csi_volume_source, core_csi_persistent_volume_source, core_fc_volume_source, core_flex_volume_source,
	core_flex_persistent_volume_source, core_flocker_volume_source, core_gce_persistent_disk_volume_source,
	core_git_repo_volume_source, core_glusterfs_volume_source, core_glusterfs_persistent_volume_source,
	core_iscsi_volume_source, core_iscsi_persistent_volume_source, core_photon_persistent_disk_volume_source,
	core_portworx_volume_source, core_quobyte_volume_source, core_rbd_volume_source,
	core_rbd_persistent_volume_source, core_scale_io_volume_source, core_scale_io_persistent_volume_source,
	core_storage_os_volume_source, core_storage_os_persistent_volume_source,
	core_vsphere_virtual_disk_volume_source;
/* podspec.c, podstatus.c, podtemplate.c */
extern const struct message core_pod_spec, core_pod_status, core_pod_template_spec;
/* The objects themselves; pv.c, pvc.c, service.c and event.c also give parts to other groups. */
extern const struct message core_pod, core_service, core_endpoints, core_config_map, core_secret, core_node,
	core_namespace, core_event, core_service_account, core_pv, core_pvc, core_resource_quota, core_limit_range,
	core_pod_template, core_replication_controller, core_binding;
extern const struct message core_pv_spec, core_pvc_spec, core_pvc_template, core_load_balancer_status,
	core_event_source;

extern const struct kind kind_pod, kind_service, kind_endpoints, kind_config_map, kind_secret, kind_node,
	kind_namespace, kind_event, kind_service_account, kind_pv, kind_pvc, kind_resource_quota, kind_limit_range,
	kind_pod_template, kind_replication_controller;

/* podrules.c: what holds between the parts of a PodSpec; core_pod_spec's own validate. */
void pod_spec_validate(const json_t *spec, const struct path *at, struct err *e);
/* container.c: rules of one container that depend on where it stands. */
enum container_place { CONTAINER_MAIN, CONTAINER_INIT, CONTAINER_EPHEMERAL };
void container_validate_place(const json_t *container, enum container_place place, const struct path *at,
			      struct err *e);
/* resources.c: names without a prefix that containers may ask for; those of which requests may be below limits. */
bool resource_is_standard(const char *name);
bool resource_may_overcommit(const char *name);
/* pod_qos.c: "Guaranteed", "Burstable" or "BestEffort". */
const char *pod_qos_class(const json_t *pod_spec);

#endif
