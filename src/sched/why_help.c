// SPDX-License-Identifier: Apache-2.0
/* why_help.c - what would help: only what was tried, or what an admin can change */
#include <string.h>

#include "base/mem.h"
#include "sched/parts.h"
#include "sched/pod_work.h"
#include "sched/why_parts.h"
#include "sched/world_parts.h"

static void begin(struct sbuf *out)
{
	sbuf_adds(out, out->n ? "; or " : "");
}

/* ---- not now, by someone's will ---- */

/* "job/a1 -n lab" */
static void say_source(const struct why_view *v, unsigned holds, struct sbuf *out)
{
	const char *source = v->source ? v->source(v->arg, holds) : NULL;

	sbuf_addf(out, "%s%s -n %s", source ? "" : "pod/", source ? source : v->pod, v->ns);
}

/* What it waits for will not be. */
static void help_stuck(const struct why_view *v, struct sbuf *out)
{
	begin(out);
	sbuf_adds(out, "`kubectl annotate ");
	say_source(v, HOLD_AFTER, out);
	sbuf_adds(out,
		  " " AFTER_ANNOTATION "-` lets it start without waiting for others; or a new workload of the name "
		  "that it waits for is another chance; or `stoker kill ");
	say_source(v, HOLD_AFTER, out);
	sbuf_adds(out, "` gives it up");
}

static void help_not_before(const struct why_view *v, struct sbuf *out)
{
	begin(out);
	sbuf_adds(out, "`kubectl annotate ");
	say_source(v, 0, out);
	sbuf_adds(out, " " NOT_BEFORE_ANNOTATION "-` lets it start earlier");
}

/* Its queue would not start it either, as long as others run. */
static bool is_full(const struct why_view *v)
{
	struct work *work = v->work;
	const struct queue *q = work->queue;
	struct limit_hit limit;
	struct quota_hit quota;

	return limits_exceeded(&q->limits, &q->use, work->user, work->group, &work->asks, &limit) ||
	       quota_exceeded(&v->world->queues, q, &work->asks, &quota);
}

static void help_held(const struct why_view *v, struct sbuf *out)
{
	/* No command knows of the system's: whoever set it takes the whole annotation away. */
	static const struct {
		unsigned holds;
		const char *before, *after;
	} rows[] = { { HOLD_USER, "`stoker release ", "` releases it" },
		     { HOLD_OPERATOR, "an operator: `stoker release --operator ", "` releases it" },
		     { HOLD_SYSTEM, "an admin: `kubectl annotate ", " " HOLD_ANNOTATION "-` releases it" } };
	unsigned holds = v->work->holds;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (holds & rows[i].holds) {
			begin(out);
			sbuf_adds(out, rows[i].before);
			say_source(v, rows[i].holds, out);
			sbuf_adds(out, rows[i].after);
		}
	if (holds & HOLD_AFTER && v->work->stuck) {
		help_stuck(v, out);
	} else if (holds & HOLD_AFTER) {
		begin(out);
		sbuf_adds(out, "it goes on by itself when what it waits for has ended as it asked");
		sbuf_adds(out, v->work->not_before_ms > v->now_ms ? " and its time has come" : "");
	}
	if (holds & HOLD_SLOT && !is_full(v)) {
		begin(out);
		sbuf_adds(out, "a higher slot limit lets more of its array run at a time");
	}
	if (holds & HOLD_MEMBERS) {
		begin(out);
		sbuf_addf(out, "`stoker events` shows why pods of it could not be made");
	}
	if (v->work->not_before_ms > v->now_ms)
		help_not_before(v, out);
}

/* ---- queues ---- */

/* A queue that would take it, whoever asks, and start it. */
static const struct queue *other_queue(const struct why_view *v)
{
	const struct queue *found = NULL;
	size_t pos = 0;
	void *q;

	while (map_next(&v->world->queues, &pos, NULL, &q)) {
		const struct queue *one = q;

		if (one != v->work->queue && one->exists && one->enabled && one->started && one->open &&
		    (!found || strcmp(one->name, found->name) < 0))
			found = one;
	}
	return found;
}

