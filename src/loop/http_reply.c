// SPDX-License-Identifier: Apache-2.0
/* http_reply.c - replies and streams
 *
 * A reply is put together, head and body, in the server's buffer and sent from there, so that it is one write(2) and
 * one TLS record; only what the socket does not take is queued.  A stream queues its chunks and the connection sends
 * them together at the end of the turn: a watcher gets the events of a commit in one record.
 */
#include <assert.h>
#include <stdio.h>

#include "base/mem.h"
#include "loop/http_internal.h"

#define HEAD_MAX    (24u * 1024) /* the fixed lines, a content type and the extra headers */
#define FRAME_MAX   20           /* a chunk's length in hex, and its line ends */
#define SHARE_BYTES 1024         /* below this a copy is cheaper than a reference */

/* Writes into a buffer whose size has been checked to be enough for what is coming; cuts off if not. */
struct pen {
	char *p;
	size_t n, cap;
};

static void put(struct pen *pen, const void *p, size_t n)
{
	if (n > pen->cap - pen->n)
		n = pen->cap - pen->n;
	if (n)
		memcpy(pen->p + pen->n, p, n);
	pen->n += n;
}

static void puts_(struct pen *pen, const char *s)
{
	put(pen, s, strlen(s));
}

#define PUT(pen, literal) put(pen, literal, sizeof(literal) - 1)

static void put_number(struct pen *pen, size_t v)
{
	char digits[24];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + v % 10);
	while ((v /= 10));
	put(pen, digits + at, sizeof(digits) - at);
}

/* "1a4\r\n" */
static void put_chunk_head(struct pen *pen, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	char digits[FRAME_MAX];
	size_t at = sizeof(digits);

	do
		digits[--at] = hex[n & 15];
	while ((n >>= 4));
	put(pen, digits + at, sizeof(digits) - at);
	PUT(pen, "\r\n");
}

static void put_status_line(struct pen *pen, int code)
{
	PUT(pen, "HTTP/1.1 ");
	put_number(pen, (size_t)code);
	PUT(pen, " ");
	puts_(pen, http_status_str((enum http_status)code));
	PUT(pen, "\r\n");
}

static void put_head(struct pen *pen, struct http_request *req, int code, const char *type)
{
	put_status_line(pen, code);
	if (type) {
		PUT(pen, "Content-Type: ");
		puts_(pen, type);
		PUT(pen, "\r\n");
	}
	PUT(pen, "Date: ");
	puts_(pen, server_date(req->conn->server));
	PUT(pen, "\r\nCache-Control: no-cache, private\r\n");
	put(pen, req->extra.p, req->extra.n);
	if (!req->keep_alive)
		PUT(pen, "Connection: close\r\n");
	else if (req->http10)
		PUT(pen, "Connection: keep-alive\r\n");
}

static size_t parts_length(const struct str *parts, size_t nparts)
{
	size_t n = 0;

	for (size_t i = 0; i < nparts; i++)
		n += parts[i].n;
	return n;
}

static bool has_no_body(int code)
{
	return code == 204 || code == 304 || code < 200;
}

static void send_large(struct http_conn *c, const struct pen *head, const struct str *parts, size_t nparts, size_t n)
{
	struct evbuffer *out = conn_out(c);

	evbuffer_expand(out, head->n + n);
	evbuffer_add(out, head->p, head->n);
	for (size_t i = 0; i < nparts; i++)
		evbuffer_add(out, parts[i].p, parts[i].n);
	conn_flush(c);
}

