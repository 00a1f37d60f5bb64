// SPDX-License-Identifier: Apache-2.0
/* kubelet.h - what the API asks of the machine that runs a pod: logs, commands, connections, usage
 *
 * The API has a door for requests that no stored object can answer; the node (node/kubelet.c) stands behind it, and
 * cli/serve.c brings the two together.  Neither room includes the other.  Everything is asynchronous and has
 * back-pressure: a slow client stops the container's output from being read, never the loop.
 */
#ifndef STOKER_LOOP_KUBELET_H
#define STOKER_LOOP_KUBELET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct kubelet;
struct kubelet_log;
struct kubelet_session;

/* Which container; `container` is never NULL: the API picks the default one. */
struct kubelet_target {
	const char *ns, *pod, *uid, *container;
};

struct kubelet_log_request {
	struct kubelet_target of;
	bool previous, follow, timestamps;
	int64_t since_us;    /* wall clock; 0 = from the start */
	int64_t tail_lines;  /* -1 = all */
	int64_t limit_bytes; /* -1 = all */
	int attempt;         /* log_kept: which run of the container; -1 = the last */
	int stream;          /* only what went to 1 or 2; 0 = both */
};

struct kubelet_log_handlers {
	void (*text)(void *arg, struct str piece);
	/* Once; the log is gone after it.  e->kind is ERR_NONE at a plain end. */
	void (*end)(void *arg, const struct err *e);
	void *arg;
};

struct kubelet_session_handlers {
	void (*output)(void *arg, int stream /* 1 or 2 */, struct str bytes);
	/* All input has been taken. */
	void (*drained)(void *arg);
	/* Once, after the last output; the session is gone after it.  code: exit status, or the error. */
	void (*ended)(void *arg, int code, const struct err *e);
	void *arg;
};

struct kubelet_exec_request {
	struct kubelet_target of;
	const json_t *command; /* array of texts */
	bool in, out, err, tty;
	int rows, cols; /* of the terminal; 0: not known yet */
};

struct kubelet_ops {
	/* NULL where pods are objects of the API.  Else they are another cluster's: one of them as it is known, a new
	 * reference.  ERR_UNAVAILABLE while nothing is known of them. */
	int (*pod)(struct kubelet *k, const char *ns, const char *name, json_t **ret, struct err *e);

	/* Handlers are never called before these return. */
	int (*log)(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		   struct kubelet_log **ret, struct err *e);
	void (*log_pause)(struct kubelet_log *l, bool paused);
	void (*log_close)(struct kubelet_log *l);
	/* Logs outlive their pods.  What there is by a pod's or a job's name, oldest first; a new reference:
	 * [{"namespace","pod","uid","created","ended" or null,"owner":{"kind","name"},"job",
	 *   "containers":[{"name","init": only if it is true,"attempts":[{"attempt","bytes"}]}]}] */
	json_t *(*logs_find)(struct kubelet *k, const char *ns, const char *name);
	/* One of those, by the target's ns and uid; never follows.  ERR_NOT_FOUND if there is none. */
	int (*log_kept)(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
			struct kubelet_log **ret, struct err *e);
	/* The numbers that these pods, some of what logs_find gave, have printed: {"series":[{"pod","container","run",
	 * "name","by","of","points":[[at,value,"time"]...]}],"left": older runs that were too many}. */
	json_t *(*measures)(struct kubelet *k, const char *ns, const json_t *pods);

	int (*exec)(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		    struct kubelet_session **ret, struct err *e);
	/* To the container's own stdio; `command` is not used. */
	int (*attach)(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		      struct kubelet_session **ret, struct err *e);
	void (*input)(struct kubelet_session *s, struct str bytes);
	size_t (*input_pending)(const struct kubelet_session *s);
	void (*input_end)(struct kubelet_session *s);
	void (*resize)(struct kubelet_session *s, int rows, int cols);
	/* No output is read while paused. */
	void (*pause)(struct kubelet_session *s, bool paused);
	/* The client has gone: an exec's process is killed, a container goes on. */
	void (*close)(struct kubelet_session *s);

	/* A non-blocking TCP socket on its way to 127.0.0.1:port as the pod sees it; the caller's to close. */
	int (*dial)(struct kubelet *k, const struct kubelet_target *of, int port, struct err *e);

	/* {"timestamp","window":seconds,"containers":[{"name","cpu_nano","cpu_total_nano","memory_bytes"}]} of those of
	 * the named containers that run, with cpu as nanocores over the window and as nanoseconds in all; ERR_NOT_FOUND
	 * if there is nothing to tell (yet). */
	int (*pod_usage)(struct kubelet *k, const char *uid, const json_t *containers, json_t **ret, struct err *e);
	/* The same of the whole machine, without containers: {"timestamp","window","cpu_nano","memory_bytes"}, and
	 * its load average over a minute, "load_milli", if it is known. */
	int (*node_usage)(struct kubelet *k, const char *node, json_t **ret, struct err *e);

	/* Either may be NULL.  A signal to every process of the container; text, its newline included, into what the
	 * container prints to (1 or 2). */
	int (*signal)(struct kubelet *k, const struct kubelet_target *of, int signo, struct err *e);
	int (*message)(struct kubelet *k, const struct kubelet_target *of, int stream, struct str text, struct err *e);
};

struct kubelet {
	const struct kubelet_ops *ops;
};

#endif
