// SPDX-License-Identifier: Apache-2.0
/* process.c - a process of the machine itself, as its user, instead of a container
 *
 * The server has written down who, where and what (struct monitor_process in protocol.h).  Our child joins the groups
 * that are there for it, gives up everything that is root's and executes the program; until then it shares our memory,
 * so it only makes system calls and says by b->step which of them failed.  There is a session of its own for it, and a
 * terminal of ours if it is to have one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define STACK_BYTES  (16 * 1024)
#define SPEC_MAX     (64 * 1024 * 1024)
#define COUNT_MAX    (1u << 20)
#define WORDS_BYTES  1024
#define TTY_GROUP    5
#define TTY_MODE     0620
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* --- the description --- */

/* The text at *at, which moves on; NULL if it does not end. */
static char *take_text(char **at, const char *end)
{
	char *text = *at;

	while (*at < end && **at)
		++*at;
	if (*at == end)
		return 0;
	++*at;
	return text;
}

static bool take_texts(char **at, const char *end, uint32_t n, char **ret)
{
	for (uint32_t i = 0; i < n; i++) {
		ret[i] = take_text(at, end);
		if (!ret[i])
			return false;
	}
	ret[n] = 0;
	return true;
}

static void *map(int fd, size_t n)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
	long at = sys6(SYS_mmap, 0, (long)n, PROT_READ | PROT_WRITE, flags, fd, 0);

	return at < 0 && at > -4096 ? 0 : (void *)at;
}

bool process_read(int fd, struct process *p)
{
	long size = SYS(SYS_lseek, fd, 0, 2);
	char *at = size < (long)sizeof(*p->head) || size > SPEC_MAX ? 0 : map(fd, (size_t)size), *end = at + size;
	const struct monitor_process *head = (struct monitor_process *)at;
	char **texts;

	if (!at || head->limits > COUNT_MAX || head->groups > COUNT_MAX || head->joins > COUNT_MAX || !head->args ||
	    head->args > COUNT_MAX || head->env > COUNT_MAX || head->allows > COUNT_MAX)
		return false;
	p->head = head;
	p->limits = (struct monitor_limit *)(at + sizeof(*head));
	p->groups = (uint32_t *)(p->limits + head->limits);
	at = (char *)(p->groups + head->groups);
	texts = map(-1, sizeof(char *) * ((size_t)head->args + head->env + head->joins + 8));
	if (at > end || !texts || !take_texts(&at, end, 4, texts))
		return false;
	p->program = texts[0];
	p->cwd = texts[1];
	p->files[0] = texts[2];
	p->files[1] = texts[3];
	p->joins = at;
	p->args = texts;
	p->env = texts + head->args + 1;
	if (!take_texts(&at, end, head->joins, texts) || !take_texts(&at, end, head->args, p->args) ||
	    !take_texts(&at, end, head->env, p->env))
		return false;
	p->allows = at;
	for (uint32_t i = 0; i < head->allows; i++)
		if (!take_text(&at, end))
			return false;
	return true;
}

/* --- becoming it --- */

static long join_all(const struct process *p)
{
	char *at = p->joins;

	for (uint32_t i = 0; i < p->head->joins; i++) {
		int fd = (int)sys_open(at, O_WRONLY, 0);
		long rc = fd < 0 ? fd : sys_write(fd, "0", 1);

		sys_close(fd);
		if (rc < 0)
			return rc;
		at += text_len(at) + 1;
	}
	return 0;
}

/* From here on it and its children execute nothing but these files, of which not all need be there.  The kernel's
 * Landlock does it: no rights are needed, and none can undo it. */
