// SPDX-License-Identifier: Apache-2.0
/* hand.h - a runtime whose "container" is this machine: extra processes are plain children with the caller's
 * descriptors
 *
 * For what runs commands in containers, to be tested with real pipes and terminals and without root.
 */
#ifndef STOKER_TEST_NODE_HAND_H
#define STOKER_TEST_NODE_HAND_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/runtime.h"
#include "test.h"

#define HAND      __attribute__((unused)) static
#define HAND_ARGS 16

struct hand {
	struct runtime base;
	int running, kills, rows, cols;
	int attach_fd;   /* what attach() gives away */
	json_t *process; /* of the last exec */
};

struct hand_exec {
	struct hand *hand;
	pid_t pid;
	void (*done)(void *arg, int status, const struct err *e);
	void *arg;
};

HAND void hand_on_child(void *arg, pid_t pid, int status)
{
	struct hand_exec *x = arg;

	(void)pid;
	x->hand->running--;
	x->done(x->arg, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), NULL);
	free(x);
}

HAND _Noreturn void hand_child(const struct exec_start *start)
{
	char *argv[HAND_ARGS + 1] = { 0 };
	int fds[3] = { start->stdin_fd, start->tty ? start->stdin_fd : start->stdout_fd,
		       start->tty ? start->stdin_fd : start->stderr_fd };
	const json_t *args = json_object_get(start->process, "args");

	setsid();
	if (start->tty)
		ioctl(start->stdin_fd, TIOCSCTTY, 0);
	for (int i = 0; i < 3; i++)
		dup2(fds[i] < 0 ? open("/dev/null", O_RDWR) : fds[i], i);
	for (size_t i = 0; i < json_array_size(args) && i < HAND_ARGS; i++)
		argv[i] = strdup(json_string_value(json_array_get(args, i)));
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	_exit(127);
}

HAND void *hand_exec(struct runtime *r, const struct exec_start *start,
		     void (*done)(void *arg, int status, const struct err *e), void *arg)
{
	struct hand_exec *x = xcalloc(1, sizeof(*x));
	struct err e = ERR_INIT;

	*x = (struct hand_exec){ .hand = (struct hand *)r, .done = done, .arg = arg };
	json_decref(x->hand->process);
	x->hand->process = jsonx_copy(start->process);
	x->hand->running++;
	x->pid = fork();
	if (!x->pid)
		hand_child(start);
	CHECK_INT(loop_on_child(r->loop, x->pid, hand_on_child, x, &e), 0);
	return x;
}

HAND void hand_exec_kill(struct runtime *r, void *exec)
{
	struct hand_exec *x = exec;

	((struct hand *)r)->kills++;
	kill(x->pid, SIGKILL);
	kill(-x->pid, SIGKILL);
}

HAND int hand_exec_resize(struct runtime *r, void *exec, int rows, int cols, struct err *e)
{
	struct hand *h = (struct hand *)r;

	(void)exec;
	(void)e;
	h->rows = rows;
	h->cols = cols;
	return 0;
}

HAND int hand_attach(struct runtime *r, const char *id, struct err *e)
{
	struct hand *h = (struct hand *)r;
	int fd = h->attach_fd;

	h->attach_fd = -1;
	return fd >= 0 ? fd : err_set(e, ERR_UNAVAILABLE, "cannot attach to container %s", id);
}

HAND int hand_resize(struct runtime *r, const char *id, int rows, int cols, struct err *e)
{
	(void)id;
	return hand_exec_resize(r, NULL, rows, cols, e);
}

HAND void hand_open(struct hand *h)
{
	static const struct runtime_ops ops = { .name = "hand",
						.exec = hand_exec,
						.exec_kill = hand_exec_kill,
						.exec_resize = hand_exec_resize,
						.attach = hand_attach,
						.resize = hand_resize };

	*h = (struct hand){ .base = { .ops = &ops, .loop = loop_new() }, .attach_fd = -1 };
}

HAND void hand_tick(void *arg)
{
	(void)arg;
}

/* Turns until *counter is `want`, at most `seconds`, but a minute: the machine may be busy. */
HAND bool hand_wait(struct hand *h, const int *counter, int want, int seconds)
{
	int64_t until = clock_mono_ms() + (seconds > 60 ? seconds : 60) * 1000;
	struct loop_timer tick = { .fire = hand_tick };

	while (*counter < want && clock_mono_ms() < until) {
		loop_timer_set(h->base.loop, &tick, 20);
		loop_turn(h->base.loop, false);
	}
	loop_timer_done(&tick);
	CHECK_INT(*counter, want);
	return *counter == want;
}

/* Every child is waited for, so that nothing is left behind. */
HAND void hand_close(struct hand *h)
{
	int64_t until = clock_mono_ms() + 60000;

	while (h->running && clock_mono_ms() < until) {
		loop_turn(h->base.loop, true);
		usleep(2000);
	}
	CHECK_INT(h->running, 0);
	json_decref(h->process);
	loop_free(h->base.loop);
}

/* A socket that listens on 127.0.0.1 (backlog 0 refuses nobody); *ret_port is its port. */
HAND int hand_listen(int *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, n) == 0 && listen(fd, 8) == 0 &&
	      getsockname(fd, (struct sockaddr *)&at, &n) == 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

#endif
