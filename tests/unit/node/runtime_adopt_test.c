// SPDX-License-Identifier: Apache-2.0
/* A server dies and the next one finds its containers. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "box.h"
#include "monitor/protocol.h"
#include "test.h"

static const char *const both[] = { "crun", "runc" };

#define EACH_RUNTIME(b)                                                                                                \
	for (size_t which_ = 0; which_ < ARRAY_SIZE(both); which_++, bench_close(&(b)))                                \
		if (bench_open(&(b), both[which_]))

TEST("a new server finds what runs and how the rest ended meanwhile")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *runs = trial_run(&b, "sleep 1000"), *ends = trial_run(&b, "sleep 0.7; echo bye; exit 33");
		struct trial *ended = trial_run(&b, "exit 5");
		auto_free char *log = NULL;
		struct err e = ERR_INIT;

		CHECK(bench_wait(&b, &runs->dones, 1, 30) && bench_wait(&b, &ends->dones, 1, 30) &&
		      bench_wait(&b, &ended->exits, 1, 30));
		runtime_free(b.runtime);
		b.runtime = NULL;
		for (int i = 0; i < 3000 && trial_state(&b, ends).state != MONITOR_ENDED; i++)
			usleep(10000);
		if (!bench_restart(&b))
			continue;
		CHECK_INT(b.found_running, 1);
		CHECK_INT(b.found_ended, 2);
		for (int i = 0; i < 3; i++) {
			const struct found *f = &b.found[i];

			CHECK(f->started_us > 0 && f->started_us <= clock_wall_micros());
			if (f->id == ends->id || f->id == ended->id) {
				CHECK_INT(f->exit.code, f->id == ends->id ? 33 : 5);
				CHECK(!f->exit.unknown);
				CHECK(f->exit.finished_us >= f->started_us);
			} else {
				CHECK_STR(f->id, runs->id);
			}
		}
		log = trial_log(ends);
		CHECK_STR(log, "bye\n");
		CHECK_INT(b.runtime->ops->kill(b.runtime, runs->id, SIGKILL, true, &e), 0);
		CHECK(bench_wait(&b, &runs->exits, 1, 30));
		CHECK_INT(runs->exit.code, 137);
		CHECK_INT(ends->exits, 0);
	}
}

/* Lets the server die after `turns` turns of the loop; true if the next one found the container running. */
static bool die_while_starting(struct bench *b, struct trial *t, int turns)
{
	bool found = false;

	trial_start(b, t);
	for (int i = 0; i < turns; i++) {
		usleep(3000);
		loop_turn(b->loop, true);
	}
	b->any_pid = true;
	if (!bench_restart(b))
		return false;
	for (int i = 0; i < b->found_running; i++)
		found = found || b->found[i].id == t->id;
	return found;
}

TEST("a server that dies in the middle of a start leaves nothing half-made and starts nothing twice")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		for (int turns = 0; turns < 10 && b.runtime; turns++) {
			struct trial *t = trial_new(&b);
			auto_free char *log = NULL;

			trial_write(t, bench_config(&b, t, "echo started; sleep 1000"));
			if (!die_while_starting(&b, t, turns)) {
				t->dones = 0;
				trial_start(&b, t);
				CHECK(bench_wait(&b, &t->dones, 1, 30));
				CHECK_STR(t->error.text, "");
			}
			/* Whoever started it: it comes to run, once. */
			for (int i = 0; i < 3000; i++) {
				free(log);
				log = trial_log(t);
				if (str_starts(log, "started"))
					break;
				usleep(20000);
			}
			CHECK_STR(log, "started\n");
		}
	}
}

static pid_t monitor_of(const struct bench *b, const struct trial *t)
{
	return trial_state(b, t).monitor;
}

TEST("a container whose monitor is killed is killed too and its end is unknown")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *now = trial_run(&b, "sleep 1000"), *later = trial_run(&b, "sleep 1000");

		CHECK(bench_wait(&b, &now->dones, 1, 30) && bench_wait(&b, &later->dones, 1, 30));
		kill(monitor_of(&b, now), SIGKILL);
		CHECK(bench_wait(&b, &now->exits, 1, 30));
		CHECK(now->exit.unknown);
		CHECK_INT(now->exit.code, 255);
		kill(monitor_of(&b, later), SIGKILL);
		runtime_free(b.runtime);
		b.runtime = NULL;
		if (!bench_restart(&b))
			continue;
		CHECK_INT(b.found_running, 0);
		CHECK_INT(b.found_ended, 2);
		CHECK(b.found[0].exit.unknown && b.found[1].exit.unknown);
		for (int i = 0; i < 3000 && kill(later->pid, 0) == 0; i++)
			usleep(20000);
	}
}

TEST("a monitor that is half-way and cannot be asked starts nothing later")
{
	struct bench b;

	if (bench_open(&b, "crun")) {
		struct trial *t = trial_run(&b, "sleep 1000");
		auto_free char *state = xasprintf("%s/run/containers/%s/state", b.dir, t->id);
		auto_free char *sock = xasprintf("%s/run/containers/%s/sock", b.dir, t->id);
		struct monitor_record record;
		struct err e = ERR_INIT;
		pid_t gone = 0;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		/* As if the runtime had been called a moment ago and takes its time. */
		record = trial_state(&b, t);
		CHECK(record.monitor > 1);
		kill(record.monitor, SIGSTOP);
		record.state = MONITOR_BEGUN;
		CHECK_INT(file_write(state, 0600, (struct str){ (const char *)&record, sizeof(record) }, &e), 0);
		CHECK_INT(unlink(sock), 0);
		runtime_free(b.runtime);
		b.runtime = NULL;
		CHECK(bench_restart(&b));
		CHECK_INT(b.found_ended, 1);
		CHECK(b.found[0].exit.unknown);
		for (int i = 0; i < 6000 && gone == 0; i++, usleep(10000))
			gone = waitpid(record.monitor, NULL, WNOHANG);
		CHECK_INT(gone, record.monitor);
		bench_close(&b);
	}
}

TEST("after a reboot nothing runs, whatever the pids say")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");
		auto_free char *path = xasprintf("%s/run/containers/%s/state", b.dir, t->id);
		struct monitor_record record;
		struct err e = ERR_INIT;
		pid_t innocent = fork();

		if (innocent == 0) {
			pause();
			_exit(0);
		}
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		runtime_free(b.runtime);
		b.runtime = NULL;
		record = trial_state(&b, t);
		/* No monitor outlives the machine, and its numbers are someone else's afterwards. */
		kill(record.monitor, SIGKILL);
		cgroup_kill(cgroups_here(), t->cgroup, SIGKILL);
		record.monitor = record.pid = innocent;
		CHECK(file_write(path, 0600, (struct str){ (char *)&record, sizeof(record) }, &e) == 0);
		usleep(50000);
		if (!bench_restart(&b))
			continue;
		CHECK_INT(b.found_running, 0);
		CHECK_INT(b.found_ended, 1);
		CHECK(b.found[0].exit.unknown);
		b.runtime->ops->remove(b.runtime, t->id);
		CHECK_INT(kill(innocent, 0), 0);
		CHECK_INT(waitpid(innocent, NULL, WNOHANG), 0);
		kill(innocent, SIGKILL);
		waitpid(innocent, NULL, 0);
	}
}
