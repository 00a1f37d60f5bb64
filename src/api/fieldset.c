// SPDX-License-Identifier: Apache-2.0
/* fieldset.c - arithmetic on sets of field paths, see fieldset.h
 *
 * The root and the nodes below it differ in one point: an empty root is an empty set, an empty node is a member without
 * anything below.  Inside, "no node" is NULL; root_of() turns the result of an operation into a set.
 */
#include "api/fieldset.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

const json_t *fieldset_child(const json_t *node, const char *element)
{
	return json_object_get(node, element);
}

const json_t *fieldset_field(const json_t *node, const char *name)
{
	auto_free char *element = NULL;

	if (!node || json_object_size(node) == 0)
		return NULL;
	element = xasprintf("f:%s", name);
	return json_object_get(node, element);
}

bool fieldset_node_member(const json_t *node)
{
	return node && (json_object_size(node) == 0 || json_object_get(node, "."));
}

bool fieldset_node_inner(const json_t *node)
{
	return json_object_size(node) > (json_object_get(node, ".") ? 1 : 0);
}

/* A node to add children to; "." comes first, as Kubernetes writes it. */
static json_t *open_node(bool member)
{
	json_t *node = json_object();

	if (member)
		json_object_set_new(node, ".", json_object());
	return node;
}

/* Takes the node: without children it is a plain member or nothing. */
static json_t *close_node(bool member, json_t *node)
{
	if (json_object_size(node) > (member ? 1 : 0))
		return node;
	json_decref(node);
	return member ? json_object() : NULL;
}

/* An empty root would be a member if it were a node. */
static json_t *root_of(json_t *node)
{
	if (node && json_object_size(node) == 0) {
		json_decref(node);
		return NULL;
	}
	return node;
}

static bool is_root_empty(const json_t *set)
{
	return json_object_size(set) == 0;
}

static json_t *node_union(const json_t *a, const json_t *b)
{
	json_t *kids;
	bool member;
	const char *key;
	json_t *child;

	if (!a || !b || a == b)
		return json_incref((json_t *)(a ? a : b));
	member = fieldset_node_member(a) || fieldset_node_member(b);
	kids = open_node(member);
	json_object_foreach ((json_t *)a, key, child)
		if (!streq(key, "."))
			json_object_set_new_nocheck(kids, key, node_union(child, json_object_get(b, key)));
	json_object_foreach ((json_t *)b, key, child)
		if (!streq(key, ".") && !json_object_get(kids, key))
			json_object_set_nocheck(kids, key, child);
	return close_node(member, kids);
}

/* Have the two a path in common?  Subtracting a small change from a large set mostly finds that they have not, and the
 * set need not be built again. */
static bool node_touches(const json_t *a, const json_t *b)
{
	const json_t *few = json_object_size(a) < json_object_size(b) ? a : b;
	const json_t *many = few == a ? b : a;
	const char *key;
	json_t *child;

	if (fieldset_node_member(a) && fieldset_node_member(b))
		return true;
	json_object_foreach ((json_t *)few, key, child) {
		const json_t *other = streq(key, ".") ? NULL : json_object_get(many, key);

		if (other && node_touches(child, other))
			return true;
	}
	return false;
}

static json_t *node_difference(const json_t *a, const json_t *b)
{
	json_t *kids;
	bool member;
	const char *key;
	json_t *child;

	if (!b || !a)
		return json_incref((json_t *)a);
	member = fieldset_node_member(a) && !fieldset_node_member(b);
	kids = open_node(member);
	json_object_foreach ((json_t *)a, key, child) {
		json_t *left = streq(key, ".") ? NULL : node_difference(child, json_object_get(b, key));

		if (left)
			json_object_set_new_nocheck(kids, key, left);
	}
	return close_node(member, kids);
}

static json_t *node_intersection(const json_t *a, const json_t *b)
{
	json_t *kids;
	bool member;
	const char *key;
	json_t *child;

	if (!a || !b)
		return NULL;
	member = fieldset_node_member(a) && fieldset_node_member(b);
	kids = open_node(member);
	json_object_foreach ((json_t *)a, key, child) {
		json_t *both = streq(key, ".") ? NULL : node_intersection(child, json_object_get(b, key));

		if (both)
			json_object_set_new_nocheck(kids, key, both);
	}
	return close_node(member, kids);
}

