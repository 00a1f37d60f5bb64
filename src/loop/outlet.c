// SPDX-License-Identifier: Apache-2.0
/* outlet.c - a stream of bytes to a WebSocket */
#include "loop/outlet.h"

#include "base/mem.h"
#include "loop/websocket.h"

struct outlet {
	struct outlet_handlers h;
	struct http_tunnel *tunnel;
	struct websocket *ws;
	bool base64;
};

static void outlet_free(struct outlet *o)
{
	websocket_free(o->ws);
	free(o);
}

static void on_piece(void *arg, struct str bytes, unsigned flags)
{
	(void)arg;
	(void)bytes;
	(void)flags;
}

static void on_send(void *arg, struct str bytes)
{
	struct outlet *o = arg;

	http_tunnel_write_message(o->tunnel, bytes.p, bytes.n);
}

static void on_data(void *arg, struct str bytes)
{
	struct outlet *o = arg;

	if (websocket_feed(o->ws, bytes))
		return;
	http_tunnel_close(o->tunnel);
	o->h.closed(o->h.arg);
	outlet_free(o);
}

static void on_drained(void *arg)
{
	struct outlet *o = arg;

	o->h.drained(o->h.arg);
}

static void on_closed(void *arg)
{
	struct outlet *o = arg;

	o->h.closed(o->h.arg);
	outlet_free(o);
}

int outlet_accept(struct http_request *req, const struct outlet_handlers *h, struct outlet **ret, struct err *e)
{
	static const char header[] = "Sec-WebSocket-Protocol";
	static const char *const ours[] = { "binary.k8s.io", "base64.binary.k8s.io", NULL };
	const char *chosen = http_choose(req, header, ours);
	struct outlet *o = xcalloc(1, sizeof(*o));
	const struct http_tunnel_handlers th = {
		.data = on_data, .drained = on_drained, .closed = on_closed, .arg = o
	};

	o->h = *h;
	o->base64 = chosen == ours[1];
	if (!chosen && http_header(req, header)) {
		free(o);
		return err_set(e, ERR_BAD_REQUEST, "unable to upgrade: the WebSocket protocols are %s and %s", ours[0],
			       ours[1]);
	}
	if (websocket_upgrade(req, chosen, &th, &o->tunnel, e) < 0) {
		free(o);
		return -1;
	}
	o->ws = websocket_new(&(struct websocket_handlers){ on_piece, on_send, o });
	*ret = o;
	return 0;
}

void outlet_write(struct outlet *o, struct str bytes)
{
	auto_sbuf struct sbuf coded = SBUF(SIZE_MAX);

	if (o->base64) {
		base64_encode(bytes.p, bytes.n, &coded);
		bytes = sbuf_str(&coded);
	}
	if (bytes.n)
		websocket_send(o->ws, o->base64, &bytes, 1);
}

size_t outlet_pending(const struct outlet *o)
{
	return http_tunnel_pending(o->tunnel);
}

void outlet_end(struct outlet *o)
{
	websocket_bye(o->ws, WEBSOCKET_NORMAL);
	http_tunnel_close(o->tunnel);
	outlet_free(o);
}
