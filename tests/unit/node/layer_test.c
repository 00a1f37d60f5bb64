// SPDX-License-Identifier: Apache-2.0
/* layer_test.c - what honest and hostile tars become */
#include "node/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "base/mem.h"
#include "loop/crypto.h"
#include "node/tree.h"
#include "tar.h"
#include "test.h"

#define ENTRIES 12

static const struct layer_limits limits = { .entries = 1000, .bytes = 16 << 20 };

static int blob_of(const void *p, size_t n)
{
	int fd = memfd_create("layer", MFD_CLOEXEC);

	CHECK_INT(write(fd, p, n), (ssize_t)n);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* A fresh place: WORLD/layer is the layer's, everything beside it is the world. */
struct place {
	char *world;
	char *layer;
	int dir;
};

static struct place place_new(void)
{
	static int count;
	struct place p = { .world = xasprintf("%s/layer-%d", test_dir(), count++) };

	p.layer = xasprintf("%s/layer", p.world);
	mkdir(p.world, 0755);
	mkdir(p.layer, 0755);
	p.dir = open(p.layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(p.dir >= 0);
	return p;
}

static void place_done(struct place *p)
{
	close(p->dir);
	CHECK(tree_remove(p->world, NULL));
	free(p->layer);
	free(p->world);
}

static int unpack_entries(const struct place *p, const struct tar_entry *entries, size_t n, bool confined,
			  struct layer_sum *sum, struct err *e)
{
	auto_sbuf struct sbuf tar = SBUF(1u << 24);
	int blob, r;

	for (size_t i = 0; i < n && entries[i].name; i++)
		tar_add(&tar, &entries[i]);
	tar_end(&tar);
	blob = blob_of(tar.p, tar.n);
	r = confined ? layer_unpack_confined(blob, p->dir, NULL, &limits, sum, e)
		     : layer_unpack(blob, p->dir, NULL, &limits, sum, e);
	close(blob);
	return r;
}

static const struct tar_entry honest[] = {
	{ '5', "./", .mode = 0750, .uid = 7 },
	{ '5', "etc", .mode = 0711, .uid = 3, .gid = 4 },
	{ '0', "etc/passwd", .data = "root:x:0:0\n", .mode = 0640, .uid = 1000, .gid = 1001 },
	{ '0', "bin/tool", .data = "#!", .mode = 04755 },
	{ '1', "bin/tool2", .link = "bin/tool" },
	{ '2', "bin/sh", .link = "/bin/tool", .uid = 5 },
	{ '0', "deep/a/b/c", .data = "x", .xattr = "user.note", .value = "hello" },
	{ '6', "run/pipe", .mode = 0600 },
	{ '0', "caf\xc3\xa9/\xe2\x82\xac", .data = "euro" },
	{ '3', "weird/null", .major = 1, .minor = 3 },
};

static void check_honest(const struct place *p)
{
	struct stat st, st2;
	char text[64] = "";

	CHECK_INT(fstatat(p->dir, ".", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0750);
	CHECK_INT(st.st_uid, 7);
	CHECK_INT(fstatat(p->dir, "etc/passwd", &st, 0), 0);
	CHECK_INT(st.st_uid, 1000);
	CHECK_INT(st.st_gid, 1001);
	CHECK_INT(st.st_mode & 07777, 0640);
	CHECK_INT(st.st_mtim.tv_sec, 1000000000);
	CHECK_INT(fstatat(p->dir, "etc", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 0711);
	CHECK_INT(st.st_mtim.tv_sec, 1000000000);
	CHECK_INT(fstatat(p->dir, "bin/tool", &st, 0), 0);
	CHECK_INT(st.st_mode & 07777, 04755);
	CHECK_INT(fstatat(p->dir, "bin/tool2", &st2, 0), 0);
	CHECK_INT(st.st_ino, st2.st_ino);
	CHECK_INT(readlinkat(p->dir, "bin/sh", text, sizeof(text) - 1), 9);
	CHECK_STR(text, "/bin/tool");
	CHECK_INT(fstatat(p->dir, "bin/sh", &st, AT_SYMLINK_NOFOLLOW), 0);
	CHECK_INT(st.st_uid, 5);
	CHECK_INT(fstatat(p->dir, "run/pipe", &st, 0), 0);
	CHECK(S_ISFIFO(st.st_mode));
	CHECK_INT(fstatat(p->dir, "caf\xc3\xa9/\xe2\x82\xac", &st, 0), 0);
	CHECK_INT(st.st_size, 4);
	CHECK(fstatat(p->dir, "weird/null", &st, 0) < 0);
}

TEST("an honest layer keeps owners, modes, times, links, names and xattrs")
{
	for (int confined = 0; confined < 2; confined++) {
		struct place p = place_new();
		struct layer_sum sum = { 0 };
		struct err e = ERR_INIT;
		auto_free char *file = xasprintf("%s/deep/a/b/c", p.layer);
		char value[16] = "";

		CHECK_INT(unpack_entries(&p, honest, ARRAY_SIZE(honest), confined, &sum, &e), 0);
		CHECK_STR(e.text, "");
		check_honest(&p);
		CHECK_INT(getxattr(file, "user.note", value, sizeof(value)), 5);
		CHECK_STR(value, "hello");
		CHECK_INT(sum.entries, (int64_t)ARRAY_SIZE(honest));
		CHECK_INT(sum.bytes, 11 + 2 + 1 + 4);
		place_done(&p);
	}
}

TEST("whiteouts become what overlayfs understands")
{
	static const struct tar_entry entries[] = {
		{ '0', "etc/.wh.gone" },
		{ '5', "cache", .mode = 0755 },
		{ '0', "cache/.wh..wh..opq" },
		{ '0', "cache/.wh..wh.plnk", .data = "x" },
		{ '0', "cache/new", .data = "x" },
		{ '0', ".wh.dir" }, /* gone, and made anew in the same layer */
		{ '5', "dir", .mode = 0755 },
		{ '5', "dir2", .mode = 0755 },
		{ '0', ".wh.dir2" },
		{ '0', "file", .data = "x" },
		{ '0', ".wh.file" },
		{ '3', "native", .major = 0, .minor = 0 },
	};
	static const char *const opaque[] = { "cache", "dir", "dir2" };
	static const char *const gone[] = { "etc/gone", "native" };
	struct place p = place_new();
	struct layer_sum sum;
	struct err e = ERR_INIT;
	struct stat st;

	CHECK_INT(unpack_entries(&p, entries, ARRAY_SIZE(entries), false, &sum, &e), 0);
	CHECK_STR(e.text, "");
	for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
		CHECK_INT(fstatat(p.dir, gone[i], &st, AT_SYMLINK_NOFOLLOW), 0);
		CHECK(S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0));
	}
	for (size_t i = 0; i < ARRAY_SIZE(opaque); i++) {
		auto_free char *path = xasprintf("%s/%s", p.layer, opaque[i]);
		char value[4] = "";

		CHECK_INT(getxattr(path, "trusted.overlay.opaque", value, sizeof(value)), 1);
		CHECK_STR(value, "y");
	}
	CHECK_INT(fstatat(p.dir, "cache/.wh..wh.plnk", &st, AT_SYMLINK_NOFOLLOW), -1);
	CHECK_INT(fstatat(p.dir, "file", &st, AT_SYMLINK_NOFOLLOW), 0);
	CHECK(S_ISREG(st.st_mode));
	place_done(&p);
}

TEST("a sparse file stays sparse")
{
	/* Written by a real tar, because its way of saying so is not worth imitating. */
	struct place p = place_new();
	auto_free char *cmd = xasprintf("cd %s && truncate -s 8M hole && printf end >>hole && tar -S -cf hole.tar hole "
					"&& rm hole",
					p.world);
	auto_free char *path = xasprintf("%s/hole.tar", p.world);
	struct layer_sum sum;
	struct err e = ERR_INIT;
	struct stat st = { 0 };
	int blob;

	CHECK_INT(system(cmd), 0);
	blob = open(path, O_RDONLY | O_CLOEXEC);
	CHECK_INT(layer_unpack(blob, p.dir, NULL, &limits, &sum, &e), 0);
	close(blob);
	CHECK_INT(fstatat(p.dir, "hole", &st, 0), 0);
	CHECK_INT(st.st_size, (8 << 20) + 3);
	CHECK(st.st_blocks < 1024);
	place_done(&p);
}

/* ---- hostile ---- */

/* Where an attack would show: WORLD/victim must stay as it is and nothing may appear beside it. */
static void set_trap(const struct place *p)
{
	auto_free char *victim = xasprintf("%s/victim", p->world);
	auto_free char *dir = xasprintf("%s/victimdir", p->world);
	int fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK_INT(write(fd, "safe", 4), 4);
	close(fd);
	mkdir(dir, 0700);
}

static void check_trap(const struct place *p, const char *what)
{
	auto_free char *victim = xasprintf("%s/victim", p->world);
	auto_free char *dir = xasprintf("%s/victimdir", p->world);
	auto_free char *pwned = xasprintf("%s/pwned", p->world);
	char text[16] = "";
	struct stat st;
	int fd = open(victim, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) != 4 || strcmp(text, "safe") != 0)
		test_fail(__FILE__, __LINE__, "%s: the victim was written", what);
	if (fstat(fd, &st) < 0 || st.st_nlink != 1 || (st.st_mode & 07777) != 0600 || st.st_uid != 0)
		test_fail(__FILE__, __LINE__, "%s: the victim was linked or changed", what);
	if (fd >= 0)
		close(fd);
	if (lstat(pwned, &st) == 0)
		test_fail(__FILE__, __LINE__, "%s: a file appeared outside", what);
	if (stat(dir, &st) < 0 || (st.st_mode & 07777) != 0700 || st.st_nlink != 2 || st.st_uid != 0)
		test_fail(__FILE__, __LINE__, "%s: the directory outside was changed", what);
}

/* "@" in names and links stands for the absolute path of the world. */
static const struct hostile {
	const char *what;
	struct tar_entry entries[ENTRIES];
	int result; /* 0: harmless, -1: refused */
	const char *text;
} hostile[] = {
	{ "dot-dot", { { '0', "../pwned", .data = "x" } }, -1, "leads out of the layer" },
	{ "dot-dot inside", { { '5', "a" }, { '0', "a/../../pwned", .data = "x" } }, -1, "leads out of the layer" },
	{ "dot-dot at the end", { { '5', "a/.." } }, -1, "leads out of the layer" },
	{ "absolute name", { { '0', "@/pwned", .data = "x" } }, 0, NULL },
	{ "many slashes", { { '0', "////pwned", .data = "x" } }, 0, NULL },
	{ "through an absolute symlink",
	  { { '2', "out", .link = "@" }, { '0', "out/pwned", .data = "x" } },
	  -1,
	  "directory" },
	{ "through a relative symlink", { { '2', "out", .link = "../" }, { '0', "out/pwned", .data = "x" } }, 0, NULL },
	{ "through symlinks in a row",
	  { { '5', "d" },
	    { '2', "d/up", .link = ".." },
	    { '2', "a", .link = "d/up/../.." },
	    { '0', "a/pwned", .data = "x" } },
	  0,
	  NULL },
	{ "over a symlink to a file", { { '2', "f", .link = "../victim" }, { '0', "f", .data = "evil" } }, 0, NULL },
	{ "over an absolute symlink to a file",
	  { { '2', "f", .link = "@/victim" }, { '0', "f", .data = "evil" } },
	  0,
	  NULL },
	{ "a directory over a symlink",
	  { { '2', "d", .link = "../victimdir" },
	    { '5', "d", .mode = 0777, .uid = 99 },
	    { '0', "d/pwned", .data = "x" } },
	  0,
	  NULL },
	{ "hard link outside", { { '1', "l", .link = "../victim" } }, -1, "leads out of the layer" },
	{ "hard link to an absolute name", { { '1', "l", .link = "@/victim" } }, -1, NULL },
	{ "hard link through a symlink",
	  { { '2', "out", .link = "@" }, { '1', "l", .link = "out/victim" } },
	  -1,
	  NULL },
	{ "hard link to a symlink, then written",
	  { { '2', "s", .link = "@/victim" }, { '1', "l", .link = "s" }, { '0', "l", .data = "evil" } },
	  0,
	  NULL },
	{ "hard link to the root", { { '1', "l", .link = "/" } }, -1, "hard link to the root" },
	{ "whiteout of dot-dot", { { '0', ".wh..." }, { '0', "a/.wh..." } }, -1, "names nothing" },
	{ "whiteout of dot", { { '0', ".wh.." } }, -1, "names nothing" },
	{ "whiteout of nothing", { { '0', ".wh." } }, -1, "names nothing" },
	{ "whiteout through a symlink", { { '2', "out", .link = ".." }, { '0', "out/.wh.victim" } }, 0, NULL },
	{ "opaque through a symlink",
	  { { '2', "out", .link = "../victimdir" }, { '0', "out/.wh..wh..opq" } },
	  -1,
	  NULL },
	{ "symlink loop", { { '2', "a", .link = "b" }, { '2', "b", .link = "a" }, { '0', "a/x" } }, -1, NULL },
	{ "the root as a symlink", { { '2', "./", .link = "@" } }, -1, "root of the layer" },
	{ "the root as a file", { { '0', "/", .data = "x" } }, -1, NULL },
	{ "file as a directory", { { '0', "f", .data = "x" }, { '0', "f/g", .data = "x" } }, -1, NULL },
	{ "file over a full directory", { { '0', "d/f", .data = "x" }, { '0', "d", .data = "x" } }, -1, "replace" },
	{ "file over an empty directory", { { '5', "d" }, { '0', "d", .data = "x" } }, 0, NULL },
	{ "block device", { { '4', "disk", .major = 8 } }, 0, NULL },
	{ "overlayfs' own xattr",
	  { { '5', "d", .mode = 0755, .xattr = "trusted.overlay.redirect", .value = "/" } },
	  0,
	  NULL },
	{ "/dev as a symlink", { { '2', "dev", .link = "/proc" } }, -1, "/dev is not an empty directory" },
	{ "/proc as a file", { { '0', "proc", .data = "x" } }, -1, "/proc is not an empty directory" },
	{ "/sys as a symlink", { { '2', "./sys", .link = "tmp" } }, -1, "/sys is not an empty directory" },
	{ "a file in /dev", { { '0', "dev/console", .data = "x" } }, -1, "\"/dev/console\"" },
	{ "a symlink in /proc", { { '2', "/proc/self", .link = "x" } }, -1, "\"/proc/self\"" },
	{ "a hard link in /sys", { { '0', "x" }, { '1', "sys/x", .link = "x" } }, -1, "\"/sys/x\"" },
	{ "a file in /dev by a symlink",
	  { { '5', "dev" }, { '2', "d", .link = "dev" }, { '0', "d/x", .data = "x" } },
	  -1,
	  "/dev is not an empty directory" },
	{ "devices and directories in /dev",
	  { { '5', "dev", .mode = 0755 }, { '3', "dev/null", .major = 1, .minor = 3 }, { '5', "dev/pts" } },
	  0,
	  NULL },
};

static char *fill_in(const char *text, const char *world)
{
	auto_sbuf struct sbuf out = SBUF(8192);

	if (!text)
		return NULL;
	for (; *text; text++)
		if (*text == '@')
			sbuf_adds(&out, world);
		else
			sbuf_addc(&out, *text);
	return sbuf_steal(&out);
}

TEST("no hostile layer reaches outside its directory")
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		const struct hostile *h = &hostile[i];
		struct place p = place_new();
		struct tar_entry entries[ENTRIES] = { 0 };
		char *owned[2 * ENTRIES] = { NULL };
		struct layer_sum sum;
		struct err e = ERR_INIT;
		int r;

		set_trap(&p);
		for (size_t k = 0; k < ENTRIES && h->entries[k].name; k++) {
			entries[k] = h->entries[k];
			entries[k].name = owned[2 * k] = fill_in(h->entries[k].name, p.world);
			entries[k].link = owned[2 * k + 1] = fill_in(h->entries[k].link, p.world);
		}
		/* Unconfined: the walk must do without Landlock's help. */
		r = unpack_entries(&p, entries, ENTRIES, false, &sum, &e);
		if (r != h->result)
			test_fail(__FILE__, __LINE__, "%s: result %d, \"%s\"", h->what, r, e.text);
		if (r < 0 && e.kind != ERR_INVALID)
			test_fail(__FILE__, __LINE__, "%s: kind %d, \"%s\"", h->what, (int)e.kind, e.text);
		if (h->text && !strstr(e.text, h->text))
			test_fail(__FILE__, __LINE__, "%s: \"%s\"", h->what, e.text);
		check_trap(&p, h->what);
		for (size_t k = 0; k < 2 * ENTRIES; k++)
			free(owned[k]);
		place_done(&p);
	}
}

