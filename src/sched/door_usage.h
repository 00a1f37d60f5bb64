// SPDX-License-Identifier: Apache-2.0
/* door_usage.h - who used how much and what each is due, as the API asks for it (loop/scheduler.h)
 *
 * What the rows `usage` and `shares` of struct scheduler_ops call, whoever owns the table.
 */
#ifndef STOKER_SCHED_DOOR_USAGE_H
#define STOKER_SCHED_DOOR_USAGE_H

#include "loop/scheduler.h"
#include "sched/books.h"

/* NULL: no accounts are kept. */
int door_usage(struct books *b, const char *by, int64_t from, int64_t to, const char *user, json_t **ret,
	       struct err *e);
/* {"queues":[{"name","weight","use","had","due","running","waiting","turn","groups":[{...,"users":[...]}]}]}:
 * use     seconds of the whole machine, as far as they still count
 * had     its part of what all have used, 0..1
 * due     what the weights promise it, of those that wait or run now, 0..1; 0 if it does neither
 * running the part of the machine that it has now
 * turn    of those of its parent's that wait, 1 is the next; absent if it does not wait.  In that order they are. */
json_t *door_shares(struct world *w);

#endif
