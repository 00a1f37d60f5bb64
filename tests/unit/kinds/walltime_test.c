// SPDX-License-Identifier: Apache-2.0
/* walltime_test.c - running times as people write them */
#include "kinds/walltime.h"

#include "base/mem.h"
#include "test.h"

TEST("running times are read in every notation")
{
	static const struct {
		const char *text;
		int64_t want; /* -1: refused */
	} rows[] = {
		{ "3600", 3600 },
		{ "1:00", 60 },
		{ "168:00:00", 604800 },
		{ "1:00:00:00", 86400 },
		{ "10080:0", 604800 },
		{ "00:00:01.5", 2 },
		{ "00:90:00", 5400 },
		{ "7d", 604800 },
		{ "1h30m", 5400 },
		{ "", -1 },
		{ ":", -1 },
		{ "1:2:3:4:5", -1 },
		{ "-5", -1 },
		{ "+5:00", -1 },
		{ "1:x", -1 },
		{ "99999999999999999999", -1 },
		{ "9999999999:00:00:00", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t got = -1;

		walltime_parse(rows[i].text, &got);
		if (got != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" is %lld, not %lld", rows[i].text, (long long)got,
				  (long long)rows[i].want);
	}
}

TEST("a running time is written with all its hours")
{
	char text[WALLTIME_TEXT];

	walltime_text(604800 + 61, text);
	CHECK_STR(text, "168:01:01");
	walltime_text(0, text);
	CHECK_STR(text, "00:00:00");
}
