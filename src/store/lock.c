// SPDX-License-Identifier: Apache-2.0
/* lock.c - one server a directory
 *
 * `lock` holds two short lines: the pid, for people and for the refusal of a second server, and the WAL mark.  The
 * mark says "frames up to N of the WAL with these salts are durable".  It is written without fsync after each commit,
 * so it can only claim too little, never too much; damage.c holds the WAL against it and so tells a damaged last
 * transaction from a torn one.
 *
 * The lock is a POSIX one: a child that outlives the server does not keep it.
 */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

#define PID_LINE "%-10d\n"
#define MARK_AT  11
#define MARK_FMT "wal %08" PRIx32 " %08" PRIx32 " %08" PRIx32 " %08" PRIx32 "\n"

static uint32_t mark_check(const struct wal_mark *m)
{
	uint32_t h = 0x9e3779b9u;
	const uint32_t words[] = { m->salt[0], m->salt[1], m->frames };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		h = (h ^ words[i]) * 0x85ebca6bu;
	return h ^ h >> 15;
}

static int make_dir(const char *dir, struct err *e)
{
	auto_free char *path = xstrdup(dir);
	struct stat st;

	if (!*dir)
		return err_set(e, ERR_INTERNAL, "the data directory has no name; give one with --data");
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return err_errno(e, ERR_INTERNAL, "cannot make %s", path);
		*p = '/';
	}
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_errno(e, ERR_INTERNAL, "cannot make %s", dir);
	if (stat(dir, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot look at %s", dir);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_INTERNAL, "%s is not a directory", dir);
	if (st.st_uid != geteuid())
		return err_set(
			e, ERR_FORBIDDEN,
			"%s belongs to uid %u, not to uid %u; choose another directory with --data or run as its "
			"owner",
			dir, (unsigned)st.st_uid, (unsigned)geteuid());
	if ((st.st_mode & 077) && chmod(dir, 0700) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot make %s private", dir);
	return 0;
}

static int in_use(int fd, const char *dir, struct err *e)
{
	struct flock held = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char text[MARK_AT + 1] = "";
	int pid = 0;

	if (fcntl(fd, F_GETLK, &held) == 0 && held.l_type != F_UNLCK)
		pid = held.l_pid;
	if (pid <= 0 && pread(fd, text, MARK_AT, 0) > 0)
		pid = (int)strtol(text, NULL, 10);
	return err_set(e, ERR_UNAVAILABLE, "%s is in use by another stoker serve (pid %d)", dir, pid);
}

static void read_mark(int fd, struct wal_mark *ret)
{
	char text[64] = "";
	struct wal_mark m = { 0 };
	uint32_t check;

	*ret = m;
	if (pread(fd, text, sizeof(text) - 1, MARK_AT) <= 0)
		return;
	if (sscanf(text, "wal %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32, &m.salt[0], &m.salt[1], &m.frames,
		   &check) == 4 &&
	    check == mark_check(&m))
		*ret = m;
}

int lock_take(const char *dir, struct store_lock *ret, struct err *e)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	auto_free char *path = xasprintf("%s/lock", dir);
	auto_close int fd = -1;

	if (make_dir(dir, e) < 0)
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "cannot open %s", path);
	if (fcntl(fd, F_SETLK, &whole) < 0) {
		if (errno == EACCES || errno == EAGAIN)
			return in_use(fd, dir, e);
		return err_errno(e, ERR_INTERNAL, "cannot lock %s", path);
	}
	read_mark(fd, &ret->mark);
	ret->fd = fd;
	fd = -1;
	return 0;
}

int lock_claim(struct store_lock *lock, const char *dir, struct err *e)
{
	char text[MARK_AT + 1];
	int n = snprintf(text, sizeof(text), PID_LINE, (int)getpid());

	if (fchmod(lock->fd, 0600) < 0 || pwrite(lock->fd, text, (size_t)n, 0) != n ||
	    ftruncate(lock->fd, MARK_AT) < 0 || fsync(lock->fd) < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s/lock", dir);
	return 0;
}

void lock_mark(int fd, const struct wal_mark *mark)
{
	char text[64];
	int n = snprintf(text, sizeof(text), MARK_FMT, mark->salt[0], mark->salt[1], mark->frames, mark_check(mark));

	/* A mark that cannot be written claims too little; the WAL itself is safe. */
	if (fd >= 0 && pwrite(fd, text, (size_t)n, MARK_AT) != n)
		(void)!ftruncate(fd, MARK_AT);
}

bool lock_clear(struct store_lock *lock)
{
	return ftruncate(lock->fd, MARK_AT) == 0 && fsync(lock->fd) == 0;
}

void lock_release(struct store_lock *lock)
{
	if (lock->fd < 0)
		return;
	close(lock->fd);
	lock->fd = -1;
}
