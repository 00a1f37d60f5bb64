// SPDX-License-Identifier: Apache-2.0
/* remote_test.c - commands over WebSocket and SPDY, against an owner that writes down what it hears */
#include "loop/remote.h"
#include "spdy_client.h"
#include "web.h"
#include "ws_client.h"

struct owner {
	struct remote *remote;
	struct sbuf heard;
	unsigned drained, closed;
	int rows, cols; /* at the start */
};

static void on_ready(void *arg, int rows, int cols)
{
	struct owner *o = arg;

	sbuf_adds(&o->heard, "ready; ");
	o->rows = rows;
	o->cols = cols;
}

static void on_input(void *arg, struct str bytes)
{
	struct owner *o = arg;

	if (bytes.n < 100)
		sbuf_addf(&o->heard, "in %.*s; ", STR_FMT(bytes));
	else
		sbuf_add(&o->heard, bytes.p, bytes.n);
}

static void on_input_end(void *arg)
{
	sbuf_adds(&((struct owner *)arg)->heard, "end; ");
}

static void on_resize(void *arg, int rows, int cols)
{
	sbuf_addf(&((struct owner *)arg)->heard, "%dx%d; ", rows, cols);
}

static void on_drained(void *arg)
{
	((struct owner *)arg)->drained++;
}

static void on_closed(void *arg)
{
	struct owner *o = arg;

	o->closed++;
	o->remote = NULL;
}

/* Asks with these headers, and takes the offer. */
static int begin(struct web *w, struct owner *o, const char *headers, struct remote_wants wants, struct err *e)
{
	const struct remote_handlers h = { on_ready, on_input, on_input_end, on_resize, on_drained, on_closed, o };
	auto_free char *head = xasprintf("GET /later HTTP/1.1\r\n%s\r\n", headers);
	int fd = web_connect(w);
	struct http_request *req;

	*o = (struct owner){ .heard = SBUF(1 << 24) };
	web_send(w, fd, head, strlen(head));
	req = w->waiting[(w->nwaiting - 1) % WEB_WAITING];
	if (remote_accept(req, &wants, &h, &o->remote, e) < 0)
		http_reply(req, 400, "text/plain", e->text, strlen(e->text));
	return fd;
}

static void finish(struct web *w, struct owner *o, int fd)
{
	close(fd);
	web_turn(w);
	web_done(w);
	sbuf_done(&o->heard);
}

/* All that comes until the connection is quiet, without the head of the reply. */
static struct str receive(struct web *w, int fd)
{
	static char all[1 << 20];
	size_t n = 0;
	char *body;

	for (int quiet = 0; quiet < 30 && n < sizeof(all) - 1; quiet++) {
		ssize_t got;

		web_turn(w);
		got = recv(fd, all + n, sizeof(all) - 1 - n, MSG_DONTWAIT);
		if (got > 0) {
			n += (size_t)got;
			quiet = 0;
		}
	}
	all[n] = '\0';
	body = n > 8 && str_starts(all, "HTTP/1.1") ? strstr(all, "\r\n\r\n") : NULL;
	if (!body)
		return (struct str){ all, n };
	body += 4;
	return (struct str){ body, n - (size_t)(body - all) };
}

static void send_frame(struct web *w, int fd, unsigned char opcode, struct str body)
{
	auto_sbuf struct sbuf out = SBUF(1 << 24);

	ws_frame(&out, opcode, body);
	web_send(w, fd, out.p, out.n);
}

/* Small segments wait for one another's acknowledgement, which takes its time. */
static void hear(struct web *w, const struct owner *o, const char *want)
{
	for (int i = 0; i < 5000 && o->heard.n < strlen(want); i++)
		web_turn(w);
	CHECK_STR(o->heard.p, want);
}

static const struct remote_wants plain = { .in = true, .out = true, .err = true };
static const struct remote_wants terminal = { .in = true, .out = true, .tty = true };

