// SPDX-License-Identifier: Apache-2.0
/* tls_client.c - the asking side of TLS, for questions whose answer matters less than that there is one
 *
 * The server's certificate is not verified: a probe asks whether something answers, with the address as its only name.
 */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/log.h"
#include "base/mem.h"
#include "loop/tls.h"

static bool is_address(const char *host)
{
	unsigned char raw[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, raw) == 1 || inet_pton(AF_INET6, host, raw) == 1;
}

struct tls_conn *tls_conn_new_unverified(int fd, const char *host)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = ctx ? SSL_new(ctx) : NULL;

	SSL_CTX_free(ctx); /* the SSL holds on to it */
	if (!ssl || SSL_set_fd(ssl, fd) != 1) {
		log_error("set up TLS: %s", ERR_error_string(ERR_peek_last_error(), NULL));
		abort(); /* out of memory, as in base/mem.c */
	}
	SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
	SSL_set_options(ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_set_connect_state(ssl);
	if (!is_address(host))
		SSL_set_tlsext_host_name(ssl, host);
	return (struct tls_conn *)ssl;
}
