// SPDX-License-Identifier: Apache-2.0
/* forward.c - forwarded ports, whatever the wire
 *
 * All links share one connection to the client.  When the client does not take what it is sent, no port is read; when a
 * port does not take what it is sent, the client is not read, and its other links wait too: none of the wires can stop
 * one of them alone.
 */
#include "loop/forward.h"

#include "base/mem.h"
#include "loop/forward_parts.h"
#include "loop/http_internal.h"

#define FULL_BYTES  (512u * 1024)  /* unsent to the client */
#define STUCK_BYTES (1024u * 1024) /* unsent to a port */

static void destroy(struct forward *f)
{
	loop_unschedule(f->loop, &f->start);
	while (!LIST_EMPTY(&f->links))
		link_free(LIST_FIRST(&f->links));
	websocket_free(f->ws);
	spdy_free(f->spdy);
	free(f);
}

static void enter(struct forward *f)
{
	f->entered++;
}

static void leave(struct forward *f)
{
	if (--f->entered == 0 && f->dead)
		destroy(f);
}

static void give_up(struct forward *f)
{
	if (f->dead)
		return;
	f->dead = true;
	if (f->tunnel)
		http_tunnel_close(TAKE(f->tunnel));
	f->h.closed(f->h.arg);
}

/* --- back-pressure --- */

static void set_full(struct forward *f)
{
	bool full = f->tunnel && http_tunnel_pending(f->tunnel) > FULL_BYTES;
	struct link *l;

	if (full == f->full)
		return;
	f->full = full;
	LIST_FOREACH(l, &f->links, link)
	if (l->sock)
		sock_pause(l->sock, full);
}

static void set_pause(struct forward *f)
{
	bool stuck = false;
	struct link *l;

	if (!f->tunnel)
		return;
	LIST_FOREACH(l, &f->links, link)
	stuck = stuck || (l->sock && sock_pending(l->sock) > STUCK_BYTES);
	/* Pings are answered and so cost output. */
	http_tunnel_pause(f->tunnel, stuck || http_tunnel_pending(f->tunnel) > 2 * FULL_BYTES);
}

/* --- links --- */

struct link *link_new(struct forward *f, int port)
{
	struct link *l = xcalloc(1, sizeof(*l));

	l->forward = f;
	l->port = port;
	LIST_INSERT_HEAD(&f->links, l, link);
	return l;
}

void link_free(struct link *l)
{
	LIST_REMOVE(l, link);
	sock_free(l->sock);
	free(l->request);
	free(l);
}

/* The port's side is over, for good if there is a reason. */
static void finish_link(struct link *l, const char *why, bool broken)
{
	l->out_over = true;
	l->forward->wire->end(l, why);
	if (broken || (l->in_over && !sock_pending(l->sock)))
		link_free(l);
}

static void on_link_connected(void *arg)
{
	struct link *l = arg;

	l->connected = true;
}

static void on_link_data(void *arg, struct str bytes)
{
	struct link *l = arg;
	struct forward *f = l->forward;

	f->wire->output(l, bytes);
	set_full(f);
}

static void on_link_ended(void *arg)
{
	struct link *l = arg;
	struct forward *f = l->forward;

	enter(f);
	finish_link(l, NULL, false);
	set_pause(f);
	leave(f);
}

static void on_link_drained(void *arg)
{
	struct link *l = arg;
	struct forward *f = l->forward;

	if (l->in_over && l->out_over)
		link_free(l);
	set_pause(f);
}

static void on_link_failed(void *arg, const struct err *e)
{
	struct link *l = arg;
	struct forward *f = l->forward;
	auto_free char *why = xasprintf("error forwarding port %d to pod: %s", l->port, e->text);

	enter(f);
	/* kubectl gives up everything for an error, and a broken connection is just the end of one. */
	finish_link(l, l->connected ? NULL : why, true);
	set_pause(f);
	leave(f);
}

