// SPDX-License-Identifier: Apache-2.0
/* ask.h - one small question to a server: a TCP connection, or an HTTP(S) GET, with a deadline
 *
 * For probes and hooks, of which a machine may ask hundreds every second: no library is loaded, no connection is kept,
 * certificates are not checked, and errors are worded as Kubernetes words them.
 */
#ifndef STOKER_LOOP_ASK_H
#define STOKER_LOOP_ASK_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct ask;

struct ask_request {
	const char *host; /* an address, or localhost */
	int port;
	bool https;
	const char *path;      /* with query; NULL: only connect */
	const json_t *headers; /* [{"name","value"}] or NULL */
	const char *agent;     /* User-Agent, unless a header says otherwise */
	int64_t timeout_ms;    /* 0: none; for all of it */
	bool follow;           /* redirects to the same host; the answer of another one's is the redirect itself */
	size_t body_max;       /* what is beyond is not waited for */
	/* Once, never from inside ask_start(); the ask is gone after it.  code is 0 for a mere connection.  e->kind is
	 * ERR_NONE, ERR_TIMEOUT, or what went wrong. */
	void (*done)(void *arg, int code, struct str body, const struct err *e);
	void *arg;
};

struct ask *ask_start(struct loop *loop, const struct ask_request *q);
/* No callback will follow. */
void ask_cancel(struct ask *a);

#endif
