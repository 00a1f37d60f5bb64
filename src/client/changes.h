// SPDX-License-Identifier: Apache-2.0
/* changes.h - a list and then a watch of which nothing is kept: for who remembers by himself what matters to him
 *
 * Unlike an informer it does not know what has gone between two lists: who must, compares a list with what he has.
 */
#ifndef STOKER_CLIENT_CHANGES_H
#define STOKER_CLIENT_CHANGES_H

#include "client/client.h"

struct changes;

struct changes_handlers {
	/* All there is: at first, and again whenever the watch has lost its place. */
	void (*list)(void *arg, const json_t *items);
	/* One of them, later.  `type` is ADDED, MODIFIED or DELETED. */
	void (*change)(void *arg, const char *type, const json_t *obj);
	void *arg;
	const char *purpose; /* for the log: "the accounts" */
};

/* `ref` and its texts, and `purpose`, outlive it. */
struct changes *changes_new(struct client *c, const struct ref *ref, const struct changes_handlers *h);
void changes_free(struct changes *f);

#endif