void http_reply_parts(struct http_request *req, int code, const char *type, const struct str *parts, size_t nparts)
{
	struct http_conn *c = req->conn;
	struct pen pen = { .p = c->server->out, .cap = HEAD_MAX };
	size_t n = parts_length(parts, nparts);

	if (c->state != CONN_HANDLING)
		return;
	assert(!req->streaming);
	if (c->server->draining)
		req->keep_alive = false;
	req->on_close = NULL;
	put_head(&pen, req, code, type);
	if (!has_no_body(code)) {
		PUT(&pen, "Content-Length: ");
		put_number(&pen, n);
		PUT(&pen, "\r\n");
	}
	PUT(&pen, "\r\n");
	if (req->is_head || has_no_body(code))
		n = nparts = 0;
	conn_enter(c);
	if (n <= WRITE_SIZE - HEAD_MAX) {
		pen.cap = WRITE_SIZE;
		for (size_t i = 0; i < nparts; i++)
			put(&pen, parts[i].p, parts[i].n);
		conn_send(c, pen.p, pen.n);
	} else {
		send_large(c, &pen, parts, nparts, n);
	}
	if (c->state != CONN_DEAD)
		conn_answered(c);
	conn_leave(c);
}

void http_reply(struct http_request *req, int code, const char *type, const void *body, size_t n)
{
	http_reply_parts(req, code, type, &(struct str){ body, n }, 1);
}

void reply_fault(struct http_request *req, const struct fault *fault)
{
	struct http_server *s = req->conn->server;
	const char *type = "text/plain";
	struct err e = ERR_INIT;
	auto_sbuf struct sbuf body = SBUF(HEAD_MAX);

	if (fault->limit_at)
		err_set(&e, fault->kind, "%s: limit is %zu bytes", fault->text,
			*(const size_t *)((const char *)&s->limits + fault->limit_at));
	else
		err_set(&e, fault->kind, "%s", fault->text);
	if (s->handlers.bad_request)
		s->handlers.bad_request(s->handlers.arg, &e, fault->code, &body, &type);
	else
		sbuf_addf(&body, "%s\n", e.text);
	req->keep_alive = false;
	http_reply(req, fault->code, type, body.p, body.n);
}

void http_add_header(struct http_request *req, const char *name, const char *value)
{
	sbuf_adds(&req->extra, name);
	sbuf_adds(&req->extra, ": ");
	for (const char *p = value; *p; p++) /* foreign text may not forge a header */
		sbuf_addc(&req->extra, (unsigned char)*p < ' ' || *p == 0x7f ? ' ' : *p);
	sbuf_adds(&req->extra, "\r\n");
}

void http_on_close(struct http_request *req, void (*fn)(void *arg), void *arg)
{
	req->on_close = fn;
	req->close_arg = arg;
}

const struct http_peer *http_peer(const struct http_request *req)
{
	return &req->conn->peer;
}

/* --- streams --- */

void http_stream_start(struct http_request *req, int code, const char *type)
{
	struct http_conn *c = req->conn;
	char head[HEAD_MAX];
	struct pen pen = { .p = head, .cap = sizeof(head) };

	if (c->state != CONN_HANDLING)
		return;
	req->streaming = true;
	req->chunked = !req->http10;
	if (!req->chunked || c->server->draining)
		req->keep_alive = false;
	put_head(&pen, req, code, type);
	if (req->chunked)
		PUT(&pen, "Transfer-Encoding: chunked\r\n");
	PUT(&pen, "\r\n");
	evbuffer_add(conn_out(c), pen.p, pen.n);
	conn_flush_later(c);
	if (c->eof) /* nobody listens any more; tell the holder when it has finished what it is doing */
		conn_wake(c);
}

void http_stream_relay(struct http_request *req, int code, bool sized)
{
	struct http_conn *c = req->conn;
	char line[128];
	struct pen pen = { .p = line, .cap = sizeof(line) };

	if (c->state != CONN_HANDLING)
		return;
	req->streaming = true;
	req->chunked = !sized && !req->http10;
	if ((!sized && req->http10) || c->server->draining)
		req->keep_alive = false;
	put_status_line(&pen, code);
	if (!req->keep_alive)
		PUT(&pen, "Connection: close\r\n");
	if (req->chunked)
		PUT(&pen, "Transfer-Encoding: chunked\r\n");
	evbuffer_add(conn_out(c), pen.p, pen.n);
	evbuffer_add(c->out, req->extra.p, req->extra.n);
	evbuffer_add(c->out, "\r\n", 2);
	conn_flush_later(c);
	if (c->eof)
		conn_wake(c);
}

