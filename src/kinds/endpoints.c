// SPDX-License-Identifier: Apache-2.0
/* endpoints.c - Endpoints: the addresses behind a service, in the older of two forms */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

#define SHOWN 3 /* addresses in a cell before " + N more..." */

static void address_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_ip(json_object_get(obj, "ip"), PATH_FIELD(at, "ip"), e);
	rule_text(json_object_get(obj, "hostname"), PATH_FIELD(at, "hostname"), e, name_check_label);
}

static const struct field endpoint_address_fields[] = {
	F(1, "ip", STRING, .flags = FIELD_REQUIRED, .doc = "The address."),
	FP(2, "targetRef", OBJECT, .msg = &core_object_reference, .doc = "What has the address, usually a pod."),
	F(3, "hostname", STRING, .doc = "Host name under which a headless service publishes the address."),
	FP(4, "nodeName", STRING, .doc = "Node on which the address is."),
};
static const struct message endpoint_address =
	MESSAGE("io.k8s.api.core.v1.EndpointAddress", endpoint_address_fields, .doc = "One address behind a service.",
		.validate = address_validate, .atomic = true);

static void endpoint_port_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_text(json_object_get(obj, "name"), PATH_FIELD(at, "name"), e, name_check_label);
	rule_port(json_object_get(obj, "port"), PATH_FIELD(at, "port"), e);
}

static const struct field endpoint_port_fields[] = {
	F(1, "name", STRING, .doc = "Name of the port, as in the service."),
	F(2, "port", INT32, .flags = FIELD_REQUIRED, .doc = "Number of the port."),
	F(3, "protocol", STRING, .dflt = "\"TCP\"", .values = "SCTP|TCP|UDP", .doc = "TCP, UDP or SCTP."),
	FP(4, "appProtocol", STRING, .doc = "What is spoken on the port."),
};
static const struct message endpoint_port =
	MESSAGE("io.k8s.api.core.v1.EndpointPort", endpoint_port_fields, .doc = "One port of the addresses.",
		.validate = endpoint_port_validate, .atomic = true);

static void subset_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *ports = json_object_get(obj, "ports");
	size_t i;
	json_t *port;

	if (!json_array_size(json_object_get(obj, "addresses")) &&
	    !json_array_size(json_object_get(obj, "notReadyAddresses")))
		path_required(at, e, "must specify `addresses` or `notReadyAddresses`");
	json_array_foreach (ports, i, port)
		if (json_array_size(ports) > 1 && !*jsonx_str_or(port, "name", ""))
			path_required(PATH_FIELD(PATH_INDEX(PATH_FIELD(at, "ports"), i), "name"), e, NULL);
}

static const struct field endpoint_subset_fields[] = {
	FL(1, "addresses", OBJECT, .msg = &endpoint_address, .doc = "Addresses that are ready."),
	FL(2, "notReadyAddresses", OBJECT, .msg = &endpoint_address, .doc = "Addresses that are not ready yet."),
	FL(3, "ports", OBJECT, .msg = &endpoint_port, .doc = "Ports of the addresses."),
};
static const struct message endpoint_subset =
	MESSAGE("io.k8s.api.core.v1.EndpointSubset", endpoint_subset_fields,
		.doc = "Addresses that have the same ports.", .validate = subset_validate);

static const struct field endpoints_fields[] = {
	FIELDS_OBJECT,
	FL(2, "subsets", OBJECT, .msg = &endpoint_subset, .doc = "Groups of addresses that have the same ports."),
};
const struct message core_endpoints = MESSAGE("io.k8s.api.core.v1.Endpoints", endpoints_fields,
					      .doc = "The addresses behind a service of the same name.");

/* "ip" or "ip:port"; IPv6 in brackets. */
static json_t *endpoint_text(const char *ip, const json_t *port)
{
	if (!port)
		return jsonx_string(ip);
	return jsonx_stringf(strchr(ip, ':') ? "[%s]:%lld" : "%s:%lld", ip, (long long)jsonx_int_or(port, "port", 0));
}

/* Adds the addresses with one port (NULL: none) while there is room, and counts them all. */
static size_t add_addresses(json_t *shown, const json_t *addresses, const json_t *port)
{
	size_t i;
	json_t *address;

	json_array_foreach (addresses, i, address)
		if (json_array_size(shown) < SHOWN)
			json_array_append_new(shown, endpoint_text(jsonx_str_or(address, "ip", ""), port));
	return json_array_size(addresses);
}

static json_t *endpoints_cell(const json_t *obj, int64_t now)
{
	json_auto_t *shown = json_array(), *text = NULL;
	size_t i, k, count = 0;
	json_t *subset, *port;

	(void)now;
	json_array_foreach (json_object_get(obj, "subsets"), i, subset) {
		const json_t *addresses = json_object_get(subset, "addresses"),
			     *ports = json_object_get(subset, "ports");

		if (!json_array_size(ports))
			count += add_addresses(shown, addresses, NULL);
		json_array_foreach (ports, k, port)
			count += add_addresses(shown, addresses, port);
	}
	text = cell_join(shown, ",", "<none>");
	if (count > SHOWN)
		return jsonx_stringf("%s + %zu more...", json_string_value(text), count - SHOWN);
	return json_incref(text);
}

static const struct column endpoints_columns[] = {
	COLUMN_NAME,
	COLUMN("Endpoints", "The first addresses that are ready.", endpoints_cell),
	COLUMN_AGE,
};

const struct kind kind_endpoints = {
	.group = "",
	.version = "v1",
	.kind = "Endpoints",
	.plural = "endpoints",
	.singular = "endpoints",
	.short_names = (const char *const[]){ "ep", NULL },
	.namespaced = true,
	.flags = KIND_CREATE_ON_UPDATE,
	.verbs = VERBS_ALL,
	.message = &core_endpoints,
	.columns = endpoints_columns,
	.ncolumns = ARRAY_SIZE(endpoints_columns),
};
