// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/un.h>

#include "volume_lab.h"

#define HOST(path, type) "[{'name':'v','hostPath':{'path':'" path "','type':'" type "'}}]"

TEST("each hostPath type is checked, and missing ones are made where the type says so")
{
	static const struct {
		const char *volumes, *want;
	} rows[] = {
		{ HOST("@/dir", ""), NULL },
		{ HOST("@/dir", "Directory"), NULL },
		{ HOST("@/dir", "DirectoryOrCreate"), NULL },
		{ HOST("@/file", "File"), NULL },
		{ HOST("@/file", "FileOrCreate"), NULL },
		{ HOST("@/sock", "Socket"), NULL },
		{ HOST("/dev/null", "CharDevice"), NULL },
		{ HOST("@/new/er", "DirectoryOrCreate"), NULL },
		{ HOST("@/newfile", "FileOrCreate"), NULL },
		{ HOST("@/untyped", ""), NULL },
		{ HOST("@/file", "Directory"), "hostPath type check failed: @/file is not a directory" },
		{ HOST("@/none", "Directory"), "hostPath type check failed: @/none is not a directory" },
		{ HOST("@/file", "DirectoryOrCreate"), "hostPath type check failed: @/file is not a directory" },
		{ HOST("@/dir", "File"), "hostPath type check failed: @/dir is not a file" },
		{ HOST("@/none", "File"), "hostPath type check failed: @/none is not a file" },
		{ HOST("@/file", "Socket"), "hostPath type check failed: @/file is not a socket file" },
		{ HOST("@/file", "CharDevice"), "hostPath type check failed: @/file is not a character device" },
		{ HOST("/dev/null", "BlockDevice"), "hostPath type check failed: /dev/null is not a block device" },
		{ HOST("@/a/../b", ""), "hostPath \"@/a/../b\" must be absolute and must not contain '..'" },
		{ HOST("rel", ""), "hostPath \"rel\" must be absolute and must not contain '..'" },
	};
	struct lab l = lab_new("[]");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mode_t old = umask(077);

	lab_mkdir(&l, "dir", 0755);
	lab_write(&l, "file", "x");
	snprintf(a.sun_path, sizeof(a.sun_path), "%.90s/sock", l.top);
	CHECK(bind(s, (struct sockaddr *)&a, sizeof(a)) == 0);
	close(s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		lab_volumes(&l, rows[i].volumes);
		if (rows[i].want)
			lab_fails(&l, rows[i].want);
		else
			lab_ready(&l);
	}
	CHECK_INT(lab_mode(&l, "new"), 0755);
	CHECK_INT(lab_mode(&l, "new/er"), 0755);
	CHECK_INT(lab_mode(&l, "newfile"), 0644);
	CHECK_INT(lab_mode(&l, "untyped"), 0755);
	umask(old);
	lab_done(&l);
}

TEST("an administrator's hostPath is mounted as it is named and survives the pod")
{
	struct lab l = lab_new(HOST("@/data", "Directory"));
	auto_free char *source = NULL;
	auto_free char *want = xasprintf("%s/data", l.top);
	char buf[512];

	lab_mkdir(&l, "data", 0755);
	lab_write(&l, "data/f", "kept");
	lab_ready(&l);
	source = lab_source(&l, NULL);
	CHECK_STR(source, want);
	volumes_remove(l.dir);
	CHECK_STR(lab_read(&l, "data/f", buf), "kept");
	lab_done(&l);
}

/* A lab where users may mount what is below open/. */
static struct lab user_lab(const char *volumes)
{
	struct lab l = lab_new(volumes);

	l.c.owner = LAB_UID;
	l.roots = lab_json(&l, "['@/rootlink']");
	l.c.host_roots = l.roots;
	lab_mkdir(&l, "open", 0777);
	lab_link(&l, "open", "rootlink");
	lab_mkdir(&l, "open/mine", 0755);
	lab_write(&l, "open/mine/f", "hello");
	lab_mkdir(&l, "open/closed", 0700);
	lab_mkdir(&l, "open/closed/inner", 0777);
	lab_mkdir(&l, "secret", 0777);
	lab_write(&l, "secret/f", "not yours");
	lab_link(&l, "../secret", "open/link");
	lab_write(&l, "open/private", "x");
	CHECK(chmod(l.top, 0755) == 0);
	return l;
}

