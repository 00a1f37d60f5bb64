// SPDX-License-Identifier: Apache-2.0
/* run.c - calls the runtime, which makes the container and leaves it to us
 *
 * We are a subreaper: when `crun run --detach` ends, the container's first process becomes our child.  One call does
 * all: nothing needs the state between "created" and "started", and each call of a runtime costs milliseconds.
 *
 * While the runtime works the container's pipes are not read.  If it fails, whatever is in them is what the runtime
 * itself had to say, and belongs to the error, not to the log.
 *
 * On a machine with hybrid cgroups crun 1.8 refuses to work as long as it sees cgroup2 at /sys/fs/cgroup/unified.  It
 * gets a mount namespace of its own, made between fork and exec, in which that mount is detached: a copy of this
 * moment, so it has all mounts that were made for the container; a slave, so that detaching is not seen outside while a
 * later unmount outside is seen inside.  We ourselves stay out of it, or we would keep every mount of the machine busy.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define UNIFIED     "/sys/fs/cgroup/unified"
#define CONSOLE     "console"
#define WORDS       "words"
#define STACK_BYTES (16 * 1024)

/* What the child between fork and exec gets. */
struct birth {
	struct monitor *m;
	int fds[3];
	char **argv;
	long error;
};

static long hide_unified(void)
{
	long rc = SYS(SYS_unshare, CLONE_NEWNS);

	if (rc == 0)
		rc = SYS(SYS_mount, 0, "/", 0, MS_REC | MS_SLAVE, 0);
	return rc == 0 ? SYS(SYS_umount2, UNIFIED, MNT_DETACH) : rc;
}

static void child(void *arg)
{
	struct birth *b = arg;
	uint64_t none = 0;

	if (b->m->hide && (b->error = hide_unified()) < 0)
		sys_exit(127);
	for (int i = 0; i < 3; i++)
		SYS(SYS_dup3, b->fds[i], i, 0);
	SYS(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
	SYS(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof(none));
	/* Directories that the runtime makes for mounts are for the container's user to pass; ours are not. */
	SYS(SYS_umask, 022);
	b->error = SYS(SYS_execve, b->argv[0], b->argv, b->m->envp);
	sys_exit(127);
}

/* --- what goes to the container --- */

/* Theirs is the reading end (0) or the writing end (1); ours, which is returned, never blocks. */
static int make_pipe(int theirs, int *ret_theirs)
{
	int fds[2];

	if (SYS(SYS_pipe2, fds, O_CLOEXEC) < 0)
		return -1;
	SYS(SYS_fcntl, fds[!theirs], F_SETFL, O_NONBLOCK);
	*ret_theirs = fds[theirs];
	return fds[!theirs];
}

long run_make_pipes(struct monitor *m, int fds[3])
{
	m->streams[0].fd = make_pipe(1, &fds[1]);
	m->streams[1].fd = make_pipe(1, &fds[2]);
	if (m->stdin_open)
		m->stdin_fd = make_pipe(0, &fds[0]);
	return m->streams[0].fd < 0 || m->streams[1].fd < 0 || (m->stdin_open && m->stdin_fd < 0) ? -EMFILE : 0;
}

/* Pipes, or a socket for the terminal.  0, 1 and 2 are /dev/null. */
static long make_streams(struct monitor *m, struct birth *b)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = CONSOLE };

	if (m->tty) {
		b->fds[2] = (int)sys_open(WORDS, O_WRONLY | O_CREAT | O_APPEND, 0600);
		m->console_fd = (int)SYS(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (m->console_fd < 0 || b->fds[2] < 0)
			return m->console_fd < 0 ? m->console_fd : b->fds[2];
		if (SYS(SYS_bind, m->console_fd, &address, sizeof(address)) < 0)
			return -ENOSPC;
		return SYS(SYS_listen, m->console_fd, 1);
	}
	return run_make_pipes(m, b->fds);
}

void run_close_theirs(const int fds[3])
{
	for (int i = 0; i < 3; i++)
		if (fds[i] > 2)
			sys_close(fds[i]);
}

/* The path of the console socket may be too long for an address; by way of our working directory it never is. */
static void name_console(struct monitor *m, char **argv, char *buf)
{
	char *end = text_add(buf, "--console-socket=/proc/");

	end = text_add_number(end, (uint64_t)m->record.monitor, 1);
	end = text_add(end, "/cwd/" CONSOLE);
	*end = '\0';
	for (; *argv; argv++)
		if (text_eq(*argv, MONITOR_CONSOLE))
			*argv = buf;
}

