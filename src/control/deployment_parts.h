// SPDX-License-Identifier: Apache-2.0
/* deployment_parts.h - what the files of the Deployment's plan share: a roll-out in numbers; pure */
#ifndef STOKER_CONTROL_DEPLOYMENT_PARTS_H
#define STOKER_CONTROL_DEPLOYMENT_PARTS_H

#include "control/deployment_plan.h"

#define NOTE_DESIRED "deployment.kubernetes.io/desired-replicas"
#define NOTE_MOST    "deployment.kubernetes.io/max-replicas"

struct replica_set {
	const json_t *obj;
	const char *name;
	int64_t created, revision;
	int64_t replicas;               /* that it is to have, so far */
	int64_t have, ready, available; /* what its status says */
	int64_t desired, most;          /* notes of its last size: what the Deployment wanted and allowed; -1: none */
	bool has_pods;

	/* What the plan makes of it. */
	int64_t size;
	bool sized; /* its notes are to be made anew even if its size stays */
};

struct rollout {
	const json_t *deployment;
	int64_t now;
	struct replica_set *sets; /* oldest first */
	size_t n;
	struct replica_set *fresh; /* that of the template as it is, or NULL */
	int64_t want;
	int64_t surge, unavailable; /* pods that may be above and below `want` meanwhile */
	bool rolling;               /* else old pods go first */
	int64_t deadline;           /* progressDeadlineSeconds; -1: none */
};

static inline bool is_old(const struct rollout *r, const struct replica_set *s)
{
	return s != r->fresh;
}

static inline void set_size(struct replica_set *s, int64_t size)
{
	s->size = size;
	s->sized = true;
}

static inline int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Of what a ReplicaSet has only as much counts as it may keep. */
static inline int64_t available(const struct replica_set *s)
{
	return least(s->available, s->size);
}

/* --- deployment_rolling.c --- */
int64_t rollout_total(const struct rollout *r);
/* The size of a ReplicaSet of the new template that has `size` now, or is about to be made with 0. */
int64_t rolling_fresh_size(const struct rollout *r, int64_t size);
/* One step; false if there is none to do now.  The new ReplicaSet exists. */
bool rolling_step(struct rollout *r);

/* --- deployment_scale.c --- */
/* Whether a ReplicaSet was sized for another number of replicas than is wanted now. */
bool scale_needed(const struct rollout *r);
/* To the wanted number without rolling anything out: what is under way keeps its proportions. */
void scale_to_want(struct rollout *r);

/* --- deployment_history.c --- */
struct replica_set *history_find_fresh(struct rollout *r);
/* A ReplicaSet for the template as it is; owned. */
json_t *history_make(const struct rollout *r, int64_t size);
/* The ReplicaSet as it is to be, a new object; NULL if it may stay as it is. */
json_t *history_update(const struct rollout *r, const struct replica_set *s);
/* The new ReplicaSet's number, which counts from here on. */
int64_t history_number(const struct rollout *r);
/* Old ones beyond spec.revisionHistoryLimit, the oldest revisions first, into the plan. */
void history_clean(const struct rollout *r, struct deployment_plan *p);

/* --- deployment_status.c --- */
struct deployment_counts {
	int64_t replicas, updated, ready, available, unavailable;
};
/* Whether the roll-out has come to its end. */
bool status_complete(const struct rollout *r);
/* The new status.  `rolls` if a roll-out may go on: then its progress is judged, and *again may become less. */
json_t *status_make(const struct rollout *r, bool rolls, int64_t *again);

#endif
