// SPDX-License-Identifier: Apache-2.0
/* command.c - a command in a container, run for its exit status and the beginning of what it says
 *
 * Output and error share a pipe.  All of it is read, so that the command is not held up, and only the beginning is
 * kept. The end is the end of the process: a child of it that keeps the pipe open is not waited for.
 */
#include "node/command.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "node/execution.h"

#define READS_A_TURN 16

struct command {
	struct loop *loop;
	struct execution *execution;
	int fd;
	struct loop_fd *watch;
	struct sbuf output;
	struct loop_timer deadline;
	struct loop_hook fail;
	struct err error;
	void (*done)(void *arg, int status, struct str output, const struct err *e);
	void *arg;
};

static void command_free(struct command *c)
{
	execution_abandon(c->execution);
	loop_fd_free(c->watch);
	if (c->fd >= 0)
		close(c->fd);
	loop_timer_done(&c->deadline);
	loop_unschedule(c->loop, &c->fail);
	sbuf_done(&c->output);
	free(c);
}

void command_cancel(struct command *c)
{
	if (c)
		command_free(c);
}

static void finish(struct command *c, int status)
{
	void (*done)(void *, int, struct str, const struct err *) = c->done;
	void *arg = c->arg;
	struct err error = c->error;
	struct sbuf output = c->output;

	c->output = SBUF(0);
	command_free(c);
	done(arg, status, sbuf_str(&output), &error);
	sbuf_done(&output);
}

static void on_output(void *arg, bool readable, bool writable)
{
	struct command *c = arg;
	char buf[4096];
	ssize_t n = -1;

	(void)readable;
	(void)writable;
	for (int i = 0; i < READS_A_TURN && (n = read(c->fd, buf, sizeof(buf))) > 0; i++)
		sbuf_add(&c->output, buf, (size_t)n);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	loop_fd_free(c->watch);
	c->watch = NULL;
}

static void on_end(void *arg, int status, const struct err *e)
{
	struct command *c = arg;

	c->execution = NULL;
	if (c->watch)
		on_output(c, true, false);
	if (e && e->kind != ERR_NONE)
		c->error = *e;
	finish(c, status);
}

static void on_deadline(void *arg)
{
	struct command *c = arg;

	err_set(&c->error, ERR_TIMEOUT, "timed out");
	finish(c, -1);
}

static void on_fail(void *arg)
{
	finish(arg, -1);
}

struct command *command_start(const struct command_request *q)
{
	struct command *c = xcalloc(1, sizeof(*c));
	json_auto_t *process = execution_process(q->process, q->args, false);
	int fds[2];

	c->loop = q->loop;
	c->fd = -1;
	c->done = q->done;
	c->arg = q->arg;
	c->error = ERR_INIT;
	c->output = SBUF(COMMAND_OUTPUT_MAX);
	c->deadline = (struct loop_timer){ .fire = on_deadline, .arg = c };
	c->fail = (struct loop_hook){ .run = on_fail, .arg = c, .phase = LOOP_WORK };
	if (pipe2(fds, O_CLOEXEC) < 0) {
		err_errno(&c->error, ERR_UNAVAILABLE, "cannot make a pipe");
		loop_schedule(c->loop, &c->fail);
		return c;
	}
	/* Only this side: the command's own descriptor shall block. */
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	c->fd = fds[0];
	c->watch = loop_fd_new(c->loop, c->fd, true, false, on_output, c);
	c->execution = execution_start(
		q->runtime,
		&(struct exec_start){
			.id = q->id, .process = process, .stdin_fd = -1, .stdout_fd = fds[1], .stderr_fd = fds[1] },
		on_end, c);
	close(fds[1]);
	if (q->timeout_ms > 0)
		loop_timer_set(c->loop, &c->deadline, q->timeout_ms);
	return c;
}
