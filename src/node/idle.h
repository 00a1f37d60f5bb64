// SPDX-License-Identifier: Apache-2.0
/* idle.h - for how long a pod was seen not to use its GPUs, from readings now and then; pure
 *
 * Only time between two readings that both know counts, on a clock that goes forward: what nobody measured is neither
 * use nor idleness, and the sum waits.  Any use begins anew.
 */
#ifndef STOKER_NODE_IDLE_H
#define STOKER_NODE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kinds/idle_gpu.h"

struct idle_reading {
	int64_t ms;
	int most;     /* percent of the time that the busiest card was in use; -1: nobody knows of any */
	bool unknown; /* of a card nobody knows */
	bool starts;  /* a container of the pod is not running yet, or again */
};

struct idle {
	bool begun;      /* the last reading found it idle, */
	int64_t last_ms; /* at that time */
	int64_t ms;      /* idle in all */
};

enum idle_state { IDLE_NOT, IDLE_WARN, IDLE_TOO_LONG };

/* How often to read: often enough for the policy, and no more. */
int64_t idle_period_ms(const struct idle_policy *p);
/* How often what is known is written down, for the next server. */
int64_t idle_note_ms(const struct idle_policy *p);
void idle_step(struct idle *i, const struct idle_reading *r, const struct idle_policy *p);
enum idle_state idle_state(const struct idle *i, const struct idle_policy *p);

#endif