TEST("devices and overlayfs' own xattrs of a layer are left out")
{
	static const struct tar_entry entries[] = {
		{ '4', "disk", .major = 8 },
		{ '5', "d", .mode = 0755, .xattr = "trusted.overlay.redirect", .value = "/" },
		{ '5', "d2", .mode = 0755, .xattr = "user.overlay.opaque", .value = "y" },
		{ '5', "dev", .mode = 0755 },
		{ '3', "dev/null", .major = 1, .minor = 3 },
	};
	struct place p = place_new();
	auto_free char *d = xasprintf("%s/d", p.layer);
	auto_free char *d2 = xasprintf("%s/d2", p.layer);
	struct layer_sum sum;
	struct err e = ERR_INIT;
	struct stat st;

	CHECK_INT(unpack_entries(&p, entries, ARRAY_SIZE(entries), false, &sum, &e), 0);
	CHECK(fstatat(p.dir, "disk", &st, AT_SYMLINK_NOFOLLOW) < 0);
	CHECK(fstatat(p.dir, "dev/null", &st, AT_SYMLINK_NOFOLLOW) < 0);
	CHECK_INT(listxattr(d, NULL, 0), 0);
	CHECK_INT(listxattr(d2, NULL, 0), 0);
	place_done(&p);
}

TEST("a confined process reports errors as they are")
{
	static const struct tar_entry entries[] = { { '0', "../pwned", .data = "x" } };
	struct place p = place_new();
	struct layer_sum sum;
	struct err e = ERR_INIT;

	set_trap(&p);
	CHECK_INT(unpack_entries(&p, entries, 1, true, &sum, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK(strstr(e.text, "leads out of the layer") != NULL);
	check_trap(&p, "confined");
	place_done(&p);
}

/* ---- limits and hashes ---- */

TEST("a layer with too many or too large files is refused")
{
	const struct layer_limits few = { .entries = 2, .bytes = 1 << 20 };
	const struct layer_limits small = { .entries = 10, .bytes = 2048 };
	struct place p = place_new();
	auto_sbuf struct sbuf tar = SBUF(1u << 20);
	struct layer_sum sum;
	struct err e = ERR_INIT;
	int blob;

	for (int i = 0; i < 3; i++)
		tar_add(&tar, &(struct tar_entry){ '5', "d", .mode = 0755 });
	tar_end(&tar);
	blob = blob_of(tar.p, tar.n);
	CHECK_INT(layer_unpack(blob, p.dir, NULL, &few, &sum, &e), -1);
	CHECK_INT(e.kind, ERR_TOO_LARGE);
	lseek(blob, 0, SEEK_SET);
	CHECK_INT(layer_unpack(blob, p.dir, NULL, &small, &sum, &e), -1);
	CHECK_INT(e.kind, ERR_TOO_LARGE);
	close(blob);
	place_done(&p);
}

TEST("a file that claims to be enormous is refused before it is made")
{
	struct place p = place_new();
	auto_sbuf struct sbuf tar = SBUF(1u << 20);
	struct layer_sum sum;
	struct err e = ERR_INIT;
	struct stat st;
	int blob;

	tar_header(&tar, &(struct tar_entry){ 0 }, "huge", '0', (size_t)1 << 32);
	blob = blob_of(tar.p, tar.n);
	CHECK_INT(layer_unpack(blob, p.dir, NULL, &limits, &sum, &e), -1);
	CHECK_INT(e.kind, ERR_TOO_LARGE);
	CHECK(fstatat(p.dir, "huge", &st, 0) < 0);
	close(blob);
	place_done(&p);
}

TEST("the uncompressed bytes must have the layer's diff ID")
{
	auto_sbuf struct sbuf tar = SBUF(1u << 20);
	auto_sbuf struct sbuf id = SBUF(128);
	unsigned char hash[SHA256_LEN];
	struct place p = place_new();
	struct layer_sum sum;
	struct err e = ERR_INIT;
	int blob;

	tar_add(&tar, &(struct tar_entry){ '0', "f", .data = "x" });
	tar_end(&tar);
	tar_end(&tar); /* padding counts */
	crypto_sha256(tar.p, tar.n, hash);
	sbuf_adds(&id, "sha256:");
	hex_encode(hash, sizeof(hash), &id);
	blob = blob_of(tar.p, tar.n);
	CHECK_INT(layer_unpack(blob, p.dir, id.p, &limits, &sum, &e), 0);
	id.p[10] = id.p[10] == '0' ? '1' : '0';
	lseek(blob, 0, SEEK_SET);
	CHECK_INT(layer_unpack(blob, p.dir, id.p, &limits, &sum, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	close(blob);
	place_done(&p);
}

TEST("an empty layer is a layer, and text is none")
{
	static const char text[] = "this is not a tar archive, however one looks at it";
	struct place p = place_new();
	struct layer_sum sum = { .entries = 1 };
	struct err e = ERR_INIT;
	int blob = blob_of("", 0);

	CHECK_INT(layer_unpack(blob, p.dir, NULL, &limits, &sum, &e), 0);
	CHECK_INT(sum.entries, 0);
	close(blob);
	blob = blob_of(text, sizeof(text));
	CHECK_INT(layer_unpack(blob, p.dir, NULL, &limits, &sum, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	close(blob);
	place_done(&p);
}

/* ---- removing ---- */

TEST("a tree deeper than any path is removed")
{
	auto_free char *top = xasprintf("%s/deep", test_dir());
	int fd, next;

	mkdir(top, 0755);
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 3000; i++) {
		mkdirat(fd, "a-directory", 0755);
		next = openat(fd, "a-directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(next >= 0);
		close(fd);
		fd = next;
	}
	close(fd);
	CHECK(tree_remove(top, NULL));
	CHECK(access(top, F_OK) < 0);
}

TEST("removing stops when its budget is spent and goes on later")
{
	auto_free char *top = xasprintf("%s/budget", test_dir());
	size_t budget = 10;

	mkdir(top, 0755);
	for (int i = 0; i < 50; i++) {
		auto_free char *path = xasprintf("%s/%d", top, i);

		mkdir(path, 0755);
	}
	CHECK(!tree_remove(top, &budget));
	CHECK_INT(budget, 0);
	CHECK(access(top, F_OK) == 0);
	CHECK(tree_remove(top, NULL));
}
