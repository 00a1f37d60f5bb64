// SPDX-License-Identifier: Apache-2.0
/* http_tunnel.c - connections that have left HTTP
 *
 * A tunnel uses its connection's input and output as a request does: what comes while it is paused is held up to
 * HELD_MAX, so that the end of the client is noticed, and what goes out leaves at the end of the turn.  It stays in the
 * list of busy connections and has no deadline, so neither the sweep nor a crowd of newcomers ends it.
 *
 * A closed tunnel lingers: closing a socket with unread input makes the kernel reset it, and the client would lose the
 * end of what it was sent.
 */
#include <assert.h>
#include <strings.h>

#include "base/mem.h"
#include "loop/http_internal.h"

struct http_tunnel {
	struct http_conn *conn;
	struct http_tunnel_handlers h;
	bool paused;
};

/* --- the way in --- */

/* `Connection: keep-alive, Upgrade`, and the header may be repeated. */
static bool header_has(const struct http_request *req, const char *name, const char *word)
{
	const char *value;
	size_t pos = 0;

	while ((value = http_header_next(req, name, &pos))) {
		struct str rest = str_of(value);
		struct str part;

		while (str_split(&rest, ',', &part)) {
			part = str_trim(part);
			if (part.n == strlen(word) && strncasecmp(part.p, word, part.n) == 0)
				return true;
		}
	}
	return false;
}

const char *http_choose(const struct http_request *req, const char *header, const char *const *ours)
{
	for (; *ours; ours++)
		if (header_has(req, header, *ours))
			return *ours;
	return NULL;
}

bool http_wants_upgrade(const struct http_request *req, const char *protocol)
{
	return !req->http10 && header_has(req, "Connection", "upgrade") && header_has(req, "Upgrade", protocol);
}

static void send_head(struct http_conn *c, const struct http_request *req, const char *protocol)
{
	struct evbuffer *out = conn_out(c);

	evbuffer_add_printf(out, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n",
			    protocol);
	evbuffer_add(out, req->extra.p, req->extra.n);
	evbuffer_add(out, "\r\n", 2);
	conn_flush_later(c);
}

struct http_tunnel *http_upgrade(struct http_request *req, const char *protocol, const struct http_tunnel_handlers *h)
{
	struct http_conn *c = req->conn;
	struct http_tunnel *t = xcalloc(1, sizeof(*t));

	assert(c->state == CONN_HANDLING && !req->streaming);
	t->conn = c;
	t->h = *h;
	send_head(c, req, protocol);
	c->req = NULL;
	server_give_request(c->server, req);
	c->tunnel = t;
	c->state = CONN_TUNNEL;
	c->records = true;
	c->deadline = 0;
	conn_resume(c);
	conn_wake(c); /* for what came behind the request, and for its end */
	return t;
}

/* --- from the connection --- */

bool tunnel_takes(const struct http_conn *c)
{
	return c->tunnel && !c->tunnel->paused;
}

void tunnel_data(struct http_conn *c, struct str bytes)
{
	c->tunnel->h.data(c->tunnel->h.arg, bytes);
}

void tunnel_drained(struct http_conn *c)
{
	if (c->tunnel->h.drained)
		c->tunnel->h.drained(c->tunnel->h.arg);
}

void tunnel_drop(struct http_conn *c)
{
	struct http_tunnel *t = TAKE(c->tunnel);

	if (!t)
		return;
	t->h.closed(t->h.arg);
	free(t);
}

/* --- from the holder --- */

void http_tunnel_write(struct http_tunnel *t, const void *p, size_t n)
{
	if (!n || t->conn->state != CONN_TUNNEL)
		return;
	evbuffer_add(conn_out(t->conn), p, n);
	conn_flush_later(t->conn);
}

void http_tunnel_write_message(struct http_tunnel *t, const void *p, size_t n)
{
	struct evbuffer *one;

	if (!n || t->conn->state != CONN_TUNNEL)
		return;
	one = evbuffer_new();
	if (!one || evbuffer_add(one, p, n) < 0)
		abort();                             /* out of memory, as in base/mem.c */
	evbuffer_add_buffer(conn_out(t->conn), one); /* moves the run as it is */
	evbuffer_free(one);
	conn_flush_later(t->conn);
}

size_t http_tunnel_pending(const struct http_tunnel *t)
{
	return conn_unsent(t->conn);
}

void http_tunnel_pause(struct http_tunnel *t, bool paused)
{
	struct http_conn *c = t->conn;

	if (t->paused == paused || c->state != CONN_TUNNEL)
		return;
	t->paused = paused;
	if (paused)
		return;
	c->deadline = 0;
	conn_resume(c);
	conn_wake(c);
}

void http_tunnel_close(struct http_tunnel *t)
{
	struct http_conn *c = t->conn;

	if (c->state != CONN_TUNNEL) /* its `closed` is being called */
		return;
	conn_enter(c);
	c->tunnel = NULL;
	free(t);
	c->linger_after = true;
	conn_finish(c);
	conn_leave(c);
}

struct loop *http_tunnel_loop(const struct http_tunnel *t)
{
	return t->conn->server->loop;
}
