// SPDX-License-Identifier: Apache-2.0
#include "node/trash.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/tree.h"
#include "test.h"

TEST("a large directory leaves its place at once and is gone after some turns")
{
	char dir[] = "/tmp/stoker-trash-XXXXXX";
	struct loop *loop = loop_new();
	struct err e = ERR_INIT;

	CHECK(mkdtemp(dir) != NULL);
	auto_free char *big = xasprintf("%s/big", dir);
	auto_free char *bin = xasprintf("%s/trash", dir);
	struct trash *t = trash_new(loop, dir);

	CHECK(file_make_dirs(big, 0700, &e) == 0);
	for (int i = 0; i < 1500; i++) {
		auto_free char *path = xasprintf("%s/%d", big, i);

		CHECK(file_place(path, 0600, STR("x"), &e) == 0);
	}
	trash_put(t, big);
	CHECK(access(big, F_OK) < 0);
	CHECK(access(bin, F_OK) == 0);
	for (int i = 0; i < 20; i++)
		loop_turn(loop, true);
	CHECK(rmdir(bin) == 0);
	trash_free(t);
	loop_free(loop);
	tree_remove(dir, NULL);
}

TEST("what an earlier server threw away goes on being removed")
{
	char dir[] = "/tmp/stoker-trash-XXXXXX";
	struct loop *loop = loop_new();
	struct err e = ERR_INIT;

	CHECK(mkdtemp(dir) != NULL);
	auto_free char *left = xasprintf("%s/trash/3/deep/er", dir);
	auto_free char *bin = xasprintf("%s/trash", dir);

	CHECK(file_make_dirs(left, 0700, &e) == 0);
	struct trash *t = trash_new(loop, dir);
	for (int i = 0; i < 5; i++)
		loop_turn(loop, true);
	CHECK(rmdir(bin) == 0);
	trash_free(t);
	loop_free(loop);
	tree_remove(dir, NULL);
}
