// SPDX-License-Identifier: Apache-2.0
/* endpoints_plan.c - the older form: subsets of addresses that have the same ports
 *
 * Kubernetes leaves the order to chance; here it is fixed, so that the same pods are the same object.
 */
#include "control/endpoints_plan.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "control/endpoint_pod.h"

bool service_selects(const json_t *service)
{
	return json_object_size(jsonx_at(service, "spec.selector")) > 0 &&
	       !str_same(jsonx_str(service, "spec.type"), "ExternalName");
}

bool service_selects_pod(const json_t *service, const json_t *pod)
{
	const json_t *labels = jsonx_at(pod, "metadata.labels");
	const char *key;
	json_t *value;

	if (!service_selects(service))
		return false;
	json_object_foreach (jsonx_at(service, "spec.selector"), key, value)
		if (!str_same(json_string_value(json_object_get(labels, key)), json_string_value(value)))
			return false;
	return true;
}

static bool is_headless(const json_t *service)
{
	return str_same(jsonx_str(service, "spec.clusterIP"), "None");
}

json_t *endpoints_labels(const json_t *service)
{
	const json_t *own = jsonx_at(service, "metadata.labels");
	json_t *labels = own ? json_copy((json_t *)own) : json_object();

	if (is_headless(service))
		json_object_set_new(labels, "service.kubernetes.io/headless", json_string(""));
	return labels;
}

/* --- order and equality --- */

struct keyed {
	const char *key;
	json_t *value;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

void endpoints_sort(json_t *array, const char *key)
{
	size_t n = json_array_size(array);
	auto_free struct keyed *items = xcalloc(n + 1, sizeof(*items));
	json_t *v;
	size_t i;

	json_array_foreach (array, i, v)
		items[i] = (struct keyed){ jsonx_str_or(v, key, ""), json_incref(v) };
	qsort(items, n, sizeof(*items), by_key);
	json_array_clear(array);
	for (i = 0; i < n; i++)
		json_array_append_new(array, items[i].value);
}

bool endpoints_array_same(const json_t *a, const json_t *b)
{
	if (!json_array_size(a) || !json_array_size(b))
		return json_array_size(a) == json_array_size(b);
	return jsonx_equal(a, b);
}

/* --- groups --- */

json_t *endpoints_group(const json_t *service, const json_t *pods, bool ending_too)
{
	bool portless = !json_array_size(jsonx_at(service, "spec.ports")) && is_headless(service);
	json_auto_t *by_key = json_object();
	json_t *groups = json_array();
	const json_t *pod;
	size_t i;

	json_array_foreach (pods, i, pod) {
		auto_sbuf struct sbuf key = SBUF(LIMIT_OBJECT);
		json_auto_t *ports = NULL;
		json_t *group;

		if (!endpoint_pod_counts(pod, ending_too))
			continue;
		ports = endpoint_pod_ports(service, pod);
		if (!json_array_size(ports) && !portless)
			continue;
		endpoints_sort(ports, "name");
		jsonx_dump(ports, &key);
		group = json_object_get(by_key, key.p);
		if (!group) {
			group = json_pack("{s:s, s:O, s:[]}", "key", key.p, "ports", ports, "pods");
			json_array_append_new(groups, group);
			json_object_set(by_key, key.p, group);
		}
		json_array_append(json_object_get(group, "pods"), (json_t *)pod);
	}
	endpoints_sort(groups, "key");
	return groups;
}

static json_t *address_of(const json_t *service, const json_t *pod)
{
	json_t *address = json_pack("{s:s, s:o}", "ip", jsonx_str_or(pod, "status.podIP", ""), "targetRef",
				    endpoint_pod_target(pod));
	const char *hostname = endpoint_pod_hostname(service, pod);
	const char *node = jsonx_str_or(pod, "spec.nodeName", "");

	if (hostname)
		json_object_set_new(address, "hostname", json_string(hostname));
	if (*node)
		json_object_set_new(address, "nodeName", json_string(node));
	return address;
}

/* A port without a name has none here, and "" in slices. */
static json_t *subset_ports(const json_t *ports)
{
	json_t *copy = jsonx_copy(ports);
	json_t *p;
	size_t i;

	json_array_foreach (copy, i, p)
		if (!*jsonx_str_or(p, "name", ""))
			json_object_del(p, "name");
	return copy;
}

static void put_addresses(json_t *subset, const char *name, json_t *addresses)
{
	if (json_array_size(addresses)) {
		endpoints_sort(addresses, "ip");
		json_object_set(subset, name, addresses);
	}
}

static json_t *subset_of(const json_t *service, const json_t *group)
{
	bool all = jsonx_bool_or(service, "spec.publishNotReadyAddresses", false);
	const json_t *ports = json_object_get(group, "ports");
	json_auto_t *ready = json_array();
	json_auto_t *not_ready = json_array();
	json_t *subset = json_object();
	const json_t *pod;
	size_t i;

	json_array_foreach (json_object_get(group, "pods"), i, pod)
		json_array_append_new(all || endpoint_pod_ready(pod) ? ready : not_ready, address_of(service, pod));
	put_addresses(subset, "addresses", ready);
	put_addresses(subset, "notReadyAddresses", not_ready);
	if (json_array_size(ports))
		json_object_set_new(subset, "ports", subset_ports(ports));
	return subset;
}

json_t *endpoints_plan(const json_t *service, const json_t *pods)
{
	bool all = jsonx_bool_or(service, "spec.publishNotReadyAddresses", false);
	json_auto_t *groups = endpoints_group(service, pods, all);
	json_t *subsets = json_array();
	const json_t *group;
	size_t i;

	json_array_foreach (groups, i, group)
		json_array_append_new(subsets, subset_of(service, group));
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:o}, s:o}", "kind", "Endpoints", "apiVersion", "v1", "metadata",
			 "name", jsonx_str_or(service, "metadata.name", ""), "namespace",
			 jsonx_str_or(service, "metadata.namespace", ""), "labels", endpoints_labels(service),
			 "subsets", subsets);
}

static bool labels_same(const json_t *a, const json_t *b)
{
	if (!json_object_size(a) || !json_object_size(b))
		return json_object_size(a) == json_object_size(b);
	return json_equal(a, b);
}

bool endpoints_same(const json_t *want, const json_t *have)
{
	return endpoints_array_same(json_object_get(want, "subsets"), json_object_get(have, "subsets")) &&
	       labels_same(jsonx_at(want, "metadata.labels"), jsonx_at(have, "metadata.labels"));
}

bool slice_same(const json_t *want, const json_t *have)
{
	return endpoints_array_same(json_object_get(want, "endpoints"), json_object_get(have, "endpoints")) &&
	       endpoints_array_same(json_object_get(want, "ports"), json_object_get(have, "ports")) &&
	       endpoints_array_same(jsonx_at(want, "metadata.ownerReferences"),
				    jsonx_at(have, "metadata.ownerReferences")) &&
	       labels_same(jsonx_at(want, "metadata.labels"), jsonx_at(have, "metadata.labels"));
}
