// SPDX-License-Identifier: Apache-2.0
/* slices_plan.c - the newer form: slices of up to a hundred endpoints that have the same ports
 *
 * A slice's name follows from the service and its place among the others, in the form Kubernetes' random ones have.
 * So making the same slice twice is one slice, and nothing has to be remembered about those that were made before.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "control/endpoint_pod.h"
#include "control/endpoints_plan.h"

#define SLICE_MAX   100  /* Kubernetes' default for --max-endpoints-per-slice */
#define MIRROR_MAX  1000 /* of one subset; beyond that Kubernetes mirrors nothing either */
#define SUFFIX      5
#define SKIP_MIRROR "endpointslice.kubernetes.io/skip-mirror"
#define LEADER      "control-plane.alpha.kubernetes.io/leader"

/* FNV-1a */
static uint64_t hash(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return (h ^ 0xff) * 0x100000001b3u;
}

static json_t *slice_name(const json_t *service, const char *type, size_t index)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	auto_free char *place = xasprintf("%zu", index);
	char suffix[SUFFIX + 1] = "";
	uint64_t h = 0xcbf29ce484222325u;

	h = hash(h, jsonx_str_or(service, "metadata.uid", ""));
	h = hash(h, type);
	h = hash(h, place);
	for (int i = 0; i < SUFFIX; i++) {
		suffix[i] = letters[h % (sizeof(letters) - 1)];
		h /= sizeof(letters) - 1;
	}
	return jsonx_stringf("%s-%s", jsonx_str_or(service, "metadata.name", ""), suffix);
}

struct maker {
	const json_t *service;
	const json_t *owner;
	const char *owner_kind, *manager;
	json_t *labels;
	json_t *slices;
};

static void add_slice(struct maker *m, const char *type, const json_t *ports, json_t *endpoints)
{
	const char *generate = jsonx_str_or(m->service, "metadata.name", "");
	json_t *labels = json_copy(m->labels);
	json_t *slice;

	json_object_set_new(labels, SLICE_SERVICE, json_string(generate));
	json_object_set_new(labels, SLICE_MANAGER, json_string(m->manager));
	slice = json_pack(
		"{s:s, s:s, s:{s:o, s:o, s:s, s:o, s:[{s:s, s:s, s:s, s:s, s:b, s:b}]}, s:s, s:o}", "kind",
		"EndpointSlice", "apiVersion", "discovery.k8s.io/v1", "metadata", "name",
		slice_name(m->service, type, json_array_size(m->slices)), "generateName",
		jsonx_stringf("%s-", generate), "namespace", jsonx_str_or(m->service, "metadata.namespace", ""),
		"labels", labels, "ownerReferences", "apiVersion", "v1", "kind", m->owner_kind, "name",
		jsonx_str_or(m->owner, "metadata.name", ""), "uid", jsonx_str_or(m->owner, "metadata.uid", ""),
		"controller", 1, "blockOwnerDeletion", 1, "addressType", type, "endpoints", endpoints);
	if (json_array_size(ports))
		json_object_set(slice, "ports", (json_t *)ports);
	json_array_append_new(m->slices, slice);
}

/* Endpoints in pieces that fit a slice; takes none of the references. */
static void add_slices(struct maker *m, const char *type, const json_t *ports, const json_t *endpoints)
{
	size_t n = json_array_size(endpoints);

	for (size_t start = 0; start < n; start += SLICE_MAX) {
		json_t *piece = json_array();

		for (size_t i = start; i < n && i < start + SLICE_MAX; i++)
			json_array_append(piece, json_array_get(endpoints, i));
		add_slice(m, type, ports, piece);
	}
}

static json_t *endpoint_of(const json_t *service, const json_t *pod)
{
	bool all = jsonx_bool_or(service, "spec.publishNotReadyAddresses", false);
	bool serving = endpoint_pod_ready(pod);
	bool ending = endpoint_pod_ending(pod);
	const char *hostname = endpoint_pod_hostname(service, pod);
	const char *node = jsonx_str_or(pod, "spec.nodeName", "");
	json_t *endpoint =
		json_pack("{s:[s], s:{s:b, s:b, s:b}, s:o}", "addresses", jsonx_str_or(pod, "status.podIP", ""),
			  "conditions", "ready", all || (serving && !ending), "serving", serving, "terminating", ending,
			  "targetRef", endpoint_pod_target(pod));

	if (hostname)
		json_object_set_new(endpoint, "hostname", json_string(hostname));
	if (*node)
		json_object_set_new(endpoint, "nodeName", json_string(node));
	return endpoint;
}

