// SPDX-License-Identifier: Apache-2.0
/* rootless.c - pods without root: a user namespace that lasts as long as they do
 *
 * In a user namespace an ordinary user may mount overlays and start containers.  Mounts and processes of pods outlive
 * the server, so the namespaces must too, and a later server must find them again: mounts of another namespace are
 * neither seen nor removed.  A holder, a process that does nothing, keeps them:
 *
 *	DIR/run/userns    its pid; locked by the holder as long as it lives
 *
 * The holder is made first and makes the namespaces; whoever needs them joins, at the first start as at any other.  So
 * everything that a machine may forbid happens in a child, and a server whose child failed is where it was and can
 * still serve the API.  If someone kills the holder, monitors of containers are in the same namespaces, and one of them
 * is asked instead.
 *
 * Ids.  With a range in /etc/subuid and /etc/subgid, and the set-uid programs newuidmap and newgidmap, images may use
 * many users; else there is one: root inside, the user outside.
 */
#include "node/rootless.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/idmap.h"
#include "node/runtime_parts.h"
#include "node/tree.h"

#define MAPPER_MS    10000
#define JOIN_MS      10000 /* for another process that is just making them */
#define JOIN_STEP_NS 2000000
#define FILE_MAX     (1024u * 1024)
#define UNIFIED      "/sys/fs/cgroup/unified"

/* ---- joining ---- */

