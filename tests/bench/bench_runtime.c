// SPDX-License-Identifier: Apache-2.0
/* bench_runtime.c - what a container's life costs: the bare runtime, and the same under node/runtime.h
 *
 *	bench-runtime DIR crun|runc [SECCOMP.json]
 *
 * DIR must be new and goes away again; DIR/run is kept in memory, as node/node.c does and as the runtimes' own state is
 * by default.  Needs root and a static busybox.  The container runs `true`.  One after the
 * other, the bare runtime and ours take turns, so that a busy machine is unfair to both; then many, a few at a time.
 * Prints a line of JSON.  "bare" is `crun run`, which ends with the removal of its container; "ended" is from start()
 *to exited(), "removed" includes remove() too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define ONE_BY_ONE 50
#define MANY       200
#define AT_ONCE    8

struct bench {
	struct loop *loop;
	struct runtime *runtime;
	char *dir;
	json_t *seccomp;
	struct spawn_with {
		char *program, *root_arg;
		bool hide;
	} bare;
	int failed;
	char *waiting[MANY]; /* ended, not removed yet */
	int n_waiting;
};

static void fail(const char *what, const struct err *e)
{
	fprintf(stderr, "bench-runtime: %s: %s\n", what, e->text);
	exit(1);
}

static char *bundle_of(const struct bench *b, const char *id)
{
	return xasprintf("%s/b/%s", b->dir, id);
}

static void write_bundle(struct bench *b, const char *id)
{
	auto_free char *bundle = bundle_of(b, id), *root = xasprintf("%s/rootfs", b->dir);
	auto_free char *path = xasprintf("%s/config.json", bundle), *cgroup = xasprintf("/stoker-bench/%s", id);
	auto_sbuf struct sbuf text = SBUF(1u << 20);
	struct err e = ERR_INIT;
	json_auto_t *doc = json_pack(
		"{s:s, s:{s:{s:i,s:i}, s:[s], s:[s], s:s}, s:{s:s}, s:[{s:s,s:s,s:s},{s:s,s:s,s:s}], s:{s:s, "
		"s:[{s:s},{s:s},{s:s},{s:s}]}}",
		"ociVersion", "1.0.2", "process", "user", "uid", 0, "gid", 0, "args", "/bin/true", "env", "PATH=/bin",
		"cwd", "/", "root", "path", root, "mounts", "destination", "/proc", "type", "proc", "source", "proc",
		"destination", "/dev", "type", "tmpfs", "source", "tmpfs", "linux", "cgroupsPath", cgroup, "namespaces",
		"type", "pid", "type", "mount", "type", "ipc", "type", "uts");

	if (b->seccomp)
		jsonx_set_new(doc, "linux.seccomp", json_incref(b->seccomp));
	jsonx_dump(doc, &text);
	if (file_make_dirs(bundle, 0700, &e) < 0 || file_write(path, 0600, sbuf_str(&text), &e) < 0)
		fail("bundle", &e);
}

static void make_root(const struct bench *b)
{
	auto_free char *bin = xasprintf("%s/rootfs/bin", b->dir), *command = NULL;
	auto_free char *proc = xasprintf("%s/rootfs/proc", b->dir), *dev = xasprintf("%s/rootfs/dev", b->dir);
	struct err e = ERR_INIT;

	if (file_make_dirs(bin, 0755, &e) < 0 || file_make_dirs(proc, 0755, &e) < 0 ||
	    file_make_dirs(dev, 0755, &e) < 0)
		fail("root file system", &e);
	command = xasprintf("cp /bin/busybox '%s/busybox' && ln -s busybox '%s/true'", bin, bin);
	if (system(command) != 0)
		exit(1);
}

/* --- the bare runtime --- */

static pid_t bare_start(const struct bench *b, const char *id)
{
	auto_free char *bundle = bundle_of(b, id);
	const char *argv[] = { b->bare.program, b->bare.root_arg, "run", "--bundle", bundle, id, NULL };
	struct spawn s = { .argv = argv, .fds = { -1, -1, 2 }, .hide = b->bare.hide };
	struct err e = ERR_INIT;
	pid_t pid = spawn_start(&s, &e);

	if (pid < 0)
		fail("bare runtime", &e);
	return pid;
}

static void bare_many(struct bench *b)
{
	for (int begun = 0, over = 0; over < MANY;) {
		char id[32];
		int status = 0;

		if (begun < MANY && begun - over < AT_ONCE) {
			snprintf(id, sizeof(id), "bare%d", begun++);
			bare_start(b, id);
			continue;
		}
		if (waitpid(-1, &status, 0) > 0)
			over++;
		b->failed += status != 0;
	}
}

/* --- ours --- */

static void on_exited(void *arg, const char *id, const struct exit_info *exit)
{
	struct bench *b = arg;

	b->failed += exit->code != 0;
	b->waiting[b->n_waiting++] = xstrdup(id);
}

static void on_done(void *arg, pid_t pid, const struct err *e)
{
	(void)arg;
	if (pid <= 0)
		fail("start", e);
}

