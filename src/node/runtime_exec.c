// SPDX-License-Identifier: Apache-2.0
/* runtime_exec.c - an extra process in a running container
 *
 * `runtime exec` is our own child for as long as the extra process lives, and its exit status is that one's.  The
 * process gets the caller's descriptors.  With a terminal the runtime makes one inside the container and copies between
 * it and the caller's pty; it takes over the size only at the beginning (crun does not follow SIGWINCH), so a later
 * resize is done on the inner terminal itself.
 *
 * Beside a process of the host there is no runtime and nothing between: our child is the extra process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define PROCESS_MAX     (4u * 1024 * 1024) /* a process document: arguments and environment */
#define MEMBERSHIP_MAX  (64u * 1024)
#define KILL_RETRY_MS   5
#define KILL_TRIES      1000
#define PTY_MAJOR_FIRST 136 /* Unix98 pty slaves, Documentation/admin-guide/devices.txt */
#define PTY_MAJOR_LAST  143

static void exec_free(struct exec *x)
{
	struct exec **at = &x->oci->execs;

	while (*at && *at != x)
		at = &(*at)->next;
	if (*at)
		*at = x->next;
	loop_unschedule(x->oci->base.loop, &x->fail);
	loop_timer_done(&x->kill_timer);
	if (x->pid_file)
		unlink(x->pid_file);
	if (x->process_file)
		unlink(x->process_file);
	free(x->pid_file);
	free(x->process_file);
	free(x->cgroup);
	free(x);
}

static void on_fail(void *arg)
{
	struct exec *x = arg;
	void (*done)(void *, int, const struct err *) = x->done;
	void *done_arg = x->arg;
	struct err error = x->error;

	exec_free(x);
	done(done_arg, -1, &error);
}

/* Without cgroups: a container always has a mount namespace of its own. */
static bool in_same_root(const struct exec *x, pid_t pid)
{
	auto_free char *own = xasprintf("/proc/%d/ns/mnt", (int)pid);
	auto_free char *first = xasprintf("/proc/%d/ns/mnt", (int)x->first);
	struct stat a, b;

	return stat(own, &a) == 0 && stat(first, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool in_container(const struct exec *x, pid_t pid)
{
	auto_free char *path = xasprintf("/proc/%d/cgroup", (int)pid);
	auto_free char *want = xasprintf(":%s\n", x->cgroup);
	auto_sbuf struct sbuf text = SBUF(MEMBERSHIP_MAX);
	struct err e = ERR_INIT;

	if (!*x->cgroup)
		return in_same_root(x, pid);
	return file_read(path, MEMBERSHIP_MAX, &text, &e) == 0 && text.p && strstr(text.p, want);
}

/* The extra process, if it has begun and is there; else 0.  Its pid is believed only inside the container. */
static pid_t inner_pid(const struct exec *x)
{
	int64_t pid = x->pid_file ? state_read_number(x->pid_file) : x->child;

	if (!x->pid_file)
		return x->child;
	return pid > 1 && in_container(x, (pid_t)pid) ? (pid_t)pid : 0;
}

/* With its children: it is in a session that the runtime made for it, so its group has no one else. */
static void kill_inner(const struct exec *x)
{
	pid_t pid = inner_pid(x), group = pid ? getpgid(pid) : 0;

	if (group > 1 && group != getpgrp())
		kill(-group, SIGKILL);
	if (pid)
		kill(pid, SIGKILL);
}

static void on_end(void *arg, pid_t pid, int status)
{
	struct exec *x = arg;
	void (*done)(void *, int, const struct err *) = x->done;
	void *done_arg = x->arg;
	bool began = !x->pid_file || state_read_number(x->pid_file) > 0;
	struct err error = ERR_INIT;
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

	(void)pid;
	x->child = 0;
	if (!began && code)
		err_set(&error, ERR_UNAVAILABLE, "%s could not run the command (exit status %d)", x->oci->with.name,
			code);
	exec_free(x);
	done(done_arg, code, began || !code ? NULL : &error);
}

static int write_process(struct exec *x, const struct exec_start *start, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(PROCESS_MAX);
	json_auto_t *process = json_copy((json_t *)start->process);
	const char *slash = strrchr(x->process_file, '/');
	auto_free char *dir = xstrndup(x->process_file, (size_t)(slash - x->process_file));

	json_object_set_new(process, "terminal", json_boolean(start->tty));
	jsonx_dump(process, &text);
	if (text.over)
		return err_set(e, ERR_TOO_LARGE, "the command is longer than %u bytes", PROCESS_MAX);
	return state_write(dir, slash + 1, sbuf_str(&text), e);
}

/* The caller's pty is only a pipe with a size: input must pass through it unchanged from the first byte, not only once
 * the runtime has got round to it.  (runc turns newline translation on again here and off inside; between the two a
 * line may end in two carriage returns, which no terminal shows.) */
static void make_raw(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t) < 0)
		return;
	cfmakeraw(&t);
	tcsetattr(fd, TCSANOW, &t);
}

