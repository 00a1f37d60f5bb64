// SPDX-License-Identifier: Apache-2.0
/* ask_test.c - small questions to our own server and to ones that misbehave */
#include "loop/ask.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "web.h"

struct reply {
	unsigned calls;
	int code;
	char body[512], error[1024];
	enum err_kind kind;
};

static void on_done(void *arg, int code, struct str body, const struct err *e)
{
	struct reply *r = arg;

	r->calls++;
	r->code = code;
	r->kind = e->kind;
	snprintf(r->body, sizeof(r->body), "%.*s", STR_FMT(body));
	snprintf(r->error, sizeof(r->error), "%s", e->text);
}

static struct ask_request question(struct reply *r, int port, const char *path)
{
	return (struct ask_request){ .host = "127.0.0.1",
				     .port = port,
				     .path = path,
				     .agent = "kube-probe/1.32",
				     .timeout_ms = 5000,
				     .body_max = 256,
				     .done = on_done,
				     .arg = r };
}

static void wait_for(struct loop *loop, const unsigned *count)
{
	for (int i = 0; i < 20000 && !*count; i++) {
		loop_turn(loop, true);
		usleep(200);
	}
	CHECK_INT(*count, 1);
}

TEST("a GET is answered over HTTP, and over HTTPS by a certificate nobody checks")
{
	auto_free char *dir = xasprintf("%s/ask", test_dir());
	struct pki *pki = NULL;
	struct tls_server *tls;
	struct err e = ERR_INIT;

	mkdir(dir, 0700);
	CHECK_INT(pki_open(dir, NULL, &pki, &e), 0);
	tls = tls_server_new(pki);
	for (int https = 0; https < 2; https++) {
		struct reply r = { 0 };
		struct ask_request q;
		struct web w;

		web_init(&w, https ? tls : NULL, NULL);
		q = question(&r, w.port, "now");
		q.https = https;
		ask_start(w.loop, &q);
		CHECK_INT(r.calls, 0);
		wait_for(w.loop, &r.calls);
		CHECK_INT(r.code, 200);
		CHECK_STR(r.body, "GET /now ;");
		CHECK_STR(r.error, "");
		web_done(&w);
	}
	tls_server_free(tls);
	pki_free(pki);
}

/* A listener with a script: the answer to the first connection, and what that one asked. */
struct script {
	struct loop *loop;
	int fd, port;
	char asked[4096];
};

static void script_open(struct script *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);

	*s = (struct script){ .loop = loop_new(), .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	CHECK(bind(s->fd, (struct sockaddr *)&at, n) == 0 && listen(s->fd, 4) == 0 &&
	      getsockname(s->fd, (struct sockaddr *)&at, &n) == 0);
	s->port = ntohs(at.sin_port);
}

static void script_close(struct script *s)
{
	close(s->fd);
	loop_free(s->loop);
}

/* Asks, answers, closes; the reply is in *r. */
static void play(struct script *s, const struct ask_request *q, const char *answer, struct reply *r)
{
	struct ask *a = ask_start(s->loop, q);
	int c = accept(s->fd, NULL, NULL);
	ssize_t n = 0;

	for (int i = 0; i < 5000 && n <= 0; i++) {
		loop_turn(s->loop, true);
		n = recv(c, s->asked, sizeof(s->asked) - 1, MSG_DONTWAIT);
		usleep(200);
	}
	s->asked[n > 0 ? n : 0] = '\0';
	CHECK(write(c, answer, strlen(answer)) == (ssize_t)strlen(answer));
	shutdown(c, SHUT_WR);
	wait_for(s->loop, &r->calls);
	close(c);
	(void)a;
}

TEST("own headers replace the usual ones and cannot smuggle a second question")
{
	json_auto_t *headers = json_pack("[{s:s,s:s},{s:s,s:s},{s:s,s:s},{s:s,s:s}]", "name", "host", "value",
					 "example", "name", "X-Mine", "value", "1", "name", "X-Bad", "value",
					 "1\r\nX-Evil: 2", "name", "connection", "value", "keep-alive");
	struct reply r = { 0 };
	struct script s;
	struct ask_request q;

	script_open(&s);
	q = question(&r, s.port, "/a b\r\nX: y");
	q.headers = headers;
	play(&s, &q, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &r);
	CHECK_INT(r.code, 200);
	CHECK_STR(r.body, "hi");
	CHECK_STR(s.asked, "GET /a%20b%0D%0AX:%20y HTTP/1.1\r\nHost: example\r\nUser-Agent: kube-probe/1.32\r\n"
			   "Accept: */*\r\nX-Mine: 1\r\nConnection: close\r\n\r\n");
	script_close(&s);
}

