// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_view.h"

#include "follow_text.h"

static void check_view(const struct follow_state *s, struct follow_screen screen, const char *want, int line)
{
	auto_sbuf struct sbuf out = SBUF(1 << 20);
	struct str rest;
	struct str part;

	screen.now = FOLLOW_NOW;
	follow_view(s, &screen, &out);
	if (!streq(out.p, want))
		test_fail(__FILE__, line, "is\n%s\nnot\n%s", out.p, want);
	rest = sbuf_str(&out);
	while (rest.n && str_split(&rest, '\n', &part))
		if (screen.width && follow_columns(part) > screen.width)
			test_fail(__FILE__, line, "too wide: %.*s", STR_FMT(part));
}
#define CHECK_VIEW(s, screen, want) check_view(s, screen, want, __LINE__)
#define SCREEN(...)                 ((struct follow_screen){ __VA_ARGS__ })

static void some_job(struct follow_state *s)
{
	struct follow_replica *m;

	follow_job(s, FOLLOW_CONDITION("Running", ""));
	m = follow_pod(s, "master", 0, "m", FOLLOW_RUNS, false);
	follow_pod(s, "worker", 0, "w", FOLLOW_RUNS, false);
	follow_pod(s, "worker", 1, "v", FOLLOW_WAITS, false);
	follow_print(m, "epoch 1/4 loss 2.4 accuracy 0.2", 20);
	follow_print(m, "epoch 2/4 loss 1.2 accuracy 0.5", 10);
	follow_print(m, "epoch 3/4 loss 0.9 accuracy 0.7", 0);
	follow_print(s->replicas[1], "epoch 3 loss 0.95", 0);
}

TEST("a job is a line, its loss and a table")
{
	struct follow_state s = { 0 };

	some_job(&s);
	CHECK_VIEW(&s, SCREEN(.width = 110, .rows = 24),
		   "pytorchjob/mnist  Running  60s  2 of 3 running  10s left\n"
		   "loss  2.4 █▂▁ 0.9\n"
		   "REPLICA   STATE    WHERE      RESTARTS  FOR  LATEST\n"
		   "master-0  Running  vm, 1 GPU         0  30s  ████████░░  75%  epoch 3/4 loss 0.9 accuracy 0.7  10s "
		   "left\n"
		   "worker-0  Running  vm, 1 GPU         0  30s  epoch 3 loss 0.95\n"
		   "worker-1  Pending  vm, 1 GPU         0    -  no room\n");
	CHECK_VIEW(&s, SCREEN(.width = 110, .rows = 24, .ascii = true),
		   "pytorchjob/mnist  Running  60s  2 of 3 running  10s left\n"
		   "loss  2.4 #._ 0.9\n"
		   "REPLICA   STATE    WHERE      RESTARTS  FOR  LATEST\n"
		   "master-0  Running  vm, 1 GPU         0  30s  [########..]  75%  epoch 3/4 loss 0.9 accuracy 0.7  "
		   "10s left\n"
		   "worker-0  Running  vm, 1 GPU         0  30s  epoch 3 loss 0.95\n"
		   "worker-1  Pending  vm, 1 GPU         0    -  no room\n");
	follow_state_done(&s);
}

TEST("a narrow terminal cuts lines and no colour runs out")
{
	struct follow_state s = { 0 };

	some_job(&s);
	CHECK_VIEW(&s, SCREEN(.width = 64, .rows = 24),
		   "pytorchjob/mnist  Running  60s  2 of 3 running  10s left\n"
		   "loss  2.4 █▂▁ 0.9\n"
		   "REPLICA   STATE    WHERE      RESTARTS  FOR  LATEST\n"
		   "master-0  Running  vm, 1 GPU         0  30s  ████████░░  75% ...\n"
		   "worker-0  Running  vm, 1 GPU         0  30s  epoch 3 loss 0.95\n"
		   "worker-1  Pending  vm, 1 GPU         0    -  no room\n");
	CHECK_VIEW(&s, SCREEN(.width = 20, .rows = 24, .colours = true),
		   "pytorchjob/mnist  \033[32mRu\033[0m\n"
		   "loss  2.4 █▂▁ 0.9\n"
		   "REPLICA   STATE    W\n"
		   "master-0  \033[32mRunning\033[0m  v\n"
		   "worker-0  \033[32mRunning\033[0m  v\n"
		   "worker-1  \033[33mPending\033[0m  v\033[33m\033[0m\n");
	follow_state_done(&s);
}

TEST("of many replicas those that matter have a row, and the rest is summed up")
{
	struct follow_state s = { 0 };

	follow_job(&s, FOLLOW_CONDITION("Running", ""));
	follow_pod(&s, "master", 0, "m", FOLLOW_RUNS, false);
	for (int i = 0; i < 20; i++) {
		auto_free char *uid = xasprintf("w%d", i);

		follow_pod(&s, "worker", i, uid,
			   i == 13   ? FOLLOW_ENDED("Failed", "3")
			   : i == 17 ? FOLLOW_WAITS
			   : i > 17  ? FOLLOW_ENDED("Succeeded", "0")
				     : FOLLOW_RUNS,
			   false);
	}
	CHECK_VIEW(&s, SCREEN(.width = 80, .rows = 10),
		   "pytorchjob/mnist  Running  60s  17 of 21 running\n"
		   "REPLICA    STATE    WHERE      RESTARTS  FOR  LATEST\n"
		   "master-0   Running  vm, 1 GPU         0  30s  -\n"
		   "worker-0   Running  vm, 1 GPU         0  30s  -\n"
		   "worker-13  Failed   vm, 1 GPU         0  20s  exit status 3\n"
		   "worker-17  Pending  vm, 1 GPU         0    -  no room\n"
		   "and 17 more: 15 Running, 2 Succeeded\n");
	follow_state_done(&s);
}

TEST("what is wrong with the job as a whole has a line")
{
	struct follow_state s = { 0 };

	follow_job(&s, "");
	follow_state_warning(&s, "pods are\nforbidden: \033[2Jquota");
	CHECK_VIEW(&s, SCREEN(.width = 80, .rows = 24),
		   "pytorchjob/mnist  Pending  60s  0 of 3 running\n"
		   "pods are forbidden:  [2Jquota\n");
	follow_state_done(&s);
}

TEST("a curve is as many blocks as there is room for")
{
	struct follow_curve c = { .n = 0 };

	for (int i = 0; i < 16; i++)
		c.points[c.n++] = 16 - i;
	for (size_t width = 1; width <= 40; width++) {
		auto_sbuf struct sbuf out = SBUF(1024);

		follow_spark(&c, width, false, &out);
		CHECK_INT(follow_columns(sbuf_str(&out)), width < 16 ? width : 16);
	}
	auto_sbuf struct sbuf eight = SBUF(1024);
	follow_spark(&c, 8, false, &eight);
	CHECK_STR(eight.p, "█▇▆▅▄▃▂▁");
}
