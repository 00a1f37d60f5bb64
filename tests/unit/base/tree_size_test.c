// SPDX-License-Identifier: Apache-2.0
#include "base/tree_size.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void make_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	for (size_t i = 0; f && i < size; i++)
		fputc('x', f);
	if (f)
		fclose(f);
}

TEST("a directory takes what all below it takes, each file once, and nothing behind links")
{
	char top[] = "/tmp/stoker-size-XXXXXX";
	struct tree_size empty = { .left = 100 };
	struct tree_size t = { .left = 100 };
	struct tree_size few = { .left = 2 };

	CHECK(mkdtemp(top) && chdir(top) == 0);
	CHECK(tree_size(top, &empty) == 0);
	CHECK_INT(empty.bytes, 0);
	CHECK(mkdir("a", 0755) == 0 && mkdir("a/b", 0755) == 0);
	make_file("a/b/file", 1 << 20);
	CHECK(link("a/b/file", "a/again") == 0 && symlink("/usr", "a/away") == 0);
	CHECK(tree_size(top, &t) == 0);
	CHECK(t.bytes >= 1 << 20 && t.bytes < (1 << 20) + (1 << 16));
	CHECK_INT(t.left, 95);
	CHECK_INT(t.unread, 0);
	CHECK(tree_size(top, &few) == 0);
	CHECK_INT(few.left, 0);
	CHECK(tree_size("a/away", &t) < 0 && errno == ENOTDIR);
	CHECK(tree_size("nowhere", &t) < 0 && errno == ENOENT);
	CHECK(unlink("a/again") == 0 && unlink("a/away") == 0 && unlink("a/b/file") == 0);
	CHECK(rmdir("a/b") == 0 && rmdir("a") == 0 && chdir("/") == 0 && rmdir(top) == 0);
}
