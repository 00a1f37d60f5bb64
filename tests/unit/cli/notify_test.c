// SPDX-License-Identifier: Apache-2.0
#include "cli/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

/* A socket like systemd's; what has come to it is in `text`, "" if nothing has. */
static void told(const char *name, char text[64])
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t n;

	memcpy(at.sun_path, name, strlen(name));
	if (name[0] == '@')
		at.sun_path[0] = '\0';
	CHECK_INT(bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
		  0);
	setenv("NOTIFY_SOCKET", name, 1);
	notify_manager("READY=1");
	notify_manager("READY=2");
	n = recv(fd, text, 63, MSG_DONTWAIT);
	text[n < 0 ? 0 : n] = '\0';
	CHECK_INT(recv(fd, text + 32, 1, MSG_DONTWAIT), -1);
}

TEST("the manager is told once, at a path or an abstract name, and nobody else learns of it")
{
	auto_free char *path = xasprintf("%s/notify", test_dir());
	auto_free char *abstract = xasprintf("@stoker-unit-notify-%d", (int)getpid());
	char text[64];

	told(path, text);
	CHECK_STR(text, "READY=1");
	CHECK(!getenv("NOTIFY_SOCKET"));
	told(abstract, text);
	CHECK_STR(text, "READY=1");
	CHECK(!getenv("NOTIFY_SOCKET"));
}

TEST("a manager that is not there, or an address that is none, keeps nobody from working")
{
	static const char *const names[] = { "", "/nowhere/notify", "vsock:2:1", "notify" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		setenv("NOTIFY_SOCKET", names[i], 1);
		notify_manager("READY=1");
	}
	unsetenv("NOTIFY_SOCKET");
	notify_manager("READY=1");
}
