// SPDX-License-Identifier: Apache-2.0
/* http.h - the HTTP/1.1 server: TLS on TCP, plain on a Unix socket
 *
 * It parses requests with libhttp-parser, one at a time per connection (pipelined requests wait their turn), and calls
 * the handler with a whole request.  The handler, or anyone it hands the request to, answers later by http_reply() or
 * by a stream.  A request that cannot be parsed is answered here, by the error function, so that even a malformed one
 * gets a Status.  evhttp is not used: it answers bad requests itself in HTML and cannot hand over a connection for an
 * upgrade.  Nor are bufferevents: a reply goes from one buffer to the socket in one write, and a quiet connection keeps
 * no buffers.
 *
 * Life of a request: it lives from the handler call until its reply is queued or its connection dies.  A holder that
 * waits (for a commit, for a watch event) sets http_on_close() and must forget the request when that is called.  A
 * client that has only stopped sending still gets a reply, but a stream ends for it.
 */
#ifndef STOKER_LOOP_HTTP_H
#define STOKER_LOOP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct http_server;
struct http_request;
struct tls_server;

/* Who is at the other end, as the transport knows it. */
struct http_peer {
	bool local; /* Unix socket: uid and gid are the kernel's word */
	uid_t uid;
	gid_t gid;
	pid_t pid;
	const char *cert_user;          /* TLS client certificate, verified: CN, or NULL */
	const char *const *cert_groups; /* its O values, NULL-terminated, or NULL */
	const char *address;            /* "127.0.0.1:4711" or "unix" for the audit log */
};

struct http_handlers {
	/* A whole request has arrived. */
	void (*request)(void *arg, struct http_request *req);
	/* A request could not be read: fill `body` (and its type) for this error and the code of the status line. */
	void (*bad_request)(void *arg, const struct err *e, int code, struct sbuf *body, const char **ret_type);
	void *arg;
};

struct http_server *http_server_new(struct loop *loop, const struct http_handlers *handlers);
/* Closes listeners and every connection. */
void http_server_free(struct http_server *s);
/* HOST:PORT with TLS (plain if `tls` is NULL: for tests).  Port 0 picks one; *ret_port is the one in use. */
int http_listen_tcp(struct http_server *s, const char *host, int port, struct tls_server *tls, int *ret_port,
		    struct err *e);
/* As base/limits.h says unless set; for tests and for settings.  Before the first http_listen_*(). */
struct http_limits {
	size_t connections, url, headers, body;
	int64_t request_ms; /* to send a whole request, or to take a whole reply without progress */
	int64_t idle_ms;
	int64_t sweep_ms; /* how often both are looked at while there are connections */
};
void http_server_set_limits(struct http_server *s, const struct http_limits *limits);

/* Replaces a dead socket file; refuses a live one.  Mode 0666: identity comes from peer credentials. */
int http_listen_unix(struct http_server *s, const char *path, struct err *e);
/* No new connections; those idle are closed, those with a request under way close after it. */
void http_server_drain(struct http_server *s);
size_t http_server_connections(const struct http_server *s);

/* The request. Strings live as long as it does. */
const char *http_method(const struct http_request *req);
/* Path as sent, still percent-encoded, without the query. */
struct str http_path(const struct http_request *req);
/* After '?', or empty. */
struct str http_query(const struct http_request *req);
/* Header by name in any case; NULL if absent.  Repeated headers: the first; see http_header_next. */
const char *http_header(const struct http_request *req, const char *name);
/* All values of a repeated header: start with *pos = 0. */
const char *http_header_next(const struct http_request *req, const char *name, size_t *pos);
/* All headers in order: start with *pos = 0; false at the end. */
bool http_header_each(const struct http_request *req, size_t *pos, const char **ret_name, const char **ret_value);
struct str http_body(const struct http_request *req);
const struct http_peer *http_peer(const struct http_request *req);

/* Called once if the connection goes away before the reply or during a stream.  After it the request is gone. */
void http_on_close(struct http_request *req, void (*fn)(void *arg), void *arg);

