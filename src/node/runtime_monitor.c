// SPDX-License-Identifier: Apache-2.0
/* runtime_monitor.c - the monitors of containers: their program, and what they say
 *
 * src/monitor/ is a program of its own that is embedded in this one; monitor/protocol.h is what both agree on.  It is
 * executed from a sealed file in memory, so there is nothing to install and nothing anyone could change.  Where the
 * kernel forbids that (vm.memfd_noexec) it is a file in the data directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "monitor/image.h"
#include "node/runtime_parts.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3 */
#endif

static int in_memory(struct str image)
{
	int fd = memfd_create(MONITOR_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(MONITOR_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (write(fd, image.p, image.n) == (ssize_t)image.n &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
		return fd;
	close(fd);
	return -1;
}

int monitor_program(const char *run_dir, struct err *e)
{
	struct str image = { (const char *)monitor_image, (size_t)(monitor_image_end - monitor_image) };
	auto_free char *path = xasprintf("%s/monitor", run_dir);
	int fd = in_memory(image);

	if (fd >= 0)
		return fd;
	if (file_write(path, 0700, image, e) < 0)
		return err_prefix(e, "the monitor's program");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, ERR_UNAVAILABLE, "cannot open %s", path) : fd;
}

bool monitor_read_state(const struct box *b, struct monitor_record *ret)
{
	auto_free char *path = xasprintf("%s/state", b->dir);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && read(fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret) && ret->version >= MONITOR_VERSION;
}

bool monitor_alive(const struct box *b)
{
	auto_free char *path = xasprintf("%s/" INFO_FILE, b->dir);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
}

int monitor_connect(const struct box *b, enum monitor_what what, struct err *e)
{
	/* The directory's path may be longer than a socket's address: by way of its descriptor it never is. */
	auto_close int dir = open(b->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct monitor_command hello = { .what = what };

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/sock", dir);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello))
		return fd;
	err_errno(e, ERR_UNAVAILABLE, "the monitor of container %s does not listen", b->id);
	if (fd >= 0)
		close(fd);
	return -1;
}

int monitor_tell(const struct box *b, const struct monitor_command *command, struct err *e)
{
	if (send(b->control_fd, command, sizeof(*command), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "the monitor of container %s does not listen", b->id);
	return 0;
}

/* A pidfd that came with a record. */
static int passed_fd(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

int monitor_receive(struct box *b, struct monitor_record *ret)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	ssize_t n = recvmsg(b->control_fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fd;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(*ret))
		return -1;
	fd = passed_fd(&m);
	if (fd >= 0 && b->pid_fd < 0)
		b->pid_fd = fd;
	else if (fd >= 0)
		close(fd);
	return 1;
}

struct exit_info monitor_exit(const struct monitor_record *record)
{
	return (struct exit_info){
		.code = record->unknown ? EXIT_UNKNOWN : record->code,
		.signal = record->unknown ? 0 : record->signal,
		.oom = record->oom,
		.unknown = record->unknown,
		.finished_us = record->finished_us,
	};
}

/* Everything it says is read and thrown away until it is gone. */
static bool gone_within(const struct box *b, int ms)
{
	struct pollfd p = { .fd = b->control_fd, .events = POLLIN };
	struct monitor_record ignored;

	while (poll(&p, 1, ms) > 0) {
		ssize_t n = recv(b->control_fd, &ignored, sizeof(ignored), MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return true;
	}
	return false;
}

void monitor_end(struct box *b, int ms)
{
	if (b->control_fd < 0 || gone_within(b, ms))
		return;
	/* Its end of the socket is open, so the number is still its own.  A runtime it waits for is in its group. */
	if (b->monitor > 1)
		kill(-b->monitor, SIGKILL);
	if (!gone_within(b, ms))
		log_warn("a monitor cannot be killed id=%s pid=%d, ignoring", b->id, (int)b->monitor);
}
