// SPDX-License-Identifier: Apache-2.0
/* why.c - see why.h */
#include "sched/why.h"

#include <time.h>

#include "base/mem.h"
#include "sched/parts.h"

static const struct {
	enum work_hold hold;
	const char *words, *help;
} holds[] = {
	{ HOLD_USER, "held by its user", "take the annotation stoker.dev/hold away" },
	{ HOLD_OPERATOR, "held by an operator", "ask an operator to release it" },
	{ HOLD_SYSTEM, "held by the system", "ask an admin to release it" },
	{ HOLD_AFTER, "waits for another workload", "it starts when that has ended as asked for" },
	{ HOLD_SLOT, "its array runs as many jobs at a time as it may", "raise the array's slot limit" },
	{ HOLD_MEMBERS, NULL, NULL },
};

/* "pods of gang lab/tfjobs/x": the key of a gang without its namespace. */
static const char *gang_name(const struct work *work)
{
	const char *slash = strchr(work->key, '/');

	return slash ? slash + 1 : work->key;
}

static void say_held(const struct work *work, struct sbuf *out)
{
	const char *between = "";

	for (size_t i = 0; i < ARRAY_SIZE(holds); i++) {
		if (!(work->holds & holds[i].hold))
			continue;
		sbuf_adds(out, between);
		if (holds[i].words)
			sbuf_adds(out, holds[i].words);
		else
			sbuf_addf(out, "%zu of the %zu pods of gang %s are there", work->n, work->size,
				  gang_name(work));
		between = "; ";
	}
}

/* A time of today as 14:20, of another day with its date. */
static void say_time(int64_t at_ms, int64_t now_ms, struct sbuf *out)
{
	time_t at = at_ms / 1000, now = now_ms / 1000;
	struct tm then, today;
	char text[64];

	localtime_r(&at, &then);
	localtime_r(&now, &today);
	strftime(text, sizeof(text),
		 then.tm_yday == today.tm_yday && then.tm_year == today.tm_year ? "%H:%M" : "%Y-%m-%d %H:%M", &then);
	sbuf_adds(out, text);
}

/* The first member without a seat that finds no room alone, else the first without a seat. */
static struct shape *shape_in_need(struct world *w, const struct work *work)
{
	struct shape *first = NULL;

	for (size_t i = 0; i < work->n; i++) {
		const struct seat *seat = &work->members[i].seat;

		if (seat->node)
			continue;
		if (space_failed(world_space(w), seat->shape))
			return seat->shape;
		first = first ? first : seat->shape;
	}
	return first;
}

static void say_impossible(struct world *w, const struct work *work, struct sbuf *out)
{
	for (size_t i = 0; i < work->n; i++)
		if (!work->members[i].seat.node && !space_possible(world_space(w), work->members[i].seat.shape, out))
			return;
}

static void say_no_room(struct world *w, const struct work *work, struct sbuf *out)
{
	struct shape *sh = shape_in_need(w, work);
	bool alone = work->size < 2;

	if (sh && (alone || space_failed(world_space(w), sh)))
		sbuf_adds(out, space_why(world_space(w), sh));
	if (!alone)
		sbuf_addf(out, "%sall %zu pods of gang %s must have room at once", out->n ? " " : "", work->size,
			  gang_name(work));
}

static void say_stopped(const struct work *work, struct sbuf *out)
{
	sbuf_addf(out, work->queue->exists ? "queue %s is stopped" : "there is no queue %s", work->queue->name);
}

void why_condition(struct world *w, struct work *work, int64_t now_ms, struct sbuf *out)
{
	switch (world_why(w, work, now_ms)) {
	case WHY_HELD:
		say_held(work, out);
		break;
	case WHY_NOT_BEFORE:
		sbuf_adds(out, "not to start before ");
		say_time(work->not_before_ms, now_ms, out);
		break;
	case WHY_QUEUE_STOPPED:
		say_stopped(work, out);
		break;
	case WHY_LIMIT:
		limit_hit_text(&work->hit, work->queue->name, work->user, work->group, out);
		break;
	case WHY_SHARE:
		sbuf_addf(out, "queue %s has its share of the machine and may not borrow from others",
			  work->queue->name);
		break;
	case WHY_IMPOSSIBLE:
		say_no_room(w, work, out);
		sbuf_adds(out, " It can never start here: ");
		say_impossible(w, work, out);
		break;
	case WHY_NO_ROOM:
		say_no_room(w, work, out);
		break;
	case WHY_RESERVED:
		sbuf_adds(out, "the room that is free is reserved for work before it");
		break;
	case WHY_PREEMPTING:
		sbuf_adds(out, "work of a lower priority is being evicted for it");
		break;
	case WHY_NOT_SEEN:
	case WHY_STARTING:
		break;
	}
}
