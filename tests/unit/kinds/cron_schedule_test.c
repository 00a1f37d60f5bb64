// SPDX-License-Identifier: Apache-2.0
/* cron_schedule_test.c - the language of CronJob schedules, and when they come round */
#include "kinds/cron_schedule.h"

#include "base/clock.h"
#include "base/mem.h"
#include "test.h"

TEST("schedules are read, and complaints say what is wrong")
{
	static const struct {
		const char *text, *want; /* "": good */
	} rows[] = {
		{ "* * * * *", "" },
		{ "*/5 0-12/2 1,15 JAN-mar mon,FRI", "" },
		{ "5/10 ? ? * 0", "" },
		{ " 0  0\t* * * ", "" },
		{ "@hourly", "" },
		{ "@midnight", "" },
		{ "@every 1h30m", "" },
		{ "", "empty spec string" },
		{ "@soon", "unrecognized descriptor: @soon" },
		{ "@every x", "failed to parse duration @every x" },
		{ "* * * *", "expected exactly 5 fields, found 4: [* * * *]" },
		{ "* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]" },
		{ "60 * * * *", "end of range (60) above maximum (59): 60" },
		{ "* * 0 * *", "beginning of range (0) below minimum (1): 0" },
		{ "* * * * 7", "end of range (7) above maximum (6): 7" },
		{ "5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1" },
		{ "1-2-3 * * * *", "too many hyphens: 1-2-3" },
		{ "*/1/2 * * * *", "too many slashes: */1/2" },
		{ "*/0 * * * *", "step of range should be a positive number: */0" },
		{ "x * * * *", "failed to parse int from x: invalid syntax" },
		{ "1, * * * *", "failed to parse int from : invalid syntax" },
		{ "99999999999 * * * *", "failed to parse int from 99999999999: invalid syntax" },
		{ "0/4294967297 * * * *", "failed to parse int from 4294967297: invalid syntax" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cron_schedule s;
		struct err e = ERR_INIT;
		int rc = cron_schedule_parse(rows[i].text, &s, &e);

		CHECK_STR(rc < 0 ? e.text : "", rows[i].want);
	}
}

TEST("the next time is the first that matches")
{
	static const struct {
		const char *schedule, *after, *want;
	} rows[] = {
		{ "* * * * *", "2024-02-28T23:59:00Z", "2024-02-29T00:00:00Z" },
		{ "*/15 * * * *", "2024-01-01T00:14:59Z", "2024-01-01T00:15:00Z" },
		{ "*/15 * * * *", "2024-01-01T00:15:00Z", "2024-01-01T00:30:00Z" },
		{ "30 6 * * 1-5", "2024-03-01T06:30:00Z", "2024-03-04T06:30:00Z" }, /* a Friday */
		{ "0 0 29 2 *", "2024-03-01T00:00:00Z", "2028-02-29T00:00:00Z" },
		{ "0 0 13 * 5", "2024-09-01T00:00:00Z", "2024-09-06T00:00:00Z" }, /* the 13th or a Friday */
		{ "0 0 13 * *", "2024-09-01T00:00:00Z", "2024-09-13T00:00:00Z" },
		{ "@yearly", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z" },
		{ "@every 90s", "2024-01-01T00:00:00Z", "2024-01-01T00:01:30Z" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cron_schedule s;
		struct err e = ERR_INIT;
		char got[CLOCK_RFC3339_LEN];
		int64_t after = 0;

		CHECK_INT(cron_schedule_parse(rows[i].schedule, &s, &e), 0);
		CHECK(clock_parse_rfc3339(rows[i].after, &after));
		clock_rfc3339(cron_schedule_next(&s, after / 1000000, 0), got);
		CHECK_STR(got, rows[i].want);
	}
}

TEST("a day that never comes has no next time, and an offset moves the clock on the wall")
{
	struct cron_schedule s;
	struct err e = ERR_INIT;

	CHECK_INT(cron_schedule_parse("0 0 31 2 *", &s, &e), 0);
	CHECK_INT(cron_schedule_next(&s, 1700000000, 0), -1);
	CHECK_INT(cron_schedule_parse("0 8 * * *", &s, &e), 0);
	CHECK_INT(cron_schedule_next(&s, 1704067200 - 60, 8 * 3600), 1704067200); /* 08:00 in Shanghai */
}
