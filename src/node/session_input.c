// SPDX-License-Identifier: Apache-2.0
/* session_input.c - what a client types, on its way into the container
 *
 * Input waits in a queue and is written when the process can take it.  `drained` follows every piece of input once, so
 * that a client may simply wait for it.  A process that does not read any more is no error: its input is dropped, as a
 * shell's is.
 */
#include <errno.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "node/session_parts.h"

#define WRITES_A_TURN 16
#define CHUNK_BYTES   8192 /* a packet of an attached stream is read with a buffer of this size */
#define EOT           "\004"

void session_close_input(struct kubelet_session *s)
{
	loop_fd_free(s->in_watch);
	s->in_watch = NULL;
	if (s->in_fd < 0)
		return;
	if (s->attach)
		shutdown(s->in_fd, SHUT_WR);
	else if (!s->tty)
		close(s->in_fd); /* a terminal's is also its output */
	s->in_fd = -1;
}

void session_tell_drained(void *arg)
{
	struct kubelet_session *s = arg;

	session_enter(s);
	s->h.drained(s->h.arg);
	session_leave(s);
}

static void on_drained(struct kubelet_session *s)
{
	sbuf_reset(&s->queue);
	s->taken = 0;
	loop_fd_free(s->in_watch);
	s->in_watch = NULL;
	if (s->in_ends)
		session_close_input(s);
	session_tell_drained(s);
}

static ssize_t write_some(struct kubelet_session *s)
{
	size_t left = s->queue.n - s->taken;
	const char *p = s->queue.p + s->taken;

	if (left > CHUNK_BYTES)
		left = CHUNK_BYTES;
	return s->attach ? send(s->in_fd, p, left, MSG_NOSIGNAL) : write(s->in_fd, p, left);
}

static void on_writable(void *arg, bool readable, bool writable)
{
	struct kubelet_session *s = arg;

	(void)readable;
	(void)writable;
	for (int i = 0; i < WRITES_A_TURN && s->taken < s->queue.n; i++) {
		ssize_t n = write_some(s);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) { /* nobody reads any more */
			s->taken = s->queue.n;
			s->in_ends = true;
			break;
		}
		s->taken += (size_t)n;
	}
	if (s->taken == s->queue.n)
		on_drained(s);
}

/* Room that was taken from the front is given back before more is asked for. */
static void pack(struct kubelet_session *s)
{
	if (s->taken < s->queue.n / 2 || !s->taken)
		return;
	memmove(s->queue.p, s->queue.p + s->taken, s->queue.n - s->taken);
	s->queue.n -= s->taken;
	s->taken = 0;
}

static void write_later(struct kubelet_session *s)
{
	if (!s->in_watch)
		s->in_watch = loop_fd_new(s->loop, s->in_fd, false, true, on_writable, s);
}

void session_input(struct kubelet_session *s, struct str bytes)
{
	if (s->gone)
		return;
	if (s->in_fd < 0 || s->in_ends) {
		loop_schedule(s->loop, &s->dropped);
		return;
	}
	pack(s);
	sbuf_add(&s->queue, bytes.p, bytes.n);
	if (s->queue.over) {
		err_set(&s->error, ERR_TOO_LARGE, "more than %u bytes of input wait to be read", SESSION_INPUT_MAX);
		s->code = -1;
		loop_schedule(s->loop, &s->finish);
	}
	write_later(s);
}

size_t session_input_pending(const struct kubelet_session *s)
{
	return s->gone || s->in_fd < 0 ? 0 : s->queue.n - s->taken;
}

void session_input_end(struct kubelet_session *s)
{
	if (s->gone || s->in_fd < 0 || s->in_ends)
		return;
	if (s->tty && !s->attach)
		sbuf_adds(&s->queue, EOT);
	s->in_ends = true;
	write_later(s);
}
