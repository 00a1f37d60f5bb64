// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

#include "test.h"

TEST("ages read as kubectl prints them")
{
	static const struct {
		int64_t seconds;
		const char *text;
	} rows[] = {
		{ -5, "<invalid>" },   { -1, "0s" },        { 0, "0s" },        { 119, "119s" },  { 120, "2m" },
		{ 273, "4m33s" },      { 600, "10m" },      { 10799, "179m" },  { 10800, "3h" },  { 11520, "3h12m" },
		{ 28800, "8h" },       { 172800, "2d" },    { 180000, "2d2h" }, { 691200, "8d" }, { 63072000, "2y" },
		{ 64000000, "2y10d" }, { 252288000, "8y" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[32];

		clock_age(rows[i].seconds, buf, sizeof(buf));
		CHECK_STR(buf, rows[i].text);
	}
}

TEST("RFC3339 times survive a round trip and offsets are applied")
{
	int64_t us = 0;
	char out[CLOCK_MICRO_LEN];

	CHECK(clock_parse_rfc3339("2026-11-15T20:03:29Z", &us));
	CHECK_INT(us, 1794773009ll * 1000000);
	CHECK(clock_parse_rfc3339("2026-11-15T22:03:29.25+02:00", &us));
	CHECK_INT(us, 1794773009ll * 1000000 + 250000);
	clock_rfc3339_micro(us, out);
	CHECK_STR(out, "2026-11-15T20:03:29.250000Z");
	CHECK(!clock_parse_rfc3339("2026-13-15T20:03:29Z", &us));
	CHECK(!clock_parse_rfc3339("2026-11-15 20:03:29Z", &us));
	CHECK(!clock_parse_rfc3339("2026-11-15T20:03:29", &us));
}

TEST("durations are typed the way people type them")
{
	int64_t s = 0;

	CHECK(clock_parse_duration("1h30m", &s) && s == 5400);
	CHECK(clock_parse_duration("2d", &s) && s == 172800);
	CHECK(clock_parse_duration("45", &s) && s == 45);
	CHECK(!clock_parse_duration("", &s));
	CHECK(!clock_parse_duration("5x", &s));
	CHECK(!clock_parse_duration("1h5", &s));
}

TEST("a time without measure is a century, and can be added to now")
{
	CHECK_INT(clock_ms_of(0), 0);
	CHECK_INT(clock_ms_of(30), 30000);
	CHECK_INT(clock_ms_of(INT64_MAX), 100ll * 365 * 86400 * 1000);
	CHECK(clock_wall_micros() + clock_ms_of(INT64_MAX) > 0);
}

TEST("durations are printed as Go prints them")
{
	static const struct {
		int64_t seconds;
		const char *text;
	} rows[] = { { 0, "0s" }, { 59, "59s" }, { 60, "1m0s" }, { 600, "10m0s" }, { 5400, "1h30m0s" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[CLOCK_DURATION_LEN];

		clock_duration(rows[i].seconds, text);
		CHECK_STR(text, rows[i].text);
	}
}

TEST("a moment of today has no date")
{
	char text[CLOCK_SHORT_LEN];

	setenv("TZ", "UTC", 1);
	tzset();
	clock_short(1767277200, 1767261600, text);
	CHECK_STR(text, "14:20");
	clock_short(1767277200 + 86400, 1767261600, text);
	CHECK_STR(text, "2026-01-02 14:20");
	clock_short(1767277200 + 365 * 86400, 1767261600, text);
	CHECK_STR(text, "2027-01-01 14:20");
}
