// SPDX-License-Identifier: Apache-2.0
/* crypto.c - randomness and digests
 *
 * A random generator or a digest that fails leaves nothing safe to go on with, so both abort.
 */
#include "loop/crypto.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdio.h>

#include "base/log.h"

void crypto_random(void *p, size_t n)
{
	if (RAND_bytes(p, (int)n) != 1) {
		log_error("read random bytes: OpenSSL has none");
		abort();
	}
}

void crypto_uuid(char out[37])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char b[16];
	char *at = out;

	crypto_random(b, sizeof(b));
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

void crypto_sha256(const void *p, size_t n, unsigned char out[SHA256_LEN])
{
	if (!SHA256(p, n, out)) {
		log_error("compute SHA-256: OpenSSL refused");
		abort();
	}
}

bool crypto_same(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}
