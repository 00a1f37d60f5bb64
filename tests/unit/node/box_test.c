// SPDX-License-Identifier: Apache-2.0
/* box_test.c - the bench of box.h (a _test file so that the build finds it) */
#include "box.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

const struct cgroups *cgroups_here(void)
{
	static struct cgroups groups;

	cgroups_find(&groups);
	return &groups;
}

struct trial *bench_find(struct bench *b, const char *id)
{
	for (int i = 0; i < b->n; i++)
		if (streq(b->trials[i].id, id))
			return &b->trials[i];
	return NULL;
}

static void on_exited(void *arg, const char *id, const struct exit_info *exit)
{
	struct trial *t = bench_find(arg, id);

	CHECK(t != NULL);
	if (!t)
		return;
	t->exits++;
	t->exit = *exit;
	t->exit_ns = clock_mono_ns();
	/* An end before the start has been reported would confuse everyone. */
	CHECK_INT(t->dones, 1);
}

static void on_done(void *arg, pid_t pid, const struct err *e)
{
	struct trial *t = arg;

	t->dones++;
	t->pid = pid;
	t->done_ns = clock_mono_ns();
	if (e)
		t->error = *e;
	if (e && !t->may_fail)
		test_fail(__FILE__, __LINE__, "start of %s: %s", t->id, e->text);
}

static bool open_runtime(struct bench *b)
{
	struct runtime_config config = { .dir = b->dir, .name = b->name, .prefix = b->prefix };
	struct runtime_events events = { .exited = on_exited, .arg = b };
	struct err e = ERR_INIT;

	if (runtime_open(b->loop, &config, &events, &b->runtime, &e) == 0)
		return true;
	test_fail(__FILE__, __LINE__, "runtime %s: %s", b->name, e.text);
	b->runtime = NULL;
	return false;
}

static void copy_file(const char *from, const char *to)
{
	auto_sbuf struct sbuf text = SBUF(16u << 20);
	struct err e = ERR_INIT;

	CHECK(file_read(from, 16u << 20, &text, &e) == 0 && file_write(to, 0755, sbuf_str(&text), &e) == 0);
}

static void make_root(struct bench *b)
{
	static const char *const dirs[] = { "rootfs/bin", "rootfs/proc", "rootfs/dev", "rootfs/tmp" };
	static const char *const names[] = { "sh",  "sleep", "cat",  "true", "dd", "tty", "stty",
					     "seq", "kill",  "head", "tail", "ls", "tr" };
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_free char *path = xasprintf("%s/%s", b->dir, dirs[i]);

		CHECK(file_make_dirs(path, 0755, &e) == 0);
	}
	{
		auto_free char *box = xasprintf("%s/rootfs/bin/busybox", b->dir);

		copy_file("/bin/busybox", box);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = xasprintf("%s/rootfs/bin/%s", b->dir, names[i]);

		CHECK(symlink("busybox", path) == 0);
	}
}

bool bench_open(struct bench *b, const char *name)
{
	static unsigned count;

	*b = (struct bench){ .n = 0 };
	snprintf(b->name, sizeof(b->name), "%s", name);
	snprintf(b->dir, sizeof(b->dir), "%s/rt%d-%u", test_dir(), (int)getpid(), ++count);
	snprintf(b->prefix, sizeof(b->prefix), "u%x%x", (unsigned)getpid(), count);
	b->loop = loop_new();
	make_root(b);
	return open_runtime(b);
}

static void on_found(void *arg, const struct found *f)
{
	struct bench *b = arg;
	int i = b->found_running + b->found_ended;
	struct trial *t = bench_find(b, f->id);

	CHECK(t != NULL);
	b->found[i] = *f;
	b->found[i].id = t ? t->id : NULL;
	if (f->running)
		b->found_running++;
	else
		b->found_ended++;
	if (t && f->running && !b->any_pid)
		CHECK_INT(f->pid, t->pid);
	/* As far as this server is concerned it has been started. */
	if (t)
		t->dones = 1;
}

