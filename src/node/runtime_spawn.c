// SPDX-License-Identifier: Apache-2.0
/* runtime_spawn.c - starting runtimes and monitors as clean children
 *
 * vfork, not fork: the server may hold hundreds of megabytes of objects, and copying its page tables for each container
 * would stall the loop.  The child shares our memory until it executes, so it only makes system calls, with all signals
 * blocked, and can report which of them failed by writing it down.  It takes along the standard descriptors and at most
 * one more: everything else is closed by close_range, so that no container can reach a file of the server.
 *
 * Hiding the unified hierarchy.  On a machine with hybrid cgroups crun 1.8 refuses to work as long as it sees cgroup2
 * at /sys/fs/cgroup/unified.  It is content in a mount namespace of its own where that one mount is detached:
 *   - a runtime that we call ourselves gets a fresh namespace between vfork and exec;
 *   - a runtime that conmon calls must not drag conmon into such a namespace: it would keep a copy of every mount of
 *     the machine (other pods' root file systems, network namespaces, disks) busy for as long as the container lives.
 *     So we make the namespace, hold it open ourselves and let conmon call `nsenter --mount=/proc/SELF/fd/N crun ...`.
 *     It goes away when we close N, right after the container has been created.
 * The namespace is a copy made at that moment, so it has every mount that was made for the container before; it is made
 * a slave, so that detaching is not seen outside while a later unmount outside is seen inside.  The container's own
 * mount namespace is in turn a copy of it, in which the runtime drops everything but the container's root.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define SPAWN_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define UNIFIED    "/sys/fs/cgroup/unified"

/* What the child shares with us. */
struct birth {
	const struct spawn *s;
	const char *const *env;
	sigset_t mask;
	const char *failed; /* the step that did not work */
	int error;
};

static bool hide_unified(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
	       umount2(UNIFIED, MNT_DETACH) == 0;
}

static bool place_fds(const struct spawn *s)
{
	int high[4];
	int count = s->pass_fd > 0 ? 4 : 3;

	/* First out of the way of 0 to 3, for any of them may be one of those already. */
	for (int i = 0; i < count; i++) {
		int fd = i == 3 ? s->pass_fd : s->fds[i];

		if (fd < 0) {
			fd = open("/dev/null", O_RDWR);
			if (fd < 0)
				return false;
		}
		high[i] = fcntl(fd, F_DUPFD, 16);
		if (high[i] < 0)
			return false;
	}
	for (int i = 0; i < count; i++)
		if (dup2(high[i], i) < 0)
			return false;
	return close_range((unsigned)count, ~0u, 0) == 0;
}

static bool join_groups(const char *const *files)
{
	for (; files && *files; files++) {
		int fd = open(*files, O_WRONLY | O_CLOEXEC);
		bool ok = fd >= 0 && write(fd, "0", 1) == 1;

		if (fd >= 0)
			close(fd);
		if (!ok)
			return false;
	}
	return true;
}

static void default_signals(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL);
}

static const char *child_prepare(const struct spawn *s)
{
	if (setsid() < 0)
		return "start a session";
	if (s->join && !join_groups(s->join))
		return "enter the cgroup";
	if (s->hide && !hide_unified())
		return "hide " UNIFIED;
	if (chdir(s->cwd ? s->cwd : "/") < 0)
		return "enter the directory";
	if (!place_fds(s))
		return "pass file descriptors";
	if (s->tty && ioctl(0, TIOCSCTTY, 0) < 0)
		return "take the terminal";
	return NULL;
}

__attribute__((noreturn)) static void child_run(struct birth *b)
{
	sigset_t none;

	default_signals();
	b->failed = child_prepare(b->s);
	if (!b->failed) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execve(b->s->argv[0], (char *const *)b->s->argv, (char *const *)b->env);
		b->failed = b->s->argv[0];
	}
	b->error = errno;
	_exit(127);
}

