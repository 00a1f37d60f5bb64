// SPDX-License-Identifier: Apache-2.0
/* proxy.h - what the files of the proxy subresources share
 *
 *	rest_proxy.c    the exchange: request out, reply in, both ways after an upgrade
 *	proxy_head.c    headers on their way through. Pure
 *	proxy_target.c  from [scheme:]name[:port] to a socket
 */
#ifndef STOKER_API_PROXY_H
#define STOKER_API_PROXY_H

#include "api/exchange.h"
#include "loop/backend.h"

/* Where a request goes. */
struct proxy_target {
	int fd; /* on its way; the caller's */
	bool tls;
	char *host; /* address:port, for the Host header */
};

/* "name", "name:port" or "scheme:name:port"; borrowed from `buf`, a copy of the path's segment that is cut up. */
struct proxy_name {
	const char *scheme, *name, *port; /* "" where not given */
};
bool proxy_name_cut(char *buf, struct proxy_name *ret);

/* Finds what the request names, in its namespace. */
int proxy_dial(struct exchange *x, struct proxy_target *ret, struct err *e);

/* Whether a header stays on its side of the proxy; `connection` is the Connection header or NULL. */
bool proxy_keeps(const char *name, const char *connection);
/* The head of the request for the backend; `upgrade` is the protocol it asks for, or NULL. */
void proxy_request_head(const struct http_request *req, const char *method, struct str path, const char *host,
			const char *upgrade, struct sbuf *out);
/* A Location as the client must see it: what leads to the backend itself goes through the proxy again. */
void proxy_location(const char *location, const char *host, const char *prefix, struct sbuf *out);

#endif
