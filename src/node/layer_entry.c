// SPDX-License-Identifier: Apache-2.0
/* layer_entry.c - one entry of a layer's tar becomes a file, directory, link or whiteout
 *
 *	.wh.NAME        a character device 0/0: overlayfs' sign that NAME of the layers below is gone
 *	.wh..wh..opq    the xattr trusted.overlay.opaque: nothing of the directory below shines through
 *	devices         left out: a container's /dev is made by the runtime, and nodes elsewhere serve only attacks
 *	xattrs          user.* and file capabilities; never overlayfs' own, which could reach into other layers
 *
 * /dev, /proc and /sys must be absent or empty directories, because runtimes have been led astray by what images put
 * there.  Empty directories and device nodes below them, which honest images carry, are left out silently.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/mem.h"
#include "node/archive_lib.h"
#include "node/idmap.h"
#include "node/layer_parts.h"

#define WHITEOUT   ".wh."
#define OPAQUE     ".wh..wh..opq"
#define AUFS       ".wh..wh."
#define WRITE_BACK (1 << 20)

static const char *const special_dirs[] = { "dev", "proc", "sys" };

/* An entry on its way: its path, the directory it goes into, and its name there. */
struct place {
	const char *path;
	const char *base;
	int parent;
	const struct archive_lib *lib;
	struct archive *archive;
	struct archive_entry *entry;
};

static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}

static int set_opaque(int fd, const char *path, struct err *e)
{
	/* Only the machine's root has the first; overlayfs reads the second when mounted with userxattr. */
	const char *name = geteuid() == 0 && idmap_is_whole() ? "trusted.overlay.opaque" : "user.overlay.opaque";

	if (fsetxattr(fd, name, "y", 1, 0) < 0)
		return layer_path_errno(e, path, "mark as opaque");
	return 0;
}

static int set_opaque_at(int parent, const char *base, const char *path, struct err *e)
{
	auto_close int fd = openat(parent, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return layer_path_errno(e, path, "open the directory");
	return set_opaque(fd, path, e);
}

/* ---- owner, mode, xattrs, times ---- */

static bool xattr_wanted(const char *name)
{
	if (str_starts(name, "user."))
		return !str_starts(name, "user.overlay.");
	return streq(name, "security.capability");
}

static int set_xattrs(int fd, const struct place *p, struct err *e)
{
	const char *name;
	const void *value;
	size_t n;

	p->lib->entry_xattr_reset(p->entry);
	while (p->lib->entry_xattr_next(p->entry, &name, &value, &n) == ARCHIVE_OK) {
		if (!name || !xattr_wanted(name) || fsetxattr(fd, name, value, n, 0) == 0)
			continue;
		if (errno != EOPNOTSUPP && errno != EPERM)
			return layer_path_errno(e, p->path, "set an extended attribute of");
	}
	return 0;
}

static struct timespec mtime_of(const struct place *p)
{
	struct timespec t = { .tv_sec = p->lib->entry_mtime(p->entry), .tv_nsec = p->lib->entry_mtime_nsec(p->entry) };

	if (t.tv_nsec < 0 || t.tv_nsec > 999999999)
		t.tv_nsec = 0;
	return t;
}

static int owner_of(const struct place *p, uid_t *ret_uid, gid_t *ret_gid, struct err *e)
{
	int64_t uid = p->lib->entry_uid(p->entry);
	int64_t gid = p->lib->entry_gid(p->entry);

	/* The largest number means "leave as it is" to chown. */
	if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX)
		return err_set(e, ERR_INVALID, "\"%.*s\" has an impossible owner", 200, p->path);
	*ret_uid = (uid_t)uid;
	*ret_gid = (gid_t)gid;
	return 0;
}

/* Who is not root, or root of a user namespace without that owner, keeps the file for itself. */
static bool owner_matters(void)
{
	return geteuid() == 0 && (errno != EINVAL || idmap_is_whole());
}

/* In this order: chown takes set-id bits and capabilities away. */
static int set_attributes(int fd, const struct place *p, struct err *e)
{
	uid_t uid;
	gid_t gid;

	if (owner_of(p, &uid, &gid, e) < 0)
		return -1;
	if (fchown(fd, uid, gid) < 0 && owner_matters())
		return layer_path_errno(e, p->path, "set the owner of");
	if (fchmod(fd, p->lib->entry_perm(p->entry) & 07777) < 0)
		return layer_path_errno(e, p->path, "set the mode of");
	return set_xattrs(fd, p, e);
}

