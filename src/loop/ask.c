// SPDX-License-Identifier: Apache-2.0
/* ask.c - one small question to a server, from the connection to the end of its answer, or of where that leads
 *
 * connect -> TLS -> send -> read, each step taken when the socket is ready for it.  The answer is over when HTTP says
 * so, when the server closes, or when as much as anybody wants to see of it is there.  Names are not looked up: that
 * would block, and what is asked here has an address.
 */
#include "loop/ask.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <http_parser.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loop/ask_text.h"
#include "loop/tls.h"

#define REDIRECTS_MAX 10 /* kubelet's figure */

enum ask_state { ASK_CONNECT, ASK_HANDSHAKE, ASK_SEND, ASK_READ };

struct ask {
	struct loop *loop;
	enum ask_state state;
	char *at;  /* host:port */
	char *url; /* NULL: only connect */
	/* the question */
	struct ask_place to;
	char *agent;
	bool follow;
	json_t *headers;
	/* the connection */
	int fd;
	struct loop_fd *watch;
	bool reads; /* what is watched for; else writing */
	struct tls_conn *tls;
	struct sbuf out;
	size_t sent;
	/* the answer */
	http_parser parser;
	bool headers_done, whole;
	int code;
	struct sbuf body;
	struct sbuf header, location; /* the name being read, and the value that matters */
	bool header_read;
	int redirects;
	struct loop_timer deadline;
	struct loop_hook finish; /* for what is over before ask_start() returns */
	struct err error;
	void (*done)(void *arg, int code, struct str body, const struct err *e);
	void *arg;
};

static void ask_free(struct ask *a)
{
	loop_fd_free(a->watch);
	tls_conn_free(a->tls);
	if (a->fd >= 0)
		close(a->fd);
	loop_timer_done(&a->deadline);
	loop_unschedule(a->loop, &a->finish);
	sbuf_done(&a->out);
	sbuf_done(&a->body);
	sbuf_done(&a->header);
	sbuf_done(&a->location);
	json_decref(a->headers);
	free(a->at);
	free(a->url);
	free(a->to.host);
	free(a->to.path);
	free(a->agent);
	free(a);
}

void ask_cancel(struct ask *a)
{
	if (a)
		ask_free(a);
}

/* Nothing of the ask is left when the asker hears of it: he may free the loop. */
static void on_finish(void *arg)
{
	struct ask *a = arg;
	void (*done)(void *, int, struct str, const struct err *) = a->done;
	void *done_arg = a->arg;
	struct err error = a->error;
	int code = error.kind == ERR_NONE ? a->code : 0;
	struct sbuf body = a->body;

	a->body = SBUF(0);
	ask_free(a);
	done(done_arg, code, sbuf_str(&body), &error);
	sbuf_done(&body);
}

static void fail(struct ask *a, enum err_kind kind, const char *what)
{
	if (a->url)
		err_set(&a->error, kind, "Get \"%s\": %s", a->url, what);
	else
		err_set(&a->error, kind, "%s", what);
}

/* "dial tcp 10.0.0.1:80: connect: connection refused" */
static void fail_dial(struct ask *a, const char *step, int error)
{
	auto_free char *why = xstrdup(strerror(error));
	auto_free char *text = NULL;

	why[0] = (char)tolower((unsigned char)why[0]);
	text = xasprintf("dial tcp %s: %s: %s", a->at, step, why);
	fail(a, ERR_UNAVAILABLE, text);
}

static void fail_io(struct ask *a, const char *step, int error)
{
	auto_free char *why = xstrdup(strerror(error));
	auto_free char *text = NULL;

	why[0] = (char)tolower((unsigned char)why[0]);
	text = xasprintf("%s tcp %s: %s", step, a->at, why);
	fail(a, ERR_UNAVAILABLE, text);
}

