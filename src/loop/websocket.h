// SPDX-License-Identifier: Apache-2.0
/* websocket.h - RFC 6455; for this room only
 *
 * The protocol is a machine between bytes and messages that knows no sockets: its owner feeds it what a tunnel brings
 * and sends what it says.  Messages come in pieces as they arrive, so their size needs no limit.  Pings are answered
 * inside.  libwslay does the framing; this is its door.
 */
#ifndef STOKER_LOOP_WEBSOCKET_H
#define STOKER_LOOP_WEBSOCKET_H

#include "loop/http.h"

struct websocket;

enum { WEBSOCKET_FIRST = 1, WEBSOCKET_LAST = 2, WEBSOCKET_TEXT = 4 };

#define WEBSOCKET_NORMAL    1000
#define WEBSOCKET_BAD_DATA  1003
#define WEBSOCKET_TRY_LATER 1011 /* the server cannot go on */

/* Not to free the websocket from. */
struct websocket_handlers {
	/* Part of a message; flags say where it stands.  Bytes may be empty at the end. */
	void (*piece)(void *arg, struct str bytes, unsigned flags);
	/* For the other side: a whole frame. */
	void (*send)(void *arg, struct str bytes);
	void *arg;
};

struct websocket *websocket_new(const struct websocket_handlers *h);
/* The asking side: what it sends is masked. */
struct websocket *websocket_new_client(const struct websocket_handlers *h);
void websocket_free(struct websocket *ws);
/* False when nothing more will come: the other side has said goodbye or broken the rules.  The answer to either has
 * been sent. */
bool websocket_feed(struct websocket *ws, struct str bytes);
/* One message of several parts. */
void websocket_send(struct websocket *ws, bool text, const struct str *parts, size_t nparts);
/* The last message. */
void websocket_bye(struct websocket *ws, int code);

/* --- the handshake --- */
/* Checks key and version, adds the headers of the reply and upgrades; protocol may be NULL. */
int websocket_upgrade(struct http_request *req, const char *protocol, const struct http_tunnel_handlers *h,
		      struct http_tunnel **ret, struct err *e);
/* What proves that we understood the key. */
void websocket_accept_key(const char *key, struct sbuf *out);
/* A key of the asking side's. */
void websocket_new_key(struct sbuf *out);

#endif