void link_dial(struct link *l)
{
	const struct sock_handlers h = { .connected = on_link_connected,
					 .data = on_link_data,
					 .ended = on_link_ended,
					 .drained = on_link_drained,
					 .failed = on_link_failed,
					 .arg = l };
	struct forward *f = l->forward;
	struct err e = ERR_INIT;
	int fd = f->h.dial(f->h.arg, l->port, &e);

	l->dialled = true;
	if (fd < 0) {
		on_link_failed(l, &e);
		return;
	}
	l->sock = sock_new(f->loop, fd, &h);
	sock_pause(l->sock, f->full);
	if (l->in_over)
		sock_end(l->sock);
}

void link_write(struct link *l, struct str bytes)
{
	if (l->sock && !l->in_over)
		sock_write(l->sock, bytes.p, bytes.n);
}

void link_end(struct link *l)
{
	l->in_over = true;
	if (l->out_over && !sock_pending(l->sock)) /* else when it has taken the rest */
		link_free(l);
	else if (l->sock)
		sock_end(l->sock);
}

/* --- from the tunnel --- */

void forward_send(void *arg, struct str bytes)
{
	struct forward *f = arg;

	if (f->tunnel)
		http_tunnel_write(f->tunnel, bytes.p, bytes.n);
}

void forward_send_message(void *arg, struct str bytes)
{
	struct forward *f = arg;

	if (f->tunnel)
		http_tunnel_write_message(f->tunnel, bytes.p, bytes.n);
}

static void on_data(void *arg, struct str bytes)
{
	struct forward *f = arg;

	enter(f);
	if (!f->wire->receive(f, bytes))
		give_up(f);
	else
		set_pause(f);
	leave(f);
}

static void on_drained(void *arg)
{
	struct forward *f = arg;

	enter(f);
	set_full(f);
	set_pause(f);
	leave(f);
}

static void on_closed(void *arg)
{
	struct forward *f = arg;

	enter(f);
	f->tunnel = NULL;
	give_up(f);
	leave(f);
}

/* --- from the owner --- */

static struct link *next_to_dial(const struct forward *f)
{
	struct link *l;

	LIST_FOREACH(l, &f->links, link)
	if (!l->dialled)
		return l;
	return NULL;
}

/* For the wire that has its links from the beginning. */
static void on_start(void *arg)
{
	struct forward *f = arg;
	struct link *l;

	enter(f);
	while (!f->dead && (l = next_to_dial(f)))
		link_dial(l);
	leave(f);
}

int forward_accept(struct http_request *req, const int *ports, size_t nports, const struct forward_handlers *h,
		   struct forward **ret, struct err *e)
{
	struct forward *f = xcalloc(1, sizeof(*f));
	const struct http_tunnel_handlers th = {
		.data = on_data, .drained = on_drained, .closed = on_closed, .arg = f
	};
	static const char *const pipe[] = { "SPDY/3.1+portforward.k8s.io", NULL };
	bool websocket = http_wants_upgrade(req, "websocket");
	int rc;

	f->h = *h;
	f->loop = req->conn->server->loop;
	LIST_INIT(&f->links);
	f->start = (struct loop_hook){ .run = on_start, .arg = f, .phase = LOOP_WORK };
	if (websocket && !http_choose(req, "Sec-WebSocket-Protocol", pipe))
		rc = forward_ws_accept(f, req, &th, ports, nports, e);
	else if (websocket || http_wants_upgrade(req, "SPDY/3.1"))
		rc = forward_spdy_accept(f, req, &th, e);
	else
		rc = err_set(e, ERR_BAD_REQUEST, "Upgrade request required");
	if (rc < 0) {
		destroy(f);
		return -1;
	}
	if (!LIST_EMPTY(&f->links))
		loop_schedule(f->loop, &f->start);
	*ret = f;
	return 0;
}

void forward_close(struct forward *f)
{
	enter(f);
	f->dead = true;
	if (f->tunnel)
		http_tunnel_close(TAKE(f->tunnel));
	leave(f);
}
