// SPDX-License-Identifier: Apache-2.0
/* crypto.h - OpenSSL's door: certificates, TLS, sealing, hashes, signatures, randomness */
#ifndef STOKER_LOOP_CRYPTO_H
#define STOKER_LOOP_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* --- randomness and digests --- */
void crypto_random(void *p, size_t n);
/* For what everyone may see, such as uids and parts of names; never for keys, tokens or nonces. */
void crypto_random_public(void *p, size_t n);
/* Version-4 UUID in text, 36 characters and NUL. */
void crypto_uuid(char out[37]);
#define SHA256_LEN 32
void crypto_sha256(const void *p, size_t n, unsigned char out[SHA256_LEN]);
/* Of several texts as if they were one. */
void crypto_sha256_parts(const struct str *parts, size_t n, unsigned char out[SHA256_LEN]);
/* The same for bytes that come piece by piece; crypto_sha256_end() frees it. */
struct sha256;
struct sha256 *crypto_sha256_new(void);
void crypto_sha256_add(struct sha256 *h, const void *p, size_t n);
void crypto_sha256_end(struct sha256 *h, unsigned char out[SHA256_LEN]);
/* In constant time. */
bool crypto_same(const void *a, const void *b, size_t n);

/* --- sealing: AES-256-GCM with a key file (0600, made if absent) --- */
struct seal;
int seal_open(const char *key_path, struct seal **ret, struct err *e);
void seal_free(struct seal *s);
/* Appends nonce + ciphertext + tag.  `context` (the object's key) is authenticated, so a sealed value cannot be moved
 * to another object. */
void seal_close_text(struct seal *s, struct str plain, struct str context, struct sbuf *out);
int seal_open_text(struct seal *s, struct str sealed, struct str context, struct sbuf *out, struct err *e);

/* --- certificates: a CA of our own in DIR/pki (ca.crt, ca.key, server.crt, server.key, admin.crt, admin.key, sa.key)
 * --- */
struct pki;
/* `dir` is the data directory, DIR; the folder pki is made below it.  Makes what is missing (key files 0600; EC P-256;
 * SANs: localhost, host name, 127.0.0.1, ::1, kubernetes, kubernetes.default, kubernetes.default.svc[.cluster.local],
 * and `extra_sans`, a NULL-terminated list of DNS names and addresses) and renews a server certificate that ends soon
 * or lacks a name.  The admin certificate is CN=admin, O=system:masters. */
int pki_open(const char *dir, const char *const *extra_sans, struct pki **ret, struct err *e);
void pki_free(struct pki *p);
/* PEM texts for the kubeconfig and the root CA ConfigMap. */
struct str pki_ca_pem(const struct pki *p);
struct str pki_admin_cert_pem(const struct pki *p);
struct str pki_admin_key_pem(const struct pki *p);

/* --- service-account tokens: JWT signed with sa.key (ES256) --- */
/* Appends header.claims.signature. */
void pki_sign_jwt(struct pki *p, struct str claims_json, struct sbuf *out);
/* Checks form and signature only; *ret_claims gets the claims' JSON text.  About 0.1 ms: remember the answer for a
 * token that comes with every request. */
bool pki_verify_jwt(struct pki *p, struct str token, struct sbuf *ret_claims);

/* --- TLS for loop/http.c --- */
struct tls_server;
/* Of the certificates that `p` has now; TLS 1.2 and up, client certificates of our CA asked for but not required. */
struct tls_server *tls_server_new(struct pki *p);
void tls_server_free(struct tls_server *t);

#endif
