// SPDX-License-Identifier: Apache-2.0
/* shape.c - what a pod asks for: resources, ports, cards, and which nodes it wants
 *
 * kinds/resource_list.c knows how containers add up; here sums become numbers.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/placement.h"
#include "kinds/quantity.h"
#include "kinds/resource_list.h"
#include "sched/parts.h"
#include "sched/pod_work.h"

#define AMOUNT_MAX ((int64_t)1 << 52)
#define MODEL      "stoker.dev/gpu-model"
#define LEAST      "stoker.dev/gpu-min-memory"

int64_t amounts_get(const struct amounts *a, size_t resource)
{
	return resource < a->n ? a->v[resource] : 0;
}

int64_t *amounts_at(struct amounts *a, size_t resource)
{
	if (resource >= a->n) {
		a->v = xreallocarray(a->v, resource + 1, sizeof(*a->v));
		while (a->n <= resource)
			a->v[a->n++] = 0;
	}
	return &a->v[resource];
}

/* Requests come from outside, and no node has this much of anything. */
static int64_t clamp(int64_t n)
{
	return n < 0 ? 0 : n > AMOUNT_MAX ? AMOUNT_MAX : n;
}

void resource_names_init(struct resource_names *r)
{
	static const char *const fixed[RESOURCE__COUNT] = {
		[RESOURCE_CPU] = "cpu",
		[RESOURCE_MEMORY] = "memory",
		[RESOURCE_STORAGE] = "ephemeral-storage",
		[RESOURCE_PODS] = "pods",
		[RESOURCE_GPU] = "nvidia.com/gpu",
		[RESOURCE_GPU_MEMORY] = RESOURCE_NAME_GPU_MEMORY,
		[RESOURCE_NODE] = "stoker.dev/node",
	};

	*r = (struct resource_names){ 0 };
	map_init(&r->numbers, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		resource_number(r, fixed[i]);
}

void resource_names_done(struct resource_names *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->names[i]);
	free(r->names);
	map_done(&r->numbers);
}

size_t resource_number(struct resource_names *r, const char *name)
{
	uintptr_t found;

	name = resource_name(name);
	found = (uintptr_t)map_find(&r->numbers, name);
	if (found)
		return found - 1;
	ARRAY_PUSH(r->names, r->n, r->cap, xstrdup(name));
	map_set(&r->numbers, name, (void *)(uintptr_t)r->n);
	return r->n - 1;
}

static int64_t amount_of(const char *name, const struct quantity *q)
{
	return clamp(streq(name, "cpu") ? quantity_milli(q) : quantity_value(q));
}

static void amounts_take(struct resource_names *r, struct resource_list *list, struct amounts *ret)
{
	for (size_t i = 0; i < list->n; i++)
		*amounts_at(ret, resource_number(r, list->items[i].name)) =
			amount_of(list->items[i].name, &list->items[i].amount);
	resource_list_done(list);
}

void amounts_read(struct resource_names *r, const json_t *quantities, struct amounts *ret)
{
	struct resource_list list = { 0 };

	resource_list_read(&list, quantities);
	amounts_take(r, &list, ret);
}

/* What a DaemonSet has on every node is part of the node, and in nobody's way. */
static bool is_daemon(const json_t *pod)
{
	return streq(jsonx_str_or(pod_controller(pod), "kind", ""), "DaemonSet");
}

static int64_t parts_of_node(const json_t *pod)
{
	if (is_daemon(pod))
		return 0;
	return streq(work_note(pod, EXCLUSIVE_ANNOTATION), "true") ? NODE_WHOLE : 1;
}

/* Limits count where there is no request. */
static void read_wants(struct resource_names *r, const json_t *pod, struct amounts *ret)
{
	const json_t *spec = json_object_get(pod, "spec");
	struct resource_list requests = { 0 };
	struct resource_list limits = { 0 };

	pod_resources(spec, "limits", true, &limits);
	pod_resources(spec, "requests", true, &requests);
	amounts_take(r, &limits, ret);
	amounts_take(r, &requests, ret);
	*amounts_at(ret, RESOURCE_PODS) = 1;
	*amounts_at(ret, RESOURCE_NODE) = parts_of_node(pod);
}

static void read_cards(struct shape *s, const json_t *pod)
{
	const json_t *notes = jsonx_at(pod, "metadata.annotations");
	const char *model = json_string_value(json_object_get(notes, MODEL));
	const char *least = json_string_value(json_object_get(notes, LEAST));
	int64_t part = gpu_memory_mib(amounts_get(&s->wants, RESOURCE_GPU_MEMORY));
	struct quantity q;

	s->cards.whole = amounts_get(&s->wants, RESOURCE_GPU);
	if (part)
		*amounts_at(&s->wants, RESOURCE_GPU_MEMORY) = s->cards.part_mib = part;
	if (!s->cards.whole && !part)
		return;
	if (model && *model)
		s->cards.model = xstrdup(model);
	if (least && quantity_parse(least, &q))
		s->cards.least_mib = gpu_memory_mib(clamp(quantity_value(&q)));
}

