// SPDX-License-Identifier: Apache-2.0
/* volume_open.c - names to descriptors, and descriptors to mounts
 *
 * A name is looked up once.  From then on the descriptor is what is checked and what is mounted, so that nobody can put
 * something else in its place in between.  Links of /proc lead past all permissions and are never followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/volume_parts.h"

#define FD_PATH_LEN 40

static int open_how(int root, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
}

int volume_open(const char *path)
{
	return open_how(AT_FDCWD, path, 0, 0);
}

int volume_open_beneath(int root, const char *path)
{
	return open_how(root, path, 0, RESOLVE_BENEATH);
}

/* One directory more.  It is opened without following a link: whoever is faster gets an error, not a way out. */
static int make_one(int at, const char *name, mode_t mode)
{
	struct stat st;
	int fd;

	if (mkdirat(at, name, mode) < 0)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* The parent's group bit was inherited and stays; the umask's effect goes. */
	if (fstat(fd, &st) < 0 || fchmod(fd, mode | (st.st_mode & S_ISGID)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int volume_make_beneath(int root, const char *path, mode_t mode)
{
	auto_sbuf struct sbuf so_far = SBUF(PATH_MAX);
	auto_close int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	struct str rest = str_of(path);
	struct str part;
	int next;

	while (at >= 0 && str_split(&rest, '/', &part)) {
		auto_free char *name = xstrndup(part.p, part.n);

		if (!part.n || streq(name, "."))
			continue;
		sbuf_addf(&so_far, "%s%s", so_far.n ? "/" : "", name);
		if (so_far.over) {
			errno = ENAMETOOLONG;
			return -1;
		}
		next = volume_open_beneath(root, so_far.p);
		if (next < 0 && errno == ENOENT)
			next = make_one(at, name, mode);
		if (next < 0)
			return -1;
		close(at);
		at = next;
	}
	next = at;
	at = -1;
	return next;
}

char *volume_fd_path(int fd)
{
	char link[FD_PATH_LEN];
	char path[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/' || fstat(fd, &st) < 0 || st.st_nlink == 0)
		return NULL;
	return xstrndup(path, (size_t)n);
}

bool volume_is_mounted(const char *path)
{
	struct statx st;

	/* Without asking a file server, which may be dead. */
	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0, &st) == 0 &&
	       (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* A mount point of the right sort: a directory for a directory, else a file. */
static int make_target(const char *target, bool dir, struct err *e)
{
	auto_free char *parent = xstrdup(target);
	struct stat st;
	int fd;

	*strrchr(parent, '/') = '\0';
	if (file_make_dirs(parent, 0755, e) < 0)
		return -1;
	for (int i = 0; i < 8 && volume_is_mounted(target); i++)
		if (umount2(target, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
			return err_errno(e, ERR_INTERNAL, "cannot unmount %s", target);
	if (lstat(target, &st) == 0 && S_ISDIR(st.st_mode) != dir && remove(target) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot remove %s", target);
	if (dir)
		return file_make_dirs(target, 0755, e);
	fd = open(target, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "cannot make %s", target);
	close(fd);
	return 0;
}

static bool is_same(const struct stat *a, const char *path)
{
	struct stat b;

	return volume_is_mounted(path) && lstat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

int volume_pin(int fd, const char *target, char **ret, struct err *e)
{
	char link[FD_PATH_LEN];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot look at what is to be mounted");
	if (geteuid() != 0) {
		char *path = volume_fd_path(fd);

		if (!path)
			return err_set(e, ERR_NOT_FOUND, "what is to be mounted has been removed");
		*ret = path;
		return 0;
	}
	if (!is_same(&st, target)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (make_target(target, S_ISDIR(st.st_mode), e) < 0)
			return -1;
		/* A slave: what the host mounts below later is seen, and unmounting here is not seen by the host. */
		if (mount(link, target, NULL, MS_BIND | MS_REC, NULL) < 0 ||
		    mount(NULL, target, NULL, MS_SLAVE | MS_REC, NULL) < 0)
			return err_errno(e, ERR_INTERNAL, "cannot mount onto %s", target);
	}
	*ret = xstrdup(target);
	return 0;
}
