// SPDX-License-Identifier: Apache-2.0
/* shape.c - what a pod asks for: resources, ports, and which nodes it wants
 *
 * Containers run together, so their requests add up.  Init containers run one after the other, so the largest counts,
 * on top of those that go on running beside the others (restartPolicy Always).
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/placement.h"
#include "kinds/quantity.h"
#include "sched/parts.h"

#define GPU        "nvidia.com/gpu"
#define AMOUNT_MAX ((int64_t)1 << 52)
#define OLD_GPU    "alpha.kubernetes.io/nvidia-gpu"

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

static void amounts_add(struct amounts *a, const struct amounts *b)
{
	for (size_t i = 0; i < b->n; i++)
		*amounts_at(a, i) = clamp(amounts_get(a, i) + b->v[i]);
}

static void amounts_max(struct amounts *a, const struct amounts *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i] > amounts_get(a, i))
			*amounts_at(a, i) = b->v[i];
}

void resource_names_init(struct resource_names *r)
{
	static const char *const fixed[RESOURCE__COUNT] = {
		[RESOURCE_CPU] = "cpu",
		[RESOURCE_MEMORY] = "memory",
		[RESOURCE_STORAGE] = "ephemeral-storage",
		[RESOURCE_PODS] = "pods",
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

	if (streq(name, OLD_GPU))
		name = GPU;
	found = (uintptr_t)map_find(&r->numbers, name);
	if (found)
		return found - 1;
	ARRAY_PUSH(r->names, r->n, r->cap, xstrdup(name));
	map_set(&r->numbers, name, (void *)(uintptr_t)r->n);
	return r->n - 1;
}

void amounts_read(struct resource_names *r, const json_t *quantities, struct amounts *ret)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)quantities, name, value) {
		auto_free char *number = json_is_number(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
		const char *text = json_is_string(value) ? json_string_value(value) : number;
		struct quantity q;
		int64_t *at;
		int64_t n;

		if (!text || !quantity_parse(text, &q))
			continue;
		n = clamp(streq(name, "cpu") ? quantity_milli(&q) : quantity_value(&q));
		at = amounts_at(ret, resource_number(r, name));
		if (n > *at)
			*at = n;
	}
}

/* Limits count where there is no request. */
static void read_container(struct resource_names *r, const json_t *container, struct amounts *ret)
{
	const json_t *requests = jsonx_at(container, "resources.requests");
	const json_t *limits = jsonx_at(container, "resources.limits");
	json_auto_t *both = limits ? json_copy((json_t *)limits) : json_object();

	json_object_update(both, (json_t *)requests);
	amounts_read(r, both, ret);
}

static void read_containers(struct resource_names *r, const json_t *containers, struct amounts *sum)
{
	const json_t *c;
	size_t i;

	json_array_foreach (containers, i, c) {
		struct amounts one = { 0 };

		read_container(r, c, &one);
		amounts_add(sum, &one);
		free(one.v);
	}
}

/* Adds those that stay to *sum; *peak is the most that any moment of the start needs. */
static void read_init_containers(struct resource_names *r, const json_t *containers, struct amounts *sum,
				 struct amounts *peak)
{
	struct amounts beside = { 0 };
	const json_t *c;
	size_t i;

	json_array_foreach (containers, i, c) {
		struct amounts one = { 0 };

		read_container(r, c, &one);
		if (streq(jsonx_str_or(c, "restartPolicy", ""), "Always")) {
			amounts_add(sum, &one);
			amounts_add(&beside, &one);
			amounts_max(peak, &beside);
		} else {
			amounts_add(&one, &beside);
			amounts_max(peak, &one);
		}
		free(one.v);
	}
	free(beside.v);
}

static void read_wants(struct resource_names *r, const json_t *spec, struct amounts *ret)
{
	struct amounts overhead = { 0 };
	struct amounts peak = { 0 };

	read_containers(r, json_object_get(spec, "containers"), ret);
	read_init_containers(r, json_object_get(spec, "initContainers"), ret, &peak);
	amounts_max(ret, &peak);
	amounts_read(r, json_object_get(spec, "overhead"), &overhead);
	amounts_add(ret, &overhead);
	*amounts_at(ret, RESOURCE_PODS) = 1;
	free(overhead.v);
	free(peak.v);
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

void shape_text(const json_t *pod, struct sbuf *out)
{
	static const char *const lists[] = { "containers", "initContainers" };
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
	add_part(out, json_object_get(spec, "overhead"));
	add_part(out, json_object_get(spec, "nodeSelector"));
	add_part(out, required_node_terms(spec));
	add_part(out, json_object_get(spec, "tolerations"));
}

struct shape *shape_new(struct resource_names *r, const json_t *pod, const char *text)
{
	const json_t *spec = json_object_get(pod, "spec");
	struct shape *s = xcalloc(1, sizeof(*s));

	s->text = xstrdup(text);
	s->selector = json_incref(json_object_get(spec, "nodeSelector"));
	s->terms = json_incref((json_t *)required_node_terms(spec));
	s->tolerations = json_incref(json_object_get(spec, "tolerations"));
	read_wants(r, spec, &s->wants);
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
	json_decref(s->selector);
	json_decref(s->terms);
	json_decref(s->tolerations);
	free(s);
}
