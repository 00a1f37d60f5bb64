// SPDX-License-Identifier: Apache-2.0
/* why.h - why a work waits, in words; pure */
#ifndef STOKER_SCHED_WHY_H
#define STOKER_SCHED_WHY_H

#include "base/str.h"
#include "sched/world.h"

/* A condition that is there already is written anew if the reason is another, but if only its words are, not before
 * that many milliseconds have passed.  No room and none that is not reserved are one reason: wherever a job ends, all
 * that wait go from one to the other and back. */
#define WHY_SAME_MS 30000
bool why_is_due(enum work_why said, int64_t since_ms, enum work_why now);

/* For a person: one sentence with its place in the queue and when it is expected to start, and what would help. */
struct why_view {
	struct world *world;
	struct work *work;
	const char *ns, *pod;      /* one of its pods, for commands that are to be typed */
	const char *pbs;           /* the PBS job it is of: "12", "'12[]'" or the name of its object; NULL: none */
	size_t position;           /* in its queue; 0: not in line */
	int64_t expected_ms;       /* TIME_UNKNOWN */
	bool foretold;             /* it was looked for: if it is unknown, it stays so */
	const struct work *after;  /* whose end lets it start then; NULL: nobody's, or not known */
	const struct work *behind; /* starts before it and has no walltime; NULL */
	int64_t now_ms;
	/* What another work is called, such as "job a1"; NULL: whoever reads this may not know.  Borrowed until the
	 * next call. */
	const char *(*name)(void *arg, const struct work *other);
	/* Which object holds it (by one of these holds), or says when it may start (0): "job/a1".  NULL, also as an
	 * answer: its pod.  Borrowed until the next call. */
	const char *(*source)(void *arg, unsigned holds);
	void *arg;
};
/* The holds alone: "held by its user; waits until job/a1 has ended".  Not of members that lack. */
void why_held(unsigned holds, const char *after, struct sbuf *out);
void why_sentence(const struct why_view *v, struct sbuf *out);
/* For the condition and the event of its pods: what stands in the way, and when it starts if room is reserved for it;
 * but nothing that is only foretold, for that changes by the minute.  Nothing if nothing does. */
void why_condition(const struct why_view *v, struct sbuf *out);
/* Several things are separated by "; or ".  Nothing if there is nothing to be done. */
void why_help(const struct why_view *v, struct sbuf *out);
/* "waiting", "held", "starting" or "running"; and the reason as programs read it, such as "NO_ROOM". */
const char *why_state(const struct why_view *v);
const char *why_word(enum work_why why);

#endif
