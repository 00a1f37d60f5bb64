// SPDX-License-Identifier: Apache-2.0
/* stored.h - built-in kinds read straight from the store, for the parts that run before anyone is allowed anything
 *
 * Authentication and authorization decide whether a verb may run, so they cannot go through the verbs to read.
 */
#ifndef STOKER_API_STORED_H
#define STOKER_API_STORED_H

#include "api/api.h"

/* Which kind; `number` is the store's, found on first use. */
struct stored_kind {
	const char *group, *version, *plural;
	const struct kind *kind;
	int number;
};

/* Fills in kind and number if that has not happened yet. */
int stored_resolve(struct api *api, struct stored_kind *k, struct err *e);
/* Decoded, a new reference.  ERR_NOT_FOUND has no text. */
int stored_get(struct api *api, struct stored_kind *k, const char *ns, const char *name, json_t **ret, struct err *e);
/* The same, but perhaps everybody's: it may not be changed. */
int stored_see(struct api *api, struct stored_kind *k, const char *ns, const char *name, json_t **ret, struct err *e);
/* A namespace if it has anything that admission goes by: labels of Pod Security, an owner, a queue, a deletion; most
 * have not, need not be decoded, and give NULL.  Borrowed until the next api_call(), within which it is read once.
 * ERR_NOT_FOUND has no text. */
int stored_namespace(struct api *api, const char *name, const json_t **ret, struct err *e);
/* Writes as the server itself through api_call(): VERB_CREATE, VERB_UPDATE, VERB_DELETE (body NULL). */
int stored_write(struct api *api, struct stored_kind *k, enum verb verb, const char *ns, const char *name, json_t *body,
		 struct err *e);

#endif
