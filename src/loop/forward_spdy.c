// SPDX-License-Identifier: Apache-2.0
/* forward_spdy.c - forwarded ports by SPDY, plain or as the bytes of a WebSocket's messages
 *
 * For each connection the client opens an error stream and then a data stream, with the same `requestid` and `port`.
 * The port is dialled when both are there.  The end of either side ends only that direction; a failure is told on the
 * error stream.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/forward_parts.h"

#define PROTOCOL "portforward.k8s.io"

static struct link *find_request(const struct forward *f, const char *request)
{
	struct link *l;

	LIST_FOREACH(l, &f->links, link)
	if (l->request && streq(l->request, request))
		return l;
	return NULL;
}

static struct link *find_stream(const struct forward *f, uint32_t id)
{
	struct link *l;

	LIST_FOREACH(l, &f->links, link)
	if (l->data == id || l->error == id)
		return l;
	return NULL;
}

/* --- in --- */

static bool on_opened(void *arg, uint32_t id, const json_t *headers)
{
	struct forward *f = arg;
	const char *type = jsonx_str_or(headers, "streamtype", "");
	const char *request = jsonx_str(headers, "requestid");
	const char *port = jsonx_str(headers, "port");
	bool error = streq(type, "error");
	auto_free char *made = NULL;
	struct link *l;
	int64_t number;

	if ((!error && !streq(type, "data")) || !port || !str_int64(port, 1, 65535, &number))
		return false;
	/* Clients older than the request id open the two in a row, so the error stream's number will do. */
	if (!request)
		request = made = xasprintf("stream %u", error ? id : id - 2);
	l = find_request(f, request);
	if (l && (l->port != number || (error ? l->error : l->data)))
		return false;
	if (!l) {
		l = link_new(f, (int)number);
		l->request = xstrdup(request);
	}
	if (error)
		l->error = id;
	else
		l->data = id;
	if (l->error && l->data)
		link_dial(l);
	return true;
}

static void on_data(void *arg, uint32_t id, struct str bytes)
{
	struct link *l = find_stream(arg, id);

	if (l && l->data == id)
		link_write(l, bytes);
}

static void on_ended(void *arg, uint32_t id)
{
	struct link *l = find_stream(arg, id);

	if (l && l->data == id)
		link_end(l);
}

static void on_reset(void *arg, uint32_t id)
{
	struct forward *f = arg;
	struct link *l = find_stream(f, id);

	if (!l || l->data != id)
		return;
	spdy_send(f->spdy, l->error, STR(""), true);
	link_free(l);
}

static void on_piece(void *arg, struct str bytes, unsigned flags)
{
	struct forward *f = arg;
	struct err e = ERR_INIT;

	(void)flags;
	if (!f->spdy_broken && spdy_feed(f->spdy, bytes, &e) < 0)
		f->spdy_broken = true;
}

static bool spdy_receive(struct forward *f, struct str bytes)
{
	struct err e = ERR_INIT;

	if (!f->ws)
		return spdy_feed(f->spdy, bytes, &e) == 0;
	return websocket_feed(f->ws, bytes) && !f->spdy_broken;
}

/* --- out --- */

static void send_frame(void *arg, struct str head, struct str body)
{
	struct forward *f = arg;
	const struct str parts[] = { head, body };

	if (f->ws) {
		websocket_send(f->ws, false, parts, ARRAY_SIZE(parts));
	} else {
		forward_send(f, head);
		forward_send(f, body);
	}
}

static void spdy_output(struct link *l, struct str bytes)
{
	spdy_send(l->forward->spdy, l->data, bytes, false);
}

static void spdy_end(struct link *l, const char *why)
{
	struct spdy *s = l->forward->spdy;

	/* The error first: a client that sees the data end may stop listening for it. */
	spdy_send(s, l->error, str_of(why), true);
	spdy_send(s, l->data, STR(""), true);
}

static const struct forward_wire wire = { .receive = spdy_receive, .output = spdy_output, .end = spdy_end };

/* --- the beginning --- */

int forward_spdy_accept(struct forward *f, struct http_request *req, const struct http_tunnel_handlers *h,
			struct err *e)
{
	static const char header[] = "X-Stream-Protocol-Version";
	static const char *const ours[] = { PROTOCOL, NULL };
	const struct spdy_handlers handlers = { on_opened, on_data, on_ended, on_reset, send_frame, f };
	bool websocket = http_wants_upgrade(req, "websocket");
	const char *offered = http_header(req, header);
	const char *chosen = http_choose(req, header, ours);

	if (websocket) {
		if (websocket_upgrade(req, "SPDY/3.1+" PROTOCOL, h, &f->tunnel, e) < 0)
			return -1;
		f->ws = websocket_new(&(struct websocket_handlers){ on_piece, forward_send_message, f });
	} else {
		if (offered && !chosen)
			return err_set(e, ERR_BAD_REQUEST,
				       "unable to upgrade: unable to negotiate protocol: client supports %s", offered);
		if (chosen)
			http_add_header(req, header, chosen);
		f->tunnel = http_upgrade(req, "SPDY/3.1", h);
	}
	f->wire = &wire;
	f->spdy = spdy_new(&handlers);
	return 0;
}
