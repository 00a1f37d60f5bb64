// SPDX-License-Identifier: Apache-2.0
/* why_room.c - no room: what is lacking, and who has it, in words */
#include "base/mem.h"
#include "sched/parts.h"
#include "sched/why_parts.h"
#include "sched/world_parts.h"

/* ---- who has it ---- */

static bool has_some(const struct why_view *v, const struct work *other, size_t resource)
{
	(void)v;
	for (size_t i = 0; i < other->n; i++)
		if (other->members[i].seat.node && shape_wants(other->members[i].seat.shape, resource) > 0)
			return true;
	return false;
}

/* ---- what is lacking ---- */

static void say_free(const struct shortage *s, struct sbuf *out)
{
	bool plural = s->resource == RESOURCE_GPU || s->resource == RESOURCE_CPU || s->resource == RESOURCE_PODS ||
		      s->resource == RESOURCE_GPU_MEMORY;
	int64_t one = s->resource == RESOURCE_CPU ? 1000 : 1;

	if (!s->most) {
		sbuf_adds(out, s->nodes > 1 ? ", no node has any free" : ", none is free");
		return;
	}
	sbuf_adds(out, s->nodes > 1 ? ", the best has " : ", ");
	space_number_text(s->resource, s->most, out);
	sbuf_adds(out, s->resource == RESOURCE_GPU_MEMORY ? " MiB" : "");
	sbuf_adds(out, s->nodes > 1 ? " free" : plural && s->most != one ? " are free" : " is free");
}

static void say_amount(const struct why_view *v, const struct shape *sh, const struct shortage *s, struct sbuf *out)
{
	if (s->resource == RESOURCE_NODE) {
		sbuf_adds(out, s->wanted > 1 ? "a node for itself, and none is empty"
					     : "a node that no other pod has for itself, and there is none");
		return;
	}
	space_amount_text(world_space(v->world), s->resource, s->wanted, out);
	if (s->resource == RESOURCE_GPU || s->resource == RESOURCE_GPU_MEMORY)
		shape_cards_text(sh, out);
	if (s->resource != RESOURCE_GPU_MEMORY)
		sbuf_adds(out, " on one node");
	say_free(s, out);
	if (s->also)
		sbuf_addf(out, " (and %zu other %s short)", s->also, s->also == 1 ? "resource is" : "resources are");
}

/* "4 GPUs and 8 CPUs on one node; n1, the nearest, has only 2 CPUs free" */
static void say_together(const struct why_view *v, const struct shape *sh, const struct shortage *s, struct sbuf *out)
{
	const struct space *space = world_space(v->world);
	size_t n = 0;

	for (size_t r = 0; r < sh->wants.n; r++)
		if (sh->wants.v[r] > 0 && !shape_is_silent(sh, r)) {
			sbuf_adds(out, n++ ? " and " : "");
			space_amount_text(space, r, sh->wants.v[r], out);
		}
	sbuf_addf(out, " on one node; %s, the nearest to it, ", node_name(s->node));
	if (s->resource == RESOURCE_NODE) {
		sbuf_adds(out, s->wanted > 1 ? "is not empty" : "has a pod that has it for itself");
		return;
	}
	sbuf_adds(out, "has only ");
	space_amount_text(space, s->resource, s->most, out);
	sbuf_adds(out, " free");
}

static void say_ports(const struct shape *sh, struct sbuf *out)
{
	sbuf_adds(out, sh->nports == 1 ? "host port" : "host ports");
	for (size_t i = 0; i < sh->nports; i++)
		sbuf_addf(out, "%s %d", i ? "," : "", sh->ports[i].port);
	sbuf_adds(out, sh->nports == 1 ? ", which is taken on every node" : ", not all of which are free on one node");
}

static void say_as_kubernetes(const struct why_view *v, struct shape *sh, struct sbuf *out)
{
	sbuf_adds(out, space_why(world_space(v->world), sh));
	while (out->n && out->p[out->n - 1] == '.')
		out->p[--out->n] = '\0';
}

const char *missing_property(const struct why_view *v)
{
	const struct space *space = world_space(v->world);
	char **property = v->work->queue->properties;

	for (; property && *property; property++) {
		bool there = false;

		for (size_t i = 0; i < space_node_slots(space) && !there; i++)
			there = space_node_at(space, i) && node_has_property(space_node_at(space, i), *property);
		if (!there)
			break;
	}
	return property ? *property : NULL;
}

static void say_no_nodes(const struct why_view *v, struct shape *sh, struct sbuf *out)
{
	const struct queue *q = v->work->queue;
	const char *missing = missing_property(v);

	if (missing) {
		sbuf_addf(out, "queue %s uses only nodes with property %s, which no node has", q->name, missing);
		return;
	}
	if (q->properties)
		sbuf_addf(out, "no node with the properties of queue %s takes it: ", q->name);
	say_as_kubernetes(v, sh, out);
}

