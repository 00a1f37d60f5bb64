// SPDX-License-Identifier: Apache-2.0
#include "cli/usage_page.h"

#include <stdlib.h>
#include <time.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static json_t *doc(const char *text)
{
	struct err e = ERR_INIT;
	json_t *v = NULL;

	if (jsonx_parse(text, strlen(text), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	return v;
}

static void in_utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

TEST("bars are of GPU time, the longest for the one who used most")
{
	auto_sbuf struct sbuf out = SBUF(65536);
	json_auto_t *d = doc(
		"{\"by\":\"user\",\"from\":\"2026-11-09T06:00:00Z\",\"to\":\"2026-11-16T06:00:00Z\",\"items\":["
		"{\"name\":\"ada\",\"jobs\":3,\"running\":1,\"gpuSeconds\":720000,\"cpuSeconds\":3600,"
		"\"memoryGiBSeconds\":"
		"7200,\"waitSeconds\":180},"
		"{\"name\":\"\",\"jobs\":1,\"running\":0,\"gpuSeconds\":180000,\"cpuSeconds\":1,\"memoryGiBSeconds\":0,"
		"\"waitSeconds\":0}]}");

	in_utc();
	usage_page(d, false, 0, &out);
	CHECK_STR(out.p, "2026-11-09 06:00 to 2026-11-16 06:00\n\n"
			 "USER    JOBS  RUNNING  GPU-H  CPU-H  GIB-H  WAIT  GPU-HOURS\n"
			 "ada        3        1    200   1.00   2.00   60s  ████████████████████\n"
			 "(none)     1        0  50.00  <0.01      0    0s  █████\n"
			 "all        4        1    250   1.00   2.00   45s\n");
}

TEST("without GPUs bars are of processors, and jobs say whose they are")
{
	auto_sbuf struct sbuf out = SBUF(65536);
	json_auto_t *d =
		doc("{\"by\":\"job\",\"from\":\"2026-11-09T06:00:00Z\",\"to\":\"2026-11-16T06:00:00Z\",\"items\":["
		    "{\"name\":\"j\",\"namespace\":\"n\",\"kind\":\"Job\",\"user\":\"ada\",\"jobs\":1,\"running\":0,"
		    "\"gpuSeconds\":0,\"cpuSeconds\":3600,\"memoryGiBSeconds\":0,\"waitSeconds\":0}]}");

	in_utc();
	usage_page(d, false, 60, &out);
	CHECK(strstr(out.p, "NAMESPACE  KIND  JOB  USER  RUNS  RUNNING  GPU-H  CPU-H  GIB-H  WAIT  CPU-HOURS\n") !=
	      NULL);
	CHECK(strstr(out.p, "n          Job   j    ada      1        0      0   1.00      0    0s  ██████████\n") !=
	      NULL);
}

TEST("names with commas and quotes are quoted in CSV")
{
	auto_sbuf struct sbuf out = SBUF(65536);
	json_auto_t *d =
		doc("{\"by\":\"user\",\"items\":[{\"name\":\"a,\\\"b\",\"jobs\":1,\"running\":0,\"gpuSeconds\":1.5,"
		    "\"cpuSeconds\":2,\"memoryGiBSeconds\":3,\"waitSeconds\":4}]}");

	usage_csv(d, &out);
	CHECK_STR(out.p, "user,jobs,running,gpu_seconds,cpu_seconds,memory_gib_seconds,wait_seconds\n"
			 "\"a,\"\"b\",1,0,1.500,2.000,3.000,4\n");
}

TEST("shares show who is next; a lone group without a name is not shown")
{
	auto_sbuf struct sbuf out = SBUF(65536);
	json_auto_t *d = doc(
		"{\"queues\":[{\"name\":\"batch\",\"weight\":2,\"due\":1,\"had\":1,\"running\":0.5,\"waiting\":2,"
		"\"turn\":1,"
		"\"groups\":[{\"name\":\"\",\"weight\":1,\"due\":1,\"had\":1,\"running\":0.5,\"waiting\":2,\"turn\":1,"
		"\"users\":[{\"name\":\"bob\",\"weight\":1,\"due\":0.5,\"had\":0.25,\"running\":0,\"waiting\":1,"
		"\"turn\":1},"
		"{\"name\":\"ada\",\"weight\":1,\"due\":0.5,\"had\":0.75,\"running\":0.5,\"waiting\":1,\"turn\":2}]}]}]"
		"}");

	usage_shares(d, false, 0, &out);
	CHECK_STR(out.p, "QUEUE  GROUP  USER  WEIGHT     DUE     HAD    NOW  WAITING  TURN  HAD OF ALL USE\n"
			 "batch                    2  100.0%  100.0%  50.0%        2  next  ████████████████████\n"
			 "              bob        1   50.0%   25.0%   0.0%        1  next  █████\n"
			 "              ada        1   50.0%   75.0%  50.0%        1     2  ███████████████\n");
}

TEST("times are days, months, hours of a day, or a while ago")
{
	static const struct {
		const char *text;
		int64_t want; /* -1: it is none */
	} rows[] = {
		{ "7d", 1793836800 - 7 * 86400 },
		{ "90", 1793836800 - 90 },
		{ "2026-11-01", 1793491200 },
		{ "2026-11", 1793491200 },
		{ "2026-11-01 14:30", 1793491200 + 14 * 3600 + 1800 },
		{ "2026-11-01T14:30:00Z", 1793491200 + 14 * 3600 + 1800 },
		{ "tomorrow", -1 },
		{ "", -1 },
		{ "2026-13-01", -1 },
		{ "2026-11-31", -1 },
		{ "2026-02-29 12:00", -1 },
		{ "2024-02-29", 1709164800 },
		{ "2026-11-01x", -1 },
		{ "1900-01-01", -1 },
		{ "100000w", -1 },
	};

	in_utc();
	CHECK(usage_no_day("2026-11-31") && usage_no_day("2026-02-29 12:00"));
	CHECK(!usage_no_day("2026-11-30") && !usage_no_day("2026-11") && !usage_no_day("soon"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t t = -1;

		CHECK_INT(usage_time(rows[i].text, 1793836800, &t), rows[i].want >= 0);
		if (rows[i].want >= 0)
			CHECK_INT(t, rows[i].want);
	}
}
