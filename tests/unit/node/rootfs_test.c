// SPDX-License-Identifier: Apache-2.0
#include "node/rootfs.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/tree.h"
#include "test.h"

TEST("a directory that is missing is made for everyone, and inside the image")
{
	static const struct {
		const char *path, *where;
	} rows[] = {
		{ "/made/for/it", "made/for/it" },
		{ "/absolute/x", "usr/x" },
		{ "/up/y", "y" },
		{ "/usr/../z/", "z" },
		{ "/", "" },
	};
	char dir[] = "/tmp/stoker-rootfs-XXXXXX";
	auto_free char *usr = NULL, *absolute = NULL, *up = NULL;
	mode_t mask = umask(077);

	CHECK(mkdtemp(dir) != NULL);
	usr = xasprintf("%s/usr", dir);
	absolute = xasprintf("%s/absolute", dir);
	up = xasprintf("%s/up", dir);
	CHECK_INT(mkdir(usr, 0755), 0);
	CHECK_INT(symlink("/usr", absolute), 0);
	CHECK_INT(symlink("../../../..", up), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *want = xasprintf("%s/%s", dir, rows[i].where);
		struct stat st = { 0 };

		rootfs_make_dir(dir, rows[i].path);
		CHECK_INT(lstat(want, &st), 0);
		CHECK(S_ISDIR(st.st_mode));
		if (*rows[i].where)
			CHECK_INT(st.st_mode & 0777, 0755);
	}
	CHECK(access("/y", F_OK) < 0);
	umask(mask);
	tree_remove(dir, NULL);
}
