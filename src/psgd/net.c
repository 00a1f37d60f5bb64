// SPDX-License-Identifier: Apache-2.0
/* net.c - sockets, and the two signals that end a wait */
#include "psgd/net.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/str.h"

static volatile sig_atomic_t stopped;

static void on_signal(int signo)
{
	stopped = signo;
}

void stop_prepare(sigset_t *ret_while_waiting)
{
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &both, ret_while_waiting);
	sigdelset(ret_while_waiting, SIGINT);
	sigdelset(ret_while_waiting, SIGTERM);
}

int stop_signal(void)
{
	sigset_t pending;

	/* One that computes and never waits hears of it too. */
	if (!stopped && sigpending(&pending) == 0)
		stopped = sigismember(&pending, SIGINT) ? SIGINT : sigismember(&pending, SIGTERM) ? SIGTERM : 0;
	return stopped;
}

static int resolve(const char *address, int flags, struct addrinfo **ret, struct err *e)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	const char *colon = strrchr(address, ':');
	auto_free char *host = colon ? xstrndup(address, (size_t)(colon - address)) : NULL;
	size_t n = host ? strlen(host) : 0;
	int r;

	if (!colon)
		return err_set(e, ERR_BAD_REQUEST, "%s: no port", address);
	if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
		memmove(host, host + 1, n - 2);
		host[n - 2] = '\0';
	}
	r = getaddrinfo(host, colon + 1, &hints, ret);
	if (r != 0)
		return err_set(e, ERR_UNAVAILABLE, "%s: %s", address, gai_strerror(r));
	return 0;
}

static int listen_at(const struct addrinfo *ai)
{
	auto_close int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, taken = fd;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, 256) < 0)
		return -1;
	fd = -1;
	return taken;
}

int net_listen(const char *address, int *ret_fd, struct err *e)
{
	struct addrinfo *own = NULL, *any = NULL;
	auto_free char *everywhere = xasprintf("::%s", strrchr(address, ':') ? strrchr(address, ':') : ":0");
	int fd = -1;

	if (resolve(address, 0, &own, e) == 0)
		fd = listen_at(own);
	else
		errno = EADDRNOTAVAIL; /* a name that is not known yet: others may know it */
	/* A Service's address belongs to no interface. */
	if (fd < 0 && errno == EADDRNOTAVAIL && resolve(everywhere, AI_PASSIVE, &any, e) == 0)
		fd = listen_at(any);
	if (fd < 0)
		err_errno(e, ERR_UNAVAILABLE, "cannot listen at %s", address);
	if (own)
		freeaddrinfo(own);
	if (any)
		freeaddrinfo(any);
	*ret_fd = fd;
	return fd < 0 ? -1 : 0;
}

static int connect_at(const struct addrinfo *ai, int timeout_ms)
{
	auto_close int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int failure = 0, taken = fd;
	socklen_t n = sizeof(failure);

	if (fd < 0)
		return -1;
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) < 0) {
		if (errno != EINPROGRESS)
			return -1;
		if (poll(&p, 1, timeout_ms) != 1) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &n) < 0 || failure) {
			errno = failure;
			return -1;
		}
	}
	net_tune(fd);
	fd = -1;
	return taken;
}

int net_connect(const char *address, int timeout_ms, int *ret_fd, struct err *e)
{
	struct addrinfo *all = NULL;
	int fd = -1;

	if (resolve(address, 0, &all, e) < 0)
		return -1;
	for (const struct addrinfo *ai = all; ai && fd < 0; ai = ai->ai_next)
		fd = connect_at(ai, timeout_ms);
	if (fd < 0)
		err_errno(e, ERR_UNAVAILABLE, "%s", address);
	freeaddrinfo(all);
	if (fd < 0)
		return -1;
	*ret_fd = fd;
	return 0;
}

void net_tune(int fd)
{
	const int on = 1, idle = 10, every = 5, times = 4;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
}
