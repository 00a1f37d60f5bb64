// SPDX-License-Identifier: Apache-2.0
/* books_shares.h - the memory of the shares across restarts, for books.c only */
#ifndef STOKER_SCHED_BOOKS_SHARES_H
#define STOKER_SCHED_BOOKS_SHARES_H

#include "sched/account_file.h"
#include "sched/tally.h"
#include "sched/world.h"

/* Failures are logged: the accounts have it all. */
void books_shares_save(struct world *w, const struct account_file *f, int64_t half_life);
/* False, and nothing is changed, if there are no nodes yet to measure use by. */
bool books_shares_load(struct world *w, const struct account_file *f, const struct tally *t, int64_t half_life);

#endif