static void on_deadline(void *arg)
{
	struct ask *a = arg;
	auto_free char *dial = xasprintf("dial tcp %s: i/o timeout", a->at);

	if (!a->url)
		fail(a, ERR_TIMEOUT, dial);
	else if (a->headers_done)
		err_set(&a->error, ERR_TIMEOUT,
			"context deadline exceeded (Client.Timeout or context cancellation while reading body)");
	else
		fail(a, ERR_TIMEOUT, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
	on_finish(a);
}

/* --- the answer --- */

/* Names and values may come in pieces. */
static int on_header_name(http_parser *p, const char *at, size_t n)
{
	struct ask *a = p->data;

	if (a->header_read)
		sbuf_reset(&a->header);
	a->header_read = false;
	sbuf_add(&a->header, at, n);
	return 0;
}

static int on_header_value(http_parser *p, const char *at, size_t n)
{
	struct ask *a = p->data;

	a->header_read = true;
	if (a->header.p && strcasecmp(a->header.p, "Location") == 0)
		sbuf_add(&a->location, at, n);
	return 0;
}

static int on_headers(http_parser *p)
{
	struct ask *a = p->data;

	a->code = p->status_code;
	a->headers_done = a->code >= 200;
	return 0;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
	struct ask *a = p->data;

	sbuf_add(&a->body, at, n);
	a->whole = a->whole || a->body.over || a->body.n == a->body.max;
	return 0;
}

static int on_complete(http_parser *p)
{
	struct ask *a = p->data;

	/* "100 Continue" is not the answer. */
	a->whole = a->whole || a->code >= 200;
	return 0;
}

static void parse(struct ask *a, const char *p, size_t n)
{
	static const http_parser_settings settings = { .on_header_field = on_header_name,
						       .on_header_value = on_header_value,
						       .on_headers_complete = on_headers,
						       .on_body = on_body,
						       .on_message_complete = on_complete };
	size_t used = http_parser_execute(&a->parser, &settings, p, n);

	if (a->whole)
		return;
	if (!n)
		fail(a, ERR_UNAVAILABLE, a->headers_done ? "unexpected EOF" : "EOF");
	else if (used != n || HTTP_PARSER_ERRNO(&a->parser) != HPE_OK)
		fail(a, ERR_UNAVAILABLE, "net/http: malformed HTTP response");
}

/* --- the steps: 1 when done, 0 to wait, -1 with a->error --- */

static void watch(struct ask *a, bool reads);
static bool redirect(struct ask *a);

static int wait_for(struct ask *a, int result, const char *step)
{
	if (result == IO_WANT_READ || result == IO_WANT_WRITE) {
		watch(a, result == IO_WANT_READ);
		return 0;
	}
	if (a->state == ASK_HANDSHAKE)
		fail(a, ERR_UNAVAILABLE, "tls: the handshake failed");
	else if (a->tls)
		fail(a, ERR_UNAVAILABLE, "tls: the connection broke");
	else
		fail_io(a, step, errno);
	return -1;
}

static int step_connect(struct ask *a)
{
	int error = 0;
	socklen_t n = sizeof(error);

	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0)
		error = errno;
	if (error) {
		fail_dial(a, "connect", error);
		return -1;
	}
	if (a->to.https)
		a->tls = tls_conn_new_unverified(a->fd, a->to.host);
	return 1;
}

static int step_handshake(struct ask *a)
{
	int result = a->tls ? tls_conn_handshake(a->tls) : 1;

	return result == 1 ? 1 : wait_for(a, result, "handshake");
}

static ssize_t plain(ssize_t n, bool reads)
{
	if (n >= 0)
		return n;
	if (errno == EAGAIN || errno == EINTR)
		return reads ? IO_WANT_READ : IO_WANT_WRITE;
	return IO_FAILED;
}

static int step_send(struct ask *a)
{
	while (a->sent < a->out.n) {
		const char *p = a->out.p + a->sent;
		size_t left = a->out.n - a->sent;
		ssize_t n = a->tls ? tls_conn_write(a->tls, p, left) : plain(send(a->fd, p, left, MSG_NOSIGNAL), false);

		if (n <= 0)
			return wait_for(a, (int)n, "write");
		a->sent += (size_t)n;
	}
	return 1;
}

static int step_read(struct ask *a)
{
	char buf[8192];

	while (!a->whole) {
		ssize_t n = a->tls ? tls_conn_read(a->tls, buf, sizeof(buf))
				   : plain(recv(a->fd, buf, sizeof(buf), 0), true);

		if (n < 0)
			return wait_for(a, (int)n, "read");
		parse(a, buf, (size_t)n);
		if (a->error.kind != ERR_NONE)
			return -1;
	}
	return 1;
}

static int (*const steps[])(struct ask *) = {
	[ASK_CONNECT] = step_connect,
	[ASK_HANDSHAKE] = step_handshake,
	[ASK_SEND] = step_send,
	[ASK_READ] = step_read,
};

