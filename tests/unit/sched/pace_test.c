// SPDX-License-Identifier: Apache-2.0
#include "sched/pace.h"
#include "test.h"

TEST("pace: a burst at once, then one at a time, and a rest fills it up again")
{
	struct pace p = { .every_ms = 50, .burst = 3 };
	int64_t now = 1000;

	for (int i = 0; i < 3; i++)
		CHECK(pace_take(&p, now));
	CHECK(!pace_take(&p, now));
	CHECK(!pace_take(&p, now + 49));
	CHECK(pace_take(&p, now + 50));
	CHECK(!pace_take(&p, now + 50));
	now += 100000;
	for (int i = 0; i < 3; i++)
		CHECK(pace_take(&p, now));
	CHECK(!pace_take(&p, now));
}
