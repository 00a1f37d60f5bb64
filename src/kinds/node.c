// SPDX-License-Identifier: Apache-2.0
/* node.c - Node: a machine that runs pods; node_columns.c has the table */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/node_columns.h"
#include "kinds/rules.h"

static const struct field config_map_node_config_source_fields[] = {
	F(1, "namespace", STRING, .flags = FIELD_REQUIRED),
	F(2, "name", STRING, .flags = FIELD_REQUIRED),
	F(3, "uid", STRING),
	F(4, "resourceVersion", STRING),
	F(5, "kubeletConfigKey", STRING, .flags = FIELD_REQUIRED),
};
static const struct message config_map_node_config_source =
	MESSAGE("io.k8s.api.core.v1.ConfigMapNodeConfigSource", config_map_node_config_source_fields,
		.doc = "Where a node once took its settings from.");

static const struct field node_config_source_fields[] = {
	FP(2, "configMap", OBJECT, .msg = &config_map_node_config_source),
};
static const struct message node_config_source =
	MESSAGE("io.k8s.api.core.v1.NodeConfigSource", node_config_source_fields,
		.doc = "Where a node once took its settings from; no longer used.");

static const struct field node_config_status_fields[] = {
	FP(1, "assigned", OBJECT, .msg = &node_config_source),
	FP(2, "active", OBJECT, .msg = &node_config_source),
	FP(3, "lastKnownGood", OBJECT, .msg = &node_config_source),
	F(4, "error", STRING),
};
static const struct message node_config_status =
	MESSAGE("io.k8s.api.core.v1.NodeConfigStatus", node_config_status_fields,
		.doc = "State of settings from a ConfigMap; no longer used.");

static void node_spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *taints = json_object_get(obj, "taints");
	json_auto_t *seen = json_object();
	size_t i;
	json_t *item;

	json_array_foreach (json_object_get(obj, "podCIDRs"), i, item)
		rule_cidr(item, PATH_INDEX(PATH_FIELD(at, "podCIDRs"), i), e);
	json_array_foreach (taints, i, item) {
		json_auto_t *key =
			jsonx_stringf("%s:%s", jsonx_str_or(item, "key", ""), jsonx_str_or(item, "effect", ""));

		if (json_object_get(seen, json_string_value(key)))
			path_duplicate(PATH_INDEX(PATH_FIELD(at, "taints"), i), e, item);
		json_object_set_new(seen, json_string_value(key), json_true());
	}
}

static const struct field node_spec_fields[] = {
	F(1, "podCIDR", STRING, .doc = "Network from which pods of the node get their addresses."),
	F(2, "externalID", STRING, .doc = "No longer used."),
	F(3, "providerID", STRING, .doc = "Identity of the machine at its provider."),
	F(4, "unschedulable", BOOL, .doc = "Whether new pods are kept away, as by kubectl cordon."),
	FL(5, "taints", OBJECT, .msg = &core_taint, .doc = "Marks that keep away pods which do not tolerate them."),
	FP(6, "configSource", OBJECT, .msg = &node_config_source, .doc = "No longer used."),
	FL(7, "podCIDRs", STRING, .flags = FIELD_SET, .doc = "Networks of the pods, one a family."),
};
static const struct message node_spec = MESSAGE("io.k8s.api.core.v1.NodeSpec", node_spec_fields,
						.doc = "What a node shall be.", .validate = node_spec_validate);