/* What one pod of it lacks; the resource, or SIZE_MAX. */
static size_t say_shortage(const struct why_view *v, struct shape *sh, const char *who, struct sbuf *out)
{
	struct shortage s;

	world_shortage(v->world, v->work, sh, v->now_ms, false, &s);
	if (s.what != SHORT_OF_NODES && s.what != SHORT_OF_NEIGHBOURS)
		sbuf_addf(out, "%sneeds ", who);
	switch (s.what) {
	case SHORT_OF_AMOUNT:
		say_amount(v, sh, &s, out);
		return s.resource;
	case SHORT_OF_TOGETHER:
		say_together(v, sh, &s, out);
		return s.resource;
	case SHORT_OF_PORTS:
		say_ports(sh, out);
		break;
	case SHORT_OF_NOTHING:
		sbuf_adds(out, "no more than there is");
		break;
	case SHORT_OF_NODES:
		say_no_nodes(v, sh, out);
		break;
	case SHORT_OF_NEIGHBOURS:
		say_as_kubernetes(v, sh, out);
	}
	return SIZE_MAX;
}

bool lacks_nodes(const struct why_view *v, struct shape *sh)
{
	struct shortage s;

	world_shortage(v->world, v->work, sh, v->now_ms, false, &s);
	return s.what == SHORT_OF_NODES;
}

/* ---- gangs ---- */

bool members_alike(const struct work *work)
{
	for (size_t i = 1; i < work->n; i++)
		if (work->members[i].seat.shape->core != work->members[0].seat.shape->core)
			return false;
	return true;
}

/* What it is mainly about: GPUs if it wants any, else processors. */
static size_t main_resource(const struct work *work)
{
	return work_wants(work, RESOURCE_GPU) ? RESOURCE_GPU : RESOURCE_CPU;
}

/* Of all nodes, or, if the others would be enough, of those that are open. */
static void say_all_need(const struct why_view *v, size_t resource, int64_t have, struct sbuf *out)
{
	const struct space *space = world_space(v->world);
	bool open = have < space_whole(space, resource);

	sbuf_adds(out, "needs ");
	space_amount_text(space, resource, work_wants(v->work, resource), out);
	sbuf_addf(out, " for its %zu pods at once, %s together have ", v->work->size,
		  open ? "the nodes that take pods now" : "all nodes");
	space_number_text(resource, have, out);
}

bool say_too_much(const struct why_view *v, struct sbuf *out)
{
	const struct space *space = world_space(v->world);

	for (size_t r = 0; v->work->size > 1 && !work_has_begun(v->work) && r < space_resources(space); r++) {
		/* Of more members than must start at once nobody knows which. */
		if (v->work->n > v->work->size || r == RESOURCE_PODS || work_wants(v->work, r) <= space_total(space, r))
			continue;
		say_all_need(v, r, space_total(space, r), out);
		return true;
	}
	return false;
}

int64_t too_few_places(const struct why_view *v, const struct shape *sh)
{
	int64_t most = members_alike(v->work) ? space_holds(world_space(v->world), sh) : 0;

	return most < (int64_t)v->work->size ? most : 0;
}

/* No pod of it finds room, for lack of what it is mainly about. */
static bool lacks_main(const struct why_view *v, struct shape *sh)
{
	struct shortage s;

	world_shortage(v->world, v->work, sh, v->now_ms, false, &s);
	return members_alike(v->work) && s.what == SHORT_OF_AMOUNT && s.resource == main_resource(v->work);
}

/* How much room there is for it; if nodes would be too few even when they are empty, so many places they have. */
static size_t say_part(const struct why_view *v, size_t room, struct sbuf *out)
{
	const struct work *work = v->work;
	size_t resource = main_resource(work);
	bool alike = members_alike(work);
	int64_t each = shape_wants(work->members[0].seat.shape, resource);
	int64_t most = too_few_places(v, work->members[0].seat.shape);

	sbuf_addf(out, "needs room for %zu pods at once", work->size);
	if (alike ? each : work_wants(work, resource)) {
		sbuf_adds(out, alike ? " with " : " (");
		space_amount_text(world_space(v->world), resource, alike ? each : work_wants(work, resource), out);
		sbuf_adds(out, alike ? " each" : " in all)");
	}
	if (most) {
		sbuf_addf(out, ", and nodes that take such pods have room for %lld when they are empty",
			  (long long)most);
		return SIZE_MAX;
	}
	sbuf_adds(out, room ? ", there is room for " : ", there is room for none");
	if (room)
		sbuf_addf(out, "%zu", room);
	return resource;
}

