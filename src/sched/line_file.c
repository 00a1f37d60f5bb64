// SPDX-License-Identifier: Apache-2.0
/* line_file.c - see line_file.h */
#include "sched/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define FILE_MODE 0600

int line_file_error(const char *path, struct err *e)
{
	return err_errno(e, errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", path);
}

static void cut(int fd, off_t n)
{
	if (n >= 0 && ftruncate(fd, n) < 0)
		log_warn("take back a half line of a file: %s, ignoring", strerror(errno));
}

static void cut_half_line(int fd, size_t longest)
{
	off_t n = lseek(fd, 0, SEEK_END);
	off_t from = n > (off_t)longest ? n - (off_t)longest : 0;
	auto_free char *tail = xcalloc(1, longest);
	ssize_t got = n > 0 ? pread(fd, tail, (size_t)(n - from), from) : 0;

	while (got > 0 && tail[got - 1] != '\n')
		got--;
	if (got >= 0 && from + got < n)
		cut(fd, from + got);
}

int line_file_open(const char *path, size_t longest, int *ret_fd, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);

	if (fd < 0)
		return line_file_error(path, e);
	cut_half_line(fd, longest);
	*ret_fd = fd;
	return 0;
}

int line_file_add(int fd, const char *path, struct str lines, struct err *e)
{
	off_t before = lseek(fd, 0, SEEK_END);
	struct str rest = lines;

	while (rest.n) {
		ssize_t n = write(fd, rest.p, rest.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			line_file_error(path, e);
			/* A half line would be the beginning of the next one. */
			cut(fd, before);
			return -1;
		}
		rest.p += n;
		rest.n -= (size_t)n;
	}
	return 0;
}

int line_file_keep(int fd, const char *path, struct str lines, struct err *e)
{
	off_t before = lseek(fd, 0, SEEK_END);

	if (line_file_add(fd, path, lines, e) < 0)
		return -1;
	if (fdatasync(fd) == 0)
		return 0;
	line_file_error(path, e);
	/* They will be written again. */
	cut(fd, before);
	return -1;
}
