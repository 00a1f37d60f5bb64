// SPDX-License-Identifier: Apache-2.0
/* first_fit.c - running sums of nodes, and the first node with room
 *
 * `epoch` grows whenever something may have made room: a pod went, a node came or changed.  Placing a pod only takes
 * room, so within an epoch a shape that failed stays failed, and a long queue of equal pods costs one decision.
 */
#include "sched/first_fit.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/placement.h"
#include "sched/parts.h"

#define SHAPE_TEXT_MAX LIMIT_OBJECT

struct node {
	char *name;
	json_t *seen; /* the parts of the object that matter; NULL: pods are there, but the node is not known */
	struct node_view view;
	struct amounts allocatable, used;
	const struct host_port **ports; /* in use, of the shapes that are here */
	size_t nports, cap_ports;
	size_t pods;
};

/* One pod that is counted. */
struct placed {
	struct shape *shape;
	struct node *node;
};

struct fit {
	struct resource_names names;
	struct map shapes;   /* text -> struct shape */
	struct map placed;   /* uid -> struct placed */
	struct node **nodes; /* by name */
	size_t nnodes, cap_nodes;
	uint64_t epoch;
};

struct fit *fit_new(void)
{
	struct fit *f = xcalloc(1, sizeof(*f));

	resource_names_init(&f->names);
	map_init(&f->shapes, NULL);
	map_init(&f->placed, NULL);
	f->epoch = 1;
	return f;
}

/* --- shapes --- */

struct shape *fit_shape(struct fit *f, const json_t *pod)
{
	auto_sbuf struct sbuf text = SBUF(SHAPE_TEXT_MAX);
	struct shape *s;

	shape_text(pod, &text);
	s = map_find(&f->shapes, text.p);
	if (!s) {
		s = shape_new(&f->names, pod, text.p);
		map_set(&f->shapes, text.p, s);
	}
	s->refs++;
	return s;
}

void fit_drop_shape(struct fit *f, struct shape *s)
{
	if (!s || --s->refs > 0)
		return;
	map_remove(&f->shapes, s->text);
	shape_free(s);
}

/* --- nodes --- */

