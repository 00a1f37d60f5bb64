// SPDX-License-Identifier: Apache-2.0
/* sock.c - one end of a TCP connection
 *
 * Reading starts when the connection stands.  A handler may free the sock it is called from: every way in counts
 * itself in `entered`, and the last one out frees.
 */
#include "loop/sock.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/mem.h"

#define READ_SIZE   (64u * 1024)
#define READ_ROUNDS 8 /* before others get their turn */

struct sock {
	struct sock_handlers h;
	struct event readable, writable;
	struct evbuffer *out;
	int fd;
	unsigned entered;
	bool connecting, paused, ended_in, ending, ended_out, failed, dead;
};

int sock_dial(const char *address, int port, struct err *e)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai = NULL;
	char service[8];
	int fd;

	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(address, service, &hints, &ai) != 0)
		return err_set(e, ERR_INVALID, "\"%s\" is not an address", address);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || (connect(fd, ai->ai_addr, ai->ai_addrlen) < 0 && errno != EINPROGRESS)) {
		err_errno(e, ERR_UNAVAILABLE, "cannot connect to %s", address);
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(ai);
	return fd;
}

static void leave(struct sock *s)
{
	if (--s->entered || !s->dead)
		return;
	evbuffer_free(s->out);
	free(s);
}

static void fail(struct sock *s)
{
	struct err e = ERR_INIT;

	err_errno(&e, ERR_UNAVAILABLE, s->connecting ? "cannot connect" : "the connection broke");
	event_del(&s->readable);
	event_del(&s->writable);
	s->failed = true;
	s->h.failed(s->h.arg, &e);
}

/* Sets both events to what is wanted now. */
static void watch(struct sock *s)
{
	bool in = !s->connecting && !s->paused && !s->ended_in;
	bool out = s->connecting || evbuffer_get_length(s->out);

	if (s->dead || s->failed)
		return;
	if (in)
		event_add(&s->readable, NULL);
	else
		event_del(&s->readable);
	if (out)
		event_add(&s->writable, NULL);
	else
		event_del(&s->writable);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct sock *s = arg;
	auto_free char *buf = xmalloc(READ_SIZE);

	(void)what;
	s->entered++;
	for (int round = 0; round < READ_ROUNDS && !s->dead && !s->paused; round++) {
		ssize_t n = recv((int)fd, buf, READ_SIZE, 0);

		if (n > 0) {
			s->h.data(s->h.arg, (struct str){ buf, (size_t)n });
			continue;
		}
		if (n == 0) {
			s->ended_in = true;
			watch(s);
			s->h.ended(s->h.arg);
		} else if (errno != EAGAIN && errno != EINTR) {
			fail(s);
		}
		break;
	}
	leave(s);
}

static void finish_connect(struct sock *s)
{
	int error = 0;
	socklen_t n = sizeof(error);

	getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n);
	if (error) {
		errno = error;
		fail(s);
		return;
	}
	s->connecting = false;
	if (s->h.connected)
		s->h.connected(s->h.arg);
}

/* Everything queued has left. */
static void drained(struct sock *s)
{
	if (s->ending && !s->ended_out) {
		s->ended_out = true;
		shutdown(s->fd, SHUT_WR);
	}
	if (s->h.drained)
		s->h.drained(s->h.arg);
}

static void flush(struct sock *s)
{
	int n = evbuffer_write(s->out, s->fd);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail(s);
	else if (!evbuffer_get_length(s->out))
		drained(s);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct sock *s = arg;

	(void)fd;
	(void)what;
	s->entered++;
	if (s->connecting)
		finish_connect(s);
	if (!s->dead && !s->failed && !s->connecting) {
		if (evbuffer_get_length(s->out))
			flush(s);
		else if (s->ending)
			drained(s);
	}
	watch(s);
	leave(s);
}

struct sock *sock_new(struct loop *loop, int fd, const struct sock_handlers *h)
{
	struct sock *s = xcalloc(1, sizeof(*s));

	s->h = *h;
	s->fd = fd;
	s->connecting = true; /* a connected one is writable at once */
	s->out = evbuffer_new();
	if (!s->out)
		abort(); /* out of memory, as in base/mem.c */
	event_assign(&s->readable, loop_base(loop), fd, EV_READ | EV_PERSIST, on_readable, s);
	event_assign(&s->writable, loop_base(loop), fd, EV_WRITE | EV_PERSIST, on_writable, s);
	watch(s);
	return s;
}

void sock_free(struct sock *s)
{
	if (!s || s->dead)
		return;
	s->entered++;
	event_del(&s->readable);
	event_del(&s->writable);
	close(s->fd);
	s->fd = -1;
	s->dead = true;
	leave(s);
}

void sock_write(struct sock *s, const void *p, size_t n)
{
	if (s->failed || s->ending || !n)
		return;
	evbuffer_add(s->out, p, n);
	watch(s);
}

size_t sock_pending(const struct sock *s)
{
	return evbuffer_get_length(s->out);
}

void sock_pause(struct sock *s, bool paused)
{
	s->paused = paused;
	watch(s);
}

void sock_end(struct sock *s)
{
	s->ending = true;
	if (s->failed || s->connecting || evbuffer_get_length(s->out) || s->ended_out)
		return;
	s->ended_out = true;
	shutdown(s->fd, SHUT_WR);
}
