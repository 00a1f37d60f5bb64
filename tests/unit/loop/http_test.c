// SPDX-License-Identifier: Apache-2.0
/* http_test.c - requests and replies on real sockets */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/log.h"
#include "loop/http_internal.h"
#include "web.h"

static const struct http_limits small = {
	.url = 256, .headers = 512, .body = 1024, .connections = 3, .request_ms = 50, .idle_ms = 5000, .sweep_ms = 10
};

TEST("a kept-alive connection answers several requests")
{
	struct web w;
	int fd;
	const char *text;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	text = web_ask(&w, fd, "GET /now?a=b HTTP/1.1\r\nHost: x\r\n\r\n", "GET /now ;");
	CHECK(str_starts(text, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: "));
	CHECK(strstr(text, "\r\nContent-Length: 10\r\n"));
	CHECK(strstr(text, "\r\nCache-Control: no-cache, private\r\n"));
	CHECK(strstr(text, "\r\nX-Test: one  two\r\n"));
	CHECK(!strstr(text, "Connection:"));
	web_ask(&w, fd, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", "POST /now hi;");
	CHECK_INT(http_server_connections(w.server), 1);
	close(fd);
	web_turn(&w);
	CHECK_INT(http_server_connections(w.server), 0);
	web_done(&w);
}

TEST("the last request of a connection is answered and the connection closed")
{
	static const char *const requests[] = { "GET /now HTTP/1.1\r\nConnection: close\r\n\r\n",
						"GET /now HTTP/1.0\r\n\r\n" };

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		struct web w;
		int fd;
		const char *text;

		web_init(&w, NULL, NULL);
		fd = web_connect(&w);
		text = web_ask(&w, fd, requests[i], NULL);
		CHECK(strstr(text, "\r\nConnection: close\r\n"));
		CHECK(strstr(text, "GET /now ;"));
		close(fd);
		web_done(&w);
	}
}

TEST("an old client may ask to keep its connection")
{
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	CHECK(strstr(web_ask(&w, fd, "GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", ";"),
		     "\r\nConnection: keep-alive\r\n"));
	web_ask(&w, fd, "GET /now HTTP/1.1\r\n\r\n", ";");
	close(fd);
	web_done(&w);
}

TEST("pipelined requests are answered one after the other, in their order")
{
	struct web w;
	int fd;
	const char *text;
	const char *one;
	const char *two;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_ask(&w, fd,
		"POST /now HTTP/1.1\r\nContent-Length: 1\r\n\r\n1GET /later HTTP/1.1\r\n\r\n"
		"POST /now HTTP/1.1\r\nContent-Length: 1\r\n\r\n3POST /now HTTP/1.1\r\nContent-Length: 1\r\n\r\n4",
		"/now 1;");
	CHECK_INT(w.requests, 2);
	http_reply(w.waiting[0], 200, "text/plain", "two;", 4);
	text = web_receive(&w, fd, "/now 4;");
	one = strstr(text, "two;");
	two = strstr(text, "/now 3;");
	CHECK(one && two && one < two);
	CHECK_INT(w.requests, 4);
	close(fd);
	web_done(&w);
}

TEST("a client that has stopped sending still gets its answers")
{
	struct web w;
	int fd;
	const char *text;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /later HTTP/1.1\r\n\r\nGET /now HTTP/1.1\r\n\r\n", 44);
	shutdown(fd, SHUT_WR);
	web_turn(&w);
	CHECK_INT(w.closed, 0);
	http_reply(w.waiting[0], 200, "text/plain", "two;", 4);
	text = web_receive(&w, fd, NULL);
	CHECK(strstr(text, "two;"));
	CHECK(strstr(text, "GET /now ;"));
	CHECK_INT(http_server_connections(w.server), 0);
	close(fd);
	web_done(&w);
}

TEST("a chunked body is put together, also byte by byte")
{
	static const char request[] = "POST /now HTTP/1.1\r\nX-Empty:\r\nTransfer-Encoding: chunked\r\n\r\n"
				      "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n";
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_ask(&w, fd, request, "POST /now abcdefg;");
	for (const char *p = request; *p; p++)
		web_send(&w, fd, p, 1);
	web_receive(&w, fd, "POST /now abcdefg;");
	CHECK_INT(w.faults, 0);
	close(fd);
	web_done(&w);
}

TEST("a client that asks before it sends its body is told to go on")
{
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	CHECK_STR(
		web_ask(&w, fd, "POST /now HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", "\r\n\r\n"),
		"HTTP/1.1 100 Continue\r\n\r\n");
	web_ask(&w, fd, "ok", "POST /now ok;");
	close(fd);
	web_done(&w);
}

TEST("a URL is cut into path and query, whatever its form")
{
	static const struct {
		const char *url, *path;
	} rows[] = {
		{ "/now?x=http://a/b", "/now" },
		{ "http://host/now?x", "/now" },
		{ "http://host", "/" },
		{ "http://host?x", "/" },
		{ "/now#http://a/b", "/now" },
		{ "*#tp://0", "*" },
		{ "*", "*" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct http_limits limits = { .url = 256, .headers = 512, .body = 16 };
		struct http_request *req = request_new(&limits);
		char text[128];
		int n = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n\r\n", rows[i].url);

		request_feed(req, text, (size_t)n);
		CHECK(req->done);
		CHECK_INT(http_path(req).n, strlen(rows[i].path));
		CHECK(strncmp(http_path(req).p, rows[i].path, http_path(req).n) == 0);
		request_free(req);
	}
}

TEST("HEAD is answered without a body, with its length")
{
	struct web w;
	int fd;
	const char *text;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	text = web_ask(&w, fd, "HEAD /now HTTP/1.1\r\nConnection: close\r\n\r\n", NULL);
	CHECK(strstr(text, "\r\nContent-Length: 11\r\n"));
	CHECK(str_ends(text, "\r\n\r\n"));
	close(fd);
	web_done(&w);
}

/* Sends `head` and then `fill` times 'a'; expects the code and the end of the connection. */
static void check_refused(const char *head, size_t fill, const char *tail, const char *status, enum err_kind kind)
{
	struct web w;
	struct http_limits limits = small;
	int fd;
	struct sbuf b;
	const char *text;

	limits.request_ms = 60000;
	web_init(&w, NULL, &limits);
	fd = web_connect(&w);
	sbuf_init(&b, 1 << 20);
	sbuf_adds(&b, head);
	while (fill--)
		sbuf_addc(&b, 'a');
	sbuf_adds(&b, tail);
	web_send(&w, fd, b.p, b.n);
	text = web_receive(&w, fd, NULL);
	if (!str_starts(text, status))
		test_fail(__FILE__, __LINE__, "%.40s answered by %.40s", head, text);
	CHECK(strstr(text, "{\"code\":"));
	CHECK(strstr(text, "\r\nConnection: close\r\n"));
	CHECK_INT(w.fault, kind);
	CHECK_INT(w.requests, 0);
	close(fd);
	web_turn(&w);
	CHECK_INT(http_server_connections(w.server), 0);
	sbuf_done(&b);
	web_done(&w);
}

TEST("what is too large or makes no sense is refused with a status")
{
	check_refused("GET /", 300, " HTTP/1.1\r\n\r\n", "HTTP/1.1 414 ", ERR_TOO_LARGE);
	check_refused("GET / HTTP/1.1\r\nX: ", 600, "\r\n\r\n", "HTTP/1.1 431 ", ERR_TOO_LARGE);
	check_refused("POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n", 5000, "", "HTTP/1.1 413 ", ERR_TOO_LARGE);
	check_refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n", 8192, "", "HTTP/1.1 413 ",
		      ERR_TOO_LARGE);
	check_refused("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 2, "", "HTTP/1.1 400 ",
		      ERR_BAD_REQUEST);
	check_refused("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 0, "0\r\n\r\n",
		      "HTTP/1.1 400 ", ERR_BAD_REQUEST);
	check_refused("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 9, "", "HTTP/1.1 400 ", ERR_BAD_REQUEST);
	check_refused("nonsense\r\n\r\n", 0, "", "HTTP/1.1 400 ", ERR_BAD_REQUEST);
	check_refused("GET / HTTP/3.0\r\n\r\n", 0, "", "HTTP/1.1 505 ", ERR_BAD_REQUEST);
}

TEST("a request that does not arrive in time is refused")
{
	struct web w;
	int fd;

	web_init(&w, NULL, &small);
	fd = web_connect(&w);
	CHECK(str_starts(web_ask(&w, fd, "GET /now HTTP/1.1\r\nSlo", NULL), "HTTP/1.1 408 "));
	CHECK_INT(w.requests, 0);
	close(fd);
	web_done(&w);
}

TEST("half a request and then the end frees the connection without a call")
{
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "POST /later HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf", 46);
	CHECK_INT(http_server_connections(w.server), 1);
	close(fd);
	web_turn(&w);
	CHECK_INT(http_server_connections(w.server), 0);
	CHECK_INT(w.requests, 0);
	web_done(&w);
}

TEST("the holder of a request hears when its connection is reset")
{
	const struct linger reset = { .l_onoff = 1 };
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /later HTTP/1.1\r\n\r\n", 23);
	CHECK_INT(w.nwaiting, 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	web_turn(&w);
	CHECK_INT(w.closed, 1);
	CHECK_INT(http_server_connections(w.server), 0);
	web_done(&w);
}

TEST("when connections run out the oldest idle one makes room, else the new one is closed")
{
	struct web w;
	struct http_limits limits = small;
	int fd[5];
	char c;

	limits.request_ms = 60000;
	web_init(&w, NULL, &limits);
	for (int i = 0; i < 3; i++)
		fd[i] = web_connect(&w);
	web_send(&w, fd[0], "GET /later HTTP/1.1\r\n\r\n", 23);
	fd[3] = web_connect(&w);
	CHECK_INT(http_server_connections(w.server), 3);
	CHECK_INT(recv(fd[1], &c, 1, 0), 0);
	web_send(&w, fd[2], "GET /later HTTP/1.1\r\n\r\n", 23);
	web_send(&w, fd[3], "GET /later HTTP/1.1\r\n\r\n", 23);
	fd[4] = web_connect(&w);
	CHECK_INT(recv(fd[4], &c, 1, 0), 0);
	CHECK_INT(w.closed, 0);
	for (int i = 0; i < 5; i++)
		close(fd[i]);
	web_done(&w);
}

TEST("a draining server finishes requests under way and closes the rest")
{
	struct web w;
	int busy;
	int idle;
	char c;

	web_init(&w, NULL, NULL);
	busy = web_connect(&w);
	idle = web_connect(&w);
	web_send(&w, busy, "GET /later HTTP/1.1\r\n\r\n", 23);
	http_server_drain(w.server);
	CHECK_INT(recv(idle, &c, 1, 0), 0);
	CHECK_INT(http_server_connections(w.server), 1);
	http_reply(w.waiting[0], 200, "text/plain", "bye;", 4);
	CHECK(strstr(web_receive(&w, busy, NULL), "bye;"));
	CHECK_INT(http_server_connections(w.server), 0);
	close(busy);
	close(idle);
	web_done(&w);
}

TEST("a large reply reaches a client that reads slowly")
{
	struct web w;
	int fd;
	const size_t n = 8u << 20;
	char *body = xcalloc(1, n);
	size_t got = 0;
	char block[65536];

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /later HTTP/1.1\r\nConnection: close\r\n\r\n", 42);
	http_reply(w.waiting[0], 200, "text/plain", body, n);
	CHECK_INT(http_server_connections(w.server), 1);
	for (ssize_t r = 1; r > 0;) {
		loop_turn(w.loop, true);
		r = recv(fd, block, sizeof(block), MSG_DONTWAIT);
		got += r > 0 ? (size_t)r : 0;
		if (r < 0 && errno == EAGAIN)
			r = 1;
	}
	CHECK(got > n);
	free(body);
	close(fd);
	web_done(&w);
}

TEST("a Unix socket tells who is there, replaces a dead file and refuses a live one")
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct web w;
	struct web other;
	struct err e = ERR_INIT;
	struct stat st;
	int fd;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", test_dir());
	web_init(&w, NULL, NULL);
	web_init(&other, NULL, NULL);
	CHECK_INT(http_listen_unix(w.server, addr.sun_path, &e), 0);
	CHECK(http_listen_unix(other.server, addr.sun_path, &e) < 0);
	CHECK_INT(e.kind, ERR_EXISTS);
	CHECK(stat(addr.sun_path, &st) == 0 && (st.st_mode & 0777) == 0666);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_INT(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	web_ask(&w, fd, "GET /now HTTP/1.1\r\n\r\n", "GET /now ;");
	CHECK(w.local);
	CHECK_INT(w.uid, getuid());
	web_send(&w, fd, "GET /later HTTP/1.1\r\n\r\n", 23);
	close(fd);
	web_turn(&w);
	CHECK_INT(w.closed, 1);
	web_done(&w);
	CHECK(stat(addr.sun_path, &st) < 0);

	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_INT(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	CHECK_INT(http_listen_unix(other.server, addr.sun_path, &e), 0);
	web_done(&other);
}

TEST("a child that a killed server left behind holds its Unix socket only for a moment")
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct web w;
	struct err e = ERR_INIT;
	pid_t child;
	int fd;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/orphan", test_dir());
	web_init(&w, NULL, NULL);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK_INT(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CHECK_INT(listen(fd, 100), 0);
	child = fork();
	if (child == 0) {
		usleep(200000);
		_exit(0);
	}
	close(fd);
	CHECK_INT(http_listen_unix(w.server, addr.sun_path, &e), 0);
	CHECK_INT(waitpid(child, NULL, 0), child);
	web_done(&w);
}

TEST("a port that is taken is reported with its address")
{
	struct web w;
	struct err e = ERR_INIT;
	int port;
	char want[64];

	web_init(&w, NULL, NULL);
	CHECK(http_listen_tcp(w.server, "127.0.0.1", w.port, NULL, &port, &e) < 0);
	snprintf(want, sizeof(want), "cannot listen on 127.0.0.1:%d: Address already in use", w.port);
	CHECK_STR(e.text, want);
	web_done(&w);
}

TEST("when descriptors run out a client is refused at once and the listener comes back")
{
	struct web w;
	struct rlimit limit;
	struct rlimit full;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int top;
	char c;

	web_init(&w, NULL, NULL);
	addr.sin_port = htons((uint16_t)w.port);
	top = dup(fd); /* the lowest that was free: all below it are taken */
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
	full = limit;
	full.rlim_cur = (rlim_t)top + 1;
	log_set_level(LOG_ERROR);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &full), 0);
	CHECK_INT(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	web_turn(&w);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
	log_set_level(LOG_INFO);
	CHECK_INT(recv(fd, &c, 1, 0), 0);
	close(fd);
	close(top);
	fd = web_connect(&w);
	web_ask(&w, fd, "GET /now HTTP/1.1\r\n\r\n", ";");
	close(fd);
	web_done(&w);
}
