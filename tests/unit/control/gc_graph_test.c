// SPDX-License-Identifier: Apache-2.0
#include "control/gc_graph.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "test.h"

static const struct resource maps = {
	.api_version = (char *)"v1", .plural = (char *)"configmaps", .kind = (char *)"ConfigMap", .namespaced = true
};

static struct gc_node *put(struct gc_graph *g, const char *uid, const char *owners)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'%s','namespace':'n','uid':'%s','ownerReferences':%s}}",
					 uid, uid, owners);
	json_auto_t *obj = sample_json(text);

	return gc_graph_put(g, &maps, obj);
}

TEST("only objects with owners are remembered, and found by either end")
{
	struct gc_graph g;
	struct gc_node *n;

	gc_graph_init(&g);
	CHECK(!put(&g, "root", "[]"));
	CHECK(!gc_graph_find(&g, "root"));
	n = put(&g, "a", "[{'uid':'root'},{'uid':'other'}]");
	CHECK(n && n == gc_graph_find(&g, "a"));
	CHECK_STR(n->ns, "n");
	CHECK_STR(n->name, "a");
	CHECK_STR(n->plural, "configmaps");
	put(&g, "b", "[{'uid':'root'}]");
	CHECK_JSON(gc_graph_owned(&g, "root"), "{'a':true,'b':true}");
	CHECK_JSON(gc_graph_owned(&g, "other"), "{'a':true}");
	CHECK(!gc_graph_owned(&g, "a"));
	gc_graph_done(&g);
}

TEST("a change of owners is followed, and the last one takes the entry away")
{
	struct gc_graph g;

	gc_graph_init(&g);
	put(&g, "a", "[{'uid':'one'},{'uid':'two'}]");
	put(&g, "a", "[{'uid':'two'},{'uid':'three'}]");
	CHECK(!gc_graph_owned(&g, "one"));
	CHECK_JSON(gc_graph_owned(&g, "two"), "{'a':true}");
	CHECK_JSON(gc_graph_owned(&g, "three"), "{'a':true}");
	CHECK(!put(&g, "a", "[]"));
	CHECK(!gc_graph_find(&g, "a"));
	CHECK(!gc_graph_owned(&g, "two"));
	put(&g, "a", "[{'uid':'one'}]");
	gc_graph_remove(&g, "a");
	gc_graph_remove(&g, "a");
	CHECK(!gc_graph_owned(&g, "one"));
	gc_graph_done(&g);
}

TEST("an owner named twice is no accident waiting to happen")
{
	struct gc_graph g;

	gc_graph_init(&g);
	put(&g, "a", "[{'uid':'one'},{'uid':'one'}]");
	CHECK_JSON(gc_graph_owned(&g, "one"), "{'a':true}");
	put(&g, "a", "[{'uid':'two'}]");
	CHECK(!gc_graph_owned(&g, "one"));
	gc_graph_done(&g);
}

TEST("a dependent holds up the owner that it says it blocks")
{
	struct gc_graph g;
	struct gc_node *n;

	gc_graph_init(&g);
	n = put(&g, "a",
		"[{'uid':'one','blockOwnerDeletion':true},{'uid':'two','blockOwnerDeletion':false},{'uid':"
		"'three'}]");
	CHECK(gc_node_blocks(n, "one"));
	CHECK(!gc_node_blocks(n, "two"));
	CHECK(!gc_node_blocks(n, "three"));
	CHECK(!gc_node_blocks(n, "four"));
	gc_graph_done(&g);
}

/* As the keys of an object, which have no order. */
#define CHECK_ABOVE(g, uid, want)                                                                                      \
	do {                                                                                                           \
		json_auto_t *above_ = gc_graph_above(g, uid);                                                          \
		CHECK_JSON(above_, want);                                                                              \
	} while (0)

TEST("who owns whom is known through others, and in circles")
{
	struct gc_graph g;

	gc_graph_init(&g);
	put(&g, "b", "[{'uid':'a'}]");
	put(&g, "c", "[{'uid':'b'},{'uid':'x'}]");
	put(&g, "d", "[{'uid':'c'}]");
	CHECK_ABOVE(&g, "a", "{'a':true}");
	CHECK_ABOVE(&g, "b", "{'b':true,'a':true}");
	CHECK_ABOVE(&g, "d", "{'d':true,'c':true,'b':true,'x':true,'a':true}");
	put(&g, "b", "[{'uid':'d'}]");
	CHECK_ABOVE(&g, "b", "{'b':true,'d':true,'c':true,'x':true}");
	CHECK_ABOVE(&g, "x", "{'x':true}");
	gc_graph_done(&g);
}
