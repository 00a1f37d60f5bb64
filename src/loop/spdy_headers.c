// SPDX-License-Identifier: Apache-2.0
/* spdy_headers.c - header blocks: a zlib stream for each direction, over counted names and values
 *
 * A block unpacks to a count and then, for each header, the length and bytes of its name and of its value, all numbers
 * of 32 bits.  What a block may become is bounded while it is unpacked, not after.
 */
#include <zlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/spdy.h"

#define PACK_WINDOW 11 /* bits; the dictionary fits, and 4 kB a connection are enough for empty replies */
#define PACK_MEMORY 1

struct spdy_unpacker {
	z_stream z;
};

struct spdy_packer {
	z_stream z;
};

/* --- unpacking --- */

struct spdy_unpacker *spdy_unpacker_new(void)
{
	struct spdy_unpacker *u = xcalloc(1, sizeof(*u));

	if (inflateInit(&u->z) != Z_OK)
		abort(); /* out of memory, as in base/mem.c */
	return u;
}

void spdy_unpacker_free(struct spdy_unpacker *u)
{
	if (!u)
		return;
	inflateEnd(&u->z);
	free(u);
}

static int inflate_block(struct spdy_unpacker *u, struct str block, struct sbuf *out, struct err *e)
{
	unsigned char room[4096];

	u->z.next_in = (unsigned char *)(uintptr_t)block.p;
	u->z.avail_in = (unsigned)block.n;
	do {
		int rc;

		u->z.next_out = room;
		u->z.avail_out = sizeof(room);
		rc = inflate(&u->z, Z_SYNC_FLUSH);
		if (rc == Z_NEED_DICT)
			rc = inflateSetDictionary(&u->z, (const unsigned char *)spdy_dictionary, SPDY_DICTIONARY_LEN);
		if (rc != Z_OK && rc != Z_BUF_ERROR)
			return err_set(e, ERR_BAD_REQUEST, "a SPDY header block cannot be unpacked");
		sbuf_add(out, room, sizeof(room) - u->z.avail_out);
		if (out->over)
			return err_set(e, ERR_TOO_LARGE, "a SPDY header block is larger than %zu bytes", out->max);
		if (rc == Z_BUF_ERROR)
			break;
	} while (u->z.avail_in || !u->z.avail_out);
	return 0;
}

/* A 32-bit number off the front. */
static bool cut_number(struct str *rest, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)rest->p;

	if (rest->n < 4)
		return false;
	*ret = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	rest->p += 4;
	rest->n -= 4;
	return true;
}

static bool cut_text(struct str *rest, struct str *ret)
{
	uint32_t n;

	if (!cut_number(rest, &n) || n > rest->n)
		return false;
	*ret = (struct str){ rest->p, n };
	rest->p += n;
	rest->n -= n;
	return true;
}

static bool cut_headers(struct str block, json_t *headers)
{
	uint32_t n;

	if (!cut_number(&block, &n))
		return false;
	for (; n; n--) {
		struct str name;
		struct str value;

		if (!cut_text(&block, &name) || !cut_text(&block, &value) || !name.n || memchr(name.p, '\0', name.n) ||
		    !str_is_utf8(name.p, name.n))
			return false;
		/* Repeated values stand in one, with NUL between them: the first is enough for us. */
		value.n = strnlen(value.p, value.n);
		json_object_setn_new(headers, name.p, name.n, jsonx_stringn(value.p, value.n));
	}
	return block.n == 0;
}

int spdy_unpack(struct spdy_unpacker *u, struct str block, json_t **ret, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(SPDY_HEADERS_MAX);
	json_auto_t *headers = json_object();

	if (inflate_block(u, block, &text, e) < 0)
		return -1;
	if (!cut_headers(sbuf_str(&text), headers))
		return err_set(e, ERR_BAD_REQUEST, "a SPDY header block is malformed");
	*ret = TAKE(headers);
	return 0;
}

/* --- packing --- */

struct spdy_packer *spdy_packer_new(void)
{
	struct spdy_packer *p = xcalloc(1, sizeof(*p));

	if (deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, PACK_WINDOW, PACK_MEMORY, Z_DEFAULT_STRATEGY) !=
		    Z_OK ||
	    deflateSetDictionary(&p->z, (const unsigned char *)spdy_dictionary, SPDY_DICTIONARY_LEN) != Z_OK)
		abort(); /* out of memory, as in base/mem.c */
	return p;
}

void spdy_packer_free(struct spdy_packer *p)
{
	if (!p)
		return;
	deflateEnd(&p->z);
	free(p);
}

static void put_number(struct sbuf *out, size_t v)
{
	sbuf_addc(out, (char)(v >> 24));
	sbuf_addc(out, (char)(v >> 16));
	sbuf_addc(out, (char)(v >> 8));
	sbuf_addc(out, (char)v);
}

static void put_text(struct sbuf *out, const char *s)
{
	put_number(out, strlen(s));
	sbuf_adds(out, s);
}

void spdy_pack(struct spdy_packer *p, const json_t *headers, struct sbuf *out)
{
	auto_sbuf struct sbuf text = SBUF(SPDY_HEADERS_MAX);
	unsigned char room[1024];
	const char *name;
	json_t *value;

	put_number(&text, json_object_size(headers));
	json_object_foreach ((json_t *)(uintptr_t)headers, name, value) {
		put_text(&text, name);
		put_text(&text, json_string_value(value));
	}
	p->z.next_in = (unsigned char *)text.p;
	p->z.avail_in = (unsigned)text.n;
	do {
		p->z.next_out = room;
		p->z.avail_out = sizeof(room);
		deflate(&p->z, Z_SYNC_FLUSH);
		sbuf_add(out, room, sizeof(room) - p->z.avail_out);
	} while (!p->z.avail_out);
}
