// SPDX-License-Identifier: Apache-2.0
/* remote_parts.h - what the files of remote sessions share
 *
 *	remote.c       a session, whatever its wire: channels to handlers, how it ended
 *	remote_ws.c    by WebSocket
 *	remote_spdy.c  by SPDY
 */
#ifndef STOKER_LOOP_REMOTE_PARTS_H
#define STOKER_LOOP_REMOTE_PARTS_H

#include "loop/remote.h"
#include "loop/spdy.h"
#include "loop/websocket.h"

/* Kubernetes' numbers; on SPDY they are only ours. */
enum { CHANNEL_STDIN, CHANNEL_STDOUT, CHANNEL_STDERR, CHANNEL_ERROR, CHANNEL_RESIZE, CHANNEL__COUNT };

struct remote_wire {
	/* Bytes of the tunnel; false when they make no sense or the client says goodbye. */
	bool (*receive)(struct remote *r, struct str bytes);
	void (*output)(struct remote *r, int channel, struct str bytes);
	/* Status (may be empty) is the last word.  True if the tunnel may be closed as soon as it has left. */
	bool (*end)(struct remote *r, struct str status);
};

struct remote {
	const struct remote_wire *wire;
	struct remote_handlers h;
	struct remote_wants wants;
	struct http_tunnel *tunnel;
	struct loop *loop;
	struct loop_hook start;
	struct loop_timer timer; /* for a client that does not open its streams, or does not go */
	unsigned version;        /* of the protocol, 1 to 5 */
	unsigned entered;        /* callbacks of this session on the stack */
	bool opened;             /* everything the client must open is open */
	bool started;            /* the owner has been told to */
	bool ended;              /* the owner has let go */
	bool dead;               /* freed by the last one out */
	bool paused, full;       /* input waits for the owner, or for output to leave */
	bool input_over;
	struct sbuf early; /* input that came before the start */
	struct sbuf size;  /* a resize message so far */
	int rows, cols;    /* of the last one; 0: none came */

	/* remote_ws.c */
	struct websocket *ws;
	bool base64;
	int channel;      /* of the message under way; -1: not known yet */
	bool closing;     /* it is 0xff: the next byte names a channel that ends */
	struct sbuf text; /* a base64 message so far */

	/* remote_spdy.c */
	struct spdy *spdy;
	uint32_t ids[CHANNEL__COUNT]; /* 0: not open */
};

/* Bytes on a channel, its end, and the end of a message where there are messages. */
void remote_take(struct remote *r, int channel, struct str bytes);
void remote_take_end(struct remote *r, int channel);
void remote_take_size(struct remote *r);
/* Everything is open. */
void remote_start(struct remote *r);
/* To the client: bytes, or a message. */
void remote_send(void *arg, struct str bytes);
void remote_send_message(void *arg, struct str bytes);
extern const struct http_tunnel_handlers remote_tunnel_handlers;

int remote_ws_accept(struct remote *r, struct http_request *req, struct err *e);
int remote_spdy_accept(struct remote *r, struct http_request *req, struct err *e);

#endif