/* Where a node of this name is or would be. */
static size_t node_position(const struct fit *f, const char *name)
{
	size_t low = 0;
	size_t high = f->nnodes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(f->nodes[middle]->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct node *node_find(const struct fit *f, const char *name)
{
	size_t at = node_position(f, name);

	return at < f->nnodes && streq(f->nodes[at]->name, name) ? f->nodes[at] : NULL;
}

static struct node *node_make(struct fit *f, const char *name)
{
	struct node *n = node_find(f, name);
	size_t at;

	if (n)
		return n;
	n = xcalloc(1, sizeof(*n));
	n->name = xstrdup(name);
	at = node_position(f, name);
	ARRAY_PUSH(f->nodes, f->nnodes, f->cap_nodes, n);
	memmove(&f->nodes[at + 1], &f->nodes[at], (f->nnodes - at - 1) * sizeof(n));
	f->nodes[at] = n;
	return n;
}

static void node_forget(struct node *n)
{
	json_decref(n->seen);
	n->seen = NULL;
	n->view = (struct node_view){ 0 };
	free(n->allocatable.v);
	n->allocatable = (struct amounts){ 0 };
}

static void node_free(struct node *n)
{
	node_forget(n);
	free(n->used.v);
	free(n->ports);
	free(n->name);
	free(n);
}

static void node_drop_if_empty(struct fit *f, struct node *n)
{
	size_t at = node_position(f, n->name);

	if (n->seen || n->pods)
		return;
	memmove(&f->nodes[at], &f->nodes[at + 1], (--f->nnodes - at) * sizeof(n));
	node_free(n);
}

static void put_part(json_t *view, const char *name, const json_t *part)
{
	if (part)
		json_object_set(view, name, (json_t *)part);
}

/* A node reports every few seconds; only this much of it concerns us. */
static json_t *parts_of(const json_t *node)
{
	const json_t *allocatable = jsonx_at(node, "status.allocatable");
	json_t *parts = json_pack("{s:b, s:b}", "unschedulable", jsonx_bool_or(node, "spec.unschedulable", false),
				  "ready", streq(condition_status(node, "Ready"), "True"));

	put_part(parts, "labels", jsonx_at(node, "metadata.labels"));
	put_part(parts, "taints", jsonx_at(node, "spec.taints"));
	put_part(parts, "allocatable", allocatable ? allocatable : jsonx_at(node, "status.capacity"));
	return parts;
}

void fit_set_node(struct fit *f, const json_t *node)
{
	struct node *n = node_make(f, jsonx_str_or(node, "metadata.name", ""));
	json_auto_t *parts = parts_of(node);

	if (n->seen && json_equal(n->seen, parts))
		return;
	node_forget(n);
	n->seen = json_incref(parts);
	n->view = (struct node_view){
		.name = n->name,
		.labels = json_object_get(parts, "labels"),
		.taints = json_object_get(parts, "taints"),
		.unschedulable = json_is_true(json_object_get(parts, "unschedulable")),
		.ready = json_is_true(json_object_get(parts, "ready")),
	};
	amounts_read(&f->names, json_object_get(parts, "allocatable"), &n->allocatable);
	f->epoch++;
}

void fit_remove_node(struct fit *f, const char *name)
{
	struct node *n = node_find(f, name);

	if (!n)
		return;
	node_forget(n);
	node_drop_if_empty(f, n);
	f->epoch++; /* no room is made, but the reasons change */
}

size_t fit_count_nodes(const struct fit *f)
{
	size_t count = 0;

	for (size_t i = 0; i < f->nnodes; i++)
		count += f->nodes[i]->seen != NULL;
	return count;
}

/* --- pods --- */

static void count_pod(struct node *n, const struct shape *s, int sign)
{
	/* 2048 pods with the largest requests there are would wrap it, and come back right when they go. */
	for (size_t i = 0; i < s->wants.n; i++) {
		int64_t *used = amounts_at(&n->used, i);

		*used = (int64_t)((uint64_t)*used + (uint64_t)(sign * s->wants.v[i]));
	}
	n->pods += (size_t)sign;
}

static void take_ports(struct node *n, const struct shape *s)
{
	for (size_t i = 0; i < s->nports; i++)
		ARRAY_PUSH(n->ports, n->nports, n->cap_ports, &s->ports[i]);
}

static void give_ports_back(struct node *n, const struct shape *s)
{
	for (size_t i = 0; i < s->nports; i++)
		for (size_t k = 0; k < n->nports; k++)
			if (n->ports[k] == &s->ports[i]) {
				n->ports[k] = n->ports[--n->nports];
				break;
			}
}

static void placed_drop(struct fit *f, struct placed *p)
{
	count_pod(p->node, p->shape, -1);
	give_ports_back(p->node, p->shape);
	node_drop_if_empty(f, p->node);
	fit_drop_shape(f, p->shape);
	free(p);
}

void fit_put_pod(struct fit *f, const char *uid, struct shape *s, const char *node)
{
	struct placed *old = map_find(&f->placed, uid);
	struct placed *p;

	if (old && old->shape == s && streq(old->node->name, node))
		return;
	s->refs++;
	p = xcalloc(1, sizeof(*p));
	*p = (struct placed){ .shape = s, .node = node_make(f, node) };
	count_pod(p->node, s, 1);
	take_ports(p->node, s);
	map_set(&f->placed, uid, p);
	if (old) {
		placed_drop(f, old);
		f->epoch++;
	}
}

void fit_take_pod(struct fit *f, const char *uid)
{
	struct placed *p = map_find(&f->placed, uid);

	if (!p)
		return;
	map_remove(&f->placed, uid);
	placed_drop(f, p);
	f->epoch++;
}

const char *fit_node_of(const struct fit *f, const char *uid)
{
	const struct placed *p = map_find(&f->placed, uid);

	return p ? p->node->name : NULL;
}

void fit_free(struct fit *f)
{
	size_t pos = 0;
	const char *uid;
	void *p;

	if (!f)
		return;
	while (map_next(&f->placed, &pos, &uid, &p)) {
		map_remove(&f->placed, uid);
		placed_drop(f, p);
	}
	for (size_t i = 0; i < f->nnodes; i++)
		node_free(f->nodes[i]);
	free(f->nodes);
	map_done(&f->placed);
	map_done(&f->shapes);
	resource_names_done(&f->names);
	free(f);
}

/* --- the decision --- */

static bool ports_refuse(const struct node *n, const struct shape *s)
{
	for (size_t i = 0; i < s->nports; i++)
		for (size_t k = 0; k < n->nports; k++)
			if (host_port_collides(&s->ports[i], n->ports[k]))
				return true;
	return false;
}

static bool lacks(const struct node *n, const struct shape *s, size_t resource)
{
	int64_t want = amounts_get(&s->wants, resource);
	int64_t left;

	if (__builtin_sub_overflow(amounts_get(&n->allocatable, resource), amounts_get(&n->used, resource), &left))
		left = 0;
	return want > 0 && want > left;
}

static bool has_room(const struct node *n, const struct shape *s)
{
	for (size_t i = 0; i < s->wants.n; i++)
		if (lacks(n, s, i))
			return false;
	return true;
}

static const struct node *find_node(const struct fit *f, const struct shape *s)
{
	auto_sbuf struct sbuf ignored = SBUF(1024);

	for (size_t i = 0; i < f->nnodes; i++) {
		const struct node *n = f->nodes[i];

		if (n->seen && has_room(n, s) && !ports_refuse(n, s) && !node_refuses(&n->view, s, &ignored))
			return n;
	}
	return NULL;
}

const char *fit_find(struct fit *f, struct shape *s)
{
	const struct node *n = s->failed == f->epoch ? NULL : find_node(f, s);

	if (!n)
		s->failed = f->epoch;
	return n ? n->name : NULL;
}

uint64_t fit_epoch(const struct fit *f)
{
	return f->epoch;
}

bool fit_failed(const struct fit *f, const struct shape *s)
{
	return s->failed == f->epoch;
}

/* --- the reasons --- */

struct reason {
	char *text;
	unsigned count;
};

struct reasons {
	struct reason *items;
	size_t n, cap;
};

static void reason_add(struct reasons *r, const char *text)
{
	for (size_t i = 0; i < r->n; i++)
		if (streq(r->items[i].text, text)) {
			r->items[i].count++;
			return;
		}
	ARRAY_PUSH(r->items, r->n, r->cap, ((struct reason){ xstrdup(text), 1 }));
}

static void explain_room(const struct fit *f, const struct node *n, const struct shape *s, struct reasons *r)
{
	for (size_t i = 0; i < s->wants.n; i++) {
		auto_free char *text = NULL;

		if (!lacks(n, s, i))
			continue;
		text = i == RESOURCE_PODS ? xstrdup("Too many pods") : xasprintf("Insufficient %s", f->names.names[i]);
		reason_add(r, text);
	}
}

/* As the filters of Kubernetes' scheduler: the first that refuses a node speaks for it. */
static void explain_node(const struct fit *f, const struct node *n, const struct shape *s, struct reasons *r)
{
	auto_sbuf struct sbuf why = SBUF(4096);

	if (node_refuses(&n->view, s, &why))
		reason_add(r, why.p);
	else if (ports_refuse(n, s))
		reason_add(r, "node(s) didn't have free ports for the requested pod ports");
	else
		explain_room(f, n, s, r);
}

/* Kubernetes sorts the reasons with their numbers before them. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void reasons_print(struct reasons *r, struct sbuf *out)
{
	auto_free char **lines = xcalloc(r->n + 1, sizeof(*lines));

	for (size_t i = 0; i < r->n; i++)
		lines[i] = xasprintf("%u %s", r->items[i].count, r->items[i].text);
	qsort(lines, r->n, sizeof(*lines), by_text);
	for (size_t i = 0; i < r->n; i++) {
		sbuf_addf(out, "%s%s", i ? ", " : ": ", lines[i]);
		free(lines[i]);
		free(r->items[i].text);
	}
	free(r->items);
}

static void explain(const struct fit *f, const struct shape *s, struct sbuf *out)
{
	struct reasons r = { 0 };

	for (size_t i = 0; i < f->nnodes; i++)
		if (f->nodes[i]->seen)
			explain_node(f, f->nodes[i], s, &r);
	if (fit_count_nodes(f))
		sbuf_addf(out, "0/%zu nodes are available", fit_count_nodes(f));
	else
		sbuf_adds(out, "no nodes available to schedule pods");
	reasons_print(&r, out);
	if (fit_count_nodes(f))
		sbuf_addc(out, '.');
}

const char *fit_why(struct fit *f, struct shape *s)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_STATUS_TEXT);

	if (s->why && s->explained == f->epoch)
		return s->why;
	explain(f, s, &out);
	free(s->why);
	s->why = sbuf_steal(&out);
	s->explained = f->epoch;
	return s->why;
}

/* --- several at once --- */

/* As if they had never been placed: no room is made by it, so the epoch stays. */
static void take_back(struct fit *f, struct fit_want *wants, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct placed *p = wants[i].placed ? map_find(&f->placed, wants[i].uid) : NULL;

		wants[i].placed = false;
		if (!p)
			continue;
		map_remove(&f->placed, wants[i].uid);
		placed_drop(f, p);
	}
}

size_t fit_put_all(struct fit *f, struct fit_want *wants, size_t n, size_t least, struct sbuf *ret_why)
{
	size_t placed = 0;
	bool told = false;

	for (size_t i = 0; i < n; i++) {
		const struct node *node = find_node(f, wants[i].shape);

		wants[i].placed = node != NULL;
		if (node) {
			fit_put_pod(f, wants[i].uid, wants[i].shape, node->name);
			placed++;
		} else if (!told) {
			explain(f, wants[i].shape, ret_why);
			told = true;
		}
	}
	if (placed < least)
		take_back(f, wants, n);
	return placed;
}