bool bench_restart(struct bench *b)
{
	struct err e = ERR_INIT;

	runtime_free(b->runtime);
	b->runtime = NULL;
	loop_free(b->loop);
	b->loop = loop_new();
	if (!open_runtime(b))
		return false;
	b->found_running = b->found_ended = 0;
	CHECK_INT(b->runtime->ops->adopt(b->runtime, on_found, b, &e), 0);
	return true;
}

int bench_cgroups(const struct bench *b, const char *below)
{
	auto_free char *pattern = xasprintf("/sys/fs/cgroup/*/stoker-%s%s", b->prefix, below);
	auto_free char *pattern2 = xasprintf("/sys/fs/cgroup/stoker-%s%s", b->prefix, below);
	glob_t found = { .gl_pathc = 0 };
	int n;

	glob(pattern, 0, NULL, &found);
	glob(pattern2, GLOB_APPEND, NULL, &found);
	n = (int)found.gl_pathc;
	globfree(&found);
	return n;
}

static int entries(const struct bench *b, const char *name)
{
	auto_free char *path = xasprintf("%s/run/%s", b->dir, name);
	DIR *dir = opendir(path);
	int n = 0;
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		n += !streq(d->d_name, ".") && !streq(d->d_name, "..");
	if (dir)
		closedir(dir);
	return n;
}

static int mounts_below(const char *dir)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t cap = 0;
	int n = 0;

	while (f && getline(&line, &cap, f) > 0)
		n += strstr(line, dir) != NULL;
	free(line);
	if (f)
		fclose(f);
	return n;
}

void bench_close(struct bench *b)
{
	static const char *const state[] = { "containers", "oci", "fake" };

	for (int i = 0; b->runtime && i < b->n; i++) {
		auto_free char *pod = xasprintf("/stoker-%s/pod1", b->prefix);

		b->runtime->ops->remove(b->runtime, b->trials[i].id);
		if (i == b->n - 1)
			cgroup_remove(cgroups_here(), pod);
	}
	loop_turn(b->loop, true);
	for (size_t i = 0; i < ARRAY_SIZE(state); i++)
		CHECK_INT(entries(b, state[i]), 0);
	runtime_free(b->runtime);
	loop_free(b->loop);
	CHECK_INT(bench_cgroups(b, ""), 0);
	CHECK_INT(mounts_below(b->dir), 0);
}

json_t *bench_config(struct bench *b, struct trial *t, const char *script)
{
	auto_free char *root = xasprintf("%s/rootfs", b->dir);
	json_t *config = json_pack(
		"{s:s, s:{s:b, s:{s:i,s:i}, s:[s,s,s], s:[s], s:s}, s:{s:s, s:b}, s:[{s:s,s:s,s:s},{s:s,s:s,s:s},"
		"{s:s,s:s,s:s,s:[s,s]}], s:{s:s, s:{}, s:[{s:s},{s:s},{s:s},{s:s}]}}",
		"ociVersion", "1.0.2", "process", "terminal", 0, "user", "uid", 0, "gid", 0, "args", "/bin/sh", "-c",
		script, "env", "PATH=/bin", "cwd", "/", "root", "path", root, "readonly", 0, "mounts", "destination",
		"/proc", "type", "proc", "source", "proc", "destination", "/dev", "type", "tmpfs", "source", "tmpfs",
		"destination", "/dev/pts", "type", "devpts", "source", "devpts", "options", "newinstance",
		"ptmxmode=0666", "linux", "cgroupsPath", t->cgroup, "resources", "namespaces", "type", "pid", "type",
		"mount", "type", "ipc", "type", "uts");

	CHECK(config != NULL);
	return config;
}

struct trial *trial_new(struct bench *b)
{
	struct trial *t = &b->trials[b->n];
	auto_free char *dir = xstrdup(b->dir), *prefix = xstrdup(b->prefix);
	struct err e = ERR_INIT;

