// SPDX-License-Identifier: Apache-2.0
/* revisions.h - the states of a template over time, kept as ControllerRevisions: for StatefulSets and DaemonSets
 *
 * `kubectl rollout history` lists them and `kubectl rollout undo` puts one back, so their form is Kubernetes': data is
 * the patch {"spec": {"template": {…, "$patch": "replace"}}}, the hash of the template is in their name and a label,
 * and the numbers only grow.
 */
#ifndef STOKER_CONTROL_REVISIONS_H
#define STOKER_CONTROL_REVISIONS_H

#include "client/client.h"
#include "control/calls.h"

/* On pods: the name of their revision (StatefulSet) or its hash (DaemonSet); on a DaemonSet's revisions: the hash. */
#define LABEL_REVISION_HASH "controller-revision-hash"
/* On a StatefulSet's revisions: the hash. */
#define LABEL_REVISION_HASH_OF_SET "controller.kubernetes.io/hash"

struct revisions;

struct revision {
	const json_t *obj;
	const char *name;
	const char *hash; /* its label, or "" */
	int64_t number;
};

/* All of them, by the uid of their controller. */
struct revisions *revisions_new(struct client *c);
/* After all that follow it. */
void revisions_free(struct revisions *r);
bool revisions_synced(const struct revisions *r);
struct revisions_handlers {
	const char *kind;                                 /* of the owners */
	void (*change)(void *arg, const char *owner_key); /* one of the owner's came, changed or went */
	void (*synced)(void *arg);                        /* the first list is complete */
	void *arg;
};
void revisions_follow(struct revisions *r, const struct revisions_handlers *h);
void revisions_unfollow(struct revisions *r, void *arg);
/* Those of one owner, oldest first; the caller frees the array.  Valid until the next turn. */
size_t revisions_of(const struct revisions *r, const char *owner_uid, struct revision **ret);

/* An owner, and what there is of it. */
struct revision_view {
	const char *api_version, *kind, *plural; /* of the owner */
	const json_t *owner;
	const struct revision *all; /* oldest first */
	size_t n;
	const char *const *used; /* names or hashes of those that pods have, or that are needed otherwise */
	size_t nused;
};

/* Takes revisions without a controller that the owner selects.  True if calls were made: plan when they have ended. */
bool revisions_adopt(const struct revisions *r, struct calls *calls, const char *key, const struct revision_view *v);

/* --- revision_plan.c, pure --- */
/* A new one for the owner's template as it is. */
json_t *revision_make(const struct revision_view *v, int64_t number);
/* Whether a revision has just this data. */
bool revision_same(const json_t *a, const json_t *b);
/* The template that a revision holds; borrowed. */
const json_t *revision_template(const struct revision *r);
/* By name or by hash; or NULL. */
const struct revision *revision_find(const struct revision *all, size_t n, const char *name_or_hash);

/* What is to be done so that the owner's template has a revision, and old ones do not pile up. */
struct revision_plan {
	const struct revision *update;   /* that of the template as it is; NULL: it is in `make` */
	json_t *make;                    /* owned, or NULL */
	const struct revision *renumber; /* `update`, if an older state came back: it gets `number` */
	int64_t number;
	const struct revision **remove; /* beyond spec.revisionHistoryLimit and not in use; owned array */
	size_t nremove;
};
void revision_plan(const struct revision_view *v, struct revision_plan *p);
void revision_plan_done(struct revision_plan *p);

/* --- revision_apply.c --- */
/* Makes, renumbers and removes.  True if the template's revision was written: plan the rest when that has been seen.  A
 * name that is taken by another state makes the owner's status.collisionCount grow, which gives the next name. */
bool revision_apply(struct calls *calls, const char *key, const struct revision_view *v, const struct revision_plan *p);

#endif
