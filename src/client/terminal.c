// SPDX-License-Identifier: Apache-2.0
/* terminal.c - see terminal.h
 *
 * Output is written at once, and waits if nobody takes it: a command has nothing better to do.  Input is read when the
 * server has taken what came before.  A regular file is always ready, which epoll refuses to say; so it is read
 * without asking.
 */
#include "client/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/ask.h"

#define PIECE   (16u * 1024)
#define MOST_IN (256u * 1024) /* on its way before no more is read */

struct terminal {
	struct terminal_wants wants;
	struct loop *loop;
	struct remote_ask *ask;
	struct loop_fd *in;
	struct termios before;
	bool raw;          /* the terminal is not as it was */
	bool always;       /* input is a file: no need to ask whether it is ready */
	bool opened, over; /* over: there is no more input */
};

/* --- the terminal itself --- */

static void make_raw(struct terminal *t)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &t->before) < 0)
		return;
	raw = t->before;
	cfmakeraw(&raw);
	t->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

static void put_back(struct terminal *t)
{
	if (t->raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &t->before);
	t->raw = false;
}

static void tell_size(struct terminal *t)
{
	struct winsize size;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		remote_ask_resize(t->ask, size.ws_row, size.ws_col);
}

static void on_resized(void *arg, int signo)
{
	struct terminal *t = arg;

	(void)signo;
	tell_size(t);
}

/* --- in --- */

static void stop_reading(struct terminal *t)
{
	loop_fd_free(t->in);
	t->in = NULL;
}

static void read_some(struct terminal *t)
{
	char piece[PIECE];
	ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		remote_ask_input(t->ask, (struct str){ piece, (size_t)n });
	} else {
		t->over = true;
		remote_ask_input_end(t->ask);
	}
	if (t->over || remote_ask_pending(t->ask) >= MOST_IN)
		stop_reading(t);
}

static void on_readable(void *arg, bool readable, bool writable)
{
	(void)readable;
	(void)writable;
	read_some(arg);
}

static void start_reading(struct terminal *t)
{
	if (!t->wants.in || t->over || t->in)
		return;
	if (t->always)
		read_some(t);
	else
		t->in = loop_fd_new(t->loop, STDIN_FILENO, true, false, on_readable, t);
}

/* --- what the server says --- */

static void on_opened(void *arg)
{
	struct terminal *t = arg;

	t->opened = true;
	if (t->wants.tty) {
		make_raw(t);
		tell_size(t);
	}
	if (t->wants.opened)
		t->wants.opened(t->wants.arg);
	start_reading(t);
}

void terminal_write(int stream, struct str bytes, struct terminal_told *told)
{
	if (told) {
		told->bytes[stream == 2] += bytes.n;
		told->last_us = clock_wall_micros();
	}
	for (size_t done = 0; done < bytes.n;) {
		ssize_t n = write(stream == 2 ? STDERR_FILENO : STDOUT_FILENO, bytes.p + done, bytes.n - done);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return; /* nobody reads it: the command goes on */
		done += n > 0 ? (size_t)n : 0;
	}
}

static void on_output(void *arg, int stream, struct str bytes)
{
	struct terminal *t = arg;

	terminal_write(stream, bytes, t->wants.told);
}

static void on_drained(void *arg)
{
	struct terminal *t = arg;

	if (t->opened)
		start_reading(t);
}

static void on_ended(void *arg, int code, const struct err *e)
{
	struct terminal *t = arg;

	stop_reading(t);
	put_back(t);
	t->wants.ended(t->wants.arg, code, e);
}

int terminal_new(struct client *c, const struct terminal_wants *wants, struct terminal **ret, struct err *e)
{
	struct remote_ask_handlers h = { on_opened, on_output, on_drained, on_ended, NULL };
	struct terminal *t;
	struct stat st;

	t = xcalloc(1, sizeof(*t));
	t->wants = *wants;
	t->loop = c->loop;
	t->always = fstat(STDIN_FILENO, &st) == 0 && (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(0)));
	h.arg = t;
	if (client_ask(c, wants->path, &h, &t->ask, e) < 0) {
		free(t);
		return -1;
	}
	if (wants->tty && loop_on_signal(c->loop, SIGWINCH, on_resized, t, e) < 0) {
		terminal_free(t);
		return -1;
	}
	*ret = t;
	return 0;
}

bool terminal_input_is_over(const struct terminal *t)
{
	return t->over && !remote_ask_pending(t->ask);
}

void terminal_free(struct terminal *t)
{
	if (!t)
		return;
	stop_reading(t);
	put_back(t);
	remote_ask_free(t->ask);
	loop_forget_signal(t->loop, SIGWINCH, t);
	free(t);
}
