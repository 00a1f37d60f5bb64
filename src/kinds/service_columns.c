// SPDX-License-Identifier: Apache-2.0
/* service_columns.c - what `kubectl get services` shows */
#include "kinds/service_columns.h"

#include "base/jsonx.h"
#include "kinds/cells.h"

static json_t *service_type(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.type", "ClusterIP");
}

static json_t *service_cluster_ip(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "spec.clusterIP", "<none>");
}

/* Every address of the load balancer, then every external one. */
static json_t *balancer_addresses(const json_t *obj)
{
	json_auto_t *all = json_array();
	size_t i;
	json_t *item;

	json_array_foreach (jsonx_at(obj, "status.loadBalancer.ingress"), i, item) {
		const char *ip = jsonx_str_or(item, "ip", "");

		json_array_append_new(all, jsonx_string(*ip ? ip : jsonx_str_or(item, "hostname", "")));
	}
	json_array_extend(all, jsonx_at(obj, "spec.externalIPs"));
	return cell_join(all, ",", "<pending>");
}

static json_t *service_external_ip(const json_t *obj, int64_t now)
{
	const char *type = jsonx_str_or(obj, "spec.type", "ClusterIP");

	(void)now;
	if (streq(type, "LoadBalancer"))
		return balancer_addresses(obj);
	if (streq(type, "ExternalName"))
		return cell_text_or(obj, "spec.externalName", "");
	return cell_join(jsonx_at(obj, "spec.externalIPs"), ",", "<none>");
}

static json_t *service_ports(const json_t *obj, int64_t now)
{
	json_auto_t *all = json_array();
	size_t i;
	json_t *port;

	(void)now;
	json_array_foreach (jsonx_at(obj, "spec.ports"), i, port) {
		long long number = jsonx_int_or(port, "port", 0), node = jsonx_int_or(port, "nodePort", 0);
		const char *protocol = jsonx_str_or(port, "protocol", "TCP");

		json_array_append_new(all, node ? jsonx_stringf("%lld:%lld/%s", number, node, protocol)
						: jsonx_stringf("%lld/%s", number, protocol));
	}
	return cell_join(all, ",", "<none>");
}

static json_t *service_selector(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_map_selector(jsonx_at(obj, "spec.selector"));
}

const struct column service_columns[SERVICE_COLUMNS] = {
	COLUMN_NAME,
	COLUMN("Type", "How the service is reached.", service_type),
	COLUMN("Cluster-IP", "Address inside the cluster.", service_cluster_ip),
	COLUMN("External-IP", "Addresses outside the cluster.", service_external_ip),
	COLUMN("Port(s)", "Ports, with the node's port where there is one.", service_ports),
	COLUMN_AGE,
	COLUMN_WIDE("Selector", "Labels of the pods behind the service.", service_selector),
};