static void help_move(const struct why_view *v, struct sbuf *out)
{
	const struct queue *q = other_queue(v);

	if (!q)
		return;
	begin(out);
	if (!v->pbs)
		sbuf_addf(out, "`kubectl label pod %s -n %s --overwrite %s=%s`", v->pod, v->ns, QUEUE_LABEL, q->name);
	else if (!v->pbs[strspn(v->pbs, "0123456789[]'")])
		sbuf_addf(out, "`qmove %s %s`", q->name, v->pbs);
	else
		sbuf_addf(out, "`kubectl patch pbsjob %s -n %s --type merge -p '{\"spec\":{\"queue\":\"%s\"}}'`",
			  v->pbs, v->ns, q->name);
	sbuf_addf(out, " moves it to queue %s", q->name);
}

static void help_stopped(const struct why_view *v, struct sbuf *out)
{
	begin(out);
	sbuf_addf(out, "an admin: `kubectl patch queue %s --type merge -p '{\"spec\":{\"started\":true}}'` starts it",
		  v->work->queue->name);
	help_move(v, out);
}

static void help_limit(const struct why_view *v, struct sbuf *out)
{
	const struct limit_hit *h = &v->work->hit;
	int64_t left = h->most - h->used;
	struct limit_hit never;
	bool ever = !limits_impossible(&v->work->queue->limits, &v->work->asks, &never);
	static const size_t resources[LIMIT__COUNT] = {
		[LIMIT_GPUS] = RESOURCE_GPU, [LIMIT_CPUS] = RESOURCE_CPU, [LIMIT_MEMORY] = RESOURCE_MEMORY
	};

	if (!ever)
		left = never.most;
	if ((ever ? h : &never)->of >= LIMIT_GPUS && left > 0) {
		begin(out);
		sbuf_adds(out, "ask for at most ");
		space_amount_text(world_space(v->world), resources[(ever ? h : &never)->of], left, out);
		sbuf_adds(out, ever ? " in all, which is within the limit" : " in all");
	}
	begin(out);
	if (ever)
		sbuf_adds(out, h->scope == LIMIT_PER_USER ? "it goes on when other work of that user ends"
							  : "it goes on when other work of the queue ends");
	else
		sbuf_addf(out, "an admin raises spec.limits of queue %s", v->work->queue->name);
	if (!ever)
		help_move(v, out);
}

static void help_share(const struct why_view *v, struct sbuf *out)
{
	begin(out);
	sbuf_addf(out,
		  "an admin: `kubectl patch queue %s --type merge -p '{\"spec\":{\"borrowing\":true}}'` lets it "
		  "use what others leave idle",
		  v->work->queue->name);
	help_move(v, out);
}

static void help_quota(const struct why_view *v, struct sbuf *out)
{
	const struct queue *q = v->work->queue;
	struct quota_hit never;

	if (quota_impossible(&v->world->queues, q, &v->work->asks, &never)) {
		if (never.most > 0) {
			begin(out);
			sbuf_adds(out, "ask for at most ");
			limit_amount_text(never.of, never.most, out);
		}
		begin(out);
		sbuf_addf(out, "an admin raises spec.%s of queue %s",
			  never.what == QUOTA_BORROWED ? "borrowingLimit" : "quota", q->name);
		help_move(v, out);
		return;
	}
	begin(out);
	sbuf_adds(out, v->work->quota.what == QUOTA_COHORT ? "it goes on when other work of the cohort ends"
							   : "it goes on when other work of the queue ends");
	/* With more of it, or elsewhere, it would wait too. */
	if (world_room(v->world, v->work, v->now_ms, work_end(v->work, v->now_ms), true) < work_needs(v->work))
		return;
	begin(out);
	sbuf_addf(out, "an admin raises spec.%s of queue %s",
		  v->work->quota.what == QUOTA_BORROWED ? "borrowingLimit" : "quota", q->name);
	help_move(v, out);
}

/* ---- room ---- */

