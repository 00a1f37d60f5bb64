// SPDX-License-Identifier: Apache-2.0
/* pbs_time.c - see pbs_time.h */
#include "kinds/pbs_time.h"

#include "base/clock.h"
#include "base/jsonx.h"

/* 0 if it is not told, or not yet then. */
static int64_t since(const json_t *run, const char *key, int64_t until)
{
	int64_t us;

	if (!clock_parse_rfc3339(jsonx_str_or(run, key, ""), &us))
		return 0;
	return until > us / 1000000 ? until - us / 1000000 : 0;
}

int64_t pbs_time_suspended(const json_t *run, int64_t until)
{
	return jsonx_int_or(run, "suspendedSeconds", 0) + since(run, "suspendTime", until);
}

int64_t pbs_time_used(const json_t *run, int64_t until)
{
	int64_t used = since(run, "startTime", until) - pbs_time_suspended(run, until);

	return used > 0 ? used : 0;
}
