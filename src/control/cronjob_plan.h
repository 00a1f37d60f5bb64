// SPDX-License-Identifier: Apache-2.0
/* cronjob_plan.h - which Job a CronJob starts now, which it lets go, and when to look again; pure
 *
 * The name of a Job is made from its time, so a Job cannot be started twice for one time.  That a Job was started is
 * first known from the Job itself; the status follows it, also after a crash in between.
 */
#ifndef STOKER_CONTROL_CRONJOB_PLAN_H
#define STOKER_CONTROL_CRONJOB_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct cron_view {
	const json_t *cronjob;
	const json_t *const *jobs; /* those it controls */
	size_t n;
	int64_t now; /* seconds since 1970 */
};

struct cron_event {
	bool warning;
	const char *reason;
	char message[512];
};

struct cron_plan {
	json_t *create;        /* the Job to start, or NULL; owned */
	const json_t **remove; /* Jobs to delete */
	size_t nremove, remove_cap;
	json_t *status; /* the new status, or NULL if it stays; owned */
	int64_t again;  /* seconds after which to plan again; -1: when something changes */
	struct cron_event *events;
	size_t nevents, events_cap;
};

void cron_plan(const struct cron_view *v, struct cron_plan *ret);
void cron_plan_done(struct cron_plan *p);

/* --- cronjob_times.c --- */
struct cron_times {
	int64_t due;   /* the last time at or before now that is after `since`; 0: none */
	int64_t next;  /* the first after now; 0: none */
	bool too_many; /* more than a hundred were missed */
};
struct cron_schedule;
/* `zone` may be NULL. */
struct cron_times cron_times(const struct cron_schedule *s, const char *zone, int64_t since, int64_t now);

#endif