pid_t spawn_start(const struct spawn *s, struct err *e)
{
	const char *env[8] = { SPAWN_PATH };
	struct birth b = { .s = s, .env = env };
	sigset_t all;
	pid_t pid;

	for (size_t i = 0; s->env && s->env[i]; i++) {
		assert(i + 2 < ARRAY_SIZE(env));
		env[i + 1] = s->env[i];
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &b.mask);
	pid = vfork();
	if (pid == 0)
		child_run(&b);
	if (pid < 0)
		b.error = errno;
	sigprocmask(SIG_SETMASK, &b.mask, NULL);
	if (pid > 0 && !b.failed)
		return pid;
	if (pid > 0)
		waitpid(pid, NULL, 0);
	errno = b.error;
	return err_errno(e, ERR_UNAVAILABLE, "cannot run %s%s%s", s->argv[0],
			 b.failed && b.failed != s->argv[0] ? ": cannot " : "",
			 b.failed && b.failed != s->argv[0] ? b.failed : "");
}

/* Reads what is there; false at the end of it. */
static bool drain(int fd, struct sbuf *out)
{
	char buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n <= 0)
		return false;
	sbuf_add(out, buf, (size_t)n);
	return true;
}

int spawn_wait(const struct spawn *s, int ms, struct sbuf *out, int *ret_status, struct err *e)
{
	struct spawn with = *s;
	int64_t deadline = clock_mono_ms() + ms;
	int pipe_fds[2], rc = 0;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot run %s", s->argv[0]);
	with.fds[1] = with.fds[2] = pipe_fds[1];
	pid = spawn_start(&with, e);
	close(pipe_fds[1]);
	while (pid > 0) {
		struct pollfd p = { .fd = pipe_fds[0], .events = POLLIN };
		int64_t left = deadline - clock_mono_ms();

		if (left <= 0 || poll(&p, 1, (int)left) == 0) {
			kill(pid, SIGKILL);
			rc = err_set(e, ERR_TIMEOUT, "%s did not end within %d s", s->argv[0], ms / 1000);
			break;
		}
		if (!drain(pipe_fds[0], out))
			break;
	}
	close(pipe_fds[0]);
	if (pid > 0)
		waitpid(pid, ret_status, 0);
	return pid > 0 ? rc : -1;
}

static bool send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { .iov_base = "n", .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(socket, &m, MSG_NOSIGNAL) == 1;
}

static int receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

int spawn_hidden_namespace(struct err *e)
{
	sigset_t all, mask;
	int pair[2], fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a mount namespace");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid = vfork();
	if (pid == 0) {
		int ns = hide_unified() ? open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC) : -1;

		_exit(ns >= 0 && send_fd(pair[1], ns) ? 0 : 1);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	fd = pid > 0 ? receive_fd(pair[0]) : -1;
	close(pair[0]);
	close(pair[1]);
	if (fd < 0)
		return err_set(e, ERR_UNAVAILABLE, "cannot make a mount namespace without " UNIFIED);
	return fd;
}

char *spawn_find(const char *program)
{
	struct str rest = str_of(strchr(SPAWN_PATH, '=') + 1), dir;

	while (str_split(&rest, ':', &dir)) {
		char *path = xasprintf("%.*s/%s", STR_FMT(dir), program);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* runc logs `time="..." level=error msg="..."`: keeps the message alone. */
static bool take_logged_message(struct sbuf *text)
{
	char *from = text->p ? strstr(text->p, "level=error msg=\"") : NULL;
	char *to = text->p;

	if (!from)
		return false;
	for (from = strchr(from, '"') + 1; *from && *from != '"'; from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*to = '\0';
	text->n = (size_t)(to - text->p);
	return true;
}

void spawn_clean_words(struct sbuf *text)
{
	int64_t when;
	char *colon;

	if (!text->p || take_logged_message(text))
		return;
	while (text->n && (text->p[text->n - 1] == '\n' || text->p[text->n - 1] == ' '))
		text->p[--text->n] = '\0';
	/* crun: "2006-01-02T15:04:05.123456Z: message". */
	colon = strstr(text->p, ": ");
	if (!colon)
		return;
	*colon = '\0';
	if (clock_parse_rfc3339(text->p, &when)) {
		text->n -= (size_t)(colon + 2 - text->p);
		memmove(text->p, colon + 2, text->n + 1);
	} else {
		*colon = ':';
	}
}
