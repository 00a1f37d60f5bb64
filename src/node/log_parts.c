// SPDX-License-Identifier: Apache-2.0
/* log_parts.c - finding one's way among files that are being renamed
 *
 * The writer rotates whenever it likes: PATH.3 becomes PATH.4, PATH.2 becomes PATH.3 ... PATH becomes PATH.1, and a new
 * PATH is made.  Nothing locks it out.  Two facts make reading safe all the same: a file's number only grows, and a
 * file that is open here is known by its inode, which nobody else can get while it is open.
 *
 * Looking at the names in ascending order cannot miss a file (it moves the way we look, at most on to a name that is
 * looked at next) and sees none after a newer one; it can only see one twice, and then twice in a row.
 */
#include "node/log_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/logs.h"

#define TRIES      4
#define SEEK_BLOCK (64 * 1024)
#define RECORD_MAX 96 /* time, stream and tags of a record */

static char *part_name(const char *path, int i)
{
	return i ? xasprintf("%s.%d", path, i) : xstrdup(path);
}

static int part_open(const char *path, int i)
{
	auto_free char *name = part_name(path, i);

	return open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static bool part_stat(const char *path, int i, struct stat *ret)
{
	auto_free char *name = part_name(path, i);

	return lstat(name, ret) == 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool part_is(const char *path, int i, int fd)
{
	struct stat there;
	struct stat mine;

	return part_stat(path, i, &there) && fstat(fd, &mine) == 0 && same_file(&there, &mine);
}

int log_parts_open(const char *path, struct log_parts *ret, struct err *e)
{
	struct log_parts p = { .n = 0 };
	struct stat last = { 0 };

	for (int i = 0; i < LOG_PARTS; i++) {
		int fd = part_open(path, i);
		struct stat st;

		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || fstat(fd, &st) < 0) {
			err_errno(e, ERR_INTERNAL, "open %s", path);
			log_parts_close(&p);
			return -1;
		}
		if (!S_ISREG(st.st_mode) || (p.n && same_file(&st, &last))) {
			close(fd);
			continue;
		}
		last = st;
		p.fds[p.n++] = fd;
	}
	for (size_t i = 0; i < p.n / 2; i++) {
		int fd = p.fds[i];

		p.fds[i] = p.fds[p.n - 1 - i];
		p.fds[p.n - 1 - i] = fd;
	}
	*ret = p;
	return 0;
}

void log_parts_close(struct log_parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->fds[i] >= 0)
			close(p->fds[i]);
	p->n = 0;
}

/* ---- what comes after a file ---- */

/* Its number, LOG_PARTS if it has been removed, -1 if it slipped away under our eyes. */
static int part_index(const char *path, int fd)
{
	struct stat mine;

	for (int i = 0; i < LOG_PARTS; i++)
		if (part_is(path, i, fd))
			return i;
	return fstat(fd, &mine) == 0 && mine.st_nlink ? -1 : LOG_PARTS;
}

static bool none_between(const char *path, int low, int high)
{
	struct stat st;

	for (int i = low + 1; i < high; i++)
		if (part_stat(path, i, &st))
			return false;
	return true;
}

enum log_next log_parts_next(const char *path, int fd, int *ret_fd)
{
	for (int tries = 0; tries < TRIES; tries++) {
		int at = part_index(path, fd);
		int next = -1;
		int i = at - 1;

		if (at < 0)
			continue;
		while (i >= 0 && (next = part_open(path, i)) < 0 && errno == ENOENT)
			i--;
		if (i < 0)
			return LOG_NEXT_NONE;
		/* If neither has moved meanwhile, whatever was between them would still be there. */
		if (next >= 0 && none_between(path, i, at) && part_is(path, i, next) && part_index(path, fd) == at) {
			*ret_fd = next;
			return LOG_NEXT_FOUND;
		}
		if (next >= 0)
			close(next);
	}
	return LOG_NEXT_MOVING;
}

/* ---- from the end ---- */

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_size : 0;
}

void log_seek_start(struct log_seek *s, const struct log_parts *p, int64_t lines)
{
	*s = (struct log_seek){ .want = lines };
	if (!p->n)
		return;
	s->part = p->n - 1;
	s->at = s->hi = size_of(p->fds[s->part]);
}

/* A record begins at `start`; true if what follows it is enough. */
static bool seek_record(struct log_seek *s, off_t start, struct str head)
{
	const char *nl = memchr(head.p, '\n', head.n);
	struct str line = { head.p, nl ? (size_t)(nl - head.p) : head.n };
	struct str text;
	bool is_stderr;
	bool partial;
	int64_t us;

	if (!log_line_parse(line, &us, &is_stderr, &partial, &text))
		return false;
	if (!partial || !s->any)
		s->seen++;
	s->any = true;
	if (s->seen > s->want)
		return true;
	s->at = start;
	return false;
}

static bool older_part(struct log_seek *s, const struct log_parts *p)
{
	if (s->part == 0) {
		s->at = 0;
		return false;
	}
	s->part--;
	s->at = s->hi = size_of(p->fds[s->part]);
	return true;
}

bool log_seek_step(struct log_seek *s, const struct log_parts *p)
{
	auto_free char *buf = NULL;
	off_t lo;
	off_t hi = s->hi;
	ssize_t got;

	if (!p->n || s->want == 0)
		return true;
	lo = hi > SEEK_BLOCK ? hi - SEEK_BLOCK : 0;
	buf = xmalloc(SEEK_BLOCK + RECORD_MAX);
	got = pread(p->fds[s->part], buf, (size_t)(hi - lo) + RECORD_MAX, lo);
	if (got < hi - lo)
		hi = lo + (got > 0 ? got : 0); /* it cannot shrink, but a disk can fail */
	while (hi > lo) {
		const char *nl = memrchr(buf, '\n', (size_t)(hi - lo));
		off_t start = nl ? lo + (nl - buf) + 1 : 0;

		if (!nl && lo > 0)
			break;
		if (start - lo < got) {
			size_t left = (size_t)(got - (start - lo));

			if (seek_record(s, start,
					(struct str){ buf + (start - lo), left < RECORD_MAX ? left : RECORD_MAX }))
				return true;
		}
		if (!nl)
			break;
		hi = start - 1;
	}
	s->hi = lo;
	return lo == 0 && !older_part(s, p);
}
