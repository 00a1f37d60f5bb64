// SPDX-License-Identifier: Apache-2.0
/* backend.h - one HTTP/1.1 request to a server that the API stands in front of, and its reply as it comes
 *
 * The socket and the text of the request are the owner's making; here the reply is read, and after a 101 the connection
 * is a pipe.  loop/fetch.h is for our own requests: this one neither follows, collects nor interprets anything.
 */
#ifndef STOKER_LOOP_BACKEND_H
#define STOKER_LOOP_BACKEND_H

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "loop/trust.h"

struct backend;

#define BACKEND_HEAD_MAX    (48u * 1024) /* all headers of a reply */
#define BACKEND_HEADERS_MAX 256

struct backend_head {
	int code;
	bool sized; /* it has a Content-Length, or can have no body */
	size_t n;
	struct backend_header {
		const char *name, *value;
	} headers[BACKEND_HEADERS_MAX];
};

/* Any of them may call backend_free(). */
struct backend_handlers {
	/* Once, and not for 100 and its like; borrowed. */
	void (*head)(void *arg, const struct backend_head *head);
	void (*body)(void *arg, struct str bytes); /* after 101: whatever comes */
	void (*end)(void *arg);                    /* the reply is complete, or the pipe has ended */
	void (*drained)(void *arg);                /* everything written has been taken; may be NULL */
	/* Once, instead of `end`.  ERR_UNAVAILABLE: nobody is there; ERR_BAD_REQUEST: what came is no reply. */
	void (*failed)(void *arg, const struct err *e);
	void *arg;
};

/* Takes a non-blocking socket on its way.  `no_body`: the request was HEAD.  No handler is called before it returns. */
struct backend *backend_new(struct loop *loop, int fd, bool tls, struct str request, bool no_body,
			    const struct backend_handlers *h);
/* At once after it: over TLS, to a server that has to prove who it is; tls was true. */
int backend_trust(struct backend *b, const struct tls_trust *trust, struct err *e);
void backend_free(struct backend *b);
/* After 101. */
void backend_write(struct backend *b, struct str bytes);
size_t backend_pending(const struct backend *b);
void backend_pause(struct backend *b, bool paused);

#endif
