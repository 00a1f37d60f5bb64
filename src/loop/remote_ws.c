// SPDX-License-Identifier: Apache-2.0
/* remote_ws.c - a remote session by WebSocket: the first byte of a message is its channel
 *
 *	v5.channel.k8s.io          as v4, and a message 0xff CHANNEL ends a channel (stdin)
 *	v4.channel.k8s.io          a Status on the error channel at the end
 *	channel.k8s.io             words on the error channel, only if it failed
 *	[v4.]base64.channel.k8s.io the same as text: the channel as a digit, the rest in base64
 */
#include "base/mem.h"
#include "loop/remote_parts.h"

#define CHANNEL_CLOSE 0xff

static const struct {
	const char *name;
	unsigned version;
	bool base64;
} protocols[] = {
	{ "v5.channel.k8s.io", 5, false },       { "v4.channel.k8s.io", 4, false },
	{ "v4.base64.channel.k8s.io", 4, true }, { "channel.k8s.io", 1, false },
	{ "base64.channel.k8s.io", 1, true },
};

/* --- in --- */

static void take_binary(struct remote *r, struct str bytes, unsigned flags)
{
	if (flags & WEBSOCKET_FIRST) {
		r->channel = -1;
		r->closing = false;
	}
	if (r->channel < 0 && bytes.n) {
		r->channel = (unsigned char)bytes.p[0];
		r->closing = r->version >= 5 && r->channel == CHANNEL_CLOSE;
		bytes = (struct str){ bytes.p + 1, bytes.n - 1 };
	}
	if (r->closing && bytes.n) {
		remote_take_end(r, (unsigned char)bytes.p[0]);
		r->closing = false;
	} else {
		remote_take(r, r->channel, bytes);
	}
	if (flags & WEBSOCKET_LAST)
		remote_take_size(r);
}

/* A group of four characters may be cut anywhere, so a message is decoded when it is whole. */
static void take_base64(struct remote *r, struct str bytes, unsigned flags)
{
	auto_sbuf struct sbuf plain = SBUF(r->text.max);

	if (flags & WEBSOCKET_FIRST)
		sbuf_reset(&r->text);
	sbuf_add(&r->text, bytes.p, bytes.n);
	if (!(flags & WEBSOCKET_LAST) || !r->text.n)
		return;
	if (!r->text.over && base64_decode(r->text.p + 1, r->text.n - 1, &plain))
		remote_take(r, r->text.p[0] - '0', sbuf_str(&plain));
	else
		websocket_bye(r->ws, WEBSOCKET_BAD_DATA);
	remote_take_size(r);
	sbuf_reset(&r->text);
}

static void on_piece(void *arg, struct str bytes, unsigned flags)
{
	struct remote *r = arg;

	if (r->dead || r->ended)
		return;
	if (r->base64)
		take_base64(r, bytes, flags);
	else
		take_binary(r, bytes, flags);
}

static bool ws_receive(struct remote *r, struct str bytes)
{
	return websocket_feed(r->ws, bytes);
}

/* --- out --- */

static void ws_output(struct remote *r, int channel, struct str bytes)
{
	auto_sbuf struct sbuf coded = SBUF(SIZE_MAX);
	char mark = (char)(r->base64 ? '0' + channel : channel);
	struct str parts[] = { { &mark, 1 }, bytes };

	if ((channel == CHANNEL_STDOUT && !r->wants.out) || (channel == CHANNEL_STDERR && !r->wants.err))
		return;
	if (r->base64) {
		base64_encode(bytes.p, bytes.n, &coded);
		parts[1] = sbuf_str(&coded);
	}
	websocket_send(r->ws, r->base64, parts, ARRAY_SIZE(parts));
}

static bool ws_end(struct remote *r, struct str status)
{
	if (status.n)
		ws_output(r, CHANNEL_ERROR, status);
	websocket_bye(r->ws, WEBSOCKET_NORMAL);
	return true;
}

static const struct remote_wire wire = { .receive = ws_receive, .output = ws_output, .end = ws_end };

/* --- the beginning --- */

static int choose(struct remote *r, const struct http_request *req, const char **ret, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
		const char *const one[] = { protocols[i].name, NULL };

		*ret = http_choose(req, "Sec-WebSocket-Protocol", one);
		if (!*ret)
			continue;
		r->version = protocols[i].version;
		r->base64 = protocols[i].base64;
		return 0;
	}
	r->version = 1; /* who names none gets the first one there was */
	if (http_header(req, "Sec-WebSocket-Protocol"))
		return err_set(e, ERR_BAD_REQUEST,
			       "unable to upgrade: unable to negotiate protocol: client supports %s",
			       http_header(req, "Sec-WebSocket-Protocol"));
	return 0;
}

int remote_ws_accept(struct remote *r, struct http_request *req, struct err *e)
{
	struct http_tunnel_handlers h = remote_tunnel_handlers;
	const char *protocol = NULL;
	int first = r->wants.out ? CHANNEL_STDOUT : r->wants.err ? CHANNEL_STDERR : CHANNEL_ERROR;

	h.arg = r;
	if (choose(r, req, &protocol, e) < 0 || websocket_upgrade(req, protocol, &h, &r->tunnel, e) < 0)
		return -1;
	r->wire = &wire;
	r->ws = websocket_new(&(struct websocket_handlers){ on_piece, remote_send_message, r });
	ws_output(r, first, STR("")); /* an empty message says that the connection stands, as Kubernetes does */
	remote_start(r);
	return 0;
}
