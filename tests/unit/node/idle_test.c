// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"
#include "node/idle.h"
#include "test.h"

/* warnAfter 80s: read every 10 s, and a gap counts for 30 s at most. */
static const struct idle_policy policy = { .warn_s = 80, .end_s = 160, .below = 5 };

#define UNKNOWN -1
#define STARTS  -2

static void play(struct idle *i, const struct idle_policy *p, int64_t ms, int use)
{
	struct idle_reading r = {
		.ms = ms, .most = use < 0 ? -1 : use, .unknown = use == UNKNOWN, .starts = use == STARTS
	};

	idle_step(i, &r, p);
}

TEST("idle time is what lies between readings that found nothing in use")
{
	static const struct {
		const char *what;
		struct {
			int64_t s;
			int use;
		} readings[6];
		int64_t idle_s;
	} rows[] = {
		{ "one reading is no time", { { 10, 0 } }, 0 },
		{ "from the first reading on", { { 10, 0 }, { 20, 4 }, { 30, 0 } }, 20 },
		{ "the threshold itself is use", { { 10, 0 }, { 20, 5 }, { 30, 0 } }, 0 },
		{ "any use begins anew", { { 10, 0 }, { 20, 0 }, { 30, 90 }, { 40, 0 }, { 50, 0 } }, 10 },
		{ "what is not known does not count",
		  { { 10, 0 }, { 20, 0 }, { 30, UNKNOWN }, { 40, 0 }, { 50, 0 } },
		  20 },
		{ "nor is it use", { { 10, 0 }, { 20, 0 }, { 30, UNKNOWN }, { 40, UNKNOWN } }, 10 },
		{ "nothing known is nothing", { { 10, UNKNOWN }, { 20, UNKNOWN }, { 30, UNKNOWN } }, 0 },
		{ "a pod that starts again begins anew", { { 10, 0 }, { 20, 0 }, { 30, STARTS }, { 40, 0 } }, 0 },
		{ "a machine that slept was not watched", { { 10, 0 }, { 20, 0 }, { 4000, 0 } }, 40 },
		{ "a clock that went back takes nothing away", { { 10, 0 }, { 20, 0 }, { 5, 0 }, { 15, 0 } }, 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct idle idle = { 0 };

		for (size_t k = 0; k < ARRAY_SIZE(rows[i].readings) && rows[i].readings[k].s; k++)
			play(&idle, &policy, rows[i].readings[k].s * 1000, rows[i].readings[k].use);
		if (idle.ms != rows[i].idle_s * 1000)
			printf("  %s\n", rows[i].what);
		CHECK_INT(idle.ms, rows[i].idle_s * 1000);
	}
}

TEST("a warning comes first, then the end, and neither without a policy")
{
	static const struct {
		struct idle_policy policy;
		int64_t idle_s;
		enum idle_state state;
	} rows[] = {
		{ { 80, 160, 5 }, 79, IDLE_NOT },     { { 80, 160, 5 }, 80, IDLE_WARN },
		{ { 80, 160, 5 }, 159, IDLE_WARN },   { { 80, 160, 5 }, 160, IDLE_TOO_LONG },
		{ { 80, 0, 5 }, 99999, IDLE_WARN },   { { 0, 0, 0 }, 99999, IDLE_NOT },
		{ { 80, 80, 5 }, 80, IDLE_TOO_LONG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct idle idle = { .ms = rows[i].idle_s * 1000 };

		CHECK_INT(idle_state(&idle, &rows[i].policy), rows[i].state);
	}
}

TEST("the sum goes on after a restart where it was, without the time in between")
{
	struct idle before = { 0 };
	struct idle after;

	for (int64_t s = 10; s <= 160; s += 10)
		play(&before, &policy, s * 1000, 0);
	CHECK_INT(idle_state(&before, &policy), IDLE_WARN);
	after = (struct idle){ .ms = before.ms };
	play(&after, &policy, 7, 0);
	CHECK_INT(idle_state(&after, &policy), IDLE_WARN);
	play(&after, &policy, 10007, 0);
	CHECK_INT(idle_state(&after, &policy), IDLE_TOO_LONG);
}

TEST("readings are as often as a policy needs them")
{
	CHECK_INT(idle_period_ms(&(struct idle_policy){ .warn_s = 1 }), 250);
	CHECK_INT(idle_period_ms(&policy), 10000);
	CHECK_INT(idle_period_ms(&(struct idle_policy){ .warn_s = 86400 }), 10000);
	CHECK_INT(idle_note_ms(&(struct idle_policy){ .warn_s = 86400 }), 60000);
}
