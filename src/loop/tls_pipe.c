// SPDX-License-Identifier: Apache-2.0
/* tls_pipe.c - TLS between two memory buffers */
#include "loop/tls_pipe.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/mem.h"

struct tls_pipe {
	struct tls_pipe_handlers h;
	SSL_CTX *ctx;
	SSL *ssl;
	BIO *in, *out;       /* owned by ssl */
	struct sbuf waiting; /* written before the handshake was over */
};

struct tls_pipe *tls_pipe_new(const struct tls_pipe_handlers *h)
{
	struct tls_pipe *t = xcalloc(1, sizeof(*t));

	t->h = *h;
	t->ctx = SSL_CTX_new(TLS_client_method());
	t->ssl = t->ctx ? SSL_new(t->ctx) : NULL;
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (!t->ssl || !t->in || !t->out)
		abort(); /* out of memory, as in base/mem.c */
	SSL_set_options(t->ssl, SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_set_bio(t->ssl, t->in, t->out);
	SSL_set_connect_state(t->ssl);
	sbuf_init(&t->waiting, SIZE_MAX); /* a request, which has its own limit */
	return t;
}

/* ---- trust ---- */

static bool is_address(const char *host)
{
	unsigned char raw[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, raw) == 1 || inet_pton(AF_INET6, host, raw) == 1;
}

/* All certificates of a text, into the store. */
static int add_authorities(SSL_CTX *ctx, const char *pem)
{
	BIO *text = BIO_new_mem_buf(pem, -1);
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	X509 *cert;
	int n = 0;

	while ((cert = PEM_read_bio_X509(text, NULL, NULL, NULL))) {
		n += X509_STORE_add_cert(store, cert) == 1;
		X509_free(cert);
	}
	ERR_clear_error(); /* the end of the text */
	BIO_free(text);
	return n;
}

static bool use_own(SSL *ssl, const struct tls_trust *trust)
{
	BIO *cert_text = BIO_new_mem_buf(trust->cert_pem, -1);
	BIO *key_text = BIO_new_mem_buf(trust->key_pem, -1);
	X509 *cert = PEM_read_bio_X509(cert_text, NULL, NULL, NULL);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL);
	bool ok = cert && key && SSL_use_certificate(ssl, cert) == 1 && SSL_use_PrivateKey(ssl, key) == 1;

	X509_free(cert);
	EVP_PKEY_free(key);
	BIO_free(cert_text);
	BIO_free(key_text);
	ERR_clear_error();
	return ok;
}

int tls_pipe_trust(struct tls_pipe *t, const struct tls_trust *trust, struct err *e)
{
	bool numeric = is_address(trust->host);

	if (trust->cert_pem && trust->key_pem && !use_own(t->ssl, trust))
		return err_set(e, ERR_INVALID, "the client certificate for %s and its key cannot be used", trust->host);
	if (!numeric)
		SSL_set_tlsext_host_name(t->ssl, trust->host);
	if (trust->insecure)
		return 0;
	if (trust->ca_pem ? !add_authorities(t->ctx, trust->ca_pem) : SSL_CTX_set_default_verify_paths(t->ctx) != 1)
		return err_set(e, ERR_INVALID, "the certificate authority for %s cannot be read", trust->host);
	if (numeric ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(t->ssl), trust->host) != 1
		    : SSL_set1_host(t->ssl, trust->host) != 1)
		return err_set(e, ERR_INVALID, "%s: is no name of a server", trust->host);
	SSL_set_verify(t->ssl, SSL_VERIFY_PEER, NULL);
	return 0;
}

void tls_pipe_free(struct tls_pipe *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	SSL_CTX_free(t->ctx);
	sbuf_done(&t->waiting);
	free(t);
}

static void send_out(struct tls_pipe *t)
{
	char *p = NULL;
	long n = BIO_get_mem_data(t->out, &p);

	if (n > 0)
		t->h.send(t->h.arg, (struct str){ p, (size_t)n });
	(void)BIO_reset(t->out);
}

static int failed(const struct tls_pipe *t, int rc, struct err *e)
{
	int why = SSL_get_error(t->ssl, rc);
	unsigned long code = ERR_peek_last_error();

	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_ZERO_RETURN)
		return 0;
	return err_set(e, ERR_UNAVAILABLE, "TLS failed: %s", code ? ERR_reason_error_string(code) : "cut off");
}

static int write_now(struct tls_pipe *t, struct str plain, struct err *e)
{
	int rc;

	if (!plain.n)
		return 0;
	ERR_clear_error();
	rc = SSL_write(t->ssl, plain.p, (int)plain.n); /* all of it: memory takes everything */
	send_out(t);
	return rc > 0 ? 0 : failed(t, rc, e);
}

static int shake_hands(struct tls_pipe *t, struct err *e)
{
	int rc;

	ERR_clear_error();
	rc = SSL_do_handshake(t->ssl);
	send_out(t);
	if (rc != 1)
		return failed(t, rc, e);
	rc = write_now(t, sbuf_str(&t->waiting), e);
	sbuf_done(&t->waiting);
	return rc;
}

int tls_pipe_feed(struct tls_pipe *t, struct str sealed, struct err *e)
{
	char plain[16384];
	int n;

	if (sealed.n && BIO_write(t->in, sealed.p, (int)sealed.n) != (int)sealed.n)
		abort(); /* out of memory, as in base/mem.c */
	if (!SSL_is_init_finished(t->ssl) && shake_hands(t, e) < 0)
		return -1;
	if (!SSL_is_init_finished(t->ssl))
		return 0;
	ERR_clear_error();
	while ((n = SSL_read(t->ssl, plain, sizeof(plain))) > 0)
		t->h.data(t->h.arg, (struct str){ plain, (size_t)n });
	send_out(t);
	return failed(t, n, e);
}

int tls_pipe_write(struct tls_pipe *t, struct str plain, struct err *e)
{
	if (SSL_is_init_finished(t->ssl))
		return write_now(t, plain, e);
	sbuf_add(&t->waiting, plain.p, plain.n);
	return 0;
}
