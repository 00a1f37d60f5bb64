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
	/* All there is follows, each as ADDED: at first, and again whenever the watch has lost its place. */
	void (*begin)(void *arg);
	/* `type` is ADDED, MODIFIED or DELETED. */
	void (*change)(void *arg, const char *type, const json_t *obj);
	/* That was all there is. */
	void (*listed)(void *arg);
	void *arg;
	const char *purpose; /* for the log: "the accounts" */
};

/* `ref` and its texts, `fields` (a selector, or NULL) and `purpose` outlive it. */
struct changes *changes_new(struct client *c, const struct ref *ref, const char *fields,
			    const struct changes_handlers *h);
void changes_free(struct changes *f);

#endif
