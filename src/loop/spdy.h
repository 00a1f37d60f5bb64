// SPDX-License-Identifier: Apache-2.0
/* spdy.h - SPDY/3.1, the server's side, as far as Kubernetes' clients speak it; for this room only
 *
 * A machine between bytes and streams that knows no sockets.  Clients open streams, the server never does.  There is no
 * flow control: none of these clients uses it, and the owner slows the whole connection down instead.
 */
#ifndef STOKER_LOOP_SPDY_H
#define STOKER_LOOP_SPDY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define SPDY_STREAMS_MAX 1024         /* open at once: a port-forward needs two for each connection */
#define SPDY_CONTROL_MAX (32u * 1024) /* bytes of a control frame; kubectl's have some fifty */
#define SPDY_HEADERS_MAX (64u * 1024) /* bytes of a header block, unpacked */

struct spdy;

/* Not to free the machine from. */
struct spdy_handlers {
	/* A stream with these headers, names in lower case.  False refuses it. */
	bool (*opened)(void *arg, uint32_t id, const json_t *headers);
	void (*data)(void *arg, uint32_t id, struct str bytes);
	/* The client sends no more on it. */
	void (*ended)(void *arg, uint32_t id);
	/* The client gave it up: it is gone in both directions. */
	void (*reset)(void *arg, uint32_t id);
	/* For the client: a frame in two parts, the second may be empty. */
	void (*send)(void *arg, struct str head, struct str body);
	void *arg;
};

struct spdy *spdy_new(const struct spdy_handlers *h);
void spdy_free(struct spdy *s);
/* Fails when the client breaks the rules; the connection is of no use after it. */
int spdy_feed(struct spdy *s, struct str bytes, struct err *e);
/* Nothing is sent on a stream that is gone or that has ended from this side. */
void spdy_send(struct spdy *s, uint32_t id, struct str bytes, bool end);
void spdy_reset(struct spdy *s, uint32_t id);
/* No more streams will be taken. */
void spdy_goaway(struct spdy *s);
size_t spdy_streams(const struct spdy *s);

/* --- header blocks (spdy_headers.c) --- */
#define SPDY_DICTIONARY_LEN 1423
extern const char spdy_dictionary[SPDY_DICTIONARY_LEN + 1];

/* Compression in one direction lasts as long as the connection. */
struct spdy_unpacker;
struct spdy_unpacker *spdy_unpacker_new(void);
void spdy_unpacker_free(struct spdy_unpacker *u);
int spdy_unpack(struct spdy_unpacker *u, struct str block, json_t **ret, struct err *e);

struct spdy_packer;
struct spdy_packer *spdy_packer_new(void);
void spdy_packer_free(struct spdy_packer *p);
/* headers: text to text; NULL for none. */
void spdy_pack(struct spdy_packer *p, const json_t *headers, struct sbuf *out);

#endif
