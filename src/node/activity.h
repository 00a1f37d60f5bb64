// SPDX-License-Identifier: Apache-2.0
/* activity.h - whether a pod does anything, from what is read of it now and then; pure
 *
 * Two things count: something new in a log, and at least ACTIVITY_CPU_PERCENT of one processor between two readings.
 * A process that waits for another uses far less, and one that computes far more.
 */
#ifndef STOKER_NODE_ACTIVITY_H
#define STOKER_NODE_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#define ACTIVITY_CPU_PERCENT 1

struct activity_reading {
	int64_t ms;      /* when, on a clock that only goes forward */
	int64_t cpu_ns;  /* used so far by all containers; -1: nobody knows, which never counts as silence */
	uint64_t output; /* another number whenever something was printed */
	bool busy;       /* a container is on its way to running or to its end */
};

struct activity {
	struct activity_reading last;
	bool begun;       /* there is a last one */
	int64_t since_ms; /* when it last did something */
	bool silent;      /* for at least the limit */
};

/* Takes a reading in; true if `silent` has changed. */
bool activity_step(struct activity *a, const struct activity_reading *now, int64_t limit_ms);
/* How often to read: often enough for the limit, and no more. */
int64_t activity_period_ms(int64_t limit_ms);

#endif
