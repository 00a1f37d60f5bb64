// SPDX-License-Identifier: Apache-2.0
/* owned.h - all pods, by who controls them: one cache for all controllers
 *
 * A controller follows the pods of its kind of owner and finds those of one owner by the owner's uid, without looking
 * at any other pod.  Pods that nobody controls are kept by namespace, to be adopted.
 *
 * What a controller has written but not seen yet is expected: until it is seen the owner is not settled, and planning
 * for it would repeat the same writes.
 */
#ifndef STOKER_CONTROL_OWNED_H
#define STOKER_CONTROL_OWNED_H

#include "client/client.h"
#include "control/adoption.h"
#include "control/pod_facts.h"

struct owned;

struct owned_pod {
	struct pod_facts facts;
	struct owner *owner; /* or NULL: nobody controls it */
	struct space *space; /* of a pod without controller */
	size_t place;        /* in its owner's or its space's list */
	struct owned_node *node;
	struct owned_pod *beside, **pbeside; /* the next on its node */
	bool checked, astray; /* owned_claim.c: its labels were compared with the selector, and do not match */
};

struct owned_handlers {
	const char *kind; /* of the owners: "Job"; NULL: only `any` is told */
	/* A pod of such an owner came (old NULL), changed, or went (pod NULL); also if it got or lost that owner. */
	void (*change)(void *arg, const json_t *owner_ref, const struct pod_facts *pod, const struct pod_facts *old);
	/* A pod that nobody controls came or changed. */
	void (*orphan)(void *arg, const struct pod_facts *pod);
	/* The first list is complete. */
	void (*synced)(void *arg);
	void *arg;
	/* A quota of the namespace has more room than before; or NULL. */
	void (*room)(void *arg, const char *ns);
	/* Any pod came (old NULL), changed, or went (pod NULL), whoever controls it; or NULL. */
	void (*any)(void *arg, const struct pod_facts *pod, const struct pod_facts *old);
};

struct owned *owned_new(struct client *c);
/* After all that follow it. */
void owned_free(struct owned *o);
bool owned_synced(const struct owned *o);
void owned_follow(struct owned *o, const struct owned_handlers *h);
void owned_unfollow(struct owned *o, void *arg);

/* The pods of an owner, in no order; valid until the next turn. */
struct owned_list {
	struct owned_pod *const *pods;
	size_t n;
};
struct owned_list owned_by(const struct owned *o, const char *owner_uid);
struct owned_list owned_orphans(const struct owned *o, const char *ns);
const struct owned_pod *owned_find(const struct owned *o, const char *pod_uid);
/* The first on a node, whoever controls it, or NULL; `beside` has the next. */
const struct owned_pod *owned_on(const struct owned *o, const char *node);
/* All of them; start with *pos = 0. */
bool owned_next(const struct owned *o, size_t *pos, const struct owned_pod **ret);

/* The answers of a creation and of a deletion. */
void owned_expect(struct owned *o, const char *owner_uid, const json_t *created);
void owned_expect_gone(struct owned *o, const char *owner_uid, const char *pod_uid);
bool owned_settled(struct owned *o, const char *owner_uid);

/* --- owned_claim.c --- */
/* Lets pods go that no longer match and takes orphans that do.  True if calls were made: plan when they have ended. */
bool owned_claim(struct owned *o, struct calls *calls, const char *key, const struct claim_request *r);

#endif