TEST("a user's hostPath must lie below a permitted root after all links, with the user's rights")
{
	static const struct {
		const char *volumes, *want;
	} rows[] = {
		{ HOST("@/open/mine", ""), NULL },
		{ HOST("@/rootlink/mine", "Directory"), NULL },
		{ HOST("@/open/link", ""), "hostPath @/open/link is not below a directory that users may mount" },
		{ HOST("@/secret", ""), "hostPath @/secret is not below a directory that users may mount" },
		{ HOST("@/openx", "DirectoryOrCreate"),
		  "hostPath @/openx is not below a directory that users may mount" },
		{ HOST("@/open/link/new", ""),
		  "hostPath @/open/link/new is not below a directory that users may mount" },
		{ HOST("@/open/closed", ""), "hostPath @/open/closed: Permission denied" },
		{ HOST("@/open/closed/inner", ""), "hostPath @/open/closed/inner: Permission denied" },
		{ HOST("@/open/private", "File"), "hostPath @/open/private: Permission denied" },
		{ HOST("@/open/mine/new", ""), "cannot make hostPath @/open/mine/new: Permission denied" },
		{ HOST("/proc/self/root", ""), "hostPath /proc/self/root: Too many levels of symbolic links" },
	};
	struct lab l = user_lab("[]");
	char path[512];

	CHECK(chmod(lab_path(&l, "open/private", path), 0600) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		lab_volumes(&l, rows[i].volumes);
		if (rows[i].want)
			lab_fails(&l, rows[i].want);
		else
			lab_ready(&l);
	}
	CHECK(!lab_has(&l, "openx"));
	CHECK(!lab_has(&l, "secret/new"));
	CHECK_INT(getegid(), 0);
	CHECK(access("/etc/shadow", R_OK) == 0);
	lab_done(&l);
}

TEST("what is made for a user belongs to the user")
{
	struct lab l = user_lab(HOST("@/open/own/deep", "DirectoryOrCreate"));
	char path[512];
	struct stat st;

	lab_ready(&l);
	CHECK(stat(lab_path(&l, "open/own/deep", path), &st) == 0 && st.st_uid == LAB_UID);
	lab_done(&l);
}

TEST("a user's hostPath is pinned: changing the name later changes nothing, removing the pod deletes nothing")
{
	struct lab l = user_lab(HOST("@/open/mine", ""));
	auto_free char *source = NULL;
	char a[512], b[512], buf[512];

	lab_ready(&l);
	CHECK(rename(lab_path(&l, "open/mine", a), lab_path(&l, "open/was", b)) == 0);
	lab_link(&l, "../secret", "open/mine");
	source = lab_source(&l, NULL);
	CHECK(source && str_ends(source, "/pod/volumes/v"));
	CHECK_STR(lab_read(&l, "pod/volumes/v/f", buf), "hello");
	lab_fails(&l, "hostPath @/open/mine is not below a directory that users may mount");
	volumes_remove(l.dir);
	CHECK(!lab_has(&l, "pod/volumes"));
	CHECK_STR(lab_read(&l, "open/was/f", buf), "hello");
	lab_done(&l);
}

TEST("preparing a pinned hostPath again keeps the mount, a new directory replaces it")
{
	struct lab l = user_lab(HOST("@/open/mine", ""));
	char a[512], b[512], buf[512];

	lab_ready(&l);
	lab_ready(&l);
	CHECK(umount2(lab_path(&l, "pod/volumes/v", a), MNT_DETACH) == 0);
	CHECK(umount2(a, MNT_DETACH) < 0);
	lab_ready(&l);
	CHECK(rename(lab_path(&l, "open/mine", a), lab_path(&l, "open/was", b)) == 0);
	lab_mkdir(&l, "open/mine", 0755);
	lab_write(&l, "open/mine/f", "second");
	lab_ready(&l);
	CHECK_STR(lab_read(&l, "pod/volumes/v/f", buf), "second");
	lab_done(&l);
}

TEST("unmounting a pin leaves the host's own mounts below it alone")
{
	struct lab l = user_lab(HOST("@/open/mine", ""));
	char at[512], buf[512];

	lab_mkdir(&l, "open/mine/disk", 0755);
	CHECK(mount("tmpfs", lab_path(&l, "open/mine/disk", at), "tmpfs", 0, "size=1m") == 0);
	CHECK(mount(NULL, at, NULL, MS_SHARED, NULL) == 0);
	lab_write(&l, "open/mine/disk/f", "on disk");
	lab_ready(&l);
	CHECK_STR(lab_read(&l, "pod/volumes/v/disk/f", buf), "on disk");
	volumes_remove(l.dir);
	CHECK(!lab_has(&l, "pod/volumes"));
	CHECK_STR(lab_read(&l, "open/mine/disk/f", buf), "on disk");
	CHECK(umount(at) == 0);
	lab_done(&l);
}
