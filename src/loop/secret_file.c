// SPDX-License-Identifier: Apache-2.0
/* secret_file.c - reading and replacing key and certificate files
 *
 * A key that others can read is no longer a key: it is refused, not repaired, because someone may have read it already
 * and only a person can decide whether to trust it.
 */
#include "loop/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"

int secret_file_read(const char *path, bool secret, struct sbuf *out, struct err *e)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	char block[4096];
	ssize_t n;

	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "cannot open %s", path);
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot examine %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INTERNAL, "%s is not a regular file", path);
	if (secret && (st.st_mode & 077))
		return err_set(
			e, ERR_FORBIDDEN,
			"%s holds a key and others can read it (mode %04o): make sure that nobody copied it, then "
			"run: chmod 600 %s",
			path, (unsigned)(st.st_mode & 07777), path);
	while ((n = read(fd, block, sizeof(block))) > 0)
		sbuf_add(out, block, (size_t)n);
	mem_wipe(block, sizeof(block));
	if (n < 0)
		return err_errno(e, ERR_INTERNAL, "cannot read %s", path);
	if (out->over)
		return err_set(e, ERR_TOO_LARGE, "%s is larger than %zu bytes", path, out->max);
	return 0;
}

static int write_all(int fd, struct str data)
{
	while (data.n) {
		ssize_t n = write(fd, data.p, data.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data.p += n;
		data.n -= (size_t)n;
	}
	return 0;
}

static int sync_parent(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	auto_free char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot sync %s", dir);
	return 0;
}

static int write_temporary(const char *tmp, bool secret, struct str data, struct err *e)
{
	auto_close int fd = -1;

	/* A left-over of a crash may have any mode. */
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "cannot create %s", tmp);
	if (write_all(fd, data) < 0 || (!secret && fchmod(fd, 0644) < 0) || fsync(fd) < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s", tmp);
	return 0;
}

int secret_file_write(const char *path, bool secret, struct str data, struct err *e)
{
	auto_free char *tmp = xasprintf("%s.tmp", path);

	if (write_temporary(tmp, secret, data, e) < 0) {
		unlink(tmp);
		return -1;
	}
	if (rename(tmp, path) < 0) {
		err_errno(e, ERR_INTERNAL, "cannot rename %s to %s", tmp, path);
		unlink(tmp);
		return -1;
	}
	return sync_parent(path, e);
}
