// SPDX-License-Identifier: Apache-2.0
#include "cli/when.h"

#include <stdlib.h>
#include <time.h>

#include "api/sample_json.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/drain_pods.h"
#include "test.h"

#define NOON 1795003200 /* 2026-11-18 12:00 UTC */

TEST("times to come are read as people type them")
{
	static const struct {
		const char *text;
		int64_t want; /* after noon; -1: refused */
	} rows[] = {
		{ "now", 0 },
		{ "+2h", 7200 },
		{ "+90", 90 },
		{ "14:00", 7200 },
		{ "12:00", 86400 },
		{ "9:30", 86400 - 9000 },
		{ "today 9:30", -9000 },
		{ "tomorrow 9:30", 86400 - 9000 },
		{ "tomorrow", -1 },
		{ "2026-11-18 13:00", 3600 },
		{ "2026-11-18T13:00", 3600 },
		{ "2026-11-18 13:00:01", 3601 },
		{ "2026-11-19", 43200 },
		{ "2026-11-18T14:00:00+01:00", 3600 },
		{ "", -1 },
		{ "soon", -1 },
		{ "25:00", -1 },
		{ "14:00x", -1 },
		{ "+x", -1 },
		{ "2026-13-01", -1 },
	};

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		int64_t got = NOON - 1;
		int r = when_parse("--at", rows[i].text, NOON, &got, &e);

		if (rows[i].want == -1) {
			CHECK_INT(r, -1);
			CHECK(strstr(e.text, "--at: \"") != NULL);
		} else if (r < 0 || got - NOON != rows[i].want) {
			test_fail(__FILE__, __LINE__, "%s is %lld: %s", rows[i].text, (long long)(got - NOON), e.text);
		}
	}
}

TEST("a pod's end is known by its walltime")
{
	static const struct {
		const char *pod;
		int64_t want; /* after noon; -1: not known */
		bool stays;
	} rows[] = {
		{ "{}", -1, false },
		{ "{'spec':{'activeDeadlineSeconds':60},'status':{'startTime':'2026-11-18T12:00:10Z'}}", 70, false },
		{ "{'metadata':{'annotations':{'stoker.dev/walltime':'1:00:00'}},'spec':{}}", 3600, false },
		{ "{'metadata':{'ownerReferences':[{'kind':'DaemonSet','name':'d','controller':true}]}}", -1, true },
		{ "{'metadata':{'ownerReferences':[{'kind':'Job','name':'d','controller':true}]}}", -1, false },
		{ "{'metadata':{'annotations':{'kubernetes.io/config.mirror':'x'}}}", -1, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = sample_json(rows[i].pod);
		int64_t end = drain_pod_end(pod, NOON);

		CHECK_INT(end ? end - NOON : -1, rows[i].want);
		CHECK_INT(drain_pod_stays(pod), rows[i].stays);
	}
}
