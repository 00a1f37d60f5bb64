// SPDX-License-Identifier: Apache-2.0
/* children.h - all objects of one kind, by the uid of who controls them: the Jobs of CronJobs, the ReplicaSets of
 * Deployments
 *
 * For pods, which are many, there is owned.h.  As there, what a controller wrote but has not seen yet is expected, and
 * until it is seen the owner is not settled: planning for it would repeat the same writes.
 */
#ifndef STOKER_CONTROL_CHILDREN_H
#define STOKER_CONTROL_CHILDREN_H

#include "control/adoption.h"

struct children;

struct children_kind {
	const char *api_version, *plural; /* of the children */
	const char *owner;                /* the kind of their owners */
	/* A child of such an owner came, changed or went: the owner is "namespace/name". */
	void (*change)(void *arg, const char *owner_key);
	/* One that nobody controls came, or changed its labels; may be NULL. */
	void (*orphan)(void *arg, const json_t *child);
	/* The first list is complete. */
	void (*synced)(void *arg);
};

struct children *children_new(struct client *c, const struct children_kind *kind, void *arg);
void children_free(struct children *ch);
bool children_synced(const struct children *ch);

/* Those of one owner, in no order; the caller frees the array, the objects are borrowed until the next turn. */
size_t children_of(const struct children *ch, const char *owner_uid, const json_t ***ret);
/* One that such an owner or nobody controls. */
const json_t *children_find(const struct children *ch, const char *ns, const char *name);

/* The answer of a creation or of an update. */
void children_expect(struct children *ch, const char *owner_uid, const json_t *written);
bool children_settled(struct children *ch, const char *owner_uid);

/* Lets children go that no longer match and takes orphans that do.  True if calls were made: plan when they have
 * ended. */
bool children_claim(struct children *ch, struct calls *calls, const char *key, const struct claim_request *r);

#endif
