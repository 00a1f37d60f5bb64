// SPDX-License-Identifier: Apache-2.0
/* remote.h - a command's input and output over a connection: kubectl exec and attach
 *
 * Two wires, the same five channels.  A WebSocket (kubectl 1.30 and newer, python, browsers) puts the channel's number
 * before each message; SPDY/3.1 (older kubectls) has a stream for each.  What goes on behind, a process in a container,
 * is the owner's business (api/rest_exec.c).
 *
 * Back-pressure: the owner watches remote_pending() and stops reading output until `drained`; remote_pause() stops
 * input.
 */
#ifndef STOKER_LOOP_REMOTE_H
#define STOKER_LOOP_REMOTE_H

#include "loop/http.h"

struct remote;

struct remote_wants {
	bool in, out, err, tty;
};

struct remote_handlers {
	/* Everything the client must open is open: time to start.  The size of its terminal, or 0 if it has not told.
	 */
	void (*ready)(void *arg, int rows, int cols);
	void (*input)(void *arg, struct str bytes);
	void (*input_end)(void *arg);
	void (*resize)(void *arg, int rows, int cols);
	void (*drained)(void *arg); /* the client has taken all output */
	/* The client has gone; the session is gone after it.  Not called after remote_end() or remote_close(). */
	void (*closed)(void *arg);
	void *arg;
};

/* Chooses among what the client offers and upgrades; then the request is gone.  No handler is called before it
 * returns. */
int remote_accept(struct http_request *req, const struct remote_wants *wants, const struct remote_handlers *h,
		  struct remote **ret, struct err *e);
/* stream: 1 or 2. */
void remote_output(struct remote *r, int stream, struct str bytes);
size_t remote_pending(const struct remote *r);
void remote_pause(struct remote *r, bool paused);
/* Tells how it ended (err kind other than ERR_NONE: not at all, and why) after all output; the session is gone. */
void remote_end(struct remote *r, int code, const struct err *e);
/* Cuts it off without a word. */
void remote_close(struct remote *r);

#endif
