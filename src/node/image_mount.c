// SPDX-License-Identifier: Apache-2.0
/* image_mount.c - a writable root file system: the image's layers below, the container's own directory on top
 *
 *	SCRATCH/image           the mark that makes the image count as in use (image_store.c)
 *	SCRATCH/upper, work     overlayfs' own
 *
 * Options of a mount fit in one page.  Every directory is therefore opened and named as /proc/self/fd/N, which is short
 * and needs no quoting, whatever the data directory is called.  A container's files do not outlive it, so overlayfs
 * need not wait for the disk (volatile).  Nothing in upper or lower directories may redirect elsewhere.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/idmap.h"
#include "node/image_parts.h"
#include "node/rootfs.h"
#include "node/tree.h"

#define OPTIONS_MAX   4095 /* a page without its NUL */
#define INLINE_BUDGET 500  /* files that may be removed in the loop; more are left to a child */

/* Directories named in mount options, open until it is mounted. */
struct dirs {
	int *fds;
	size_t n, cap;
};

static void dirs_done(struct dirs *d)
{
	for (size_t i = 0; i < d->n; i++)
		close(d->fds[i]);
	free(d->fds);
}

static int add_dir(struct dirs *d, struct sbuf *options, const char *before, const char *path, struct err *e)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, "%s is missing; fetch the image again", path);
	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "%s", path);
	ARRAY_PUSH(d->fds, d->n, d->cap, fd);
	sbuf_addf(options, "%s/proc/self/fd/%d", before, fd);
	return 0;
}

/* The last layer of an image is the topmost, and the first in overlayfs' list. */
static int add_layers(struct image_store *s, const json_t *layers, struct dirs *d, struct sbuf *options, struct err *e)
{
	for (size_t i = json_array_size(layers); i > 0; i--) {
		const char *diff_id = json_string_value(json_array_get(layers, i - 1));
		auto_free char *path = image_store_layer(s, diff_id);

		if (add_dir(d, options, d->n ? ":" : "lowerdir=", path, e) < 0)
			return -1;
	}
	return 0;
}

