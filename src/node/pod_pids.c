// SPDX-License-Identifier: Apache-2.0
/* pod_pids.c - shareProcessNamespace: containers of a pod that see each other's processes
 *
 * A pid namespace lives as long as its first process.  Here that is nobody's container but a process that does nothing,
 * the monitor's program in its other role, so that containers come and go as usual.  It and its namespace are found
 * again after a restart:
 *
 *	RUN/pid       the namespace, pinned
 *	RUN/pid.1     the process's pid as this machine sees it
 *
 * A pid may belong to someone else by now; it is ours if it is in the pinned namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "monitor/protocol.h"
#include "node/pod_parts.h"
#include "node/runtime_parts.h"

static char *pinned_path(const char *run_dir)
{
	return xasprintf("%s/pid", run_dir);
}

/* A descriptor of the first process, if it still lives; else -1. */
static int find_first(const char *run_dir)
{
	auto_free char *pin = pinned_path(run_dir);
	auto_free char *note = xasprintf("%s.1", pin);
	auto_sbuf struct sbuf text = SBUF(64);
	struct err e = ERR_INIT;
	struct stat pinned;
	struct stat its;
	int64_t pid;
	int fd;

	if (file_read(note, 32, &text, &e) < 0 || !text.p || !str_int64(text.p, 2, INT32_MAX, &pid))
		return -1;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	auto_free char *ns = xasprintf("/proc/%lld/ns/pid", (long long)pid);
	if (fd >= 0 && stat(pin, &pinned) == 0 && stat(ns, &its) == 0 && pinned.st_dev == its.st_dev &&
	    pinned.st_ino == its.st_ino)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* In the child, which has the server's memory as a copy: system calls only. */
static _Noreturn void become_first(int program)
{
	static const char *const argv[] = { MONITOR_NAME, MONITOR_HOLD, NULL };
	static const char *const env[] = { NULL };

	setsid();
	/* The children of others that it inherits vanish by themselves when they end. */
	signal(SIGCHLD, SIG_IGN);
	(void)!chdir("/");
	program = fcntl(program, F_DUPFD_CLOEXEC, 16);
	close_range(0, 15, 0);
	for (int fd = 0; fd < 3; fd++)
		(void)!open("/dev/null", O_RDWR);
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	execveat(program, "", (char *const *)argv, (char *const *)env, AT_EMPTY_PATH);
	_exit(127);
}

static void on_first_gone(void *arg, pid_t pid, int wait_status)
{
	(void)arg;
	(void)pid;
	(void)wait_status;
}

static int pin(const char *path, pid_t pid, struct err *e)
{
	auto_free char *ns = xasprintf("/proc/%d/ns/pid", (int)pid);
	auto_free char *note = xasprintf("%s.1", path);
	auto_free char *text = xasprintf("%d", (int)pid);
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || mount(ns, path, NULL, MS_BIND, NULL) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot pin the pod's process namespace");
	return file_place(note, 0600, str_of(text), e);
}

void pod_pids_remove(const char *run_dir)
{
	auto_free char *path = pinned_path(run_dir);
	auto_close int first = find_first(run_dir);

	if (first >= 0)
		syscall(SYS_pidfd_send_signal, first, SIGKILL, NULL, 0);
	while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		;
}

int pod_pids_make(struct pod *p, struct err *e)
{
	auto_free char *path = pinned_path(p->run_dir);
	auto_close int first = find_first(p->run_dir);
	auto_close int program = -1;
	pid_t pid;

	if (first >= 0)
		return 0;
	pod_pids_remove(p->run_dir);
	program = monitor_program(p->run_dir, e);
	if (program < 0)
		return -1;
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		become_first(program);
	if (pid < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make the pod's process namespace");
	if (loop_on_child(p->parts->loop, pid, on_first_gone, NULL, e) < 0 || pin(path, pid, e) < 0) {
		kill(pid, SIGKILL);
		return -1;
	}
	return 0;
}

bool pod_shares_pids(const struct pod *p)
{
	return jsonx_bool_or(p->obj, "spec.shareProcessNamespace", false) &&
	       !jsonx_bool_or(p->obj, "spec.hostPID", false);
}
