// SPDX-License-Identifier: Apache-2.0
/* pki_jwt.c - tokens signed with sa.key, ES256
 *
 * A token's header is always the same text, so verification compares it whole: there is no algorithm to choose and no
 * JSON to parse before the signature has been checked.  JOSE wants the signature as r||s of 32 bytes each, OpenSSL
 * speaks DER.
 */
#include <assert.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/pki_internal.h"

#define HALF    32 /* one of r and s on P-256 */
#define SIG_LEN (2 * HALF)
#define DER_MAX 80 /* SEQUENCE of two integers of at most 33 bytes */
#define KID_LEN 16

static void must(bool ok)
{
	if (ok)
		return;
	log_error("sign a token: %s", ERR_error_string(ERR_peek_last_error(), NULL));
	abort();
}

void pki_jwt_init(struct pki *p)
{
	unsigned char digest[SHA256_LEN];
	unsigned char *der = NULL;
	int n = i2d_PUBKEY(p->sa_key, &der);
	auto_sbuf struct sbuf header = SBUF(256);
	struct sbuf encoded;

	must(n > 0);
	crypto_sha256(der, (size_t)n, digest);
	OPENSSL_free(der);
	sbuf_init(&encoded, 256);
	sbuf_adds(&header, "{\"alg\":\"ES256\",\"kid\":\"");
	base64url_encode(digest, KID_LEN, &header);
	sbuf_adds(&header, "\"}");
	base64url_encode(header.p, header.n, &encoded);
	p->jwt_header = sbuf_steal(&encoded);
}

static void sign(EVP_PKEY *key, const char *text, size_t n, unsigned char out[SIG_LEN])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char der[DER_MAX];
	const unsigned char *at = der;
	size_t der_n = sizeof(der);
	ECDSA_SIG *sig;

	must(ctx && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
	     EVP_DigestSign(ctx, der, &der_n, (const unsigned char *)text, n) == 1);
	EVP_MD_CTX_free(ctx);
	sig = d2i_ECDSA_SIG(NULL, &at, (long)der_n);
	must(sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), out, HALF) == HALF &&
	     BN_bn2binpad(ECDSA_SIG_get0_s(sig), out + HALF, HALF) == HALF);
	ECDSA_SIG_free(sig);
}

void pki_sign_jwt(struct pki *p, struct str claims_json, struct sbuf *out)
{
	unsigned char signature[SIG_LEN];
	auto_sbuf struct sbuf text = SBUF(LIMIT_HEADERS);

	sbuf_adds(&text, p->jwt_header);
	sbuf_addc(&text, '.');
	base64url_encode(claims_json.p, claims_json.n, &text);
	assert(!text.over); /* the claims are ours */
	sign(p->sa_key, text.p, text.n, signature);
	sbuf_add(out, text.p, text.n);
	sbuf_addc(out, '.');
	base64url_encode(signature, sizeof(signature), out);
}

static bool signature_holds(EVP_PKEY *key, struct str text, const unsigned char raw[SIG_LEN])
{
	ECDSA_SIG *sig = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(raw, HALF, NULL);
	BIGNUM *s = BN_bin2bn(raw + HALF, HALF, NULL);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char *der = NULL;
	int n;
	bool holds;

	must(sig && r && s && ctx && ECDSA_SIG_set0(sig, r, s) == 1);
	n = i2d_ECDSA_SIG(sig, &der);
	holds = n > 0 && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
		EVP_DigestVerify(ctx, der, (size_t)n, (const unsigned char *)text.p, text.n) == 1;
	OPENSSL_free(der);
	ECDSA_SIG_free(sig);
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return holds;
}

bool pki_verify_jwt(struct pki *p, struct str token, struct sbuf *ret_claims)
{
	struct str rest = token;
	struct str header;
	struct str claims;
	auto_sbuf struct sbuf raw = SBUF(SIG_LEN);
	auto_sbuf struct sbuf decoded = SBUF(LIMIT_HEADERS);
	struct str text;

	if (token.n > LIMIT_HEADERS || !str_split(&rest, '.', &header) || !str_eq(header, p->jwt_header) ||
	    !str_split(&rest, '.', &claims) || !rest.p)
		return false;
	if (!base64url_decode(rest.p, rest.n, &raw) || raw.over || raw.n != SIG_LEN ||
	    !base64url_decode(claims.p, claims.n, &decoded) || decoded.over)
		return false;
	text = (struct str){ token.p, (size_t)(claims.p + claims.n - token.p) };
	if (!signature_holds(p->sa_key, text, (const unsigned char *)raw.p))
		return false;
	sbuf_add(ret_claims, decoded.p, decoded.n);
	return true;
}
