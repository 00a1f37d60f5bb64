// SPDX-License-Identifier: Apache-2.0
/* serve.c - the server that watches, later servers, and clients that are attached
 *
 * Output goes to everyone who is attached, chunk by chunk: the next one is read from the container only when all have
 * got the last one.  So a client that is slow slows the container down, as a terminal would, but not for longer than
 * BEHIND_MS: then it is let go.  Nothing is kept for anyone, unless a client was announced: then the first one gets all
 * there is, in its own time.
 *
 * Input is taken from everyone who is attached, one packet at a time: the next one is received when the container has
 * taken the last one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define SOCK       "sock"
#define BEHIND_MS  2000
#define PATIENT_MS (3600 * 1000)

void serve_open(struct monitor *m)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCK };

	/* Named in our working directory, for its full path may be too long.  Without it the container still runs and
	 * this server still hears of it. */
	m->listen_fd = (int)SYS(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->listen_fd >= 0 && (SYS(SYS_bind, m->listen_fd, &address, sizeof(address)) < 0 ||
				  SYS(SYS_listen, m->listen_fd, CONNS_MAX) < 0)) {
		sys_close(m->listen_fd);
		m->listen_fd = -1;
	}
}

void serve_accept(struct monitor *m)
{
	int fd = (int)SYS(SYS_accept4, m->listen_fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 && m->conn_count < CONNS_MAX)
		m->conns[m->conn_count++] = (struct conn){ .fd = fd };
	else
		sys_close(fd);
}

void serve_close(struct monitor *m, struct conn *c)
{
	bool attached = c->kind == MONITOR_ATTACH;

	sys_close(c->fd);
	*c = m->conns[--m->conn_count];
	if (attached && m->stdin_once)
		m->stdin_over = true;
}

bool serve_someone_behind(const struct monitor *m)
{
	for (int i = 0; i < m->conn_count; i++)
		if (m->conns[i].behind)
			return true;
	return false;
}

bool serve_someone_attached(const struct monitor *m)
{
	for (int i = 0; i < m->conn_count; i++)
		if (m->conns[i].kind == MONITOR_ATTACH)
			return true;
	return false;
}

bool serve_awaits(const struct monitor *m, int64_t now_ms)
{
	return m->await_ms && now_ms < m->await_ms;
}

/* --- output --- */

void serve_record(struct monitor *m, struct conn *c)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { .iov_base = &m->record, .iov_len = sizeof(m->record) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *header = (struct cmsghdr *)control;

	if (m->pid_fd >= 0) {
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &m->pid_fd, sizeof(int));
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
	}
	SYS(SYS_sendmsg, c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void serve_chunk(struct monitor *m, unsigned char stream, size_t n)
{
	int64_t now = sys_clock_ms();

	m->chunk[0] = (char)stream;
	m->chunk_n = (uint32_t)n + 1;
	for (int i = 0; i < m->conn_count; i++) {
		m->conns[i].behind = m->conns[i].kind == MONITOR_ATTACH;
		m->conns[i].since_ms = now;
	}
	serve_output(m, now);
}

void serve_output(struct monitor *m, int64_t now_ms)
{
	for (int i = m->conn_count - 1; i >= 0; i--) {
		struct conn *c = &m->conns[i];
		long rc;

		if (!c->behind)
			continue;
		rc = SYS(SYS_sendto, c->fd, m->chunk, m->chunk_n, MSG_NOSIGNAL | MSG_DONTWAIT, 0);
		c->behind = rc < 0;
		if (rc < 0 && (rc != -EAGAIN || now_ms - c->since_ms > (m->patient ? PATIENT_MS : BEHIND_MS)))
			serve_close(m, c);
	}
}

/* --- input --- */

static void close_stdin(struct monitor *m)
{
	/* A terminal has one end for both ways. */
	if (!m->tty)
		sys_close(m->stdin_fd);
	m->stdin_fd = -1;
	m->input_n = m->input_at = 0;
}

void serve_input(struct monitor *m)
{
	while (m->input_at < m->input_n && m->stdin_fd >= 0) {
		long rc = sys_write(m->stdin_fd, m->input + m->input_at, m->input_n - m->input_at);

		if (rc == -EAGAIN || rc == -EINTR)
			return;
		if (rc < 0) {
			close_stdin(m);
			return;
		}
		m->input_at += (uint32_t)rc;
	}
	m->input_n = m->input_at = 0;
	if (m->stdin_over && m->stdin_fd >= 0)
		close_stdin(m);
}

static void resize(struct monitor *m, const struct monitor_command *command)
{
	struct winsize size = { .ws_row = (unsigned short)command->rows, .ws_col = (unsigned short)command->cols };

	if (m->tty && m->streams[0].fd >= 0)
		SYS(SYS_ioctl, m->streams[0].fd, TIOCSWINSZ, &size);
}

static void obey(struct monitor *m, struct conn *c, const struct monitor_command *command)
{
	switch (command->what) {
	case MONITOR_WATCH:
		c->kind = MONITOR_WATCH;
		serve_record(m, c);
		break;
	case MONITOR_ATTACH:
		c->kind = MONITOR_ATTACH;
		m->unseen = false;
		m->patient |= m->await_ms != 0;
		m->await_ms = 0;
		break;
	case MONITOR_RESIZE:
		resize(m, command);
		break;
	case MONITOR_REOPEN:
		log_reopen(&m->log);
		break;
	default: /* of a later version */
		break;
	}
}

static void say(struct monitor *m, const struct monitor_command *command, const char *text, long n)
{
	size_t killed = sizeof(MONITOR_KILLED) - 1;

	if (command->what != MONITOR_SAY)
		return;
	if (n > (long)killed && !memcmp(text, MONITOR_KILLED, killed))
		m->told = true;
	files_say(m, &m->streams[command->rows == MONITOR_STDERR], text, (size_t)n);
}

void serve_readable(struct monitor *m, struct conn *c)
{
	struct {
		struct monitor_command command;
		char text[MONITOR_TEXT];
	} packet;
	bool attached = c->kind == MONITOR_ATTACH;
	long n = attached ? SYS(SYS_recvfrom, c->fd, m->input, sizeof(m->input), MSG_DONTWAIT, 0)
			  : SYS(SYS_recvfrom, c->fd, &packet, sizeof(packet), MSG_DONTWAIT, 0);
	long more = n - (long)sizeof(packet.command);

	if (n == -EAGAIN || n == -EINTR)
		return;
	if (attached && n > 0) {
		m->input_n = m->stdin_fd >= 0 ? (uint32_t)n : 0;
		m->input_at = 0;
		serve_input(m);
	} else if (attached && n == 0) {
		c->no_input = true;
		if (m->stdin_once) {
			m->stdin_over = true;
			serve_input(m);
		}
	} else if (!attached && more == 0) {
		obey(m, c, &packet.command);
	} else if (!attached && more > 0) {
		say(m, &packet.command, packet.text, more);
	} else {
		serve_close(m, c);
	}
}
