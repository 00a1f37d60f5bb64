// SPDX-License-Identifier: Apache-2.0
/* http_internal.h - what the HTTP server's files share
 *
 *	http.c          the server: limits, the sweep, what is shared by its connections
 *	http_listen.c   listeners, and who may come in
 *	http_conn.c     a connection's birth and death, and the bytes that come in
 *	http_send.c     the bytes that go out
 *	http_request.c  bytes to a request; knows no sockets
 *	http_reply.c    replies and streams
 *	http_tunnel.c   connections that have left HTTP
 */
#ifndef STOKER_LOOP_HTTP_INTERNAL_H
#define STOKER_LOOP_HTTP_INTERNAL_H

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <http_parser.h>
#include <sys/queue.h>

#include "loop/http.h"
#include "loop/tls.h"

#define READ_SIZE  (32u * 1024) /* two TLS records; one read(2) of an ordinary request */
#define WRITE_SIZE (64u * 1024) /* replies up to this size are assembled in place and sent without a queue */
#define HELD_MAX   (64u * 1024) /* pipelined bytes kept while a request is under way */

/* --- requests --- */

struct header {
	uint32_t name, name_len, value; /* offsets into the request's text */
};

/* What is wrong with a request, for the status line; the body comes from the handlers. */
struct fault {
	enum err_kind kind;
	int code;
	const char *text;
	size_t limit_at; /* offset into struct http_limits of the one exceeded; 0: none */
};

struct http_request {
	struct http_conn *conn;
	const struct http_limits *limits;
	struct http_parser parser;

	char *text; /* URL and headers, each ended by NUL */
	size_t text_n, text_cap;
	size_t url_n;
	struct str path, query; /* into text; set when the head is complete */
	struct header *headers;
	size_t nheaders, headers_cap;
	bool in_value, head_done, done;
	char *body;
	size_t body_n, body_cap;
	const struct fault *fault;

	bool keep_alive, http10, is_head, wants_continue;
	bool streaming, chunked;
	void (*on_close)(void *arg);
	void *close_arg;
	void (*on_drained)(void *arg);
	void *drained_arg;
	struct sbuf extra; /* headers of the reply, as they go out */

	SLIST_ENTRY(http_request) free_link;
};

struct http_request *request_new(const struct http_limits *limits);
/* Ready for the next request; buffers are kept unless they grew large. */
void request_reset(struct http_request *req);
void request_free(struct http_request *req);
/* Feeds bytes and returns how many were used.  It stops at the end of the request (done) or at a fault. */
size_t request_feed(struct http_request *req, const char *p, size_t n);

extern const struct fault fault_timeout;

/* --- connections --- */

enum conn_state {
	CONN_HANDSHAKE,
	CONN_IDLE,     /* between requests */
	CONN_READING,  /* part of a request has come */
	CONN_HANDLING, /* the handler has it */
	CONN_TUNNEL,   /* upgraded: bytes both ways, see http_tunnel.c */
	CONN_FLUSHING, /* answered, not all sent */
	CONN_LINGER,   /* a refused request's bytes are read away, so that its reply is not lost to a reset */
	CONN_DEAD,     /* closed; freed when nobody is inside it any more */
};

struct http_conn {
	struct http_server *server;
	TAILQ_ENTRY(http_conn) link; /* in the server's idle or busy list */
	LIST_ENTRY(http_conn) dirty_link;
	struct tls_conn *tls; /* NULL: plain */
	struct http_request *req;
	struct http_tunnel *tunnel;
	struct evbuffer *out; /* unsent bytes; NULL if there never were any */
	char *held;           /* pipelined bytes */
	size_t held_n, held_at;
	struct tls_names *names;
	struct event readable, writable;
	int64_t deadline; /* 0: none */
	size_t lingered;
	int fd;
	enum conn_state state;
	unsigned entered; /* callbacks of this connection on the stack */
	bool listed_idle, dirty, eof, paused, close_after, linger_after;
	bool records; /* queued runs of bytes are TLS records of their own */
	struct http_peer peer;
	char address[64];
};

TAILQ_HEAD(conn_list, http_conn);
LIST_HEAD(conn_dirty, http_conn);

struct http_server {
	struct loop *loop;
	struct http_handlers handlers;
	struct http_limits limits;
	struct listener *listeners;
	struct conn_list idle, busy; /* idle: no request with the handler; oldest first */
	size_t nconns;
	struct conn_dirty dirty; /* streams written to in this turn */
	SLIST_HEAD(, http_request) free_requests;
	size_t nfree;
	struct loop_hook flush;
	struct loop_timer sweep;
	bool draining;
	bool starved; /* no descriptors left; said once */
	int spare_fd; /* given up to accept and refuse a connection when descriptors run out */
	int64_t date_second;
	char date[32];
	char in[READ_SIZE];
	char out[WRITE_SIZE];
};

/* Takes the descriptor. */
struct http_conn *conn_new(struct http_server *s, int fd, struct tls_server *tls, const struct http_peer *peer);
/* Around every way into a connection that may end in its close: the last one out frees it. */
void conn_enter(struct http_conn *c);
void conn_leave(struct http_conn *c);
/* In the list of those without a request under way, or of the others; always at its end. */
void conn_list_as(struct http_conn *c, bool idle);
/* Sets its deadline. */
void conn_allow(struct http_conn *c, int64_t ms);
/* Closes now, tells the holder of a request under way, and frees as soon as nobody is inside. */
void conn_close(struct http_conn *c);
/* Likewise, after saying goodbye. */
void conn_close_politely(struct http_conn *c);
/* Its time is up. */
void conn_expire(struct http_conn *c);
/* Queues bytes after those already waiting, or sends them at once if there are none. */
void conn_send(struct http_conn *c, const char *p, size_t n);
struct evbuffer *conn_out(struct http_conn *c);
size_t conn_unsent(const struct http_conn *c);
void conn_wait_writable(struct http_conn *c, bool wait);
/* What recv() or send() returned, as tls.h says it. */
ssize_t io_result_of(ssize_t n, enum io_result again);
/* Sends what is queued, as far as the socket takes it. */
void conn_flush(struct http_conn *c);
/* Sends what is queued at the end of the turn. */
void conn_flush_later(struct http_conn *c);
/* The request has been answered and its last byte queued. */
void conn_answered(struct http_conn *c);
/* The last byte of what it was opened for is queued: goes on, or ends, when it has left. */
void conn_finish(struct http_conn *c);
/* Looks at its input again in the next turn. */
void conn_wake(struct http_conn *c);

/* Reads go on, after the input was full. */
void conn_resume(struct http_conn *c);
/* Bytes behind those that have been used. */
size_t conn_held(const struct http_conn *c);

/* --- tunnels --- */
/* Whether input may go to the holder now; what comes otherwise is held. */
bool tunnel_takes(const struct http_conn *c);
void tunnel_data(struct http_conn *c, struct str bytes);
void tunnel_drained(struct http_conn *c);
/* The connection dies; tells the holder. */
void tunnel_drop(struct http_conn *c);

/* --- server --- */
struct http_request *server_take_request(struct http_server *s);
void server_give_request(struct http_server *s, struct http_request *req);
/* A connection has come or gone: sets or clears the sweep. */
void server_watch_time(struct http_server *s);
/* The Date header's value. */
const char *server_date(struct http_server *s);

/* Closes all; the connections stay. */
void server_close_listeners(struct http_server *s);

/* Answers a request that could not be read. */
void reply_fault(struct http_request *req, const struct fault *fault);

#endif