/* Adds a header to the reply; before http_reply or http_stream_start. */
void http_add_header(struct http_request *req, const char *name, const char *value);
/* Answers and ends the request. The body is copied. */
void http_reply(struct http_request *req, int code, const char *type, const void *body, size_t n);
/* Answers with a body made of several parts, each copied once. */
void http_reply_parts(struct http_request *req, int code, const char *type, const struct str *parts, size_t nparts);

/* A streamed reply (chunked).  http_stream_write() queues, and what a turn has queued leaves together at its end;
 * http_stream_pending() says how many bytes the client has not taken yet; on_drained is called when it has taken all.
 * http_stream_end() ends cleanly, http_stream_abort() cuts; after either the request is gone, and on_close is not
 * called. */
void http_stream_start(struct http_request *req, int code, const char *type);
/* The same for another server's reply, whose headers have all been added; `sized`: among them its length, or it has no
 * body.  Then exactly that many bytes must be written; who cannot, aborts. */
void http_stream_relay(struct http_request *req, int code, bool sized);
void http_stream_write(struct http_request *req, const void *p, size_t n);
void http_stream_write_parts(struct http_request *req, const struct str *parts, size_t nparts);
/* The same text for many streams: framed once, shared by reference.  Born with one reference. */
struct http_shared;
struct http_shared *http_shared_new(const struct str *parts, size_t nparts);
void http_shared_unref(struct http_shared *shared);
void http_stream_write_shared(struct http_request *req, struct http_shared *shared);
size_t http_stream_pending(const struct http_request *req);
void http_stream_on_drained(struct http_request *req, void (*fn)(void *arg), void *arg);
void http_stream_end(struct http_request *req);
void http_stream_abort(struct http_request *req);

/* --- tunnels (loop/http_tunnel.c) ---
 * A connection leaves HTTP: the handler has chosen a protocol that the client offered.  From then on there are bytes in
 * both directions, those that came right behind the request first, and no limit on silence. */
struct http_tunnel;
struct http_tunnel_handlers {
	void (*data)(void *arg, struct str bytes);
	void (*drained)(void *arg); /* the client has taken all; may be NULL */
	/* Once, when the connection is gone and the tunnel with it; not after http_tunnel_close(). */
	void (*closed)(void *arg);
	void *arg;
};
/* Sends 101 with `Connection: Upgrade`, `Upgrade: protocol` and the headers added so far.  The request is gone after
 * it.  No handler is called before it returns. */
struct http_tunnel *http_upgrade(struct http_request *req, const char *protocol, const struct http_tunnel_handlers *h);
/* Whether the client offers to leave HTTP for this protocol (in any case). */
bool http_wants_upgrade(const struct http_request *req, const char *protocol);
/* The first of `ours` (ended by NULL) that the client offers in this header, which is a list and may be repeated; or
 * NULL. */
const char *http_choose(const struct http_request *req, const char *header, const char *const *ours);
/* Queues; what a turn has queued leaves together at its end. */
void http_tunnel_write(struct http_tunnel *t, const void *p, size_t n);
/* The same as a TLS record of its own: python's client looks at the socket, not into its TLS, for the next message. */
void http_tunnel_write_message(struct http_tunnel *t, const void *p, size_t n);
size_t http_tunnel_pending(const struct http_tunnel *t);
/* No data is handed over while paused, but the end of the client is still noticed. */
void http_tunnel_pause(struct http_tunnel *t, bool paused);
/* Ends after what is queued has left; the tunnel is gone, and no handler is called any more. */
void http_tunnel_close(struct http_tunnel *t);
struct loop *http_tunnel_loop(const struct http_tunnel *t);

/* --- pure helpers (loop/http_path.c), fuzzed --- */
/* Percent-decodes one path segment or query value ('+' is a space when `query`).  False for a bad escape, NUL or
 * invalid UTF-8. */
bool http_unescape(struct str in, bool query, struct sbuf *out);
/* Next k=v of a query string, decoded into the buffers (reset first); false at the end or, with *bad set, on a bad
 * escape. */
bool http_query_next(struct str *rest, struct sbuf *key, struct sbuf *value, bool *bad);

#endif
