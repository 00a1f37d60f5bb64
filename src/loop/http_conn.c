// SPDX-License-Identifier: Apache-2.0
/* http_conn.c - one connection: its birth and death, and the bytes that come in
 *
 * Input is read into a buffer of the server and parsed there; a connection owns bytes only while it has to: pipelined
 * requests (held) and what the socket did not take (out, see http_send.c).  Reading goes on while a request is with its
 * handler, up to HELD_MAX, because that is how the end of the other side is noticed.
 *
 * A callback into the handler may answer, and so close, the connection it came from.  Every way in counts itself in
 * `entered`; conn_close() releases everything at once but the struct, which goes with the last one out.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/http_internal.h"

#define READ_ROUNDS  32                 /* reads before other connections get their turn */
#define LINGER_BYTES (8u * 1024 * 1024) /* of a refused body; more, and a reset is what the client gets */

static void on_readable(evutil_socket_t fd, short what, void *arg);
static void on_writable(evutil_socket_t fd, short what, void *arg);

void conn_enter(struct http_conn *c)
{
	c->entered++;
}

void conn_leave(struct http_conn *c)
{
	if (--c->entered == 0 && c->state == CONN_DEAD)
		free(c);
}

/* --- lists and deadlines --- */

void conn_list_as(struct http_conn *c, bool idle)
{
	struct http_server *s = c->server;

	TAILQ_REMOVE(c->listed_idle ? &s->idle : &s->busy, c, link);
	c->listed_idle = idle;
	TAILQ_INSERT_TAIL(idle ? &s->idle : &s->busy, c, link);
}

void conn_allow(struct http_conn *c, int64_t ms)
{
	c->deadline = clock_mono_ms() + ms;
}

void conn_wake(struct http_conn *c)
{
	event_active(&c->readable, EV_READ, 0);
}

/* --- birth and death --- */

struct http_conn *conn_new(struct http_server *s, int fd, struct tls_server *tls, const struct http_peer *peer)
{
	struct http_conn *c = xcalloc(1, sizeof(*c));
	struct event_base *base = loop_base(s->loop);

	c->server = s;
	c->fd = fd;
	c->peer = *peer;
	snprintf(c->address, sizeof(c->address), "%s", peer->address);
	c->peer.address = c->address;
	c->tls = tls ? tls_conn_new(tls, fd) : NULL;
	c->state = tls ? CONN_HANDSHAKE : CONN_IDLE;
	c->listed_idle = true;
	TAILQ_INSERT_TAIL(&s->idle, c, link);
	s->nconns++;
	conn_allow(c, s->limits.request_ms);
	event_assign(&c->readable, base, fd, EV_READ | EV_PERSIST, on_readable, c);
	event_assign(&c->writable, base, fd, EV_WRITE | EV_PERSIST, on_writable, c);
	event_add(&c->readable, NULL);
	server_watch_time(s);
	return c;
}

/* Tells the holder, if the handler has seen the request at all. */
static void drop_request(struct http_conn *c, bool handled)
{
	struct http_request *req = c->req;

	if (!req)
		return;
	c->req = NULL;
	if (handled && req->on_close)
		req->on_close(req->close_arg);
	server_give_request(c->server, req);
}

void conn_close(struct http_conn *c)
{
	struct http_server *s = c->server;
	bool handled = c->state == CONN_HANDLING;

	if (c->state == CONN_DEAD)
		return;
	c->state = CONN_DEAD;
	conn_enter(c);
	event_del(&c->readable);
	event_del(&c->writable);
	TAILQ_REMOVE(c->listed_idle ? &s->idle : &s->busy, c, link);
	s->nconns--;
	if (c->dirty)
		LIST_REMOVE(c, dirty_link);
	c->dirty = false;
	tls_conn_free(c->tls);
	c->tls = NULL;
	close(c->fd);
	c->fd = -1;
	drop_request(c, handled);
	tunnel_drop(c);
	if (c->out)
		evbuffer_free(c->out);
	c->out = NULL;
	free(c->held);
	c->held = NULL;
	free(c->names);
	c->names = NULL;
	server_watch_time(s);
	conn_leave(c);
}

