// SPDX-License-Identifier: Apache-2.0
/* slots.h - where a job runs, as PBS writes it: G102/0-1,4+G103/0, and its cards G102-gpu/1+G102-gpu/0.  Pure */
#ifndef STOKER_PBS_SLOTS_H
#define STOKER_PBS_SLOTS_H

#include "base/str.h"

#define SLOT_MOST 100000 /* of one node */

/* One node's part: its name, and the text of its slots behind the slash ("0" if there is none). */
struct slots {
	struct str host;
	struct str ranges;
};

/* Goes through the parts between +. */
bool slots_next(struct str *rest, struct slots *ret);
/* Goes through the ranges between commas; false at the end or at what is none. */
bool slots_range(struct str *ranges, int *ret_first, int *ret_last);
/* G102/0-1 as G102/0+G102/1. */
void slots_expand(struct str exec_host, struct sbuf *out);
/* G145-gpu/1+G145-gpu/0 as G145-gpu/1/0. */
void slots_short_gpus(struct str exec_gpus, struct sbuf *out);

#endif