static void read_ports(struct shape *s, const json_t *spec)
{
	const json_t *c;
	const json_t *p;
	size_t i;
	size_t k;

	json_array_foreach (json_object_get(spec, "containers"), i, c) {
		json_array_foreach (json_object_get(c, "ports"), k, p) {
			struct host_port port = { .port = (int)jsonx_int_or(p, "hostPort", 0) };
			const char *ip = jsonx_str_or(p, "hostIP", "");

			if (!port.port)
				continue;
			port.ip = xstrdup(streq(ip, "0.0.0.0") ? "" : ip);
			port.protocol = xstrdup(jsonx_str_or(p, "protocol", "TCP"));
			ARRAY_PUSH(s->ports, s->nports, s->cap_ports, port);
		}
	}
}

bool host_port_collides(const struct host_port *a, const struct host_port *b)
{
	return a->port == b->port && streq(a->protocol, b->protocol) && (!*a->ip || !*b->ip || streq(a->ip, b->ip));
}

static void add_part(struct sbuf *out, const json_t *part)
{
	if (part)
		jsonx_dump(part, out);
	sbuf_addc(out, '\n');
}

static const json_t *preferred_node_terms(const json_t *spec)
{
	return jsonx_at(spec, "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution");
}

bool pod_has_near_rules(const json_t *spec)
{
	return jsonx_at(spec, "affinity.podAffinity") || jsonx_at(spec, "affinity.podAntiAffinity") ||
	       json_array_size(json_object_get(spec, "topologySpreadConstraints")) > 0;
}

void shape_text(const json_t *pod, struct sbuf *out)
{
	static const char *const lists[] = { "containers", "initContainers" };
	const json_t *notes = jsonx_at(pod, "metadata.annotations");
	const json_t *spec = json_object_get(pod, "spec");
	const json_t *c;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		json_array_foreach (json_object_get(spec, lists[k]), i, c) {
			add_part(out, json_object_get(c, "resources"));
			add_part(out, json_object_get(c, "ports"));
			add_part(out, json_object_get(c, "restartPolicy"));
		}
		sbuf_addc(out, '\n');
	}
	add_part(out, json_object_get(spec, "resources"));
	add_part(out, json_object_get(spec, "overhead"));
	add_part(out, json_object_get(spec, "nodeSelector"));
	add_part(out, required_node_terms(spec));
	add_part(out, preferred_node_terms(spec));
	add_part(out, json_object_get(spec, "tolerations"));
	add_part(out, json_object_get(notes, MODEL));
	add_part(out, json_object_get(notes, LEAST));
	sbuf_addf(out, "%lld\n", (long long)parts_of_node(pod));
	if (!pod_has_near_rules(spec))
		return;
	add_part(out, jsonx_at(pod, "metadata.namespace"));
	add_part(out, jsonx_at(pod, "metadata.labels"));
	add_part(out, jsonx_at(spec, "affinity.podAffinity"));
	add_part(out, jsonx_at(spec, "affinity.podAntiAffinity"));
	add_part(out, json_object_get(spec, "topologySpreadConstraints"));
}

struct shape *shape_new(struct resource_names *r, const json_t *pod, const char *text)
{
	const json_t *spec = json_object_get(pod, "spec");
	struct shape *s = xcalloc(1, sizeof(*s));

	s->text = xstrdup(text);
	s->selector = json_incref(json_object_get(spec, "nodeSelector"));
	s->terms = json_incref((json_t *)required_node_terms(spec));
	s->tolerations = json_incref(json_object_get(spec, "tolerations"));
	s->preferred = json_incref((json_t *)preferred_node_terms(spec));
	s->core = s;
	read_wants(r, pod, &s->wants);
	read_cards(s, pod);
	read_ports(s, spec);
	return s;
}

void shape_free(struct shape *s)
{
	for (size_t i = 0; i < s->nports; i++) {
		free(s->ports[i].ip);
		free(s->ports[i].protocol);
	}
	free(s->ports);
	free(s->wants.v);
	free(s->text);
	free(s->why);
	free(s->impossible);
	free((char *)s->cards.model);
	json_decref(s->preferred);
	json_decref(s->selector);
	json_decref(s->terms);
	json_decref(s->tolerations);
	free(s);
}
