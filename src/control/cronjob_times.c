// SPDX-License-Identifier: Apache-2.0
/* cronjob_times.c - the times of a schedule around now
 *
 * A few missed times are counted one by one.  After a long sleep the last one is found by halving, so that a schedule
 * of every minute costs the same after a year as after an hour.
 */
#include "base/time_zone.h"
#include "control/cronjob_plan.h"
#include "kinds/cron_schedule.h"

#define MISSED_MOST 100

/* There is a time in (since, now]; the last of them. */
static int64_t last_time(const struct cron_schedule *s, const char *zone, int64_t since, int64_t now)
{
	int64_t low = since; /* something follows it by now */
	int64_t high = now;  /* nothing does */

	while (high - low > 1) {
		int64_t mid = low + (high - low) / 2;
		int64_t t = cron_schedule_next_in(s, zone, mid);

		if (t && t <= now)
			low = mid;
		else
			high = mid;
	}
	return cron_schedule_next_in(s, zone, low);
}

static struct cron_times every_times(int64_t every, int64_t since, int64_t now)
{
	int64_t missed = now > since ? (now - since) / every : 0;

	return (struct cron_times){ .due = missed ? since + missed * every : 0,
				    .next = since + (missed + 1) * every,
				    .too_many = missed > MISSED_MOST };
}

struct cron_times cron_times(const struct cron_schedule *s, const char *zone, int64_t since, int64_t now)
{
	struct cron_times r = { 0 };
	int64_t t = since;

	if (s->every)
		return every_times(s->every, since, now);
	for (int n = 0;; n++) {
		t = cron_schedule_next_in(s, zone, t);
		if (!t || t > now)
			break;
		if (n == MISSED_MOST) {
			r.too_many = true;
			r.due = last_time(s, zone, t - 1, now);
			t = cron_schedule_next_in(s, zone, now);
			break;
		}
		r.due = t;
	}
	r.next = t;
	return r;
}
