// SPDX-License-Identifier: Apache-2.0
/* layer.c - a layer's bytes: uncompressed, hashed, and read as a tar
 *
 *	blob -> [gzip, zstd] -> SHA-256 -> tar -> layer_entry.c
 *
 * Two libarchive readers in a row: the first knows only compression, the second only tar, and the hash of what passes
 * between them must be the layer's diff ID.  Layers are shared by that ID, so a registry that could pass one layer off
 * as another would change other people's images.
 */
#include "node/layer.h"

#include <errno.h>
#include <locale.h>

#include "base/mem.h"
#include "loop/crypto.h"
#include "node/archive_lib.h"
#include "node/layer_parts.h"

#define BLOCK (256 * 1024)

struct stream {
	const struct archive_lib *lib;
	struct archive *raw;
	struct sha256 *hash;
	int64_t bytes;
	int64_t max;
	bool over;
	bool ended;
};

/* The next uncompressed bytes: their number, 0 at the end, or an error of libarchive's. */
static la_ssize_t stream_next(struct stream *s, struct archive *a, const void **ret)
{
	int64_t offset;
	size_t n = 0;
	int r;

	do {
		if (s->ended)
			return 0;
		r = s->lib->read_data_block(s->raw, ret, &n, &offset);
		if (r == ARCHIVE_EOF) {
			s->ended = true;
			return 0;
		}
		if (r < ARCHIVE_WARN) {
			s->lib->set_error(a, s->lib->error_number(s->raw), "%s", s->lib->error_string(s->raw));
			return ARCHIVE_FATAL;
		}
	} while (!n);
	s->bytes += (int64_t)n;
	if (s->bytes > s->max) {
		s->over = true;
		s->lib->set_error(a, EFBIG, "too large");
		return ARCHIVE_FATAL;
	}
	crypto_sha256_add(s->hash, *ret, n);
	return (la_ssize_t)n;
}

static la_ssize_t on_read(struct archive *a, void *arg, const void **ret)
{
	return stream_next(arg, a, ret);
}

static int archive_failed(const struct stream *s, struct archive *a, struct err *e)
{
	const char *why = s->lib->error_string(a);

	if (s->over)
		return err_set(e, ERR_TOO_LARGE, "the layer is larger than %lld bytes", (long long)s->max);
	return err_set(e, ERR_INVALID, "the layer cannot be read: %s", why ? why : "no tar archive");
}

static int open_stream(struct stream *s, int blob_fd, struct err *e)
{
	struct archive_entry *entry;
	int r;

	s->lib->read_support_filter_gzip(s->raw);
	s->lib->read_support_filter_zstd(s->raw);
	s->lib->read_support_format_raw(s->raw);
	s->lib->read_support_format_empty(s->raw);
	if (s->lib->read_open_fd(s->raw, blob_fd, BLOCK) != ARCHIVE_OK)
		return archive_failed(s, s->raw, e);
	r = s->lib->read_next_header(s->raw, &entry);
	if (r == ARCHIVE_EOF)
		s->ended = true;
	else if (r < ARCHIVE_WARN)
		return archive_failed(s, s->raw, e);
	return 0;
}

static int read_entries(struct stream *s, struct archive *tar, struct layer_tree *t, struct err *e)
{
	struct archive_entry *entry;
	const void *rest;
	la_ssize_t n;
	int r;

	s->lib->read_support_format_tar(tar);
	s->lib->read_support_format_empty(tar);
	if (s->lib->read_open(tar, s, NULL, on_read, NULL) != ARCHIVE_OK)
		return archive_failed(s, tar, e);
	while ((r = s->lib->read_next_header(tar, &entry)) != ARCHIVE_EOF) {
		if (r < ARCHIVE_WARN)
			return archive_failed(s, tar, e);
		if (layer_entry_make(t, tar, entry, e) < 0)
			return s->over ? archive_failed(s, tar, e) : -1;
	}
	/* Padding after the end of the tar belongs to the hash. */
	while ((n = stream_next(s, tar, &rest)) > 0)
		;
	return n < 0 ? archive_failed(s, tar, e) : 0;
}

static int check_hash(const unsigned char hash[SHA256_LEN], const char *diff_id, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(128);

	sbuf_adds(&text, "sha256:");
	hex_encode(hash, SHA256_LEN, &text);
	if (diff_id && !streq(text.p, diff_id))
		return err_set(e, ERR_INVALID, "the layer's content is %s, not %s as the image says", text.p, diff_id);
	return 0;
}

static int unpack(int blob_fd, const char *diff_id, struct layer_tree *t, struct err *e)
{
	struct stream s = {
		.lib = t->lib,
		.raw = t->lib->read_new(),
		.hash = crypto_sha256_new(),
		.max = t->limits->bytes,
	};
	struct archive *tar = t->lib->read_new();
	unsigned char hash[SHA256_LEN];
	int r = open_stream(&s, blob_fd, e);

	if (r == 0)
		r = read_entries(&s, tar, t, e);
	t->lib->read_free(tar);
	t->lib->read_free(s.raw);
	crypto_sha256_end(s.hash, hash);
	if (r == 0)
		r = check_hash(hash, diff_id, e);
	return r == 0 ? layer_tree_finish(t, e) : r;
}

int layer_unpack(int blob_fd, int dir_fd, const char *diff_id, const struct layer_limits *limits, struct layer_sum *ret,
		 struct err *e)
{
	struct archive_lib lib;
	struct layer_tree t = { .lib = &lib, .root = dir_fd, .limits = limits };
	locale_t utf8, old;
	int r;

	if (archive_lib_load(&lib, e) < 0)
		return -1;
	/* libarchive converts names to the locale's alphabet; this one holds them all. */
	utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	old = utf8 ? uselocale(utf8) : (locale_t)0;
	r = unpack(blob_fd, diff_id, &t, e);
	if (utf8) {
		uselocale(old);
		freelocale(utf8);
	}
	if (r == 0)
		*ret = t.sum;
	layer_tree_done(&t);
	return r;
}