static bool takes_chunks(const struct http_request *req)
{
	return req->streaming && !req->is_head && req->conn->state == CONN_HANDLING;
}

void http_stream_write_parts(struct http_request *req, const struct str *parts, size_t nparts)
{
	size_t n = parts_length(parts, nparts);
	struct evbuffer_iovec room;
	struct pen pen;

	if (!n || !takes_chunks(req)) /* a chunk of nothing would end the stream */
		return;
	if (evbuffer_reserve_space(conn_out(req->conn), (ev_ssize_t)(n + FRAME_MAX), &room, 1) != 1)
		abort(); /* out of memory, as in base/mem.c */
	pen = (struct pen){ .p = room.iov_base, .cap = n + FRAME_MAX };
	if (req->chunked)
		put_chunk_head(&pen, n);
	for (size_t i = 0; i < nparts; i++)
		put(&pen, parts[i].p, parts[i].n);
	if (req->chunked)
		PUT(&pen, "\r\n");
	room.iov_len = pen.n;
	evbuffer_commit_space(req->conn->out, &room, 1);
	conn_flush_later(req->conn);
}

void http_stream_write(struct http_request *req, const void *p, size_t n)
{
	http_stream_write_parts(req, &(struct str){ p, n }, 1);
}

/* A whole chunk: length line, text, line end. */
struct http_shared {
	unsigned refs;
	size_t head_n, n;
	char frame[];
};

struct http_shared *http_shared_new(const struct str *parts, size_t nparts)
{
	size_t n = parts_length(parts, nparts);
	struct http_shared *shared = xmalloc(sizeof(*shared) + n + FRAME_MAX);
	struct pen pen = { .p = shared->frame, .cap = n + FRAME_MAX };

	shared->refs = 1;
	shared->n = n;
	put_chunk_head(&pen, n);
	shared->head_n = pen.n;
	for (size_t i = 0; i < nparts; i++)
		put(&pen, parts[i].p, parts[i].n);
	PUT(&pen, "\r\n");
	return shared;
}

void http_shared_unref(struct http_shared *shared)
{
	if (shared && --shared->refs == 0)
		free(shared);
}

static void on_shared_sent(const void *data, size_t n, void *arg)
{
	(void)data;
	(void)n;
	http_shared_unref(arg);
}

void http_stream_write_shared(struct http_request *req, struct http_shared *shared)
{
	const char *p = req->chunked ? shared->frame : shared->frame + shared->head_n;
	size_t n = req->chunked ? shared->head_n + shared->n + 2 : shared->n;

	if (!shared->n || !takes_chunks(req))
		return;
	if (n < SHARE_BYTES) {
		evbuffer_add(conn_out(req->conn), p, n);
	} else {
		shared->refs++;
		evbuffer_add_reference(conn_out(req->conn), p, n, on_shared_sent, shared);
	}
	conn_flush_later(req->conn);
}

size_t http_stream_pending(const struct http_request *req)
{
	return conn_unsent(req->conn);
}

void http_stream_on_drained(struct http_request *req, void (*fn)(void *arg), void *arg)
{
	req->on_drained = fn;
	req->drained_arg = arg;
}

void http_stream_end(struct http_request *req)
{
	struct http_conn *c = req->conn;

	if (c->state != CONN_HANDLING)
		return;
	req->on_close = NULL;
	req->on_drained = NULL;
	if (takes_chunks(req) && req->chunked)
		evbuffer_add(conn_out(c), "0\r\n\r\n", 5);
	conn_enter(c);
	conn_flush(c);
	if (c->state != CONN_DEAD)
		conn_answered(c);
	conn_leave(c);
}

void http_stream_abort(struct http_request *req)
{
	req->on_close = NULL;
	conn_close(req->conn);
}
