// SPDX-License-Identifier: Apache-2.0
/* service.c - Service: one address and name for many pods
 *
 * Cluster addresses and node ports are handed out by the API; here are the form they must have and what an update may
 * leave out.  service_columns.c has the table.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"
#include "kinds/service_columns.h"

#define NODE_PORT_MIN 30000
#define NODE_PORT_MAX 32767

static const struct field port_status_fields[] = {
	F(1, "port", INT32, .doc = "Number of the port."),
	F(2, "protocol", STRING, .doc = "TCP, UDP or SCTP."),
	FP(3, "error", STRING, .doc = "Why the port is not served."),
};
static const struct message port_status =
	MESSAGE("io.k8s.api.core.v1.PortStatus", port_status_fields, .doc = "A port as the load balancer serves it.");

static const struct field load_balancer_ingress_fields[] = {
	F(1, "ip", STRING, .doc = "The address."),
	F(2, "hostname", STRING, .doc = "The name."),
	FP(3, "ipMode", STRING, .doc = "VIP or Proxy: how traffic reaches the nodes."),
	FL(4, "ports", OBJECT, .msg = &port_status, .doc = "State of each port."),
};
static const struct message load_balancer_ingress =
	MESSAGE("io.k8s.api.core.v1.LoadBalancerIngress", load_balancer_ingress_fields,
		.doc = "One address of a load balancer.");

static const struct field load_balancer_status_fields[] = {
	FL(1, "ingress", OBJECT, .msg = &load_balancer_ingress, .doc = "Its addresses."),
};
const struct message core_load_balancer_status =
	MESSAGE("io.k8s.api.core.v1.LoadBalancerStatus", load_balancer_status_fields,
		.doc = "Where a load balancer is reached.");

static const struct field service_status_fields[] = {
	F(1, "loadBalancer", OBJECT, .msg = &core_load_balancer_status, .dflt = "{}",
	  .doc = "Where its load balancer is reached."),
	FL(2, "conditions", OBJECT, .msg = &meta_condition, .merge_key = "type",
	   .doc = "Aspects of the service's state."),
};
static const struct message service_status = MESSAGE("io.k8s.api.core.v1.ServiceStatus", service_status_fields,
						     .doc = "What the cluster has made of a service.");

static const struct field client_ip_config_fields[] = {
	FP(1, "timeoutSeconds", INT32, .dflt = "10800", .doc = "Seconds; at most a day."),
};
static const struct message client_ip_config = MESSAGE("io.k8s.api.core.v1.ClientIPConfig", client_ip_config_fields,
						       .doc = "How long a client stays with a pod.");

static const struct field session_affinity_config_fields[] = {
	FP(1, "clientIP", OBJECT, .msg = &client_ip_config, .doc = "For ClientIP."),
};
static const struct message session_affinity_config =
	MESSAGE("io.k8s.api.core.v1.SessionAffinityConfig", session_affinity_config_fields,
		.doc = "Details of sessionAffinity.");

static void service_port_defaults(json_t *obj)
{
	const json_t *target = json_object_get(obj, "targetPort");

	if (!target || (json_is_integer(target) && !json_integer_value(target)) ||
	    (json_is_string(target) && !json_string_length(target))) {
		if (json_object_get(obj, "port"))
			json_object_set(obj, "targetPort", json_object_get(obj, "port"));
	}
}

static void service_port_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *node = json_object_get(obj, "nodePort");

	rule_text(json_object_get(obj, "name"), PATH_FIELD(at, "name"), e, name_check_label);
	rule_port(json_object_get(obj, "port"), PATH_FIELD(at, "port"), e);
	rule_port_or_name(json_object_get(obj, "targetPort"), PATH_FIELD(at, "targetPort"), e);
	if (json_integer_value(node) &&
	    (json_integer_value(node) < NODE_PORT_MIN || json_integer_value(node) > NODE_PORT_MAX))
		path_invalid(PATH_FIELD(at, "nodePort"), e, node,
			     "provided port is not in the valid range. The range of valid ports is %d-%d",
			     NODE_PORT_MIN, NODE_PORT_MAX);
}

static const struct field service_port_fields[] = {
	F(1, "name", STRING, .doc = "Name of the port; needed when there are several."),
	F(2, "protocol", STRING, .dflt = "\"TCP\"", .values = "SCTP|TCP|UDP", .doc = "TCP, UDP or SCTP."),
	F(3, "port", INT32, .flags = FIELD_REQUIRED, .doc = "Port of the service."),
	F(4, "targetPort", INTSTR, .doc = "Number or name of the pods' port; the same as port if absent."),
	F(5, "nodePort", INT32, .doc = "Port of every node that leads here, 30000 to 32767; picked if absent."),
	FP(6, "appProtocol", STRING, .doc = "What is spoken on the port, such as http."),
};
static const struct message service_port =
	MESSAGE("io.k8s.api.core.v1.ServicePort", service_port_fields, .doc = "One port of a service.",
		.defaults = service_port_defaults, .validate = service_port_validate);

static bool is_type(const json_t *spec, const char *type)
{
	return streq(jsonx_str_or(spec, "type", "ClusterIP"), type);
}

static void service_spec_defaults(json_t *spec)
{
	bool outside = is_type(spec, "NodePort") || is_type(spec, "LoadBalancer");

	if (streq(jsonx_str_or(spec, "sessionAffinity", ""), "ClientIP") &&
	    !jsonx_at(spec, "sessionAffinityConfig.clientIP"))
		jsonx_set_new(spec, "sessionAffinityConfig.clientIP", json_object());
	if (outside && !json_object_get(spec, "externalTrafficPolicy"))
		json_object_set_new(spec, "externalTrafficPolicy", json_string("Cluster"));
	if ((outside || is_type(spec, "ClusterIP")) && !json_object_get(spec, "internalTrafficPolicy"))
		json_object_set_new(spec, "internalTrafficPolicy", json_string("Cluster"));
	if (is_type(spec, "LoadBalancer") && !json_object_get(spec, "allocateLoadBalancerNodePorts"))
		json_object_set_new(spec, "allocateLoadBalancerNodePorts", json_true());
}

/* No two ports may be the same, nor lead to the same port of the node. */
static void ports_unique(const json_t *ports, const struct path *at, struct err *e)
{
	json_auto_t *seen = json_object();
	size_t i;
	json_t *port;

	rule_unique(ports, "name", at, e);
	json_array_foreach (ports, i, port) {
		const char *protocol = jsonx_str_or(port, "protocol", "TCP");
		int64_t node = jsonx_int_or(port, "nodePort", 0);
		json_auto_t *key = jsonx_stringf("%s/%lld", protocol, (long long)jsonx_int_or(port, "port", 0)),
			    *node_key = jsonx_stringf("node %s/%lld", protocol, (long long)node);
		json_auto_t *shown =
			json_pack("{s:O?, s:s}", "port", json_object_get(port, "port"), "protocol", protocol);

		if (json_object_get(seen, json_string_value(key)))
			path_duplicate(PATH_INDEX(at, i), e, shown);
		if (node && json_object_get(seen, json_string_value(node_key)))
			path_duplicate(PATH_FIELD(PATH_INDEX(at, i), "nodePort"), e, json_object_get(port, "nodePort"));
		json_object_set_new(seen, json_string_value(key), json_true());
		json_object_set_new(seen, json_string_value(node_key), json_true());
	}
}

