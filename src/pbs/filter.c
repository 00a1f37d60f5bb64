// SPDX-License-Identifier: Apache-2.0
/* filter.c - a site's submit filter: the script goes in, the script that counts comes out
 *
 * Both pipes are served in turn, because a filter may write before it has read everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "pbs/config.h"

enum { REJECTED = 255 }; /* exit status -1: the administrators say no */

static int start(const char *filter, int argc, char *const *argv, int in, int out, pid_t *ret, struct err *e)
{
	auto_free char **args = xcalloc((size_t)argc + 1, sizeof(*args));
	posix_spawn_file_actions_t actions;
	int r;

	args[0] = (char *)filter;
	for (int i = 1; i < argc; i++)
		args[i] = argv[i];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	r = posix_spawn(ret, filter, &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = r;
	return r ? err_errno(e, ERR_INTERNAL, "submit filter %s", filter) : 0;
}

/* Writes what is left and reads what there is until the filter has closed its output. */
static void serve(int to, int from, struct str script, struct sbuf *out)
{
	char piece[65536];
	ssize_t n;

	for (;;) {
		struct pollfd fds[] = { { .fd = from, .events = POLLIN },
					{ .fd = script.n ? to : -1, .events = POLLOUT } };

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents) {
			n = write(to, script.p, script.n);
			script = n > 0 ? (struct str){ script.p + n, script.n - (size_t)n } : (struct str){ 0 };
			if (!script.n)
				close(to);
		}
		if (!fds[0].revents)
			continue;
		n = read(from, piece, sizeof(piece));
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		if (n > 0)
			sbuf_add(out, piece, (size_t)n);
	}
	if (script.n)
		close(to);
}

static int verdict(const char *filter, int status, const struct sbuf *out, struct err *e)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == REJECTED)
		return err_set(e, ERR_FORBIDDEN,
			       "Your job has been administratively rejected by the queueing system.\n"
			       "qsub: There may be a more detailed explanation prior to this notice.");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(e, ERR_FORBIDDEN, "submit filter %s returned an error code, aborting job submission",
			       filter);
	if (out->over)
		return err_set(e, ERR_TOO_LARGE, "submit filter %s wrote more than %zu bytes", filter, out->max);
	return 0;
}

int filter_run(const char *filter, int argc, char *const *argv, struct str script, struct sbuf *out, struct err *e)
{
	int in[2], from[2], status;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0)
		return err_errno(e, ERR_INTERNAL, "submit filter");
	if (pipe2(from, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return err_errno(e, ERR_INTERNAL, "submit filter");
	}
	status = start(filter, argc, argv, in[0], from[1], &pid, e);
	close(in[0]);
	close(from[1]);
	if (status < 0 || !script.n)
		close(in[1]);
	if (status == 0) {
		signal(SIGPIPE, SIG_IGN);
		fcntl(in[1], F_SETFL, O_NONBLOCK);
		serve(in[1], from[0], script, out);
	}
	close(from[0]);
	if (status < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return verdict(filter, status, out, e);
}
