// SPDX-License-Identifier: Apache-2.0
/* pod_plan.h - what to do next with a pod's containers; pure
 *
 * The pod's worker (pod.c) fills in a view of what is, pod_plan() says what to start and stop and when to look again.
 */
#ifndef STOKER_NODE_POD_PLAN_H
#define STOKER_NODE_POD_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctr_state {
	CTR_WAITING,  /* never started, or waiting to start again */
	CTR_STARTING, /* the runtime is at it */
	CTR_RUNNING,
	CTR_STOPPING, /* told to end */
	CTR_EXITED    /* has ended and has not been dealt with, or stays so */
};

enum restart_policy { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER };

struct ctr_view {
	bool init;    /* runs before the others, in order */
	bool sidecar; /* an init container that keeps running (restartPolicy: Always) */
	enum ctr_state state;
	bool ran;              /* this is not its first run */
	bool started;          /* its startup probe has passed, or it has none */
	int exit_code;         /* CTR_EXITED */
	int failures;          /* starts in a row that did not last: decides the delay */
	int64_t exited_ms;     /* monotonic; when it ended */
	int64_t not_before_ms; /* CTR_WAITING: its image could not be had, ask again then */
};

struct pod_view {
	struct ctr_view *ctrs; /* init containers first, in order */
	size_t n;
	enum restart_policy restart;
	bool deleting; /* being deleted: end everything */
	bool failed;   /* evicted or past its deadline: end everything, phase Failed */
	bool hurry;    /* everything ends and the time for it is over: nobody waits for another any more */
	int64_t now_ms;
};

enum ctr_act {
	ACT_NONE,
	ACT_START,
	ACT_STOP,
	ACT_BACK_OFF /* it will be started again, but not yet */
};
enum pod_phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED };

struct pod_plan {
	enum pod_phase phase;
	bool ending;     /* nothing will be started any more */
	bool held;       /* ... and a sidecar waits for the others to end first */
	bool over;       /* ... and nothing runs: the pod's things can be cleaned up */
	int64_t wake_ms; /* look again then; 0 = only on events */
};

/* How long to wait after the n-th failure in a row: 10, 20, 40 ... 300 seconds. */
int64_t pod_backoff_ms(int failures);
/* The same for a container that has ended: its first restart is immediate. */
int64_t pod_restart_ms(int failures);
/* acts has v->n entries. */
struct pod_plan pod_plan(const struct pod_view *v, enum ctr_act *acts);
const char *pod_phase_name(enum pod_phase p);

#endif
