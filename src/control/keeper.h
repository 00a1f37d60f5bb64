// SPDX-License-Identifier: Apache-2.0
/* keeper.h - the frame that controllers of one kind stand in
 *
 * It follows the objects of the kind and their pods, claims pods by the selector, and calls plan() with one object at a
 * time: when something about it changed, when no write for it is under way, and when everything written before has been
 * seen.  plan() decides and writes through the functions below; doing nothing is always safe.
 *
 * A failed write is tried again ever later, a conflict at once: plan() is simply called anew.
 */
#ifndef STOKER_CONTROL_KEEPER_H
#define STOKER_CONTROL_KEEPER_H

#include "client/events.h"
#include "control/calls.h"
#include "control/owned.h"
#include "control/workqueue.h"

struct keeper;

/* How soon a change of a pod is to be looked at. */
enum keeper_when {
	KEEPER_NOT,
	KEEPER_SOON, /* it only shows in numbers, and such changes come in crowds */
	KEEPER_NOW,
};

struct keeper_kind {
	const char *api_version, *kind, *plural; /* "apps/v1", "ReplicaSet", "replicasets" */
	const char *component;                   /* whose events they are: "replicaset-controller" */
	bool plain_selector;                     /* spec.selector is a map of labels */
	const char *finalizer;                   /* that its pods have, or NULL */
	bool no_selector;                        /* pods are known by their owner alone: none is claimed or let go */
	const char *noun;                        /* behind the reasons of events: SuccessfulCreate"Pod"; or NULL */
	bool quiet;                              /* no events for pods made and deleted: there are too many of them */

	/* The object as last seen, its pods claimed: owned_by() has them. */
	void (*plan)(void *arg, const char *key, const json_t *obj);

	/* The rest may be NULL. */
	/* The object came, changed, or went (obj NULL); it is looked at after this. */
	void (*changed)(void *arg, const char *key, const json_t *obj, const json_t *old);
	/* Without it every change counts now.  Either may be NULL. */
	enum keeper_when (*pod_changed)(void *arg, const char *key, const struct pod_facts *pod,
					const struct pod_facts *old);
	/* Calls keeper_may_adopt() for whom the pod may be; without it all selectors of the namespace are tried. */
	void (*orphan)(void *arg, const struct pod_facts *pod);
	/* Whether an object is this controller's to look after. */
	bool (*is_ours)(const json_t *obj);
	/* Whether it may take pods at present (not when it has ended); one that is being deleted never does. */
	bool (*may_adopt)(const json_t *obj);
	/* Whether whatever else the controller follows is complete: call keeper_start() when that comes true. */
	bool (*synced)(void *arg);
	/* Objects and pods are complete: nothing has been looked at yet. */
	void (*started)(void *arg);
	/* Whether a pod may be the object's by more than its labels: one that may not is let go. */
	bool (*is_member)(const json_t *obj, const json_t *pod);
	/* An object was to be looked at and is not there: true if something is still to be done for it, which is
	 * asked again when that has been written. */
	bool (*gone)(void *arg, const char *key);
	/* Any pod went, whoever controlled it: its name is free. */
	void (*pod_gone)(void *arg, const struct pod_facts *pod);
	/* What events say of a pod that was made or deleted (verb: "create", "delete") or, if error is not NULL, was
	 * not; a new text.  Without it they are the words of Job and ReplicaSet. */
	char *(*pod_event)(const json_t *obj, const char *verb, const char *pod, const char *error);
};

/* For pod_changed of kinds that count their pods: phase, readiness, deletion, labels. */
enum keeper_when keeper_pod_counts(void *arg, const char *key, const struct pod_facts *now,
				   const struct pod_facts *old);

/* `owned` is shared and outlives it; NULL if the kind has no pods of its own. */
struct keeper *keeper_new(struct client *c, struct owned *owned, const struct keeper_kind *kind, void *arg);
void keeper_free(struct keeper *k);
void keeper_start(struct keeper *k);
struct workqueue_counts keeper_counts(const struct keeper *k);

/* Keys are "namespace/name". */
char *keeper_key(const json_t *obj);
const json_t *keeper_find(const struct keeper *k, const char *key);
bool keeper_next(const struct keeper *k, size_t *pos, const json_t **ret_obj);
bool keeper_synced(const struct keeper *k);
void keeper_look(struct keeper *k, const char *key);
void keeper_look_after(struct keeper *k, const char *key, int64_t ms);
void keeper_may_adopt(struct keeper *k, const char *key);
/* How often writes for it failed in a row: one that failed makes small steps. */
unsigned keeper_failures(const struct keeper *k, const char *key);
/* For writes of a controller's own: their answers come with the keeper, and keeper_arg() is what it was made with. */
struct calls *keeper_calls(struct keeper *k);
void *keeper_arg(const struct keeper *k);
struct events *keeper_events(struct keeper *k);

/* With the events SuccessfulCreate, FailedCreate, SuccessfulDelete, FailedDelete; what was made or deleted is waited
 * for before the next plan. */
void keeper_create_pod(struct keeper *k, const char *key, const json_t *obj, const json_t *pod);
void keeper_remove_pod(struct keeper *k, const char *key, const json_t *obj, const struct pod_facts *p);
/* With so many seconds to end in rather than its own; -1 for those. */
void keeper_remove_pod_within(struct keeper *k, const char *key, const json_t *obj, const struct pod_facts *p,
			      int64_t seconds);
/* On the revision that was planned for; nothing if it is the status that the object has. */
void keeper_write_status(struct keeper *k, const char *key, const json_t *obj, json_t *status);
/* Its ttlSecondsAfterFinished is over: deletes the object, what it owns before it. */
void keeper_expire(struct keeper *k, const char *key, const json_t *obj);
/* A pod could not be made because what it needs could not: keeper_create_error() tells. */
void keeper_refused(struct keeper *k, const char *key, const char *why);
/* The error of the last creation of a pod for this object, until one succeeds or the object goes; or NULL. */
const char *keeper_create_error(const struct keeper *k, const char *key);
/* The same of deletions. */
const char *keeper_remove_error(const struct keeper *k, const char *key);

#endif