static void on_ready(void *arg, bool readable, bool writable)
{
	struct ask *a = arg;
	enum ask_state last = a->url ? ASK_READ : ASK_CONNECT;
	int result;

	(void)readable;
	(void)writable;
	while ((result = steps[a->state](a)) == 1 && a->state != last)
		a->state++;
	if (result == 1 && a->follow && redirect(a))
		return;
	if (result)
		on_finish(a);
}

static void watch(struct ask *a, bool reads)
{
	if (a->watch && a->reads == reads)
		return;
	loop_fd_free(a->watch);
	a->reads = reads;
	a->watch = loop_fd_new(a->loop, a->fd, reads, !reads, on_ready, a);
}

static socklen_t address_of(const char *host, int port, struct sockaddr_storage *ret)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	*ret = (struct sockaddr_storage){ 0 };
	if (inet_pton(AF_INET, streq(host, "localhost") ? "127.0.0.1" : host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		return sizeof(*v6);
	}
	return 0;
}

static void dial(struct ask *a)
{
	struct sockaddr_storage address;
	socklen_t n = address_of(a->to.host, a->to.port, &address);
	int one = 1;

	if (!n) {
		auto_free char *text =
			xasprintf("dial tcp: lookup %s: only addresses and localhost are asked", a->to.host);

		fail(a, ERR_UNAVAILABLE, text);
		return;
	}
	a->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd < 0) {
		fail_dial(a, "socket", errno);
		return;
	}
	setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(a->fd, (struct sockaddr *)&address, n) < 0 && errno != EINPROGRESS && errno != EINTR)
		fail_dial(a, "connect", errno);
	else
		watch(a, false);
}

/* Words the question and dials; a->error may be set, and is told from the loop. */
static void begin(struct ask *a)
{
	a->at = ask_text_address(&a->to);
	if (a->to.path) {
		a->url = xasprintf("%s://%s%s", a->to.https ? "https" : "http", a->at, a->to.path);
		ask_text_question(&a->to, a->agent, a->headers, &a->out);
	}
	if (a->out.over)
		fail(a, ERR_TOO_LARGE, "the headers are too long");
	else
		dial(a);
	if (a->error.kind != ERR_NONE)
		loop_schedule(a->loop, &a->finish);
}

static bool is_redirect(int code)
{
	return code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
}

/* False if the answer is the answer. */
static bool redirect(struct ask *a)
{
	auto_free char *location = sbuf_steal(&a->location);

	if (!is_redirect(a->code) || !ask_text_redirect(&a->to, location))
		return false;
	if (++a->redirects >= REDIRECTS_MAX) {
		fail(a, ERR_UNAVAILABLE, "stopped after 10 redirects");
		return false;
	}
	loop_fd_free(a->watch);
	tls_conn_free(a->tls);
	close(a->fd);
	free(a->at);
	free(a->url);
	sbuf_reset(&a->out);
	sbuf_reset(&a->body);
	a->watch = NULL;
	a->tls = NULL;
	a->fd = -1;
	a->sent = 0;
	a->code = 0;
	a->whole = a->headers_done = false;
	a->state = ASK_CONNECT;
	http_parser_init(&a->parser, HTTP_RESPONSE);
	begin(a);
	return true;
}

struct ask *ask_start(struct loop *loop, const struct ask_request *q)
{
	struct ask *a = xcalloc(1, sizeof(*a));

	a->loop = loop;
	a->fd = -1;
	a->to.https = q->https && q->path;
	a->to.host = xstrdup(q->host);
	a->to.port = q->port;
	a->to.path = q->path ? ask_text_path(q->path) : NULL;
	a->agent = xstrdup(q->agent ? q->agent : "");
	a->headers = json_incref((json_t *)q->headers);
	a->follow = q->follow && q->path;
	a->done = q->done;
	a->arg = q->arg;
	a->error = ERR_INIT;
	a->out = SBUF(LIMIT_HEADERS);
	a->body = SBUF(q->body_max);
	a->header = SBUF(LIMIT_HEADERS);
	a->location = SBUF(LIMIT_URL);
	a->deadline = (struct loop_timer){ .fire = on_deadline, .arg = a };
	a->finish = (struct loop_hook){ .run = on_finish, .arg = a, .phase = LOOP_WORK };
	http_parser_init(&a->parser, HTTP_RESPONSE);
	a->parser.data = a;
	if (q->timeout_ms > 0)
		loop_timer_set(a->loop, &a->deadline, q->timeout_ms);
	begin(a);
	return a;
}
