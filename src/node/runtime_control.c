// SPDX-License-Identifier: Apache-2.0
/* runtime_control.c - talking to a running conmon: attach, terminal size, a new log file
 *
 * conmon keeps a socket "attach" and a fifo "ctl" in the bundle.  The fifo takes lines "1 ROWS COLS" (resize) and
 * "2 0 0" (reopen the log).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/mem.h"
#include "node/runtime_parts.h"

static struct box *running(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = map_find(&((struct oci *)r)->boxes, id);

	if (b && b->state == BOX_RUNNING)
		return b;
	err_set(e, ERR_NOT_FOUND, "container %s is not running", id);
	return NULL;
}

static int control(struct runtime *r, const char *id, const char *line, struct err *e)
{
	struct box *b = running(r, id, e);
	auto_free char *path = b ? xasprintf("%s/ctl", b->bundle) : NULL;
	auto_close int fd = b ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) : -1;
	struct stat st;

	if (!b)
		return -1;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) || write(fd, line, strlen(line)) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "the monitor of container %s does not listen", id);
	return 0;
}

int oci_resize(struct runtime *r, const char *id, int rows, int cols, struct err *e)
{
	char line[64];

	snprintf(line, sizeof(line), "1 %d %d\n", rows, cols);
	return control(r, id, line, e);
}

int oci_reopen_log(struct runtime *r, const char *id, struct err *e)
{
	return control(r, id, "2 0 0\n", e);
}

int oci_attach(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = running(r, id, e);
	/* The bundle's path may be longer than a socket's address: by way of its descriptor it never is. */
	auto_close int dir = b ? open(b->bundle, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (!b)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/attach", dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	err_errno(e, ERR_UNAVAILABLE, "cannot attach to container %s", id);
	if (fd >= 0)
		close(fd);
	return -1;
}
