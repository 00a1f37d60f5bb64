// SPDX-License-Identifier: Apache-2.0
/* why.c - see why.h */
#include "sched/why.h"

#include "base/clock.h"
#include "base/mem.h"
#include "sched/parts.h"
#include "sched/why_parts.h"
#include "sched/world_parts.h"

static const struct {
	enum work_hold hold;
	const char *words;
} holds[] = {
	{ HOLD_USER, "held by its user" },
	{ HOLD_OPERATOR, "held by an operator" },
	{ HOLD_SYSTEM, "held by the system" },
	{ HOLD_AFTER, "waits for another workload" },
	{ HOLD_SLOT, "its array runs as many jobs at a time as it may" },
};

/* "pods of gang lab/tfjobs/x": the key of a gang without its namespace. */
static const char *gang_name(const struct work *work)
{
	const char *slash = strchr(work->key, '/');

	return slash ? slash + 1 : work->key;
}

void why_held(unsigned bits, const char *after, struct sbuf *out)
{
	const char *between = "";

	for (size_t i = 0; i < ARRAY_SIZE(holds); i++) {
		if (!(bits & holds[i].hold))
			continue;
		sbuf_addf(out, "%s%s", between, holds[i].hold == HOLD_AFTER && after ? after : holds[i].words);
		between = "; ";
	}
}

static void say_held(const struct work *work, int64_t now_ms, struct sbuf *out)
{
	unsigned others = work->holds & ~(unsigned)HOLD_MEMBERS;

	why_held(others, work->after, out);
	if (work->holds & HOLD_MEMBERS)
		sbuf_addf(out, "%s%zu of the %zu pods of gang %s are there", others ? "; " : "", work->n, work->size,
			  gang_name(work));
	if (work->not_before_ms > now_ms) {
		sbuf_adds(out, "; not to start before ");
		say_time(work->not_before_ms, now_ms, out);
	}
}

void say_time(int64_t at_ms, int64_t now_ms, struct sbuf *out)
{
	char text[CLOCK_SHORT_LEN];

	clock_short(at_ms / 1000, now_ms / 1000, text);
	sbuf_adds(out, text);
}

