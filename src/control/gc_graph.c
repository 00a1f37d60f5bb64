// SPDX-License-Identifier: Apache-2.0
/* gc_graph.c - the ownership graph as two maps that mirror each other */
#include "control/gc_graph.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/uid_queue.h"

static void node_free(void *arg)
{
	struct gc_node *n = arg;

	json_decref(n->owners);
	free(n->uid);
	free(n->api_version);
	free(n->plural);
	free(n->ns);
	free(n->name);
	free(n);
}

static void decref(void *v)
{
	json_decref(v);
}

void gc_graph_init(struct gc_graph *g)
{
	map_init(&g->nodes, node_free);
	map_init(&g->owned, decref);
}

void gc_graph_done(struct gc_graph *g)
{
	map_done(&g->nodes);
	map_done(&g->owned);
}

static void unlink_owners(struct gc_graph *g, const struct gc_node *n)
{
	json_t *ref;
	size_t i;

	json_array_foreach (n->owners, i, ref) {
		const char *owner = jsonx_str_or(ref, "uid", "");
		json_t *set = map_find(&g->owned, owner);

		json_object_del(set, n->uid);
		if (set && json_object_size(set) == 0)
			map_remove(&g->owned, owner);
	}
}

static void link_owners(struct gc_graph *g, const struct gc_node *n)
{
	json_t *ref;
	size_t i;

	json_array_foreach (n->owners, i, ref) {
		const char *owner = jsonx_str_or(ref, "uid", "");
		json_t *set = map_find(&g->owned, owner);

		if (!set) {
			set = json_object();
			map_set(&g->owned, owner, set);
		}
		json_object_set_new(set, n->uid, json_true());
	}
}

struct gc_node *gc_graph_put(struct gc_graph *g, const struct resource *r, const json_t *obj)
{
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");
	json_t *owners = jsonx_at(obj, "metadata.ownerReferences");
	struct gc_node *n = map_find(&g->nodes, uid);

	if (!json_array_size(owners)) {
		gc_graph_remove(g, uid);
		return NULL;
	}
	if (n)
		n->deleting = jsonx_at(obj, "metadata.deletionTimestamp") != NULL;
	if (n && jsonx_equal(n->owners, owners))
		return n;
	if (n) {
		unlink_owners(g, n);
		json_decref(n->owners);
	} else {
		n = xcalloc(1, sizeof(*n));
		n->uid = xstrdup(uid);
		n->api_version = xstrdup(r->api_version);
		n->plural = xstrdup(r->plural);
		n->ns = xstrdup(jsonx_str_or(obj, "metadata.namespace", ""));
		n->name = xstrdup(jsonx_str_or(obj, "metadata.name", ""));
		n->deleting = jsonx_at(obj, "metadata.deletionTimestamp") != NULL;
		map_set(&g->nodes, uid, n);
	}
	n->owners = json_incref(owners);
	link_owners(g, n);
	return n;
}

void gc_graph_remove(struct gc_graph *g, const char *uid)
{
	struct gc_node *n = map_find(&g->nodes, uid);

	if (!n)
		return;
	unlink_owners(g, n);
	map_remove(&g->nodes, uid);
}

struct gc_node *gc_graph_find(const struct gc_graph *g, const char *uid)
{
	return map_find(&g->nodes, uid);
}

const json_t *gc_graph_owned(const struct gc_graph *g, const char *owner_uid)
{
	return map_find(&g->owned, owner_uid);
}

json_t *gc_graph_above(const struct gc_graph *g, const char *uid)
{
	json_t *above = json_object();
	struct uid_queue todo = { 0 };

	uid_queue_push(&todo, uid);
	while (todo.n) {
		auto_free char *at = uid_queue_steal(&todo);
		const struct gc_node *n = gc_graph_find(g, at);
		json_t *ref;
		size_t i;

		if (json_object_get(above, at))
			continue;
		json_object_set_new(above, at, json_true());
		json_array_foreach (n ? n->owners : NULL, i, ref)
			uid_queue_push(&todo, jsonx_str_or(ref, "uid", ""));
	}
	uid_queue_done(&todo);
	return above;
}

bool gc_node_blocks(const struct gc_node *node, const char *owner_uid)
{
	json_t *ref;
	size_t i;

	json_array_foreach (node->owners, i, ref)
		if (str_same(jsonx_str(ref, "uid"), owner_uid))
			return jsonx_bool_or(ref, "blockOwnerDeletion", false);
	return false;
}
