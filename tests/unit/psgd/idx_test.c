// SPDX-License-Identifier: Apache-2.0
#include "psgd/idx.h"

#include <zlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

/* Writes a file below the test's directory; the caller frees its path. */
static char *file(const char *name, const void *bytes, size_t n, bool packed)
{
	char *path = xasprintf("%s/%s", test_dir(), name);
	gzFile f = gzopen(path, packed ? "wb" : "wbT");

	CHECK_INT(gzwrite(f, bytes, (unsigned)n), n);
	gzclose(f);
	return path;
}

static const uint8_t images[] = { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 73, 163, 0, 1, 2, 3 };
static const uint8_t labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 4, 1 };

TEST("a data set is read, plain or packed, and becomes batches")
{
	for (int packed = 0; packed < 2; packed++) {
		const char *end = packed ? ".gz" : "";
		auto_free char *a = xasprintf("%s-images-idx3-ubyte%s", packed ? "p" : "q", end);
		auto_free char *b = xasprintf("%s-labels-idx1-ubyte%s", packed ? "p" : "q", end);
		auto_free char *one = file(a, images, sizeof(images), packed);
		auto_free char *two = file(b, labels, sizeof(labels), packed);
		struct err e = ERR_INIT;
		struct data_set d;
		float x[6];
		uint8_t l[2];

		CHECK_INT(data_set_read(test_dir(), packed ? "p" : "q", 0, &d, &e), 0);
		CHECK_STR(e.text, "");
		CHECK_INT(d.images.n, 2);
		CHECK_INT(d.images.item, 3);
		CHECK_INT(d.classes, 5);
		data_set_batch(&d, (const uint32_t[]){ 1, 0 }, 2, x, l);
		CHECK_INT(l[0], 1);
		CHECK_INT(l[1], 4);
		CHECK(x[3] == 0 && x[4] > 0.99f && x[4] < 1.01f && x[0] < 0);
		data_set_done(&d);
	}
}

TEST("a part of a data set keeps the number of classes")
{
	auto_free char *one = file("r-images-idx3-ubyte", images, sizeof(images), false);
	auto_free char *two = file("r-labels-idx1-ubyte", (const uint8_t[]){ 0, 0, 8, 1, 0, 0, 0, 2, 1, 9 }, 10, false);
	struct err e = ERR_INIT;
	struct data_set d;

	CHECK_INT(data_set_read(test_dir(), "r", 1, &d, &e), 0);
	CHECK_INT(d.images.n, 1);
	CHECK_INT(d.classes, 10);
	data_set_done(&d);
}

TEST("a damaged file is refused, with its path and what is wrong")
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *text;
	} rows[] = {
		{ "\0\0\10", 3, "too short for an IDX file" },
		{ "\x89PNG", 4, "not an IDX file: it begins with 89 50, not 00 00" },
		{ "\0\0\15\1\0\0\0\1", 8, "IDX type 0x0d; only 0x08, unsigned bytes, can be read" },
		{ "\0\0\10\0", 4, "0 dimensions; 1 to 4 can be read" },
		{ "\0\0\10\2\0\0\0\1", 8, "ends within its dimensions" },
		{ "\0\0\10\1\0\0\0\0", 8, "dimension 1 is 0" },
		{ "\0\0\10\2\xff\xff\xff\xff\xff\xff\xff\xff", 12, "more than 1073741824 bytes" },
		{ "\0\0\10\1\0\0\0\5abc", 11, "has 3 bytes of data where its header says 5" },
		{ "\0\0\10\1\0\0\0\2abc", 11, "longer than its header says" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *path = file("bad", rows[i].bytes, rows[i].n, false);
		auto_free char *want = xasprintf("%s: %s", path, rows[i].text);
		struct err e = ERR_INIT;
		struct idx idx;

		CHECK_INT(idx_read(path, 0, &idx, &e), -1);
		CHECK_STR(e.text, want);
	}
}

TEST("packed data that ends early or has changed is refused")
{
	auto_free char *path = file("cut.gz", images, sizeof(images), true);
	struct err e = ERR_INIT;
	struct idx idx;

	CHECK_INT(truncate(path, 24), 0);
	CHECK_INT(idx_read(path, 0, &idx, &e), -1);
	CHECK(strstr(e.text, "cut.gz: "));
}

TEST("pictures and labels must be as many")
{
	auto_free char *one = file("s-images-idx3-ubyte", images, sizeof(images), false);
	auto_free char *two = file("s-labels-idx1-ubyte", (const uint8_t[]){ 0, 0, 8, 1, 0, 0, 0, 1, 1 }, 9, false);
	struct err e = ERR_INIT;
	struct data_set d;

	CHECK_INT(data_set_read(test_dir(), "s", 0, &d, &e), -1);
	CHECK(strstr(e.text, "2 pictures but 1 labels of 1 bytes"));
	err_clear(&e);
	CHECK_INT(data_set_read(test_dir(), "none", 0, &d, &e), -1);
	CHECK(strstr(e.text, "none-images-idx3-ubyte: no such file"));
}
