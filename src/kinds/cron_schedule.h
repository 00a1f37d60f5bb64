// SPDX-License-Identifier: Apache-2.0
/* cron_schedule.h - "minute hour day month weekday" and @hourly: parsed once, asked often */
#ifndef STOKER_KINDS_CRON_SCHEDULE_H
#define STOKER_KINDS_CRON_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct cron_schedule {
	uint64_t minute; /* bit n: minute n */
	uint32_t hour, day, month, weekday;
	bool any_day, any_weekday; /* written as * or ?: then the other one alone decides */
	int64_t every;             /* @every: seconds between runs; else 0 */
};

/* Five fields with names, lists, ranges and steps, or one of @yearly @annually @monthly @weekly @daily @midnight
 * @hourly @every DURATION.  Bad text is ERR_INVALID saying what is wrong. */
int cron_schedule_parse(const char *text, struct cron_schedule *ret, struct err *e);
/* The first time after `after` (seconds since 1970), or -1 if there is none within five years.  `utc_offset` is what
 * to add to UTC to get the clock on the wall. */
int64_t cron_schedule_next(const struct cron_schedule *s, int64_t after, int64_t utc_offset);
/* The same on the clocks of a time zone (base/time_zone.h), with the offset that holds then; 0 if there is none.  Where
 * clocks change in between, what they show after the change counts, and times that they never show are left out. */
int64_t cron_schedule_next_in(const struct cron_schedule *s, const char *zone, int64_t after);

#endif
