// SPDX-License-Identifier: Apache-2.0
/* volume_owner.c - fsGroup: a volume belongs to a group of the pod
 *
 * Group and rights are what Kubernetes gives: files become readable and writable for the group, directories also
 * passable, with the set-group-id bit so that new files belong to it too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/idmap.h"
#include "node/volume_parts.h"

static mode_t wanted(mode_t mode, bool read_only)
{
	mode_t add = read_only ? 0440 : 0660;

	if (S_ISDIR(mode))
		add |= S_ISGID | 0110;
	return (mode & 07777) | add;
}

/* A server without the right to give files away runs pods that are all one user's anyway. */
static bool can_give(gid_t gid)
{
	return geteuid() == 0 && idmap_has_gid(gid);
}

int volume_own_fd(int fd, gid_t gid, bool read_only)
{
	struct stat st;

	if (!can_give(gid))
		return 0;
	if (fstat(fd, &st) < 0)
		return -1;
	if (st.st_gid != gid && fchown(fd, (uid_t)-1, gid) < 0)
		return -1;
	/* After chown, which clears set-id bits. */
	return fchmod(fd, wanted(st.st_mode, read_only));
}

/* Links get the group and nothing else; what is neither file nor directory is not opened, for that may have effects. */
static int own_entry(int dir, const struct dirent *de, gid_t gid)
{
	struct stat st;

	if (fstatat(dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (fchownat(dir, de->d_name, (uid_t)-1, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (S_ISREG(st.st_mode)) {
		auto_close int fd = openat(dir, de->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

		return fd < 0 || volume_own_fd(fd, gid, false) == 0 ? 0 : -1;
	}
	return S_ISDIR(st.st_mode) ? 1 : 0;
}

/* Takes fd. */
static int own_dir(int fd, gid_t gid)
{
	DIR *d = fdopendir(fd);
	int r = 0;

	if (!d) {
		close(fd);
		return -1;
	}
	for (struct dirent *de = readdir(d); r >= 0 && de; de = readdir(d)) {
		int sub;

		if (streq(de->d_name, ".") || streq(de->d_name, ".."))
			continue;
		r = own_entry(fd, de, gid);
		if (r != 1)
			continue;
		sub = openat(fd, de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = sub < 0 ? (errno == ENOENT ? 0 : -1) : own_dir(sub, gid);
	}
	if (r >= 0)
		r = volume_own_fd(fd, gid, false);
	closedir(d);
	return r;
}

int volume_own_tree(const char *path, gid_t gid, bool only_on_mismatch, struct err *e)
{
	int fd = can_give(gid) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stat st;

	if (!can_give(gid))
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_errno(e, ERR_INTERNAL, "cannot open %s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (only_on_mismatch && st.st_gid == gid && wanted(st.st_mode, false) == (st.st_mode & 07777)) {
		close(fd);
		return 0;
	}
	/* The root comes last, so that an interrupted walk is seen as a mismatch. */
	if (own_dir(fd, gid) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot give %s to group %u", path, (unsigned)gid);
	return 0;
}
