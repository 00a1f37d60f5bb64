// SPDX-License-Identifier: Apache-2.0
/* gc_graph.h - who is owned by whom: only objects that have owners are in it
 *
 * Objects without ownerReferences, which is nearly all of them, cost nothing.  Whether an owner exists is not
 * remembered but asked when it matters.
 */
#ifndef STOKER_CONTROL_GC_GRAPH_H
#define STOKER_CONTROL_GC_GRAPH_H

#include <jansson.h>

#include "base/map.h"
#include "control/resources.h"

struct gc_node {
	char *uid;
	char *api_version, *plural, *ns, *name;
	json_t *owners; /* its ownerReferences */
	bool deleting;
	bool queued, orphaned; /* gc.c's: in the queue of that name */
};

struct gc_graph {
	struct map nodes; /* uid -> struct gc_node */
	struct map owned; /* owner's uid -> json object {dependent uid: true} */
};

void gc_graph_init(struct gc_graph *g);
void gc_graph_done(struct gc_graph *g);
/* Puts an object with owners in (or updates it); one without is taken out.  Returns the node or NULL. */
struct gc_node *gc_graph_put(struct gc_graph *g, const struct resource *r, const json_t *obj);
void gc_graph_remove(struct gc_graph *g, const char *uid);
struct gc_node *gc_graph_find(const struct gc_graph *g, const char *uid);
/* Uids of what `owner_uid` owns: keys of a JSON object, or NULL. */
const json_t *gc_graph_owned(const struct gc_graph *g, const char *owner_uid);
/* Who owns `uid`, itself or through others, and `uid` too: keys of a new JSON object. */
json_t *gc_graph_above(const struct gc_graph *g, const char *uid);
/* True if `node` names owner_uid with blockOwnerDeletion. */
bool gc_node_blocks(const struct gc_node *node, const char *owner_uid);

#endif
