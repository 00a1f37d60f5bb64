// SPDX-License-Identifier: Apache-2.0
/* image_host_parts.c - this machine as an image, for a server without root
 *
 * In a user namespace "/" cannot be a layer: the kernel does not let anybody there look below the mounts of the
 * machine, and a layer is a file system without what is mounted on it.  So each directory of "/" is laid over by
 * itself, which works for those with no mount below; the others, and the one with the data directory in it, are bound
 * read-only.
 *
 *	/proc /sys /dev /run /tmp /root    new and empty: root inside is not the root whose /root that is
 *	the data directory                 covered
 *
 * Either way files of other users stay theirs: they can be read if everybody may, not changed.  But new files and mount
 * points can be made in /etc, /opt and their like, since the topmost directory of an overlay is its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/image_parts.h"

/* linux/mount.h, which cannot be included beside sys/mount.h. */
struct attributes {
	uint64_t set, clear, propagation, userns_fd;
};
#define ATTR_RDONLY 0x1
#define ATTR_NOSUID 0x2
#define ATTR_NODEV  0x4

static const struct {
	const char *name;
	mode_t mode;
} fresh[] = {
	{ "proc", 0555 }, { "sys", 0555 }, { "dev", 0755 }, { "run", 0755 }, { "tmp", 01777 }, { "root", 0700 },
};

struct host {
	const char *data, *scratch, *target;
};

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/');
}

static int make_dir(const char *path, mode_t mode, struct err *e)
{
	/* Not by mkdir alone: the umask is a server's. */
	if ((mkdir(path, 0700) < 0 && errno != EEXIST) || chmod(path, mode) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", path);
	return 0;
}

/* Adds to what is forbidden already, so it works for mounts whose flags are not ours to lift. */
static int forbid(const char *path, uint64_t what)
{
	struct attributes a = { .set = what };

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &a, sizeof(a));
}

static int cover(const char *path)
{
	return mount("tmpfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=0700");
}

/* Binds a directory of the machine; of one with mounts below that must not come along (the pods' own are among them),
 * only the way to the data directory. */
static int bind_dir(const struct host *h, const char *path, struct err *e)
{
	auto_free char *to = xasprintf("%s%s", h->target, path);
	auto_free char *data = xasprintf("%s%s", h->target, h->data);
	auto_free char *next = NULL;
	bool has_data = is_below(h->data, path);
	const char *slash;
	int r;

	if (mkdir(to, 0755) < 0 && errno != EEXIST)
		return err_errno(e, ERR_INTERNAL, "%s", to);
	r = mount(path, to, NULL, MS_BIND, NULL);
	if (r < 0 && errno == EINVAL && !has_data)
		r = mount(path, to, NULL, MS_BIND | MS_REC, NULL);
	if (r < 0 && errno == EINVAL && has_data && !streq(path, h->data)) {
		slash = strchr(h->data + strlen(path) + 1, '/');
		next = xstrndup(h->data, slash ? (size_t)(slash - h->data) : strlen(h->data));
		return bind_dir(h, next, e);
	}
	if (r < 0 || forbid(to, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV) < 0 || (has_data && cover(data) < 0))
		return err_errno(e, ERR_UNAVAILABLE, "cannot bind %s", path);
	return 0;
}

static int lay_over(const struct host *h, const char *name, mode_t mode, struct err *e)
{
	auto_free char *path = xasprintf("/%s", name);
	auto_free char *to = xasprintf("%s/%s", h->target, name);
	auto_free char *upper = xasprintf("%s/upper/%s", h->scratch, name);
	auto_free char *work = xasprintf("%s/works/%s", h->scratch, name);
	struct err ignored = ERR_INIT;

	if (make_dir(to, mode, e) < 0)
		return -1;
	if (!is_below(h->data, path) && file_make_dirs(work, 0700, e) == 0 &&
	    image_overlay(path, upper, work, to, false, &ignored) == 0)
		return 0;
	return bind_dir(h, path, e);
}

static bool is_fresh(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fresh); i++)
		if (streq(fresh[i].name, name))
			return true;
	return false;
}

static int make_fresh(const struct host *h, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(fresh); i++) {
		auto_free char *path = xasprintf("%s/%s", h->target, fresh[i].name);

		if (make_dir(path, fresh[i].mode, e) < 0)
			return -1;
	}
	return 0;
}

/* One entry of "/". */
static int add_entry(const struct host *h, const char *name, struct err *e)
{
	auto_free char *from = xasprintf("/%s", name);
	auto_free char *to = xasprintf("%s/%s", h->target, name);
	char link[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (is_fresh(name) || lstat(from, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return lay_over(h, name, st.st_mode & 07777, e);
	n = S_ISLNK(st.st_mode) ? readlink(from, link, sizeof(link) - 1) : 0;
	if (n <= 0)
		return 0;
	link[n] = '\0';
	return symlink(link, to) == 0 || errno == EEXIST ? 0 : err_errno(e, ERR_INTERNAL, "%s", to);
}

/* /var/tmp is for everyone too, and the machine's cannot be written to. */
static void share_tmp(const struct host *h)
{
	auto_free char *from = xasprintf("%s/tmp", h->target);
	auto_free char *to = xasprintf("%s/var/tmp", h->target);
	struct stat st;

	if (lstat(to, &st) == 0 && S_ISDIR(st.st_mode) && mount(from, to, NULL, MS_BIND, NULL) < 0)
		log_warn("make /var/tmp writable in the host image error=%s, ignoring", strerror(errno));
}

int image_host_parts(const char *data, const char *scratch, const char *target, bool read_only, struct err *e)
{
	struct host h = { .data = data, .scratch = scratch, .target = target };
	DIR *root = opendir("/");
	struct dirent *d;
	int r = make_dir(target, 0755, e);

	if (r == 0)
		r = make_fresh(&h, e);

	while (r == 0 && root && (d = readdir(root)))
		if (!streq(d->d_name, ".") && !streq(d->d_name, ".."))
			r = add_entry(&h, d->d_name, e);
	if (root)
		closedir(root);
	if (r == 0)
		share_tmp(&h);
	if (r == 0 && read_only && forbid(target, ATTR_RDONLY) < 0)
		r = err_errno(e, ERR_UNAVAILABLE, "cannot make %s read-only", target);
	return r;
}
