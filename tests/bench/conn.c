// SPDX-License-Identifier: Apache-2.0
/* conn.c - connect, handshake, send, read and parse replies
 *
 * TLS reads ahead, so one read(2) takes a whole record, and a record that was not full is taken as the last one for
 * now: epoll is level-triggered and says so if it was not.  Together that is one system call a reply.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"

#define READ_SIZE    (64 * 1024)
#define READS_A_CALL 8

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void die(const char *format, ...)
{
	va_list ap;

	fputs("load: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void target_parse(struct target *t, const char *url, const char *ca)
{
	static char host[64];
	char scheme[6];
	unsigned port;

	if (sscanf(url, "%5[a-z]://%63[0-9.]:%u", scheme, host, &port) != 3 || port > 65535)
		die("%s: not http[s]://ADDRESS:PORT", url);
	*t = (struct target){ .host = host, .port = (uint16_t)port };
	if (strcmp(scheme, "https") != 0)
		return;
	t->tls = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_read_ahead(t->tls, 1);
	if (ca && SSL_CTX_load_verify_locations(t->tls, ca, NULL) != 1)
		die("%s: cannot read certificates", ca);
	SSL_CTX_set_verify(t->tls, ca ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
}

static int on_headers(http_parser *p)
{
	struct conn *c = p->data;

	c->status = (int)p->status_code;
	return 0;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
	struct conn *c = p->data;

	c->received += n;
	if (c->on_body)
		c->on_body(c, at, n);
	return 0;
}

static int on_message(http_parser *p)
{
	struct conn *c = p->data;

	c->on_reply(c);
	return 0;
}

static const http_parser_settings parser_settings = {
	.on_headers_complete = on_headers,
	.on_body = on_body,
	.on_message_complete = on_message,
};

static void handshake(struct conn *c, const struct target *t)
{
	c->ssl = SSL_new(t->tls);
	SSL_set_fd(c->ssl, c->fd);
	if (SSL_get_verify_mode(c->ssl) != SSL_VERIFY_NONE)
		SSL_set1_host(c->ssl, t->host);
	if (SSL_connect(c->ssl) != 1)
		die("TLS handshake with port %u: %s", t->port, ERR_reason_error_string(ERR_get_error()));
}

void conn_open(struct conn *c, const struct target *t, int epoll_fd)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(t->port) };
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	const int on = 1;

	inet_pton(AF_INET, t->host, &addr.sin_addr);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		die("connecting to %s:%u: %s", t->host, t->port, strerror(errno));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (t->tls)
		handshake(c, t);
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
	http_parser_init(&c->parser, HTTP_RESPONSE);
	c->parser.data = c;
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &ev);
}

void conn_close(struct conn *c)
{
	SSL_free(c->ssl);
	c->ssl = NULL;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->failed = true;
}

void conn_send(struct conn *c, const char *p, size_t n)
{
	c->received = 0;
	c->sent_at = now_ns();
	if (c->ssl ? SSL_write(c->ssl, p, (int)n) != (int)n : write(c->fd, p, n) != (ssize_t)n)
		conn_close(c);
}

/* Bytes read, 0 for none now, -1 when the connection has ended. */
static ssize_t read_some(struct conn *c, char *buf, size_t size)
{
	int n;

	if (!c->ssl) {
		ssize_t got = read(c->fd, buf, size);

		return got > 0 ? got : got < 0 && errno == EAGAIN ? 0 : -1;
	}
	n = SSL_read(c->ssl, buf, (int)size);
	if (n > 0)
		return n;
	return SSL_get_error(c->ssl, n) == SSL_ERROR_WANT_READ ? 0 : -1;
}

void conn_readable(struct conn *c)
{
	static char buf[READ_SIZE];

	for (int i = 0; i < READS_A_CALL || (c->ssl && SSL_has_pending(c->ssl)); i++) {
		ssize_t n = read_some(c, buf, sizeof(buf));

		if (n == 0)
			return;
		if (n < 0 || http_parser_execute(&c->parser, &parser_settings, buf, (size_t)n) != (size_t)n) {
			conn_close(c);
			return;
		}
		if (c->failed || (n < 16384 && !(c->ssl && SSL_has_pending(c->ssl))))
			return;
	}
}
