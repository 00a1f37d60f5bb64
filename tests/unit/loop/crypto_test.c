// SPDX-License-Identifier: Apache-2.0
/* crypto_test.c - sealing, certificates and tokens */
#include "loop/crypto.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "test.h"

static char *fresh_dir(const char *name)
{
	char *path = xasprintf("%s/%s", test_dir(), name);

	mkdir(path, 0700);
	return path;
}

TEST("a UUID has version 4 and its variant")
{
	char a[37];
	char b[37];

	crypto_uuid(a);
	crypto_uuid(b);
	CHECK_INT(strlen(a), 36);
	CHECK(a[8] == '-' && a[13] == '-' && a[14] == '4' && a[18] == '-' && strchr("89ab", a[19]) && a[23] == '-');
	CHECK(strcmp(a, b) != 0);
}

TEST("UUIDs do not come again when the stock of random bytes is filled anew")
{
	struct map seen;
	char id[37];
	unsigned char large[5000] = { 0 };
	int zeros = 0;

	map_init(&seen, NULL);
	for (int i = 0; i < 1000; i++) {
		crypto_uuid(id);
		CHECK(!map_find(&seen, id));
		map_set(&seen, id, &seen);
	}
	map_done(&seen);
	crypto_random_public(large, sizeof(large)); /* more than the stock holds */
	for (size_t i = sizeof(large) - 1000; i < sizeof(large); i++)
		zeros += !large[i];
	CHECK(zeros < 100);
}

TEST("the digest of parts is that of the whole, time after time")
{
	const struct str parts[] = { { "a", 1 }, { "", 0 }, { "bc", 2 } };
	unsigned char whole[SHA256_LEN];
	unsigned char out[SHA256_LEN];

	crypto_sha256("abc", 3, whole);
	for (int i = 0; i < 3; i++) {
		crypto_sha256_parts(parts, ARRAY_SIZE(parts), out);
		CHECK(memcmp(out, whole, sizeof(out)) == 0);
		crypto_sha256("other", 5, out);
		CHECK(memcmp(out, whole, sizeof(out)) != 0);
	}
}

