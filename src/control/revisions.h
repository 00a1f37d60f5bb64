// SPDX-License-Identifier: Apache-2.0
/* revisions.h - the states of a template over time, kept as ControllerRevisions: for StatefulSets and DaemonSets
 *
 * `kubectl rollout history` lists them and `kubectl rollout undo` puts one back, so their form is Kubernetes': data is
 * the patch {"spec": {"template": {…, "$patch": "replace"}}}, the label controller-revision-hash is in their name, and
 * the numbers only grow.
 */
#ifndef STOKER_CONTROL_REVISIONS_H
#define STOKER_CONTROL_REVISIONS_H

#include "client/client.h"
#include "control/calls.h"

#define LABEL_REVISION_HASH "controller-revision-hash"

struct revisions;

struct revision {
	const json_t *obj;
	const char *name;
	const char *hash; /* its label */
	int64_t number;
};

/* All of them, by the uid of their controller; one cache for all that follow it. */
struct revisions *revisions_new(struct client *c);
void revisions_free(struct revisions *r);
bool revisions_synced(const struct revisions *r);
struct revisions_handlers {
	const char *kind; /* of the owners */
	void (*change)(void *arg, const char *owner_key);
	void (*synced)(void *arg);
	void *arg;
};
void revisions_follow(struct revisions *r, const struct revisions_handlers *h);
void revisions_unfollow(struct revisions *r, void *arg);
/* Those of one owner, oldest first; the caller frees the array.  Valid until the next turn. */
size_t revisions_of(const struct revisions *r, const char *owner_uid, struct revision **ret);

/* --- pure --- */
/* A new one for the owner's template as it is; collisions is status.collisionCount. */
json_t *revision_make(const char *api_version, const char *kind, const json_t *owner, int64_t number,
		      int64_t collisions);
/* Whether a revision has just this data. */
bool revision_same(const struct revision *r, const json_t *made);
/* The template that a revision holds; borrowed. */
const json_t *revision_template(const struct revision *r);

/* What is to be done so that the owner's template has a revision, and old ones do not pile up. */
struct revision_plan {
	const struct revision *update;   /* that of the template as it is; NULL: to be made first */
	json_t *make;                    /* owned, or NULL */
	const struct revision *renumber; /* an old state came back: it gets `number` */
	int64_t number;
	const struct revision **remove; /* beyond spec.revisionHistoryLimit and used by no pod */
	size_t nremove;
};
struct revision_view {
	const char *api_version, *kind;
	const json_t *owner;
	const struct revision *all; /* oldest first */
	size_t n;
	const char *const *used; /* hashes that pods have */
	size_t nused;
};
void revision_plan(const struct revision_view *v, struct revision_plan *p);
void revision_plan_done(struct revision_plan *p);
/* Writes it; true if anything was written: plan the rest when that has been seen.  A name that is taken by another
 * state makes status.collisionCount grow: `collided` is told. */
bool revision_apply(struct calls *calls, const char *key, const struct revision_view *v, const struct revision_plan *p,
		    void (*collided)(void *arg, const char *key), void *arg);

#endif
