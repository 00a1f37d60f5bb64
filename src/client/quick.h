// SPDX-License-Identifier: Apache-2.0
/* quick.h - requests over the Unix socket one at a time, for programs that live for a millisecond
 *
 * client_http brings an event loop, libcurl and with it thirty libraries: loading them takes longer than a whole
 * submission.  Here is one connection that is written to and read from in turn.
 */
#ifndef STOKER_CLIENT_QUICK_H
#define STOKER_CLIENT_QUICK_H

#include "base/err.h"
#include "base/str.h"

/* ---- a reply, read in pieces of any size; pure ---- */

enum reply_state { REPLY_HEAD, REPLY_BODY, REPLY_CHUNK, REPLY_CHUNK_END, REPLY_TRAILER, REPLY_DONE };

struct reply {
	enum reply_state state;
	struct sbuf line; /* a line of the head that has not ended */
	int code;
	bool chunked, sized, close;
	uint64_t left; /* of the body, or of this chunk */
};

/* The body as it comes; false stops. */
typedef bool reply_piece(void *arg, struct str piece);

void reply_init(struct reply *r);
void reply_done(struct reply *r);
/* Reads on.  Says how much of it was this reply's (all, unless it is REPLY_DONE), or -1: no HTTP, or stopped by
 * `piece` (e->kind is then ERR_NONE). */
int reply_feed(struct reply *r, struct str bytes, reply_piece *piece, void *arg, struct err *e);

/* ---- the connection ---- */

struct quick;

/* Connects; errno says why it could not. */
int quick_open(const char *socket, struct quick **ret, struct err *e);
void quick_free(struct quick *q);
/* Sends and waits for the whole reply.  `type` is that of the body, or NULL. */
int quick_call(struct quick *q, const char *method, const char *path, const char *type, struct str body, int *ret_code,
	       struct sbuf *reply, struct err *e);
/* GET of text that is told as it comes, until it ends or `piece` says false; the connection cannot be used again.  A
 * signal that interrupts the waiting is an empty piece. */
int quick_stream(struct quick *q, const char *path, int *ret_code, reply_piece *piece, void *arg, struct err *e);

#endif