static pid_t run_by_runtime(struct exec *x, const struct exec_start *start, const struct box *b, struct err *e)
{
	const char *argv[] = { x->oci->with.program, x->oci->with.option, x->oci->root_arg, "exec", "--process",
			       x->process_file,      "--pid-file",        x->pid_file,      b->id,  NULL };
	struct spawn s = {
		.argv = argv,
		.fds = { start->stdin_fd, start->tty ? start->stdin_fd : start->stdout_fd,
			 start->tty ? start->stdin_fd : start->stderr_fd },
		.hide = x->oci->with.hide,
		.tty = start->tty,
	};

	if (write_process(x, start, e) < 0)
		return -1;
	if (start->tty)
		make_raw(start->stdin_fd);
	return spawn_start(&s, e);
}

static int run(struct exec *x, const struct exec_start *start, const struct box *b, struct err *e)
{
	x->child = x->pid_file ? run_by_runtime(x, start, b, e) : process_exec(b, start, e);
	if (x->child < 0) {
		x->child = 0;
		return -1;
	}
	return loop_on_child(x->oci->base.loop, x->child, on_end, x, e);
}

void *oci_exec(struct runtime *r, const struct exec_start *start,
	       void (*done)(void *arg, int status, const struct err *e), void *arg)
{
	struct oci *o = (struct oci *)r;
	struct box *b = map_find(&o->boxes, start->id);
	struct exec *x = xcalloc(1, sizeof(*x));

	*x = (struct exec){ .oci = o, .done = done, .arg = arg, .next = o->execs };
	x->error = ERR_INIT;
	x->fail = (struct loop_hook){ .run = on_fail, .arg = x, .phase = LOOP_WORK };
	o->execs = x;
	if (!b || b->state != BOX_RUNNING) {
		err_set(&x->error, ERR_NOT_FOUND, "container %s is not running", start->id);
		loop_schedule(o->base.loop, &x->fail);
		return x;
	}
	o->exec_count++;
	x->cgroup = xstrdup(b->cgroup);
	x->first = b->pid;
	if (!box_is_process(b)) {
		x->pid_file = xasprintf("%s/exec-%u.pid", b->dir, o->exec_count);
		x->process_file = xasprintf("%s/exec-%u.json", b->dir, o->exec_count);
	}
	if (run(x, start, b, &x->error) < 0)
		loop_schedule(o->base.loop, &x->fail);
	return x;
}

/* A runtime that is killed between making the process and saying its pid leaves one behind that nobody can find: so it
 * is given the few milliseconds it needs to say it. */
static void on_kill_timer(void *arg)
{
	struct exec *x = arg;
	bool begun = inner_pid(x) > 0;

	if (!begun && ++x->kill_tries < KILL_TRIES) {
		loop_timer_set(x->oci->base.loop, &x->kill_timer, KILL_RETRY_MS);
		return;
	}
	kill_inner(x);
	kill(-x->child, SIGKILL);
}

void oci_exec_kill(struct runtime *r, void *exec)
{
	struct exec *x = exec;

	(void)r;
	if (x->child <= 0 || x->kill_tries)
		return;
	x->kill_timer = (struct loop_timer){ .fire = on_kill_timer, .arg = x };
	on_kill_timer(x);
}

/* The terminal a process has as its input, opened without touching anything that is no terminal: the container chose
 * what is there. */
static int open_terminal(pid_t pid)
{
	auto_free char *path = xasprintf("/proc/%d/fd/0", (int)pid);
	auto_close int at = open(path, O_PATH | O_CLOEXEC);
	auto_free char *again = xasprintf("/proc/self/fd/%d", at);
	struct stat st;

	if (at < 0 || fstat(at, &st) < 0 || !S_ISCHR(st.st_mode) || major(st.st_rdev) < PTY_MAJOR_FIRST ||
	    major(st.st_rdev) > PTY_MAJOR_LAST)
		return -1;
	return open(again, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

int oci_exec_resize(struct runtime *r, void *exec, int rows, int cols, struct err *e)
{
	struct exec *x = exec;
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };
	pid_t pid = inner_pid(x);
	auto_close int fd = pid ? open_terminal(pid) : -1;

	(void)r;
	if (fd < 0 || ioctl(fd, TIOCSWINSZ, &size) < 0)
		return err_set(e, ERR_UNAVAILABLE, "the command has no terminal now");
	return 0;
}

void exec_free_all(struct oci *o)
{
	struct err stopped = ERR_INIT;

	err_set(&stopped, ERR_UNAVAILABLE, "the server stops");
	while (o->execs) {
		struct exec *x = o->execs;
		void (*done)(void *, int, const struct err *) = x->done;
		void *arg = x->arg;

		if (x->child > 0) {
			loop_forget_child(o->base.loop, x->child);
			kill_inner(x);
			kill(-x->child, SIGKILL);
			waitpid(x->child, NULL, 0);
		}
		exec_free(x);
		done(arg, -1, &stopped); /* who waits for it may hold memory for it */
	}
}
