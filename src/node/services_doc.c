// SPDX-License-Identifier: Apache-2.0
/* services_doc.c - Services with their Endpoints, and namespaces with their owners */
#include "node/services_doc.h"

#include "base/jsonx.h"
#include "base/mem.h"

#define OWNER   "stoker.dev/owner"   /* an annotation: api/authn_home.c */
#define NETWORK "stoker.dev/network" /* a label: "open" lets everybody in */

static json_t *ports_of(const json_t *service)
{
	static const char *const kept[] = { "name", "port", "protocol", "nodePort" };
	json_t *ports = json_array();
	const json_t *p;
	size_t i;

	json_array_foreach (jsonx_at(service, "spec.ports"), i, p) {
		json_t *port = json_object();

		for (size_t k = 0; k < ARRAY_SIZE(kept); k++)
			if (json_object_get(p, kept[k]))
				json_object_set(port, kept[k], json_object_get(p, kept[k]));
		json_array_append_new(ports, port);
	}
	return ports;
}

/* {"<name, or empty>": number} */
static json_t *numbers_of(const json_t *subset)
{
	json_t *numbers = json_object();
	const json_t *p;
	size_t i;

	json_array_foreach (json_object_get(subset, "ports"), i, p)
		json_object_set(numbers, jsonx_str_or(p, "name", ""), json_object_get(p, "port"));
	return numbers;
}

/* `left` loses those that are here. */
static void add_addresses(json_t *endpoints, const json_t *addresses, bool ready, json_t *numbers,
			  const json_t *starting, json_t *left)
{
	const json_t *a;
	size_t i;

	json_array_foreach (addresses, i, a) {
		const char *ip = jsonx_str_or(a, "ip", "");
		json_t *hostname = json_object_get(a, "hostname");
		json_t *endpoint = json_pack("{s:s, s:b, s:O}", "ip", ip, "ready",
					     ready || json_object_get(starting, ip), "ports", numbers);

		if (hostname)
			json_object_set(endpoint, "hostname", hostname);
		json_array_append_new(endpoints, endpoint);
		json_object_del(left, ip);
	}
}

static json_t *endpoints_of(const json_t *object, const json_t *starting)
{
	json_auto_t *left = starting ? json_copy((json_t *)starting) : json_object();
	json_t *endpoints = json_array();
	const json_t *subset;
	const char *ip;
	json_t *hostname;
	size_t i;

	json_array_foreach (json_object_get(object, "subsets"), i, subset) {
		json_auto_t *numbers = numbers_of(subset);

		add_addresses(endpoints, json_object_get(subset, "addresses"), true, numbers, starting, left);
		add_addresses(endpoints, json_object_get(subset, "notReadyAddresses"), false, numbers, starting, left);
	}
	json_object_foreach (left, ip, hostname)
		json_array_append_new(endpoints,
				      json_pack("{s:s, s:O, s:b}", "ip", ip, "hostname", hostname, "ready", 1));
	return endpoints;
}

json_t *service_doc(const json_t *service, const json_t *endpoints, const json_t *starting)
{
	static const char *const kept[] = {
		"clusterIP",   "type", "sessionAffinity", "sessionAffinityConfig", "publishNotReadyAddresses",
		"externalName"
	};
	const json_t *spec = json_object_get(service, "spec");
	json_t *doc = json_pack("{s:s, s:s, s:o, s:o}", "name", jsonx_str_or(service, "metadata.name", ""), "namespace",
				jsonx_str_or(service, "metadata.namespace", ""), "ports", ports_of(service),
				"endpoints", endpoints_of(endpoints, starting));

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (json_object_get(spec, kept[i]))
			json_object_set(doc, kept[i], json_object_get(spec, kept[i]));
	return doc;
}

static bool selects(const json_t *service, const json_t *pod)
{
	json_t *selector = jsonx_at(service, "spec.selector");
	const json_t *labels = jsonx_at(pod, "metadata.labels");
	const char *key;
	json_t *value;

	json_object_foreach (selector, key, value)
		if (!str_same(json_string_value(json_object_get(labels, key)), json_string_value(value)))
			return false;
	return json_object_size(selector) > 0 &&
	       str_same(jsonx_str(service, "metadata.namespace"), jsonx_str(pod, "metadata.namespace"));
}

static bool has_readiness_probe(const json_t *pod)
{
	const json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.containers"), i, c)
		if (json_object_get(c, "readinessProbe"))
			return true;
	return json_array_size(jsonx_at(pod, "spec.readinessGates")) > 0;
}

bool service_names_early(const json_t *service, const json_t *pod)
{
	return str_same(jsonx_str(service, "spec.clusterIP"), "None") && selects(service, pod) &&
	       (jsonx_bool_or(service, "spec.publishNotReadyAddresses", false) || !has_readiness_probe(pod));
}

const char *namespace_group(const json_t *ns)
{
	const char *network = json_string_value(json_object_get(jsonx_at(ns, "metadata.labels"), NETWORK));
	const char *owner = json_string_value(json_object_get(jsonx_at(ns, "metadata.annotations"), OWNER));

	return str_same(network, "open") || !owner ? "" : owner;
}
