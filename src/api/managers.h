// SPDX-License-Identifier: Apache-2.0
/* managers.h - metadata.managedFields: who owns which fields */
#ifndef STOKER_API_MANAGERS_H
#define STOKER_API_MANAGERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* One entry.  Texts are borrowed from its JSON or from the request. */
struct manager {
	const json_t *json; /* as it was read; NULL: new or changed, and written anew */
	const char *name;
	bool applies; /* operation Apply, else Update */
	const char *api_version;
	const char *subresource; /* "" for the object itself */
	const char *time;        /* RFC3339, "" if there is none */
	json_t *set;             /* owned */
};

struct managers {
	struct manager *v;
	size_t n, cap;
};

/* Reads managedFields (NULL and [] are no managers), which a client sent or were `stored`.  False, with nothing in ret,
 * if any entry is malformed. */
bool managers_read(const json_t *entries, bool stored, struct managers *ret);
void managers_done(struct managers *m);
#define auto_managers __attribute__((cleanup(managers_done)))

/* NULL if there is none.  Applying entries are one whatever their version. */
struct manager *managers_find(const struct managers *m, const struct manager *like);
/* Copies the texts' pointers and takes `set` with them. */
struct manager *managers_add(struct managers *m, struct manager one);
/* Gives an entry another set (taken). */
void manager_set(struct manager *m, json_t *set);
/* Takes paths away from every entry but `spare` (or NULL). */
void managers_subtract(struct managers *m, const struct manager *spare, const json_t *paths);

/* The array to store, a new reference: empty entries dropped, old updates merged, sorted.  NULL if nobody owns
 * anything. */
json_t *managers_write(struct managers *m);

/* How Kubernetes names an entry in conflicts: "kubectl" with subresource "status" using v1.  Appended. */
struct sbuf;
void manager_print(const struct manager *m, struct sbuf *out);

#endif
