// SPDX-License-Identifier: Apache-2.0
/* forward_test.c - forwarded ports, against an owner whose ports are socket pairs */
#include <fcntl.h>

#include "loop/forward.h"
#include "spdy_client.h"
#include "web.h"
#include "ws_client.h"

struct owner {
	struct forward *forward;
	int port[8]; /* the far ends, in the order they were dialled */
	int dialled[8];
	size_t n;
	unsigned closed;
};

/* Port 1 cannot be dialled, nobody listens on port 2. */
static int on_dial(void *arg, int port, struct err *e)
{
	struct owner *o = arg;
	int pair[2];

	if (port == 1)
		return err_set(e, ERR_UNAVAILABLE, "no such port");
	if (port == 2) {
		struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		socklen_t n = sizeof(addr);
		int taken = socket(AF_INET, SOCK_STREAM, 0);
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		CHECK_INT(bind(taken, (struct sockaddr *)&addr, n), 0);
		CHECK_INT(getsockname(taken, (struct sockaddr *)&addr, &n), 0);
		close(taken);
		connect(fd, (struct sockaddr *)&addr, n);
		return fd;
	}
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	o->dialled[o->n] = port;
	o->port[o->n++] = pair[0];
	return pair[1];
}

static void on_closed(void *arg)
{
	((struct owner *)arg)->closed++;
}

/* Byte by byte, for what follows is not for here. */
static void skip_head(struct web *w, int fd)
{
	static const char end[] = "\r\n\r\n";
	size_t n = 0;
	char c = 0;

	for (int i = 0; i < 2000 && n < 4; i++) {
		if (recv(fd, &c, 1, MSG_DONTWAIT) == 1)
			n = c == end[n] ? n + 1 : c == end[0];
		else
			web_turn(w);
	}
	CHECK_INT(n, 4);
}

static int begin(struct web *w, struct owner *o, const char *headers, const int *ports, size_t nports, struct err *e)
{
	const struct forward_handlers h = { on_dial, on_closed, o };
	auto_free char *head = xasprintf("GET /later HTTP/1.1\r\n%s\r\n", headers);
	int fd = web_connect(w);
	struct http_request *req;

	*o = (struct owner){ .n = 0 };
	web_send(w, fd, head, strlen(head));
	req = w->waiting[(w->nwaiting - 1) % WEB_WAITING];
	if (forward_accept(req, ports, nports, &h, &o->forward, e) < 0)
		http_reply(req, 400, "text/plain", e->text, strlen(e->text));
	else
		skip_head(w, fd);
	return fd;
}

static void finish(struct web *w, struct owner *o, int fd)
{
	close(fd);
	for (int i = 0; i < 100 && !o->closed; i++)
		web_turn(w);
	for (size_t i = 0; i < o->n; i++)
		close(o->port[i]);
	CHECK_INT(o->closed, 1);
	web_done(w);
}

/* What comes until `n` bytes are there, or nothing for a while. */
static struct str receive(struct web *w, int fd, size_t n)
{
	static char all[8 << 20];
	size_t got = 0;

	for (int quiet = 0; quiet < 300 && got < n; quiet++) {
		ssize_t more;

		web_turn(w);
		more = recv(fd, all + got, sizeof(all) - 1 - got, MSG_DONTWAIT);
		if (more > 0) {
			got += (size_t)more;
			quiet = 0;
		}
	}
	all[got] = '\0';
	return (struct str){ all, got };
}

static void check_port(struct web *w, int fd, const char *want)
{
	CHECK_STR(receive(w, fd, strlen(want)).p, want);
}

#define SPDY_HEAD "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n"
#define PIPE_HEAD WS_HEAD "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"

/* A client of either kind: SPDY as it is, or each flush as a message. */
struct client {
	struct spdy_client spdy;
	bool message;
};

static void flush(struct web *w, int fd, struct client *c)
{
	auto_sbuf struct sbuf out = SBUF(16 << 20);

	if (c->message) {
		ws_frame(&out, 0x82, sbuf_str(&c->spdy.out));
		web_send(w, fd, out.p, out.n);
	} else {
		web_send(w, fd, c->spdy.out.p, c->spdy.out.n);
	}
	sbuf_reset(&c->spdy.out);
}

static void open_pair(struct client *c, uint32_t id, const char *port, const char *request)
{
	client_open(&c->spdy, id,
		    json_pack("{s:s, s:s, s:s*}", "streamtype", "error", "port", port, "requestid", request), false);
	client_data(&c->spdy, id, "", true);
	client_open(&c->spdy, id + 2,
		    json_pack("{s:s, s:s, s:s*}", "streamtype", "data", "port", port, "requestid", request), false);
}

