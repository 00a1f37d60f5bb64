// SPDX-License-Identifier: Apache-2.0
/* tls.c - server-side TLS on a socket, made for many quiet connections
 *
 * OpenSSL frees its record buffers between records (SSL_MODE_RELEASE_BUFFERS), sessions live in tickets and not in a
 * cache, and reads take whatever the socket has (read-ahead), so a small request costs one read(2) and one write(2).
 * The error queue is emptied before each call: SSL_get_error() looks at it, and other users of OpenSSL leave things
 * there.
 */
#include "loop/tls.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/pki_internal.h"

#define RECORD_MAX 16384
#define GROUPS_MAX 64

struct tls_server {
	SSL_CTX *ctx;
};

/* The SSL itself: an idle connection has no struct of ours besides. */
static SSL *ssl_of(const struct tls_conn *c)
{
	return (SSL *)(uintptr_t)c;
}

static void forget_errors(void)
{
	if (ERR_peek_error())
		ERR_clear_error();
}

static void must(bool ok)
{
	if (ok)
		return;
	log_error("set up TLS: %s", ERR_error_string(ERR_peek_last_error(), NULL));
	abort();
}

static void trust_own_ca(SSL_CTX *ctx, X509 *ca)
{
	X509_STORE *store = X509_STORE_new();

	must(store && X509_STORE_add_cert(store, ca) == 1);
	SSL_CTX_set_cert_store(ctx, store);
	must(SSL_CTX_add_client_CA(ctx, ca) == 1);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	/* Without a context id, resuming a session that had a client certificate fails. */
	must(SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"stoker", 6) == 1);
}

struct tls_server *tls_server_new(struct pki *p)
{
	struct tls_server *t = xcalloc(1, sizeof(*t));
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	must(ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF |
					 SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	must(SSL_CTX_set_num_tickets(ctx, 1) == 1);
	/* AES-128 first: the cheapest one here that has no known weakness. */
	must(SSL_CTX_set_ciphersuites(
		     ctx, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1);
	must(SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1);
	must(SSL_CTX_use_certificate(ctx, p->server.cert) == 1 && SSL_CTX_use_PrivateKey(ctx, p->server.key) == 1);
	trust_own_ca(ctx, p->ca.cert);
	t->ctx = ctx;
	return t;
}

void tls_server_free(struct tls_server *t)
{
	if (!t)
		return;
	SSL_CTX_free(t->ctx);
	free(t);
}

struct tls_conn *tls_conn_new(struct tls_server *t, int fd)
{
	SSL *ssl = SSL_new(t->ctx);

	must(ssl && SSL_set_fd(ssl, fd) == 1);
	SSL_set_accept_state(ssl);
	return (struct tls_conn *)ssl;
}

void tls_conn_free(struct tls_conn *c)
{
	if (c)
		SSL_free(ssl_of(c));
}

static int result_of(SSL *ssl, int ret)
{
	switch (SSL_get_error(ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		return IO_WANT_READ;
	case SSL_ERROR_WANT_WRITE:
		return IO_WANT_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		return IO_EOF;
	default:
		return IO_FAILED;
	}
}

int tls_conn_handshake(struct tls_conn *c)
{
	int ret;
	int result;

	forget_errors();
	ret = SSL_do_handshake(ssl_of(c));
	if (ret == 1)
		return 1;
	result = result_of(ssl_of(c), ret);
	if (result == IO_FAILED)
		log_debug("refuse a TLS handshake error=%s", ERR_reason_error_string(ERR_peek_error()));
	forget_errors();
	return result;
}

ssize_t tls_conn_read(struct tls_conn *c, void *p, size_t n)
{
	int ret;

	forget_errors();
	ret = SSL_read(ssl_of(c), p, (int)n);
	return ret > 0 ? ret : result_of(ssl_of(c), ret);
}

ssize_t tls_conn_write(struct tls_conn *c, const void *p, size_t n)
{
	int ret;

	forget_errors();
	ret = SSL_write(ssl_of(c), p, (int)(n > RECORD_MAX ? RECORD_MAX : n));
	return ret > 0 ? ret : result_of(ssl_of(c), ret);
}

bool tls_conn_pending(const struct tls_conn *c)
{
	return SSL_has_pending(ssl_of(c));
}

void tls_conn_goodbye(struct tls_conn *c)
{
	forget_errors();
	if (SSL_is_init_finished(ssl_of(c)))
		SSL_shutdown(ssl_of(c));
	forget_errors();
}

/* One value of the subject, or NULL if it is absent or hides a NUL. */
static char *subject_text(const X509_NAME *name, int at)
{
	unsigned char *utf8 = NULL;
	int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
	char *text = n > 0 && strlen((char *)utf8) == (size_t)n ? xstrdup((char *)utf8) : NULL;

	OPENSSL_free(utf8);
	return text;
}

static size_t collect(const X509_NAME *name, int nid, char **out, size_t max)
{
	size_t n = 0;

	for (int at = -1; n < max && (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
		char *text = subject_text(name, at);

		if (text)
			out[n++] = text;
	}
	return n;
}

/* Pointers first, their texts after them. */
static struct tls_names *pack_names(const char *user, char *const *groups, size_t ngroups)
{
	size_t head = sizeof(struct tls_names) + (ngroups + 1) * sizeof(char *);
	size_t total = head + strlen(user) + 1;
	struct tls_names *names;
	const char **list;
	char *at;

	for (size_t i = 0; i < ngroups; i++)
		total += strlen(groups[i]) + 1;
	names = xcalloc(1, total);
	list = (const char **)(names + 1);
	at = (char *)names + head;
	names->user = memcpy(at, user, strlen(user) + 1);
	names->groups = list;
	at += strlen(user) + 1;
	for (size_t i = 0; i < ngroups; i++) {
		list[i] = memcpy(at, groups[i], strlen(groups[i]) + 1);
		at += strlen(groups[i]) + 1;
	}
	return names;
}

/* A resumed session is not verified again, so a certificate may have ended since. */
static bool still_valid(const X509 *cert)
{
	time_t now = (time_t)clock_wall();

	return X509_cmp_time(X509_get0_notAfter(cert), &now) > 0;
}

struct tls_names *tls_conn_names(const struct tls_conn *c)
{
	X509 *cert = SSL_get0_peer_certificate(ssl_of(c));
	char *groups[GROUPS_MAX];
	char *user = NULL;
	size_t ngroups;
	struct tls_names *names = NULL;

	if (!cert || SSL_get_verify_result(ssl_of(c)) != X509_V_OK || !still_valid(cert))
		return NULL;
	if (collect(X509_get_subject_name(cert), NID_commonName, &user, 1) == 0)
		return NULL;
	ngroups = collect(X509_get_subject_name(cert), NID_organizationName, groups, GROUPS_MAX);
	names = pack_names(user, groups, ngroups);
	for (size_t i = 0; i < ngroups; i++)
		free(groups[i]);
	free(user);
	return names;
}
