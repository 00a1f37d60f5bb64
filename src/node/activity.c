// SPDX-License-Identifier: Apache-2.0
/* activity.c - when a pod last did something */
#include "node/activity.h"

#define PARTS      8 /* readings in a limit */
#define PERIOD_MS  250
#define LONGEST_MS 30000

int64_t activity_period_ms(int64_t limit_ms)
{
	int64_t ms = limit_ms / PARTS;

	return ms < PERIOD_MS ? PERIOD_MS : ms > LONGEST_MS ? LONGEST_MS : ms;
}

static bool is_active(const struct activity_reading *before, const struct activity_reading *now)
{
	int64_t elapsed_ms = now->ms - before->ms;

	if (now->busy || now->cpu_ns < 0 || before->cpu_ns < 0 || now->output != before->output)
		return true;
	/* Percent of a processor: a hundredth of a millisecond is 10^4 ns.  Another run counts from 0 again. */
	return now->cpu_ns < before->cpu_ns ||
	       (now->cpu_ns - before->cpu_ns) / 10000 >= elapsed_ms * ACTIVITY_CPU_PERCENT;
}

bool activity_step(struct activity *a, const struct activity_reading *now, int64_t limit_ms)
{
	bool was = a->silent;

	if (a->begun && now->ms <= a->last.ms)
		return false;
	if (!a->begun) {
		/* What it did before nobody saw: one that is known to be silent stays so, any other begins now. */
		if (!a->silent)
			a->since_ms = now->ms;
	} else if (is_active(&a->last, now)) {
		a->since_ms = now->ms;
		a->silent = false;
	} else if (now->ms - a->since_ms >= limit_ms) {
		a->silent = true;
	}
	a->last = *now;
	a->begun = true;
	return a->silent != was;
}
