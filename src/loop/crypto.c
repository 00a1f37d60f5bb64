// SPDX-License-Identifier: Apache-2.0
/* crypto.c - randomness and digests
 *
 * A random generator or a digest that fails leaves nothing safe to go on with, so both abort.
 *
 * Asking OpenSSL by name for an algorithm, or for 16 random bytes, costs more than hashing a short text, so the digest
 * is looked up once and random bytes that are no secret are drawn from a stock.  These are the process's own, set when
 * first used.  A child after fork() has the same stock: it must not name things (ours only execute something else).
 */
#include "loop/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>

#include "base/log.h"

void crypto_random(void *p, size_t n)
{
	if (RAND_bytes(p, (int)n) != 1) {
		log_error("read random bytes: OpenSSL has none");
		abort();
	}
}

void crypto_random_public(void *p, size_t n)
{
	static unsigned char stock[4096];
	static size_t left;

	if (n > sizeof(stock)) {
		crypto_random(p, n);
		return;
	}
	if (n > left) {
		crypto_random(stock, sizeof(stock));
		left = sizeof(stock);
	}
	left -= n;
	memcpy(p, stock + left, n);
}

void crypto_uuid(char out[37])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char b[16];
	char *at = out;

	crypto_random_public(b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		*at++ = digits[b[i] >> 4];
		*at++ = digits[b[i] & 15];
	}
	*at = '\0';
}

void crypto_sha256_parts(const struct str *parts, size_t n, unsigned char out[SHA256_LEN])
{
	static EVP_MD_CTX *ctx;
	static EVP_MD *sha256;
	bool ok;

	if (!ctx) {
		ctx = EVP_MD_CTX_new();
		sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	}
	ok = ctx && sha256 && EVP_DigestInit_ex2(ctx, sha256, NULL);
	for (size_t i = 0; ok && i < n; i++)
		ok = EVP_DigestUpdate(ctx, parts[i].p, parts[i].n);
	if (!ok || !EVP_DigestFinal_ex(ctx, out, NULL)) {
		log_error("compute SHA-256: OpenSSL refused");
		abort();
	}
}

void crypto_sha256(const void *p, size_t n, unsigned char out[SHA256_LEN])
{
	crypto_sha256_parts(&(struct str){ p, n }, 1, out);
}

/* An EVP_MD_CTX by another name, so that callers need no OpenSSL. */
static void sha256_check(bool ok)
{
	if (ok)
		return;
	log_error("compute SHA-256: OpenSSL refused");
	abort();
}

struct sha256 *crypto_sha256_new(void)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	sha256_check(ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL));
	return (struct sha256 *)ctx;
}

void crypto_sha256_add(struct sha256 *h, const void *p, size_t n)
{
	sha256_check(EVP_DigestUpdate((EVP_MD_CTX *)h, p, n));
}

void crypto_sha256_end(struct sha256 *h, unsigned char out[SHA256_LEN])
{
	sha256_check(EVP_DigestFinal_ex((EVP_MD_CTX *)h, out, NULL));
	EVP_MD_CTX_free((EVP_MD_CTX *)h);
}

bool crypto_same(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}
