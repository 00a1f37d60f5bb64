// SPDX-License-Identifier: Apache-2.0
/* node_columns.c - what `kubectl get nodes` shows */
#include "kinds/node_columns.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/condition.h"

static const char *node_ready(const json_t *node)
{
	if (!condition_of(node, "Ready"))
		return "Unknown";
	return condition_holds(node, "Ready") ? "Ready" : "NotReady";
}

static json_t *node_status(const json_t *node, int64_t now)
{
	bool cordoned = jsonx_bool_or(node, "spec.unschedulable", false);

	(void)now;
	return jsonx_stringf("%s%s", node_ready(node), cordoned ? ",SchedulingDisabled" : "");
}

/* Roles are labels: node-role.kubernetes.io/ROLE, or kubernetes.io/role=ROLE. */
static json_t *node_roles(const json_t *node, int64_t now)
{
	static const char prefix[] = "node-role.kubernetes.io/";
	json_t *labels = jsonx_at(node, "metadata.labels"), *value;
	json_auto_t *set = json_object(), *list = json_array();
	auto_free const char **roles = NULL;
	const char *key;
	size_t n;

	(void)now;
	json_object_foreach (labels, key, value) {
		if (str_starts(key, prefix) && key[sizeof(prefix) - 1])
			json_object_set_new(set, key + sizeof(prefix) - 1, json_true());
		else if (streq(key, "kubernetes.io/role") && json_string_length(value))
			json_object_set_new(set, json_string_value(value), json_true());
	}
	roles = cells_sorted_keys(set, &n);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, jsonx_string(roles[i]));
	return cell_join(list, ",", "<none>");
}

static json_t *node_version(const json_t *node, int64_t now)
{
	(void)now;
	return cell_text_or(node, "status.nodeInfo.kubeletVersion", "");
}

static json_t *address_of(const json_t *node, const char *type)
{
	size_t i;
	json_t *address;

	json_array_foreach (jsonx_at(node, "status.addresses"), i, address)
		if (streq(jsonx_str_or(address, "type", ""), type))
			return cell_text_or(address, "address", "<none>");
	return json_string("<none>");
}

static json_t *node_internal_ip(const json_t *node, int64_t now)
{
	(void)now;
	return address_of(node, "InternalIP");
}

static json_t *node_external_ip(const json_t *node, int64_t now)
{
	(void)now;
	return address_of(node, "ExternalIP");
}

static json_t *node_os_image(const json_t *node, int64_t now)
{
	(void)now;
	return cell_text_or(node, "status.nodeInfo.osImage", "<unknown>");
}

static json_t *node_kernel(const json_t *node, int64_t now)
{
	(void)now;
	return cell_text_or(node, "status.nodeInfo.kernelVersion", "<unknown>");
}

static json_t *node_runtime(const json_t *node, int64_t now)
{
	(void)now;
	return cell_text_or(node, "status.nodeInfo.containerRuntimeVersion", "<unknown>");
}

const struct column node_columns[NODE_COLUMNS] = {
	COLUMN_NAME,
	COLUMN("Status", "Whether the node is ready, and open to new pods.", node_status),
	COLUMN("Roles", "Roles given to the node by labels.", node_roles),
	COLUMN_AGE,
	COLUMN("Version", "Version of the node's agent.", node_version),
	COLUMN_WIDE("Internal-IP", "Address inside the cluster.", node_internal_ip),
	COLUMN_WIDE("External-IP", "Address outside the cluster.", node_external_ip),
	COLUMN_WIDE("OS-Image", "Operating system.", node_os_image),
	COLUMN_WIDE("Kernel-Version", "Release of the kernel.", node_kernel),
	COLUMN_WIDE("Container-Runtime", "Container runtime and its version.", node_runtime),
};