static void ports_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *ports = json_object_get(spec, "ports");
	const struct path *here = PATH_FIELD(at, "ports");
	size_t i;
	json_t *port;

	if (!json_array_size(ports) && !is_type(spec, "ExternalName") &&
	    !streq(jsonx_str_or(spec, "clusterIP", ""), "None"))
		path_required(here, e, NULL);
	json_array_foreach (ports, i, port) {
		if (json_array_size(ports) > 1 && !*jsonx_str_or(port, "name", ""))
			path_required(PATH_FIELD(PATH_INDEX(here, i), "name"), e, NULL);
		if (is_type(spec, "ClusterIP") && jsonx_int_or(port, "nodePort", 0))
			path_forbidden(PATH_FIELD(PATH_INDEX(here, i), "nodePort"), e,
				       "may not be used when `type` is 'ClusterIP'");
	}
	ports_unique(ports, here, e);
}

static void cluster_ip_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *ip = json_object_get(spec, "clusterIP");
	const json_t *all = json_object_get(spec, "clusterIPs");
	const char *text = jsonx_str_or(spec, "clusterIP", "");

	if (is_type(spec, "ExternalName")) {
		if (*text)
			path_forbidden(PATH_FIELD(at, "clusterIP"), e, "may not be set for ExternalName services");
	} else if (streq(text, "None")) {
		if (!is_type(spec, "ClusterIP"))
			path_invalid(PATH_INDEX(PATH_FIELD(at, "clusterIPs"), 0), e, ip,
				     "may not be set to 'None' for %s services", jsonx_str_or(spec, "type", ""));
	} else {
		rule_ip(ip, PATH_FIELD(at, "clusterIP"), e);
	}
	if (json_array_size(all) && !str_same(json_string_value(json_array_get(all, 0)), text))
		path_invalid(PATH_FIELD(at, "clusterIPs"), e, all, "first value must match `clusterIP`");
}

