// SPDX-License-Identifier: Apache-2.0
/* forward.h - ports of a pod over a connection: kubectl port-forward
 *
 * Three ways: SPDY/3.1; the same SPDY inside a WebSocket (kubectl 1.31 and newer), which is then a pipe for bytes; and
 * a WebSocket with two channels for each port (python).  Connections to the pod are made by the owner's dial().
 */
#ifndef STOKER_LOOP_FORWARD_H
#define STOKER_LOOP_FORWARD_H

#include "loop/http.h"

#define FORWARD_PORTS_MAX 64

struct forward;

struct forward_handlers {
	/* A non-blocking socket on its way to the port; taken over. */
	int (*dial)(void *arg, int port, struct err *e);
	/* The client has gone; so is the forward.  Not called after forward_close(). */
	void (*closed)(void *arg);
	void *arg;
};

/* Chooses among what the client offers and upgrades; then the request is gone.  `ports` are those of the query, which
 * only the third way needs.  No handler is called before it returns. */
int forward_accept(struct http_request *req, const int *ports, size_t nports, const struct forward_handlers *h,
		   struct forward **ret, struct err *e);
void forward_close(struct forward *f);

#endif
