// SPDX-License-Identifier: Apache-2.0
/* sock.h - one end of a TCP connection that someone else has begun: bytes both ways with queues and back-pressure
 *
 * For the far side of tunnels: forwarded ports, proxied servers.  Each direction ends on its own.
 */
#ifndef STOKER_LOOP_SOCK_H
#define STOKER_LOOP_SOCK_H

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct sock;

/* A non-blocking socket on its way to a numeric address. */
int sock_dial(const char *address, int port, struct err *e);

/* Any of them may call sock_free(). */
struct sock_handlers {
	void (*connected)(void *arg); /* may be NULL */
	void (*data)(void *arg, struct str bytes);
	void (*ended)(void *arg);   /* the other side sends no more */
	void (*drained)(void *arg); /* it has taken all; may be NULL */
	/* Once: it could not be reached or the connection broke.  Only sock_free() is of use then. */
	void (*failed)(void *arg, const struct err *e);
	void *arg;
};

/* Takes a non-blocking descriptor, connected or on its way.  No handler is called before it returns. */
struct sock *sock_new(struct loop *loop, int fd, const struct sock_handlers *h);
/* Closes; no handler is called any more.  What was queued is lost. */
void sock_free(struct sock *s);
/* Queues until it is connected and the other side takes it. */
void sock_write(struct sock *s, const void *p, size_t n);
size_t sock_pending(const struct sock *s);
/* Nothing is read while paused. */
void sock_pause(struct sock *s, bool paused);
/* Sends no more after what is queued. */
void sock_end(struct sock *s);

#endif
