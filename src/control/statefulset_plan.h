// SPDX-License-Identifier: Apache-2.0
/* statefulset_plan.h - what is to be done for a StatefulSet now, from the set, its pods and its revisions alone; pure
 *
 * A pod is its ordinal: <set>-<ordinal>.  Its name, its claims and its place in the order stay when it is made anew,
 * and as names are unique there are never two pods of one ordinal.  OrderedReady goes on only when every pod before is
 * available; Parallel does not wait, but for updates.
 */
#ifndef STOKER_CONTROL_STATEFULSET_PLAN_H
#define STOKER_CONTROL_STATEFULSET_PLAN_H

#include "control/pod_facts.h"
#include "control/revisions.h"

#define SET_VERSION     "apps/v1"
#define SET_KIND        "StatefulSet"
#define SET_PLURAL      "statefulsets"
#define SET_CREATE_MOST 100 /* pods made for one set in a turn, so that a large one does not hold the others */
#define SET_RECREATE_S  5   /* a pod that fails at once is not made anew more often than this */
#define LABEL_POD_NAME  "statefulset.kubernetes.io/pod-name"
#define LABEL_POD_INDEX "apps.kubernetes.io/pod-index"

struct set_view {
	const json_t *set;
	const struct pod_facts *const *pods; /* in no order */
	size_t n;
	const struct revision *current, *update; /* of pods that are not updated, and of the template; either may be
						  * NULL only if the set is being deleted */
	int64_t now;                             /* seconds since 1970 */
	size_t create_most;                      /* 1 after a failed creation */
	const char *refused;                     /* why the last pod could not be made, or NULL */
};

struct set_new_pod {
	int64_t ordinal;
	const struct revision *revision;
};

enum set_why {
	SET_ENDED,    /* it failed or succeeded, and is made anew when it is gone */
	SET_SURPLUS,  /* fewer are wanted */
	SET_OUTDATED, /* to be made anew of the template as it is */
};

struct set_removal {
	const struct pod_facts *pod;
	enum set_why why;
};

struct set_plan {
	struct set_new_pod *create;
	struct set_removal *remove;
	size_t ncreate, nremove, create_cap, remove_cap;
	json_t *status; /* the new one; owned */
	int64_t again;  /* seconds after which to plan again even if nothing happens; -1: no need */
};

void set_plan(const struct set_view *v, struct set_plan *ret);
void set_plan_done(struct set_plan *p);

/* The number in a pod's name, or -1 if that is not a name the set gives. */
int64_t set_ordinal(const json_t *set, const char *pod_name);
/* Whether it is one of those that are wanted. */
bool set_wants(const json_t *set, int64_t ordinal);

/* --- statefulset_status.c --- */
json_t *set_status(const struct set_view *v, int64_t *again);

/* --- statefulset_pod.c --- */
/* The pod itself, new. */
json_t *set_pod(const json_t *set, const struct set_new_pod *p);

/* --- statefulset_claims.c --- */
/* The name of the i-th claim of an ordinal; a new text, NULL beyond the last. */
char *set_claim_name(const json_t *set, size_t i, int64_t ordinal);
/* The claim itself, new. */
json_t *set_claim(const json_t *set, size_t i, int64_t ordinal);
/* What keeps a pod that is to be made from using this claim: it goes with an earlier pod, or is being deleted. */
bool set_claim_is_stale(const json_t *claim, const char *pod_name);
/* The patch by which the set's retention policy holds for a claim of this pod, new, or NULL if it does. */
json_t *set_claim_patch(const json_t *set, const struct pod_facts *pod, const json_t *claim);

#endif
