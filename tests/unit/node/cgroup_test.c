// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "box.h"
#include "node/runtime_parts.h"
#include "test.h"

/* A group name nobody else has. */
static char *group(const char *below)
{
	return xasprintf("/stoker-t%d%s", (int)getpid(), below);
}

static int count_dirs(const char *path)
{
	struct bench named = { .n = 0 };

	snprintf(named.prefix, sizeof(named.prefix), "t%d", (int)getpid());
	return bench_cgroups(&named, path);
}

static bool file_says(const char *file, const char *want)
{
	auto_sbuf struct sbuf text = SBUF(4096);
	struct err e = ERR_INIT;

	return file_read(file, 4096, &text, &e) == 0 && text.p && str_starts(text.p, want) &&
	       text.p[strlen(want)] == '\n';
}

static bool on_v2(void)
{
	return access("/sys/fs/cgroup/cgroup.procs", F_OK) == 0;
}

/* Puts this process into a group of every hierarchy. */
static void join(const char *path)
{
	static const char *const roots[] = { "",         "/cpu",   "/cpuacct", "/cpuset",  "/memory", "/devices",
					     "/freezer", "/blkio", "/pids",    "/systemd", "/unified" };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		auto_free char *file = xasprintf("/sys/fs/cgroup%s%s/cgroup.procs", roots[i], path);
		int fd = open(file, O_WRONLY);

		if (fd >= 0 && write(fd, "0", 1) != 1)
			_exit(1);
	}
}

/* A child in `path` in every hierarchy, which forks another one and waits for its end. */
static pid_t child_in(const char *path)
{
	int ready[2], never[2];
	pid_t pid, other;
	char byte = 0;

	CHECK(pipe(ready) == 0 && pipe(never) == 0);
	pid = fork();
	if (pid != 0) {
		close(ready[1]);
		CHECK_INT(read(ready[0], &byte, 1), 1);
		close(ready[0]);
		close(never[0]);
		close(never[1]);
		return pid;
	}
	join(path);
	other = fork();
	if (other < 0 || (other > 0 && write(ready[1], &byte, 1) != 1))
		_exit(1);
	close(ready[1]);
	if (read(never[0], &byte, 1) == 1)
		_exit(2);
	pause();
	_exit(0);
}

/* Counts up every millisecond. */
static pid_t child_beating(const char *path, volatile long *beat)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	join(path);
	for (;; (*beat)++)
		usleep(1000);
}