/* Replies in words, through the messages if there are any. */
static void check_words(struct web *w, int fd, const struct client *c, const char *want)
{
	auto_sbuf struct sbuf words = SBUF(1 << 16);
	auto_sbuf struct sbuf joined = SBUF(1 << 16);
	struct str in = receive(w, fd, SIZE_MAX);
	struct str body;
	unsigned opcode;

	if (c->message) {
		while (ws_cut(&in, &opcode, &body))
			sbuf_add(&joined, body.p, body.n);
		in = sbuf_str(&joined);
	}
	client_read(in, &words);
	CHECK_STR(words.p ? words.p : "", want);
}

TEST("ports are forwarded by SPDY, plain and inside a WebSocket; each direction ends on its own")
{
	for (int message = 0; message < 2; message++) {
		struct client c = { .message = message };
		struct err e = ERR_INIT;
		struct owner o;
		struct web w;
		int fd;

		web_init(&w, NULL, NULL);
		client_init(&c.spdy);
		fd = begin(&w, &o, message ? PIPE_HEAD : SPDY_HEAD, NULL, 0, &e);
		open_pair(&c, 1, "8080", "0");
		open_pair(&c, 5, "9090", "1");
		client_data(&c.spdy, 3, "one", false);
		client_data(&c.spdy, 7, "two", true);
		flush(&w, fd, &c);
		check_words(&w, fd, &c, "reply 1; reply 3; reply 5; reply 7; ");
		CHECK_INT(o.n, 2);
		CHECK_INT(o.dialled[0], 8080);
		CHECK_INT(o.dialled[1], 9090);
		check_port(&w, o.port[0], "one");
		check_port(&w, o.port[1], "two");
		CHECK_INT(recv(o.port[1], &e, 1, MSG_DONTWAIT), 0); /* its end came through */
		CHECK(recv(o.port[0], &e, 1, MSG_DONTWAIT) < 0);
		CHECK_INT(send(o.port[1], "answer", 6, 0), 6);
		shutdown(o.port[1], SHUT_WR);
		CHECK_INT(send(o.port[0], "first", 5, 0), 5);
		shutdown(o.port[0], SHUT_WR);
		web_turn(&w);
		check_words(&w, fd, &c, "data 7 answer; end 5; end 7; data 3 first; end 1; end 3; ");
		client_data(&c.spdy, 3, "still", true);
		flush(&w, fd, &c);
		check_port(&w, o.port[0], "still");
		finish(&w, &o, fd);
		client_done(&c.spdy);
	}
}

TEST("a port that cannot be reached is told on the error stream, and the others live on")
{
	struct client c = { .message = false };
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	client_init(&c.spdy);
	fd = begin(&w, &o, SPDY_HEAD, NULL, 0, &e);
	open_pair(&c, 1, "1", "0");
	flush(&w, fd, &c);
	check_words(&w, fd, &c,
		    "reply 1; reply 3; data 1 error forwarding port 1 to pod: no such port; end 1; end 3; ");
	open_pair(&c, 5, "2", NULL);
	flush(&w, fd, &c);
	check_words(&w, fd, &c,
		    "reply 5; reply 7; data 5 error forwarding port 2 to pod: cannot connect: Connection refused; "
		    "end 5; end 7; ");
	open_pair(&c, 9, "70000", "2");
	client_open(&c.spdy, 13, json_pack("{s:s, s:s}", "streamtype", "other", "port", "80"), false);
	open_pair(&c, 15, "80", "3");
	client_data(&c.spdy, 17, "hi", false);
	flush(&w, fd, &c);
	check_words(&w, fd, &c, "reply 9; reset 9; reply 11; reset 11; reply 13; reset 13; reply 15; reply 17; ");
	check_port(&w, o.port[0], "hi");

	/* One that breaks is only the end of one. */
	close(o.port[0]);
	client_data(&c.spdy, 17, "into the void", false);
	flush(&w, fd, &c);
	check_words(&w, fd, &c, "end 15; end 17; ");

	/* A client that resets its stream lets go of the port. */
	open_pair(&c, 19, "81", "4");
	flush(&w, fd, &c);
	CHECK_INT(o.n, 2);
	client_reset(&c.spdy, 21);
	flush(&w, fd, &c);
	web_turn(&w);
	CHECK_INT(recv(o.port[1], &e, 1, MSG_DONTWAIT), 0);
	o.port[0] = open("/dev/null", O_RDONLY);
	finish(&w, &o, fd);
	client_done(&c.spdy);
}