json_t *fieldset_union(const json_t *a, const json_t *b)
{
	if (is_root_empty(a) || is_root_empty(b))
		return root_of(json_incref((json_t *)(is_root_empty(a) ? b : a)));
	return root_of(node_union(a, b));
}

json_t *fieldset_difference(const json_t *a, const json_t *b)
{
	bool apart = is_root_empty(a) || is_root_empty(b) || !node_touches(a, b);

	return root_of(apart ? json_incref((json_t *)a) : node_difference(a, b));
}

json_t *fieldset_intersection(const json_t *a, const json_t *b)
{
	return is_root_empty(a) || is_root_empty(b) ? NULL : root_of(node_intersection(a, b));
}

bool fieldset_equal(const json_t *a, const json_t *b)
{
	if (is_root_empty(a) || is_root_empty(b))
		return is_root_empty(a) && is_root_empty(b);
	return jsonx_equal(a, b);
}

/* A JSON text of the wanted type, or any type if it is -1. */
static bool is_json(const char *text, int type)
{
	json_auto_t *v = NULL;
	struct err ignored = ERR_INIT;

	return jsonx_parse(text, strlen(text), NULL, NULL, &v, &ignored) == 0 &&
	       (type < 0 || (int)json_typeof(v) == type);
}

static bool element_valid(const char *key, bool stored)
{
	int64_t i;

	if (streq(key, "."))
		return true;
	if (!key[0] || key[1] != ':')
		return false;
	switch (key[0]) {
	case 'f':
		return true;
	case 'k':
		return stored || is_json(key + 2, JSON_OBJECT);
	case 'v':
		return stored || is_json(key + 2, -1);
	case 'i':
		return str_int64(key + 2, 0, INT32_MAX, &i);
	default:
		return false;
	}
}

bool fieldset_valid(const json_t *set, bool stored)
{
	const char *key;
	json_t *child;

	if (!json_is_object(set))
		return false;
	json_object_foreach ((json_t *)set, key, child)
		if (!element_valid(key, stored) || !fieldset_valid(child, stored))
			return false;
	return true;
}

/* --- paths as text --- */

struct printer {
	struct sbuf path;
	void (*fn)(void *arg, const char *path);
	void *arg;
};

static void print_keys(struct sbuf *out, const char *text)
{
	json_auto_t *keys = NULL;
	struct err ignored = ERR_INIT;
	const char *sep = "";
	const char *name;
	json_t *value;

	jsonx_parse(text, strlen(text), NULL, NULL, &keys, &ignored);
	sbuf_addc(out, '[');
	json_object_foreach (keys, name, value) {
		sbuf_addf(out, "%s%s=", sep, name);
		jsonx_dump(value, out);
		sep = ",";
	}
	sbuf_addc(out, ']');
}

static void print_element(struct sbuf *out, const char *key)
{
	switch (key[0]) {
	case 'f':
		sbuf_addf(out, ".%s", key + 2);
		break;
	case 'k':
		print_keys(out, key + 2);
		break;
	case 'v':
		sbuf_addf(out, "[=%s]", key + 2);
		break;
	default:
		sbuf_addf(out, "[%s]", key + 2);
		break;
	}
}

static void print_node(struct printer *p, const json_t *node)
{
	size_t base = p->path.n;
	const char *key;
	json_t *child;

	json_object_foreach ((json_t *)node, key, child) {
		if (streq(key, "."))
			continue;
		print_element(&p->path, key);
		if (fieldset_node_member(child))
			p->fn(p->arg, p->path.p);
		print_node(p, child);
		p->path.n = base;
		p->path.p[base] = '\0';
	}
}

void fieldset_each(const json_t *set, void (*fn)(void *arg, const char *path), void *arg)
{
	struct printer p = { .fn = fn, .arg = arg };

	sbuf_init(&p.path, LIMIT_OBJECT);
	print_node(&p, set);
	sbuf_done(&p.path);
}