static char *below(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static int make_dir(const char *dir, const char *name, struct err *e)
{
	auto_free char *path = below(dir, name);

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_errno(e, errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", path);
	return 0;
}

/* The root directory of a merged tree looks as its upper one. */
static int copy_root_looks(const char *lower, const char *scratch, struct err *e)
{
	auto_free char *upper = below(scratch, "upper");
	struct stat st;

	if (stat(lower, &st) < 0 || chown(upper, st.st_uid, st.st_gid) < 0 || chmod(upper, st.st_mode & 07777) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", upper);
	return 0;
}

static int mount_overlay(struct dirs *d, struct sbuf *options, const char *upper, const char *work, const char *target,
			 bool read_only, struct err *e)
{
	unsigned long flags = MS_NODEV | (read_only ? MS_RDONLY : 0);

	if (add_dir(d, options, ",upperdir=", upper, e) < 0 || add_dir(d, options, ",workdir=", work, e) < 0)
		return -1;
	sbuf_adds(options, ",index=off,metacopy=off,redirect_dir=nofollow,volatile");
	/* trusted.* attributes are the machine's root's alone. */
	if (!idmap_is_whole())
		sbuf_adds(options, ",userxattr");
	if (options->over)
		return err_set(e, ERR_INVALID, "the image has too many layers to be mounted");
	if (mount("overlay", target, "overlay", flags, options->p) < 0)
		return err_errno(e, errno == EPERM ? ERR_FORBIDDEN : ERR_UNAVAILABLE, "cannot mount an overlay at %s",
				 target);
	return 0;
}

/* The lowest layer of all: empty directories.  An image that has something else there hides them. */
static int add_mount_points(struct images *i, struct dirs *d, struct sbuf *options, struct err *e)
{
	auto_free char *dir = image_store_path(i->store, "mount-points");

	if (access(dir, F_OK) < 0) {
		if (file_make_dirs(dir, 0755, e) < 0)
			return -1;
		rootfs_make_dir(dir, IMAGE_TOKEN_DIR);
		rootfs_make_dir(dir, "/var" IMAGE_TOKEN_DIR);
	}
	return add_dir(d, options, ":", dir, e);
}

static int mount_layers(struct images *i, const json_t *layers, const char *scratch, const char *target, bool read_only,
			struct err *e)
{
	auto_sbuf struct sbuf options = SBUF(OPTIONS_MAX);
	auto_free char *empty = below(scratch, "empty");
	auto_free char *upper = below(scratch, "upper");
	auto_free char *work = below(scratch, "work");
	auto_free char *top = NULL;
	struct dirs d = { 0 };
	size_t n = json_array_size(layers);
	int r = 0;

	if (n)
		r = add_layers(i->store, layers, &d, &options, e);
	else if ((r = make_dir(scratch, "empty", e)) == 0)
		r = add_dir(&d, &options, "lowerdir=", empty, e);
	if (r == 0)
		r = add_mount_points(i, &d, &options, e);
	if (r == 0) {
		top = n ? image_store_layer(i->store, json_string_value(json_array_get(layers, n - 1)))
			: xstrdup(empty);
		r = copy_root_looks(top, scratch, e);
	}
	if (r == 0)
		r = mount_overlay(&d, &options, upper, work, target, read_only, e);
	dirs_done(&d);
	return r;
}

int image_overlay(const char *lower, const char *upper, const char *work, const char *target, bool read_only,
		  struct err *e)
{
	auto_sbuf struct sbuf options = SBUF(OPTIONS_MAX);
	struct dirs d = { 0 };
	int r = add_dir(&d, &options, "lowerdir=", lower, e);

	if (r == 0)
		r = mount_overlay(&d, &options, upper, work, target, read_only, e);
	dirs_done(&d);
	return r;
}

/* Where "/" cannot be a layer (image_host_parts.c says why), this image begins empty. */
static int mount_host_parts(struct images *i, const char *scratch, const char *target, bool read_only, struct err *e)
{
	auto_free char *empty = below(scratch, "empty");
	auto_free char *upper = below(scratch, "upper");
	auto_free char *work = below(scratch, "work");

	if (make_dir(scratch, "empty", e) < 0 || image_overlay(empty, upper, work, target, false, e) < 0)
		return -1;
	return image_host_parts(i->store->data, scratch, target, read_only, e);
}

static int mount_host(struct images *i, const char *scratch, const char *target, bool read_only, struct err *e)
{
	auto_free char *upper = below(scratch, "upper");
	auto_free char *work = below(scratch, "work");
	auto_free char *base = NULL;

	if (!idmap_is_whole())
		return mount_host_parts(i, scratch, target, read_only, e);
	if (image_host_base(i, &base, e) < 0 || copy_root_looks(base, scratch, e) < 0 ||
	    image_overlay(base, upper, work, target, read_only, e) < 0)
		return -1;
	image_host_extras(i->store->data, target);
	return 0;
}

/* ---- what is there already ---- */

bool image_is_mount(const char *path)
{
	auto_free char *parent = below(path, "..");
	struct stat a, b;

	return lstat(path, &a) == 0 && stat(parent, &b) == 0 && S_ISDIR(a.st_mode) && a.st_dev != b.st_dev;
}

static bool is_mounted(const char *id, const char *scratch, const char *target)
{
	json_auto_t *mark = image_scratch_mark(scratch);

	return mark && streq(jsonx_str_or(mark, "id", ""), id) && image_is_mount(target);
}

/* Marks the image as used while the index still has it: from here on nothing removes its layers. */
static int claim(struct images *i, const char *name, const char *scratch, char **ret_id, json_t **ret_layers,
		 struct err *e)
{
	auto_close int lock = image_store_claims(i->store, e);
	json_auto_t *layers = NULL;
	const char *id = IMAGE_HOST;
	json_t *record = NULL;

	if (lock < 0)
		return -1;
	if (!streq(name, IMAGE_HOST)) {
		record = image_store_find(i->store, name, &id);
		if (!record)
			return err_set(e, ERR_NOT_FOUND, "there is no image \"%.*s\" here", 300, name);
		image_store_touch(i->store, id);
	}
	layers = record ? jsonx_copy(json_object_get(record, "layers")) : json_array();
	if (image_store_ref(i->store, id, layers, scratch, e) < 0)
		return -1;
	*ret_id = xstrdup(id);
	*ret_layers = json_incref(layers);
	return 0;
}

static int prepare(const char *scratch, const char *target, struct err *e)
{
	static const char *const dirs[] = { "upper", "work" };

	if (file_make_dirs(scratch, 0700, e) < 0 || file_make_dirs(target, 0755, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (make_dir(scratch, dirs[i], e) < 0)
			return -1;
	return 0;
}

/* An image by the name it had when it was mounted, for a mount that is asked for again. */
static bool mounted_already(struct images *i, const char *name, const char *scratch, const char *target)
{
	const char *id = IMAGE_HOST;

	if (!streq(name, IMAGE_HOST) && !image_store_find(i->store, name, &id))
		return false;
	return is_mounted(id, scratch, target);
}

int images_mount(struct images *i, const char *name, const char *scratch, const char *target, bool read_only,
		 struct err *e)
{
	json_auto_t *layers = NULL;
	auto_free char *id = NULL;
	int r;

	if (mounted_already(i, name, scratch, target))
		return 0;
	images_unmount(scratch, target);
	if (prepare(scratch, target, e) < 0 || claim(i, name, scratch, &id, &layers, e) < 0) {
		images_unmount(scratch, target);
		return -1;
	}
	r = streq(id, IMAGE_HOST) ? mount_host(i, scratch, target, read_only, e)
				  : mount_layers(i, layers, scratch, target, read_only, e);
	if (r < 0)
		images_unmount(scratch, target);
	image_notice(i);
	return r;
}

/* ---- the end ---- */

void image_remove_apart(const char *path)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		image_child_begin(3);
		if (fork() == 0)
			tree_remove(path, NULL);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		tree_remove(path, NULL);
}

static void remove_scratch(const char *scratch, const char *trash)
{
	auto_free char *to = xasprintf("%s/scratch-%lld", trash ? trash : "", (long long)clock_mono_ns());
	size_t budget = INLINE_BUDGET;

	if (tree_remove(scratch, &budget))
		return;
	image_remove_apart(trash && rename(scratch, to) == 0 ? to : scratch);
}

void images_unmount(const char *scratch, const char *target)
{
	json_auto_t *mark = image_scratch_mark(scratch);
	struct stat st;

	/* Whatever is stacked there, also by a start that was cut short. */
	for (int i = 0; i < 16 && image_is_mount(target); i++)
		if (umount2(target, MNT_DETACH | UMOUNT_NOFOLLOW) < 0) {
			log_warn("unmount %s error=%s, ignoring", target, strerror(errno));
			break;
		}
	if (mark && jsonx_str(mark, "ref"))
		unlink(jsonx_str(mark, "ref"));
	if (lstat(scratch, &st) == 0)
		remove_scratch(scratch, mark ? jsonx_str(mark, "trash") : NULL);
}
