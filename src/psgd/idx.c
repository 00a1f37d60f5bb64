// SPDX-License-Identifier: Apache-2.0
/* idx.c - reading IDX files
 *
 * An IDX file is two zero bytes, a type (8 = unsigned byte), the number of dimensions, each dimension as four bytes,
 * the most significant first, and the bytes themselves.  zlib's gz* functions read plain files as they are.
 */
#include "psgd/idx.h"

#include <zlib.h>

#include "base/mem.h"
#include "base/str.h"

#define IDX_UNSIGNED_BYTE 8

/* Mean and deviation of Fashion-MNIST's bytes.  For other pictures they are only a fixed shift and scale, which is
 * fine: all that matters is that inputs are small and lie around zero. */
#define BYTE_MEAN      73.0f
#define BYTE_DEVIATION 90.0f

static int damaged(const char *path, gzFile f, const char *what, struct err *e)
{
	int code = Z_OK;
	const char *detail = gzerror(f, &code);

	if (code != Z_OK && code != Z_STREAM_END && code != Z_ERRNO && code != Z_BUF_ERROR)
		return err_set(e, ERR_CORRUPT, "%s: damaged gzip data: %s", path, detail);
	return err_set(e, ERR_CORRUPT, "%s: %s", path, what);
}

static int read_shape(const char *path, gzFile f, struct idx *idx, struct err *e)
{
	uint8_t magic[4], dim[4];
	uint64_t n[IDX_MAX_DIMS], item = 1;

	if (gzread(f, magic, sizeof(magic)) != sizeof(magic))
		return damaged(path, f, "too short for an IDX file", e);
	if (magic[0] || magic[1])
		return err_set(e, ERR_CORRUPT, "%s: not an IDX file: it begins with %02x %02x, not 00 00", path,
			       magic[0], magic[1]);
	if (magic[2] != IDX_UNSIGNED_BYTE)
		return err_set(e, ERR_CORRUPT, "%s: IDX type 0x%02x; only 0x08, unsigned bytes, can be read", path,
			       magic[2]);
	if (magic[3] < 1 || magic[3] > IDX_MAX_DIMS)
		return err_set(e, ERR_CORRUPT, "%s: %u dimensions; 1 to %d can be read", path, magic[3], IDX_MAX_DIMS);
	for (unsigned i = 0; i < magic[3]; i++) {
		if (gzread(f, dim, sizeof(dim)) != sizeof(dim))
			return damaged(path, f, "ends within its dimensions", e);
		n[i] = (uint64_t)dim[0] << 24 | (uint64_t)dim[1] << 16 | (uint64_t)dim[2] << 8 | dim[3];
		if (n[i] == 0)
			return err_set(e, ERR_CORRUPT, "%s: dimension %u is 0", path, i + 1);
		if (i > 0)
			item *= n[i];
		if (item > IDX_MAX_BYTES || n[0] * item > IDX_MAX_BYTES)
			return err_set(e, ERR_TOO_LARGE, "%s: more than %u bytes", path, IDX_MAX_BYTES);
	}
	idx->n = (size_t)n[0];
	idx->item = (size_t)item;
	return 0;
}

static int read_body(const char *path, gzFile f, struct idx *idx, bool whole, struct err *e)
{
	auto_free char *what = NULL;
	size_t size = idx->n * idx->item, got = 0, room = 0;
	uint8_t more;

	/* The room grows with what is really there: a damaged number costs no gigabyte. */
	while (got < size) {
		int n;

		if (got == room) {
			room = room + (room < (1u << 22) ? 1u << 22 : room);
			room = room < size ? room : size;
			idx->bytes = xrealloc(idx->bytes, room);
		}
		n = gzread(f, idx->bytes + got, (unsigned)(room - got));
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	what = xasprintf("has %zu bytes of data where its header says %zu", got, size);
	if (got < size)
		return damaged(path, f, what, e);
	if (whole && gzread(f, &more, 1) != 0)
		return damaged(path, f, "longer than its header says", e);
	return 0;
}

int idx_read(const char *path, size_t limit, struct idx *ret, struct err *e)
{
	struct idx idx = { 0 };
	gzFile f = gzopen(path, "rbe");
	bool whole;
	int r;

	if (!f)
		return err_errno(e, ERR_NOT_FOUND, "%s", path);
	gzbuffer(f, 1u << 17);
	r = read_shape(path, f, &idx, e);
	whole = limit == 0 || idx.n <= limit;
	if (!whole)
		idx.n = limit;
	if (r == 0)
		r = read_body(path, f, &idx, whole, e);
	gzclose(f);
	if (r < 0) {
		idx_done(&idx);
		return -1;
	}
	*ret = idx;
	return 0;
}

void idx_done(struct idx *f)
{
	free(f->bytes);
	f->bytes = NULL;
}

/* The plain name, or the one with .gz if only that is there. */
static int read_either(const char *dir, const char *stem, const char *rest, size_t limit, struct idx *ret,
		       struct err *e)
{
	auto_free char *plain = xasprintf("%s/%s-%s", dir, stem, rest);
	auto_free char *packed = xasprintf("%s.gz", plain);

	if (access(plain, F_OK) == 0)
		return idx_read(plain, limit, ret, e);
	if (access(packed, F_OK) == 0)
		return idx_read(packed, limit, ret, e);
	return err_set(e, ERR_NOT_FOUND, "%s: no such file, and no %s-%s.gz; --data names the directory", plain, stem,
		       rest);
}

int data_set_read(const char *dir, const char *stem, size_t limit, struct data_set *ret, struct err *e)
{
	struct data_set d = { 0 };

	if (read_either(dir, stem, "images-idx3-ubyte", limit, &d.images, e) < 0 ||
	    read_either(dir, stem, "labels-idx1-ubyte", 0, &d.labels, e) < 0)
		goto fail;
	/* Classes are counted before the limit, so that a small part has the same model as the whole. */
	for (size_t i = 0; i < d.labels.n; i++)
		if (d.labels.bytes[i] >= d.classes)
			d.classes = d.labels.bytes[i] + 1u;
	if (limit && limit < d.labels.n)
		d.labels.n = limit;
	if (d.labels.item != 1 || d.labels.n != d.images.n) {
		err_set(e, ERR_CORRUPT, "%s/%s: %zu pictures but %zu labels of %zu bytes", dir, stem, d.images.n,
			d.labels.n, d.labels.item);
		goto fail;
	}
	*ret = d;
	return 0;
fail:
	data_set_done(&d);
	return -1;
}

void data_set_done(struct data_set *d)
{
	idx_done(&d->images);
	idx_done(&d->labels);
}

void data_set_batch(const struct data_set *d, const uint32_t *samples, size_t n, float *ret_x, uint8_t *ret_labels)
{
	size_t item = d->images.item;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *from = d->images.bytes + samples[i] * item;
		float *to = ret_x + i * item;

		for (size_t j = 0; j < item; j++)
			to[j] = ((float)from[j] - BYTE_MEAN) * (1 / BYTE_DEVIATION);
		ret_labels[i] = d->labels.bytes[samples[i]];
	}
}
