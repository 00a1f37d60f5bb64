// SPDX-License-Identifier: Apache-2.0
#include "psgd/checkpoint.h"

#include <fcntl.h>

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

static const struct checkpoint sample = { .model = "2-3", .params = 9, .index = 1, .parts = 2, .n = 4, .ticks = 77 };
static const float values[4] = { 1, -2, 3.5f, 0 };

static char *write_sample(void)
{
	char *path = checkpoint_path(test_dir(), 1, 2, false);
	struct err e = ERR_INIT;

	CHECK_INT(checkpoint_write(path, &sample, values, &e), 0);
	return path;
}

TEST("a checkpoint is read as it was written")
{
	auto_free char *path = write_sample();
	struct checkpoint want = sample;
	struct err e = ERR_INIT;
	float back[4] = { 0 };

	want.ticks = 0;
	CHECK_INT(checkpoint_read(path, &want, back, &e), 0);
	CHECK_INT(want.ticks, 77);
	CHECK(memcmp(back, values, sizeof(values)) == 0);
}

TEST("a checkpoint of another model or slice is refused, and nothing is changed")
{
	auto_free char *path = write_sample();
	struct checkpoint rows[] = { sample, sample, sample };
	static const char *const texts[] = { "holds a model 2-3, not 2-4", "holds slice 1 of 2, not 0 of 2",
					     "holds slice 1 of 2, not 1 of 3" };
	float back[4] = { 5, 5, 5, 5 };

	rows[0].model = "2-4";
	rows[1].index = 0;
	rows[2].parts = 3;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *want = xasprintf("%s: %s", path, texts[i]);
		struct err e = ERR_INIT;

		CHECK_INT(checkpoint_read(path, &rows[i], back, &e), -1);
		CHECK_STR(e.text, want);
		CHECK(back[0] == 5);
	}
}

TEST("a damaged checkpoint is refused")
{
	static const struct {
		long at; /* -1: cut off there */
		size_t size;
		const char *text;
	} rows[] = {
		{ 0, 0, "not a checkpoint of psgd" },
		{ 8, 0, "a checkpoint of version 88, not 1" },
		{ 130, 0, "damaged: its checksum is wrong" },
		{ -1, 140, "damaged: 140 bytes, not 144" },
		{ -1, 20, "not a checkpoint of psgd" },
		{ -1, 150, "damaged: 150 bytes, not 144" },
		{ -1, 100000, "damaged: longer than 65680 bytes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *path = write_sample();
		auto_free char *want = xasprintf("%s: %s", path, rows[i].text);
		auto_close int fd = open(path, O_RDWR);
		struct checkpoint c = sample;
		struct err e = ERR_INIT;
		float back[4];

		CHECK_INT(rows[i].at < 0 ? ftruncate(fd, (off_t)rows[i].size) : pwrite(fd, "X", 1, rows[i].at) - 1, 0);
		CHECK_INT(checkpoint_read(path, &c, back, &e), -1);
		CHECK_STR(e.text, want);
	}
}

TEST("a checkpoint that is not there is told apart from a bad one")
{
	struct checkpoint c = sample;
	struct err e = ERR_INIT;
	float back[4];

	CHECK_INT(checkpoint_read("/nonexistent/model.psgd", &c, back, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
}
