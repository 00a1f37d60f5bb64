// SPDX-License-Identifier: Apache-2.0
/* websocket.c - between bytes and messages, by libwslay
 *
 * wslay pulls its input and pushes its output by callbacks; here the input is the piece that is being fed, and when it
 * is used up wslay is told to wait.  Messages are not collected (no_buffering), control frames are, within their 125
 * bytes.
 */
#include "loop/websocket.h"

#include <openssl/evp.h>
#include <wslay/wslay.h>

#include "base/mem.h"
#include "loop/crypto.h"

#define KEY_GUID    "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* the RFC's */
#define KEY_BYTES   16
#define OUT_KEPT    (64u * 1024)        /* larger buffers are given back */
#define MESSAGE_MAX (UINT64_C(1) << 62) /* pieces are handed on, so only wslay's own counting needs an end */

struct websocket {
	struct websocket_handlers h;
	wslay_event_context_ptr ctx;
	struct str in;
	struct sbuf out;   /* a frame comes in parts and leaves whole */
	bool control, fin; /* of the frame under way */
	unsigned flags;    /* of the next piece */
};

/* --- wslay's callbacks --- */

static ssize_t on_recv(wslay_event_context_ptr ctx, uint8_t *buf, size_t n, int flags, void *arg)
{
	struct websocket *ws = arg;

	(void)flags;
	if (!ws->in.n) {
		wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	if (n > ws->in.n)
		n = ws->in.n;
	memcpy(buf, ws->in.p, n);
	ws->in.p += n;
	ws->in.n -= n;
	return (ssize_t)n;
}

static ssize_t on_send(wslay_event_context_ptr ctx, const uint8_t *data, size_t n, int flags, void *arg)
{
	struct websocket *ws = arg;

	(void)ctx;
	(void)flags;
	sbuf_add(&ws->out, data, n);
	return (ssize_t)n;
}

static void on_frame(wslay_event_context_ptr ctx, const struct wslay_event_on_frame_recv_start_arg *f, void *arg)
{
	struct websocket *ws = arg;

	(void)ctx;
	ws->control = wslay_is_ctrl_frame(f->opcode);
	if (ws->control)
		return;
	ws->fin = f->fin;
	if (f->opcode != WSLAY_CONTINUATION_FRAME)
		ws->flags = WEBSOCKET_FIRST | (f->opcode == WSLAY_TEXT_FRAME ? WEBSOCKET_TEXT : 0);
}

static void hand_on(struct websocket *ws, struct str bytes, unsigned also)
{
	unsigned flags = ws->flags | also;

	ws->flags &= ~(unsigned)WEBSOCKET_FIRST;
	ws->h.piece(ws->h.arg, bytes, flags);
}

static void on_chunk(wslay_event_context_ptr ctx, const struct wslay_event_on_frame_recv_chunk_arg *c, void *arg)
{
	struct websocket *ws = arg;

	(void)ctx;
	if (!ws->control && c->data_length)
		hand_on(ws, (struct str){ (const char *)c->data, c->data_length }, 0);
}

static void on_frame_end(wslay_event_context_ptr ctx, void *arg)
{
	struct websocket *ws = arg;

	(void)ctx;
	if (!ws->control && ws->fin)
		hand_on(ws, STR(""), WEBSOCKET_LAST);
}

/* --- the machine --- */

static int on_mask(wslay_event_context_ptr ctx, uint8_t *buf, size_t n, void *arg)
{
	(void)ctx;
	(void)arg;
	crypto_random(buf, n);
	return 0;
}

static struct websocket *make(const struct websocket_handlers *h, bool client)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_recv,
		.send_callback = on_send,
		.genmask_callback = on_mask,
		.on_frame_recv_start_callback = on_frame,
		.on_frame_recv_chunk_callback = on_chunk,
		.on_frame_recv_end_callback = on_frame_end,
	};
	struct websocket *ws = xcalloc(1, sizeof(*ws));
	int rc;

	ws->h = *h;
	sbuf_init(&ws->out, SIZE_MAX); /* as much as the owner sends at once */
	rc = client ? wslay_event_context_client_init(&ws->ctx, &callbacks, ws)
		    : wslay_event_context_server_init(&ws->ctx, &callbacks, ws);
	if (rc != 0)
		abort(); /* out of memory, as in base/mem.c */
	wslay_event_config_set_no_buffering(ws->ctx, 1);
	wslay_event_config_set_max_recv_msg_length(ws->ctx, MESSAGE_MAX);
	return ws;
}

