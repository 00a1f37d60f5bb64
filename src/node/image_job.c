// SPDX-License-Identifier: Apache-2.0
/* image_job.c - a function runs in a child process and reports through a pipe
 *
 * The child is a copy of this process, so work is plain sequential code over the same structs; it dies with its
 * parent, and whatever it started dies with it.  Its lines:
 *
 *	P text          progress
 *	R json          the result
 *	E kind text     or the error
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/image_parts.h"

#define LINE_MAX_LEN (16u << 20)
#define REPORT_FD    3

struct image_job {
	struct loop *loop;
	struct image_job_events events;
	pid_t pid;
	int fd;
	struct loop_fd *watch;
	struct sbuf text; /* an unfinished line */
	json_t *result;
	struct err err;
};

void image_child_begin(int first)
{
	static const int handled[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2, SIGPIPE };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The loop's handlers would write into a socket that belongs to the parent. */
	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		signal(handled[i], SIG_DFL);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	(void)!syscall(SYS_close_range, (unsigned)first, ~0u, 0);
}

static void put(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return;
		p += done;
		n -= (size_t)done;
	}
}

/* One line: whatever breaks it becomes a space. */
static void put_line(int fd, char type, const char *text)
{
	auto_sbuf struct sbuf line = SBUF(LINE_MAX_LEN);

	sbuf_addf(&line, "%c %s", type, text);
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] == '\n' || line.p[i] == '\r')
			line.p[i] = ' ';
	sbuf_addc(&line, '\n');
	put(fd, line.p, line.n);
}

void image_worker_say(struct image_worker *w, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	if (!w)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	put_line(w->fd, 'P', text);
}

static _Noreturn void run_child(int fd, image_work_fn *work, void *arg)
{
	struct image_worker w = { .fd = REPORT_FD };
	struct err e = ERR_INIT;
	json_t *result = NULL;
	auto_sbuf struct sbuf text = SBUF(LINE_MAX_LEN);

	if (dup2(fd, REPORT_FD) < 0 || fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC) < 0)
		_exit(1);
	image_child_begin(REPORT_FD + 1);
	if (work(&w, arg, &result, &e) < 0) {
		sbuf_addf(&text, "%d %s", (int)e.kind, e.text);
		put_line(REPORT_FD, 'E', text.p);
	} else {
		if (result)
			jsonx_dump(result, &text);
		put_line(REPORT_FD, 'R', text.n ? text.p : "null");
	}
	_exit(0);
}

static void take_error(struct image_job *j, const char *text)
{
	char *end;
	long kind = strtol(text, &end, 10);

	if (kind <= ERR_NONE || kind >= ERR__COUNT)
		kind = ERR_INTERNAL;
	err_set(&j->err, (enum err_kind)kind, "%s", *end == ' ' ? end + 1 : end);
}

static void take_line(struct image_job *j, const char *line, size_t n)
{
	struct err e = ERR_INIT;

	if (n < 2)
		return;
	if (line[0] == 'P' && j->events.line)
		j->events.line(j->events.arg, line + 2);
	else if (line[0] == 'E')
		take_error(j, line + 2);
	else if (line[0] == 'R' && !j->result)
		(void)!jsonx_parse(line + 2, n - 2, NULL, NULL, &j->result, &e);
}

static void take_text(struct image_job *j, const char *p, size_t n)
{
	while (n) {
		const char *end = memchr(p, '\n', n);
		size_t part = end ? (size_t)(end - p) : n;

		sbuf_add(&j->text, p, part);
		if (!end)
			return;
		take_line(j, j->text.p ? j->text.p : "", j->text.n);
		sbuf_reset(&j->text);
		p += part + 1;
		n -= part + 1;
	}
}

static void drain(struct image_job *j)
{
	char buf[16384];
	ssize_t n;

	while ((n = read(j->fd, buf, sizeof(buf))) > 0)
		take_text(j, buf, (size_t)n);
	if (n == 0) {
		loop_fd_free(j->watch);
		j->watch = NULL;
	}
}

static void on_readable(void *arg, bool readable, bool writable)
{
	(void)readable;
	(void)writable;
	drain(arg);
}

static void job_release(struct image_job *j)
{
	loop_fd_free(j->watch);
	close(j->fd);
	sbuf_done(&j->text);
	json_decref(j->result);
	free(j);
}

static void on_exit_status(void *arg, pid_t pid, int status)
{
	struct image_job *j = arg;

	(void)pid;
	drain(j);
	if (!j->result && j->err.kind == ERR_NONE)
		err_set(&j->err, ERR_INTERNAL, "the process at work ended by %s %d",
			WIFSIGNALED(status) ? "signal" : "exit status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	j->events.done(j->events.arg, j->result, &j->err);
	job_release(j);
}

int image_job_start(struct loop *loop, image_work_fn *work, void *arg, const struct image_job_events *events,
		    struct image_job **ret, struct err *e)
{
	struct image_job *j;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a pipe");
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		run_child(fds[1], work, arg);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err_errno(e, ERR_UNAVAILABLE, "cannot start a process");
	}
	(void)!fcntl(fds[0], F_SETFL, O_NONBLOCK);
	j = xcalloc(1, sizeof(*j));
	*j = (struct image_job){
		.loop = loop, .events = *events, .pid = pid, .fd = fds[0], .text = SBUF(LINE_MAX_LEN), .err = ERR_INIT
	};
	if (loop_on_child(loop, pid, on_exit_status, j, e) < 0) {
		image_job_free(j);
		return -1;
	}
	j->watch = loop_fd_new(loop, j->fd, true, false, on_readable, j);
	*ret = j;
	return 0;
}

void image_job_free(struct image_job *j)
{
	if (!j)
		return;
	loop_forget_child(j->loop, j->pid);
	kill(j->pid, SIGKILL);
	while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
		;
	job_release(j);
}
