// SPDX-License-Identifier: Apache-2.0
/* volume_job.c - slow work in a process of its own: mounting from a server that may be dead, walking large trees
 *
 * The worker is a grandchild that nobody waits for.  While it lives it holds a lock on DIR/.jobs/NAME.lock; its last
 * act is to put its result at DIR/.jobs/NAME.  So its state is in the file system, and a restarted server finds it
 * there.  Removing the volumes removes the lock file: a worker that ends after that undoes what it did.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/image_parts.h"
#include "node/volume_parts.h"

#define RESULT_MAX (64 * 1024)
#define LOCK_FD    3

static char *job_path(const char *dir, const char *name, const char *suffix)
{
	return xasprintf("%s/.jobs/%s%s", dir, name, suffix);
}

enum volume_job volume_job_look(const char *dir, const char *name, struct sbuf *result)
{
	auto_free char *lock = job_path(dir, name, ".lock");
	auto_free char *path = job_path(dir, name, "");
	auto_close int fd = open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct err e = ERR_INIT;
	bool running = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	/* In this order: a job that ends in between is seen as done with its result. */
	if (file_read(path, RESULT_MAX, result, &e) < 0)
		sbuf_reset(result);
	if (running)
		return VOLUME_JOB_RUNNING;
	return result->n ? VOLUME_JOB_DONE : VOLUME_JOB_NONE;
}

void volume_job_forget(const char *dir, const char *name)
{
	auto_free char *path = job_path(dir, name, "");

	unlink(path);
}

static bool is_wanted(const char *lock)
{
	struct stat a, b;

	return fstat(LOCK_FD, &a) == 0 && stat(lock, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void work(const char *dir, const char *name, volume_job_fn *run, void (*undo)(const void *), const void *arg)
{
	auto_free char *lock = job_path(dir, name, ".lock");
	auto_free char *path = job_path(dir, name, "");
	auto_sbuf struct sbuf result = SBUF(RESULT_MAX);
	struct err e = ERR_INIT;

	run(arg, &result);
	if (is_wanted(lock))
		(void)file_write(path, 0600, sbuf_str(&result), &e);
	if (!is_wanted(lock) && undo)
		undo(arg);
}

int volume_job_start(const char *dir, const char *name, volume_job_fn *run, void (*undo)(const void *), const void *arg,
		     struct err *e)
{
	auto_free char *jobs = xasprintf("%s/.jobs", dir);
	auto_free char *lock = job_path(dir, name, ".lock");
	auto_close int fd = -1;
	pid_t pid;

	if (file_make_dirs(jobs, 0700, e) < 0)
		return -1;
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "cannot make %s", lock);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : err_errno(e, ERR_INTERNAL, "cannot lock %s", lock);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (dup2(fd, LOCK_FD) < 0)
			_exit(1);
		image_child_begin(LOCK_FD + 1);
		/* What the worker starts may leave daemons behind; they must not hold the lock. */
		(void)!fcntl(LOCK_FD, F_SETFD, FD_CLOEXEC);
		if (fork() == 0)
			work(dir, name, run, undo, arg);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return err_errno(e, ERR_INTERNAL, "cannot start a process");
	return 0;
}
