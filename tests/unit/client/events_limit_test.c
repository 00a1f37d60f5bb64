// SPDX-License-Identifier: Apache-2.0
#include "client/events_limit.h"

#include <stdio.h>

#include "base/mem.h"
#include "test.h"

#define MINUTE 60000

TEST("of many texts the tenth and those after it are combined")
{
	static const struct {
		int text;
		int64_t after_ms; /* of the one before */
		bool combined;
	} rows[] = {
		{ 1, 0, false },
		{ 2, 0, false },
		{ 3, 0, false },
		{ 1, 0, false },
		{ 4, 0, false },
		{ 5, 0, false },
		{ 6, 0, false },
		{ 7, 0, false },
		{ 8, 0, false },
		{ 9, 9 * MINUTE, false },
		{ 10, 0, true },
		{ 11, 9 * MINUTE, true },
		{ 10, 0, true },
		{ 1, 0, false },                /* it has an Event of its own */
		{ 12, 10 * MINUTE, true },      /* the last was not long enough ago */
		{ 13, 10 * MINUTE + 1, false }, /* now it was */
		{ 14, 0, false },
	};
	struct events_limit l;
	int64_t now = 1000000;

	events_limit_init(&l);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[16];

		now += rows[i].after_ms;
		snprintf(text, sizeof(text), "%d", rows[i].text);
		CHECK_INT(events_limit_combines(&l, "group", text, now), rows[i].combined);
	}
	CHECK(!events_limit_combines(&l, "another", "10", now));
	events_limit_done(&l);
}

TEST("an object writes 25 times at once, then every five minutes")
{
	struct events_limit l;
	int64_t now = 5;

	events_limit_init(&l);
	for (int i = 0; i < 25; i++)
		CHECK_INT(events_limit_take(&l, "a", now), 0);
	CHECK_INT(events_limit_take(&l, "a", now), 5 * MINUTE);
	CHECK_INT(events_limit_take(&l, "b", now), 0);
	now += 2 * MINUTE;
	CHECK_INT(events_limit_take(&l, "a", now), 3 * MINUTE);
	now += 3 * MINUTE;
	CHECK_INT(events_limit_take(&l, "a", now), 0);
	CHECK_INT(events_limit_take(&l, "a", now), 5 * MINUTE);
	now += 1000 * MINUTE; /* not more than 25 however long it was quiet */
	for (int i = 0; i < 25; i++)
		CHECK_INT(events_limit_take(&l, "a", now), 0);
	CHECK(events_limit_take(&l, "a", now) > 0);
	events_limit_done(&l);
}

TEST("what is remembered is bounded, and who is forgotten begins anew")
{
	struct events_limit l;

	events_limit_init(&l);
	for (int i = 0; i < 25; i++)
		CHECK_INT(events_limit_take(&l, "first", 0), 0);
	for (int i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		CHECK_INT(events_limit_take(&l, name, 0), 0);
		CHECK(!events_limit_combines(&l, name, "text", 0));
	}
	CHECK(l.objects.entries.n <= 1024);
	CHECK(l.groups.entries.n <= 1024);
	CHECK_INT(events_limit_take(&l, "first", 0), 0);
	events_limit_done(&l);
}
