// SPDX-License-Identifier: Apache-2.0
/* netns.c - connections as a pod sees them
 *
 * A socket belongs for ever to the network namespace it was made in, so the server enters that for the one call that
 * makes it.  There is only one thread, and nothing else happens in between.  A server that could not come back would
 * listen and ask in a user's network from then on: it ends instead, and is started again where it belongs.
 */
#include "node/netns.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"

static int make_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int socket_in(const char *path, struct err *e)
{
	auto_close int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	auto_close int there = open(path, O_RDONLY | O_CLOEXEC);
	int fd, saved;

	if (home < 0 || there < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot open the network namespace %s",
				 home < 0 ? "at home" : path);
	if (setns(there, CLONE_NEWNET) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot enter the network namespace %s", path);
	fd = make_socket();
	saved = errno;
	if (setns(home, CLONE_NEWNET) < 0) {
		log_error("return from the network namespace %s: %s", path, strerror(errno));
		abort();
	}
	errno = saved;
	return fd >= 0 ? fd : err_errno(e, ERR_UNAVAILABLE, "cannot make a socket in the network namespace %s", path);
}

int netns_dial(const char *path, int port, struct err *e)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd;

	if (port < 1 || port > UINT16_MAX)
		return err_set(e, ERR_BAD_REQUEST, "port %d: must be between 1 and 65535", port);
	fd = path ? socket_in(path, e) : make_socket();
	if (fd < 0)
		return path ? -1 : err_errno(e, ERR_UNAVAILABLE, "cannot make a socket");
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS) {
		auto_free char *why = xstrdup(strerror(errno));

		why[0] = (char)tolower((unsigned char)why[0]);
		close(fd);
		return err_set(e, ERR_UNAVAILABLE, "dial tcp4 127.0.0.1:%d: connect: %s", port, why);
	}
	return fd;
}
