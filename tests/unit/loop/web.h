// SPDX-License-Identifier: Apache-2.0
/* web.h - a server and raw clients on one loop, for the tests of this room
 *
 * Paths: /now echoes method, path and body at once; /later waits in `waiting` for the test to answer; /stream starts a
 * stream and waits there too.
 */
#ifndef STOKER_TEST_WEB_H
#define STOKER_TEST_WEB_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "loop/http.h"
#include "test.h"

#define WEB_WAITING 8

struct web {
	struct loop *loop;
	struct http_server *server;
	struct http_request *waiting[WEB_WAITING];
	unsigned nwaiting, requests, closed, faults;
	enum err_kind fault;
	uid_t uid;
	bool local;
	char user[64], group[64];
	int port;
};

#define WEB __attribute__((unused)) static

WEB void web_on_close(void *arg)
{
	struct web *w = arg;

	w->closed++;
}

WEB void web_request(void *arg, struct http_request *req)
{
	struct web *w = arg;
	const struct http_peer *peer = http_peer(req);
	struct str path = http_path(req);

	w->requests++;
	w->uid = peer->uid;
	w->local = peer->local;
	snprintf(w->user, sizeof(w->user), "%s", peer->cert_user ? peer->cert_user : "");
	snprintf(w->group, sizeof(w->group), "%s",
		 peer->cert_groups && peer->cert_groups[0] ? peer->cert_groups[0] : "");
	if (str_eq(path, "/now")) {
		struct str parts[] = { str_of(http_method(req)), STR(" "), path, STR(" "), http_body(req), STR(";") };

		http_add_header(req, "X-Test", "one\r\ntwo");
		http_reply_parts(req, 200, "text/plain", parts, ARRAY_SIZE(parts));
		return;
	}
	http_on_close(req, web_on_close, w);
	w->waiting[w->nwaiting++ % WEB_WAITING] = req;
	if (str_eq(path, "/stream"))
		http_stream_start(req, 200, "application/json");
}

WEB void web_fault(void *arg, const struct err *e, int code, struct sbuf *body, const char **ret_type)
{
	struct web *w = arg;

	w->faults++;
	w->fault = e->kind;
	*ret_type = "application/json";
	sbuf_addf(body, "{\"code\":%d}", code);
}

WEB void web_init(struct web *w, struct tls_server *tls, const struct http_limits *limits)
{
	const struct http_handlers handlers = { .request = web_request, .bad_request = web_fault, .arg = w };
	struct err e = ERR_INIT;

	*w = (struct web){ .loop = loop_new() };
	w->server = http_server_new(w->loop, &handlers);
	if (limits)
		http_server_set_limits(w->server, limits);
	CHECK_INT(http_listen_tcp(w->server, "127.0.0.1", 0, tls, &w->port, &e), 0);
	CHECK_STR(e.text, "");
}

WEB void web_done(struct web *w)
{
	http_server_free(w->server);
	loop_free(w->loop);
}

WEB void web_turn(struct web *w)
{
	loop_turn(w->loop, true);
	loop_turn(w->loop, true);
	usleep(200);
}

WEB int web_connect(struct web *w)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)w->port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_INT(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	web_turn(w);
	return fd;
}

WEB void web_send(struct web *w, int fd, const char *p, size_t n)
{
	for (int tries = 0; n && tries < 20000; tries++) {
		ssize_t sent = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN)
			return;
		if (sent > 0) {
			p += sent;
			n -= (size_t)sent;
		}
		web_turn(w);
	}
}

/* Turns until the client has received `want`, or its end if `want` is NULL; the text so far is left in a buffer that
 * the next call overwrites. */
WEB const char *web_receive(struct web *w, int fd, const char *want)
{
	static char text[1 << 20];
	size_t n = 0;

	text[0] = '\0';
	for (int tries = 0; tries < 10000; tries++) {
		ssize_t got;

		web_turn(w);
		got = recv(fd, text + n, sizeof(text) - 1 - n, MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			return text;
		if (got < 0)
			continue;
		n += (size_t)got;
		text[n] = '\0';
		if (want && strstr(text, want))
			return text;
	}
	test_fail(__FILE__, __LINE__, "no \"%s\" in \"%s\"", want ? want : "(end)", text);
	return text;
}

WEB const char *web_ask(struct web *w, int fd, const char *request, const char *want)
{
	web_send(w, fd, request, strlen(request));
	return web_receive(w, fd, want);
}

#endif
