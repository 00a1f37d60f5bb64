// SPDX-License-Identifier: Apache-2.0
/* How long a PBS job has run. */
#include "kinds/pbs_time.h"

#include "base/mem.h"
#include "test.h"

#define NOON 1000036800 /* 2001-09-09T12:00:00Z */

TEST("time in which a PBS job is suspended is no walltime")
{
	static const struct {
		const char *run;
		int64_t used, suspended;
	} rows[] = {
		{ "{}", 0, 0 },
		{ "{\"startTime\": \"2001-09-09T11:59:00Z\"}", 60, 0 },
		{ "{\"startTime\": \"2001-09-09T12:00:01Z\"}", 0, 0 },
		{ "{\"startTime\": \"2001-09-09T11:59:00Z\", \"suspendedSeconds\": 15}", 45, 15 },
		{ "{\"startTime\": \"2001-09-09T11:59:00Z\", \"suspendTime\": \"2001-09-09T11:59:50Z\"}", 50, 10 },
		{ "{\"startTime\": \"2001-09-09T11:59:00Z\", \"suspendTime\": \"2001-09-09T11:59:50Z\", "
		  "\"suspendedSeconds\": 15}",
		  35, 25 },
		{ "{\"startTime\": \"2001-09-09T11:59:00Z\", \"suspendedSeconds\": 99}", 0, 99 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *run = json_loads(rows[i].run, 0, NULL);

		CHECK_INT(pbs_time_used(run, NOON), rows[i].used);
		CHECK_INT(pbs_time_suspended(run, NOON), rows[i].suspended);
	}
}