TEST("much data passes both ways at the pace of the slower side")
{
	static char much[3 << 20];
	struct client c = { .message = false };
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	size_t sent = 0;
	size_t in = 0;
	size_t stuck;
	int fd;

	memset(much, 'x', sizeof(much));
	much[sizeof(much) - 1] = '\0';
	web_init(&w, NULL, NULL);
	client_init(&c.spdy);
	fd = begin(&w, &o, SPDY_HEAD, NULL, 0, &e);
	open_pair(&c, 1, "8080", "0");
	flush(&w, fd, &c);
	receive(&w, fd, SIZE_MAX);

	/* The port floods, the client does not read: the port is not read either. */
	for (int i = 0; i < 3000; i++) {
		ssize_t n = send(o.port[0], much, sizeof(much), MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		if (i % 10 == 0)
			loop_turn(w.loop, true);
	}
	CHECK(sent < (size_t)24 << 20);
	for (size_t got; in < sent && (got = receive(&w, fd, 1 << 20).n) > 0;)
		in += got;
	CHECK(in > sent && in < sent + sent / 100 + 1024); /* with the heads of the frames */

	/* The client floods, the port does not read. */
	client_data(&c.spdy, 3, much, true);
	for (sent = 0, stuck = 0; stuck < 50; stuck++) {
		ssize_t n = send(fd, c.spdy.out.p + sent, c.spdy.out.n - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		web_turn(&w);
	}
	for (in = 0; in < sizeof(much) - 1;) {
		ssize_t n = sent < c.spdy.out.n ? send(fd, c.spdy.out.p + sent, c.spdy.out.n - sent, MSG_DONTWAIT) : 0;
		size_t got = receive(&w, o.port[0], 1 << 16).n;

		sent += n > 0 ? (size_t)n : 0;
		if (!got)
			break;
		in += got;
	}
	CHECK_INT(in, sizeof(much) - 1);
	web_turn(&w);
	CHECK_INT(recv(o.port[0], much, 1, MSG_DONTWAIT), 0);
	finish(&w, &o, fd);
	client_done(&c.spdy);
}

TEST("python's way: two channels a port, each opened by its number")
{
	static const int ports[] = { 8080, 1, 9090 };
	auto_sbuf struct sbuf words = SBUF(1 << 16);
	auto_sbuf struct sbuf out = SBUF(1 << 16);
	struct err e = ERR_INIT;
	struct owner o;
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = begin(&w, &o, WS_HEAD "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n", ports, 3, &e);
	ws_frame(&out, 0x82, STR("\4to 9090"));
	ws_frame(&out, 0x02, STR(""));
	ws_frame(&out, 0x00, (struct str){ "\0to ", 4 });
	ws_frame(&out, 0x80, STR("8080"));
	ws_frame(&out, 0x82, STR("\2to nobody"));
	web_send(&w, fd, out.p, out.n);
	web_turn(&w);
	CHECK_INT(o.n, 2);
	CHECK_INT(o.dialled[0] + o.dialled[1], 8080 + 9090);
	check_port(&w, o.port[o.dialled[0] == 8080 ? 0 : 1], "to 8080");
	check_port(&w, o.port[o.dialled[0] == 8080 ? 1 : 0], "to 9090");
	CHECK_INT(send(o.port[o.dialled[0] == 8080 ? 1 : 0], "hello", 5, 0), 5);
	ws_read(receive(&w, fd, SIZE_MAX), &words);
	CHECK_STR(words.p, "82:\\0\\144\\31; 82:\\1\\144\\31; 82:\\2\\1\\0; 82:\\3\\1\\0; 82:\\4\\130#; 82:\\5\\130#; "
			   "82:\\3error forwarding port 1 to pod: no such port; 82:\\4hello; ");
	shutdown(o.port[0], SHUT_WR);
	shutdown(o.port[1], SHUT_WR);
	sbuf_reset(&words);
	ws_read(receive(&w, fd, SIZE_MAX), &words);
	CHECK_STR(words.p, "88:\\3\\232; ");
	finish(&w, &o, fd);
}

TEST("a forward is refused without an upgrade, a protocol or a port")
{
	static const struct {
		const char *headers, *want;
	} rows[] = {
		{ "", "Upgrade request required" },
		{ WS_HEAD,
		  "unable to upgrade: the WebSocket protocols are v4.channel.k8s.io and SPDY/3.1+portforward.k8s.io" },
		{ WS_HEAD "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n", "query parameter \"ports\" is required" },
		{ "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v9\r\n",
		  "unable to upgrade: unable to negotiate protocol: client supports v9" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct owner o;
		struct web w;
		int fd;

		web_init(&w, NULL, NULL);
		fd = begin(&w, &o, rows[i].headers, NULL, 0, &e);
		CHECK_STR(e.text, rows[i].want);
		close(fd);
		web_done(&w);
	}
}
