// SPDX-License-Identifier: Apache-2.0
/* http_send.c - the bytes that go out, and what follows when the last one has left
 *
 * A reply is sent from its caller's buffer; what the socket does not take waits in the connection's queue for the
 * socket to become writable.  Streams always queue.  A reader that takes nothing for as long as a request may take is
 * cut off, whatever it was sent.  After the last byte of a reply the connection is idle again, or closed, or, when a
 * request was refused before all of it had come, lingers.
 */
#include <errno.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "loop/http_internal.h"

#define FLUSH_BUDGET (1024u * 1024) /* bytes before other connections get their turn */
#define RECORD_SIZE  16384u
#define LINGER_MS    5000

ssize_t io_result_of(ssize_t n, enum io_result again)
{
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? (ssize_t)again : (ssize_t)IO_FAILED;
}

static ssize_t transport_write(struct http_conn *c, const char *p, size_t n)
{
	if (c->tls)
		return tls_conn_write(c->tls, p, n);
	return io_result_of(send(c->fd, p, n, MSG_NOSIGNAL), IO_WANT_WRITE);
}

/* Sends the first run of bytes as it was queued: a message is a record of its own. */
static ssize_t write_run(struct http_conn *c)
{
	struct evbuffer_iovec run = { 0 };

	evbuffer_peek(c->out, RECORD_SIZE, NULL, &run, 1);
	return tls_conn_write(c->tls, run.iov_base, run.iov_len < RECORD_SIZE ? run.iov_len : RECORD_SIZE);
}

/* Sends from the queue; a TLS record wants its bytes in one run. */
static ssize_t transport_write_queue(struct http_conn *c)
{
	size_t n = evbuffer_get_length(c->out);
	ssize_t sent;

	if (!c->tls)
		return io_result_of(evbuffer_write_atmost(c->out, c->fd, FLUSH_BUDGET), IO_WANT_WRITE);
	if (n > RECORD_SIZE)
		n = RECORD_SIZE;
	sent = c->records ? write_run(c)
			  : tls_conn_write(c->tls, (const char *)evbuffer_pullup(c->out, (ev_ssize_t)n), n);
	if (sent > 0)
		evbuffer_drain(c->out, (size_t)sent);
	return sent;
}

struct evbuffer *conn_out(struct http_conn *c)
{
	if (!c->out)
		c->out = evbuffer_new();
	if (!c->out)
		abort(); /* out of memory, as in base/mem.c */
	return c->out;
}

size_t conn_unsent(const struct http_conn *c)
{
	return c->out ? evbuffer_get_length(c->out) : 0;
}

void conn_wait_writable(struct http_conn *c, bool wait)
{
	bool waits = event_pending(&c->writable, EV_WRITE, NULL);

	if (wait && !waits)
		event_add(&c->writable, NULL);
	else if (!wait && waits)
		event_del(&c->writable);
}

static void begin_linger(struct http_conn *c)
{
	c->state = CONN_LINGER;
	if (c->tls)
		tls_conn_goodbye(c->tls);
	shutdown(c->fd, SHUT_WR);
	conn_allow(c, LINGER_MS);
	free(c->held);
	c->held = NULL;
	c->held_n = c->held_at = 0;
	if (c->eof)
		conn_close(c);
	else if (c->paused)
		event_add(&c->readable, NULL);
	c->paused = false;
}

/* The reply has left: on to the next request. */
static void finish(struct http_conn *c)
{
	bool more = conn_held(c) > 0;

	if (c->linger_after || (c->close_after && more)) {
		begin_linger(c);
		return;
	}
	if (c->close_after) {
		conn_close_politely(c);
		return;
	}
	if (c->out) {
		evbuffer_free(c->out);
		c->out = NULL;
	}
	c->state = CONN_IDLE;
	conn_allow(c, c->server->limits.idle_ms);
	conn_list_as(c, true);
	conn_resume(c);
	if (more || c->eof)
		conn_wake(c);
}

void conn_finish(struct http_conn *c)
{
	if (!conn_unsent(c)) {
		finish(c);
		return;
	}
	c->state = CONN_FLUSHING;
	conn_allow(c, c->server->limits.request_ms);
}

void conn_answered(struct http_conn *c)
{
	struct http_request *req = c->req;

	if (!req->keep_alive || c->server->draining)
		c->close_after = true;
	c->req = NULL;
	server_give_request(c->server, req);
	conn_finish(c);
}

/* Everything queued has left. */
static void drained(struct http_conn *c)
{
	conn_wait_writable(c, false);
	if (c->state == CONN_FLUSHING) {
		finish(c);
	} else if (c->state == CONN_HANDLING) {
		c->deadline = 0;
		if (c->req->on_drained)
			c->req->on_drained(c->req->drained_arg);
	} else if (c->state == CONN_TUNNEL) {
		tunnel_drained(c);
	}
}

void conn_flush(struct http_conn *c)
{
	size_t total = 0;

	if (c->state == CONN_DEAD || !conn_unsent(c))
		return;
	conn_enter(c);
	while (conn_unsent(c) && total < FLUSH_BUDGET) {
		ssize_t n = transport_write_queue(c);

		if (n == IO_WANT_WRITE)
			break;
		if (n <= 0) {
			conn_close(c);
			break;
		}
		total += (size_t)n;
	}
	if (c->state != CONN_DEAD && !conn_unsent(c)) {
		drained(c);
	} else if (c->state != CONN_DEAD) {
		conn_wait_writable(c, true);
		/* A stream has none until its reader stands still; behind a tunnel may be a person who has stopped a
		 * terminal. */
		if (c->state != CONN_TUNNEL && (total || !c->deadline))
			conn_allow(c, c->server->limits.request_ms);
	}
	conn_leave(c);
}

void conn_flush_later(struct http_conn *c)
{
	struct http_server *s = c->server;

	if (c->dirty)
		return;
	c->dirty = true;
	LIST_INSERT_HEAD(&s->dirty, c, dirty_link);
	loop_schedule(s->loop, &s->flush);
}

void conn_send(struct http_conn *c, const char *p, size_t n)
{
	while (n && !conn_unsent(c)) {
		ssize_t sent = transport_write(c, p, n);

		if (sent == IO_WANT_WRITE)
			break;
		if (sent <= 0) {
			conn_close(c);
			return;
		}
		p += sent;
		n -= (size_t)sent;
	}
	if (!n)
		return;
	evbuffer_add(conn_out(c), p, n);
	conn_wait_writable(c, true);
}