static void check_life(void)
{
	auto_free char *pod = group("/pod1"), *box = group("/pod1/c1"), *below = group("/pod1/c1/own");
	struct cgroup_usage u;
	struct err e = ERR_INIT;
	int status = 0;
	pid_t pid;

	if (cgroup_make(cgroups_here(), box, NULL, &e) < 0 || cgroup_make(cgroups_here(), below, NULL, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	/* Again is fine. */
	CHECK_INT(cgroup_make(cgroups_here(), box, NULL, &e), 0);
	pid = child_in(below);
	CHECK_INT(waitpid(pid, &status, WNOHANG), 0);
	if (!on_v2()) {
		CHECK_INT(cgroup_read(cgroups_here(), below, &u, &e), 0);
		CHECK_INT(u.pids, 2);
		CHECK(u.memory_bytes > 0);
	}
	cgroup_trim(cgroups_here(), box);
	CHECK(count_dirs("/pod1/c1/own") > 0);
	cgroup_kill(cgroups_here(), pod, SIGKILL);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cgroup_remove(cgroups_here(), pod);
	CHECK_INT(count_dirs(""), 0);
	CHECK(cgroup_read(cgroups_here(), pod, &u, &e) < 0 || on_v2());
	/* Gone already is fine. */
	cgroup_remove(cgroups_here(), pod);
}

TEST("a group is made, its processes are killed and it is removed in every hierarchy")
{
	check_life();
}

TEST("removing a group kills what is in it and below")
{
	auto_free char *pod = group("/pod1"), *below = group("/pod1/c1");
	struct err e = ERR_INIT;
	int status;
	pid_t pid;

	CHECK_INT(cgroup_make(cgroups_here(), below, NULL, &e), 0);
	pid = child_in(below);
	cgroup_remove(cgroups_here(), pod);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(count_dirs(""), 0);
}

TEST("a signal that does not kill leaves a group running, and thawed")
{
	auto_free char *pod = group("/pod1");
	struct err e = ERR_INIT;
	int status;
	pid_t pid;

	CHECK_INT(cgroup_make(cgroups_here(), pod, NULL, &e), 0);
	pid = child_in(pod);
	cgroup_kill(cgroups_here(), pod, SIGWINCH);
	usleep(50000);
	CHECK_INT(waitpid(pid, &status, WNOHANG), 0);
	cgroup_kill(cgroups_here(), pod, SIGTERM);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	cgroup_remove(cgroups_here(), pod);
	CHECK_INT(count_dirs(""), 0);
}

TEST("a frozen group stands still, and goes on when it is thawed")
{
	volatile long *beat = mmap(NULL, sizeof(*beat), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	auto_free char *pod = group("/pod1");
	struct err e = ERR_INIT;
	int status;
	long seen;
	pid_t pid;

	CHECK_INT(cgroup_make(cgroups_here(), pod, NULL, &e), 0);
	pid = child_beating(pod, beat);
	while (*beat < 3)
		usleep(1000);
	CHECK_INT(cgroup_freeze(cgroups_here(), pod, true, &e), 0);
	seen = *beat;
	usleep(30000);
	CHECK_INT(*beat, seen);
	CHECK_INT(cgroup_freeze(cgroups_here(), pod, false, &e), 0);
	while (*beat == seen)
		usleep(1000);
	cgroup_remove(cgroups_here(), pod);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(cgroup_freeze(cgroups_here(), pod, true, &e), -1);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	munmap((void *)beat, sizeof(*beat));
}

TEST("who is held stays so whatever signal comes, but can be killed")
{
	volatile long *beat = mmap(NULL, sizeof(*beat), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	auto_free char *pod = group("/pod1");
	struct err e = ERR_INIT;
	int status;
	long seen;
	pid_t pid;

	CHECK_INT(cgroup_make(cgroups_here(), pod, NULL, &e), 0);
	pid = child_beating(pod, beat);
	while (*beat < 3)
		usleep(1000);
	CHECK(cgroup_hold(cgroups_here(), pod, true));
	/* Now that it has been asked to, this waits for it. */
	CHECK_INT(cgroup_freeze(cgroups_here(), pod, true, &e), 0);
	cgroup_kill(cgroups_here(), pod, SIGCONT);
	seen = *beat;
	usleep(30000);
	CHECK_INT(*beat, seen);
	cgroup_kill(cgroups_here(), pod, SIGKILL);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	cgroup_remove(cgroups_here(), pod);
	CHECK(!cgroup_hold(cgroups_here(), pod, true));
	munmap((void *)beat, sizeof(*beat));
}

TEST("limits are what the kernel has afterwards, and can be changed")
{
	static const struct {
		const char *v1, *v1_says, *v2, *v2_says;
	} rows[] = {
		{ "cpu%s/cpu.shares", "512", "%s/cpu.weight", "20" },
		{ "cpu%s/cpu.cfs_quota_us", "150000", "%s/cpu.max", "150000 100000" },
		{ "memory%s/memory.limit_in_bytes", "67108864", "%s/memory.max", "67108864" },
		{ "pids%s/pids.max", "99", "%s/pids.max", "99" },
	};
	auto_free char *pod = group("/pod1");
	struct cgroup_limits limits = {
		.cpu_shares = 512, .cpu_quota_us = 150000, .cpu_period_us = 100000, .memory_bytes = 32 << 20, .pids = 99
	};
	struct err e = ERR_INIT;

	if (cgroup_make(cgroups_here(), pod, &limits, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	limits.memory_bytes = 64 << 20;
	CHECK_INT(cgroup_make(cgroups_here(), pod, &limits, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *format = on_v2() ? rows[i].v2 : rows[i].v1;
		auto_free char *head = xstrndup(format, strcspn(format, "%"));
		auto_free char *file =
			xasprintf("/sys/fs/cgroup%s%s%s%s", on_v2() ? "" : "/", head, pod, strstr(format, "%s") + 2);

		if (!file_says(file, on_v2() ? rows[i].v2_says : rows[i].v1_says))
			test_fail(__FILE__, __LINE__, "%s", file);
	}
	cgroup_remove(cgroups_here(), pod);
	CHECK_INT(count_dirs(""), 0);
}

TEST("no group but ours is ever touched")
{
	static const char *const bad[] = { "/",           "",        "/system.slice", "/stoker-x/../y", "/stoker-x//y",
					   "/stoker-x/.", "stoker-x" };
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_INT(cgroup_make(cgroups_here(), bad[i], NULL, &e), -1);
		cgroup_kill(cgroups_here(), bad[i], 0);
		CHECK(cgroup_try_remove(cgroups_here(), bad[i]));
		cgroup_remove(cgroups_here(), bad[i]);
		CHECK_INT(cgroup_oom_kills(cgroups_here(), bad[i]), -1);
	}
}

/* Makes /sys/fs/cgroup look like a machine with nothing but v2, for this process alone. */
static bool become_v2(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       umount2("/sys/fs/cgroup", MNT_DETACH) == 0 &&
	       mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) == 0;
}

/* Runs fn in a child that sees only cgroup v2.  A failed check in there prints its line into a pipe, and any line is a
 * failure out here. */
static void in_v2_view(void (*fn)(void))
{
	int status = -1, said[2];
	char line[512];
	ssize_t n;
	pid_t pid;

	if (on_v2()) {
		fn();
		return;
	}
	fflush(stdout);
	(void)test_dir(); /* made by the one who will remove it */
	CHECK(pipe2(said, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(said[1], 1);
		if (!become_v2())
			_exit(9);
		fn();
		fflush(stdout);
		_exit(0);
	}
	close(said[1]);
	while ((n = read(said[0], line, sizeof(line))) > 0)
		test_fail(__FILE__, __LINE__, "%.*s", (int)n, line);
	close(said[0]);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

TEST("a machine with cgroup v2 alone: groups are made, killed and removed")
{
	in_v2_view(check_life);
}

static void check_limit_missing(void)
{
	auto_free char *pod = group("/pod1");
	struct cgroup_limits limits = { .memory_bytes = 32 << 20 };
	struct err e = ERR_INIT;
	bool has_memory = file_says("/sys/fs/cgroup/cgroup.controllers", "memory");

	if (!has_memory) {
		CHECK_INT(cgroup_make(cgroups_here(), pod, &limits, &e), -1);
		CHECK_INT(e.kind, ERR_UNAVAILABLE);
	}
	cgroup_remove(cgroups_here(), pod);
	CHECK_INT(count_dirs(""), 0);
}

TEST("a limit without a controller for it is refused, not forgotten")
{
	if (!on_v2())
		in_v2_view(check_limit_missing);
}

static void check_runtimes(void)
{
	static const char *const names[] = { "crun", "runc", "auto" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct bench b;
		struct trial *t;

		if (!bench_open(&b, names[i]))
			continue;
		t = trial_run(&b, "echo hello; exit 21");
		if (!bench_wait(&b, &t->exits, 1, 30))
			test_fail(__FILE__, __LINE__, "%s: %s", names[i], t->error.text);
		CHECK_INT(t->exit.code, 21);
		CHECK(!t->exit.oom);
		t = trial_run(&b, "sleep 1000");
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		CHECK(bench_restart(&b));
		CHECK_INT(b.found_running, 1);
		bench_close(&b);
	}
}

TEST("a machine with cgroup v2 alone: crun and runc work, and nothing is hidden from crun")
{
	in_v2_view(check_runtimes);
}

TEST("auto takes crun when it works")
{
	struct bench b;

	if (bench_open(&b, "auto"))
		CHECK_STR(b.runtime->ops->name, "crun");
	bench_close(&b);
}