void say_span(int64_t ms, struct sbuf *out)
{
	static const struct {
		int64_t seconds, from; /* the unit, and from how many of it on it is used */
		const char *one, *many;
	} units[] = { { 86400, 2, "day", "days" },
		      { 3600, 2, "hour", "hours" },
		      { 60, 1, "minute", "minutes" },
		      { 1, 0, "second", "seconds" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		int64_t n = ms / 1000 / units[i].seconds;

		if (n < units[i].from)
			continue;
		sbuf_addf(out, "%lld %s", (long long)n, n == 1 ? units[i].one : units[i].many);
		ms -= n * units[i].seconds * 1000;
		if (units[i].seconds == 3600 && ms >= 60000) {
			sbuf_addc(out, ' ');
			say_span(ms, out);
		}
		return;
	}
}

void say_other(const struct why_view *v, const struct work *other, struct sbuf *out)
{
	const char *name = v->name ? v->name(v->arg, other) : NULL;

	if (name)
		sbuf_adds(out, name);
	else
		sbuf_addf(out, "a job of %s", other->user);
}

struct shape *shape_in_need(struct world *w, const struct work *work)
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

/* Those that are being evicted for a work, and how many of them because their queues have borrowed. */
struct victims {
	const struct work *whom;
	size_t n, borrowers;
	size_t soon; /* need not be evicted, so soon they end or have just begun */
};

static bool count_victim(void *arg, struct work *work)
{
	struct victims *v = arg;

	v->n += work->evicted_for == v->whom;
	v->borrowers += work->evicted_for == v->whom && work->gives_back;
	v->soon += !work->evicted_for && work->ends_soon;
	return true;
}

static struct victims victims_of(struct world *w, const struct work *work)
{
	struct victims v = { .whom = work };

	world_each_running(w, count_victim, &v);
	return v;
}

/* ---- the condition ---- */

static void name_impossible(struct world *w, const struct work *work, struct sbuf *out)
{
	size_t exceeded = work_exceeds_machine(world_space(w), work);

	if (exceeded != SIZE_MAX) {
		sbuf_adds(out, "its pods need ");
		space_amount_text(world_space(w), exceeded, work_wants(work, exceeded), out);
		sbuf_adds(out, " at once, all nodes together have ");
		space_number_text(exceeded, space_whole(world_space(w), exceeded), out);
		return;
	}
	for (size_t i = 0; i < work->n; i++)
		if (!work->members[i].seat.node && !space_possible(world_space(w), work->members[i].seat.shape, out))
			return;
}

static void name_no_room(struct world *w, const struct work *work, struct sbuf *out)
{
	struct shape *sh = shape_in_need(w, work);
	bool alone = work->size < 2;

	if (sh && (alone || space_failed(world_space(w), sh)))
		sbuf_adds(out, space_why(world_space(w), sh));
	if (!alone)
		sbuf_addf(out, "%sall %zu pods of gang %s must have room at once", out->n ? " " : "", work->size,
			  gang_name(work));
}

static void name_reserved(const struct why_view *v, struct sbuf *out)
{
	const struct reservation *r = world_barrier(v->world, v->work, v->now_ms);
	const struct block *block = r ? r->block : NULL;

	if (limit_kept_for(v->work, v->now_ms)) {
		sbuf_addf(out, "what the limits of queue %s leave is kept for work that has waited long",
			  v->work->queue->name);
	} else if (block) {
		sbuf_adds(out, "the room that is free is kept ");
		say_block(block, v->work, v->now_ms, out);
	} else {
		sbuf_adds(out, "the room that is free is reserved for work before it");
	}
	say_reserved_start(v, block, out);
}

static void say_stopped(const struct work *work, struct sbuf *out)
{
	sbuf_addf(out, work->queue->exists ? "queue %s is stopped" : "there is no queue %s", work->queue->name);
}

#define FOR_A_MOMENT "it waits a moment for other work that ends soon or has just begun"

static void name_victims(struct victims v, struct sbuf *out)
{
	if (!v.n && v.soon)
		sbuf_adds(out, FOR_A_MOMENT);
	else
		sbuf_adds(out, v.borrowers ? "work of queues that have borrowed is being evicted for it"
					   : "work of a lower priority is being evicted for it");
}

void why_condition(const struct why_view *v, struct sbuf *out)
{
	struct world *w = v->world;
	struct work *work = v->work;
	int64_t now_ms = v->now_ms;

	switch (world_why(w, work, now_ms)) {
	case WHY_HELD:
		say_held(work, now_ms, out);
		break;
	case WHY_NOT_BEFORE:
		sbuf_adds(out, "not to start before ");
		say_time(work->not_before_ms, now_ms, out);
		break;
	case WHY_QUEUE_STOPPED:
		say_stopped(work, out);
		break;
	case WHY_LIMIT:
		limit_hit_text(&work->hit, work->hit_server ? NULL : work->queue->name, work->user, work->group, out);
		break;
	case WHY_QUOTA:
		quota_hit_text(&work->quota, work->queue, out);
		break;
	case WHY_SHARE:
		sbuf_addf(out, "queue %s has its share of the machine and may not borrow from others",
			  work->queue->name);
		break;
	case WHY_IMPOSSIBLE:
		name_no_room(w, work, out);
		sbuf_adds(out, " It can never start here: ");
		name_impossible(w, work, out);
		break;
	case WHY_NO_ROOM:
		name_no_room(w, work, out);
		say_reserved_start(v, NULL, out);
		break;
	case WHY_RESERVED:
		name_reserved(v, out);
		break;
	case WHY_PREEMPTING:
		name_victims(victims_of(w, work), out);
		break;
	case WHY_NOT_SEEN:
	case WHY_STARTING:
		break;
	}
}

static bool is_about_room(enum work_why why)
{
	return why == WHY_NO_ROOM || why == WHY_RESERVED;
}

bool why_is_due(enum work_why said, int64_t since_ms, enum work_why now)
{
	return since_ms >= WHY_SAME_MS || (said != now && !(is_about_room(said) && is_about_room(now)));
}

/* ---- which case it is ---- */

static bool is_bound(const struct work *work)
{
	return work->n > 0 && work->nbound == work->n;
}

/* The world remembers what the last pass found; since then room may have come or gone. */
static enum why_case case_of_room(const struct why_view *v)
{
	const struct work *work = v->work;
	int64_t end_ms = work_end(work, v->now_ms);

	if (world_room(v->world, work, v->now_ms, end_ms, false) < work_needs(work))
		return CASE_NO_ROOM;
	return world_room(v->world, work, v->now_ms, end_ms, true) < work_needs(work) ? CASE_RESERVED : CASE_SOON;
}

enum why_case why_case(const struct why_view *v)
{
	if (is_bound(v->work))
		return CASE_RUNNING;
	switch (world_why(v->world, v->work, v->now_ms)) {
	case WHY_HELD:
		return CASE_HELD;
	case WHY_NOT_BEFORE:
		return CASE_NOT_BEFORE;
	case WHY_QUEUE_STOPPED:
		return v->work->queue->exists ? CASE_STOPPED : CASE_NO_QUEUE;
	case WHY_LIMIT:
		return CASE_LIMIT;
	case WHY_QUOTA:
		return CASE_QUOTA;
	case WHY_SHARE:
		return CASE_SHARE;
	case WHY_IMPOSSIBLE:
		return CASE_IMPOSSIBLE;
	case WHY_PREEMPTING:
		return CASE_PREEMPTING;
	case WHY_STARTING:
		return CASE_STARTING;
	case WHY_RESERVED:
		if (limit_kept_for(v->work, v->now_ms))
			return CASE_RESERVED;
		break;
	case WHY_NOT_SEEN:
	case WHY_NO_ROOM:
		break;
	}
	return case_of_room(v);
}

const char *why_state(const struct why_view *v)
{
	static const char *const states[CASE__COUNT] = {
		[CASE_HELD] = "held", [CASE_STARTING] = "starting", [CASE_RUNNING] = "running"
	};
	const char *state = states[why_case(v)];

	/* What waits for others, for a slot or for its own pods is held by nobody. */
	if (state == states[CASE_HELD] && !(v->work->holds & (HOLD_USER | HOLD_OPERATOR | HOLD_SYSTEM)))
		state = NULL;
	if (!state && work_has_begun(v->work))
		state = "running"; /* of its pods some are missing */
	return state ? state : "waiting";
}

const char *why_word(enum work_why why)
{
	static const char *const words[] = {
		[WHY_NOT_SEEN] = "NOT_SEEN",     [WHY_HELD] = "HELD",
		[WHY_NOT_BEFORE] = "NOT_BEFORE", [WHY_QUEUE_STOPPED] = "QUEUE_STOPPED",
		[WHY_LIMIT] = "LIMIT",           [WHY_QUOTA] = "QUOTA",
		[WHY_SHARE] = "SHARE",           [WHY_IMPOSSIBLE] = "IMPOSSIBLE",
		[WHY_NO_ROOM] = "NO_ROOM",       [WHY_RESERVED] = "RESERVED",
		[WHY_PREEMPTING] = "PREEMPTING", [WHY_STARTING] = "STARTING",
	};

	return words[why];
}

/* ---- the sentence ---- */

static void say_hold(const struct why_view *v, struct sbuf *out)
{
	say_held(v->work, v->now_ms, out);
}

static void say_not_before(const struct why_view *v, struct sbuf *out)
{
	sbuf_adds(out, "not to start before ");
	say_time(v->work->not_before_ms, v->now_ms, out);
	if (v->expected_ms > v->work->not_before_ms)
		say_when(v, NULL, out);
}

static void say_queue(const struct why_view *v, struct sbuf *out)
{
	say_stopped(v->work, out);
}

/* What the limit that is in its way counts. */
static bool counts_too(const struct why_view *v, const struct work *other, size_t resource)
{
	const struct work *work = v->work;
	enum limit_scope scope = work->hit.scope;

	(void)resource;
	if (!other->counted.v[work->hit.of] || (work->hit_server ? !other->pbs : other->queue != work->queue))
		return false;
	return scope == LIMIT_TOTAL || (scope == LIMIT_PER_USER && streq(other->user, work->user)) ||
	       (scope == LIMIT_PER_GROUP && streq(other->group, work->group));
}

static bool is_of_queue(const struct why_view *v, const struct work *other, size_t resource)
{
	(void)resource;
	return other->queue == v->work->queue;
}

static bool uses_quota(const struct why_view *v, const struct work *other, size_t resource)
{
	const struct work *work = v->work;

	(void)resource;
	if (!other->counted.v[work->quota.of])
		return false;
	return other->queue == work->queue || (work->quota.what == QUOTA_COHORT && other->queue->quota.some &&
					       str_same(other->queue->quota.cohort, work->queue->quota.cohort));
}

static void say_limit(const struct why_view *v, struct sbuf *out)
{
	struct limit_hit never;
	const struct work *work = v->work;

	limit_hit_text(&work->hit, work->hit_server ? NULL : work->queue->name, work->user, work->group, out);
	if (limits_impossible(&work->queue->limits, &work->asks, &never))
		sbuf_adds(out, ": it can never start in this queue");
	else
		say_when(v, &(struct in_the_way){ .has = counts_too }, out);
}

static void say_share(const struct why_view *v, struct sbuf *out)
{
	const struct queue *q = v->work->queue;

	if (work_exceeds_share(v->world, v->work)) {
		sbuf_addf(out,
			  "it alone is more than the share of queue %s, which may not borrow from others: it can never "
			  "start in this queue",
			  q->name);
		return;
	}
	sbuf_addf(out, "queue %s has its share of the machine and may not borrow from others", q->name);
	say_when(v, &(struct in_the_way){ .has = is_of_queue }, out);
}

static void say_quota(const struct why_view *v, struct sbuf *out)
{
	const struct work *work = v->work;
	struct quota_hit never;

	if (!quota_impossible(&v->world->queues, work->queue, &work->asks, &never)) {
		quota_hit_text(&work->quota, work->queue, out);
		say_when(v, &(struct in_the_way){ .has = uses_quota }, out);
		return;
	}
	quota_most_text(&never, work->queue->name, work->queue->quota.cohort, out);
	sbuf_adds(out, ": it can never start in this queue");
}

static void say_preempting(const struct why_view *v, struct sbuf *out)
{
	struct victims all = victims_of(v->world, v->work);

	if (!all.n) {
		sbuf_adds(out, all.soon ? FOR_A_MOMENT : "what was evicted for it has gone");
		return;
	}
	sbuf_addf(out, "%zu %s%s %s being evicted for it", all.n, all.n == 1 ? "job" : "jobs",
		  all.borrowers ? "" : " of a lower priority", all.n == 1 ? "is" : "are");
	if (all.borrowers)
		sbuf_adds(out, all.n == 1               ? ": its queue gives back what it borrowed"
			       : all.borrowers == all.n ? ": their queues give back what they borrowed"
							: ", some because their queues give back what they borrowed");
}

static void say_soon(const struct why_view *v, struct sbuf *out)
{
	(void)v;
	sbuf_adds(out, "there is room for it, and it is about to be looked at");
}

static void say_starting(const struct why_view *v, struct sbuf *out)
{
	const struct work *work = v->work;

	if (work->n == 1 && work->members[0].seat.node)
		sbuf_addf(out, "it has a place on node %s and is starting", node_name(work->members[0].seat.node));
	else
		sbuf_addf(out, "all %zu pods of it have a place and are starting", work->n);
}

static void say_running(const struct why_view *v, struct sbuf *out)
{
	int64_t end_ms = work_end(v->work, v->work->started_ms);

	sbuf_adds(out, "runs since ");
	say_time(v->work->started_ms, v->now_ms, out);
	if (v->work->evicted_for) {
		sbuf_adds(out, v->work->gives_back ? " and is being evicted: its queue gives back what it borrowed"
						   : " and is being evicted for work of a higher priority");
	} else if (end_ms == TIME_UNKNOWN) {
		sbuf_adds(out, "; it has no walltime");
	} else {
		sbuf_adds(out, end_ms < v->now_ms ? "; it should have ended by " : "; ends by ");
		say_time(end_ms, v->now_ms, out);
		sbuf_adds(out, end_ms < v->now_ms ? "" : " at the latest");
	}
}

static const struct {
	void (*say)(const struct why_view *v, struct sbuf *out);
	bool expects; /* it makes sense to ask when it starts */
} answers[CASE__COUNT] = {
	[CASE_HELD] = { say_hold, false },
	[CASE_NOT_BEFORE] = { say_not_before, true },
	[CASE_STOPPED] = { say_queue, false },
	[CASE_NO_QUEUE] = { say_queue, false },
	[CASE_LIMIT] = { say_limit, true },
	[CASE_QUOTA] = { say_quota, true },
	[CASE_SHARE] = { say_share, true },
	[CASE_IMPOSSIBLE] = { say_impossible, false },
	[CASE_NO_ROOM] = { say_no_room, true },
	[CASE_RESERVED] = { say_reserved, true },
	[CASE_PREEMPTING] = { say_preempting, true },
	[CASE_SOON] = { say_soon, false },
	[CASE_STARTING] = { say_starting, false },
	[CASE_RUNNING] = { say_running, false },
};

static void say_ordinal(size_t n, struct sbuf *out)
{
	static const char *const words[] = { "",      "first",   "second", "third", "fourth", "fifth",
					     "sixth", "seventh", "eighth", "ninth", "tenth" };
	static const char *const ends[] = { "th", "st", "nd", "rd" };
	size_t last = n % 100 / 10 == 1 ? 0 : n % 10;

	if (n < ARRAY_SIZE(words))
		sbuf_adds(out, words[n]);
	else
		sbuf_addf(out, "%zu%s", n, ends[last < ARRAY_SIZE(ends) ? last : 0]);
}

/* "third in queue batch; " */
static void say_place(const struct why_view *v, enum why_case c, struct sbuf *out)
{
	if (c == CASE_NO_QUEUE || c == CASE_STARTING || c == CASE_RUNNING)
		return;
	if (v->position) {
		say_ordinal(v->position, out);
		sbuf_addc(out, ' ');
	}
	sbuf_addf(out, "in queue %s; ", v->work->queue->name);
}

void why_sentence(const struct why_view *v, struct sbuf *out)
{
	enum why_case c = why_case(v);
	size_t place;

	say_place(v, c, out);
	place = out->n;
	answers[c].say(v, out);
	if (!answers[c].expects || v->expected_ms == TIME_UNKNOWN || out->n == place)
		return;
	if (v->expected_ms <= v->now_ms) {
		sbuf_adds(out, ", expected to start at any moment");
		return;
	}
	sbuf_adds(out, ", expected start ");
	say_time(v->expected_ms, v->now_ms, out);
}
