// SPDX-License-Identifier: Apache-2.0
/* calls.h - a controller's writes under way, by the key of the object they are for
 *
 * While writes for an object are under way its controller does not look at it again: what it knows is behind.  A
 * controller that goes leaves its calls behind; nobody hears their answers.
 */
#ifndef STOKER_CONTROL_CALLS_H
#define STOKER_CONTROL_CALLS_H

#include "client/client.h"

struct calls;

/* The answer of one call; all borrowed. */
struct answer {
	struct calls *calls;
	const char *key;
	const json_t *what; /* what the caller passed with it */
	const json_t *obj;  /* or NULL */
	const struct err *e;
};
typedef void calls_done(void *arg, const struct answer *a);

/* `idle` is told when the last call for a key has ended, after its own answer; `failed` if one of them did (but for
 * conflicts and objects that are gone, which only mean that something new is to be looked at). */
struct calls *calls_new(struct client *c, void (*idle)(void *arg, const char *key, bool failed), void *arg);
void calls_free(struct calls *k);
bool calls_busy(const struct calls *k, const char *key);

/* `done` may be NULL; `what` (or NULL) is kept until the answer. */
void calls_get(struct calls *k, const char *key, const struct ref *ref, calls_done *done, const json_t *what);
void calls_create(struct calls *k, const char *key, const struct ref *ref, const json_t *obj, calls_done *done,
		  const json_t *what);
void calls_update(struct calls *k, const char *key, const struct ref *ref, const json_t *obj, calls_done *done,
		  const json_t *what);
void calls_patch(struct calls *k, const char *key, const struct ref *ref, const char *type, const json_t *patch,
		 calls_done *done, const json_t *what);
void calls_remove(struct calls *k, const char *key, const struct ref *ref, const json_t *options, calls_done *done,
		  const json_t *what);

/* Where an object is: version and plural are the caller's to know. */
struct ref calls_ref(const char *api_version, const char *plural, const json_t *obj);
/* Whether an object of a cache is at least as new as the revision that a write had for an answer. */
bool calls_seen(const json_t *obj, const char *revision);

#endif
