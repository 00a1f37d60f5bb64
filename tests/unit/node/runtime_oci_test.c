// SPDX-License-Identifier: Apache-2.0
/* Real containers: every test runs with crun and with runc. */
#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "box.h"
#include "test.h"

static const char *const both[] = { "crun", "runc" };

#define EACH_RUNTIME(b)                                                                                                \
	for (size_t which_ = 0; which_ < ARRAY_SIZE(both); which_++, bench_close(&(b)))                                \
		if (bench_open(&(b), both[which_]))

/* --- start to end --- */

TEST("a container's exit code, signal and log are told truly")
{
	static const struct {
		const char *script;
		int code, signal;
		const char *log;
	} rows[] = {
		{ "exit 0", 0, 0, "" },
		{ "exit 7", 7, 0, "" },
		{ "echo out; echo err >&2; exit 1", 1, 0, "out\nerr\n" },
		{ "printf partial", 0, 0, "partial" },
		{ "seq 1 5", 0, 0, "1\n2\n3\n4\n5\n" },
	};
	struct bench b;

	EACH_RUNTIME(b)
	{
		CHECK_STR(b.runtime->ops->name, both[which_]);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct trial *t = trial_run(&b, rows[i].script);
			auto_free char *log = NULL;
			int64_t age;

			if (!bench_wait(&b, &t->exits, 1, 30)) {
				test_fail(__FILE__, __LINE__, "%s: %s", rows[i].script, t->error.text);
				continue;
			}
			log = trial_log(t);
			CHECK_STR(log, rows[i].log);
			CHECK(t->pid > 1);
			CHECK_INT(t->exit.code, rows[i].code);
			CHECK_INT(t->exit.signal, rows[i].signal);
			CHECK(!t->exit.oom && !t->exit.unknown);
			age = clock_wall_micros() - t->exit.finished_us;
			CHECK(age >= 0 && age < 60 * 1000000);
		}
	}
}

TEST("a signal reaches the first process or all, and one too many is no error")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *one = trial_run(&b, "trap 'exit 9' TERM; echo set; while :; do sleep 0.05; done");
		struct trial *all = trial_run(&b, "sleep 1000 & sleep 1000 & wait");
		struct err e = ERR_INIT;
		struct cgroup_usage u = { 0 };
		auto_free char *log = NULL;

		CHECK(bench_wait(&b, &one->dones, 1, 30) && bench_wait(&b, &all->dones, 1, 30));
		CHECK_STR(one->error.text, "");
		/* The first process of a pid namespace has only the handlers it set up; wait until it has. */
		for (int i = 0; i < 6000 && (!log || !*log || u.pids != 3); i++, usleep(10000)) {
			free(log);
			log = trial_log(one);
			CHECK_INT(cgroup_read(cgroups_here(), all->cgroup, &u, &e), 0);
		}
		CHECK_STR(log, "set\n");
		CHECK_INT(u.pids, 3);
		CHECK_INT(b.runtime->ops->kill(b.runtime, one->id, SIGTERM, false, &e), 0);
		CHECK_INT(b.runtime->ops->kill(b.runtime, all->id, SIGKILL, true, &e), 0);
		CHECK(bench_wait(&b, &one->exits, 1, 30) && bench_wait(&b, &all->exits, 1, 30));
		CHECK_INT(one->exit.code, 9);
		CHECK_INT(one->exit.signal, 0);
		CHECK_INT(all->exit.code, 137);
		CHECK_INT(all->exit.signal, SIGKILL);
		CHECK(!all->exit.oom);
		CHECK_INT(b.runtime->ops->kill(b.runtime, one->id, SIGTERM, false, &e), 0);
		CHECK_INT(b.runtime->ops->kill(b.runtime, "nobody", SIGTERM, true, &e), 0);
	}
}

TEST("a failed start gives the runtime's words and leaves nothing")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *program = trial_new(&b), *config = trial_new(&b), *root = trial_new(&b);
		json_t *doc = bench_config(&b, program, "");

		json_array_set_new(jsonx_at(doc, "process.args"), 0, json_string("/bin/nonesuch"));
		trial_write(program, doc);
		trial_write(config, json_pack("{s:s}", "ociVersion", "what"));
		doc = bench_config(&b, root, "exit 0");
		jsonx_set_new(doc, "root.path", json_string("/nonesuch"));
		trial_write(root, doc);
		for (int i = 0; i < b.n; i++) {
			struct trial *t = &b.trials[i];
			auto_free char *left = xasprintf("test \"$(ls %s)\" = config.json", t->bundle);

			t->may_fail = true;
			trial_start(&b, t);
			CHECK_INT(t->dones, 0);
			CHECK(bench_wait(&b, &t->dones, 1, 30));
			CHECK_INT(t->pid, 0);
			CHECK(t->error.text[0] != '\0');
			CHECK_INT(system(left), 0);
		}
		CHECK(strstr(program->error.text, "nonesuch") != NULL);
		CHECK(strstr(root->error.text, "nonesuch") != NULL);
		CHECK(!strchr(program->error.text, '\n') && !strstr(program->error.text, "level="));
		CHECK_INT(bench_cgroups(&b, "/pod1/pod1_*"), 0);
		/* The same name may be tried again. */
		trial_write(program, bench_config(&b, program, "exit 4"));
		program->dones = 0;
		trial_start(&b, program);
		CHECK(bench_wait(&b, &program->exits, 1, 30));
		CHECK_INT(program->exit.code, 4);
	}
}

TEST("the same container is not started twice")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		t->may_fail = true;
		trial_start(&b, t);
		CHECK_INT(t->dones, 2);
		CHECK_INT(t->error.kind, ERR_EXISTS);
		t->dones = 1;
	}
}