void conn_close_politely(struct http_conn *c)
{
	if (c->tls)
		tls_conn_goodbye(c->tls);
	conn_close(c);
}

/* --- input --- */

static ssize_t transport_read(struct http_conn *c, char *p, size_t n)
{
	if (c->tls)
		return tls_conn_read(c->tls, p, n);
	return io_result_of(recv(c->fd, p, n, 0), IO_WANT_READ);
}

static void dispatch(struct http_conn *c)
{
	struct http_server *s = c->server;

	c->state = CONN_HANDLING;
	c->deadline = 0;
	conn_list_as(c, false);
	s->handlers.request(s->handlers.arg, c->req);
}

static void refuse(struct http_conn *c, const struct fault *fault)
{
	c->state = CONN_HANDLING;
	c->linger_after = true;
	conn_list_as(c, false);
	reply_fault(c->req, fault);
}

static bool takes_input(const struct http_conn *c)
{
	return c->state == CONN_IDLE || c->state == CONN_READING;
}

/* Parses and dispatches as long as the connection takes input; returns the bytes used. */
static size_t consume_requests(struct http_conn *c, const char *p, size_t n)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	size_t used = 0;

	while (used < n && takes_input(c)) {
		if (c->state == CONN_IDLE) {
			c->req = server_take_request(c->server);
			c->req->conn = c;
			c->state = CONN_READING;
			c->deadline = 0;
		}
		used += request_feed(c->req, p + used, n - used);
		if (c->req->fault) {
			refuse(c, c->req->fault);
		} else if (c->req->done) {
			dispatch(c);
		} else if (c->req->wants_continue) {
			c->req->wants_continue = false;
			conn_send(c, go_on, sizeof(go_on) - 1);
		}
	}
	/* From here on the clock runs for the rest of a request; a whole one never needed it. */
	if (c->state == CONN_READING && !c->deadline)
		conn_allow(c, c->server->limits.request_ms);
	return used;
}

static size_t consume(struct http_conn *c, const char *p, size_t n)
{
	size_t used = consume_requests(c, p, n);

	if (used == n || !tunnel_takes(c))
		return used;
	tunnel_data(c, (struct str){ p + used, n - used });
	return n;
}

static bool forgets_input(const struct http_conn *c)
{
	return c->state == CONN_DEAD || c->state == CONN_LINGER;
}

size_t conn_held(const struct http_conn *c)
{
	return c->held_n - c->held_at;
}

void conn_resume(struct http_conn *c)
{
	if (c->paused)
		event_add(&c->readable, NULL);
	c->paused = false;
}

static void hold(struct http_conn *c, const char *p, size_t n)
{
	size_t old = conn_held(c);
	char *grown = xmalloc(old + n);

	if (old)
		memcpy(grown, c->held + c->held_at, old);
	memcpy(grown + old, p, n);
	free(c->held);
	c->held = grown;
	c->held_at = 0;
	c->held_n = old + n;
}

static void consume_held(struct http_conn *c)
{
	while (conn_held(c) && (takes_input(c) || tunnel_takes(c))) {
		char *p = c->held;
		size_t at = c->held_at;
		size_t n = conn_held(c);
		size_t used;

		/* Taken out meanwhile: the handler may close the connection under us. */
		c->held = NULL;
		c->held_n = c->held_at = 0;
		used = consume(c, p + at, n);
		if (forgets_input(c) || used == n) {
			free(p);
			continue;
		}
		c->held = p;
		c->held_at = at + used;
		c->held_n = at + n;
	}
}

static void take_input(struct http_conn *c, const char *p, size_t n)
{
	size_t used = conn_held(c) ? 0 : consume(c, p, n);

	if (used < n && !forgets_input(c))
		hold(c, p + used, n - used);
}

