// SPDX-License-Identifier: Apache-2.0
/* itemlist.h - the items of an associative list or set, found by what identifies them */
#ifndef STOKER_API_ITEMLIST_H
#define STOKER_API_ITEMLIST_H

#include "base/map.h"
#include "kinds/typeref.h"

struct itemlist {
	const json_t *list; /* borrowed; NULL is an empty list */
	size_t n;
	struct sbuf text; /* all keys, one after the other */
	size_t *at;       /* where each begins */
	struct map index; /* key to 1-based position; filled on the first search that needs it */
	bool indexed;
};

/* Computes the key of each item; a missing key field counts as its default. */
void itemlist_init(struct itemlist *l, struct typeref t, const json_t *list);
void itemlist_done(struct itemlist *l);
#define auto_itemlist __attribute__((cleanup(itemlist_done)))

/* The item's path element in FieldsV1: k:{"name":"x"}, v:"x", or i:3 for an item without any key.  Valid until
 * itemlist_done(). */
const char *itemlist_key(const struct itemlist *l, size_t i);
/* Position of the first item with this key, or SIZE_MAX.  `hint` is where it probably is. */
size_t itemlist_find(struct itemlist *l, const char *key, size_t hint);

#endif
