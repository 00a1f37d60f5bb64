// SPDX-License-Identifier: Apache-2.0
/* usage_sum.h - records added up by user, group, queue or job; pure */
#ifndef STOKER_SCHED_USAGE_SUM_H
#define STOKER_SCHED_USAGE_SUM_H

#include <jansson.h>

#include "base/map.h"
#include "sched/account.h"

enum usage_by { USAGE_USER, USAGE_GROUP, USAGE_QUEUE, USAGE_JOB, USAGE_BY__COUNT };

struct usage_sum {
	struct map rows; /* name -> struct usage_row */
	enum usage_by by;
	int64_t from, to, now; /* seconds since 1970 */
	const char *user;      /* only his; NULL: everyone's.  Borrowed */
};

/* "user", "group", "queue", "job"; ERR_BAD_REQUEST for others, and for times that are no time. */
int usage_sum_init(struct usage_sum *u, const char *by, int64_t from, int64_t to, struct err *e);
void usage_sum_done(struct usage_sum *u);
/* The part of it in that time.  One without an end runs; one of 0 pods is more of a workload that was counted. */
void usage_sum_add(struct usage_sum *u, const struct account_record *r);
/* [{"name","jobs","running","gpuSeconds","cpuSeconds","memoryGiBSeconds","waitSeconds"}], the most first; jobs also
 * have "namespace", "kind", "user" and "queue". */
json_t *usage_sum_json(const struct usage_sum *u);

#endif