TEST("fifty containers at once each end with their own code and whole log")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		int left = 0;

		for (int i = 0; i < 50; i++) {
			auto_free char *script = xasprintf("seq 1 %d; exit %d", 100 + i, i);

			trial_run(&b, script);
		}
		for (int i = 0; i < 50; i++) {
			struct trial *t = &b.trials[i];
			auto_free char *log = NULL, *last = xasprintf("\n%d\n", 100 + i);

			if (!bench_wait(&b, &t->exits, 1, 60)) {
				test_fail(__FILE__, __LINE__, "%s: %s", t->id, t->error.text);
				left++;
				continue;
			}
			CHECK_INT(t->exit.code, i);
			log = trial_log(t);
			CHECK(str_starts(log, "1\n2\n3\n") && str_ends(log, last));
		}
		CHECK_INT(left, 0);
	}
}

TEST("a container is removed while it runs or is being started")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *running = trial_run(&b, "sleep 1000"), *starting;
		char proc[32];

		CHECK(bench_wait(&b, &running->dones, 1, 30));
		b.runtime->ops->remove(b.runtime, running->id);
		snprintf(proc, sizeof(proc), "/proc/%d/root/bin", (int)running->pid);
		CHECK(access(proc, F_OK) < 0);
		starting = trial_run(&b, "sleep 1000");
		starting->may_fail = true;
		b.runtime->ops->remove(b.runtime, starting->id);
		CHECK(bench_wait(&b, &starting->dones, 1, 30));
		CHECK_INT(starting->error.kind, ERR_CONFLICT);
		CHECK_INT(running->exits + starting->exits, 0);
		CHECK_INT(bench_cgroups(&b, "/pod1/pod1_*"), 0);
	}
}

/* --- memory --- */

static const char hog[] = "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done";

TEST("the OOM killer is named, by the container's own limit and by the pod's")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *own = trial_new(&b), *pod, *innocent;
		auto_free char *group = xasprintf("/stoker-%s/pod1", b.prefix);
		json_t *config = bench_config(&b, own, hog);
		struct err e = ERR_INIT;

		jsonx_set_new(config, "linux.resources.memory", json_pack("{s:i}", "limit", 16 << 20));
		trial_write(own, config);
		trial_start(&b, own);
		CHECK(bench_wait(&b, &own->exits, 1, 60));
		CHECK(own->exit.oom);
		CHECK(own->exit.code != 0);
		if (cgroup_make(cgroups_here(), group, &(struct cgroup_limits){ .memory_bytes = 32 << 20 }, &e) < 0)
			test_fail(__FILE__, __LINE__, "%s", e.text);
		innocent = trial_run(&b, "sleep 1000");
		CHECK(bench_wait(&b, &innocent->dones, 1, 30));
		pod = trial_run(&b, hog);
		CHECK(bench_wait(&b, &pod->exits, 1, 60));
		CHECK(pod->exit.oom);
		CHECK_INT(pod->exit.code, 137);
		CHECK_INT(innocent->exits, 0);
		CHECK_INT(b.runtime->ops->kill(b.runtime, innocent->id, SIGKILL, true, &e), 0);
		CHECK(bench_wait(&b, &innocent->exits, 1, 30));
		CHECK(!innocent->exit.oom);
	}
}

/* --- containment --- */

TEST("no file of the server reaches the monitor or the container")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		auto_free char *path = xasprintf("%s/secret-of-the-server", b.dir);
		int leak = open(path, O_RDWR | O_CREAT, 0600); /* on purpose without O_CLOEXEC */
		struct trial *t = trial_run(&b, "ls -l /proc/*/fd; exec sleep 1000");
		auto_free char *command = NULL;

		CHECK(leak >= 0 && bench_wait(&b, &t->dones, 1, 30));
		/* The container's first process and its parent, the monitor. */
		command = xasprintf(
			"! ls -l /proc/%d/fd /proc/$(ps -o ppid= -p %d | tr -d ' ')/fd | grep -q secret-of-the-server",
			(int)t->pid, (int)t->pid);
		CHECK_INT(system(command), 0);
		close(leak);
	}
}

TEST("a log of megabytes is complete to the byte")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "seq 1 300000; printf end");
		auto_free char *log = NULL;
		const char *at;
		int line = 0;

		CHECK(bench_wait(&b, &t->exits, 1, 60));
		log = trial_log(t);
		for (at = log; *at && *at != 'e'; at = strchr(at, '\n') + 1)
			if (strtol(at, NULL, 10) != ++line || !strchr(at, '\n'))
				break;
		CHECK_INT(line, 300000);
		CHECK_STR(at, "end");
	}
}

TEST("a fork bomb is gone when its container is removed")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		json_t *config =
			bench_config(&b, t, "bomb() { bomb | bomb & }; trap '' TERM HUP INT; bomb; exec sleep 1000");
		struct cgroup_usage u = { .pids = 0 };
		struct err e = ERR_INIT;

		jsonx_set_new(config, "linux.resources.pids", json_pack("{s:i}", "limit", 300));
		trial_write(t, config);
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		for (int i = 0; i < 6000 && u.pids < 50; i++) {
			usleep(10000);
			CHECK_INT(cgroup_read(cgroups_here(), t->cgroup, &u, &e), 0);
		}
		CHECK(u.pids >= 50);
		b.runtime->ops->remove(b.runtime, t->id);
		for (int i = 0; i < 3000 && bench_cgroups(&b, "/pod1/pod1_*"); i++) {
			usleep(20000);
			loop_turn(b.loop, true);
		}
		CHECK_INT(bench_cgroups(&b, "/pod1/pod1_*"), 0);
	}
}
