// SPDX-License-Identifier: Apache-2.0
/* capture.h - runs a command in a child process and keeps what it printed
 *
 * The child ends with _exit(): what the tests registered for their own end is not its business.
 */
#ifndef STOKER_TEST_CAPTURE_H
#define STOKER_TEST_CAPTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "test.h"

struct capture {
	int status;
	struct sbuf out, err;
};

static inline void capture_done(struct capture *c)
{
	sbuf_done(&c->out);
	sbuf_done(&c->err);
}

static inline void capture_into(const char *path, int fd)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(99);
	close(file);
}

/* Runs fn(arg) in a child; `meanwhile` (or NULL) is called until it has ended. */
static inline struct capture capture_run(int (*fn)(void *arg), void *arg, void (*meanwhile)(void *arg),
					 void *meanwhile_arg)
{
	struct capture c = { .status = -1, .out = SBUF(1 << 20), .err = SBUF(1 << 20) };
	auto_free char *out = xasprintf("%s/out", test_dir());
	auto_free char *err = xasprintf("%s/err", test_dir());
	struct err e = ERR_INIT;
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int r;

		capture_into(out, STDOUT_FILENO);
		capture_into(err, STDERR_FILENO);
		r = fn(arg);
		fflush(NULL);
		_exit(r);
	}
	while (waitpid(pid, &status, meanwhile ? WNOHANG : 0) == 0)
		meanwhile(meanwhile_arg);
	c.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	CHECK_INT(file_read(out, 1 << 20, &c.out, &e), 0);
	CHECK_INT(file_read(err, 1 << 20, &c.err, &e), 0);
	sbuf_adds(&c.out, ""); /* never NULL */
	sbuf_adds(&c.err, "");
	return c;
}

/* Words of a command line; the last one is NULL. */
static inline int capture_main(void *arg)
{
	char **words = arg;
	int n = 0;

	while (words[n])
		n++;
	return command_main(n, words);
}

#define CAPTURE(meanwhile, arg, ...)                                                                                   \
	capture_run(capture_main, (char *[]){ (char *)"stoker", __VA_ARGS__, NULL }, meanwhile, arg)

#endif
