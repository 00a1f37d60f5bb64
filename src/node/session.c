// SPDX-License-Identifier: Apache-2.0
/* session.c - a client's hands in a container: output, terminal size, and the end
 *
 * Output is read a piece at a time and only while the client takes it, so a slow client slows the process and not the
 * server.  A session of an extra process is over when that has ended and its output has been read; a process it left
 * behind may hold the output open, so silence ends it too.  An attached session is over when the container is.
 */
#include "node/session.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#include "base/mem.h"
#include "node/session_parts.h"

#define PIECE_BYTES   (32 * 1024)
#define DRAIN_MS      500 /* of silence after the end of the process */
#define RESIZE_MS     50
#define RESIZE_TRIES  40
#define PACKET_STDOUT 2 /* the first byte of a packet of runtime.h's attach */
#define PACKET_STDERR 3

static void out_close(struct session_out *o)
{
	loop_fd_free(o->watch);
	o->watch = NULL;
	if (o->fd < 0)
		return;
	if (o->session->in_fd == o->fd)
		session_close_input(o->session);
	close(o->fd);
	o->fd = -1;
}

/* Lets go of everything but the memory. */
static void release(struct kubelet_session *s)
{
	session_close_input(s);
	out_close(&s->out[0]);
	out_close(&s->out[1]);
	execution_abandon(TAKE(s->execution));
	loop_timer_done(&s->resize);
	loop_timer_done(&s->drain);
	loop_unschedule(s->loop, &s->finish);
	loop_unschedule(s->loop, &s->dropped);
	LIST_REMOVE(s, link);
	s->gone = true;
}

static void session_free(struct kubelet_session *s)
{
	sbuf_done(&s->queue);
	free(s->id);
	free(s);
}

void session_enter(struct kubelet_session *s)
{
	s->depth++;
}

void session_leave(struct kubelet_session *s)
{
	if (--s->depth == 0 && s->gone)
		session_free(s);
}

void session_close(struct kubelet_session *s)
{
	if (!s || s->gone)
		return;
	session_enter(s);
	release(s);
	session_leave(s);
}

void session_discard(struct kubelet_session *s)
{
	session_close(s);
}

static void finish(struct kubelet_session *s)
{
	session_enter(s);
	release(s);
	s->h.ended(s->h.arg, s->code, &s->error);
	session_leave(s);
}

static void on_finish(void *arg)
{
	finish(arg);
}

void session_stop_all(struct session_list *list)
{
	while (!LIST_EMPTY(list)) {
		struct kubelet_session *s = LIST_FIRST(list);

		err_set(&s->error, ERR_UNAVAILABLE, "the server stops");
		s->code = -1;
		finish(s);
	}
}

/* --- the end --- */

static bool all_read(const struct kubelet_session *s)
{
	return s->out[0].fd < 0 && s->out[1].fd < 0;
}

static void on_silence(void *arg)
{
	struct kubelet_session *s = arg;

	if (s->paused) /* it is the client that is silent */
		loop_timer_set(s->loop, &s->drain, DRAIN_MS);
	else
		finish(s);
}

void session_on_process_end(void *arg, int status, const struct err *e)
{
	struct kubelet_session *s = arg;

	s->execution = NULL;
	s->process_ended = true;
	s->code = status;
	if (e && e->kind != ERR_NONE)
		s->error = *e;
	if (all_read(s))
		finish(s);
	else
		loop_timer_set(s->loop, &s->drain, DRAIN_MS);
}

/* --- output --- */

static void on_out_end(struct session_out *o)
{
	struct kubelet_session *s = o->session;

	out_close(o);
	if (all_read(s) && (s->process_ended || s->attach))
		finish(s);
}

static void give(struct kubelet_session *s, int stream, const char *p, size_t n)
{
	if (loop_timer_pending(&s->drain))
		loop_timer_set(s->loop, &s->drain, DRAIN_MS);
	if (!n || !s->wants[stream])
		return;
	session_enter(s);
	s->h.output(s->h.arg, stream, (struct str){ p, n });
	session_leave(s);
}

static void on_out(void *arg, bool readable, bool writable)
{
	struct session_out *o = arg;
	struct kubelet_session *s = o->session;
	char buf[PIECE_BYTES];
	ssize_t n = read(o->fd, buf, sizeof(buf));

	(void)readable;
	(void)writable;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* EIO is how a terminal says that nobody has its other side any more. */
	if (n <= 0)
		on_out_end(o);
	else if (!s->attach)
		give(s, o->stream, buf, (size_t)n);
	else if (buf[0] == PACKET_STDOUT || buf[0] == PACKET_STDERR)
		give(s, buf[0] - 1, buf + 1, (size_t)n - 1);
}

void session_watch(struct kubelet_session *s)
{
	for (int i = 0; i < 2; i++) {
		struct session_out *o = &s->out[i];

		if (o->fd >= 0 && !o->watch && !s->paused)
			o->watch = loop_fd_new(s->loop, o->fd, true, false, on_out, o);
	}
}

void session_pause(struct kubelet_session *s, bool paused)
{
	if (s->gone || s->paused == paused)
		return;
	s->paused = paused;
	session_watch(s);
	for (int i = 0; paused && i < 2; i++) {
		loop_fd_free(s->out[i].watch);
		s->out[i].watch = NULL;
	}
}

/* --- terminal --- */

static void on_resize(void *arg)
{
	struct kubelet_session *s = arg;
	struct err e = ERR_INIT;
	bool ok;

	if (s->attach)
		ok = s->runtime->ops->resize(s->runtime, s->id, s->rows, s->cols, &e) == 0;
	else
		ok = !s->execution || execution_resize(s->execution, s->rows, s->cols);
	if (!ok && ++s->resize_tries < RESIZE_TRIES)
		loop_timer_set(s->loop, &s->resize, RESIZE_MS);
}

/* A client tells the size at once, when the process may still be on its way to its terminal. */
void session_resize(struct kubelet_session *s, int rows, int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	if (s->gone || !s->tty || rows < 1 || cols < 1 || rows > UINT16_MAX || cols > UINT16_MAX)
		return;
	s->rows = rows;
	s->cols = cols;
	s->resize_tries = 0;
	if (!s->attach && s->out[0].fd >= 0)
		ioctl(s->out[0].fd, TIOCSWINSZ, &size);
	on_resize(s);
}

/* --- the beginning --- */

struct kubelet_session *session_new(const struct session_where *at, const char *id,
				    const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h)
{
	struct kubelet_session *s = xcalloc(1, sizeof(*s));

	s->loop = at->loop;
	s->runtime = at->runtime;
	s->h = *h;
	s->id = xstrdup(id);
	s->tty = q->tty;
	s->wants[1] = q->out;
	s->wants[2] = q->err && !q->tty;
	s->in_fd = -1;
	s->queue = SBUF(SESSION_INPUT_MAX);
	s->error = ERR_INIT;
	s->resize = (struct loop_timer){ .fire = on_resize, .arg = s };
	s->drain = (struct loop_timer){ .fire = on_silence, .arg = s };
	s->finish = (struct loop_hook){ .run = on_finish, .arg = s, .phase = LOOP_WORK };
	s->dropped = (struct loop_hook){ .run = session_tell_drained, .arg = s, .phase = LOOP_WORK };
	for (int i = 0; i < 2; i++)
		s->out[i] = (struct session_out){ .fd = -1, .stream = i + 1, .session = s };
	LIST_INSERT_HEAD(at->list, s, link);
	return s;
}
