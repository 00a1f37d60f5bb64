// SPDX-License-Identifier: Apache-2.0
/* forward_parts.h - what the files of port forwarding share
 *
 *	forward.c       a forward and its links, whatever the wire
 *	forward_spdy.c  by SPDY, also inside a WebSocket
 *	forward_ws.c    by a WebSocket with two channels for each port
 */
#ifndef STOKER_LOOP_FORWARD_PARTS_H
#define STOKER_LOOP_FORWARD_PARTS_H

#include <sys/queue.h>

#include "loop/forward.h"
#include "loop/sock.h"
#include "loop/spdy.h"
#include "loop/websocket.h"

/* One connection to a port. */
struct link {
	struct forward *forward;
	LIST_ENTRY(link) link;
	struct sock *sock; /* NULL: not yet, or no more */
	int port;
	uint32_t data, error; /* stream or channel; 0 for a stream that has not come */
	char *request;        /* SPDY: what the two streams have in common */
	bool dialled, connected;
	bool in_over;  /* the client sends no more */
	bool out_over; /* the port sends no more */
};

struct forward_wire {
	/* Bytes of the tunnel; false when they make no sense or the client says goodbye. */
	bool (*receive)(struct forward *f, struct str bytes);
	void (*output)(struct link *l, struct str bytes);
	/* The port sends no more; `why` is NULL when that is all. */
	void (*end)(struct link *l, const char *why);
};

struct forward {
	const struct forward_wire *wire;
	struct forward_handlers h;
	struct http_tunnel *tunnel;
	struct loop *loop;
	LIST_HEAD(, link) links;
	struct loop_hook start;
	struct websocket *ws;
	struct spdy *spdy;
	int channel;      /* forward_ws.c: of the message under way, -1: not known yet */
	bool spdy_broken; /* inside the WebSocket */
	unsigned entered;
	bool dead;
	bool full; /* too much unsent: ports are not read */
};

struct link *link_new(struct forward *f, int port);
void link_free(struct link *l);
/* Dials; a failure goes to wire->end(). */
void link_dial(struct link *l);
/* From the client. */
void link_write(struct link *l, struct str bytes);
void link_end(struct link *l);

/* To the client: bytes, or a message. */
void forward_send(void *arg, struct str bytes);
void forward_send_message(void *arg, struct str bytes);

int forward_spdy_accept(struct forward *f, struct http_request *req, const struct http_tunnel_handlers *h,
			struct err *e);
int forward_ws_accept(struct forward *f, struct http_request *req, const struct http_tunnel_handlers *h,
		      const int *ports, size_t nports, struct err *e);

#endif