static void help_ask_less(const struct why_view *v, const struct shape *sh, struct sbuf *out)
{
	struct shortage s;

	world_shortage(v->world, v->work, (struct shape *)sh, v->now_ms, true, &s);
	if ((s.what != SHORT_OF_AMOUNT && s.what != SHORT_OF_TOGETHER) || !s.instead)
		return;
	begin(out);
	sbuf_adds(out, "ask for ");
	space_amount_text(world_space(v->world), s.resource, s.instead, out);
	sbuf_adds(out, " instead");
}

/* A gang with room for a part of it. */
static void help_fewer(const struct why_view *v, struct sbuf *out)
{
	size_t room = world_room(v->world, v->work, v->now_ms, work_end(v->work, v->now_ms), true);

	if (!room)
		return;
	begin(out);
	sbuf_addf(out, "with %zu %s instead of %zu it could start now", room, room == 1 ? "pod" : "pods",
		  v->work->size);
}

static void help_walltime(const struct why_view *v, struct sbuf *out)
{
	const struct limit_turn *turn = limit_kept_for(v->work, v->now_ms);
	int64_t longest = turn ? turn->at_ms - v->now_ms : world_longest(v->world, v->work, v->now_ms);
	bool has = work_walltime(v->work) != WALLTIME_NONE;

	if (longest < 1000 ||
	    (turn && world_room(v->world, v->work, v->now_ms, turn->at_ms, true) < work_needs(v->work)))
		return;
	begin(out);
	sbuf_adds(out, has ? "give a shorter walltime: a job of at most " : "give a walltime: a job of at most ");
	say_span(longest, out);
	sbuf_adds(out, " could start now");
}

/* "zone=b" is a label as it is, "large" one that is true. */
static void help_property(const struct why_view *v, const char *property, struct sbuf *out)
{
	begin(out);
	sbuf_addf(out, "an admin: `kubectl label node NAME %s%s` gives it to a node", property,
		  strchr(property, '=') ? "" : "=true");
	help_move(v, out);
}

/* A node that would take it is closed. */
static bool help_closed(const struct why_view *v, struct shape *sh, struct sbuf *out)
{
	const struct node *n = space_closed(world_space(v->world), sh);

	if (!n)
		return false;
	begin(out);
	if (node_is_cordoned(n))
		sbuf_addf(out, "an admin: `stoker drain %s --undo` lets pods start on node %s again", node_name(n),
			  node_name(n));
	else
		sbuf_addf(out, "node %s could take it but is not ready: `stoker describe node/%s` says why",
			  node_name(n), node_name(n));
	return true;
}

/* Nodes that do not take it would make enough. */
static bool help_refusing(const struct why_view *v, struct shape *sh, struct sbuf *out)
{
	int64_t most = too_few_places(v, sh);

	if (!most)
		return false;
	begin(out);
	sbuf_addf(out,
		  "ask for at most %lld %s instead of %zu; or `kubectl describe nodes` shows the labels and taints of "
		  "the others",
		  (long long)most, most == 1 ? "pod" : "pods", v->work->size);
	return true;
}

/* Whether it is GPUs that it waits for, or they too. */
static bool lacks_gpus(const struct why_view *v, struct shape *sh)
{
	struct shortage s;

	if (!shape_wants(sh, RESOURCE_GPU))
		return false;
	world_shortage(v->world, v->work, sh, v->now_ms, true, &s);
	return s.what != SHORT_OF_AMOUNT || s.also || s.resource == RESOURCE_GPU;
}

static void help_no_room(const struct why_view *v, struct sbuf *out)
{
	auto_sbuf struct sbuf ignored = SBUF(1024);
	const struct work *work = v->work;
	bool gang = work->size > 1 && !work_has_begun(work);
	struct shape *sh = shape_in_need(v->world, v->work);
	const char *missing = missing_property(v);

	if (!missing && sh && (lacks_nodes(v, sh) || say_too_much(v, &ignored)) && help_closed(v, sh, out))
		return;
	if (missing)
		help_property(v, missing, out);
	else if (gang && sh && !help_refusing(v, sh, out))
		help_fewer(v, out);
	else if (sh)
		help_ask_less(v, sh, out);
	if (!missing && sh && lacks_gpus(v, sh) && !say_too_much(v, &ignored)) {
		begin(out);
		sbuf_adds(out, "`stoker gpus` shows who has the GPUs");
	}
	if (world_budgets_forbid(v->world, v->work, v->now_ms)) {
		begin(out);
		sbuf_adds(out, "`kubectl get pdb` shows how many pods each budget lets go");
	}
}

