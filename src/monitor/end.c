// SPDX-License-Identifier: Apache-2.0
/* end.c - the container's first process is gone: what is left of it goes too, and the last word is written
 *
 * With a pid namespace of its own the kernel has killed everything else before we hear of the end.  Without (hostPID, a
 * pid namespace shared by the pod) others may be left in the container's group, and they may hold its pipes; they are
 * killed.  A server without root has no groups; then those are ours to kill who were left to us, as we are a subreaper.
 * Output is read to its last byte, for which there is a limit only if someone outside still holds the pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define DRAIN_MS      1000
#define PATIENT_MS    (3600 * 1000)
#define DRAIN_STEP_MS 10
#define LAST_READS    64 /* more than a pipe holds */
#define STAT_MAX      4096

bool stream_read(struct monitor *m, struct stream *s)
{
	bool attached = serve_someone_attached(m);
	size_t most = attached ? MONITOR_PACKET - 1 : CHUNK_MAX;
	long n = s->fd < 0 ? -EBADF : sys_read(s->fd, m->chunk + 1, most);

	if (n == -EAGAIN || n == -EINTR || s->fd < 0)
		return false;
	if (n <= 0) {
		/* EIO is how a terminal ends. */
		if (m->stdin_fd == s->fd)
			m->stdin_fd = -1;
		sys_close(s->fd);
		s->fd = -1;
		log_part(&m->log, s);
		log_flush(&m->log);
		return false;
	}
	files_write(s, m->chunk + 1, (size_t)n);
	log_take(&m->log, s, m->chunk + 1, (size_t)n);
	log_flush(&m->log);
	if (!attached)
		return true;
	serve_chunk(m, s->number, (size_t)n);
	return true;
}

/* --- the group --- */

/* Signals every process in a list, which is a file of numbers; returns how many there were. */
static int kill_listed(int dir, const char *list)
{
	int fd = (int)sys_openat(dir, list, O_RDONLY), count = 0;
	char buf[STAT_MAX];
	int64_t pid = 0;
	long n;

	while (fd >= 0 && (n = sys_read(fd, buf, sizeof(buf))) > 0) {
		for (long i = 0; i < n; i++) {
			if (buf[i] != '\n' && buf[i] != ' ') {
				pid = pid * 10 + (buf[i] - '0');
				continue;
			}
			/* 0 is a process of another pid namespace. */
			if (pid > 1)
				SYS(SYS_kill, pid, SIGKILL);
			count++;
			pid = 0;
		}
	}
	sys_close(fd);
	return count;
}

static bool group_is_empty(int dir)
{
	int fd, rc;

	if (dir < 0 || kill_listed(dir, "cgroup.procs") + kill_listed(dir, MONITOR_OWN "/cgroup.procs") == 0)
		return true;
	/* cgroup2 does it at one stroke. */
	fd = (int)sys_openat(dir, "cgroup.kill", O_WRONLY);
	rc = fd < 0 ? fd : (int)sys_write(fd, "1", 1);
	(void)rc;
	sys_close(fd);
	return false;
}

/* Without a group: who has lost its parents is our child, generation by generation. */
static void kill_orphans(void)
{
	struct timespec step = { .tv_nsec = 1000000 };
	int64_t deadline = sys_clock_ms() + DRAIN_MS;

	while (kill_listed(AT_FDCWD, "/proc/thread-self/children") && sys_clock_ms() < deadline) {
		while (SYS(SYS_wait4, -1, 0, WNOHANG | __WALL, 0) > 0)
			;
		SYS(SYS_ppoll, 0, 0, &step, 0, 8);
	}
}

/* Orphans of the container that were killed are our children, and so are their zombies: until they are reaped they
 * count against the pod's limit of processes. */
static void reap_rest(struct monitor *m, int64_t deadline)
{
	struct pollfd signal = { .fd = m->signal_fd, .events = POLLIN };
	struct timespec step = { .tv_nsec = DRAIN_STEP_MS * 1000000 };
	char ignored[128];
	long pid;

	while ((pid = SYS(SYS_wait4, -1, 0, WNOHANG | __WALL, 0)) >= 0 && sys_clock_ms() < deadline) {
		if (pid > 0)
			continue;
		SYS(SYS_ppoll, &signal, 1, &step, 0, 8);
		sys_read(m->signal_fd, ignored, sizeof(ignored));
	}
}

/* --- the order of it --- */

/* True if there was something. */
static bool read_both(struct monitor *m)
{
	bool more = false;

	for (int i = 0; i < 2; i++)
		if (!serve_someone_behind(m))
			more |= stream_read(m, &m->streams[i]);
	serve_output(m, sys_clock_ms());
	return more;
}

static void drain(struct monitor *m, int group)
{
	struct timespec step = { .tv_nsec = DRAIN_STEP_MS * 1000000 };
	int64_t deadline = sys_clock_ms() + DRAIN_MS;
	int64_t last = m->patient ? deadline + PATIENT_MS : deadline;
	bool empty = group_is_empty(group), alone = empty;

	while (sys_clock_ms() < last && (m->streams[0].fd >= 0 || m->streams[1].fd >= 0)) {
		bool before = empty;

		if (read_both(m))
			continue;
		if (before && !serve_someone_behind(m))
			break;
		SYS(SYS_ppoll, 0, 0, &step, 0, 8);
		empty = empty || group_is_empty(group);
	}
	/* The log is complete even if somebody who is attached has stopped listening. */
	for (int i = m->conn_count - 1; i >= 0; i--)
		if (m->conns[i].behind)
			serve_close(m, &m->conns[i]);
	for (int i = 0; i < LAST_READS && read_both(m); i++)
		;
	for (int i = 0; i < 2; i++)
		log_part(&m->log, &m->streams[i]);
	log_flush(&m->log);
	if (!alone)
		reap_rest(m, deadline);
}

/* Whoever is killed takes the job along: that its script ended well before the server had seen it makes no difference.
 */
static void end_for_memory(struct monitor *m)
{
	const char *counter = m->argv[MONITOR_ARG_OOM];
	bool whole = m->files && oom_limit(counter) >= 0;

	m->record.oom = (m->record.code || whole) && oom_killed(counter);
	if (!m->record.oom || !m->files)
		return;
	if (m->record.code == 0) {
		m->record.signal = SIGKILL;
		m->record.code = 128 + SIGKILL;
	}
	if (!m->told)
		oom_say(m);
}

void end_container(struct monitor *m, int status)
{
	const char *cgroup = m->argv[MONITOR_ARG_CGROUP];
	int group = cgroup[0] ? (int)sys_open(cgroup, O_PATH | O_DIRECTORY, 0) : -1;
	int signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	m->record.finished_us = sys_clock_wall_us();
	m->record.code = signo ? 128 + signo : WEXITSTATUS(status);
	/* A shell says 128+N for a child that a signal ended; there is no telling the two apart later either.  Of a
	 * process we are the parent, and know. */
	m->record.signal = m->process                                           ? signo
			   : m->record.code > 128 && m->record.code <= 128 + 64 ? m->record.code - 128
										: 0;
	if (!cgroup[0])
		kill_orphans();
	drain(m, group);
	sys_close(group);
	end_for_memory(m);
	m->record.dropped = m->log.dropped;
	m->record.state = MONITOR_ENDED;
	sys_close(m->pid_fd);
	m->pid_fd = -1;
}
