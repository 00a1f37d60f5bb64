// SPDX-License-Identifier: Apache-2.0
/* runtime_control.c - asking a running container's monitor: attach, terminal size, a new log file, more text */
#include <sys/socket.h>
#include <sys/uio.h>

#include "node/runtime_parts.h"

static struct box *running(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = map_find(&((struct oci *)r)->boxes, id);

	if (b && b->state == BOX_RUNNING)
		return b;
	err_set(e, ERR_NOT_FOUND, "container %s is not running", id);
	return NULL;
}

int oci_resize(struct runtime *r, const char *id, int rows, int cols, struct err *e)
{
	struct box *b = running(r, id, e);
	struct monitor_command command = { .what = MONITOR_RESIZE, .rows = rows, .cols = cols };

	return b ? monitor_tell(b, &command, e) : -1;
}

int oci_reopen_log(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = running(r, id, e);
	struct monitor_command command = { .what = MONITOR_REOPEN };

	return b ? monitor_tell(b, &command, e) : -1;
}

int oci_attach(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = running(r, id, e);

	return b ? monitor_connect(b, MONITOR_ATTACH, e) : -1;
}

int oci_say(struct runtime *r, const char *id, int stream, struct str text, struct err *e)
{
	struct box *b = running(r, id, e);
	struct monitor_command command = { .what = MONITOR_SAY, .rows = stream == 2 ? MONITOR_STDERR : MONITOR_STDOUT };
	struct iovec parts[] = { { &command, sizeof(command) }, { (char *)text.p, text.n } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };

	if (!b || !text.n)
		return b ? 0 : -1;
	if (text.n > MONITOR_TEXT)
		return err_set(e, ERR_TOO_LARGE, "the text is longer than %d bytes", MONITOR_TEXT);
	if (sendmsg(b->control_fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "the monitor of container %s does not listen", id);
	return 0;
}
