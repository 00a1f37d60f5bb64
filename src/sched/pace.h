// SPDX-License-Identifier: Apache-2.0
/* pace.h - so many at once, and then so many a second; pure */
#ifndef STOKER_SCHED_PACE_H
#define STOKER_SCHED_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	int64_t every_ms; /* one of them, in the long run */
	int64_t burst;    /* of them without waiting, after a rest */
	int64_t due_ms;   /* when all that were let through are paid for */
};

/* Whether one more may go now. */
static inline bool pace_take(struct pace *p, int64_t now_ms)
{
	int64_t due = p->due_ms > now_ms ? p->due_ms : now_ms;

	if (due - now_ms > (p->burst - 1) * p->every_ms)
		return false;
	p->due_ms = due + p->every_ms;
	return true;
}

#endif
