// SPDX-License-Identifier: Apache-2.0
/* When each is expected to start, on machines that are small enough to check it by hand. */
#include "why_lab.h"

static bool always(void *arg)
{
	++*(int *)arg;
	return true;
}

TEST("forecast: in the smallest steps it comes to the same")
{
	struct lab l = lab_new(NODES, 4, "64");
	struct forecast *at_once = forecast_of(&l);
	struct forecast *slowly = forecast_of(&l);
	int asked = 0;
	int steps = 0;

	for (int i = 0; i < 60; i++) {
		auto_free char *name = xasprintf("j%d", i);

		add(&l, &(struct job){
				.name = name, .user = i % 3 ? "anna" : "ben", .gpus = 1 + i % 4, .minutes = 10 + i });
		if (i == 20)
			pass(&l);
	}
	pass(&l);
	CHECK(forecast_step(at_once, l.now, NULL, NULL));
	while (steps < 10000 && !forecast_step(slowly, l.now, always, &asked))
		steps++;
	CHECK(steps > 10 && steps < 10000);
	CHECK_INT(forecast_count(slowly), forecast_count(at_once));
	for (size_t i = 0; i < forecast_count(at_once); i++) {
		const char *key = forecast_key(at_once, i);

		CHECK_STR(forecast_key(slowly, i), key);
		CHECK(forecast_start(at_once, key) != TIME_UNKNOWN);
		CHECK_INT(forecast_start(slowly, key), forecast_start(at_once, key));
	}
	forecast_free(at_once);
	forecast_free(slowly);
	lab_done(&l);
}

TEST("forecast: the last one answers while a new one is made, and works may go meanwhile")
{
	struct lab l = lab_new(1, 4, "64");
	struct forecast *f = forecast_of(&l);
	int asked = 0;
	struct work *b;

	add(&l, &(struct job){ .name = "a", .gpus = 4, .minutes = 30 });
	pass(&l);
	b = add(&l, &(struct job){ .name = "b", .gpus = 4, .minutes = 30 });
	add(&l, &(struct job){ .name = "c", .gpus = 4, .minutes = 30 });
	pass(&l);
	CHECK(forecast_is_old(f));
	CHECK(forecast_step(f, l.now, NULL, NULL));
	CHECK(!forecast_is_old(f));
	CHECK_INT(forecast_start(f, "c"), T0 + 60 * MINUTE);
	forecast_touch(f);
	CHECK(forecast_is_old(f));
	CHECK(!forecast_step(f, l.now, always, &asked));
	work_gone(l.w, b, "b-0", l.now);
	CHECK_INT(forecast_start(f, "c"), T0 + 60 * MINUTE);
	CHECK(forecast_step(f, l.now, NULL, NULL));
	CHECK_INT(forecast_start(f, "c"), T0 + 60 * MINUTE); /* as it was when the forecast was begun */
	CHECK_INT(forecast_position(f, "c"), 2);
	CHECK(forecast_step(f, l.now, NULL, NULL));
	CHECK_INT(forecast_start(f, "c"), T0 + 30 * MINUTE);
	CHECK_INT(forecast_position(f, "c"), 1);
	CHECK_INT(forecast_position(f, "a"), 0);
	forecast_free(f);
	lab_done(&l);
}

TEST("forecast: only the first of a long line are foretold")
{
	struct lab l = lab_new(1, 1, "64");
	struct forecast *f = forecast_of(&l);

	for (int i = 0; i < FORECAST_MOST + 10; i++) {
		auto_free char *name = xasprintf("j%04d", i);

		add(&l, &(struct job){ .name = name, .gpus = 1, .minutes = 1 });
	}
	pass(&l);
	CHECK(forecast_step(f, l.now, NULL, NULL));
	CHECK_INT(forecast_start(f, "j0500"), T0 + 500 * MINUTE);
	CHECK(forecast_start(f, "j0505") == TIME_UNKNOWN);
	CHECK_INT(forecast_position(f, "j0505"), 505);
	forecast_free(f);
	lab_done(&l);
}

static bool protects_all(void *arg, struct work *const *works, size_t n)
{
	(void)arg;
	(void)works;
	return n == 0;
}

TEST("forecast: whom a budget protects is evicted there neither, and that is said")
{
	struct lab l = lab_new(1, 2, "64");

	world_set_budgets(l.w, protects_all, NULL);
	add(&l, &(struct job){ .name = "a", .gpus = 2, .minutes = 60 });
	pass(&l);
	add(&l, &(struct job){ .name = "hi", .gpus = 2, .minutes = 30, .priority = 10 });
	add(&l, &(struct job){ .name = "next", .gpus = 2, .minutes = 30 });
	pass(&l);
	CHECK_STR(ask(&l, "hi"),
		  "first in queue batch; needs 2 GPUs on one node, none is free; a PodDisruptionBudget protects the "
		  "work of a lower priority that could make room; job a ends by 11:00 at the latest, expected start "
		  "11:00 | `stoker gpus` shows who has the GPUs; or `kubectl get pdb` shows how many pods each budget "
		  "lets go");
	CHECK_STR(ask(&l, "next"),
		  "second in queue batch; needs 2 GPUs on one node, none is free; job hi runs before it, until 11:30 "
		  "at the latest, expected start 11:30 | `stoker gpus` shows who has the GPUs");
	lab_done(&l);
}

TEST("forecast: who is on his way out is not evicted again, and is not in the way of who takes his place")
{
	struct lab l = lab_new(1, 4, "64");

	add(&l, &(struct job){ .name = "a", .gpus = 4, .minutes = 60 });
	pass(&l);
	add(&l, &(struct job){ .name = "hi", .gpus = 1, .minutes = 10, .priority = 10 });
	pass(&l);
	CHECK_STR(ask(&l, "a"), "runs since 10:00 and is being evicted for work of a higher priority | ");
	/* Its Job has made another pod already. */
	add(&l, &(struct job){ .name = "again", .gpus = 4, .minutes = 60 });
	pass(&l);
	CHECK_STR(ask(&l, "again"),
		  "second in queue batch; needs 4 GPUs on one node, none is free; job hi runs before it, until 10:10 "
		  "at the latest, expected start 10:10 | `stoker gpus` shows who has the GPUs");
	lab_done(&l);
}

TEST("forecast: what is evicted waits again only if somebody would start it again")
{
	static const int64_t starts[] = { 20, 80 }; /* minutes */

	for (int again = 0; again < 2; again++) {
		struct lab l = lab_new(1, 2, "64");
		struct forecast *f = forecast_of(&l);

		add(&l, &(struct job){ .name = "a", .gpus = 2, .minutes = 60, .once = !again });
		pass(&l);
		add(&l,
		    &(struct job){
			    .name = "hi", .gpus = 2, .minutes = 10, .priority = 10, .not_before = T0 + 10 * MINUTE });
		add(&l, &(struct job){ .name = "c", .gpus = 2, .minutes = 10 });
		pass(&l);
		CHECK(forecast_step(f, l.now, NULL, NULL));
		CHECK_INT(forecast_start(f, "hi"), T0 + 10 * MINUTE);
		CHECK_INT(forecast_start(f, "c"), T0 + starts[again] * MINUTE);
		forecast_free(f);
		lab_done(&l);
	}
}
