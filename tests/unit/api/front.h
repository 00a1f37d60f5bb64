// SPDX-License-Identifier: Apache-2.0
/* front.h - the server of server.h behind a Unix socket, and a client that sends raw requests on the same loop */
#ifndef STOKER_TEST_FRONT_H
#define STOKER_TEST_FRONT_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/rest.h"
#include "server.h"

struct front {
	struct server s;
	struct rest *rest;
	struct http_server *http;
	char *path;
	/* of the last request */
	int code;
	char *head; /* owned */
	struct sbuf body;
};

static inline struct front front_new(void)
{
	struct front f = { .s = server_new(), .body = SBUF(64u << 20) };
	struct http_handlers handlers;
	struct err e = ERR_INIT;

	f.rest = rest_new(f.s.api);
	handlers = rest_handlers(f.rest);
	f.http = http_server_new(f.s.loop, &handlers);
	f.path = xasprintf("%s/sock", f.s.dir);
	CHECK_INT(http_listen_unix(f.http, f.path, &e), 0);
	CHECK_STR(e.text, "");
	return f;
}

static inline void front_done(struct front *f)
{
	http_server_free(f->http);
	rest_free(f->rest);
	server_done(&f->s);
	free(f->path);
	free(f->head);
	sbuf_done(&f->body);
}

static inline void front_turn(struct front *f)
{
	server_turn(&f->s);
	server_turn(&f->s);
	usleep(100);
}

static inline int front_connect(struct front *f)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", f->path);
	CHECK_INT(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static inline void front_send(struct front *f, int fd, const char *p, size_t n)
{
	for (int tries = 0; n && tries < 20000; tries++) {
		ssize_t sent = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN)
			return;
		if (sent > 0) {
			p += sent;
			n -= (size_t)sent;
		}
		if (n)
			front_turn(f);
	}
}

/* Turns until `want` has been received, or the end if it is NULL; all of it is left in f->body. */
static inline void front_receive(struct front *f, int fd, const char *want)
{
	char buf[65536];

	for (int tries = 0; tries < 20000; tries++) {
		ssize_t got = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

		if (got == 0 || (got < 0 && errno != EAGAIN))
			return;
		if (got > 0)
			sbuf_add(&f->body, buf, (size_t)got);
		if (want && f->body.p && strstr(f->body.p, want))
			return;
		if (got < 0)
			front_turn(f);
	}
	test_fail(__FILE__, __LINE__, "no end in \"%.200s\"", f->body.p ? f->body.p : "");
}

/* Cuts what came into code, head and body; a chunked body is put together. */
static inline void front_cut(struct front *f)
{
	char *end = f->body.p ? strstr(f->body.p, "\r\n\r\n") : NULL;
	struct sbuf body = SBUF(64u << 20);
	int64_t code = 0;

	free(f->head);
	f->head = xstrndup(f->body.p ? f->body.p : "", end ? (size_t)(end - f->body.p) : 0);
	if (strlen(f->head) > 12) {
		char digits[4] = { f->head[9], f->head[10], f->head[11], '\0' };

		str_int64(digits, 100, 999, &code);
	}
	f->code = (int)code;
	if (end && strcasestr(f->head, "chunked")) {
		char *at = end + 4;

		for (;;) {
			unsigned long n = strtoul(at, &at, 16);

			if (!n || n > f->body.n)
				break;
			sbuf_add(&body, at + 2, n);
			at += 2 + n + 2;
		}
	} else if (end) {
		sbuf_adds(&body, end + 4);
	}
	sbuf_done(&f->body);
	f->body = body;
}

/* One request, "GET /api/v1/pods", with extra header lines ("A: b\r\n" or "") and a body in single quotes or NULL.
 * Returns the code; head and body are in f. */
static inline int front_ask(struct front *f, const char *line, const char *headers, const char *body)
{
	auto_free char *text = xstrdup(body ? body : "");
	auto_free char *request = NULL;
	int fd = front_connect(f);

	for (char *p = text; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	request = xasprintf("%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n%s", line,
			    strlen(text), headers, text);
	sbuf_reset(&f->body);
	front_send(f, fd, request, strlen(request));
	front_receive(f, fd, NULL);
	close(fd);
	front_cut(f);
	return f->code;
}

/* The body as JSON, a new reference, or NULL. */
static inline json_t *front_json(const struct front *f)
{
	json_t *doc = NULL;
	struct err e = ERR_INIT;

	jsonx_parse(f->body.p ? f->body.p : "", f->body.n, NULL, NULL, &doc, &e);
	return doc;
}

#endif
