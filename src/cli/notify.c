// SPDX-License-Identifier: Apache-2.0
/* notify.c - a word to systemd
 *
 * With Type=notify in its unit, `systemctl start stoker` returns when the server can be asked, and what is ordered
 * after it begins then.  It is one datagram to a Unix socket; a name that begins with "@" is an abstract one.
 */
#include "cli/notify.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

void notify_manager(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = name ? strlen(name) : 0;
	auto_close int fd = -1;

	if (!n)
		return;
	if ((name[0] != '/' && name[0] != '@') || n >= sizeof(to.sun_path)) {
		log_warn("NOTIFY_SOCKET is no address of a socket, ignoring: \"%s\"", name);
		return;
	}
	memcpy(to.sun_path, name, n);
	if (name[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
		log_warn("cannot tell the service manager %s: %s, ignoring", state, strerror(errno));
	unsetenv("NOTIFY_SOCKET");
}
