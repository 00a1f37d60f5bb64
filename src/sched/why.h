// SPDX-License-Identifier: Apache-2.0
/* why.h - why a work waits, in words; pure */
#ifndef STOKER_SCHED_WHY_H
#define STOKER_SCHED_WHY_H

#include "base/str.h"
#include "sched/world.h"

/* For the condition and the event of its pods: what stands in the way, without what changes by the minute.  Nothing if
 * nothing does. */
void why_condition(struct world *w, struct work *work, int64_t now_ms, struct sbuf *out);

/* For a person: one sentence with its place in the queue and when it is expected to start, and what would help. */
struct why_view {
	struct world *world;
	struct work *work;
	const char *name;    /* as people call it */
	size_t position;     /* in its queue; 0: not in line */
	int64_t expected_ms; /* TIME_UNKNOWN */
	int64_t now_ms;
};
void why_sentence(const struct why_view *v, struct sbuf *out);
void why_help(const struct why_view *v, struct sbuf *out);

#endif
