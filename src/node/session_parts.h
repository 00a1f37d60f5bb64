// SPDX-License-Identifier: Apache-2.0
/* session_parts.h - what the files of a session share; nobody else includes it */
#ifndef STOKER_NODE_SESSION_PARTS_H
#define STOKER_NODE_SESSION_PARTS_H

#include "node/execution.h"
#include "node/session.h"

struct session_out {
	int fd; /* -1: none, or at its end */
	int stream;
	struct loop_fd *watch;
	struct kubelet_session *session;
};

struct kubelet_session {
	LIST_ENTRY(kubelet_session) link;
	struct loop *loop;
	struct runtime *runtime;
	struct kubelet_session_handlers h;
	char *id;
	bool attach, tty, paused;
	bool wants[3]; /* by stream */
	struct execution *execution;
	struct session_out out[2];
	/* input */
	int in_fd; /* -1: none, or over; may be that of out[0] */
	struct loop_fd *in_watch;
	struct sbuf queue;
	size_t taken;             /* from the front of the queue */
	bool in_ends;             /* after what is queued */
	struct loop_hook dropped; /* input that has nowhere to go is taken all the same */
	/* the terminal's size, told again until there is a terminal */
	struct loop_timer resize;
	int rows, cols, resize_tries;
	/* the end */
	bool process_ended;
	int code;
	struct err error;
	struct loop_timer drain;
	struct loop_hook finish;
	/* Handlers may close the session: it is freed when the last of them has returned. */
	int depth;
	bool gone;
};

/* session.c */
struct kubelet_session *session_new(const struct session_where *at, const char *id,
				    const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h);
/* Begins to read. */
void session_watch(struct kubelet_session *s);
/* Frees one that nobody has been given. */
void session_discard(struct kubelet_session *s);
/* done of its process. */
void session_on_process_end(void *arg, int status, const struct err *e);

/* session_input.c */
void session_close_input(struct kubelet_session *s);
void session_tell_drained(void *arg);

/* Around calls of handlers. */
void session_enter(struct kubelet_session *s);
void session_leave(struct kubelet_session *s);

#endif
