// SPDX-License-Identifier: Apache-2.0
/* down.c - `stoker down`: ends every pod of a server, then the server
 *
 * A server that was merely stopped or killed leaves its pods running, on purpose.  This is the other way: it asks the
 * server, by a signal, to end its pods as for a shutdown of the machine, and waits for it.  If no server runs on the
 * directory, one is started just for this, so that what it left behind is found and ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "client/client.h"

#define READY_MS   30000
#define TIMEOUT    120
#define LINE_BYTES 4096

struct down_settings {
	const char *data;
	int64_t timeout;
};

static const struct opt down_opts[] = {
	{ .name = "data",
	  .type = OPT_STRING,
	  .offset = offsetof(struct down_settings, data),
	  .arg = "DIR",
	  .help = "the server's directory (default as root: /var/lib/stoker)" },
	{ .name = "timeout",
	  .type = OPT_DURATION,
	  .offset = offsetof(struct down_settings, timeout),
	  .arg = "TIME",
	  .help = "how long to wait for pods to end (default: 2m)" },
	OPT_END,
};

/* The pid of the server that holds the directory, 0 if none does. */
static int find_server(const char *dir, pid_t *ret, struct err *e)
{
	auto_free char *path = xasprintf("%s/lock", dir);
	auto_close int fd = open(path, O_RDWR | O_CLOEXEC);
	struct flock held = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	auto_sbuf struct sbuf text = SBUF(LINE_BYTES);

	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FORBIDDEN, "%s", path);
	if (fcntl(fd, F_GETLK, &held) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", path);
	*ret = 0;
	if (held.l_type == F_UNLCK)
		return 0;
	*ret = held.l_pid;
	if (*ret <= 0 && file_read(path, LINE_BYTES, &text, e) == 0 && text.p)
		*ret = (pid_t)strtol(text.p, NULL, 10);
	return *ret > 0 ? 0 : err_set(e, ERR_INTERNAL, "%s does not say which process holds it", path);
}

/* Waits for the ready line on fd. */
static int wait_ready(int fd, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[LINE_BYTES];

	if (poll(&p, 1, READY_MS) <= 0 || read(fd, buf, sizeof(buf)) <= 0)
		return err_set(e, ERR_UNAVAILABLE, "a server on the directory did not start; its message is above");
	return 0;
}

static int start_server(const char *dir, pid_t *ret, struct err *e)
{
	auto_free char *sock = xasprintf("%s/down.sock", dir);
	auto_close int out = -1;
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return err_errno(e, ERR_INTERNAL, "pipe");
	out = pipes[0];
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], STDOUT_FILENO);
		execl("/proc/self/exe", "stoker", "serve", "--data", dir, "--listen", "127.0.0.1:0", "--socket", sock,
		      "--log-level", "warn", (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	if (pid < 0)
		return err_errno(e, ERR_INTERNAL, "fork");
	if (wait_ready(out, e) < 0) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
		return -1;
	}
	*ret = pid;
	return 0;
}

/* By a pidfd: the server need not be a child of ours. */
static int end_server(pid_t pid, int64_t timeout, struct err *e)
{
	auto_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0 || syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0) < 0)
		return err_errno(e, errno == EPERM ? ERR_FORBIDDEN : ERR_INTERNAL, "cannot signal the server (pid %d)",
				 (int)pid);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "stoker: waiting for the pods of the server with pid %d to end ...\n", (int)pid);
	if (poll(&p, 1, (int)(timeout * 1000)) <= 0)
		return err_set(
			e, ERR_TIMEOUT,
			"pods are still ending after %llds; the server goes on with it. Run `stoker down` again to "
			"wait longer, or delete them with --grace-period=0",
			(long long)timeout);
	return 0;
}

static int run_down(const struct command *cmd, int argc, char **argv)
{
	auto_sbuf struct sbuf data = SBUF(LINE_BYTES);
	struct down_settings s = { .timeout = TIMEOUT };
	struct err e = ERR_INIT;
	pid_t pid = 0;
	char **rest;
	int nrest;

	default_data_dir(&data);
	s.data = data.p;
	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	if (find_server(s.data, &pid, &e) < 0) {
		if (e.kind == ERR_NOT_FOUND)
			err_set(&e, ERR_NOT_FOUND,
				"%s is no data directory of stoker serve; name the right one with --data", s.data);
		return command_fail(cmd, &e);
	}
	if ((!pid && start_server(s.data, &pid, &e) < 0) || end_server(pid, s.timeout, &e) < 0)
		return command_fail(cmd, &e);
	printf("all pods of %s have ended and the server has stopped\n", s.data);
	return 0;
}

const struct command cmd_down = {
	.name = "down",
	.args = "[--data DIR] [--timeout TIME]",
	.summary = "End all pods and the server",
	.details =
		"Pods outlive a server that is stopped, killed or upgraded. This ends them as well, each within its\n"
		"grace period, and takes their network down. It also works when no server is running.\n\n"
		"Examples:\n"
		"  stoker down\n"
		"  stoker down --data ./lab --timeout 10s\n",
	.opts = down_opts,
	.run = run_down,
};
