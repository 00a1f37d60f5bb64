// SPDX-License-Identifier: Apache-2.0
/* pod_facts.h - what controllers ask of a pod again and again, read from its JSON once; pure */
#ifndef STOKER_CONTROL_POD_FACTS_H
#define STOKER_CONTROL_POD_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define JOB_FINALIZER      "batch.kubernetes.io/job-tracking"
#define JOB_INDEX          "batch.kubernetes.io/job-completion-index"
#define JOB_INDEX_FAILURES "batch.kubernetes.io/job-index-failure-count"
#define JOB_INDEX_IGNORED  "batch.kubernetes.io/job-index-ignored-failure-count"
#define POD_DELETION_COST  "controller.kubernetes.io/pod-deletion-cost"

enum pod_is { POD_IS_PENDING, POD_IS_RUNNING, POD_IS_SUCCEEDED, POD_IS_FAILED, POD_IS_UNKNOWN };

struct pod_facts {
	const json_t *obj; /* all texts are its own */
	const char *name, *uid;
	enum pod_is phase;
	const char *node; /* "" unless it is on one */
	bool deleting, ready, assigned;
	int64_t created, finished; /* seconds since 1970; finished is 0 unless it has ended */
	int64_t ready_since;       /* 0 unless it is ready */
	int64_t restarts;          /* of all its containers, */
	int64_t most_restarts;     /* and of the one that has most */
	int64_t silent_since;      /* 0 unless it says that it does nothing */
	const json_t *stuck;       /* {reason, message} of a container that cannot start, or NULL */
	int deletion_cost;         /* the annotation's word on whom to spare */
	/* What only Jobs ask. */
	bool tracked; /* has JOB_FINALIZER */
	int index;    /* -1: none */
	int index_failures, index_ignored;
};

/* Zeroes for NULL. */
struct pod_facts pod_facts(const json_t *pod);

static inline bool pod_ended(const struct pod_facts *p)
{
	return p->phase == POD_IS_SUCCEEDED || p->phase == POD_IS_FAILED;
}

static inline bool pod_active(const struct pod_facts *p)
{
	return !pod_ended(p) && !p->deleting;
}

/* Ready for so long that it counts as available.  If it is only a matter of time, *again becomes the seconds until
 * then, unless it is less already; -1 means no need. */
bool pod_available(const struct pod_facts *p, int64_t min_ready_seconds, int64_t now, int64_t *again);

/* The reference to what controls an object, or NULL. */
const json_t *controller_of(const json_t *obj);
/* A new reference that makes `owner` the controller of something. */
json_t *controller_ref(const char *api_version, const char *kind, const json_t *owner);
/* Seconds since 1970 of a time in an object, or 0. */
int64_t time_at(const json_t *obj, const char *path);

/* Milliseconds until `seconds` after the whole second that it is now: plans count in those. */
int64_t clock_until_ms(int64_t seconds);

/* Which of two active pods should go first when there are too many: below 0 if a should.  Those that lose the least
 * work: not yet on a node, pending, not ready, ready for a short time, often restarted, young. */
int pod_rank(const struct pod_facts *a, const struct pod_facts *b);

/* The same among pods that are all alike, where more is known: an array of these is sorted by pod_surplus_rank(). Times
 * count only as powers of two, so that it is not always the youngest who go. */
struct pod_surplus {
	const struct pod_facts *pod;
	size_t beside; /* how many of its like are on the same node */
	int64_t now;
};
int pod_surplus_rank(const void *a, const void *b);

#endif
