// SPDX-License-Identifier: Apache-2.0
/* gate_plan.h - which gangs a cluster that others schedule has room for; pure
 *
 * The same world as the server's, with another meaning of its decisions: who starts is not bound but let in, and holds
 * the seats of the plan until somebody else has given his pods nodes.  What is let in is never written down: a pod
 * without the gate is in, and so a killed operator finds everything again.
 */
#ifndef STOKER_SCHED_GATE_PLAN_H
#define STOKER_SCHED_GATE_PLAN_H

#include "loop/gate.h"
#include "sched/feed.h"

#define GATE_BACK_MS 60000 /* so long some pods of a gang may be in and others not, before all begin anew */

struct gate_plan;

/* feed_pod.marks */
enum gate_mark {
	GATE_CLOSED = 1 << 0,  /* it has the gate */
	GATE_WISHED = 1 << 1,  /* it is not made yet */
	GATE_STARTED = 1 << 2, /* its program has run */
};

struct gate_decision {
	enum { GATE_OPEN, GATE_LOOK, GATE_TAKE_BACK } what;
	char *key;      /* LOOK: the gang's, "namespace/tfjobs/name" */
	char *ns, *uid; /* otherwise the pod's */
	char *name;
};
struct gate_decisions {
	struct gate_decision *items;
	size_t n, cap;
	bool more;       /* go on soon */
	int64_t next_ms; /* nothing changes by itself before; TIME_UNKNOWN */
};
void gate_decisions_done(struct gate_decisions *d);

struct gate_plan *gate_plan_new(void);
void gate_plan_free(struct gate_plan *p);
/* For nodes and queues; there is the queue `batch`. */
struct world *gate_plan_world(struct gate_plan *p);

/* A pod as it is now; `ours` if it is of a job that is looked after here, so that it may wait at the gate.  All others
 * only take room. */
void gate_plan_pod(struct gate_plan *p, const json_t *pod, bool ours, int64_t now_ms);
void gate_plan_gone(struct gate_plan *p, const char *uid, int64_t now_ms);
/* See loop/gate.h. */
void gate_plan_wish(struct gate_plan *p, const struct gate_wish *w, bool *ret_go, int64_t now_ms);
/* The gang's job says that it is not to start, or no longer; true if that is new. */
bool gate_plan_hold(struct gate_plan *p, const char *key, bool held);
/* The gate could not be opened: it waits again. */
void gate_plan_failed(struct gate_plan *p, const char *uid);

/* One slice of a pass: whose gate is to be opened, and whose wishes are fulfilled.  *ret is filled anew. */
void gate_plan_pass(struct gate_plan *p, const struct world_slice *slice, struct gate_decisions *ret);
/* What is to be said of those that wait, `most` of them at once, and who was half in for too long.  `mono_ms` is of a
 * clock that nobody sets. */
void gate_plan_say(struct gate_plan *p, int64_t now_ms, int64_t mono_ms, size_t most, struct gate_decisions *ret);
/* All gates, whether there is room or not. */
void gate_plan_open_all(struct gate_plan *p, struct gate_decisions *ret);
enum gate_state gate_plan_state(const struct gate_plan *p, const char *key, const char **ret_why);
/* Whether anything waits. */
bool gate_plan_waiting(const struct gate_plan *p);

/* Whether a pod has the gate. */
bool gate_is_closed(const json_t *pod);

#endif
