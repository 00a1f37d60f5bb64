// SPDX-License-Identifier: Apache-2.0
/* pki_internal.h - what pki.c, pki_cert.c, pki_jwt.c and tls.c share; OpenSSL types stay among them */
#ifndef STOKER_LOOP_PKI_INTERNAL_H
#define STOKER_LOOP_PKI_INTERNAL_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "loop/crypto.h"

/* A private key, its certificate, and both as PEM. */
struct identity_pair {
	EVP_PKEY *key;
	X509 *cert;
	char *key_pem;
	char *cert_pem;
};

struct pki {
	char *dir; /* DIR/pki */
	struct identity_pair ca, server, admin;
	EVP_PKEY *sa_key;
	char *jwt_header; /* base64url of {"alg":"ES256","kid":...}, the same for every token */
};

/* What a new certificate says. */
struct cert_spec {
	const char *common_name;
	const char *organization; /* or NULL */
	bool ca;
	const char *extended_use;       /* "serverAuth", "clientAuth" or NULL */
	const char *const *const *sans; /* NULL-terminated list of lists of DNS names and addresses, or NULL */
	int days;
};

EVP_PKEY *cert_new_key(void);
/* Signed by `issuer`; by its own key if `issuer` is NULL. */
X509 *cert_new(const struct cert_spec *spec, EVP_PKEY *key, const struct identity_pair *issuer);
/* False when it is not signed by `issuer`, does not belong to `key`, ends within 30 days, or lacks a name. */
bool cert_is_good(X509 *cert, EVP_PKEY *key, const struct identity_pair *issuer, const struct cert_spec *spec);
char *cert_to_pem(X509 *cert);
char *cert_key_to_pem(EVP_PKEY *key);
/* NULL if the text is none. */
X509 *cert_from_pem(struct str pem);
EVP_PKEY *cert_key_from_pem(struct str pem);

/* Makes jwt_header from sa_key. */
void pki_jwt_init(struct pki *p);

#endif