static void ours_start(struct bench *b, const char *id)
{
	auto_free char *bundle = bundle_of(b, id), *log = xasprintf("%s/log", bundle);
	auto_free char *cgroup = xasprintf("/stoker-bench/%s", id);
	struct container_start c = { .id = id, .bundle = bundle, .log_path = log, .cgroup = cgroup };

	b->runtime->ops->start(b->runtime, &c, on_done, b);
}

/* Turns the loop until at least one has ended. */
static int64_t ours_wait(struct bench *b)
{
	while (!b->n_waiting)
		loop_turn(b->loop, false);
	return clock_mono_ns();
}

static int ours_remove(struct bench *b)
{
	int n = b->n_waiting;

	while (b->n_waiting) {
		char *id = b->waiting[--b->n_waiting];

		b->runtime->ops->remove(b->runtime, id);
		free(id);
	}
	return n;
}

static void ours_many(struct bench *b)
{
	for (int begun = 0, over = 0; over < MANY;) {
		char id[32];

		if (begun < MANY && begun - over < AT_ONCE) {
			snprintf(id, sizeof(id), "ours%d", begun++);
			ours_start(b, id);
			continue;
		}
		ours_wait(b);
		over += ours_remove(b);
	}
}

/* --- figures --- */

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double median_ms(int64_t *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return (double)v[n / 2] / 1e6;
}

static void one_by_one(struct bench *b)
{
	int64_t bare[ONE_BY_ONE], done[ONE_BY_ONE], removed[ONE_BY_ONE];

	for (int i = 0; i < ONE_BY_ONE; i++) {
		char id[32];
		int64_t from = clock_mono_ns();
		int status;

		snprintf(id, sizeof(id), "bare%d", i);
		waitpid(bare_start(b, id), &status, 0);
		b->failed += status != 0;
		bare[i] = clock_mono_ns() - from;
		snprintf(id, sizeof(id), "ours%d", i);
		from = clock_mono_ns();
		ours_start(b, id);
		done[i] = ours_wait(b) - from;
		ours_remove(b);
		removed[i] = clock_mono_ns() - from;
	}
	printf("{\"bare_ms\":%.3f,\"ended_ms\":%.3f,\"removed_ms\":%.3f,", median_ms(bare, ONE_BY_ONE),
	       median_ms(done, ONE_BY_ONE), median_ms(removed, ONE_BY_ONE));
}

static void many(struct bench *b)
{
	int64_t from, middle, to;

	/* The loop reaps the last monitor before bare_many() waits for just any child. */
	usleep(100000);
	loop_turn(b->loop, true);
	from = clock_mono_ns();
	bare_many(b);
	middle = clock_mono_ns();
	ours_many(b);
	to = clock_mono_ns();
	printf("\"many\":%d,\"at_once\":%d,\"bare_rate\":%.1f,\"rate\":%.1f,\"failed\":%d}\n", MANY, AT_ONCE,
	       MANY * 1e9 / (double)(middle - from), MANY * 1e9 / (double)(to - middle), b->failed);
}

static void open_all(struct bench *b, const char *name, const char *seccomp)
{
	struct runtime_config config = { .dir = b->dir, .name = name, .prefix = "bench" };
	struct runtime_events events = { .exited = on_exited, .arg = b };
	struct err e = ERR_INIT;

	auto_free char *run = xasprintf("%s/run", b->dir);

	if (mkdir(run, 0700) < 0 || mount("bench", run, "tmpfs", 0, "mode=0700") < 0) {
		perror(run);
		exit(1);
	}
	b->loop = loop_new();
	b->seccomp = seccomp ? json_load_file(seccomp, 0, NULL) : NULL;
	make_root(b);
	if (runtime_open(b->loop, &config, &events, &b->runtime, &e) < 0)
		fail(name, &e);
	b->bare.program = xstrdup(((struct oci *)b->runtime)->with.program);
	b->bare.hide = ((struct oci *)b->runtime)->with.hide;
	b->bare.root_arg = xasprintf("--root=%s/run/bare", b->dir);
	for (int i = 0; i < MANY; i++) {
		char id[32];

		snprintf(id, sizeof(id), "bare%d", i);
		write_bundle(b, id);
		snprintf(id, sizeof(id), "ours%d", i);
		write_bundle(b, id);
	}
}

int main(int argc, char **argv)
{
	struct bench b = { .n_waiting = 0 };
	struct cgroups groups;

	if (argc < 3 || argc > 4 || mkdir(argv[1], 0700) < 0) {
		fprintf(stderr, "usage: bench-runtime NEW-DIR crun|runc [SECCOMP.json]\n");
		return 2;
	}
	b.dir = realpath(argv[1], NULL);
	open_all(&b, argv[2], argv[3]);
	one_by_one(&b);
	many(&b);
	groups = b.runtime->groups;
	runtime_free(b.runtime);
	loop_free(b.loop);
	cgroup_remove(&groups, "/stoker-bench");
	{
		auto_free char *run = xasprintf("%s/run", b.dir);

		umount(run);
	}
	state_remove_tree(b.dir);
	return b.failed != 0;
}