json_t *slices_plan(const json_t *service, const json_t *pods)
{
	json_auto_t *groups = endpoints_group(service, pods, true);
	json_auto_t *labels = endpoints_labels(service);
	struct maker m = { .service = service,
			   .owner = service,
			   .owner_kind = "Service",
			   .manager = SLICE_MANAGER_PODS,
			   .labels = labels,
			   .slices = json_array() };
	json_t *group;
	size_t i;

	json_array_foreach (groups, i, group) {
		json_auto_t *sorted = json_copy(json_object_get(group, "pods"));
		json_auto_t *endpoints = json_array();
		json_t *pod;
		size_t k;

		endpoints_sort(sorted, "status.podIP");
		json_array_foreach (sorted, k, pod)
			json_array_append_new(endpoints, endpoint_of(service, pod));
		add_slices(&m, "IPv4", json_object_get(group, "ports"), endpoints);
	}
	/* An empty one says that somebody has looked. */
	if (!json_array_size(groups))
		add_slice(&m, "IPv4", NULL, json_array());
	return m.slices;
}

/* --- Endpoints that somebody else keeps --- */

static void mirror_addresses(const json_t *addresses, bool ready, bool v6, json_t *endpoints)
{
	static const char *const kept[] = { "hostname", "nodeName", "targetRef" };
	const json_t *a;
	size_t i;

	json_array_foreach (addresses, i, a) {
		const char *ip = jsonx_str_or(a, "ip", "");
		json_t *endpoint;

		if ((strchr(ip, ':') != NULL) != v6)
			continue;
		endpoint = json_pack("{s:[s], s:{s:b}}", "addresses", ip, "conditions", "ready", ready);
		for (size_t k = 0; k < ARRAY_SIZE(kept); k++) {
			json_t *v = json_object_get(a, kept[k]);

			if (v)
				json_object_set(endpoint, kept[k], v);
		}
		json_array_append_new(endpoints, endpoint);
	}
}

static json_t *mirror_ports(const json_t *ports)
{
	json_t *copy = jsonx_copy(ports);
	json_t *p;
	size_t i;

	json_array_foreach (copy, i, p) {
		if (!json_object_get(p, "name"))
			json_object_set_new(p, "name", json_string(""));
		if (!json_object_get(p, "protocol"))
			json_object_set_new(p, "protocol", json_string("TCP"));
	}
	return copy;
}

static void mirror_subset(struct maker *m, const json_t *subset)
{
	static const char *const types[] = { "IPv4", "IPv6" };
	json_auto_t *ports = mirror_ports(json_object_get(subset, "ports"));

	for (size_t v6 = 0; v6 < ARRAY_SIZE(types); v6++) {
		json_auto_t *endpoints = json_array();

		mirror_addresses(json_object_get(subset, "addresses"), true, v6, endpoints);
		mirror_addresses(json_object_get(subset, "notReadyAddresses"), false, v6, endpoints);
		while (json_array_size(endpoints) > MIRROR_MAX)
			json_array_remove(endpoints, MIRROR_MAX);
		add_slices(m, types[v6], ports, endpoints);
	}
}

json_t *slices_mirror(const json_t *service, const json_t *endpoints)
{
	const json_t *own = jsonx_at(endpoints, "metadata.labels");
	json_auto_t *labels = own ? json_copy((json_t *)own) : json_object();
	struct maker m = { .service = service,
			   .owner = endpoints,
			   .owner_kind = "Endpoints",
			   .manager = SLICE_MANAGER_MIRROR,
			   .labels = labels,
			   .slices = json_array() };
	const json_t *subset;
	size_t i;

	if (str_same(json_string_value(json_object_get(labels, SKIP_MIRROR)), "true") ||
	    json_object_get(jsonx_at(endpoints, "metadata.annotations"), LEADER) ||
	    json_object_size(jsonx_at(service, "spec.selector")))
		return m.slices;
	json_array_foreach (json_object_get(endpoints, "subsets"), i, subset)
		mirror_subset(&m, subset);
	return m.slices;
}
