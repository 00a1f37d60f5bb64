// SPDX-License-Identifier: Apache-2.0
/* activity_test.c - when a pod counts as silent, by table: a letter a reading, one a second
 *
 *	.  nothing happened          c  1 % of a processor        l  a little less
 *	p  something was printed     b  a container is starting   ?  the kernel does not say    0  counters begin anew
 *
 * The answer: S when it fell silent, A when it did no longer.
 */
#include "node/activity.h"

#include "base/mem.h"
#include "test.h"

#define LIMIT_MS 3000

static void feed(struct activity *a, const char *letters, char *out)
{
	struct activity_reading r = { .ms = 1000, .cpu_ns = 5000000000, .output = 7 };

	for (const char *c = letters; *c; c++, r.ms += 1000) {
		r.busy = *c == 'b';
		r.output += *c == 'p';
		r.cpu_ns = *c == '?'   ? -1
			   : *c == '0' ? 0
			   : *c == 'c' ? r.cpu_ns + 10000000
			   : *c == 'l' ? r.cpu_ns + 9900000
				       : r.cpu_ns;
		*out++ = activity_step(a, &r, LIMIT_MS) ? (a->silent ? 'S' : 'A') : '-';
	}
	*out = '\0';
}

TEST("a pod is silent when it neither prints nor computes for long enough")
{
	static const struct {
		const char *letters, *wanted;
	} rows[] = {
		{ "......", "---S--" },         { "...p....", "------S-" },   { "..p...", "-----S" },
		{ "cccccc", "------" },         { "llllll", "---S--" },       { "pppppp", "------" },
		{ "......p...", "---S--A--S" }, { ".....c...", "---S-A--S" }, { "b.....", "---S--" },
		{ ".b....", "----S-" },         { "??????", "------" },       { "..0...", "-----S" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct activity a = { 0 };
		char got[32];

		feed(&a, rows[i].letters, got);
		CHECK_STR(got, rows[i].wanted);
	}
}

TEST("what an earlier server told stays until the pod does something")
{
	struct activity a = { .silent = true, .since_ms = 10 };
	char got[32];

	feed(&a, "...p...", got);
	CHECK_STR(got, "---A--S");
}

TEST("readings are as frequent as the limit needs")
{
	CHECK_INT(activity_period_ms(1000), 250);
	CHECK_INT(activity_period_ms(3000), 375);
	CHECK_INT(activity_period_ms(60000), 7500);
	CHECK_INT(activity_period_ms(600000), 30000);
}