static void help_reserved(const struct why_view *v, struct sbuf *out)
{
	const struct reservation *r = world_barrier(v->world, v->work, v->now_ms);

	help_walltime(v, out);
	if (limit_kept_for(v->work, v->now_ms))
		return;
	if (work_is_alone(v->work) && work_walltime(v->work) == WALLTIME_NONE)
		help_ask_less(v, v->work->members[0].seat.shape, out);
	if (r && r->block) {
		begin(out);
		sbuf_addf(out, "an admin: `stoker reserve delete %s` gives that room to everyone again", r->block->key);
	}
}

/* Whether it wants a part of a GPU where nobody shares any. */
static bool wants_shared(const struct why_view *v)
{
	const struct work *work = v->work;

	for (size_t i = 0; i < work->n; i++)
		if (shape_wants(work->members[i].seat.shape, RESOURCE_GPU_MEMORY) > 0)
			return space_total(world_space(v->world), RESOURCE_GPU_MEMORY) == 0;
	return false;
}

/* Whether it wants GPUs of a model, or with memory, that none has. */
static bool names_no_card(const struct why_view *v)
{
	const struct work *work = v->work;

	for (size_t i = 0; i < work->n; i++)
		if (!space_has_card(world_space(v->world), work->members[i].seat.shape))
			return true;
	return false;
}

/* By what an admin wrote on every node, not by its size. */
static bool refused_by_all(const struct why_view *v)
{
	const struct work *work = v->work;

	for (size_t i = 0; i < work->n; i++)
		if (!work->members[i].seat.node && space_refused(world_space(v->world), work->members[i].seat.shape))
			return true;
	return false;
}

static void help_impossible(const struct why_view *v, struct sbuf *out)
{
	const struct work *work = v->work;
	bool too_many = work_exceeds_machine(world_space(v->world), work) != SIZE_MAX;
	int64_t most =
		too_many && members_alike(work) ? space_holds(world_space(v->world), work->members[0].seat.shape) : 0;

	if (wants_shared(v)) {
		begin(out);
		sbuf_adds(out, "an admin: `stoker serve --share-gpus 0,1` (or all) says which GPUs pods may share; or "
			       "ask for whole GPUs (nvidia.com/gpu)");
		return;
	}
	if (names_no_card(v)) {
		begin(out);
		sbuf_adds(out, "`stoker gpus` shows which GPUs there are");
		return;
	}
	if (!too_many && refused_by_all(v)) {
		begin(out);
		sbuf_adds(out, "tolerate the taint, or ask for labels that a node has (nodeSelector, nodeAffinity)");
	} else if (!too_many) {
		begin(out);
		sbuf_adds(out, "ask for no more than the largest node has, or split it into several pods");
	} else if (most > 0) {
		begin(out);
		sbuf_addf(out, "ask for at most %lld %s instead of %zu", (long long)most, most == 1 ? "pod" : "pods",
			  work->size);
	}
	begin(out);
	sbuf_adds(out, refused_by_all(v) ? "`kubectl describe nodes` shows their labels and taints"
					 : "`stoker describe node/NAME` shows what a node has");
}

void why_help(const struct why_view *v, struct sbuf *out)
{
	static void (*const helps[CASE__COUNT])(const struct why_view *v, struct sbuf *out) = {
		[CASE_HELD] = help_held,
		[CASE_NOT_BEFORE] = help_not_before,
		[CASE_STOPPED] = help_stopped,
		[CASE_NO_QUEUE] = help_move,
		[CASE_LIMIT] = help_limit,
		[CASE_SHARE] = help_share,
		[CASE_QUOTA] = help_quota,
		[CASE_NO_ROOM] = help_no_room,
		[CASE_IMPOSSIBLE] = help_impossible,
		[CASE_RESERVED] = help_reserved,
	};
	enum why_case c = why_case(v);

	if (helps[c])
		helps[c](v, out);
}