struct websocket *websocket_new(const struct websocket_handlers *h)
{
	return make(h, false);
}

struct websocket *websocket_new_client(const struct websocket_handlers *h)
{
	return make(h, true);
}

void websocket_free(struct websocket *ws)
{
	if (!ws)
		return;
	wslay_event_context_free(ws->ctx);
	sbuf_done(&ws->out);
	free(ws);
}

static bool send_queued(struct websocket *ws)
{
	bool ok = wslay_event_send(ws->ctx) == 0;

	if (ws->out.n)
		ws->h.send(ws->h.arg, sbuf_str(&ws->out));
	if (ws->out.cap > OUT_KEPT)
		sbuf_done(&ws->out);
	sbuf_reset(&ws->out);
	return ok;
}

bool websocket_feed(struct websocket *ws, struct str bytes)
{
	bool ok;

	ws->in = bytes;
	ok = wslay_event_recv(ws->ctx) == 0;
	ok = send_queued(ws) && ok;
	ws->in = STR("");
	return ok && wslay_event_get_read_enabled(ws->ctx) && !wslay_event_get_close_received(ws->ctx);
}

void websocket_send(struct websocket *ws, bool text, const struct str *parts, size_t nparts)
{
	struct wslay_event_msg msg = { .opcode = text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME };
	auto_free uint8_t *joined = NULL;

	for (size_t i = 0; i < nparts; i++)
		msg.msg_length += parts[i].n;
	joined = xmalloc(msg.msg_length + 1);
	for (size_t i = 0, at = 0; i < nparts; at += parts[i++].n)
		if (parts[i].n)
			memcpy(joined + at, parts[i].p, parts[i].n);
	msg.msg = joined;
	/* It refuses only behind a goodbye, when nobody listens. */
	if (wslay_event_queue_msg(ws->ctx, &msg) == 0)
		send_queued(ws);
}

void websocket_bye(struct websocket *ws, int code)
{
	if (wslay_event_queue_close(ws->ctx, (uint16_t)code, NULL, 0) == 0)
		send_queued(ws);
}

/* --- the handshake --- */

void websocket_accept_key(const char *key, struct sbuf *out)
{
	auto_sbuf struct sbuf text = SBUF(256);
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	sbuf_adds(&text, key);
	sbuf_adds(&text, KEY_GUID);
	if (!EVP_Digest(text.p, text.n, digest, &n, EVP_sha1(), NULL))
		abort(); /* SHA-1 is here no secret keeper, and always there */
	base64_encode(digest, n, out);
}

void websocket_new_key(struct sbuf *out)
{
	unsigned char raw[KEY_BYTES];

	crypto_random(raw, sizeof(raw));
	base64_encode(raw, sizeof(raw), out);
}

int websocket_upgrade(struct http_request *req, const char *protocol, const struct http_tunnel_handlers *h,
		      struct http_tunnel **ret, struct err *e)
{
	const char *key = http_header(req, "Sec-WebSocket-Key");
	const char *version = http_header(req, "Sec-WebSocket-Version");
	auto_sbuf struct sbuf accept = SBUF(64);
	auto_sbuf struct sbuf raw = SBUF(64);

	if (!version || !streq(version, "13"))
		return err_set(e, ERR_BAD_REQUEST, "the WebSocket version must be 13");
	if (!key || !base64_decode(key, strlen(key), &raw) || raw.over || raw.n != KEY_BYTES)
		return err_set(e, ERR_BAD_REQUEST, "Sec-WebSocket-Key must be %d bytes in base64", KEY_BYTES);
	websocket_accept_key(key, &accept);
	http_add_header(req, "Sec-WebSocket-Accept", accept.p);
	if (protocol)
		http_add_header(req, "Sec-WebSocket-Protocol", protocol);
	*ret = http_upgrade(req, "websocket", h);
	return 0;
}
