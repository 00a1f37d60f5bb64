// SPDX-License-Identifier: Apache-2.0
/* why_parts.h - what why*.c share */
#ifndef STOKER_SCHED_WHY_PARTS_H
#define STOKER_SCHED_WHY_PARTS_H

#include "sched/why.h"
#include "sched/world_ask.h"

/* What is to be explained: reasons as the world has them, and what it does not tell apart. */
enum why_case {
	CASE_HELD,
	CASE_NOT_BEFORE,
	CASE_STOPPED,
	CASE_NO_QUEUE,
	CASE_LIMIT,
	CASE_QUOTA,
	CASE_SHARE,
	CASE_IMPOSSIBLE,
	CASE_NO_ROOM,
	CASE_RESERVED,
	CASE_PREEMPTING,
	CASE_SOON, /* there is room: it has only not been looked at yet */
	CASE_STARTING,
	CASE_RUNNING,
	CASE__COUNT
};
enum why_case why_case(const struct why_view *v);

/* A time of today as 14:20, of another day with its date. */
void say_time(int64_t at_ms, int64_t now_ms, struct sbuf *out);
/* "40 minutes", "3 hours 59 minutes", "50 seconds": never more than it is. */
void say_span(int64_t ms, struct sbuf *out);
/* "job a1", or "a job of ben". */
void say_other(const struct why_view *v, const struct work *other, struct sbuf *out);
/* The first member without a seat that finds no room alone, else the first without a seat; NULL: all have one. */
struct shape *shape_in_need(struct world *w, const struct work *work);

/* --- why_when.c --- */
/* Who of those that run has what it waits for. */
struct in_the_way {
	bool (*has)(const struct why_view *v, const struct work *other, size_t resource);
	size_t resource;
};
/* "; job a1 ends by 14:20 at the latest", or why that cannot be told.  NULL: nobody has it. */
void say_when(const struct why_view *v, const struct in_the_way *those, struct sbuf *out);
/* " (job a1 ends by 14:20 at the latest, expected start 14:20)", if it has a reservation.  The end of the block that
 * was said is not said again. */
void say_reserved_start(const struct why_view *v, const struct block *said, struct sbuf *out);

/* --- why_room.c --- */
void say_no_room(const struct why_view *v, struct sbuf *out);
void say_reserved(const struct why_view *v, struct sbuf *out);
/* "for reservation class from 14:00, and it says no walltime" */
void say_block(const struct block *b, const struct work *work, int64_t now_ms, struct sbuf *out);
/* No node takes such pods now. */
bool lacks_nodes(const struct why_view *v, struct shape *sh);
/* All its members ask for the same. */
bool members_alike(const struct work *work);
/* Of a gang whose pods are alike: for how many nodes that take them have room when they are empty, if that is too few;
 * 0: it is enough, or cannot be told. */
int64_t too_few_places(const struct why_view *v, const struct shape *sh);
/* A property that its queue's nodes must have and no node has, or NULL. */
const char *missing_property(const struct why_view *v);
void say_impossible(const struct why_view *v, struct sbuf *out);
/* Whether all nodes together have too little of something for a gang that starts at once; says so. */
bool say_too_much(const struct why_view *v, struct sbuf *out);

#endif