/* The runtime has brought the terminal's master, or not. */
static void take_console(struct monitor *m)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	char name[256];
	struct iovec iov = { .iov_base = name, .iov_len = sizeof(name) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *c = (struct cmsghdr *)control;
	int fd;

	SYS(SYS_fcntl, m->console_fd, F_SETFL, O_NONBLOCK);
	fd = (int)SYS(SYS_accept4, m->console_fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0 && SYS(SYS_recvmsg, fd, &msg, MSG_CMSG_CLOEXEC) > 0 &&
	    msg.msg_controllen >= CMSG_LEN(sizeof(int)) && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&m->streams[0].fd, CMSG_DATA(c), sizeof(int));
	sys_close(fd);
	sys_close(m->console_fd);
	m->console_fd = -1;
	SYS(SYS_unlinkat, AT_FDCWD, CONSOLE, 0);
	if (m->streams[0].fd < 0)
		return;
	SYS(SYS_fcntl, m->streams[0].fd, F_SETFL, O_NONBLOCK);
	m->stdin_fd = m->streams[0].fd;
}

/* --- after the runtime --- */

static pid_t read_pid(void)
{
	char buf[32];
	int fd = (int)sys_open("pid", O_RDONLY, 0);
	long n = fd < 0 ? fd : sys_read(fd, buf, sizeof(buf) - 1);

	sys_close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return (pid_t)text_number(buf);
}

/* If the runtime left its words only on the container's stderr, they are put where the server looks. */
static void keep_words(struct monitor *m)
{
	int fd = (int)sys_open(WORDS, O_WRONLY | O_CREAT | O_APPEND, 0600);
	long n = m->streams[1].fd < 0 ? 0 : sys_read(m->streams[1].fd, m->chunk, sizeof(m->chunk));

	if (fd >= 0 && SYS(SYS_lseek, fd, 0, 2) == 0 && n > 0)
		sys_write(fd, m->chunk, (size_t)n);
	sys_close(fd);
}

static void failed(struct monitor *m, long error)
{
	m->record.state = MONITOR_FAILED;
	m->record.code = (int32_t)-error;
	if (!error)
		keep_words(m);
}

static long call(struct monitor *m, struct birth *b)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));
	static char console[64];
	long rc;

	if (m->tty)
		name_console(m, b->argv, console);
	rc = sys_vfork(child, b, stack + sizeof(stack), 0);
	if (rc > 0 && b->error < 0) {
		SYS(SYS_wait4, rc, 0, 0, 0);
		rc = b->error;
	}
	return rc;
}

/* Leaves the server's cgroups, which may be killed or run out of memory with it.  The kernel may take milliseconds for
 * this, so it is done while the runtime works; that one ends soon, wherever it is. */
void run_join_groups(const char *paths)
{
	char path[PATH_BYTES];

	while (*paths) {
		size_t n = 0;
		int fd;

		for (; *paths && *paths != '\n'; paths++)
			if (n < sizeof(path) - 1)
				path[n++] = *paths;
		path[n] = '\0';
		paths += *paths == '\n';
		fd = (int)sys_open(path, O_WRONLY, 0);
		if (fd >= 0)
			sys_write(fd, "0", 1);
		sys_close(fd);
	}
}

/* The user's own, if there are any. */
static long open_files(struct monitor *m)
{
	struct process p;
	int fd = m->files ? (int)sys_open(MONITOR_PROCESS, O_RDONLY, 0) : -1;
	long rc = 0;

	if (m->files)
		rc = fd >= 0 && process_read(fd, &p) ? files_open(m, &p) : -EINVAL;
	sys_close(fd);
	return rc;
}

void run_container(struct monitor *m)
{
	struct birth b = { .m = m, .argv = m->argv + MONITOR_ARG_RUNTIME, .fds = { 0, 1, 2 } };
	long child_pid = open_files(m);
	int status = 0;

	if (child_pid == 0)
		child_pid = make_streams(m, &b);
	if (child_pid == 0)
		child_pid = call(m, &b);
	run_close_theirs(b.fds);
	if (child_pid < 0) {
		failed(m, child_pid);
		return;
	}
	/* While the runtime works: */
	serve_open(m);
	log_open(&m->log);
	run_join_groups(m->argv[MONITOR_ARG_JOIN]);
	while (SYS(SYS_wait4, child_pid, &status, 0, 0) == -EINTR)
		;
	m->record.started_us = sys_clock_wall_us();
	if (m->tty)
		take_console(m);
	m->record.pid = read_pid();
	if (status || m->record.pid <= 0) {
		failed(m, 0);
		return;
	}
	m->pid_fd = (int)SYS(SYS_pidfd_open, m->record.pid, 0);
	m->record.state = MONITOR_RUNNING;
}
