// SPDX-License-Identifier: Apache-2.0
/* websocket_test.c - frames to messages and back, and the handshake */
#include "loop/websocket.h"
#include "web.h"
#include "ws_client.h"

struct side {
	struct websocket *ws;
	struct sbuf events, sent;
};

static void on_piece(void *arg, struct str bytes, unsigned flags)
{
	sbuf_addf(&((struct side *)arg)->events, "%s%s%.*s%s ", flags & WEBSOCKET_TEXT ? "T" : "",
		  flags & WEBSOCKET_FIRST ? "<" : "", STR_FMT(bytes), flags & WEBSOCKET_LAST ? ">" : "");
}

static void on_send(void *arg, struct str bytes)
{
	sbuf_add(&((struct side *)arg)->sent, bytes.p, bytes.n);
}

static void side_init(struct side *s)
{
	*s = (struct side){ .events = SBUF(1 << 20), .sent = SBUF(1 << 20) };
	s->ws = websocket_new(&(struct websocket_handlers){ on_piece, on_send, s });
}

static void side_done(struct side *s)
{
	websocket_free(s->ws);
	sbuf_done(&s->events);
	sbuf_done(&s->sent);
}

TEST("messages come in pieces whose borders are told, around control frames")
{
	static const struct {
		unsigned char opcode;
		const char *text;
	} frames[] = { { 0x82, "one" }, { 0x81, "two" }, { 0x02, "th" }, { 0x89, "ping" },
		       { 0x80, "ree" }, { 0x82, "" },    { 0x8a, "x" },  { 0x88, "\3\350" } };

	for (int step = 1; step < 3; step++) {
		struct side s;
		auto_sbuf struct sbuf in = SBUF(4096);
		auto_sbuf struct sbuf words = SBUF(4096);
		bool open = true;
		size_t piece;

		side_init(&s);
		for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
			ws_frame(&in, frames[i].opcode, str_of(frames[i].text));
		piece = step == 1 ? 1 : in.n - 8; /* the goodbye has eight bytes */
		for (size_t at = 0; at < in.n; at += piece) {
			if (piece > in.n - at)
				piece = in.n - at;
			CHECK(open);
			open = websocket_feed(s.ws, (struct str){ in.p + at, piece });
		}
		CHECK(!open);
		CHECK_STR(s.events.p,
			  step == 1 ? "<o n e > T<t Tw To T> <t h r e e > <> " : "<one > T<two T> <th ree > <> ");
		ws_read(sbuf_str(&s.sent), &words);
		CHECK_STR(words.p, "8a:ping; 88:\\3\\232; ");
		side_done(&s);
	}
}

TEST("messages of any length go out, and none after the last")
{
	static char much[70000];
	struct side s;
	struct str parts[] = { STR("\1"), STR("hello") };
	struct str in;
	struct str body;
	unsigned opcode = 0;
	auto_sbuf struct sbuf words = SBUF(4096);

	side_init(&s);
	websocket_send(s.ws, false, parts, 2);
	websocket_send(s.ws, true, &(struct str){ much, 200 }, 1);
	websocket_send(s.ws, false, &(struct str){ much, sizeof(much) }, 1);
	in = sbuf_str(&s.sent);
	CHECK(ws_cut(&in, &opcode, &body) && opcode == 0x82 && body.n == 6);
	CHECK(ws_cut(&in, &opcode, &body) && opcode == 0x81 && body.n == 200);
	CHECK(ws_cut(&in, &opcode, &body) && opcode == 0x82 && body.n == sizeof(much));
	CHECK_INT(in.n, 0);
	sbuf_reset(&s.sent);
	websocket_bye(s.ws, WEBSOCKET_NORMAL);
	websocket_bye(s.ws, WEBSOCKET_NORMAL);
	websocket_send(s.ws, false, parts, 2);
	ws_read(sbuf_str(&s.sent), &words);
	CHECK_STR(words.p, "88:\\3\\232; ");
	side_done(&s);
}

TEST("a client that breaks the rules is told so and not listened to")
{
	static const struct str rows[] = {
		STR("\x82\x03one"),                      /* not masked */
		STR("\x80\x80\1\2\3\4"),                 /* goes on with nothing */
		STR("\xc2\x80\1\2\3\4"),                 /* a reserved bit */
		STR("\x83\x80\1\2\3\4"),                 /* no such opcode */
		STR("\x89\xfe\0\x80\1\2\3\4"),           /* a long ping */
		STR("\x81\x81\1\2\3\4\xfe"),             /* no UTF-8 */
		STR("\x02\x80\1\2\3\4\x82\x80\1\2\3\4"), /* a message within a message */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct side s;

		side_init(&s);
		CHECK(!websocket_feed(s.ws, rows[i]));
		CHECK(s.sent.n >= 2 && s.sent.p[0] == (char)0x88);
		side_done(&s);
	}
}

TEST("the key is answered as the RFC's example says")
{
	auto_sbuf struct sbuf out = SBUF(64);

	websocket_accept_key(WS_KEY, &out);
	CHECK_STR(out.p, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

static void on_nothing(void *arg)
{
	(void)arg;
}

static void on_bytes(void *arg, struct str bytes)
{
	(void)arg;
	(void)bytes;
}

static void say(struct web *w, int fd, const char *text)
{
	web_send(w, fd, text, strlen(text));
}

TEST("the server's favourite among the offers is chosen, and a handshake without a key refused")
{
	static const char *const ours[] = { "v5", "v4", NULL };
	const struct http_tunnel_handlers h = { on_bytes, NULL, on_nothing, NULL };
	struct http_tunnel *tunnel;
	struct err e = ERR_INIT;
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	say(&w, fd, "GET /later HTTP/1.1\r\nSec-WebSocket-Protocol: v1, v4\r\nSec-WebSocket-Protocol: v5\r\n\r\n");
	CHECK_STR(http_choose(w.waiting[0], "Sec-WebSocket-Protocol", ours), "v5");
	CHECK(!http_choose(w.waiting[0], "Sec-WebSocket-Protocol", ours + 2));
	CHECK(websocket_upgrade(w.waiting[0], "v5", &h, &tunnel, &e) < 0);
	CHECK_STR(e.text, "the WebSocket version must be 13");
	http_reply(w.waiting[0], 400, "text/plain", ";", 1);
	web_receive(&w, fd, ";");
	say(&w, fd, "GET /later HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc=\r\n\r\n");
	CHECK(websocket_upgrade(w.waiting[1], "v5", &h, &tunnel, &e) < 0);
	CHECK_STR(e.text, "Sec-WebSocket-Key must be 16 bytes in base64");
	close(fd);
	fd = web_connect(&w);
	say(&w, fd, "GET /later HTTP/1.1\r\n" WS_HEAD "\r\n");
	CHECK_INT(websocket_upgrade(w.waiting[2], "v5", &h, &tunnel, &e), 0);
	CHECK_STR(web_receive(&w, fd, "\r\n\r\n"),
		  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
		  "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: v5\r\n\r\n");
	close(fd);
	web_done(&w);
}