static void service_spec_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *name = json_object_get(spec, "externalName");
	size_t i;
	json_t *item;

	ports_validate(spec, at, e);
	cluster_ip_validate(spec, at, e);
	if (is_type(spec, "ExternalName")) {
		if (!json_string_length(name))
			path_required(PATH_FIELD(at, "externalName"), e, NULL);
		rule_text(name, PATH_FIELD(at, "externalName"), e, name_check_subdomain);
	}
	rule_labels(json_object_get(spec, "selector"), PATH_FIELD(at, "selector"), e);
	json_array_foreach (json_object_get(spec, "externalIPs"), i, item)
		rule_ip(item, PATH_INDEX(PATH_FIELD(at, "externalIPs"), i), e);
	json_array_foreach (json_object_get(spec, "loadBalancerSourceRanges"), i, item)
		rule_cidr(item, PATH_INDEX(PATH_FIELD(at, "loadBalancerSourceRanges"), i), e);
	rule_range(jsonx_at(spec, "sessionAffinityConfig.clientIP.timeoutSeconds"), 1, 86400,
		   PATH_FIELD(PATH_FIELD(PATH_FIELD(at, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds"), e);
}

static const struct field service_spec_fields[] = {
	FL(1, "ports", OBJECT, .msg = &service_port, .merge_key = "port", .list_keys = "port,protocol",
	   .doc = "Ports of the service."),
	FM(2, "selector", STRING, .flags = FIELD_ATOMIC,
	   .doc = "Labels of the pods behind the service; without it endpoints are made by hand."),
	F(3, "clusterIP", STRING,
	  .doc = "Address of the service; None for no address, where the name leads to the pods themselves."),
	F(4, "type", STRING, .dflt = "\"ClusterIP\"", .values = "ClusterIP|ExternalName|LoadBalancer|NodePort",
	  .doc = "ClusterIP, NodePort, LoadBalancer or ExternalName."),
	FL(5, "externalIPs", STRING, .doc = "Further addresses of nodes that lead here."),
	F(7, "sessionAffinity", STRING, .dflt = "\"None\"", .values = "ClientIP|None",
	  .doc = "ClientIP keeps a client with one pod; else None."),
	F(8, "loadBalancerIP", STRING, .doc = "Address that is asked of the load balancer."),
	FL(9, "loadBalancerSourceRanges", STRING, .doc = "Networks that the load balancer lets in."),
	F(10, "externalName", STRING, .doc = "Name to which an ExternalName service leads."),
	F(11, "externalTrafficPolicy", STRING, .values = "Cluster|Local",
	  .doc = "Local sends traffic from outside only to pods of the same node."),
	F(12, "healthCheckNodePort", INT32, .doc = "Port on which a load balancer asks for a node's health."),
	F(13, "publishNotReadyAddresses", BOOL, .doc = "Whether pods that are not ready are published too."),
	FP(14, "sessionAffinityConfig", OBJECT, .msg = &session_affinity_config, .doc = "Details of sessionAffinity."),
	FP(17, "ipFamilyPolicy", STRING, .values = "PreferDualStack|RequireDualStack|SingleStack",
	   .doc = "SingleStack, PreferDualStack or RequireDualStack."),
	FL(18, "clusterIPs", STRING, .doc = "Addresses of the service, one a family."),
	FL(19, "ipFamilies", STRING, .values = "IPv4|IPv6", .doc = "IPv4 and IPv6, in the order of clusterIPs."),
	FP(20, "allocateLoadBalancerNodePorts", BOOL, .doc = "Whether a LoadBalancer service also gets node ports."),
	FP(21, "loadBalancerClass", STRING, .doc = "Which load balancer serves it."),
	FP(22, "internalTrafficPolicy", STRING, .values = "Cluster|Local",
	   .doc = "Local sends traffic from inside only to pods of the same node."),
	FP(23, "trafficDistribution", STRING,
	   .doc = "A wish about which endpoints are preferred, such as PreferClose."),
};
static const struct message service_spec =
	MESSAGE("io.k8s.api.core.v1.ServiceSpec", service_spec_fields, .doc = "What a service shall be.",
		.defaults = service_spec_defaults, .validate = service_spec_validate);

static const struct field service_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &service_spec, .dflt = "{}", .doc = "What the service shall be."),
	F(3, "status", OBJECT, .msg = &service_status, .doc = "What the cluster has made of it."),
};
const struct message core_service =
	MESSAGE("io.k8s.api.core.v1.Service", service_fields, .doc = "One address and name for many pods.");

/* The first address is written twice, for clients that know only one of the two fields. */
static void pair_addresses(json_t *spec)
{
	json_t *one = json_object_get(spec, "clusterIP");
	json_t *all = json_object_get(spec, "clusterIPs");

	if (json_string_length(one) && !json_array_size(all))
		json_object_set_new(spec, "clusterIPs", json_pack("[O]", one));
	else if (json_array_size(all) && !json_string_length(one))
		json_object_set(spec, "clusterIP", json_array_get(all, 0));
}

static void default_families(json_t *spec)
{
	if (!json_object_get(spec, "ipFamilies"))
		json_object_set_new(spec, "ipFamilies", json_pack("[s]", "IPv4"));
	if (!json_object_get(spec, "ipFamilyPolicy"))
		json_object_set_new(spec, "ipFamilyPolicy", json_string("SingleStack"));
}

static void service_prepare_create(json_t *obj)
{
	json_t *spec = json_object_get(obj, "spec");

	json_object_set_new(obj, "status", json_pack("{s:{}}", "loadBalancer"));
	if (!json_is_object(spec) || is_type(spec, "ExternalName"))
		return;
	pair_addresses(spec);
	default_families(spec);
}

static const json_t *same_port(const json_t *ports, const json_t *port)
{
	size_t i;
	json_t *other;

	json_array_foreach (ports, i, other)
		if (jsonx_int_or(other, "port", 0) == jsonx_int_or(port, "port", 0) &&
		    streq(jsonx_str_or(other, "protocol", "TCP"), jsonx_str_or(port, "protocol", "TCP")))
			return other;
	return NULL;
}

static void keep_node_ports(json_t *ports, const json_t *old_ports)
{
	size_t i;
	json_t *port;

	json_array_foreach (ports, i, port) {
		json_t *node = json_object_get(same_port(old_ports, port), "nodePort");

		if (node && !jsonx_int_or(port, "nodePort", 0))
			json_object_set(port, "nodePort", node);
	}
}

static bool has_node_ports(const json_t *spec)
{
	return is_type(spec, "NodePort") ||
	       (is_type(spec, "LoadBalancer") && jsonx_bool_or(spec, "allocateLoadBalancerNodePorts", true));
}

static bool has_cluster_ip(const json_t *spec)
{
	return !is_type(spec, "ExternalName");
}

static bool is_balanced(const json_t *spec)
{
	return is_type(spec, "LoadBalancer");
}

static bool is_outside(const json_t *spec)
{
	return is_type(spec, "NodePort") || is_type(spec, "LoadBalancer");
}

static bool has_health_port(const json_t *spec)
{
	return is_type(spec, "LoadBalancer") && streq(jsonx_str_or(spec, "externalTrafficPolicy", ""), "Local");
}

/* Fields that only some types have.  A change of type takes along what the client has not touched: it may not know. */
static void drop_of_old_type(json_t *spec, const json_t *old)
{
	static const struct {
		bool (*needs)(const json_t *spec);
		const char *field;
	} rows[] = {
		{ has_cluster_ip, "clusterIP" },
		{ has_cluster_ip, "clusterIPs" },
		{ has_cluster_ip, "ipFamilies" },
		{ has_cluster_ip, "ipFamilyPolicy" },
		{ has_cluster_ip, "internalTrafficPolicy" },
		{ has_health_port, "healthCheckNodePort" }, /* goes by the next one */
		{ is_outside, "externalTrafficPolicy" },
		{ is_balanced, "allocateLoadBalancerNodePorts" },
		{ is_balanced, "loadBalancerClass" },
	};
	json_t *port;
	size_t i;

	json_array_foreach (json_object_get(spec, "ports"), i, port) {
		const json_t *before = same_port(json_object_get(old, "ports"), port);

		if (has_node_ports(old) && !has_node_ports(spec) &&
		    jsonx_int_or(port, "nodePort", 0) == jsonx_int_or(before, "nodePort", 0))
			json_object_del(port, "nodePort");
	}
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].needs(old) && !rows[i].needs(spec) &&
		    jsonx_equal(json_object_get(spec, rows[i].field), json_object_get(old, rows[i].field)))
			json_object_del(spec, rows[i].field);
}