/* A Unix socket tells whether the other side has closed or only stopped sending; TCP does not. */
static bool peer_is_gone(const struct http_conn *c)
{
	struct pollfd p = { .fd = c->fd };

	return c->peer.local && poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR));
}

/* The other side will send no more. */
static void after_eof(struct http_conn *c)
{
	if (takes_input(c) && !conn_held(c))
		conn_close_politely(c);
	else if (c->state == CONN_HANDLING && (c->req->streaming || peer_is_gone(c)))
		conn_close(c);
	else if (c->state == CONN_TUNNEL && !conn_held(c))
		conn_close_politely(c);
	else if (c->state == CONN_TUNNEL) /* its holder does not want the rest yet, but may not wait for ever */
		conn_allow(c, c->server->limits.request_ms);
}

static void read_input(struct http_conn *c)
{
	struct http_server *s = c->server;

	for (int round = 0; round < READ_ROUNDS; round++) {
		bool wanted = takes_input(c) || tunnel_takes(c);
		size_t room = wanted ? READ_SIZE : HELD_MAX - (conn_held(c) < HELD_MAX ? conn_held(c) : HELD_MAX);
		ssize_t n;

		if (!room) {
			event_del(&c->readable);
			c->paused = true;
			return;
		}
		n = transport_read(c, s->in, room < READ_SIZE ? room : READ_SIZE);
		if (n > 0) {
			take_input(c, s->in, (size_t)n);
		} else if (n == IO_EOF) {
			c->eof = true;
			event_del(&c->readable);
			return;
		} else {
			if (n == IO_FAILED)
				conn_close(c);
			else if (n == IO_WANT_WRITE)
				conn_wait_writable(c, true);
			return;
		}
		if (forgets_input(c) || !c->tls || !tls_conn_pending(c->tls))
			return;
	}
	conn_wake(c);
}

static void shake_hands(struct http_conn *c)
{
	int result = tls_conn_handshake(c->tls);

	conn_wait_writable(c, result == IO_WANT_WRITE);
	if (result == IO_WANT_READ || result == IO_WANT_WRITE)
		return;
	if (result != 1) {
		conn_close(c);
		return;
	}
	c->names = tls_conn_names(c->tls);
	if (c->names) {
		c->peer.cert_user = c->names->user;
		c->peer.cert_groups = c->names->groups;
	}
	c->state = CONN_IDLE;
}

static void linger(struct http_conn *c)
{
	for (int round = 0; round < READ_ROUNDS; round++) {
		ssize_t n = recv(c->fd, c->server->in, READ_SIZE, 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		c->lingered += n > 0 ? (size_t)n : 0;
		if (n <= 0 || c->lingered > LINGER_BYTES) {
			conn_close(c);
			return;
		}
	}
}

static void progress(struct http_conn *c)
{
	if (c->state == CONN_HANDSHAKE)
		shake_hands(c);
	if (c->state == CONN_LINGER) {
		linger(c);
		return;
	}
	if (c->state == CONN_HANDSHAKE || c->state == CONN_DEAD)
		return;
	consume_held(c);
	if (!forgets_input(c) && !c->eof && !c->paused)
		read_input(c);
	if (c->eof && c->state != CONN_DEAD)
		after_eof(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct http_conn *c = arg;

	(void)fd;
	(void)what;
	conn_enter(c);
	progress(c);
	conn_leave(c);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct http_conn *c = arg;

	(void)fd;
	(void)what;
	conn_enter(c);
	if (conn_unsent(c)) {
		conn_flush(c);
	} else { /* TLS wanted to write before it could read on */
		conn_wait_writable(c, false);
		progress(c);
	}
	conn_leave(c);
}

void conn_expire(struct http_conn *c)
{
	conn_enter(c);
	if (c->state == CONN_READING)
		refuse(c, &fault_timeout);
	else if (c->state == CONN_IDLE)
		conn_close_politely(c);
	else
		conn_close(c);
	conn_leave(c);
}
