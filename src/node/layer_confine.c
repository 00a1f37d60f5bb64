// SPDX-License-Identifier: Apache-2.0
/* layer_confine.c - strangers' bytes are parsed in a process that can write only where they belong
 *
 * The child keeps three files: blob, directory, and the pipe its verdict goes through.  Landlock, where the kernel has
 * it, lets it make, write and remove files below the directory and nowhere else, so that even a mistake in libarchive
 * or in layer_path.c stays there.  Not a chroot: libraries load tables and modules by path, and inside a chroot those
 * paths would be the stranger's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "node/layer.h"

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#define WRITES                                                                                                         \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |              \
	 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |                    \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |                 \
	 LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)

enum { BLOB_FD = 3, DIR_FD, REPORT_FD, FIRST_FREE_FD };

struct report {
	int result;
	struct layer_sum sum;
	struct err err;
};

/* Best effort: version 1 forbids hard links between directories, which layers have. */
static void confine(int dir_fd)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = WRITES };
	struct landlock_path_beneath_attr below = { .allowed_access = WRITES, .parent_fd = dir_fd };
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int rules;

	if (version < 2)
		return;
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (rules < 0)
		return;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0 &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		(void)!syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
}

/* Puts three files where they are expected, whatever their numbers were. */
static bool arrange(int blob_fd, int dir_fd, int report_fd)
{
	int blob = fcntl(blob_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	int dir = fcntl(dir_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	int report = fcntl(report_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

	if (blob < 0 || dir < 0 || report < 0 || dup2(blob, BLOB_FD) < 0 || dup2(dir, DIR_FD) < 0 ||
	    dup2(report, REPORT_FD) < 0)
		return false;
	(void)!syscall(SYS_close_range, FIRST_FREE_FD, ~0u, 0);
	return true;
}

static _Noreturn void run_child(int blob_fd, int dir_fd, int report_fd, const char *diff_id,
				const struct layer_limits *limits)
{
	static const int handled[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2 };
	struct report r = { .err = ERR_INIT };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		signal(handled[i], SIG_DFL);
	if (!arrange(blob_fd, dir_fd, report_fd))
		_exit(1);
	confine(DIR_FD);
	r.result = layer_unpack(BLOB_FD, DIR_FD, diff_id, limits, &r.sum, &r.err);
	_exit(write(REPORT_FD, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1);
}

static bool read_report(int fd, struct report *r)
{
	size_t got = 0;

	while (got < sizeof(*r)) {
		ssize_t n = read(fd, (char *)r + got, sizeof(*r) - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

int layer_unpack_confined(int blob_fd, int dir_fd, const char *diff_id, const struct layer_limits *limits,
			  struct layer_sum *ret, struct err *e)
{
	auto_free struct report *r = xcalloc(1, sizeof(*r));
	int pipe_fds[2];
	int status = 0;
	bool whole;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a pipe");
	pid = fork();
	if (pid == 0)
		run_child(blob_fd, dir_fd, pipe_fds[1], diff_id, limits);
	close(pipe_fds[1]);
	whole = pid > 0 && read_report(pipe_fds[0], r);
	close(pipe_fds[0]);
	if (pid < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot start a process to unpack the layer");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!whole)
		return err_set(e, ERR_INTERNAL, "unpacking the layer ended by %s %d",
			       WIFSIGNALED(status) ? "signal" : "exit status",
			       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (r->result < 0)
		*e = r->err;
	else
		*ret = r->sum;
	return r->result;
}