static const struct field node_condition_fields[] = {
	F(1, "type", STRING, .doc = "Ready, MemoryPressure, DiskPressure, PIDPressure and others."),
	F(2, "status", STRING, .doc = "True, False or Unknown."),
	F(3, "lastHeartbeatTime", TIME, .doc = "When the node last reported."),
	F(4, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(5, "reason", STRING, .doc = "One word for the last change."),
	F(6, "message", STRING, .doc = "A sentence for people."),
};
static const struct message node_condition =
	MESSAGE("io.k8s.api.core.v1.NodeCondition", node_condition_fields, .doc = "One aspect of a node's state.");

static const struct field node_address_fields[] = {
	F(1, "type", STRING, .doc = "Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS."),
	F(2, "address", STRING, .doc = "The address."),
};
static const struct message node_address =
	MESSAGE("io.k8s.api.core.v1.NodeAddress", node_address_fields, .doc = "An address of a node.");

static const struct field daemon_endpoint_fields[] = {
	F(1, "Port", INT32, .doc = "Number of the port."),
};
static const struct message daemon_endpoint = MESSAGE("io.k8s.api.core.v1.DaemonEndpoint", daemon_endpoint_fields,
						      .doc = "A port on which a daemon listens.");

static const struct field node_daemon_endpoints_fields[] = {
	F(1, "kubeletEndpoint", OBJECT, .msg = &daemon_endpoint, .doc = "Port of the kubelet."),
};
static const struct message node_daemon_endpoints = MESSAGE(
	"io.k8s.api.core.v1.NodeDaemonEndpoints", node_daemon_endpoints_fields, .doc = "Ports of the node's daemons.");

static const struct field node_system_info_fields[] = {
	F(1, "machineID", STRING, .doc = "Identity of the installation, from /etc/machine-id."),
	F(2, "systemUUID", STRING, .doc = "Identity of the hardware."),
	F(3, "bootID", STRING, .doc = "Changes with each boot."),
	F(4, "kernelVersion", STRING, .doc = "Release of the kernel."),
	F(5, "osImage", STRING, .doc = "Name of the operating system."),
	F(6, "containerRuntimeVersion", STRING, .doc = "Runtime and its version, such as crun://1.8."),
	F(7, "kubeletVersion", STRING, .doc = "Version of the node's agent."),
	F(8, "kubeProxyVersion", STRING, .doc = "No longer used."),
	F(9, "operatingSystem", STRING, .doc = "Such as linux."),
	F(10, "architecture", STRING, .doc = "Such as amd64."),
};
static const struct message node_system_info =
	MESSAGE("io.k8s.api.core.v1.NodeSystemInfo", node_system_info_fields, .doc = "Facts about the machine.");

static const struct field container_image_fields[] = {
	FL(1, "names", STRING, .doc = "Names of the image."),
	F(2, "sizeBytes", INT64, .doc = "Size of the image."),
};
static const struct message container_image =
	MESSAGE("io.k8s.api.core.v1.ContainerImage", container_image_fields, .doc = "An image on the node.");

static const struct field attached_volume_fields[] = {
	F(1, "name", STRING, .doc = "Name of the volume."),
	F(2, "devicePath", STRING, .doc = "Path of its device."),
};
static const struct message attached_volume =
	MESSAGE("io.k8s.api.core.v1.AttachedVolume", attached_volume_fields, .doc = "A volume attached to the node.");

static const struct field node_runtime_handler_features_fields[] = {
	FP(1, "recursiveReadOnlyMounts", BOOL, .doc = "Whether it can make mounts read-only recursively."),
	FP(2, "userNamespaces", BOOL, .doc = "Whether it can give pods user ids of their own."),
};
static const struct message node_runtime_handler_features =
	MESSAGE("io.k8s.api.core.v1.NodeRuntimeHandlerFeatures", node_runtime_handler_features_fields,
		.doc = "What a runtime handler can do.");

static const struct field node_runtime_handler_fields[] = {
	F(1, "name", STRING, .doc = "Name of the handler; empty for the default one."),
	FP(2, "features", OBJECT, .msg = &node_runtime_handler_features, .doc = "What it can do."),
};
static const struct message node_runtime_handler = MESSAGE(
	"io.k8s.api.core.v1.NodeRuntimeHandler", node_runtime_handler_fields, .doc = "A runtime that the node offers.");

static const struct field node_features_fields[] = {
	FP(1, "supplementalGroupsPolicy", BOOL, .doc = "Whether it honours supplementalGroupsPolicy."),
};
static const struct message node_features =
	MESSAGE("io.k8s.api.core.v1.NodeFeatures", node_features_fields, .doc = "What the node's runtime can do.");

static void node_status_defaults(json_t *obj)
{
	json_t *capacity = json_object_get(obj, "capacity");

	if (capacity && !json_object_get(obj, "allocatable"))
		json_object_set_new(obj, "allocatable", jsonx_copy(capacity));
}

static void node_status_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_quantities(json_object_get(obj, "capacity"), PATH_FIELD(at, "capacity"), e);
	rule_quantities(json_object_get(obj, "allocatable"), PATH_FIELD(at, "allocatable"), e);
}

