// SPDX-License-Identifier: Apache-2.0
/* checkpoint.c - reading and writing checkpoints
 *
 *	0 "PSGDCKPT"  8 version(4)  12 crc32 of the floats(4)  16 index(4)  20 parts(4)  24 params(8)  32 n(8)  40
 *ticks(8) 48 zero(16)  64 model, padded with zeros  128 floats, as in memory
 */
#include "psgd/checkpoint.h"

#include <zlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "psgd/model.h"

#define HEAD    128
#define VERSION 1u
#define MARGIN  65536 /* of a file that is too long so much is read that its head is there */

struct head {
	char magic[8];
	uint32_t version, crc, index, parts;
	uint64_t params, n, ticks, zero[2];
	char model[MODEL_TEXT];
};
_Static_assert(sizeof(struct head) == HEAD, "the head is written as it lies in memory");

char *checkpoint_path(const char *dir, uint32_t index, uint32_t parts, bool whole)
{
	return whole ? xasprintf("%s/model.psgd", dir) : xasprintf("%s/ps-%u-of-%u.psgd", dir, index, parts);
}

int checkpoint_write(const char *path, const struct checkpoint *c, const float *values, struct err *e)
{
	struct head h = { .magic = "PSGDCKPT", .version = VERSION, .index = c->index, .parts = c->parts };
	size_t bytes = c->n * sizeof(float);
	auto_free char *all = xmalloc(HEAD + bytes);

	h.params = c->params;
	h.n = c->n;
	h.ticks = c->ticks;
	h.crc = (uint32_t)crc32_z(0, (const Bytef *)values, bytes);
	snprintf(h.model, sizeof(h.model), "%s", c->model);
	memcpy(all, &h, HEAD);
	memcpy(all + HEAD, values, bytes);
	return file_write(path, 0644, (struct str){ all, HEAD + bytes }, e);
}

int checkpoint_read(const char *path, struct checkpoint *want, float *values, struct err *e)
{
	size_t bytes = want->n * sizeof(float), most = HEAD + bytes + MARGIN;
	auto_sbuf struct sbuf all = SBUF(most);
	bool longer = false;
	struct head h;

	if (file_read(path, most, &all, e) < 0) {
		longer = e->kind == ERR_TOO_LARGE;
		if (!longer)
			return -1;
		err_clear(e); /* its head will tell why */
	}
	if (all.n < HEAD || memcmp(all.p, "PSGDCKPT", 8) != 0)
		return err_set(e, ERR_CORRUPT, "%s: not a checkpoint of psgd", path);
	memcpy(&h, all.p, HEAD);
	if (h.version != VERSION)
		return err_set(e, ERR_CORRUPT, "%s: a checkpoint of version %u, not %u", path, h.version, VERSION);
	h.model[sizeof(h.model) - 1] = '\0';
	if (!streq(h.model, want->model) || h.params != want->params)
		return err_set(e, ERR_CONFLICT, "%s: holds a model %s, not %s", path, h.model, want->model);
	if (longer)
		return err_set(e, ERR_CORRUPT, "%s: damaged: longer than %zu bytes", path, most);
	if (h.index != want->index || h.parts != want->parts || h.n != want->n)
		return err_set(e, ERR_CONFLICT, "%s: holds slice %u of %u, not %u of %u", path, h.index, h.parts,
			       want->index, want->parts);
	if (all.n != HEAD + bytes)
		return err_set(e, ERR_CORRUPT, "%s: damaged: %zu bytes, not %zu", path, all.n, HEAD + bytes);
	if (h.crc != (uint32_t)crc32_z(0, (const Bytef *)all.p + HEAD, bytes))
		return err_set(e, ERR_CORRUPT, "%s: damaged: its checksum is wrong", path);
	memcpy(values, all.p + HEAD, bytes);
	want->ticks = h.ticks;
	return 0;
}
