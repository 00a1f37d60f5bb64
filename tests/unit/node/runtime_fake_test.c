// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "box.h"
#include "test.h"

static struct trial *fake_run(struct bench *b, const char *key, const char *value, const char *key2, const char *value2)
{
	struct trial *t = trial_new(b);
	json_t *config = json_pack("{s:{}}", "annotations");

	if (key)
		json_object_set_new(json_object_get(config, "annotations"), key, json_string(value));
	if (key2)
		json_object_set_new(json_object_get(config, "annotations"), key2, json_string(value2));
	trial_write(t, config);
	trial_start(b, t);
	return t;
}

TEST("a fake container runs its time and ends as told")
{
	struct bench b;
	struct trial *now, *later, *oom;
	auto_free char *log = NULL;

	if (!bench_open(&b, "fake"))
		return;
	CHECK_STR(b.runtime->ops->name, "fake");
	now = fake_run(&b, "stoker.dev/fake-exit-code", "3", "stoker.dev/fake-log", "hello");
	later = fake_run(&b, "stoker.dev/fake-seconds", "0.2", NULL, NULL);
	oom = fake_run(&b, "stoker.dev/fake-exit-code", "137", "stoker.dev/fake-oom", "true");
	CHECK_INT(now->dones, 0);
	CHECK(bench_wait(&b, &later->exits, 1, 10) && bench_wait(&b, &now->exits, 1, 10) &&
	      bench_wait(&b, &oom->exits, 1, 10));
	CHECK_INT(now->exit.code, 3);
	CHECK_INT(later->exit.code, 0);
	CHECK(later->exit_ns - later->done_ns > 150000000);
	CHECK(oom->exit.oom && !now->exit.oom);
	CHECK(now->pid != later->pid);
	log = trial_log(now);
	CHECK_STR(log, "started by the fake runtime\nhello\n");
	bench_close(&b);
}

TEST("a fake container can be killed, refuse to start, and run extra processes")
{
	struct bench b;
	struct trial *plain, *stubborn, *broken;
	struct err e = ERR_INIT;

	if (!bench_open(&b, "fake"))
		return;
	plain = fake_run(&b, NULL, NULL, NULL, NULL);
	stubborn = fake_run(&b, "stoker.dev/fake-ignore-term", "true", NULL, NULL);
	broken = fake_run(&b, "stoker.dev/fake-start-error", "no such program", NULL, NULL);
	broken->may_fail = true;
	CHECK(bench_wait(&b, &plain->dones, 1, 10) && bench_wait(&b, &stubborn->dones, 1, 10) &&
	      bench_wait(&b, &broken->dones, 1, 10));
	CHECK_STR(broken->error.text, "no such program");
	CHECK_INT(broken->pid, 0);
	CHECK_INT(b.runtime->ops->kill(b.runtime, plain->id, SIGTERM, false, &e), 0);
	CHECK_INT(b.runtime->ops->kill(b.runtime, stubborn->id, SIGTERM, false, &e), 0);
	CHECK(bench_wait(&b, &plain->exits, 1, 10));
	CHECK_INT(plain->exit.code, 143);
	CHECK_INT(plain->exit.signal, SIGTERM);
	CHECK_INT(stubborn->exits, 0);
	CHECK_INT(b.runtime->ops->kill(b.runtime, stubborn->id, SIGKILL, true, &e), 0);
	CHECK(bench_wait(&b, &stubborn->exits, 1, 10));
	CHECK_INT(stubborn->exit.code, 137);
	bench_close(&b);
}

TEST("fake containers go on and end while no server is there")
{
	struct bench b;
	struct trial *runs, *ends;

	if (!bench_open(&b, "fake"))
		return;
	runs = fake_run(&b, NULL, NULL, NULL, NULL);
	ends = fake_run(&b, "stoker.dev/fake-seconds", "1", "stoker.dev/fake-exit-code", "8");
	CHECK(bench_wait(&b, &runs->dones, 1, 10) && bench_wait(&b, &ends->dones, 1, 10));
	runtime_free(b.runtime);
	b.runtime = NULL;
	usleep(1100000);
	if (bench_restart(&b)) {
		CHECK_INT(b.found_running, 1);
		CHECK_INT(b.found_ended, 1);
		for (int i = 0; i < 2; i++)
			if (b.found[i].id == ends->id)
				CHECK_INT(b.found[i].exit.code, 8);
	}
	CHECK_INT(ends->exits, 0);
	/* And one that ends later is told by the new server. */
	ends = fake_run(&b, "stoker.dev/fake-seconds", "0.3", "stoker.dev/fake-exit-code", "9");
	CHECK(bench_wait(&b, &ends->dones, 1, 10) && bench_restart(&b) && bench_wait(&b, &ends->exits, 1, 10));
	CHECK_INT(ends->exit.code, 9);
	bench_close(&b);
}

TEST("an unknown runtime is refused by name")
{
	struct loop *loop = loop_new();
	struct runtime_config config = { .dir = test_dir(), .name = "docker", .prefix = "x" };
	struct runtime_events events = { .exited = NULL };
	struct runtime *r = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(runtime_open(loop, &config, &events, &r, &e), -1);
	CHECK_STR(e.text, "runtime \"docker\": must be auto, crun, runc or fake");
	loop_free(loop);
}
