// SPDX-License-Identifier: Apache-2.0
/* fieldset.h - sets of field paths, for server-side apply
 *
 * A set is held as the JSON that clients see, FieldsV1: {"f:data":{".":{},"f:a":{}}}.  A node is in the set if it is
 * empty or has ".".  Sets are values: an operation returns a new reference that may share parts with its arguments, and
 * no set is ever changed in place.  NULL is the empty set.
 */
#ifndef STOKER_API_FIELDSET_H
#define STOKER_API_FIELDSET_H

#include "kinds/typeref.h"

json_t *fieldset_union(const json_t *a, const json_t *b);
json_t *fieldset_difference(const json_t *a, const json_t *b);
json_t *fieldset_intersection(const json_t *a, const json_t *b);
bool fieldset_equal(const json_t *a, const json_t *b);
/* Is it a set at all?  For what clients send; for what was `stored` a look at its shape is enough. */
bool fieldset_valid(const json_t *set, bool stored);

/* One step down: the node of a path element ("f:spec"), or NULL.  Nodes are told from sets by their meaning of empty.
 */
const json_t *fieldset_child(const json_t *node, const char *element);
const json_t *fieldset_field(const json_t *node, const char *name);
/* Is the node itself in the set?  Does the set have paths below it? */
bool fieldset_node_member(const json_t *node);
bool fieldset_node_inner(const json_t *node);

/* Calls fn with each path as Kubernetes prints it: .spec.ports[port=80,protocol="TCP"].name */
void fieldset_each(const json_t *set, void (*fn)(void *arg, const char *path), void *arg);

/* Which part of an object a request is about.  What no manager ever owns (type, name, uid ...) is in none. */
enum fieldset_scope {
	SCOPE_ALL,   /* everything */
	SCOPE_MAIN,  /* everything but status */
	SCOPE_STATUS /* only what the status subresource may write */
};
/* Is this top-level member outside of the scope? */
bool fieldset_skips(enum fieldset_scope scope, const char *member);

/* --- sets of objects (api/fieldwalk.c) --- */

/* What someone who applies `v` will own. */
json_t *fieldset_leaves(struct typeref t, enum fieldset_scope scope, const json_t *v);
/* What changed between two versions: paths added or modified, and paths removed.  Both may come out NULL. */
void fieldset_compare(struct typeref t, enum fieldset_scope scope, const json_t *old, const json_t *v,
		      json_t **ret_changed, json_t **ret_removed);

#endif