TEST("each WebSocket protocol carries a session and says how it ended in its own way")
{
	static const struct {
		const char *protocol;
		int code;
		const char *failure;
		struct str input;
		unsigned char opcode;
		const char *heard, *said;
	} rows[] = {
		{ "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n",
		  0,
		  NULL,
		  { "\0hello", 6 },
		  0x82,
		  "ready; in hello; ",
		  "82:\\1; 82:\\1out; 82:\\2err; 82:\\3{\"metadata\":{},\"status\":\"Success\"}; 88:\\3\\232; " },
		{ "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n",
		  3,
		  NULL,
		  { "\0hello", 6 },
		  0x82,
		  "ready; in hello; ",
		  "82:\\1; 82:\\1out; 82:\\2err; 82:\\3{\"metadata\":{},\"status\":\"Failure\",\"message\":"
		  "\"command terminated with non-zero exit code: exit status 3\",\"reason\":\"NonZeroExitCode\","
		  "\"details\":{\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"3\"}]}}; 88:\\3\\232; " },
		{ "Sec-WebSocket-Protocol: channel.k8s.io\r\n",
		  0,
		  NULL,
		  { "\0hello", 6 },
		  0x82,
		  "ready; in hello; ",
		  "82:\\1; 82:\\1out; 82:\\2err; 88:\\3\\232; " },
		{ "",
		  2,
		  NULL,
		  { "\0hello", 6 },
		  0x82,
		  "ready; in hello; ",
		  "82:\\1; 82:\\1out; 82:\\2err; 82:\\3command terminated with non-zero exit code: exit status 2; "
		  "88:\\3\\232; " },
		{ "Sec-WebSocket-Protocol: v4.base64.channel.k8s.io\r\n",
		  0,
		  "no such thing",
		  { "0aGVsbG8=", 9 },
		  0x81,
		  "ready; in hello; ",
		  "81:1; 81:1b3V0; 81:2ZXJy; "
		  "81:3eyJtZXRhZGF0YSI6e30sInN0YXR1cyI6IkZhaWx1cmUiLCJtZXNzYWdlIjoibm8gc3VjaCB0"
		  "aGluZyIsInJlYXNvbiI6IkludGVybmFsRXJyb3IiLCJkZXRhaWxzIjp7ImNhdXNlcyI6W3sibWVzc2FnZSI6Im5vIHN1Y2ggdGhp"
		  "bmci"
		  "fV19LCJjb2RlIjo1MDB9; 88:\\3\\232; " },
		{ "Sec-WebSocket-Protocol: base64.channel.k8s.io\r\n",
		  0,
		  NULL,
		  { "0aGVsbG8=", 9 },
		  0x81,
		  "ready; in hello; ",
		  "81:1; 81:1b3V0; 81:2ZXJy; 88:\\3\\232; " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *headers = xasprintf("%s%s", WS_HEAD, rows[i].protocol);
		auto_sbuf struct sbuf words = SBUF(1 << 16);
		struct err failure = ERR_INIT;
		struct err e = ERR_INIT;
		struct owner o;
		struct web w;
		int fd;

		web_init(&w, NULL, NULL);
		fd = begin(&w, &o, headers, plain, &e);
		CHECK_STR(e.text, "");
		send_frame(&w, fd, rows[i].opcode, rows[i].input);
		hear(&w, &o, rows[i].heard);
		remote_output(o.remote, 1, STR("out"));
		remote_output(o.remote, 2, STR("err"));
		if (rows[i].failure)
			err_set(&failure, ERR_INTERNAL, "%s", rows[i].failure);
		remote_end(o.remote, rows[i].code, &failure);
		ws_read(receive(&w, fd), &words);
		CHECK_STR(words.p, rows[i].said);
		CHECK_INT(o.closed, 0);
		finish(&w, &o, fd);
	}
}

TEST("a terminal's size, an ended input and foreign channels over WebSocket")
{
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = begin(&w, &o, WS_HEAD "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n", terminal, &e);
	send_frame(&w, fd, 0x82, STR("\4{\"Width\":80,\"Height\":24}\n"));
	send_frame(&w, fd, 0x02, STR("\4{\"Width\":100,"));
	send_frame(&w, fd, 0x80, STR("\"Height\":50}"));
	send_frame(&w, fd, 0x82, STR("\4{\"Width\":0,\"Height\":\"x\"}garbage"));
	send_frame(&w, fd, 0x82, STR("\4{\"Width\":99999,\"Height\":-2}"));
	send_frame(&w, fd, 0x82, STR("\7who"));
	send_frame(&w, fd, 0x82, STR("\1not yours"));
	send_frame(&w, fd, 0x02, (struct str){ "\0a", 2 });
	send_frame(&w, fd, 0x80, STR("b"));
	send_frame(&w, fd, 0x82, (struct str){ "\xff\0", 2 });
	send_frame(&w, fd, 0x82, (struct str){ "\0too late", 9 });
	hear(&w, &o, "ready; 24x80; 50x100; 50x100; in a; in b; end; ");
	close(fd);
	web_turn(&w);
	CHECK_INT(o.closed, 1);
	CHECK(!o.remote);
	web_done(&w);
	sbuf_done(&o.heard);
}

TEST("a program starts when its terminal's size is known, or soon after")
{
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = begin(&w, &o, WS_HEAD "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n", terminal, &e);
	receive(&w, fd);
	CHECK(!o.heard.p);
	send_frame(&w, fd, 0x82, STR("\4{\"Width\":80,\"Height\":24}"));
	hear(&w, &o, "ready; 24x80; ");
	CHECK(o.rows == 24 && o.cols == 80);
	close(fd);
	web_turn(&w);
	sbuf_done(&o.heard);
	fd = begin(&w, &o, WS_HEAD "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n", terminal, &e);
	send_frame(&w, fd, 0x82, (struct str){ "\0early", 6 });
	hear(&w, &o, "ready; in early; ");
	finish(&w, &o, fd);
}

TEST("a session is refused without an upgrade or with protocols nobody knows")
{
	static const struct {
		const char *headers, *want;
	} rows[] = {
		{ "", "Upgrade request required" },
		{ WS_HEAD "Sec-WebSocket-Protocol: v9.channel.k8s.io\r\n",
		  "unable to upgrade: unable to negotiate protocol: client supports v9.channel.k8s.io" },
		{ "Connection: Upgrade\r\nUpgrade: websocket\r\n", "the WebSocket version must be 13" },
		{ "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v9\r\n",
		  "unable to upgrade: unable to negotiate protocol: client supports v9" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct owner o;
		struct web w;
		int fd;

		web_init(&w, NULL, NULL);
		fd = begin(&w, &o, rows[i].headers, plain, &e);
		CHECK_STR(e.text, rows[i].want);
		CHECK(str_starts(web_receive(&w, fd, rows[i].want), "HTTP/1.1 400 "));
		finish(&w, &o, fd);
	}
}

/* --- SPDY --- */

#define SPDY_HEAD(version)                                                                                             \
	"Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: "                                      \
	"v9\r\nX-Stream-Protocol-Version: " version "\r\n"

static void flush(struct web *w, int fd, struct spdy_client *c)
{
	web_send(w, fd, c->out.p, c->out.n);
	sbuf_reset(&c->out);
}

static void open_stream(struct web *w, int fd, struct spdy_client *c, uint32_t id, const char *type)
{
	client_open(c, id, json_pack("{s:s}", "streamtype", type), false);
	flush(w, fd, c);
}

TEST("a SPDY session starts when its streams are there, and ends when the client lets go of them")
{
	auto_sbuf struct sbuf words = SBUF(1 << 16);
	struct spdy_client c;
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	client_init(&c);
	fd = begin(&w, &o, SPDY_HEAD("v3.channel.k8s.io, v4.channel.k8s.io"), terminal, &e);
	open_stream(&w, fd, &c, 1, "error");
	open_stream(&w, fd, &c, 3, "stdin");
	client_data(&c, 3, "early ", false);
	open_stream(&w, fd, &c, 5, "stdin");
	open_stream(&w, fd, &c, 7, "stderr");
	open_stream(&w, fd, &c, 9, "stdout");
	CHECK(!o.heard.p);
	client_open(&c, 11, json_pack("{s:s}", "streamtype", "resize"), false);
	client_data(&c, 11, "{\"Width\":80,\"Height\":24}\n", false);
	flush(&w, fd, &c);
	hear(&w, &o, "ready; 24x80; in early ; ");
	client_data(&c, 11, "{\"Width\":81,\"Hei", false);
	client_data(&c, 11, "ght\":25}\n{\"Width\":1,\"Height\":2}\n", false);
	client_data(&c, 3, "bird", false);
	client_data(&c, 3, "", true);
	flush(&w, fd, &c);
	hear(&w, &o, "ready; 24x80; in early ; 25x81; 2x1; in bird; end; ");
	remote_output(o.remote, 1, STR("out"));
	remote_output(o.remote, 2, STR("no stream for it"));
	remote_end(o.remote, 0, NULL);
	client_read(receive(&w, fd), &words);
	CHECK_STR(words.p,
		  "reply 1; reply 3; reply 5; reset 5; reply 7; reset 7; reply 9; reply 11; data 9 out; end 9; "
		  "data 1 {\"metadata\":{},\"status\":\"Success\"}; end 1; ");
	CHECK_INT(http_server_connections(w.server), 1);
	for (uint32_t id = 1; id < 12; id += 2)
		client_reset(&c, id);
	flush(&w, fd, &c);
	close(fd);
	web_turn(&w);
	CHECK_INT(http_server_connections(w.server), 0);
	CHECK_INT(o.closed, 0);
	client_done(&c);
	web_done(&w);
	sbuf_done(&o.heard);
}

TEST("an old SPDY client gets words, and a broken one is let go")
{
	auto_sbuf struct sbuf words = SBUF(1 << 16);
	const struct remote_wants wants = { .out = true, .tty = true };
	struct spdy_client c;
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	client_init(&c);
	fd = begin(&w, &o, SPDY_HEAD("v2.channel.k8s.io"), wants, &e);
	open_stream(&w, fd, &c, 1, "error");
	open_stream(&w, fd, &c, 3, "stdout");
	hear(&w, &o, "ready; ");
	remote_end(o.remote, 7, NULL);
	client_read(receive(&w, fd), &words);
	CHECK_STR(words.p, "reply 1; reply 3; end 3; "
			   "data 1 command terminated with non-zero exit code: exit status 7; end 1; ");
	close(fd);
	client_done(&c);
	sbuf_done(&o.heard);

	fd = begin(&w, &o, SPDY_HEAD("channel.k8s.io"), wants, &e);
	web_send(&w, fd, "\x80\1\2\3\4\5\6\7\10", 9);
	CHECK_INT(o.closed, 1);
	finish(&w, &o, fd);
}

TEST("a client that is not read, and one that does not read, hold the other side up and nothing is lost")
{
	static char much[1 << 20];
	auto_sbuf struct sbuf frame = SBUF(2 << 20);
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	size_t sent = 0;
	size_t n = 0;
	int fd;

	memset(much, 'x', sizeof(much));
	much[0] = 0;
	web_init(&w, NULL, NULL);
	fd = begin(&w, &o, WS_HEAD "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n", plain, &e);
	receive(&w, fd);
	remote_pause(o.remote, true);
	ws_frame(&frame, 0x82, (struct str){ much, sizeof(much) });
	for (int i = 0; i < 50; i++) {
		ssize_t got = send(fd, frame.p + sent, frame.n - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += got > 0 ? (size_t)got : 0;
		web_turn(&w);
	}
	hear(&w, &o, "ready; ");
	remote_pause(o.remote, false);
	web_send(&w, fd, frame.p + sent, frame.n - sent);
	for (int i = 0; i < 100 && o.heard.n < sizeof(much); i++)
		web_turn(&w);
	/* In how many pieces it came is the machine's affair. */
	for (size_t i = 0; i < o.heard.n; i++)
		n += o.heard.p[i] == 'x';
	CHECK_INT(n, sizeof(much) - 1);
	n = 0;

	for (int i = 0; i < 8; i++)
		remote_output(o.remote, 1, (struct str){ much, sizeof(much) });
	web_turn(&w);
	CHECK(remote_pending(o.remote) > sizeof(much));
	sbuf_reset(&o.heard);
	send_frame(&w, fd, 0x82, (struct str){ "\0held", 5 });
	send_frame(&w, fd, 0x82, (struct str){ "\0back", 5 });
	remote_pause(o.remote, false);
	send_frame(&w, fd, 0x82, (struct str){ "\0here", 5 });
	hear(&w, &o, "in held; "); /* the first look at a full tunnel came too late to stop it */
	while (n < 8 * sizeof(much)) {
		size_t got = receive(&w, fd).n;

		if (!got)
			break;
		n += got;
	}
	CHECK_INT(n, 8 * (sizeof(much) + 1 + 10));
	CHECK_INT(remote_pending(o.remote), 0);
	CHECK(o.drained > 0);
	CHECK_STR(o.heard.p, "in held; in back; in here; ");
	finish(&w, &o, fd);
	CHECK_INT(o.closed, 1);
}