	*t = (struct trial){ .dones = 0 };
	snprintf(t->id, sizeof(t->id), "pod1_c%d_0", b->n);
	snprintf(t->bundle, sizeof(t->bundle), "%s/b/pod1_c%d_0", dir, b->n);
	snprintf(t->log, sizeof(t->log), "%s/pod1_c%d_0.log", dir, b->n);
	snprintf(t->cgroup, sizeof(t->cgroup), "/stoker-%s/pod1/pod1_c%d_0", prefix, b->n);
	b->n++;
	CHECK(file_make_dirs(t->bundle, 0755, &e) == 0);
	return t;
}

void trial_write(struct trial *t, json_t *config)
{
	auto_sbuf struct sbuf text = SBUF(1u << 20);
	auto_free char *path = xasprintf("%s/config.json", t->bundle);
	struct err e = ERR_INIT;

	jsonx_dump(config, &text);
	json_decref(config);
	CHECK(file_write(path, 0600, sbuf_str(&text), &e) == 0);
}

void trial_start(struct bench *b, struct trial *t)
{
	struct container_start c = { .id = t->id,
				     .bundle = t->bundle,
				     .log_path = t->log,
				     .cgroup = t->cgroup,
				     .tty = t->tty,
				     .stdin_open = t->stdin_open,
				     .stdin_once = true,
				     .process = t->process };
	auto_free char *joins = NULL;
	struct err e = ERR_INIT;

	if (t->process)
		CHECK_INT(cgroup_make_process(cgroups_here(), t->cgroup, NULL, t->devices, &joins, &e), 0);
	c.joins = joins;
	t->start_ns = clock_mono_ns();
	b->runtime->ops->start(b->runtime, &c, on_done, t);
}

struct trial *trial_run(struct bench *b, const char *script)
{
	struct trial *t = trial_new(b);

	trial_write(t, bench_config(b, t, script));
	trial_start(b, t);
	return t;
}

static void on_deadline(void *arg)
{
	*(bool *)arg = true;
}

bool bench_wait(struct bench *b, const int *counter, int want, int seconds)
{
	bool late = false;
	struct loop_timer timer = { .fire = on_deadline, .arg = &late };

	loop_timer_set(b->loop, &timer, seconds * 1000);
	while (*counter < want && !late)
		loop_turn(b->loop, false);
	loop_timer_done(&timer);
	if (*counter < want)
		test_fail(__FILE__, __LINE__, "waited %d s in vain", seconds);
	return *counter >= want;
}

static void add_log(const char *path, struct sbuf *out)
{
	auto_sbuf struct sbuf text = SBUF(64u << 20);
	struct err e = ERR_INIT;
	struct str rest, line;

	if (file_read(path, 64u << 20, &text, &e) < 0) {
		sbuf_adds(out, e.text);
		return;
	}
	rest = sbuf_str(&text);
	while (rest.n && str_split(&rest, '\n', &line)) {
		struct str when, stream, tag;

		if (!str_split(&line, ' ', &when) || !str_split(&line, ' ', &stream) || !str_split(&line, ' ', &tag))
			continue;
		sbuf_add(out, line.p, line.n);
		if (str_eq(tag, "F"))
			sbuf_addc(out, '\n');
	}
}

char *trial_log(struct trial *t)
{
	auto_sbuf struct sbuf out = SBUF(64u << 20);

	for (int i = 9; i > 0; i--) {
		auto_free char *part = xasprintf("%s.%d", t->log, i);

		if (access(part, F_OK) == 0)
			add_log(part, &out);
	}
	add_log(t->log, &out);
	return sbuf_steal(&out);
}

struct monitor_record trial_state(const struct bench *b, const struct trial *t)
{
	auto_free char *path = xasprintf("%s/run/containers/%s/state", b->dir, t->id);
	auto_sbuf struct sbuf text = SBUF(256);
	struct monitor_record record = { .state = 0 };
	struct err e = ERR_INIT;

	CHECK(file_read(path, 256, &text, &e) == 0 && text.n == sizeof(record));
	if (text.n == sizeof(record))
		memcpy(&record, text.p, sizeof(record));
	return record;
}
