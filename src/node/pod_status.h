// SPDX-License-Identifier: Apache-2.0
/* pod_status.h - what `kubectl get pod -o yaml` shows of a running pod; pure */
#ifndef STOKER_NODE_POD_STATUS_H
#define STOKER_NODE_POD_STATUS_H

#include <jansson.h>

#include "node/pod_plan.h"
#include "node/runtime.h"

/* One end of a container, as lastState and state.terminated show it. */
struct ctr_end {
	struct exit_info exit;
	int64_t started_us;
	char *reason;   /* NULL: by the exit status: Completed, Error, OOMKilled, ContainerStatusUnknown */
	char *message;  /* termination message, or NULL */
	char *id;       /* container id */
	bool known;     /* there has been one */
	bool asked;     /* its message has been looked for */
	bool signalled; /* it is known that a signal ended it, and no shell that says so */
};

struct ctr_report {
	const char *name, *image, *image_id, *id;
	bool init, sidecar;
	enum ctr_state state;
	const char *waiting_reason, *waiting_message; /* NULL: ContainerCreating or PodInitializing */
	int64_t started_us;
	struct ctr_end end;  /* CTR_EXITED */
	struct ctr_end last; /* the run before this one */
	int restarts;
	bool ready, started;
};

struct pod_report {
	enum pod_phase phase;
	const char *reason, *message; /* Evicted, DeadlineExceeded ... or NULL */
	const char *host_ip, *pod_ip; /* NULL: not yet */
	int64_t start_us;
	bool has_network;
	int64_t activity_us; /* since when it is silent, or is so no more; 0: it always did something, or nobody asks */
	const char *silence; /* in words; NULL: it does something */
	/* Whether it uses its GPUs: since when not, and when it was last looked at; the latter 0: nothing is told. */
	int64_t idle_since_us, idle_at_us;
	const char *idle_text;         /* in words; NULL: it uses them */
	bool idle_long;                /* longer than its queue allows */
	const json_t *used;            /* by a PBS job; or NULL */
	const struct ctr_report *ctrs; /* init containers first */
	size_t n;
};

/* The status for `report`; `old` is the pod's present status (for transition times and fields that are not ours),
 * `spec` its spec. */
json_t *pod_status_make(const json_t *spec, const json_t *old, const struct pod_report *report, int64_t now_us);

#endif
