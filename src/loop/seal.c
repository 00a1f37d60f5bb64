// SPDX-License-Identifier: Apache-2.0
/* seal.c - AES-256-GCM for values at rest
 *
 * Form of a sealed value: version (1 byte, 1), nonce (12, random), ciphertext, tag (16).  The version is there so that
 * a later form can be told from this one.  Random 96-bit nonces are safe for 2^32 values under one key, far beyond what
 * a lab writes.
 */
#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "loop/secret_file.h"

#define KEY_LEN   32
#define NONCE_LEN 12
#define TAG_LEN   16
#define VERSION   1
#define OVERHEAD  (1 + NONCE_LEN + TAG_LEN)

struct seal {
	unsigned char key[KEY_LEN];
	EVP_CIPHER_CTX *ctx;
};

static int load_key(const char *path, unsigned char key[KEY_LEN], struct err *e)
{
	auto_sbuf struct sbuf b = SBUF(KEY_LEN);
	struct err absent = ERR_INIT;

	if (secret_file_read(path, true, &b, &absent) == 0) {
		if (b.n != KEY_LEN)
			return err_set(e, ERR_CORRUPT,
				       "%s: a sealing key has %d bytes, not %zu; restore it from a copy", path, KEY_LEN,
				       b.n);
		memcpy(key, b.p, KEY_LEN);
		mem_wipe(b.p, b.n);
		return 0;
	}
	if (absent.kind != ERR_NOT_FOUND) {
		*e = absent;
		return -1;
	}
	crypto_random(key, KEY_LEN);
	return secret_file_write(path, true, (struct str){ (const char *)key, KEY_LEN }, e);
}

int seal_open(const char *key_path, struct seal **ret, struct err *e)
{
	struct seal *s = xcalloc(1, sizeof(*s));

	if (load_key(key_path, s->key, e) < 0) {
		seal_free(s);
		return -1;
	}
	s->ctx = EVP_CIPHER_CTX_new();
	if (!s->ctx) {
		seal_free(s);
		return err_set(e, ERR_INTERNAL, "no memory for a cipher");
	}
	*ret = s;
	return 0;
}

void seal_free(struct seal *s)
{
	if (!s)
		return;
	EVP_CIPHER_CTX_free(s->ctx);
	mem_wipe(s->key, sizeof(s->key));
	free(s);
}

static void must(int ok)
{
	if (ok == 1)
		return;
	log_error("seal a value: OpenSSL refused");
	abort();
}

void seal_close_text(struct seal *s, struct str plain, struct str context, struct sbuf *out)
{
	auto_free unsigned char *sealed = xmalloc(plain.n + OVERHEAD);
	unsigned char *nonce = sealed + 1;
	unsigned char *text = nonce + NONCE_LEN;
	int n = 0;

	sealed[0] = VERSION;
	crypto_random(nonce, NONCE_LEN);
	must(EVP_EncryptInit_ex(s->ctx, EVP_aes_256_gcm(), NULL, s->key, nonce));
	must(EVP_EncryptUpdate(s->ctx, NULL, &n, sealed, 1));
	must(EVP_EncryptUpdate(s->ctx, NULL, &n, (const unsigned char *)context.p, (int)context.n));
	must(EVP_EncryptUpdate(s->ctx, text, &n, (const unsigned char *)plain.p, (int)plain.n));
	must(EVP_EncryptFinal_ex(s->ctx, text + plain.n, &n));
	must(EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_GCM_GET_TAG, TAG_LEN, text + plain.n));
	sbuf_add(out, sealed, plain.n + OVERHEAD);
}

static bool decrypt(struct seal *s, const unsigned char *sealed, size_t n_plain, struct str context,
		    unsigned char *plain)
{
	const unsigned char *nonce = sealed + 1;
	const unsigned char *text = nonce + NONCE_LEN;
	int n = 0;

	return EVP_DecryptInit_ex(s->ctx, EVP_aes_256_gcm(), NULL, s->key, nonce) == 1 &&
	       EVP_DecryptUpdate(s->ctx, NULL, &n, sealed, 1) == 1 &&
	       EVP_DecryptUpdate(s->ctx, NULL, &n, (const unsigned char *)context.p, (int)context.n) == 1 &&
	       EVP_DecryptUpdate(s->ctx, plain, &n, text, (int)n_plain) == 1 &&
	       EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_GCM_SET_TAG, TAG_LEN, (void *)(text + n_plain)) == 1 &&
	       EVP_DecryptFinal_ex(s->ctx, plain + n_plain, &n) == 1;
}

int seal_open_text(struct seal *s, struct str sealed, struct str context, struct sbuf *out, struct err *e)
{
	auto_free unsigned char *plain = NULL;
	size_t n;

	if (sealed.n < OVERHEAD || sealed.n > LIMIT_BODY)
		return err_set(e, ERR_CORRUPT, "a sealed value has an impossible length of %zu bytes", sealed.n);
	if (sealed.p[0] != VERSION)
		return err_set(e, ERR_CORRUPT, "a sealed value has unknown version %d", sealed.p[0]);
	n = sealed.n - OVERHEAD;
	plain = xmalloc(n + 1);
	if (!decrypt(s, (const unsigned char *)sealed.p, n, context, plain)) {
		ERR_clear_error();
		return err_set(e, ERR_CORRUPT, "a sealed value was changed or was sealed with another key");
	}
	sbuf_add(out, plain, n);
	mem_wipe(plain, n);
	return 0;
}