TEST("answers end where HTTP says, and broken ones are errors")
{
	static const struct {
		const char *answer;
		int code;
		const char *body, *error;
	} rows[] = {
		{ "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx", 404, "x", "" },
		{ "HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end", "" },
		{ "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 500, "abc", "" },
		{ "", 0, "", "EOF" },
		{ "SSH-2.0-OpenSSH\r\n", 0, "", "net/http: malformed HTTP response" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 0, "abc", "unexpected EOF" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct reply r = { 0 };
		struct script s;
		struct ask_request q;
		auto_free char *want = NULL;

		script_open(&s);
		q = question(&r, s.port, "/");
		play(&s, &q, rows[i].answer, &r);
		want = *rows[i].error ? xasprintf("Get \"http://127.0.0.1:%d/\": %s", s.port, rows[i].error)
				      : xstrdup("");
		CHECK_INT(r.code, rows[i].code);
		CHECK_STR(r.body, rows[i].body);
		CHECK_STR(r.error, want);
		script_close(&s);
	}
}

static void answer_next(struct script *s, const char *answer)
{
	int c = accept(s->fd, NULL, NULL);
	ssize_t n = 0;

	for (int i = 0; i < 5000 && n <= 0; i++) {
		loop_turn(s->loop, true);
		n = recv(c, s->asked, sizeof(s->asked) - 1, MSG_DONTWAIT);
		usleep(200);
	}
	s->asked[n > 0 ? n : 0] = '\0';
	CHECK(write(c, answer, strlen(answer)) == (ssize_t)strlen(answer));
	shutdown(c, SHUT_WR);
	for (int i = 0; i < 5; i++) {
		loop_turn(s->loop, true);
		usleep(200);
	}
	close(c);
}

TEST("redirects are followed on the same host, and only there")
{
	static const struct {
		const char *location, *asked; /* NULL: not followed */
	} rows[] = {
		{ "/login?next=%2F", "GET /login?next=%2F HTTP/1.1\r\n" },
		{ "near#mark", "GET /a/near HTTP/1.1\r\n" },
		{ "http://127.0.0.1:PORT/far?x=y", "GET /far?x=y HTTP/1.1\r\n" },
		{ "http://127.0.0.1:PORT", "GET / HTTP/1.1\r\n" },
		{ "http://127.0.0.2:PORT/", NULL },
		{ "//127.0.0.1/", NULL },
		{ "ftp://127.0.0.1/", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *mark = strstr(rows[i].location, "PORT");
		struct reply r = { 0 };
		struct script s;
		struct ask_request q;
		auto_free char *answer = NULL;

		script_open(&s);
		answer = mark ? xasprintf("HTTP/1.1 302 Found\r\nlocation: %.*s%d%s\r\nContent-Length: 0\r\n\r\n",
					  (int)(mark - rows[i].location), rows[i].location, s.port, mark + 4)
			      : xasprintf("HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
					  rows[i].location);
		q = question(&r, s.port, "/a/b?c=/d");
		q.follow = true;
		ask_start(s.loop, &q);
		answer_next(&s, answer);
		if (rows[i].asked) {
			CHECK_INT(r.calls, 0);
			answer_next(&s, "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno");
			CHECK(str_starts(s.asked, rows[i].asked));
		}
		wait_for(s.loop, &r.calls);
		CHECK_INT(r.code, rows[i].asked ? 500 : 302);
		CHECK_STR(r.body, rows[i].asked ? "no" : "");
		script_close(&s);
	}
}

TEST("a circle of redirects is left after ten")
{
	struct reply r = { 0 };
	struct script s;
	struct ask_request q;
	auto_free char *want = NULL;

	script_open(&s);
	q = question(&r, s.port, "/");
	q.follow = true;
	ask_start(s.loop, &q);
	for (int i = 0; i < 10; i++)
		answer_next(&s, "HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n");
	wait_for(s.loop, &r.calls);
	want = xasprintf("Get \"http://127.0.0.1:%d/\": stopped after 10 redirects", s.port);
	CHECK_STR(r.error, want);
	script_close(&s);
}

TEST("a long answer is cut off and not waited for")
{
	struct reply r = { 0 };
	struct script s;
	struct ask_request q;
	char answer[1024] = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";

	memset(answer + strlen(answer), 'x', 500);
	script_open(&s);
	q = question(&r, s.port, "/");
	play(&s, &q, answer, &r);
	CHECK_INT(r.code, 200);
	CHECK(strlen(r.body) <= 256);
	script_close(&s);
}

TEST("a deadline ends a question, a refusal and a foreign name say what is wrong, a cancelled one says nothing")
{
	struct reply r = { 0 };
	struct script s;
	struct ask_request q;
	auto_free char *want = NULL, *refused = NULL;

	script_open(&s);
	q = question(&r, s.port, "/slow");
	q.timeout_ms = 50;
	ask_start(s.loop, &q);
	wait_for(s.loop, &r.calls);
	want = xasprintf("Get \"http://127.0.0.1:%d/slow\": context deadline exceeded (Client.Timeout exceeded while "
			 "awaiting headers)",
			 s.port);
	CHECK_STR(r.error, want);
	CHECK_INT(r.kind, ERR_TIMEOUT);
	r = (struct reply){ 0 };
	ask_cancel(ask_start(s.loop, &q));
	usleep(60000);
	loop_turn(s.loop, true);
	CHECK_INT(r.calls, 0);
	q.path = NULL;
	ask_start(s.loop, &q);
	wait_for(s.loop, &r.calls);
	CHECK_INT(r.kind, ERR_NONE);
	r = (struct reply){ 0 };
	close(s.fd);
	ask_start(s.loop, &q);
	wait_for(s.loop, &r.calls);
	refused = xasprintf("dial tcp 127.0.0.1:%d: connect: connection refused", s.port);
	CHECK_STR(r.error, refused);
	r = (struct reply){ 0 };
	q.host = "example.invalid";
	ask_start(s.loop, &q);
	CHECK_INT(r.calls, 0);
	wait_for(s.loop, &r.calls);
	CHECK_STR(r.error, "dial tcp: lookup example.invalid: only addresses and localhost are asked");
	s.fd = -1;
	script_close(&s);
}
