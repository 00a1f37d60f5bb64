// SPDX-License-Identifier: Apache-2.0
/* endpoint_pod.c - which pods are behind a service, and at which ports */
#include "control/endpoint_pod.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"

bool endpoint_pod_ending(const json_t *pod)
{
	return jsonx_at(pod, "metadata.deletionTimestamp") != NULL;
}

bool endpoint_pod_counts(const json_t *pod, bool ending_too)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "");

	return *jsonx_str_or(pod, "status.podIP", "") && !streq(phase, "Succeeded") && !streq(phase, "Failed") &&
	       (ending_too || !endpoint_pod_ending(pod));
}

bool endpoint_pod_ready(const json_t *pod)
{
	return condition_holds(pod, "Ready");
}

bool endpoint_pod_same(const json_t *a, const json_t *b)
{
	static const char *const texts[] = { "metadata.uid", "status.podIP" };

	if (endpoint_pod_counts(a, true) != endpoint_pod_counts(b, true))
		return false;
	if (!endpoint_pod_counts(a, true))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!str_same(jsonx_str(a, texts[i]), jsonx_str(b, texts[i])))
			return false;
	return endpoint_pod_ready(a) == endpoint_pod_ready(b) && endpoint_pod_ending(a) == endpoint_pod_ending(b) &&
	       json_equal(jsonx_at(a, "metadata.labels"), jsonx_at(b, "metadata.labels"));
}

/* The number of a container's port of this name; 0: there is none. */
static int named_port(const json_t *pod, const char *name, const char *protocol)
{
	static const char *const lists[] = { "spec.containers", "spec.initContainers" };
	const json_t *c;
	const json_t *p;
	size_t i;
	size_t k;

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		json_array_foreach (jsonx_at(pod, lists[l]), i, c)
			json_array_foreach (json_object_get(c, "ports"), k, p)
				if (str_same(jsonx_str(p, "name"), name) &&
				    streq(jsonx_str_or(p, "protocol", "TCP"), protocol))
					return (int)jsonx_int_or(p, "containerPort", 0);
	return 0;
}

static int port_number(const json_t *port, const json_t *pod)
{
	const json_t *target = json_object_get(port, "targetPort");
	const char *name = json_string_value(target);

	if (name && *name)
		return named_port(pod, name, jsonx_str_or(port, "protocol", "TCP"));
	return json_integer_value(target) ? (int)json_integer_value(target) : (int)jsonx_int_or(port, "port", 0);
}

json_t *endpoint_pod_ports(const json_t *service, const json_t *pod)
{
	json_t *ports = json_array();
	const json_t *p;
	size_t i;

	json_array_foreach (jsonx_at(service, "spec.ports"), i, p) {
		int number = port_number(p, pod);
		json_t *app = json_object_get(p, "appProtocol");
		json_t *port;

		if (!number)
			continue;
		port = json_pack("{s:s, s:i, s:s}", "name", jsonx_str_or(p, "name", ""), "port", number, "protocol",
				 jsonx_str_or(p, "protocol", "TCP"));
		if (app)
			json_object_set(port, "appProtocol", app);
		json_array_append_new(ports, port);
	}
	return ports;
}

const char *endpoint_pod_hostname(const json_t *service, const json_t *pod)
{
	const char *hostname = jsonx_str_or(pod, "spec.hostname", "");

	if (!*hostname || !str_same(jsonx_str(pod, "spec.subdomain"), jsonx_str(service, "metadata.name")))
		return NULL;
	return hostname;
}

json_t *endpoint_pod_target(const json_t *pod)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "kind", "Pod", "namespace",
			 jsonx_str_or(pod, "metadata.namespace", ""), "name", jsonx_str_or(pod, "metadata.name", ""),
			 "uid", jsonx_str_or(pod, "metadata.uid", ""));
}
