// SPDX-License-Identifier: Apache-2.0
/* tree_size.c - see tree_size.h
 *
 * Links are not followed, and other file systems are not entered.  A file with several names counts once: a part of it
 * under each.
 */
#include "base/tree_size.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* Each level keeps a descriptor open. */
enum { DEEPEST = 128 };

/* Takes fd. */
static void count_dir(struct tree_size *t, int fd, dev_t dev, int depth)
{
	DIR *d = fdopendir(fd);
	struct stat st;

	if (!d) {
		close(fd);
		t->unread++;
		return;
	}
	for (struct dirent *de = readdir(d); de && t->left > 0; de = readdir(d)) {
		int sub;

		if (streq(de->d_name, ".") || streq(de->d_name, ".."))
			continue;
		t->left--;
		if (fstatat(fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != dev)
			continue;
		t->bytes += (int64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) ? 1 : (int64_t)st.st_nlink);
		if (!S_ISDIR(st.st_mode))
			continue;
		sub = depth < DEEPEST ? openat(fd, de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (sub >= 0)
			count_dir(t, sub, dev, depth + 1);
		else
			t->unread++;
	}
	closedir(d);
}

int tree_size(const char *path, struct tree_size *t)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0) {
		int why = errno;

		close(fd);
		errno = why;
		return -1;
	}
	count_dir(t, fd, st.st_dev, 0);
	return 0;
}
