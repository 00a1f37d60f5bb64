// SPDX-License-Identifier: Apache-2.0
/* pod_downward.c - the pod as fieldRef and resourceFieldRef see it
 *
 * Addresses are there before the API has been told of them.  A container without a limit of processors, memory or disk
 * has the node as its limit, as in Kubernetes.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/node_object.h"
#include "node/pod_parts.h"

static void add_addresses(const struct pod *p, json_t *status)
{
	if (p->parts->host_ip) {
		json_object_set_new(status, "hostIP", json_string(p->parts->host_ip));
		json_object_set_new(status, "hostIPs", json_pack("[{s:s}]", "ip", p->parts->host_ip));
	}
	if (p->ip) {
		json_object_set_new(status, "podIP", json_string(p->ip));
		json_object_set_new(status, "podIPs", json_pack("[{s:s}]", "ip", p->ip));
	}
}

static bool mentions(const json_t *v, const char *key)
{
	const char *name;
	json_t *item;
	size_t i;

	if (json_object_get(v, key))
		return true;
	json_object_foreach ((json_t *)v, name, item)
		if (mentions(item, key))
			return true;
	json_array_foreach ((json_t *)v, i, item)
		if (mentions(item, key))
			return true;
	return false;
}

static void fill_limits(json_t *containers, const json_t *allocatable)
{
	static const char *const names[] = { "cpu", "memory", "ephemeral-storage" };
	json_t *c;
	size_t i;

	json_array_foreach (containers, i, c) {
		json_t *resources = json_object_get(c, "resources");
		json_t *limits = json_object_get(resources, "limits");

		if (!resources)
			json_object_set_new(c, "resources", resources = json_object());
		if (!limits)
			json_object_set_new(resources, "limits", limits = json_object());
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (!json_object_get(limits, names[k]))
				json_object_set(limits, names[k], json_object_get(allocatable, names[k]));
	}
}

json_t *pod_as_seen(const struct pod *p)
{
	json_t *pod = json_copy(p->obj);
	json_t *status = json_copy(json_object_get(p->obj, "status"));
	const json_t *spec = json_object_get(p->obj, "spec");

	if (!status)
		status = json_object();
	add_addresses(p, status);
	json_object_set_new(pod, "status", status);
	if (mentions(spec, "resourceFieldRef")) {
		json_auto_t *allocatable = node_allocatable(p->parts->dir);
		json_t *copy = jsonx_copy(spec);

		fill_limits(json_object_get(copy, "containers"), allocatable);
		fill_limits(json_object_get(copy, "initContainers"), allocatable);
		json_object_set_new(pod, "spec", copy);
	}
	return pod;
}
