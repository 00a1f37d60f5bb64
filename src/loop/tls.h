// SPDX-License-Identifier: Apache-2.0
/* tls.h - TLS over a non-blocking socket, without OpenSSL's types; for this room only */
#ifndef STOKER_LOOP_TLS_H
#define STOKER_LOOP_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_server;
struct tls_conn;

/* What a read, write or handshake says instead of a count. */
enum io_result {
	IO_EOF = 0,
	IO_WANT_READ = -1,
	IO_WANT_WRITE = -2,
	IO_FAILED = -3,
};

struct tls_conn *tls_conn_new(struct tls_server *t, int fd);
/* tls_client.c: the asking side; `host` may be an address.  The certificate is not verified. */
struct tls_conn *tls_conn_new_unverified(int fd, const char *host);
void tls_conn_free(struct tls_conn *c);
/* 1 when done, else an io_result. */
int tls_conn_handshake(struct tls_conn *c);
/* Bytes, or an io_result. */
ssize_t tls_conn_read(struct tls_conn *c, void *p, size_t n);
/* Bytes of at most one record, or an io_result.  After IO_WANT_WRITE the same bytes, or more, must come again. */
ssize_t tls_conn_write(struct tls_conn *c, const void *p, size_t n);
/* Bytes have been read from the socket but not yet by tls_conn_read(): the socket need not become readable again. */
bool tls_conn_pending(const struct tls_conn *c);
/* Says goodbye without waiting for an answer. */
void tls_conn_goodbye(struct tls_conn *c);

/* The verified client certificate's names: one block to free, or NULL if there is none. */
struct tls_names {
	const char *user;          /* CN */
	const char *const *groups; /* O values, NULL-terminated */
};
struct tls_names *tls_conn_names(const struct tls_conn *c);

#endif
