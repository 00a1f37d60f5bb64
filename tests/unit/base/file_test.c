// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "test.h"

static char *at(const char *name)
{
	return xasprintf("%s/%s", test_dir(), name);
}

TEST("a file is written whole, with its mode, and read again")
{
	static const char *const texts[] = { "", "short", "with\0nul" };
	auto_free char *path = at("file");
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		struct err e = ERR_INIT;
		size_t n = i == 2 ? 8 : strlen(texts[i]);

		CHECK_INT(file_write(path, 0640, (struct str){ texts[i], n }, &e), 0);
		CHECK_INT(file_read(path, 100, &got, &e), 0);
		CHECK_INT(got.n, n);
		CHECK(n == 0 || memcmp(got.p, texts[i], n) == 0);
		CHECK_INT(stat(path, &st), 0);
		CHECK_INT(st.st_mode & 07777, 0640);
	}
}

TEST("a file longer than allowed is refused, and the same size is not")
{
	auto_free char *path = at("long");
	auto_free char *text = xcalloc(1, 20000);
	auto_sbuf struct sbuf got = SBUF(1 << 20);
	struct err e = ERR_INIT;

	CHECK_INT(file_write(path, 0600, (struct str){ text, 20000 }, &e), 0);
	sbuf_adds(&got, "before");
	CHECK_INT(file_read(path, 20000, &got, &e), 0);
	CHECK_INT(got.n, 20006);
	sbuf_reset(&got);
	CHECK_INT(file_read(path, 19999, &got, &e), -1);
	CHECK_INT(e.kind, ERR_TOO_LARGE);
	CHECK(str_ends(e.text, "/long: longer than 19999 bytes"));
}

TEST("what cannot be read or written names the path")
{
	auto_free char *dir = at("adir");
	auto_free char *below = at("adir/absent/file");
	auto_sbuf struct sbuf got = SBUF(100);
	struct err e = ERR_INIT;

	CHECK_INT(file_make_dirs(dir, 0700, &e), 0);
	CHECK_INT(file_read(below, 10, &got, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK(str_starts(e.text, below));
	CHECK_INT(file_read(dir, 10, &got, &e), -1);
	CHECK_INT(e.kind, ERR_INTERNAL);
	CHECK_INT(file_write(below, 0600, STR("x"), &e), -1);
	CHECK(strstr(e.text, "adir/absent/file") != NULL);
	CHECK_INT(file_write(dir, 0600, STR("x"), &e), -1);
	auto_free char *left = at("adir.new");
	CHECK_INT(access(left, F_OK), -1); /* nothing is left lying about */
}

TEST("a link in place of the temporary file is not followed")
{
	auto_free char *path = at("linked");
	auto_free char *link = at("linked.new");
	auto_free char *target = at("target");
	auto_sbuf struct sbuf got = SBUF(100);
	struct err e = ERR_INIT;

	CHECK_INT(file_write(target, 0600, STR("precious"), &e), 0);
	CHECK_INT(symlink(target, link), 0);
	CHECK_INT(file_write(path, 0600, STR("x"), &e), -1);
	CHECK_INT(file_read(target, 100, &got, &e), 0);
	CHECK_STR(got.p, "precious");
	unlink(link);
}

TEST("directories are made with their parents, once or twice")
{
	auto_free char *deep = at("one/two/three");
	auto_free char *file = at("afile");
	auto_free char *below = at("afile/sub");
	struct err e = ERR_INIT;
	struct stat st;

	CHECK_INT(file_make_dirs(deep, 0700, &e), 0);
	CHECK_INT(file_make_dirs(deep, 0700, &e), 0);
	CHECK_INT(stat(deep, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	CHECK_INT(file_write(file, 0600, STR("x"), &e), 0);
	CHECK_INT(file_make_dirs(below, 0700, &e), -1);
	CHECK(strstr(e.text, "afile: Not a directory") != NULL);
	err_clear(&e);
	CHECK_INT(file_make_dirs(file, 0700, &e), -1); /* a file is no directory */
}
