// SPDX-License-Identifier: Apache-2.0
/* pbs_retry.c - a script that asks to be run again (automatic_requeue_exit_code): how soon, and how often; pure
 *
 * What worked for a while may go on at once: that is how long work is done in pieces.  What asks anew right after its
 * start waits ever longer, and is given up in the end: its next run would do no better.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pbs_parts.h"

#define QUICK        60  /* seconds; a run that took less has done nothing yet */
#define LONGEST_WAIT 300 /* seconds */
#define QUICK_MOST   20  /* runs in a row: about an hour */

static const char *const fields[] = { "quickRuns", "retryTime" };

static int64_t delay_of(int64_t quick)
{
	int64_t delay = 1;

	while (--quick > 0 && delay < LONGEST_WAIT)
		delay *= 2;
	return delay < LONGEST_WAIT ? delay : LONGEST_WAIT;
}

static void say(struct pbs_unit *u, int64_t quick)
{
	int64_t delay = delay_of(quick);

	snprintf(u->why, sizeof(u->why),
		 "Not Running: Job asked to be run again and waits %lld second%s for that, as it ended at once %lld of "
		 "at "
		 "most %d times",
		 (long long)delay, delay == 1 ? "" : "s", (long long)quick, QUICK_MOST);
}

bool pbs_retry(struct pbs_work *w, struct pbs_unit *u)
{
	int64_t quick = jsonx_int_or(u->run, fields[0], 0) + 1;
	int64_t took = u->now[0]->finished - time_at(u->run, "startTime");

	pbs_retry_forget(u);
	if (took >= QUICK)
		return true;
	if (quick >= QUICK_MOST)
		return false;
	json_object_set_new(u->run, fields[0], json_integer(quick));
	pbs_set_time(u->run, fields[1], w->v->now + delay_of(quick));
	return true;
}

void pbs_retry_forget(struct pbs_unit *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		json_object_del(u->run, fields[i]);
}

int64_t pbs_retry_left(const struct pbs_work *w, const struct pbs_unit *u)
{
	int64_t left = time_at(u->run, fields[1]) - w->v->now;

	return left > 0 && !jsonx_bool_or(u->spec, "runNow", false) ? left : 0;
}

void pbs_retry_wait(struct pbs_work *w, struct pbs_unit *u)
{
	say(u, jsonx_int_or(u->run, fields[0], 0));
	pbs_again(w, pbs_retry_left(w, u));
}

void pbs_retry_give_up(struct pbs_unit *u)
{
	snprintf(u->why, sizeof(u->why), "Job asked to be run again, and ended at once %d times in a row", QUICK_MOST);
}
