// SPDX-License-Identifier: Apache-2.0
/* main.c - the monitor: one small process beside each container, so that a container needs no server to live
 *
 * It calls the runtime (run.c) or starts a process itself (process.c), becomes the parent of what that leaves, writes
 * its output to a log (log.c), lets servers watch and clients attach (serve.c), and in the end writes down how it ended
 * (end.c).  protocol.h is what it agrees on with the server.  It needs no C library (sys.h), no memory but its own few
 * pages, and is part of the stoker program, which starts it from a file in memory.
 *
 * All signals but SIGKILL are blocked: nothing that is meant for the server or the container ends it by accident.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define LINE_WAIT_MS   20  /* for the end of a line */
#define BEHIND_STEP_MS 100 /* looks whether someone is behind for too long */

void record_publish(struct monitor *m)
{
	SYS(SYS_pwrite64, m->state_fd, &m->record, sizeof(m->record), 0);
	for (int i = 0; i < m->conn_count; i++)
		if (m->conns[i].kind == MONITOR_WATCH)
			serve_record(m, &m->conns[i]);
}

/* --- one turn --- */

enum { SLOT_SIGNAL, SLOT_LISTEN, SLOT_OUT, SLOT_ERR, SLOT_IN, SLOT_CONN };

static int max_wait(struct monitor *m, int64_t now)
{
	int wait = -1, flood = log_wait_ms(&m->log, now);

	for (int i = 0; i < 2; i++)
		if (m->streams[i].n)
			wait = LINE_WAIT_MS;
	if (serve_someone_behind(m) || serve_awaits(m, now))
		wait = BEHIND_STEP_MS;
	return flood > 0 ? flood : wait;
}

static void prepare(struct monitor *m, struct pollfd *fds, bool wait)
{
	bool read_output = !wait && !m->unseen && !serve_someone_behind(m), read_input = !m->input_n;

	fds[SLOT_SIGNAL] = (struct pollfd){ .fd = m->signal_fd, .events = POLLIN };
	fds[SLOT_LISTEN] = (struct pollfd){ .fd = m->listen_fd, .events = POLLIN };
	for (int i = 0; i < 2; i++)
		fds[SLOT_OUT + i] = (struct pollfd){ .fd = read_output ? m->streams[i].fd : -1, .events = POLLIN };
	fds[SLOT_IN] = (struct pollfd){ .fd = m->input_n ? m->stdin_fd : -1, .events = POLLOUT };
	for (int i = 0; i < m->conn_count; i++) {
		const struct conn *c = &m->conns[i];
		bool wants = c->kind != MONITOR_ATTACH || (read_input && !c->no_input);

		/* One that has gone is not looked at before its last input has been received. */
		fds[SLOT_CONN + i] = (struct pollfd){
			.fd = wants || c->behind || c->no_input ? c->fd : -1,
			.events = (short)((wants ? POLLIN : 0) | (c->behind ? POLLOUT : 0)),
		};
	}
}

/* True if the container's first process is among those that ended. */
static bool reap(struct monitor *m, int *ret_status)
{
	char ignored[128];
	bool ended = false;
	int status;
	long pid;

	while (sys_read(m->signal_fd, ignored, sizeof(ignored)) > 0)
		;
	while ((pid = SYS(SYS_wait4, -1, &status, WNOHANG | __WALL, 0)) > 0) {
		if (pid != m->record.pid)
			continue;
		ended = true;
		*ret_status = status;
	}
	/* Its parent took the status along. */
	if (pid == -ECHILD && !ended)
		m->record.unknown = ended = true;
	return ended;
}

static void handle_conns(struct monitor *m, const struct pollfd *fds)
{
	/* From the end: closing one moves the last into its place. */
	for (int i = m->conn_count - 1; i >= 0; i--) {
		struct conn *c = &m->conns[i];
		short got = fds[SLOT_CONN + i].revents;

		if (got & POLLIN)
			serve_readable(m, c);
		else if (got & (POLLHUP | POLLERR))
			serve_close(m, c);
	}
}

static void turn(struct monitor *m)
{
	struct pollfd fds[SLOT_CONN + CONNS_MAX];
	int64_t now = sys_clock_ms();
	int wait = max_wait(m, now);
	struct timespec limit = { .tv_sec = wait / 1000, .tv_nsec = (long)(wait % 1000) * 1000000 };

	prepare(m, fds, log_wait_ms(&m->log, now) > 0 || serve_awaits(m, now));
	SYS(SYS_ppoll, fds, SLOT_CONN + m->conn_count, wait < 0 ? 0 : &limit, 0, 8);
	handle_conns(m, fds);
	if (fds[SLOT_LISTEN].revents)
		serve_accept(m);
	if (m->input_n || m->stdin_over)
		serve_input(m);
	now = sys_clock_ms();
	serve_output(m, now);
	for (int i = 0; i < 2; i++) {
		struct stream *s = &m->streams[i];

		if (fds[SLOT_OUT + i].revents && !serve_someone_behind(m))
			stream_read(m, s);
		else if (s->n && now - s->since_ms >= LINE_WAIT_MS)
			log_part(&m->log, s);
	}
	log_flush(&m->log);
}

