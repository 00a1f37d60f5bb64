// SPDX-License-Identifier: Apache-2.0
/* remote_ask.h - the asking side of remote.h: a command's input and output from a server, by WebSocket
 *
 * Over a Unix socket, where the kernel says who is at the other end and nothing needs to be encrypted, or to the API of
 * any cluster.
 */
#ifndef STOKER_LOOP_REMOTE_ASK_H
#define STOKER_LOOP_REMOTE_ASK_H

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "loop/trust.h"

struct remote_ask;

/* Any of them may call remote_ask_free(). */
struct remote_ask_handlers {
	void (*opened)(void *arg);                               /* the server has agreed */
	void (*output)(void *arg, int stream, struct str bytes); /* stream: 1 or 2 */
	void (*drained)(void *arg);                              /* all input has left */
	void (*ended)(void *arg, int code, const struct err *e); /* once: exit status, or the error */
	void *arg;
};

/* Where the server is, and as whom it is asked. */
struct remote_ask_place {
	const char *socket; /* else: */
	const char *address;
	int port;
	bool plain; /* without TLS */
	struct tls_trust trust;
	const char *prefix, *token; /* before the path; or NULL */
	const char *const *headers; /* more of them, NULL-terminated; or NULL */
};

/* `path` has the query of exec or attach.  No handler is called before it returns. */
int remote_ask_new(struct loop *loop, const struct remote_ask_place *to, const char *path,
		   const struct remote_ask_handlers *h, struct remote_ask **ret, struct err *e);
void remote_ask_free(struct remote_ask *a);
void remote_ask_input(struct remote_ask *a, struct str bytes);
/* Servers before Kubernetes 1.30 cannot be told: there the input stays open. */
void remote_ask_input_end(struct remote_ask *a);
void remote_ask_resize(struct remote_ask *a, int rows, int cols);
/* Input that has not left yet. */
size_t remote_ask_pending(const struct remote_ask *a);
/* No output is read while paused. */
void remote_ask_pause(struct remote_ask *a, bool paused);

#endif