TEST("SHA-256 of abc is the one of the standard")
{
	unsigned char out[SHA256_LEN];
	struct sbuf hex;

	crypto_sha256("abc", 3, out);
	sbuf_init(&hex, 100);
	hex_encode(out, sizeof(out), &hex);
	CHECK_STR(hex.p, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sbuf_done(&hex);
}

TEST("a sealed value opens with its key and context only, and not after a change")
{
	auto_free char *dir = fresh_dir("seal");
	auto_free char *path = xasprintf("%s/key", dir);
	auto_sbuf struct sbuf sealed = SBUF(1000);
	auto_sbuf struct sbuf plain = SBUF(1000);
	struct seal *s = NULL;
	struct err e = ERR_INIT;
	struct stat st;

	CHECK_INT(seal_open(path, &s, &e), 0);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	seal_close_text(s, STR("hunter2"), STR("secrets/a"), &sealed);
	CHECK_INT(sealed.n, 7 + 1 + 12 + 16);
	CHECK(!memmem(sealed.p, sealed.n, "hunter2", 7));
	seal_free(s);

	CHECK_INT(seal_open(path, &s, &e), 0);
	CHECK_INT(seal_open_text(s, sbuf_str(&sealed), STR("secrets/a"), &plain, &e), 0);
	CHECK_STR(plain.p, "hunter2");
	CHECK(seal_open_text(s, sbuf_str(&sealed), STR("secrets/b"), &plain, &e) < 0);
	CHECK_INT(e.kind, ERR_CORRUPT);
	for (size_t i = 0; i < sealed.n; i++) {
		sealed.p[i] ^= 1;
		CHECK(seal_open_text(s, sbuf_str(&sealed), STR("secrets/a"), &plain, &e) < 0);
		sealed.p[i] ^= 1;
		CHECK(seal_open_text(s, (struct str){ sealed.p, i }, STR("secrets/a"), &plain, &e) < 0);
	}
	CHECK_STR(plain.p, "hunter2");
	sbuf_reset(&sealed);
	sbuf_reset(&plain);
	seal_close_text(s, STR(""), STR(""), &sealed);
	CHECK_INT(seal_open_text(s, sbuf_str(&sealed), STR(""), &plain, &e), 0);
	CHECK_INT(plain.n, 0);
	seal_free(s);

	chmod(path, 0640);
	CHECK(seal_open(path, &s, &e) < 0);
	CHECK(strstr(e.text, "chmod 600"));
	chmod(path, 0600);
	CHECK_INT(truncate(path, 5), 0);
	CHECK(seal_open(path, &s, &e) < 0);
	CHECK_INT(e.kind, ERR_CORRUPT);
}

static X509 *read_cert(const char *dir, const char *name)
{
	auto_free char *path = xasprintf("%s/pki/%s", dir, name);
	FILE *f = fopen(path, "r");
	X509 *cert = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;

	if (f)
		fclose(f);
	return cert;
}

TEST("opening twice keeps the CA, and a server certificate lasts until it lacks a name or ends")
{
	static const char *const more[] = { "stoker.example", "10.1.2.3", NULL };
	auto_free char *dir = fresh_dir("pki");
	auto_free char *key = xasprintf("%s/pki/ca.key", dir);
	auto_free char *ca = NULL;
	struct pki *p = NULL;
	struct err e = ERR_INIT;
	X509 *first;
	X509 *now;
	struct stat st;

	CHECK_INT(pki_open(dir, NULL, &p, &e), 0);
	CHECK_STR(e.text, "");
	ca = xstrndup(pki_ca_pem(p).p, pki_ca_pem(p).n);
	CHECK(stat(key, &st) == 0 && (st.st_mode & 0777) == 0600);
	pki_free(p);
	first = read_cert(dir, "server.crt");

	CHECK_INT(pki_open(dir, NULL, &p, &e), 0);
	CHECK(str_eq(pki_ca_pem(p), ca));
	pki_free(p);
	now = read_cert(dir, "server.crt");
	CHECK_INT(X509_cmp(first, now), 0);
	CHECK_INT(X509_check_host(now, "kubernetes.default.svc", 0, 0, NULL), 1);
	CHECK_INT(X509_check_ip_asc(now, "127.0.0.1", 0), 1);
	CHECK_INT(X509_check_ip_asc(now, "::1", 0), 1);
	X509_free(now);

	CHECK_INT(pki_open(dir, more, &p, &e), 0);
	CHECK(str_eq(pki_ca_pem(p), ca));
	pki_free(p);
	now = read_cert(dir, "server.crt");
	CHECK(X509_cmp(first, now) != 0);
	CHECK_INT(X509_check_host(now, "stoker.example", 0, 0, NULL), 1);
	CHECK_INT(X509_check_ip_asc(now, "10.1.2.3", 0), 1);
	X509_free(first);
	first = now;

	clock_fake(clock_wall() + 340 * 86400);
	CHECK_INT(pki_open(dir, more, &p, &e), 0);
	clock_fake(-1);
	pki_free(p);
	now = read_cert(dir, "server.crt");
	CHECK(X509_cmp(first, now) != 0);
	X509_free(first);
	X509_free(now);

	chmod(key, 0644);
	CHECK(pki_open(dir, more, &p, &e) < 0);
	CHECK(strstr(e.text, "ca.key") && strstr(e.text, "chmod 600"));
	unlink(key);
	CHECK(pki_open(dir, more, &p, &e) < 0);
	CHECK(strstr(e.text, "ca.key is missing"));
}

TEST("a token verifies with the key that signed it, and not after a change")
{
	auto_free char *dir = fresh_dir("jwt");
	auto_free char *other_dir = fresh_dir("jwt2");
	auto_sbuf struct sbuf token = SBUF(4000);
	auto_sbuf struct sbuf claims = SBUF(4000);
	struct pki *p = NULL;
	struct pki *other = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(pki_open(dir, NULL, &p, &e), 0);
	CHECK_INT(pki_open(other_dir, NULL, &other, &e), 0);
	pki_sign_jwt(p, STR("{\"sub\":\"me\"}"), &token);
	CHECK(str_starts(token.p, "eyJhbGciOiJFUzI1NiIsImtpZCI6I"));
	CHECK(pki_verify_jwt(p, sbuf_str(&token), &claims));
	CHECK_STR(claims.p, "{\"sub\":\"me\"}");
	CHECK(!pki_verify_jwt(other, sbuf_str(&token), &claims));
	for (size_t i = 0; i < token.n; i++) {
		char was = token.p[i];

		token.p[i] = was == 'A' ? 'B' : 'A';
		CHECK(!pki_verify_jwt(p, sbuf_str(&token), &claims));
		token.p[i] = was;
		CHECK(!pki_verify_jwt(p, (struct str){ token.p, i }, &claims));
	}
	CHECK_STR(claims.p, "{\"sub\":\"me\"}");
	CHECK(!pki_verify_jwt(p, STR("..."), &claims));
	CHECK(!pki_verify_jwt(p, (struct str){ NULL, 0 }, &claims));
	pki_free(p);
	pki_free(other);
}
