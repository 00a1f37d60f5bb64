// SPDX-License-Identifier: Apache-2.0
/* session_open.c - the pipes, the terminal or the socket of a new session
 *
 * The process gets one side of each, the session keeps the other, and no descriptor is inherited by anybody else.  Only
 * the session's sides do not block: a process expects its own to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/mem.h"
#include "node/session_parts.h"

/* The process's sides; closed as soon as it has them. */
struct sides {
	int fds[3];
};

static void sides_close(struct sides *p)
{
	for (int i = 0; i < 3; i++)
		if (p->fds[i] >= 0)
			close(p->fds[i]);
}

static int unblock(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* ours: 0 to read from it, 1 to write into it. */
static int make_pipe(int *ret_ours, int *ret_theirs, int ours, struct err *e)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a pipe");
	unblock(fds[ours]);
	*ret_ours = fds[ours];
	*ret_theirs = fds[!ours];
	return 0;
}

static int make_pipes(struct kubelet_session *s, bool in, struct sides *p, struct err *e)
{
	if (in && make_pipe(&s->in_fd, &p->fds[0], 1, e) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (s->wants[i + 1] && make_pipe(&s->out[i].fd, &p->fds[i + 1], 0, e) < 0)
			return -1;
	return 0;
}

static int make_terminal(struct kubelet_session *s, bool in, struct sides *p, struct err *e)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	if (master < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a terminal");
	s->out[0].fd = master;
	if (grantpt(master) < 0 || unlockpt(master) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a terminal");
	p->fds[0] = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->fds[0] < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot open the other side of a terminal");
	if (in)
		s->in_fd = master;
	return 0;
}

int session_exec(const struct session_where *at, const struct pod_container *c, const struct kubelet_exec_request *q,
		 const struct kubelet_session_handlers *h, struct kubelet_session **ret, struct err *e)
{
	struct kubelet_session *s = session_new(at, c->id, q, h);
	json_auto_t *process = execution_process(c->process, q->command, q->tty);
	struct sides p = { { -1, -1, -1 } };

	if ((q->tty ? make_terminal(s, q->in, &p, e) : make_pipes(s, q->in, &p, e)) < 0) {
		sides_close(&p);
		session_discard(s);
		return -1;
	}
	if (q->tty && q->rows > 0 && q->cols > 0) {
		const struct winsize size = { .ws_row = (unsigned short)q->rows, .ws_col = (unsigned short)q->cols };

		ioctl(p.fds[0], TIOCSWINSZ, &size);
		json_object_set_new(process, "consoleSize",
				    json_pack("{s:i, s:i}", "height", q->rows, "width", q->cols));
	}
	s->execution = execution_start(at->runtime,
				       &(struct exec_start){ .id = c->id,
							     .process = process,
							     .stdin_fd = p.fds[0],
							     .stdout_fd = p.fds[1],
							     .stderr_fd = p.fds[2],
							     .tty = q->tty },
				       session_on_process_end, s);
	sides_close(&p);
	session_watch(s);
	*ret = s;
	return 0;
}

int session_attach(const struct session_where *at, const struct pod_container *c, const struct kubelet_exec_request *q,
		   const struct kubelet_session_handlers *h, struct kubelet_session **ret, struct err *e)
{
	struct kubelet_session *s;
	int fd = at->runtime->ops->attach(at->runtime, c->id, e);

	if (fd < 0)
		return -1;
	unblock(fd);
	s = session_new(at, c->id, q, h);
	s->attach = true;
	s->tty = c->tty;
	s->out[0].fd = fd;
	if (q->in && c->stdin_open)
		s->in_fd = fd;
	session_watch(s);
	*ret = s;
	return 0;
}
