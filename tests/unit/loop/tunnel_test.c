// SPDX-License-Identifier: Apache-2.0
/* tunnel_test.c - connections that leave HTTP */
#include "web.h"

#define ASK "GET /later HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: echo\r\n\r\n"

struct end {
	struct http_tunnel *tunnel;
	struct sbuf got;
	unsigned drained, closed;
	bool echo, close_on_data;
};

static void on_data(void *arg, struct str bytes)
{
	struct end *t = arg;

	sbuf_add(&t->got, bytes.p, bytes.n);
	if (t->echo)
		http_tunnel_write(t->tunnel, bytes.p, bytes.n);
	if (t->close_on_data)
		http_tunnel_close(t->tunnel);
}

static void on_drained(void *arg)
{
	((struct end *)arg)->drained++;
}

static void on_closed(void *arg)
{
	((struct end *)arg)->closed++;
}

static void upgrade(struct web *w, struct end *t)
{
	const struct http_tunnel_handlers h = { on_data, on_drained, on_closed, t };
	struct http_request *req = w->waiting[w->nwaiting - 1];

	CHECK(http_wants_upgrade(req, "ECHO"));
	CHECK(!http_wants_upgrade(req, "websocket"));
	http_add_header(req, "X-Chosen", "one");
	t->tunnel = http_upgrade(req, "echo", &h);
}

static void receive(struct web *w, struct end *t, const char *want)
{
	for (int i = 0; i < 2000 && (!t->got.p || !strstr(t->got.p, want)); i++)
		web_turn(w);
	CHECK(t->got.p && strstr(t->got.p, want));
}

TEST("an upgraded connection carries bytes both ways, and none behind the request is lost")
{
	struct end t = { .got = SBUF(1 << 20), .echo = true };
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, ASK "early ", strlen(ASK) + 6);
	web_send(&w, fd, "bird ", 5);
	upgrade(&w, &t);
	CHECK_STR(web_receive(&w, fd, "bird "), "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
						"Upgrade: echo\r\nX-Chosen: one\r\n\r\nearly bird ");
	CHECK_STR(web_ask(&w, fd, "catches", "catches"), "catches");
	CHECK_STR(t.got.p, "early bird catches");
	CHECK(t.drained > 0);
	CHECK_INT(w.closed, 0);
	close(fd);
	web_turn(&w);
	CHECK_INT(t.closed, 1);
	CHECK_INT(http_server_connections(w.server), 0);
	sbuf_done(&t.got);
	web_done(&w);
}

TEST("silence does not end a tunnel, nor does a reader that stands still")
{
	static const struct http_limits limits = { .url = 256,
						   .headers = 512,
						   .body = 1024,
						   .connections = 2,
						   .request_ms = 20,
						   .idle_ms = 20,
						   .sweep_ms = 5 };
	static char much[4 << 20];
	struct end t = { .got = SBUF(1 << 20) };
	struct web w;
	int fd;

	web_init(&w, NULL, &limits);
	fd = web_connect(&w);
	web_send(&w, fd, ASK, strlen(ASK));
	upgrade(&w, &t);
	http_tunnel_write(t.tunnel, much, sizeof(much));
	for (int i = 0; i < 20; i++) {
		web_turn(&w);
		usleep(5000);
	}
	CHECK_INT(t.closed, 0);
	CHECK(http_tunnel_pending(t.tunnel) > 0);
	for (size_t n = 0; n < sizeof(much);) {
		ssize_t got = recv(fd, much, sizeof(much), MSG_DONTWAIT);

		web_turn(&w);
		n += got > 0 ? (size_t)got : 0;
	}
	CHECK_INT(http_tunnel_pending(t.tunnel), 0);
	close(web_connect(&w));
	close(web_connect(&w));
	close(web_connect(&w));
	CHECK_INT(t.closed, 0);
	close(fd);
	web_turn(&w);
	CHECK_INT(t.closed, 1);
	sbuf_done(&t.got);
	web_done(&w);
}

TEST("a paused tunnel hands nothing over, takes only so much, and goes on")
{
	static char much[1 << 20];
	struct end t = { .got = SBUF(2 << 20) };
	struct web w;
	size_t sent = 0;
	int fd;

	memset(much, 'x', sizeof(much));
	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, ASK, strlen(ASK));
	upgrade(&w, &t);
	http_tunnel_pause(t.tunnel, true);
	for (int i = 0; i < 50; i++) {
		ssize_t n = send(fd, much, sizeof(much) - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		web_turn(&w);
	}
	CHECK_INT(t.got.n, 0);
	http_tunnel_pause(t.tunnel, false);
	web_send(&w, fd, much, sizeof(much) - sent);
	web_send(&w, fd, "end", 3);
	receive(&w, &t, "end");
	CHECK_INT(t.got.n, sizeof(much) + 3);

	/* The end of the client is seen while paused; what came before it is not lost. */
	web_receive(&w, fd, "\r\n\r\n"); /* else it would be a reset */
	http_tunnel_pause(t.tunnel, true);
	web_send(&w, fd, "more", 4);
	close(fd);
	web_turn(&w);
	CHECK_INT(t.closed, 0);
	http_tunnel_pause(t.tunnel, false);
	web_turn(&w);
	CHECK_INT(t.closed, 1);
	CHECK(str_ends(t.got.p, "endmore"));
	sbuf_done(&t.got);
	web_done(&w);
}

TEST("a tunnel closed from within sends what it has, also to a client that is still talking")
{
	static char much[3 << 20];
	struct end t = { .got = SBUF(1 << 20), .close_on_data = true };
	struct web w;
	size_t n = 0;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, ASK, strlen(ASK));
	upgrade(&w, &t);
	http_tunnel_write(t.tunnel, much, sizeof(much));
	web_send(&w, fd, "bye", 3);
	CHECK_STR(t.got.p, "bye");
	web_send(&w, fd, "and more", 8);
	for (int i = 0; i < 20000; i++) {
		ssize_t got = recv(fd, much, sizeof(much), MSG_DONTWAIT);

		web_turn(&w);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	CHECK(n > sizeof(much));
	CHECK_INT(t.closed, 0);
	CHECK_STR(t.got.p, "bye");
	close(fd);
	web_turn(&w);
	CHECK_INT(http_server_connections(w.server), 0);
	sbuf_done(&t.got);
	web_done(&w);
}

TEST("a tunnel works on the Unix socket and ends with its server")
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct end t = { .got = SBUF(1 << 20), .echo = true };
	struct err e = ERR_INIT;
	struct web w;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/tunnel", test_dir());
	web_init(&w, NULL, NULL);
	CHECK_INT(http_listen_unix(w.server, addr.sun_path, &e), 0);
	CHECK_INT(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	web_send(&w, fd, ASK, strlen(ASK));
	upgrade(&w, &t);
	web_ask(&w, fd, "ping", "\r\n\r\nping");
	web_done(&w);
	CHECK_INT(t.closed, 1);
	sbuf_done(&t.got);
	close(fd);
}