void say_no_room(const struct why_view *v, struct sbuf *out)
{
	const struct work *work = v->work;
	size_t room = world_room(v->world, work, v->now_ms, TIME_UNKNOWN, false);
	struct shape *sh = shape_in_need(v->world, work);
	bool gang = work->size > 1 && !work_has_begun(work);
	size_t resource = SIZE_MAX;

	if (say_too_much(v, out))
		return;
	if (work_has_begun(work))
		sbuf_addf(out, "%zu of its %zu pods run; another ", work->nseated, work->n);
	if (gang && (room || (sh && lacks_main(v, sh))))
		resource = say_part(v, room, out);
	else if (sh)
		resource = say_shortage(v, sh, gang ? "a pod of it " : "", out);
	if (world_budgets_forbid(v->world, v->work, v->now_ms))
		sbuf_adds(out, "; a PodDisruptionBudget protects the work of a lower priority that could make room");
	/* Nobody's end brings nodes, or neighbours. */
	if (resource != SIZE_MAX || v->expected_ms != TIME_UNKNOWN)
		say_when(v, resource == SIZE_MAX ? NULL : &(struct in_the_way){ has_some, resource }, out);
}

void say_impossible(const struct why_view *v, struct sbuf *out)
{
	const struct work *work = v->work;
	const struct space *space = world_space(v->world);
	size_t exceeded = work_exceeds_machine(space, work);

	if (exceeded != SIZE_MAX)
		say_all_need(v, exceeded, space_whole(space, exceeded), out);
	for (size_t i = 0; exceeded == SIZE_MAX && i < work->n; i++)
		if (!work->members[i].seat.node &&
		    !space_possible(world_space(v->world), work->members[i].seat.shape, out))
			break;
	sbuf_adds(out, ": it can never start here");
}

void say_block(const struct block *b, const struct work *work, int64_t now_ms, struct sbuf *out)
{
	sbuf_addf(out, "for reservation %s ", b->key);
	if (b->start_ms > now_ms) {
		sbuf_adds(out, "from ");
		say_time(b->start_ms, now_ms, out);
		sbuf_adds(out, b->end_ms == TIME_UNKNOWN ? " on" : " to ");
		if (b->end_ms != TIME_UNKNOWN)
			say_time(b->end_ms, now_ms, out);
		sbuf_adds(out, work_walltime(work) == WALLTIME_NONE ? ", and it says no walltime"
								    : ", and its walltime is longer");
	} else if (b->end_ms != TIME_UNKNOWN) {
		sbuf_adds(out, "until ");
		say_time(b->end_ms, now_ms, out);
	} else {
		sbuf_adds(out, "until that is deleted");
	}
}

/* "for job big, which starts by 11:00 and ends by 12:00 at the latest" */
static void say_kept_for(const struct why_view *v, const struct reservation *r, struct sbuf *out)
{
	bool then = v->after == r->work && v->expected_ms != TIME_UNKNOWN;

	sbuf_adds(out, "for ");
	say_other(v, r->work, out);
	if (r->start_ms == TIME_UNKNOWN) {
		sbuf_adds(out, ", which has waited for long");
	} else {
		sbuf_adds(out, ", which starts by ");
		say_time(r->start_ms, v->now_ms, out);
		if (then) {
			sbuf_adds(out, " and ends by ");
			say_time(v->expected_ms, v->now_ms, out);
		}
		sbuf_adds(out, " at the latest");
	}
	if (!then)
		say_when(v, NULL, out);
}

void say_reserved(const struct why_view *v, struct sbuf *out)
{
	const struct reservation *r = world_barrier(v->world, v->work, v->now_ms);
	const struct limit_turn *turn = limit_kept_for(v->work, v->now_ms);

	if (turn) {
		sbuf_addf(out, "what the limits of queue %s leave is kept for ", v->work->queue->name);
		say_other(v, turn->work, out);
		sbuf_adds(out, ", which has waited long and for which there is enough by ");
		say_time(turn->at_ms, v->now_ms, out);
		say_when(v, NULL, out);
		return;
	}
	sbuf_adds(out, "there is room for it, but that is kept ");
	if (r && r->work) {
		say_kept_for(v, r, out);
		return;
	}
	if (r && r->block)
		say_block(r->block, v->work, v->now_ms, out);
	else
		sbuf_adds(out, "for work before it");
	/* When the reservation ends has been said. */
	if (!r || v->expected_ms == TIME_UNKNOWN || v->expected_ms != r->block->end_ms)
		say_when(v, NULL, out);
}
