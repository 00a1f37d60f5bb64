// SPDX-License-Identifier: Apache-2.0
/* forward_ws.c - forwarded ports by a WebSocket: port i of the query has channel 2i for data and 2i+1 for errors
 *
 * All ports are dialled at the start.  The first message on each channel is the port's number, little-endian, so that
 * the client knows which is which.  A channel cannot end; a failure is told on the error channel.
 */
#include "base/mem.h"
#include "loop/forward_parts.h"

/* --- in --- */

static struct link *find_channel(const struct forward *f, int channel)
{
	struct link *l;

	LIST_FOREACH(l, &f->links, link)
	if ((int)l->data == channel)
		return l;
	return NULL;
}

static void on_piece(void *arg, struct str bytes, unsigned flags)
{
	struct forward *f = arg;
	struct link *l;

	if (flags & WEBSOCKET_FIRST)
		f->channel = -1;
	if (f->channel < 0 && bytes.n) {
		f->channel = (unsigned char)bytes.p[0];
		bytes = (struct str){ bytes.p + 1, bytes.n - 1 };
	}
	l = find_channel(f, f->channel);
	if (l && bytes.n)
		link_write(l, bytes);
}

static bool ws_receive(struct forward *f, struct str bytes)
{
	return websocket_feed(f->ws, bytes);
}

/* --- out --- */

static void send_on(struct forward *f, uint32_t channel, struct str bytes)
{
	char mark = (char)channel;
	struct str parts[] = { { &mark, 1 }, bytes };

	websocket_send(f->ws, false, parts, ARRAY_SIZE(parts));
}

static void ws_output(struct link *l, struct str bytes)
{
	send_on(l->forward, l->data, bytes);
}

/* When all ports have ended there is nothing left to say. */
static void ws_end(struct link *l, const char *why)
{
	struct forward *f = l->forward;
	struct link *other;
	bool open = false;

	if (why)
		send_on(f, l->error, str_of(why));
	LIST_FOREACH(other, &f->links, link)
	open = open || !other->out_over;
	if (!open)
		websocket_bye(f->ws, WEBSOCKET_NORMAL);
}

static const struct forward_wire wire = { .receive = ws_receive, .output = ws_output, .end = ws_end };

/* --- the beginning --- */

static void announce(struct link *l)
{
	const char number[2] = { (char)(l->port & 0xff), (char)(l->port >> 8) };

	send_on(l->forward, l->data, (struct str){ number, sizeof(number) });
	send_on(l->forward, l->error, (struct str){ number, sizeof(number) });
}

int forward_ws_accept(struct forward *f, struct http_request *req, const struct http_tunnel_handlers *h,
		      const int *ports, size_t nports, struct err *e)
{
	static const char *const ours[] = { "v4.channel.k8s.io", NULL };
	const char *chosen = http_choose(req, "Sec-WebSocket-Protocol", ours);

	if (!chosen)
		return err_set(e, ERR_BAD_REQUEST, "unable to upgrade: the WebSocket protocols are %s and %s", ours[0],
			       "SPDY/3.1+portforward.k8s.io");
	if (!nports)
		return err_set(e, ERR_BAD_REQUEST, "query parameter \"ports\" is required");
	if (nports > FORWARD_PORTS_MAX)
		return err_set(e, ERR_BAD_REQUEST, "query parameter \"ports\" has more than %d values",
			       FORWARD_PORTS_MAX);
	if (websocket_upgrade(req, chosen, h, &f->tunnel, e) < 0)
		return -1;
	f->wire = &wire;
	f->ws = websocket_new(&(struct websocket_handlers){ on_piece, forward_send_message, f });
	for (size_t i = 0; i < nports; i++) {
		struct link *l = link_new(f, ports[i]);

		l->data = (uint32_t)(2 * i);
		l->error = (uint32_t)(2 * i + 1);
		announce(l);
	}
	return 0;
}