static int open_ns(pid_t pid, const char *kind)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int join(pid_t pid, struct err *e)
{
	auto_close int user = open_ns(pid, "user");
	auto_close int mounts = open_ns(pid, "mnt");
	auto_free char *cwd = getcwd(NULL, 0);

	if (user < 0 || mounts < 0 || setns(user, CLONE_NEWUSER) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot enter the user namespace of process %d", (int)pid);
	if (setns(mounts, CLONE_NEWNS) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot enter the mount namespace of process %d", (int)pid);
	/* The new root became the working directory. */
	if (cwd && chdir(cwd) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "%s", cwd);
	return 0;
}

/* A monitor that lives; 0 if there is none. */
static pid_t find_monitor(const char *run)
{
	auto_free char *path = xasprintf("%s/containers", run);
	DIR *dir = opendir(path);
	struct dirent *d;
	pid_t found = 0;

	while (dir && !found && (d = readdir(dir))) {
		auto_free char *at = xasprintf("%s/%s", path, d->d_name);
		struct box b = { .dir = at };
		struct monitor_record record;

		if (d->d_name[0] != '.' && monitor_alive(&b) && monitor_read_state(&b, &record))
			found = record.monitor;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* ---- the holder, before it holds ---- */

struct making {
	const char *run;
	bool joined; /* the namespaces are there, and we are in them */
	int lock;    /* -1: they need not outlive us */
	int program; /* the holder's, if there is a lock */
};

static const struct {
	const char *file, *forbids, *name;
} settings[] = {
	{ "/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone" },
	{ "/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces" },
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
	  "kernel.apparmor_restrict_unprivileged_userns" },
};

/* Which setting of this machine is the reason, if one is. */
static int forbidden(const char *what, struct err *e)
{
	int saved = errno;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		auto_sbuf struct sbuf text = SBUF(64);
		struct err ignored = ERR_INIT;

		if (file_read(settings[i].file, 64, &text, &ignored) == 0 &&
		    str_eq(str_trim(sbuf_str(&text)), settings[i].forbids))
			return err_set(e, ERR_UNAVAILABLE,
				       "%s, because the setting %s is %s: change it, or run the server as root", what,
				       settings[i].name, settings[i].forbids);
	}
	errno = saved;
	return err_errno(e, ERR_UNAVAILABLE, "%s", what);
}

static int mount_overlay(const char *probe)
{
	return chdir(probe) == 0 && mkdir("lower", 0700) == 0 && mkdir("upper", 0700) == 0 &&
			       mkdir("work", 0700) == 0 && mkdir("merged", 0700) == 0 &&
			       mount("overlay", "merged", "overlay", 0,
				     "lowerdir=lower,upperdir=upper,workdir=work,userxattr") == 0
		       ? 0
		       : -1;
}

/* Containers need overlays: Linux 5.11, and a file system that can be one's upper layer. */
static int try_overlay(const char *run, struct err *e)
{
	auto_free char *probe = xasprintf("%s/userns-probe", run);
	auto_free char *merged = xasprintf("%s/merged", probe);
	int r;

	tree_remove(probe, NULL);
	if (mkdir(probe, 0700) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "%s", probe);
	r = mount_overlay(probe);
	if (r < 0)
		forbidden("an overlay cannot be mounted in a user namespace", e);
	(void)!chdir("/");
	umount2(merged, MNT_DETACH);
	tree_remove(probe, NULL);
	return r;
}

/* crun 1.8 refuses to work where it sees cgroup2 beside cgroup1.  Without root no cgroup can be used anyway. */
static void hide_unified(void)
{
	struct statfs fs;

	if (statfs(UNIFIED, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC &&
	    mount("tmpfs", UNIFIED, "tmpfs", MS_RDONLY, "size=4k") < 0)
		log_warn("hide %s error=%s, ignoring", UNIFIED, strerror(errno));
}

/* In the child.  `talk` leads to the one who waits: it must give us ids, for which an empty word asks. */
static int prepare(const char *run, int talk, struct err *e)
{
	char word = 0;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return forbidden("this machine does not let ordinary users make user namespaces", e);
	if (write(talk, &word, 1) != 1 || read(talk, &word, 1) != 1)
		return err_set(e, ERR_UNAVAILABLE, "nobody gave the user namespace its ids");
	/* What the host mounts later is seen; nothing of ours is seen outside. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return forbidden("nothing can be mounted in a user namespace", e);
	hide_unified();
	return try_overlay(run, e);
}

/* Becomes the smallest process there is, with the lock and nothing else of ours. */
static _Noreturn void hold(int program, int lock)
{
	static const char *const argv[] = { MONITOR_NAME, MONITOR_HOLD, NULL };
	static const char *const env[] = { NULL };

	/* Out of the way of the numbers they shall have. */
	program = fcntl(program, F_DUPFD_CLOEXEC, 16);
	lock = fcntl(lock, F_DUPFD_CLOEXEC, 16);
	(void)!chdir("/");
	close_range(0, MONITOR_LOCK_FD, 0);
	for (int fd = 0; fd < MONITOR_LOCK_FD; fd++)
		(void)!open("/dev/null", O_RDWR);
	dup2(lock, MONITOR_LOCK_FD);
	close_range(MONITOR_LOCK_FD + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	execveat(program, "", (char *const *)argv, (char *const *)env, AT_EMPTY_PATH);
	_exit(127);
}

/* The child: makes the namespaces unless it was born in them, says how that went, waits until the other side has
 * joined, and holds them if it has a lock. */
static _Noreturn void child_run(const struct making *m, int talk)
{
	struct err e = ERR_INIT;
	int r = m->joined ? 0 : prepare(m->run, talk, &e);
	char end;

	setsid();
	if (write(talk, &e, sizeof(e)) != (ssize_t)sizeof(e) || r < 0)
		_exit(1);
	(void)!read(talk, &end, 1);
	if (m->lock >= 0)
		hold(m->program, m->lock);
	_exit(0);
}

/* ---- ids ---- */

static const struct side {
	const char *map, *subordinate, *program;
} sides[] = {
	{ "uid_map", "/etc/subuid", "newuidmap" },
	{ "gid_map", "/etc/subgid", "newgidmap" },
};

static char *own_account(void)
{
	const struct passwd *pw = getpwuid(geteuid());

	return pw ? xstrdup(pw->pw_name) : NULL;
}

/* By the program that may give a user more than one id; false if it may not, or is not there. */
static bool map_many(pid_t pid, const struct side *s, const struct idmap *m)
{
	auto_free char *program = spawn_find(s->program);
	auto_sbuf struct sbuf words = SBUF(FILE_MAX);
	auto_free char *pid_text = xasprintf("%d", (int)pid);
	auto_free const char **argv = xcalloc(m->n * 3 + 3, sizeof(*argv));
	auto_free char(*numbers)[16] = xcalloc(m->n * 3, sizeof(*numbers));
	struct spawn run = { .argv = argv, .fds = { -1, -1, -1 } };
	struct err e = ERR_INIT;
	int status = 1;

	if (!program || m->n < 2)
		return false;
	argv[0] = program;
	argv[1] = pid_text;
	for (size_t i = 0; i < m->n; i++) {
		const uint32_t row[] = { m->rows[i].inside, m->rows[i].outside, m->rows[i].count };

		for (size_t k = 0; k < 3; k++) {
			snprintf(numbers[i * 3 + k], sizeof(numbers[0]), "%u", row[k]);
			argv[2 + i * 3 + k] = numbers[i * 3 + k];
		}
	}
	if (spawn_wait(&run, MAPPER_MS, &words, &status, &e) == 0 && status == 0)
		return true;
	spawn_clean_words(&words);
	log_warn("%s: %s; pods have one user only", s->program, e.kind != ERR_NONE ? e.text : words.p ? words.p : "");
	return false;
}

static int write_proc(pid_t pid, const char *name, const char *text, struct err *e)
{
	auto_free char *path = xasprintf("/proc/%d/%s", (int)pid, name);
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_errno(e, ERR_UNAVAILABLE, "cannot write %s", path);
	return 0;
}

static int give_ids(pid_t pid, struct err *e)
{
	const uint32_t own[] = { geteuid(), getegid() };
	auto_free char *account = own_account();

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		auto_sbuf struct sbuf text = SBUF(FILE_MAX);
		struct err ignored = ERR_INIT;
		struct idmap m;
		char line[32];

		(void)file_read(sides[i].subordinate, FILE_MAX, &text, &ignored);
		idmap_plan(text.p ? text.p : "", account, own[0], own[i], &m);
		if (map_many(pid, &sides[i], &m))
			continue;
		snprintf(line, sizeof(line), "0 %u 1", own[i]);
		/* Who leaves a group could get at what is kept from it: the kernel wants this settled first. */
		if ((i == 1 && write_proc(pid, "setgroups", "deny", e) < 0) ||
		    write_proc(pid, sides[i].map, line, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- making ---- */

/* Answers the child until its verdict is there. */
static int wait_for(pid_t pid, int talk, struct err *e)
{
	struct err verdict = ERR_INIT;
	ssize_t n = recv(talk, &verdict, sizeof(verdict), 0);

	if (n == 1) {
		if (give_ids(pid, e) < 0)
			return -1;
		(void)!send(talk, "", 1, MSG_NOSIGNAL);
		n = recv(talk, &verdict, sizeof(verdict), 0);
	}
	if (n != (ssize_t)sizeof(verdict))
		return err_set(e, ERR_UNAVAILABLE, "the process that makes the user namespace was killed");
	if (verdict.kind == ERR_NONE)
		return 0;
	*e = verdict;
	return -1;
}

static int write_down(pid_t pid, int lock, struct err *e)
{
	auto_free char *text = xasprintf("%d\n", (int)pid);

	if (lock >= 0 && pwrite(lock, text, strlen(text), 0) != (ssize_t)strlen(text))
		return err_errno(e, ERR_STORAGE_FULL, "cannot write down who holds the user namespace");
	return 0;
}

static int make(const struct making *m, struct err *e)
{
	int talk[2];
	pid_t pid;
	int r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a user namespace");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(talk[0]);
		child_run(m, talk[1]);
	}
	close(talk[1]);
	r = pid < 0 ? err_errno(e, ERR_UNAVAILABLE, "cannot make a user namespace") : wait_for(pid, talk[0], e);
	if (r == 0 && write_down(pid, m->lock, e) < 0)
		r = -1;
	if (r == 0 && !m->joined)
		r = join(pid, e);
	if (r < 0 && pid > 0)
		kill(pid, SIGKILL);
	close(talk[0]);
	if (pid > 0 && (r < 0 || m->lock < 0))
		waitpid(pid, NULL, 0);
	return r;
}

/* Nobody holds any, and while we have the lock nobody else makes some. */
static int begin(const char *run, int lock, bool keep, struct err *e)
{
	struct making m = { .run = run, .lock = keep ? lock : -1 };
	pid_t monitor = find_monitor(run);
	auto_close int program = -1;

	m.joined = monitor > 1 && join(monitor, e) == 0;
	err_clear(e);
	if (ftruncate(lock, 0) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", run);
	if (m.joined && !keep)
		return 0;
	if (keep && (program = monitor_program(run, e)) < 0)
		return -1;
	m.program = program;
	return make(&m, e) < 0 ? -1 : m.joined ? 0 : 1;
}

static pid_t read_holder(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

int rootless_enter(const char *dir, bool keep, struct err *e)
{
	auto_free char *run = xasprintf("%s/run", dir);
	auto_free char *path = xasprintf("%s/userns", run);
	int64_t deadline = clock_mono_ms() + JOIN_MS;

	if (file_make_dirs(run, 0700, e) < 0)
		return -1;
	for (;;) {
		auto_close int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		pid_t pid;

		if (fd < 0)
			return err_errno(e, ERR_INTERNAL, "%s", path);
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return begin(run, fd, keep, e);
		pid = read_holder(fd);
		if (pid > 1 && join(pid, e) == 0)
			return 0;
		/* One who is making them has not written its pid yet. */
		if (clock_mono_ms() >= deadline)
			return e->kind != ERR_NONE ? -1
						   : err_set(e, ERR_TIMEOUT, "%s is locked by another process", path);
		err_clear(e);
		nanosleep(&(struct timespec){ .tv_nsec = JOIN_STEP_NS }, NULL);
	}
}

void rootless_leave(const char *dir)
{
	auto_free char *path = xasprintf("%s/run/userns", dir);
	auto_close int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	auto_close int holder = fd < 0 ? -1 : (int)syscall(SYS_pidfd_open, read_holder(fd), 0);

	/* As long as it has the lock, the number is its own. */
	if (holder >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		syscall(SYS_pidfd_send_signal, holder, SIGKILL, NULL, 0);
}
