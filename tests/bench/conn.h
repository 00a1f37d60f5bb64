// SPDX-License-Identifier: Apache-2.0
/* conn.h - one keep-alive HTTP or HTTPS connection of the load generator
 *
 * A connection has at most one request under way.  Connecting and the TLS handshake block, because they come before the
 * clock starts; everything after is driven by the epoll set the connection was added to.  The callbacks may start the
 * next request.
 */
#ifndef STOKER_BENCH_CONN_H
#define STOKER_BENCH_CONN_H

#include <http_parser.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target {
	const char *host;
	uint16_t port;
	SSL_CTX *tls; /* NULL: plain HTTP */
};

struct conn {
	int fd;
	SSL *ssl;
	http_parser parser;
	int status;
	uint64_t sent_at; /* just before the request's first byte left, ns */
	size_t received;  /* bytes of body so far */
	bool failed;
	void (*on_body)(struct conn *c, const char *p, size_t n); /* may be NULL */
	void (*on_reply)(struct conn *c);
	void *arg;
};

uint64_t now_ns(void);

/* Says what is wrong and ends the program. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* "http://HOST:PORT" or "https://HOST:PORT", HOST being numeric; `ca` is a PEM file or NULL for no verification. */
void target_parse(struct target *t, const char *url, const char *ca);

void conn_open(struct conn *c, const struct target *t, int epoll_fd);
void conn_close(struct conn *c);
/* Requests are small and one at a time, so they always fit the socket's buffer; anything else is a failure. */
void conn_send(struct conn *c, const char *p, size_t n);
/* Reads what is there and calls back.  One call takes at most a few records, so that no connection starves others. */
void conn_readable(struct conn *c);

#endif
