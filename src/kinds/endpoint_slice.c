// SPDX-License-Identifier: Apache-2.0
/* endpoint_slice.c - discovery.k8s.io/v1 EndpointSlice: addresses behind a Service */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

enum { MAX_ENDPOINTS = 1000, MAX_ADDRESSES = 100, MAX_PORTS = 100, MAX_SHOWN = 3 };

static const struct field condition_fields[] = {
	FP(1, "ready", BOOL, .doc = "Whether it takes requests."),
	FP(2, "serving", BOOL, .doc = "As ready, also while the pod ends."),
	FP(3, "terminating", BOOL, .doc = "Whether the pod is ending."),
};

static const struct message conditions =
	MESSAGE("io.k8s.api.discovery.v1.EndpointConditions", condition_fields, .doc = "How an endpoint stands.");

static const struct field zone_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the zone."),
};

static const struct message zone = MESSAGE("io.k8s.api.discovery.v1.ForZone", zone_fields, .doc = "A zone.");

static const struct field hints_fields[] = {
	FL(1, "forZones", OBJECT, .msg = &zone, .flags = FIELD_ATOMIC, .doc = "Zones that should use this endpoint."),
};

static const struct message hints =
	MESSAGE("io.k8s.api.discovery.v1.EndpointHints", hints_fields, .doc = "Who should use an endpoint.");

static const struct field endpoint_fields[] = {
	FL(1, "addresses", STRING, .flags = FIELD_REQUIRED | FIELD_SET, .doc = "Addresses; clients use the first."),
	F(2, "conditions", OBJECT, .msg = &conditions, .dflt = "{}", .doc = "How it stands."),
	FP(3, "hostname", STRING, .doc = "Its host name."),
	F(4, "targetRef", OBJECT, .msg = &core_object_reference, .doc = "The object behind it, usually a pod."),
	FM(5, "deprecatedTopology", STRING, .doc = "Where it is, in the words of v1beta1."),
	FP(6, "nodeName", STRING, .doc = "The node it is on."),
	FP(7, "zone", STRING, .doc = "The zone it is in."),
	F(8, "hints", OBJECT, .msg = &hints, .doc = "Who should use it."),
};

static void endpoint_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_max_items(json_object_get(obj, "addresses"), MAX_ADDRESSES, PATH_FIELD(at, "addresses"), e);
	rule_name(obj, "hostname", name_check_label, at, e);
}

static const struct message endpoint = MESSAGE("io.k8s.api.discovery.v1.Endpoint", endpoint_fields,
					       .doc = "One place that answers.", .validate = endpoint_validate);

static const struct field port_fields[] = {
	FP(1, "name", STRING, .dflt = "\"\"", .doc = "Name of the port, as in the Service."),
	FP(2, "protocol", STRING, .dflt = "\"TCP\"", .values = "SCTP|TCP|UDP", .doc = "Protocol."),
	FP(3, "port", INT32, .doc = "Number of the port."),
	FP(4, "appProtocol", STRING, .doc = "What is spoken there, such as http."),
};

static const struct message port =
	MESSAGE("io.k8s.api.discovery.v1.EndpointPort", port_fields, .doc = "A port.", .atomic = true);

static const struct field fields[] = {
	FIELDS_OBJECT,
	FL(2, "endpoints", OBJECT, .msg = &endpoint, .flags = FIELD_ATOMIC,
	   .doc = "The places that answer; at most 1000."),
	FL(3, "ports", OBJECT, .msg = &port, .flags = FIELD_ATOMIC, .doc = "The ports they answer at."),
	F(4, "addressType", STRING, .flags = FIELD_REQUIRED, .values = "FQDN|IPv4|IPv6",
	  .doc = "What the addresses are; it cannot change."),
};

static const struct message endpoint_slice =
	MESSAGE("io.k8s.api.discovery.v1.EndpointSlice", fields, .doc = "Some of the addresses behind a Service.");

static void check_ports(const json_t *ports, struct err *e)
{
	const struct path at = { .name = "ports" };
	json_auto_t *seen = json_object();
	json_t *p;
	size_t i;

	rule_max_items(ports, MAX_PORTS, &at, e);
	json_array_foreach (ports, i, p) {
		const char *name = jsonx_str_or(p, "name", "");

		if (json_object_get(seen, name))
			path_duplicate(PATH_FIELD(PATH_INDEX(&at, i), "name"), e, json_object_get(p, "name"));
		json_object_set_new(seen, name, json_true());
	}
}

static void validate(const json_t *obj, struct err *e)
{
	rule_max_items(json_object_get(obj, "endpoints"), MAX_ENDPOINTS, PATH_FIELD(NULL, "endpoints"), e);
	check_ports(json_object_get(obj, "ports"), e);
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "addressType", e);
}

CELL_STR(cell_type, "addressType", "")

/* The first few of a list of texts, and how many more there are. */
static json_t *first_few(json_t *texts)
{
	size_t n = json_array_size(texts);
	json_t *cell;

	while (json_array_size(texts) > MAX_SHOWN)
		json_array_remove(texts, MAX_SHOWN);
	cell = cell_join(texts, ",", "<unset>");
	if (n > MAX_SHOWN) {
		json_t *more = jsonx_stringf("%s + %zu more...", json_string_value(cell), n - MAX_SHOWN);

		json_decref(cell);
		cell = more;
	}
	return cell;
}

static json_t *cell_ports(const json_t *obj, int64_t now)
{
	json_auto_t *texts = json_array();
	json_t *p;
	size_t i;

	(void)now;
	json_array_foreach (json_object_get(obj, "ports"), i, p) {
		const json_t *number = json_object_get(p, "port");

		json_array_append_new(texts, number ? jsonx_stringf("%lld", (long long)json_integer_value(number))
						    : json_string(jsonx_str_or(p, "name", "*")));
	}
	return first_few(texts);
}

static json_t *cell_endpoints(const json_t *obj, int64_t now)
{
	json_auto_t *texts = json_array();
	json_t *ep, *address;
	size_t i, j;

	(void)now;
	json_array_foreach (json_object_get(obj, "endpoints"), i, ep)
		json_array_foreach (json_object_get(ep, "addresses"), j, address)
			json_array_append(texts, address);
	return first_few(texts);
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("AddressType", "What the addresses are.", cell_type),
	COLUMN("Ports", "Ports they answer at.", cell_ports),
	COLUMN("Endpoints", "The addresses.", cell_endpoints),
	COLUMN_AGE,
};

const struct kind kind_endpoint_slice = {
	.group = "discovery.k8s.io",
	.version = "v1",
	.kind = "EndpointSlice",
	.plural = "endpointslices",
	.singular = "endpointslice",
	.namespaced = true,
	.flags = KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &endpoint_slice,
	KIND_COLUMNS(columns),
	.validate = validate,
	.validate_update = validate_update,
};
