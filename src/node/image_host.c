// SPDX-License-Identifier: Apache-2.0
/* image_host.c - this machine's root file system as an image
 *
 * overlayfs takes one file system and not what is mounted on it, so /proc, /sys, /dev and whatever else is a mount of
 * its own does not come along.  What lies on the root file system itself must be hidden: a small tmpfs on top holds
 * empty, opaque directories for /proc, /sys, /dev, /run, /tmp and the data directory.  In /run there is only the place
 * where a pod's token is mounted.
 *
 * This makes a read-only overlay of its own, and the container's overlay stacks upon it.  One would not do: an upper
 * directory that lies below its own lower one ("/") is refused by the kernel.  The first one stays mounted at
 * DIR/images/host as long as the server runs; a server that was killed leaves it to the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/image_parts.h"
#include "node/rootfs.h"

#define OPAQUE_XATTR "trusted.overlay.opaque"

static const struct {
	const char *path;
	mode_t mode;
} hidden[] = {
	{ "/proc", 0555 }, { "/sys", 0555 }, { "/dev", 0755 }, { "/run", 0755 }, { "/tmp", 01777 },
};

/* A directory of the mask has the looks of the real one. */
static int copy_looks(const char *real, const char *path, struct err *e)
{
	struct stat st;

	if (stat(real, &st) < 0)
		return 0;
	if (chown(path, st.st_uid, st.st_gid) < 0 || chmod(path, st.st_mode & 07777) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", path);
	return 0;
}

static int hide(const char *mask, const char *path, mode_t mode, struct err *e)
{
	auto_free char *at = xasprintf("%s%s", mask, path);
	size_t n = strlen(mask);

	for (char *p = at + n + 1;; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = '\0';
		if (mkdir(at, 0755) == 0) {
			if (copy_looks(at + n, at, e) < 0)
				return -1;
		} else if (errno != EEXIST) {
			return err_errno(e, ERR_INTERNAL, "%s", at);
		}
		*p = was;
		if (!was)
			break;
	}
	if (chmod(at, mode) < 0 || setxattr(at, OPAQUE_XATTR, "y", 1, 0) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot hide %s", path);
	return 0;
}

static int fill_mask(const char *data, const char *mask, struct err *e)
{
	struct stat st;

	if (copy_looks("/", mask, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		/* /run may be a symlink, as /var/run is: then it leads to what is hidden already, or nowhere. */
		if (lstat(hidden[i].path, &st) < 0 || S_ISDIR(st.st_mode))
			if (hide(mask, hidden[i].path, hidden[i].mode, e) < 0)
				return -1;
	rootfs_make_dir(mask, IMAGE_TOKEN_DIR);
	return hide(mask, data, 0700, e);
}

static int mount_base(const char *mask, const char *base, struct err *e)
{
	auto_close int fd = open(mask, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char options[128];

	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "%s", mask);
	snprintf(options, sizeof(options), "lowerdir=/proc/self/fd/%d:/,metacopy=off,redirect_dir=nofollow", fd);
	if (mount("overlay", base, "overlay", MS_RDONLY | MS_NODEV, options) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot mount an overlay of this machine's root file system");
	return 0;
}

static int mount_both(const char *data, const char *mask, const char *base, struct err *e)
{
	int r;

	if (mount("tmpfs", mask, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot mount a tmpfs");
	r = fill_mask(data, mask, e);
	if (r == 0)
		r = mount_base(mask, base, e);
	/* The overlay keeps it alive. */
	umount2(mask, MNT_DETACH);
	return r;
}

int image_host_base(struct images *i, char **ret, struct err *e)
{
	auto_free char *base = image_store_path(i->store, "host");
	auto_free char *mask = image_store_path(i->store, "host-mask");

	if (!image_is_mount(base)) {
		if (file_make_dirs(base, 0700, e) < 0 || file_make_dirs(mask, 0700, e) < 0 ||
		    mount_both(i->store->data, mask, base, e) < 0)
			return -1;
		rmdir(mask);
	}
	i->host_mounted = true;
	*ret = TAKE(base);
	return 0;
}

void image_host_adopt(struct images *i)
{
	auto_free char *base = image_store_path(i->store, "host");

	i->host_mounted = image_is_mount(base);
}

void image_host_done(struct images *i)
{
	auto_free char *base = NULL;

	if (!i->host_mounted)
		return;
	base = image_store_path(i->store, "host");
	if (umount2(base, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		rmdir(base);
	i->host_mounted = false;
}

/* ---- parts of the system on disks of their own ---- */

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/');
}

static void bind_read_only(const char *source, const char *target)
{
	if (mount(source, target, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, target, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NODEV, NULL) < 0)
		log_warn("add %s to the host image error=%s, ignoring", source, strerror(errno));
}

/* Mount points in /proc/self/mountinfo have \ooo for spaces and the like. */
static char *unescape(struct str s)
{
	auto_sbuf struct sbuf out = SBUF(8192);

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 3 < s.n) {
			sbuf_addc(&out, (char)((s.p[i + 1] - '0') * 64 + (s.p[i + 2] - '0') * 8 + (s.p[i + 3] - '0')));
			i += 3;
		} else {
			sbuf_addc(&out, s.p[i]);
		}
	}
	return sbuf_steal(&out);
}

static void add_extra(const char *data, const char *target, struct str line)
{
	auto_free char *at = NULL;
	auto_free char *to = NULL;
	struct str field = { 0 };

	for (int i = 0; i < 5; i++)
		if (!str_split(&line, ' ', &field))
			return;
	at = unescape(field);
	if ((!is_below(at, "/usr") && !is_below(at, "/opt")) || is_below(data, at) || is_below(at, data) ||
	    is_below(at, target))
		return;
	to = xasprintf("%s%s", target, at);
	bind_read_only(at, to);
}

void image_host_extras(const char *data, const char *target)
{
	auto_sbuf struct sbuf text = SBUF(16u << 20);
	struct err e = ERR_INIT;
	struct str rest, line;

	if (file_read("/proc/self/mountinfo", 16u << 20, &text, &e) < 0)
		return;
	rest = sbuf_str(&text);
	while (str_split(&rest, '\n', &line))
		add_extra(data, target, line);
}