/* It may have ended before its client came, for whom its output is. */
static void await_client(struct monitor *m)
{
	char ignored[128];

	while (serve_awaits(m, sys_clock_ms())) {
		sys_read(m->signal_fd, ignored, sizeof(ignored));
		turn(m);
	}
}

/* --- start --- */

static void init(struct monitor *m, void **stack)
{
	const char *flags;
	uint64_t all = ~0ull, child = 1ull << (SIGCHLD - 1);

	m->argv = (char **)stack + 1;
	m->envp = m->argv + (long)stack[0] + 1;
	flags = m->argv[MONITOR_ARG_FLAGS];
	m->hide = text_has(flags, MONITOR_FLAG_HIDE);
	m->tty = text_has(flags, MONITOR_FLAG_TTY);
	m->stdin_open = text_has(flags, MONITOR_FLAG_STDIN);
	m->stdin_once = text_has(flags, MONITOR_FLAG_ONCE);
	m->process = text_has(flags, MONITOR_FLAG_PROCESS);
	m->unseen = m->process && m->tty;
	m->files = m->process || text_has(flags, MONITOR_FLAG_FILES);
	m->log.path = m->argv[MONITOR_ARG_LOG];
	m->log.fd = m->listen_fd = m->stdin_fd = m->console_fd = m->pid_fd = -1;
	m->streams[0].fd = m->streams[1].fd = m->streams[0].file = m->streams[1].file = -1;
	m->streams[0].number = MONITOR_STDOUT;
	m->streams[1].number = MONITOR_STDERR;
	m->conns[m->conn_count++] = (struct conn){ .fd = MONITOR_CONTROL_FD, .kind = MONITOR_WATCH };
	for (int fd = MONITOR_CONTROL_FD; fd <= MONITOR_LOCK_FD; fd++)
		SYS(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	SYS(SYS_prctl, PR_SET_NAME, MONITOR_NAME);
	SYS(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
	SYS(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof(all));
	m->signal_fd = (int)SYS(SYS_signalfd4, -1, &child, sizeof(child), O_CLOEXEC | O_NONBLOCK);
	m->record = (struct monitor_record){ .version = MONITOR_VERSION,
					     .state = MONITOR_BEGUN,
					     .monitor = (int32_t)SYS(SYS_getpid) };
}

/* Room for the last word is taken before anything happens. */
static bool reserve_state(struct monitor *m)
{
	m->state_fd = (int)sys_open("state", O_WRONLY | O_CREAT | O_EXCL, 0600);
	return m->state_fd >= 0 &&
	       SYS(SYS_pwrite64, m->state_fd, &m->record, sizeof(m->record), 0) == (long)sizeof(m->record);
}

/* Only SIGKILL ends it. */
static void hold_namespaces(void)
{
	uint64_t all = ~0ull;

	SYS(SYS_prctl, PR_SET_NAME, MONITOR_NAME);
	SYS(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof(all));
	for (;;)
		SYS(SYS_ppoll, 0, 0, 0, 0, 8);
}

void monitor_main(void **stack)
{
	static struct monitor monitor;
	struct monitor *m = &monitor;
	int status = 0;

	if ((long)stack[0] == 2 && text_eq((char *)stack[2], MONITOR_HOLD))
		hold_namespaces();
	if ((long)stack[0] == 2 && text_eq((char *)stack[2], MONITOR_EXEC))
		process_exec();
	if ((long)stack[0] <= MONITOR_ARG_RUNTIME)
		sys_exit(2);
	init(m, stack);
	if (!reserve_state(m))
		sys_exit(1);
	if (m->process)
		run_process(m);
	else
		run_container(m);
	if (m->files)
		files_drop_rights();
	record_publish(m);
	if (m->record.state == MONITOR_RUNNING) {
		if (text_has(m->argv[MONITOR_ARG_FLAGS], MONITOR_FLAG_AWAIT))
			m->await_ms = sys_clock_ms() + MONITOR_AWAIT_MS;
		while (!reap(m, &status))
			turn(m);
		if (!WIFSIGNALED(status))
			await_client(m);
		end_container(m, status);
		record_publish(m);
	}
	sys_exit(0);
}
