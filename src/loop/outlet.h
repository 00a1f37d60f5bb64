// SPDX-License-Identifier: Apache-2.0
/* outlet.h - a stream of bytes to a WebSocket: logs for browsers, and for those who follow by one
 *
 * Each write is a message, binary or, by the protocol base64.binary.k8s.io, text.  What the client says is not listened
 * to.
 */
#ifndef STOKER_LOOP_OUTLET_H
#define STOKER_LOOP_OUTLET_H

#include "loop/http.h"

struct outlet;

struct outlet_handlers {
	void (*drained)(void *arg); /* the client has taken all */
	void (*closed)(void *arg);  /* the client has gone, and so is the outlet; not after outlet_end() */
	void *arg;
};

/* Upgrades; then the request is gone.  No handler is called before it returns. */
int outlet_accept(struct http_request *req, const struct outlet_handlers *h, struct outlet **ret, struct err *e);
void outlet_write(struct outlet *o, struct str bytes);
size_t outlet_pending(const struct outlet *o);
/* Says goodbye after what is queued; the outlet is gone. */
void outlet_end(struct outlet *o);

#endif