/* What the server handed out stays when an update leaves it out: manifests do not know it. */
static void service_prepare_update(json_t *obj, const json_t *old_obj)
{
	static const char *const given[] = { "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy" };
	json_t *spec = json_object_get(obj, "spec");
	const json_t *old = json_object_get(old_obj, "spec");

	if (!json_is_object(spec))
		return;
	drop_of_old_type(spec, old);
	if (is_type(spec, "ExternalName"))
		return;
	for (size_t i = 0; !is_type(old, "ExternalName") && i < ARRAY_SIZE(given); i++) {
		json_t *now = json_object_get(spec, given[i]), *before = json_object_get(old, given[i]);

		if (before && (!now || (json_is_string(now) && !json_string_length(now)) ||
			       (json_is_array(now) && !json_array_size(now))))
			json_object_set_new(spec, given[i], jsonx_copy(before));
	}
	if (has_node_ports(spec) && has_node_ports(old))
		keep_node_ports(json_object_get(spec, "ports"), json_object_get(old, "ports"));
	if (has_health_port(spec) && has_health_port(old) && !jsonx_int_or(spec, "healthCheckNodePort", 0))
		json_object_set(spec, "healthCheckNodePort", json_object_get(old, "healthCheckNodePort"));
	pair_addresses(spec);
	default_families(spec);
}

