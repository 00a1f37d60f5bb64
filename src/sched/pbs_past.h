// SPDX-License-Identifier: Apache-2.0
/* pbs_past.h - reads PBS's accounts (pbs_books.h) again, a piece at a time: days may be long, and the loop waits */
#ifndef STOKER_SCHED_PBS_PAST_H
#define STOKER_SCHED_PBS_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct scheduler_past;

/* From the day of that time (seconds since 1970) on. */
struct scheduler_past *pbs_past_open(const char *dir, int64_t since);
/* Appends the lines of the next piece that are about the job; false: that was the last one. */
bool pbs_past_read(struct scheduler_past *p, int64_t sequence, struct sbuf *out);
void pbs_past_close(struct scheduler_past *p);

#endif