static const struct field node_status_fields[] = {
	FM(1, "capacity", QUANTITY, .doc = "Everything the machine has, by resource."),
	FM(2, "allocatable", QUANTITY, .doc = "What pods may use of it."),
	F(3, "phase", STRING, .doc = "No longer used."),
	FL(4, "conditions", OBJECT, .msg = &node_condition, .merge_key = "type", .doc = "Aspects of the node's state."),
	FL(5, "addresses", OBJECT, .msg = &node_address, .merge_key = "type", .doc = "Addresses of the node."),
	F(6, "daemonEndpoints", OBJECT, .msg = &node_daemon_endpoints, .doc = "Ports of the node's daemons."),
	F(7, "nodeInfo", OBJECT, .msg = &node_system_info, .doc = "Facts about the machine."),
	FL(8, "images", OBJECT, .msg = &container_image, .doc = "Images on the node."),
	FL(9, "volumesInUse", STRING, .doc = "Volumes that are mounted."),
	FL(10, "volumesAttached", OBJECT, .msg = &attached_volume, .doc = "Volumes that are attached."),
	FP(11, "config", OBJECT, .msg = &node_config_status, .doc = "No longer used."),
	FL(12, "runtimeHandlers", OBJECT, .msg = &node_runtime_handler, .doc = "Runtimes that the node offers."),
	FP(13, "features", OBJECT, .msg = &node_features, .doc = "What the node's runtime can do."),
};
static const struct message node_status =
	MESSAGE("io.k8s.api.core.v1.NodeStatus", node_status_fields, .doc = "What a node is and does.",
		.defaults = node_status_defaults, .validate = node_status_validate);

static const struct field node_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &node_spec, .dflt = "{}", .doc = "What the node shall be."),
	F(3, "status", OBJECT, .msg = &node_status, .dflt = "{}", .doc = "What the node is and does."),
};
const struct message core_node = MESSAGE("io.k8s.api.core.v1.Node", node_fields, .doc = "A machine that runs pods.");

static void node_validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	const char *before = jsonx_str_or(old, "spec.providerID", ""),
		   *after = jsonx_str_or(obj, "spec.providerID", "");

	if (*before && !streq(before, after))
		path_forbidden(PATH_FIELD(PATH_FIELD(NULL, "spec"), "providerID"), e,
			       "node updates may not change providerID except from \"\" to valid");
}

static const struct selectable node_selectable[] = {
	{ "spec.unschedulable", "spec.unschedulable", "false" },
};

static const struct subresource node_subresources[] = {
	{ "proxy", V(CREATE) | V(DELETE) | V(GET) | V(PATCH) | V(UPDATE), NULL, NULL, "NodeProxyOptions" },
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_node = {
	.group = "",
	.version = "v1",
	.kind = "Node",
	.plural = "nodes",
	.singular = "node",
	.short_names = (const char *const[]){ "no", NULL },
	.flags = KIND_STATUS,
	.verbs = VERBS_ALL,
	.message = &core_node,
	.columns = node_columns,
	.ncolumns = NODE_COLUMNS,
	.selectable = node_selectable,
	.nselectable = ARRAY_SIZE(node_selectable),
	.subresources = node_subresources,
	.nsubresources = ARRAY_SIZE(node_subresources),
	.validate_update = node_validate_update,
};
