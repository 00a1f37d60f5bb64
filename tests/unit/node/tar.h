// SPDX-License-Identifier: Apache-2.0
/* tar.h - writes tar archives byte by byte, also ones that no honest program would write */
#ifndef STOKER_TEST_TAR_H
#define STOKER_TEST_TAR_H

#include <stdio.h>
#include <string.h>

#include "base/str.h"

struct tar_entry {
	char type; /* '0' file, '1' hard link, '2' symlink, '3' char, '4' block, '5' directory, '6' fifo */
	const char *name;
	const char *link; /* target of a link */
	const char *data;
	unsigned mode; /* 0: 0644 */
	unsigned uid, gid;
	unsigned major, minor;
	const char *xattr, *value; /* one extended attribute */
};

static inline void tar_octal(char *at, int width, unsigned long long v)
{
	for (int i = width - 2; i >= 0; i--, v >>= 3)
		at[i] = (char)('0' + (v & 7));
}

static inline void tar_pad(struct sbuf *out)
{
	static const char zero[512];

	if (out->n % 512)
		sbuf_add(out, zero, 512 - out->n % 512);
}

static inline void tar_header(struct sbuf *out, const struct tar_entry *t, const char *name, char type, size_t size)
{
	char h[512] = { 0 };
	unsigned sum = 0;

	memcpy(h, name, strnlen(name, 100));
	tar_octal(h + 100, 8, t->mode ? t->mode : 0644);
	tar_octal(h + 108, 8, t->uid);
	tar_octal(h + 116, 8, t->gid);
	tar_octal(h + 124, 12, size);
	tar_octal(h + 136, 12, 1000000000);
	memset(h + 148, ' ', 8);
	h[156] = type;
	if (t->link)
		memcpy(h + 157, t->link, strnlen(t->link, 100));
	memcpy(h + 257, "ustar\00000", 8);
	tar_octal(h + 329, 8, t->major);
	tar_octal(h + 337, 8, t->minor);
	for (int i = 0; i < 512; i++)
		sum += (unsigned char)h[i];
	tar_octal(h + 148, 7, sum);
	h[154] = '\0';
	sbuf_add(out, h, 512);
}

/* "LEN key=value\n", where LEN counts itself. */
static inline void tar_pax_record(struct sbuf *out, const char *key, const char *value)
{
	size_t body = strlen(key) + strlen(value) + 3;
	size_t n = body + 1;
	char number[32];

	while ((size_t)snprintf(number, sizeof(number), "%zu", n) + body != n)
		n++;
	sbuf_addf(out, "%zu %s=%s\n", n, key, value);
}

static inline void tar_add(struct sbuf *out, const struct tar_entry *t)
{
	auto_sbuf struct sbuf pax = SBUF(1u << 20);
	size_t n = t->data ? strlen(t->data) : 0;
	bool utf8 = false;

	for (const char *p = t->name; *p; p++)
		utf8 |= (unsigned char)*p > 127;
	if (t->xattr) {
		auto_sbuf struct sbuf key = SBUF(1024);

		sbuf_addf(&key, "SCHILY.xattr.%s", t->xattr);
		tar_pax_record(&pax, key.p, t->value);
	}
	if (strlen(t->name) > 99 || utf8)
		tar_pax_record(&pax, "path", t->name);
	if (t->link && strlen(t->link) > 99)
		tar_pax_record(&pax, "linkpath", t->link);
	if (pax.n) {
		tar_header(out, &(struct tar_entry){ 0 }, "PaxHeader", 'x', pax.n);
		sbuf_add(out, pax.p, pax.n);
		tar_pad(out);
	}
	tar_header(out, t, t->name, t->type, n);
	sbuf_add(out, t->data ? t->data : "", n);
	tar_pad(out);
}

static inline void tar_end(struct sbuf *out)
{
	static const char zero[1024];

	sbuf_add(out, zero, sizeof(zero));
}

#endif
