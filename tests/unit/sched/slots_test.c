// SPDX-License-Identifier: Apache-2.0
#include "sched/slots.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

static void note(void *arg, const char *pod)
{
	sbuf_addf(arg, "%s ", pod);
}

TEST("of an array so many have a slot, and the next gets one that is free again")
{
	auto_sbuf struct sbuf told = SBUF(256);
	struct slots s;

	slots_init(&s, note, &told);
	CHECK(slots_ask(&s, "a", 2, "1", false));
	CHECK(slots_ask(&s, "a", 2, "2", false));
	CHECK(!slots_ask(&s, "a", 2, "3", false));
	CHECK(!slots_ask(&s, "a", 2, "4", false));
	CHECK(slots_ask(&s, "b", 1, "5", false));
	CHECK(slots_ask(&s, "a", 2, "1", true));
	CHECK_INT(told.n, 0);
	slots_forget(&s, "1");
	CHECK_STR(told.p, "3 ");
	CHECK(slots_ask(&s, "a", 2, "3", false));
	CHECK(!slots_ask(&s, "a", 2, "4", false));
	slots_forget(&s, "4");
	slots_forget(&s, "2");
	slots_forget(&s, "3");
	CHECK_STR(told.p, "3 ");
	CHECK_INT(s.arrays.n, 1);
	slots_done(&s);
}

TEST("more slots let others go on, fewer take those back that were not used yet")
{
	auto_sbuf struct sbuf told = SBUF(256);
	struct slots s;

	slots_init(&s, note, &told);
	CHECK(slots_ask(&s, "a", 1, "1", true));
	CHECK(!slots_ask(&s, "a", 1, "2", false));
	CHECK(!slots_ask(&s, "a", 1, "3", false));
	CHECK(slots_ask(&s, "a", 3, "2", false));
	CHECK_STR(told.p, "3 ");
	CHECK(!slots_ask(&s, "a", 1, "3", false));
	CHECK_STR(told.p, "3 2 ");
	CHECK(!slots_ask(&s, "a", 1, "2", false));
	/* What runs keeps its own, and in the old order. */
	CHECK(slots_ask(&s, "a", 2, "2", false));
	CHECK(!slots_ask(&s, "a", 2, "3", false));
	slots_done(&s);
}

TEST("what runs already counts, whoever was seen first")
{
	auto_sbuf struct sbuf told = SBUF(256);
	struct slots s;

	slots_init(&s, note, &told);
	CHECK(slots_ask(&s, "a", 2, "new", false));
	CHECK(slots_ask(&s, "a", 2, "old1", true));
	CHECK(slots_ask(&s, "a", 2, "old2", true));
	CHECK_STR(told.p, "new ");
	CHECK(!slots_ask(&s, "a", 2, "new", false));
	CHECK(slots_ask(&s, "a", 2, "old3", true));
	slots_forget(&s, "old1");
	CHECK(!slots_ask(&s, "a", 2, "new", false));
	slots_forget(&s, "old2");
	CHECK(slots_ask(&s, "a", 2, "new", false));
	slots_done(&s);
}

TEST("in any order of events no more have a slot than there are, and none is left free")
{
	auto_sbuf struct sbuf told = SBUF(1 << 20);
	bool there[20] = { 0 };
	struct slots s;
	int64_t most = 3;

	srand(7);
	slots_init(&s, note, &told);
	for (int step = 0; step < 20000; step++) {
		int i = rand() % 20;
		char pod[8];
		int64_t have = 0, all = 0;

		snprintf(pod, sizeof(pod), "p%d", i);
		if (rand() % 50 == 0)
			most = 1 + rand() % 6;
		if (there[i] && rand() % 2)
			slots_forget(&s, pod);
		else
			slots_ask(&s, "a", most, pod, false);
		there[i] = map_find(&s.pods, pod) != NULL;
		for (i = 0; i < 20; i++) {
			snprintf(pod, sizeof(pod), "p%d", i);
			all += there[i];
			have += there[i] && slots_ask(&s, "a", most, pod, false);
		}
		if (have != (all < most ? all : most))
			test_fail(__FILE__, __LINE__, "step %d: %lld of %lld have one of %lld", step, (long long)have,
				  (long long)all, (long long)most);
	}
	slots_done(&s);
}