static long confine(const struct process *p)
{
	struct landlock_ruleset_attr rules = { .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE };
	const char *at = p->allows;
	long set, rc;

	if (!p->head->allows)
		return 0;
	set = SYS(SYS_landlock_create_ruleset, &rules, sizeof(rules.handled_access_fs), 0);
	if (set < 0)
		return set;
	for (uint32_t i = 0; i < p->head->allows; i++, at += text_len(at) + 1) {
		struct landlock_path_beneath_attr one = { .allowed_access = LANDLOCK_ACCESS_FS_EXECUTE,
							  .parent_fd = (int)sys_open(at, O_PATH, 0) };

		if (one.parent_fd >= 0)
			SYS(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &one, 0);
		sys_close(one.parent_fd);
	}
	rc = SYS(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (rc == 0)
		rc = SYS(SYS_landlock_restrict_self, set, 0);
	sys_close((int)set);
	return rc;
}

/* As execvp() would find it. */
static long execute(const struct process *p)
{
	static char path[PATH_BYTES];
	const char *dirs = DEFAULT_PATH;
	long rc = -ENOENT;

	if (text_has(p->program, '/'))
		return SYS(SYS_execve, p->program, p->args, p->env);
	for (char **v = p->env; *v; v++)
		if (!memcmp(*v, "PATH=", 5))
			dirs = *v + 5;
	while (*dirs) {
		size_t n = 0;

		for (; *dirs && *dirs != ':'; dirs++)
			if (n < sizeof(path) / 2)
				path[n++] = *dirs;
		dirs += *dirs == ':';
		path[n++] = '/';
		if (n == 1 || n + text_len(p->program) >= sizeof(path))
			continue;
		*text_add(path + n, p->program) = '\0';
		if (rc != -EACCES)
			rc = SYS(SYS_execve, path, p->args, p->env);
		else
			SYS(SYS_execve, path, p->args, p->env);
	}
	return rc;
}

static long write_file(const char *path, const char *text, size_t n)
{
	int fd = (int)sys_open(path, O_WRONLY, 0);
	long rc = fd < 0 ? fd : sys_write(fd, text, n);

	sys_close(fd);
	return rc < 0 ? rc : 0;
}

/* This id is what we are outside of the new user namespace, where we are root. */
static long write_map(const char *path, uint32_t id)
{
	char line[32], *end = text_add_number(line, id, 1);

	end = text_add(end, " 0 1\n");
	return write_file(path, line, (size_t)(end - line));
}

/* A server that an ordinary user has started is root of a user namespace.  Its user's own jobs are not: they are in one
 * below it, as themselves.  They keep the groups that the server was started with. */
static long take_only(const struct monitor_process *head)
{
	static const char deny[] = "deny";
	long rc = write_file("/proc/self/setgroups", deny, sizeof(deny) - 1);

	if (rc == 0)
		rc = write_map("/proc/self/gid_map", head->gid);
	return rc == 0 ? write_map("/proc/self/uid_map", head->uid) : rc;
}

static long take_identity(const struct process *p)
{
	const struct monitor_process *head = p->head;
	long rc;

	if (head->only)
		return take_only(head);
	rc = SYS(SYS_setgroups, head->groups, p->groups);
	if (rc == 0)
		rc = SYS(SYS_setresgid, head->gid, head->gid, head->gid);
	return rc == 0 ? SYS(SYS_setresuid, head->uid, head->uid, head->uid) : rc;
}

/* Returns only if it failed. */
static long become(const struct process *p, const int fds[3], bool tty, uint32_t *step)
{
	uint64_t none = 0;
	long rc;

	*step = MONITOR_STEP_START;
	SYS(SYS_setsid);
	rc = join_all(p);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < p->head->limits; i++)
		if (p->limits[i].resource == MONITOR_NICE)
			SYS(SYS_setpriority, PRIO_PROCESS, 0, p->limits[i].soft);
		else
			SYS(SYS_prlimit64, 0, p->limits[i].resource, &p->limits[i], 0);
	for (int i = 0; i < 3; i++)
		if (fds[i] != i)
			SYS(SYS_dup3, fds[i], i, 0);
	if (tty) {
		SYS(SYS_fchown, 0, p->head->uid, TTY_GROUP);
		SYS(SYS_fchmod, 0, TTY_MODE);
		SYS(SYS_ioctl, 0, TIOCSCTTY, 0);
	}
	SYS(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
	SYS(SYS_umask, p->head->umask);
	rc = take_identity(p);
	if (rc < 0)
		return rc;
	*step = MONITOR_STEP_CHDIR;
	rc = SYS(SYS_chdir, p->cwd);
	if (rc < 0)
		return rc;
	*step = MONITOR_STEP_EXEC;
	SYS(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof(none));
	rc = confine(p);
	return rc < 0 ? rc : execute(p);
}

static const char *reason_of(long error)
{
	/* No pointers: there is nobody to relocate them. */
	static const struct {
		int number;
		char text[36];
	} rows[] = {
		{ ENOENT, "No such file or directory" },
		{ EACCES, "Permission denied" },
		{ EPERM, "Operation not permitted" },
		{ ENOTDIR, "Not a directory" },
		{ EISDIR, "Is a directory" },
		{ ELOOP, "Too many levels of symbolic links" },
		{ ENAMETOOLONG, "File name too long" },
		{ ESTALE, "Stale file handle" },
		{ EIO, "Input/output error" },
		{ ENOEXEC, "Exec format error" },
		{ E2BIG, "Argument list too long" },
		{ ENOMEM, "Cannot allocate memory" },
		{ ENOSYS, "this kernel has no Landlock" },
		{ EOPNOTSUPP, "Landlock is off in this kernel" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].number == -error)
			return rows[i].text;
	return "error";
}

/* Why it could not be, as a line for the user; 0 bytes if that is nothing the user could do anything about. */
static size_t words_of(uint32_t step, const struct process *p, long error, char words[WORDS_BYTES])
{
	bool cwd = step == MONITOR_STEP_CHDIR;
	const char *what = cwd ? p->cwd : p->program;
	char *end = words;

	if ((!cwd && step != MONITOR_STEP_EXEC) || text_len(what) > WORDS_BYTES / 2)
		return 0;
	end = text_add(end, cwd ? "PBS: chdir to '" : "PBS: cannot execute '");
	end = text_add(end, what);
	end = text_add(end, cwd ? "' failed: " : "': ");
	end = text_add(end, reason_of(error));
	*end++ = '\n';
	return (size_t)(end - words);
}

void process_exec(void)
{
	static const int same[3] = { 0, 1, 2 };
	char words[WORDS_BYTES];
	struct process p = { 0 };
	struct winsize size;
	uint32_t step = 0;
	long rc = process_read(MONITOR_CONTROL_FD, &p) ? 0 : -EINVAL;

	if (rc == 0 && p.head->only)
		rc = SYS(SYS_unshare, CLONE_NEWUSER);
	if (rc == 0)
		rc = become(&p, same, SYS(SYS_ioctl, 0, TIOCGWINSZ, &size) == 0, &step);

	sys_write(2, words, words_of(step, &p, rc, words));
	sys_exit(MONITOR_EXEC_FAILED);
}

/* --- the start --- */

struct birth {
	const struct process *p;
	int fds[3];
	bool tty;
	uint32_t step;
	long error;
};

static void child(void *arg)
{
	struct birth *b = arg;

	b->error = become(b->p, b->fds, b->tty, &b->step);
	sys_exit(127);
}

static long make_terminal(struct monitor *m, struct birth *b)
{
	int unlocked = 0, master = (int)sys_open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK, 0);
	long slave = master < 0 ? master : SYS(SYS_ioctl, master, TIOCSPTLCK, &unlocked);

	if (slave == 0)
		slave = SYS(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return slave;
	m->streams[0].fd = m->stdin_fd = master;
	b->fds[0] = b->fds[1] = b->fds[2] = (int)slave;
	return 0;
}

static long make_streams(struct monitor *m, struct birth *b)
{
	uint32_t joined = b->p->head->joined;
	long rc = m->tty ? make_terminal(m, b) : run_make_pipes(m, b->fds);
	int rest = joined == MONITOR_STDOUT;

	if (rc < 0 || !joined || m->tty)
		return rc;
	/* One pipe for both keeps their order. */
	sys_close(b->fds[rest + 1]);
	sys_close(m->streams[rest].fd);
	m->streams[rest].fd = -1;
	b->fds[rest + 1] = b->fds[!rest + 1];
	return 0;
}

/* The user reads it where the output would have been. */
static void tell_user(struct monitor *m, const struct process *p, long error)
{
	char words[WORDS_BYTES];
	size_t n = words_of(m->record.step, p, error, words);

	if (n)
		files_say(m, &m->streams[1], words, n);
}

static long start(struct monitor *m, struct birth *b)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));
	long pid = files_open(m, b->p);

	if (pid < 0)
		return pid;
	m->record.step = MONITOR_STEP_START;
	pid = make_streams(m, b);
	if (pid < 0)
		return pid;
	m->record.started_us = sys_clock_wall_us();
	pid = sys_vfork(child, b, stack + sizeof(stack), b->p->head->only ? CLONE_NEWUSER : 0);
	if (pid < 0 || b->error == 0)
		return pid;
	SYS(SYS_wait4, pid, 0, 0, 0);
	m->record.step = b->step;
	return b->error;
}

void run_process(struct monitor *m)
{
	struct process p = { 0 };
	struct birth b = { .p = &p, .fds = { 0, 1, 2 }, .tty = m->tty };
	int fd = (int)sys_open(MONITOR_PROCESS, O_RDONLY, 0);
	long pid = fd >= 0 && process_read(fd, &p) ? start(m, &b) : -EINVAL;

	sys_close(fd);
	run_close_theirs(b.fds);
	serve_open(m);
	log_open(&m->log);
	run_join_groups(m->argv[MONITOR_ARG_JOIN]);
	if (pid < 0 && oom_cannot_start(m, pid)) {
		oom_say(m);
		m->record.step = MONITOR_STEP_MEMORY;
	} else if (pid < 0) {
		tell_user(m, &p, pid);
	}
	if (pid < 0) {
		m->record.state = MONITOR_FAILED;
		m->record.code = (int32_t)-pid;
		return;
	}
	m->record.step = MONITOR_STEP_NONE;
	m->record.pid = (int32_t)pid;
	m->pid_fd = (int)SYS(SYS_pidfd_open, pid, 0);
	m->record.state = MONITOR_RUNNING;
}