static void set_times_at(const struct place *p)
{
	const struct timespec times[2] = { mtime_of(p), mtime_of(p) };

	/* A date that the file system cannot hold is no reason to refuse an image. */
	(void)!utimensat(p->parent, p->base, times, AT_SYMLINK_NOFOLLOW);
}

static void remember_dir(struct layer_tree *t, const struct place *p)
{
	struct layer_dir_time d = { .path = xstrdup(p->path), .mtime = mtime_of(p) };

	ARRAY_PUSH(t->dirs, t->ndirs, t->cap, d);
}

/* ---- kinds of entries ---- */

/* Removes what an earlier entry made under this name.  *ret_whiteout: that was a whiteout. */
static int clear_way(const struct place *p, bool *ret_whiteout, struct err *e)
{
	struct stat st;

	*ret_whiteout = false;
	if (fstatat(p->parent, p->base, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : layer_path_errno(e, p->path, "look at");
	*ret_whiteout = is_whiteout(&st);
	if (unlinkat(p->parent, p->base, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0)
		return layer_path_errno(e, p->path, "replace");
	return 0;
}

static bool is_dir_at(const struct place *p)
{
	struct stat st;

	return fstatat(p->parent, p->base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int make_directory(struct layer_tree *t, const struct place *p, struct err *e)
{
	auto_close int fd = -1;
	bool hides = false;

	if (!is_dir_at(p)) {
		if (clear_way(p, &hides, e) < 0)
			return -1;
		if (mkdirat(p->parent, p->base, 0700) < 0)
			return layer_path_errno(e, p->path, "make the directory");
	}
	fd = openat(p->parent, p->base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return layer_path_errno(e, p->path, "open the directory");
	if (hides && set_opaque(fd, p->path, e) < 0)
		return -1;
	remember_dir(t, p);
	return set_attributes(fd, p, e);
}

static int write_at(int fd, const char *buf, size_t n, int64_t offset)
{
	while (n) {
		ssize_t put = pwrite(fd, buf, n, offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		buf += put;
		n -= (size_t)put;
		offset += put;
	}
	return 0;
}

/* Holes of sparse files are what lies between the blocks. */
static int copy_data(const struct place *p, int fd, int64_t size, struct err *e)
{
	const void *buf;
	size_t n;
	int64_t offset;

	for (;;) {
		int r = p->lib->read_data_block(p->archive, &buf, &n, &offset);

		if (r == ARCHIVE_EOF)
			break;
		if (r < ARCHIVE_WARN)
			return err_set(e, ERR_INVALID, "\"%.*s\": %s", 200, p->path, p->lib->error_string(p->archive));
		if (!n)
			continue;
		if (offset < 0 || offset > size || (int64_t)n > size - offset)
			return err_set(e, ERR_INVALID, "\"%.*s\" is longer than it says", 200, p->path);
		if (write_at(fd, buf, n, offset) < 0)
			return layer_path_errno(e, p->path, "write");
	}
	if (ftruncate(fd, size) < 0)
		return layer_path_errno(e, p->path, "set the size of");
	/* Large files start on their way to the disk at once, so that the sync at the end does not hold up everybody
	 * else's. */
	if (size >= WRITE_BACK)
		(void)!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return 0;
}

static int make_file(struct layer_tree *t, const struct place *p, struct err *e)
{
	int64_t size = p->lib->entry_size_is_set(p->entry) ? p->lib->entry_size(p->entry) : 0;
	auto_close int fd = -1;
	bool hides;

	if (size < 0)
		return err_set(e, ERR_INVALID, "\"%.*s\" has a negative size", 200, p->path);
	if (size > t->limits->bytes - t->sum.bytes)
		return err_set(e, ERR_TOO_LARGE, "the layer is larger than %lld bytes", (long long)t->limits->bytes);
	t->sum.bytes += size;
	if (clear_way(p, &hides, e) < 0)
		return -1;
	fd = openat(p->parent, p->base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return layer_path_errno(e, p->path, "make");
	if (copy_data(p, fd, size, e) < 0 || set_attributes(fd, p, e) < 0)
		return -1;
	set_times_at(p);
	return 0;
}

static int make_symlink(struct layer_tree *t, const struct place *p, struct err *e)
{
	const char *to = p->lib->entry_symlink(p->entry);
	bool hides;
	uid_t uid;
	gid_t gid;

	(void)t;
	if (!to || !*to)
		return err_set(e, ERR_INVALID, "the symlink \"%.*s\" leads nowhere", 200, p->path);
	if (owner_of(p, &uid, &gid, e) < 0 || clear_way(p, &hides, e) < 0)
		return -1;
	if (symlinkat(to, p->parent, p->base) < 0)
		return layer_path_errno(e, p->path, "make the symlink");
	if (fchownat(p->parent, p->base, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 && owner_matters())
		return layer_path_errno(e, p->path, "set the owner of");
	set_times_at(p);
	return 0;
}

static int make_fifo(struct layer_tree *t, const struct place *p, struct err *e)
{
	bool hides;
	uid_t uid;
	gid_t gid;

	(void)t;
	if (owner_of(p, &uid, &gid, e) < 0 || clear_way(p, &hides, e) < 0)
		return -1;
	if (mknodat(p->parent, p->base, S_IFIFO | 0600, 0) < 0)
		return layer_path_errno(e, p->path, "make the pipe");
	if ((fchownat(p->parent, p->base, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 && owner_matters()) ||
	    fchmodat(p->parent, p->base, p->lib->entry_perm(p->entry) & 0777, 0) < 0)
		return layer_path_errno(e, p->path, "set the owner of");
	set_times_at(p);
	return 0;
}

static int make_whiteout(const struct place *p, const char *name, struct err *e)
{
	struct stat st;

	if (fstatat(p->parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		/* This layer has the name itself: only what is below goes. */
		return S_ISDIR(st.st_mode) ? set_opaque_at(p->parent, name, p->path, e) : 0;
	if (mknodat(p->parent, name, S_IFCHR, makedev(0, 0)) < 0)
		return layer_path_errno(e, p->path, "make the whiteout");
	return 0;
}

static int make_device(struct layer_tree *t, const struct place *p, struct err *e)
{
	(void)t;
	if (p->lib->entry_filetype(p->entry) == AE_IFCHR && p->lib->entry_rdev(p->entry) == 0)
		return make_whiteout(p, p->base, e);
	return 0;
}

static const struct {
	mode_t type;
	int (*make)(struct layer_tree *t, const struct place *p, struct err *e);
} makers[] = {
	{ AE_IFDIR, make_directory }, { AE_IFREG, make_file },   { AE_IFLNK, make_symlink },
	{ AE_IFIFO, make_fifo },      { AE_IFCHR, make_device }, { AE_IFBLK, make_device },
};

/* The other name must stand in the same layer, already made. */
static int make_hard_link(struct layer_tree *t, const struct place *p, const char *target, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(65536);
	auto_close int dir = -1;
	const char *base;
	char *slash;
	bool hides;

	if (layer_path_clean(target, &path, e) < 0)
		return -1;
	if (!path.n)
		return err_set(e, ERR_INVALID, "\"%.*s\" is a hard link to the root", 200, p->path);
	if (streq(path.p, p->path))
		return 0;
	slash = strrchr(path.p, '/');
	base = slash ? slash + 1 : path.p;
	if (slash)
		*slash = '\0';
	dir = layer_path_open(t->root, slash ? path.p : "", false, e);
	if (dir < 0 || clear_way(p, &hides, e) < 0)
		return -1;
	if (linkat(dir, base, p->parent, p->base, 0) < 0)
		return layer_path_errno(e, p->path, "make the hard link");
	return 0;
}

/* ---- an entry as a whole ---- */

static bool below_special(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(special_dirs); i++) {
		size_t n = strlen(special_dirs[i]);

		if (strncmp(path, special_dirs[i], n) == 0 && path[n] == '/')
			return true;
	}
	return false;
}

static int enter_special(const struct layer_tree *t, const char *path, struct archive_entry *entry, struct err *e)
{
	mode_t type = t->lib->entry_filetype(entry);
	const char *base = strrchr(path, '/') + 1;

	if (!t->lib->entry_hardlink(entry) &&
	    (type == AE_IFDIR || type == AE_IFCHR || type == AE_IFBLK || str_starts(base, WHITEOUT)))
		return 0;
	return err_set(e, ERR_INVALID,
		       "the image has \"/%.*s\"; its /dev, /proc and /sys must be empty directories or absent", 200,
		       path);
}

static int enter_root(struct layer_tree *t, struct archive_entry *entry, struct err *e)
{
	struct place p = { .path = "", .base = ".", .parent = t->root, .lib = t->lib, .entry = entry };

	if (t->lib->entry_filetype(entry) != AE_IFDIR || t->lib->entry_hardlink(entry))
		return err_set(e, ERR_INVALID, "the root of the layer is not a directory");
	remember_dir(t, &p);
	return set_attributes(t->root, &p, e);
}

static int enter(struct layer_tree *t, const struct place *p, struct err *e)
{
	const char *link = p->lib->entry_hardlink(p->entry);
	const char *hidden = p->base + strlen(WHITEOUT);
	mode_t type = p->lib->entry_filetype(p->entry);

	if (streq(p->base, OPAQUE))
		return set_opaque(p->parent, p->path, e);
	if (str_starts(p->base, AUFS))
		return 0;
	if (str_starts(p->base, WHITEOUT)) {
		if (!*hidden || streq(hidden, ".") || streq(hidden, ".."))
			return err_set(e, ERR_INVALID, "the whiteout \"%.*s\" names nothing", 200, p->path);
		return make_whiteout(p, hidden, e);
	}
	if (link)
		return make_hard_link(t, p, link, e);
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
		if (makers[i].type == type)
			return makers[i].make(t, p, e);
	return err_set(e, ERR_INVALID, "\"%.*s\" is of an unknown type", 200, p->path);
}

int layer_entry_make(struct layer_tree *t, struct archive *a, struct archive_entry *entry, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(65536);
	auto_sbuf struct sbuf dir = SBUF(65536);
	auto_close int parent = -1;
	const char *name = t->lib->entry_pathname(entry);
	const char *slash;
	struct place p;

	if (!name)
		return err_set(e, ERR_INVALID, "an entry has no name");
	if (++t->sum.entries > t->limits->entries)
		return err_set(e, ERR_TOO_LARGE, "the layer has more than %lld entries", (long long)t->limits->entries);
	if (layer_path_clean(name, &path, e) < 0)
		return -1;
	if (!path.n)
		return enter_root(t, entry, e);
	if (below_special(path.p))
		return enter_special(t, path.p, entry, e);
	slash = strrchr(path.p, '/');
	if (slash)
		sbuf_add(&dir, path.p, (size_t)(slash - path.p));
	parent = layer_path_open(t->root, slash ? dir.p : "", true, e);
	if (parent < 0)
		return -1;
	p = (struct place){
		.path = path.p,
		.base = slash ? slash + 1 : path.p,
		.parent = parent,
		.lib = t->lib,
		.archive = a,
		.entry = entry,
	};
	return enter(t, &p, e);
}

/* ---- the end ---- */

static bool is_empty_dir(int root, const char *name)
{
	int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool empty = d;

	if (fd >= 0 && !d)
		close(fd);
	for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d))
		if (!streq(de->d_name, ".") && !streq(de->d_name, ".."))
			empty = false;
	if (d)
		closedir(d);
	return empty;
}

/* Looks at the result, not at names: symlinks may have led an entry here under another one. */
static int check_special(int root, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(special_dirs); i++) {
		struct stat st;

		if (fstatat(root, special_dirs[i], &st, AT_SYMLINK_NOFOLLOW) < 0 || is_whiteout(&st))
			continue;
		if (!is_empty_dir(root, special_dirs[i]))
			return err_set(e, ERR_INVALID, "the image's /%s is not an empty directory", special_dirs[i]);
	}
	return 0;
}

int layer_tree_finish(struct layer_tree *t, struct err *e)
{
	for (size_t i = t->ndirs; i > 0; i--) {
		const struct layer_dir_time *d = &t->dirs[i - 1];
		const struct timespec times[2] = { d->mtime, d->mtime };
		struct err ignored = ERR_INIT;
		auto_close int fd = layer_path_open(t->root, d->path, false, &ignored);

		if (fd >= 0)
			(void)!futimens(fd, times);
	}
	return check_special(t->root, e);
}

void layer_tree_done(struct layer_tree *t)
{
	for (size_t i = 0; i < t->ndirs; i++)
		free(t->dirs[i].path);
	free(t->dirs);
}
