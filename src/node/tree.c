// SPDX-License-Identifier: Apache-2.0
/* tree.c - rm -r for trees that strangers made
 *
 * A container can nest directories deeper than any path is long.  So a directory far down is first moved up beside the
 * ones at the top, which keeps the number of open directories small whatever the depth.
 */
#include "node/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define DEEPEST 64

struct removal {
	int top;
	unsigned moved;
	size_t *budget;
	dev_t dev;
};

static bool spend(const struct removal *r)
{
	if (!r->budget)
		return true;
	if (!*r->budget)
		return false;
	--*r->budget;
	return true;
}

/* To the top, under a name that is not taken. */
static bool move_up(struct removal *r, int dir, const char *name)
{
	char to[48];

	for (int tries = 0; tries < 1000; tries++) {
		snprintf(to, sizeof(to), ".moved-%u", r->moved++);
		if (renameat2(dir, name, r->top, to, RENAME_NOREPLACE) == 0)
			return true;
		if (errno != EEXIST)
			return false;
	}
	return false;
}

static bool clear_dir(struct removal *r, int fd, int at, const char *name, int depth);

static bool remove_dir(struct removal *r, int dir, const char *name, int depth)
{
	struct stat st;
	int fd;

	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return true;
	if (depth >= DEEPEST)
		return move_up(r, dir, name);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || st.st_dev != r->dev) {
		close(fd);
		return false;
	}
	return clear_dir(r, fd, dir, name, depth + 1);
}

static bool remove_entry(struct removal *r, int dir, const struct dirent *de, int depth)
{
	if (!spend(r))
		return false;
	if (de->d_type != DT_DIR && unlinkat(dir, de->d_name, 0) == 0)
		return true;
	return remove_dir(r, dir, de->d_name, depth);
}

/* Takes fd, the directory `name`.  Reading goes on while entries vanish and, at the top, while others are moved there;
 * so it looks again until the directory can be removed, or nothing more is found in it. */
static bool clear_dir(struct removal *r, int fd, int at, const char *name, int depth)
{
	DIR *d = fdopendir(fd);
	bool ok = d;
	bool gone = false;
	bool found = true;

	if (!d)
		close(fd);
	while (ok && found && !gone) {
		found = false;
		for (struct dirent *de = readdir(d); ok && de; de = readdir(d)) {
			if (streq(de->d_name, ".") || streq(de->d_name, ".."))
				continue;
			found = true;
			ok = remove_entry(r, fd, de, depth);
		}
		gone = ok && unlinkat(at, name, AT_REMOVEDIR) == 0;
		rewinddir(d);
	}
	if (d)
		closedir(d);
	return gone;
}

bool tree_remove(const char *path, size_t *budget)
{
	struct removal r = { .budget = budget };
	struct stat st;
	bool ok;

	if (rmdir(path) == 0 || errno == ENOENT)
		return true;
	if (errno == ENOTDIR && unlink(path) == 0)
		return true;
	r.top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r.top < 0 || fstat(r.top, &st) < 0)
		return false;
	r.dev = st.st_dev;
	ok = clear_dir(&r, fcntl(r.top, F_DUPFD_CLOEXEC, 3), AT_FDCWD, path, 0);
	close(r.top);
	return ok;
}
