// SPDX-License-Identifier: Apache-2.0
/* runtime_spawn.c - starting runtimes and monitors as clean children
 *
 * vfork, not fork: the server may hold hundreds of megabytes of objects, and copying its page tables for each container
 * would stall the loop.  The child shares our memory until it executes, so it only makes system calls, with all signals
 * blocked, and can report which of them failed by writing it down.  It takes along the standard descriptors and at most
 * two more: everything else is closed by close_range, so that no container can reach a file of the server.
 *
 * Hiding the unified hierarchy.  On a machine with hybrid cgroups crun 1.8 refuses to work as long as it sees cgroup2
 * at /sys/fs/cgroup/unified.  It is content in a mount namespace of its own where that one mount is detached, which is
 * made between vfork and exec.  The namespace is a copy made at that moment, so it has every mount that was made
 * before; it is made a slave, so that detaching is not seen outside while a later unmount outside is seen inside.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
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
	int program_fd; /* out of the way of those the child gets */
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
	int high[3 + SPAWN_PASSED], count = 3;

	while (count < 3 + SPAWN_PASSED && s->pass[count - 3] > 0)
		count++;
	/* First out of the way, for any of them may have one of the final numbers already. */
	for (int i = 0; i < count; i++) {
		int fd = i < 3 ? s->fds[i] : s->pass[i - 3];

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
	return close_range((unsigned)count, ~0u, CLOSE_RANGE_CLOEXEC) == 0;
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
	if (b->s->program_fd > 0)
		b->program_fd = fcntl(b->s->program_fd, F_DUPFD_CLOEXEC, 16);
	b->failed = child_prepare(b->s);
	if (!b->failed) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (b->s->program_fd > 0)
			execveat(b->program_fd, "", (char *const *)b->s->argv, (char *const *)b->env, AT_EMPTY_PATH);
		else
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
