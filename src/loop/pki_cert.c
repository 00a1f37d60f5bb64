// SPDX-License-Identifier: Apache-2.0
/* pki_cert.c - one certificate or key: make, check, and to and from PEM
 *
 * Keys are EC P-256.  Making a certificate cannot fail for reasons of the outside, so a refusal by OpenSSL aborts;
 * reading one can, and yields NULL.
 */
#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/pki_internal.h"

#define DAY           86400
#define RENEW_SECONDS (30 * DAY)

/* Pointers and OpenSSL's "1 is good" alike. */
static void must(bool ok)
{
	if (ok)
		return;
	log_error("make a certificate: %s", ERR_error_string(ERR_peek_last_error(), NULL));
	abort();
}

EVP_PKEY *cert_new_key(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	must(key);
	return key;
}

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *ext;
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	must(ext && X509_add_ext(cert, ext, -1) == 1);
	X509_EXTENSION_free(ext);
}

static bool is_address(const char *name)
{
	unsigned char raw[16];

	return inet_pton(AF_INET, name, raw) == 1 || inet_pton(AF_INET6, name, raw) == 1;
}

static void add_san(GENERAL_NAMES *names, const char *name)
{
	GENERAL_NAME *g = GENERAL_NAME_new();

	must(g);
	if (is_address(name)) {
		GENERAL_NAME_set0_value(g, GEN_IPADD, a2i_IPADDRESS(name));
	} else {
		ASN1_IA5STRING *text = ASN1_IA5STRING_new();

		must(text && ASN1_STRING_set(text, name, -1) == 1);
		GENERAL_NAME_set0_value(g, GEN_DNS, text);
	}
	must(sk_GENERAL_NAME_push(names, g) > 0);
}

static void add_sans(X509 *cert, const char *const *const *lists)
{
	GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();

	must(names);
	for (; *lists; lists++)
		for (const char *const *name = *lists; *name; name++)
			add_san(names, *name);
	must(X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1);
	GENERAL_NAMES_free(names);
}

static void set_serial(X509 *cert)
{
	unsigned char raw[16];
	BIGNUM *n;

	crypto_random(raw, sizeof(raw));
	raw[0] &= 0x7f;
	n = BN_bin2bn(raw, sizeof(raw), NULL);
	must(n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert)));
	BN_free(n);
}

static void set_validity(X509 *cert, int days)
{
	time_t now = (time_t)clock_wall();

	/* An hour back, for clients whose clock is a little late. */
	must(X509_time_adj_ex(X509_getm_notBefore(cert), 0, -3600, &now) &&
	     X509_time_adj_ex(X509_getm_notAfter(cert), days, 0, &now));
}

static void set_subject(X509 *cert, const struct cert_spec *spec)
{
	X509_NAME *name = X509_get_subject_name(cert);

	if (spec->organization)
		must(X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, (const unsigned char *)spec->organization, -1,
						-1, 0) == 1);
	must(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)spec->common_name, -1, -1,
					0) == 1);
}

X509 *cert_new(const struct cert_spec *spec, EVP_PKEY *key, const struct identity_pair *issuer)
{
	X509 *cert = X509_new();
	X509 *by = issuer ? issuer->cert : cert;

	must(cert && X509_set_version(cert, X509_VERSION_3) == 1 && X509_set_pubkey(cert, key) == 1);
	set_serial(cert);
	set_validity(cert, spec->days);
	set_subject(cert, spec);
	must(X509_set_issuer_name(cert, X509_get_subject_name(by)) == 1);
	add_extension(cert, by, NID_basic_constraints, spec->ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
	add_extension(cert, by, NID_key_usage,
		      spec->ca ? "critical,digitalSignature,keyCertSign,cRLSign" : "critical,digitalSignature");
	add_extension(cert, by, NID_subject_key_identifier, "hash");
	add_extension(cert, by, NID_authority_key_identifier, "keyid:always");
	if (spec->extended_use)
		add_extension(cert, by, NID_ext_key_usage, spec->extended_use);
	if (spec->sans)
		add_sans(cert, spec->sans);
	must(X509_sign(cert, issuer ? issuer->key : key, EVP_sha256()) > 0);
	return cert;
}

static bool has_name(X509 *cert, const char *name)
{
	return is_address(name) ? X509_check_ip_asc(cert, name, 0) == 1 : X509_check_host(cert, name, 0, 0, NULL) == 1;
}

static bool has_all_names(X509 *cert, const struct cert_spec *spec)
{
	if (!spec->sans)
		return true;
	for (const char *const *const *list = spec->sans; *list; list++)
		for (const char *const *name = *list; *name; name++)
			if (!has_name(cert, *name))
				return false;
	return true;
}

bool cert_is_good(X509 *cert, EVP_PKEY *key, const struct identity_pair *issuer, const struct cert_spec *spec)
{
	time_t soon = (time_t)(clock_wall() + RENEW_SECONDS);
	bool good = X509_check_private_key(cert, key) == 1 && X509_verify(cert, issuer->key) == 1 &&
		    X509_cmp_time(X509_get0_notAfter(cert), &soon) > 0 && has_all_names(cert, spec);

	ERR_clear_error();
	return good;
}

static char *bio_text(BIO *bio)
{
	char *data;
	long n = BIO_get_mem_data(bio, &data);
	char *text = xstrndup(data, (size_t)n);

	BIO_free(bio);
	return text;
}

char *cert_to_pem(X509 *cert)
{
	BIO *bio = BIO_new(BIO_s_mem());

	must(bio && PEM_write_bio_X509(bio, cert) == 1);
	return bio_text(bio);
}

char *cert_key_to_pem(EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_secmem());

	must(bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1);
	return bio_text(bio);
}

X509 *cert_from_pem(struct str pem)
{
	BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

	BIO_free(bio);
	ERR_clear_error();
	return cert;
}

EVP_PKEY *cert_key_from_pem(struct str pem)
{
	BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	/* An empty passphrase instead of a prompt on the terminal. */
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;

	BIO_free(bio);
	ERR_clear_error();
	return key;
}
