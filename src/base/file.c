// SPDX-License-Identifier: Apache-2.0
/* file.c - reading and replacing whole files */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/mem.h"

int file_read(const char *path, size_t max, struct sbuf *out, struct err *e)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t start = out->n;
	char buf[8192];
	ssize_t n;

	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "%s", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		if (out->n - start + (size_t)n > max)
			return err_set(e, ERR_TOO_LARGE, "%s: longer than %zu bytes", path, max);
		sbuf_add(out, buf, (size_t)n);
	}
	if (n < 0)
		return err_errno(e, ERR_INTERNAL, "%s", path);
	return 0;
}

static int write_all(int fd, struct str text)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text.p += n;
		text.n -= (size_t)n;
	}
	return 0;
}

static int replace(const char *path, mode_t mode, struct str text, bool sync, struct err *e)
{
	auto_free char *tmp = xasprintf("%s.new", path);
	auto_close int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "%s", tmp);
	if (fchmod(fd, mode) < 0 || write_all(fd, text) < 0 || (sync && fsync(fd) < 0) || rename(tmp, path) < 0) {
		err_errno(e, errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", path);
		unlink(tmp);
		return -1;
	}
	return 0;
}

int file_write(const char *path, mode_t mode, struct str text, struct err *e)
{
	return replace(path, mode, text, true, e);
}

int file_place(const char *path, mode_t mode, struct str text, struct err *e)
{
	return replace(path, mode, text, false, e);
}

/* mkdir whose mode does not depend on the umask; a directory that is there keeps its own. */
static int make_dir(const char *path, mode_t mode, struct err *e)
{
	struct stat st;

	if (mkdir(path, mode) == 0) {
		if (chmod(path, mode) < 0)
			return err_errno(e, ERR_INTERNAL, "%s", path);
		return 0;
	}
	if (errno == EEXIST && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return err_errno(e, ERR_INTERNAL, "%s", path);
}

int file_make_dirs(const char *path, mode_t mode, struct err *e)
{
	auto_free char *copy = NULL;
	struct err first = ERR_INIT;

	/* Most often only the last one is missing. */
	if (make_dir(path, mode, &first) == 0)
		return 0;
	copy = xstrdup(path);
	for (char *p = copy + 1; *p; p++) {
		int r;

		if (*p != '/')
			continue;
		*p = '\0';
		r = make_dir(copy, 0755, e);
		*p = '/';
		if (r < 0)
			return -1;
	}
	return make_dir(copy, mode, e);
}

void file_spread(const char *dir)
{
	auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int flags = 0;

	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return;
	flags |= FS_TOPDIR_FL;
	(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
}