static void service_validate_update(const json_t *obj, const json_t *old_obj, struct err *e)
{
	const json_t *spec = json_object_get(obj, "spec"), *old = json_object_get(old_obj, "spec");
	const json_t *before = json_object_get(old, "clusterIP");

	if (is_type(spec, "ExternalName") || is_type(old, "ExternalName") || !json_string_length(before))
		return;
	rule_immutable(json_object_get(spec, "clusterIP"), before, PATH_FIELD(PATH_FIELD(NULL, "spec"), "clusterIP"),
		       e);
}

static const struct selectable service_selectable[] = {
	{ "spec.clusterIP", "spec.clusterIP", NULL },
	{ "spec.type", "spec.type", NULL },
};

static const struct subresource service_subresources[] = {
	{ "proxy", V(CREATE) | V(DELETE) | V(GET) | V(PATCH) | V(UPDATE), NULL, NULL, "ServiceProxyOptions" },
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_service = {
	.group = "",
	.version = "v1",
	.kind = "Service",
	.plural = "services",
	.singular = "service",
	.short_names = (const char *const[]){ "svc", NULL },
	.categories = (const char *const[]){ "all", NULL },
	.namespaced = true,
	.name_rule = NAME_LABEL_1035,
	.flags = KIND_STATUS | KIND_CREATE_ON_UPDATE,
	.verbs = VERBS_ALL,
	.message = &core_service,
	.columns = service_columns,
	.ncolumns = SERVICE_COLUMNS,
	.selectable = service_selectable,
	.nselectable = ARRAY_SIZE(service_selectable),
	.subresources = service_subresources,
	.nsubresources = ARRAY_SIZE(service_subresources),
	.prepare_create = service_prepare_create,
	.prepare_update = service_prepare_update,
	.validate_update = service_validate_update,
};
