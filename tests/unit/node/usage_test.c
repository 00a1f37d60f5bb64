// SPDX-License-Identifier: Apache-2.0
#include "node/usage.h"

#include "base/clock.h"
#include "test.h"

TEST("a rate is the difference of two readings, or the average since the beginning")
{
	struct usage_reading a = { .mono_ns = 1000000000, .cpu_ns = 5000000000, .memory_bytes = 1, .age_ms = 10000 };
	struct usage_reading b = {
		.wall_us = 7, .mono_ns = 3000000000, .cpu_ns = 8000000000, .memory_bytes = 2, .age_ms = -1
	};
	struct usage_rate r = { 0 };

	CHECK(usage_rate_of(&a, &b, &r));
	CHECK_INT(r.cpu_nano, 1500000000);
	CHECK_INT(r.window_ms, 2000);
	CHECK_INT(r.memory_bytes, 2);
	CHECK_INT(r.wall_us, 7);
	CHECK(usage_rate_of(NULL, &a, &r));
	CHECK_INT(r.cpu_nano, 500000000);
	CHECK_INT(r.window_ms, 10000);
	CHECK(!usage_rate_of(NULL, &b, &r));
	CHECK(!usage_rate_of(&a, &a, &r));
	/* A counter that went back is another container's. */
	b.cpu_ns = 0;
	CHECK(usage_rate_of(&a, &b, &r));
	CHECK_INT(r.cpu_nano, 0);
	/* A year of 256 processors does not overflow. */
	b = (struct usage_reading){ .cpu_ns = 8073216000000000000, .age_ms = 31536000000 };
	CHECK(usage_rate_of(NULL, &b, &r));
	CHECK_INT(r.cpu_nano, 256000000000);
}

TEST("the machine's own use is told at once")
{
	struct loop *loop = loop_new();
	struct usage *u = usage_new(loop, NULL, NULL);
	struct usage_rate r = { 0 };
	struct err e = ERR_INIT;

	CHECK_INT(usage_ask(u, "", &r, &e), 0);
	CHECK_STR(e.text, "");
	CHECK(r.cpu_nano > 0 && r.memory_bytes > 1 << 20 && r.window_ms > 0);
	CHECK(r.wall_us > 0 && r.wall_us <= clock_wall_micros());
	CHECK_INT(usage_ask(u, "/stoker-none", &r, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	usage_free(u);
	loop_free(loop);
}
