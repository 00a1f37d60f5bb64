// SPDX-License-Identifier: Apache-2.0
/* typeref.h - one cursor over both kinds of type: field tables and CRD schemas
 *
 * Server-side apply and the strategic merge walk objects and types together; this is the type's side of the walk.
 */
#ifndef STOKER_KINDS_TYPEREF_H
#define STOKER_KINDS_TYPEREF_H

#include "kinds/kind.h"
#include "kinds/schema.h"

enum list_type { LIST_ATOMIC, LIST_SET, LIST_MAP };

/* The type of one value.  All NULL: unknown (deduced: maps are granular, lists atomic). */
struct typeref {
	const struct message *msg; /* an object with named fields */
	const struct field *field; /* the row this value came from (list, map or scalar), or NULL */
	const json_t *schema;      /* the same for custom resources */
	bool item;                 /* the value is an item of field's list or map, not the whole */
	bool whole;                /* a whole object: its member metadata is ObjectMeta whatever the schema says */
};

struct typeref typeref_of_kind(const struct kind *k);
/* Type of member `name`. */
struct typeref typeref_member(struct typeref t, const char *name);
/* Is `name` a field that the type itself names, rather than a key of a map or something unknown? */
bool typeref_named(struct typeref t, const char *name);
/* Type of a list's items or a map's values. */
struct typeref typeref_item(struct typeref t);
bool typeref_atomic(struct typeref t); /* an object or map owned as a whole */
/* A message that is always there, so that absent and {} are the same: one that is no pointer in Go. */
bool typeref_struct(struct typeref t);
enum list_type typeref_list_type(struct typeref t);
/* Keys of a LIST_MAP: writes up to `max` names (borrowed, some by pointer into a static or schema text) and returns how
 * many. */
size_t typeref_list_keys(struct typeref t, struct str *ret_keys, size_t max);
/* Default of key `key` in a list map's items ("TCP"), a new reference, or NULL. */
json_t *typeref_key_default(struct typeref t, struct str key);

#endif
