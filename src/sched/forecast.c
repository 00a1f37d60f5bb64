// SPDX-License-Identifier: Apache-2.0
/* forecast.c - see forecast.h
 *
 * Between two steps the true world goes on, so nothing of it is kept but keys; a work that has gone by the time it
 * would be copied is left out.
 */
#include "sched/forecast.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/parts.h"
#include "sched/pod_work.h"
#include "sched/sim.h"
#include "sched/world_parts.h"

#define ASK_EVERY    16   /* copies between two questions whether to stop */
#define PLACES_LEAST 4000 /* takes a few milliseconds */

/* One in line. */
struct place {
	char *key;
	size_t position; /* in its queue */
	int64_t start_ms;
	char *after;  /* ends then; NULL */
	bool endless; /* has no walltime */
	bool gpus;    /* wants some */
};

/* An answer, whole or growing. */
struct outlook {
	int64_t made_ms;
	struct place *places;
	size_t n, cap;
	struct map by_key; /* -> index + 1 */
};

/* A work in the second world. */
struct copy {
	struct sim_job job;
	char *key, *queue, *user, *group;
	size_t place; /* its index, SIZE_MAX: it runs */
};

enum stage { STAGE_NONE, STAGE_NODES, STAGE_WORKS, STAGE_RUN, STAGE_CLEAR };

struct forecast {
	struct forecast_source source;
	struct outlook *last, *next;
	bool old;
	/* The one under way. */
	enum stage stage;
	struct world *world;
	struct sim *sim;
	size_t node_at;
	char **running; /* keys */
	size_t nrunning, cap_running;
	size_t works_at;
	struct copy **copies;
	size_t ncopies, cap_copies;
	size_t *waiting; /* indexes of copies that have not started */
	size_t nwaiting, cap_waiting;
	unsigned moments;  /* of this step */
	struct map shapes; /* of the true world, by address -> of the second */
	bool (*stop)(void *arg);
	void *stop_arg;
};

/* ---- the line ---- */

static void outlook_free(struct outlook *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++) {
		free(o->places[i].key);
		free(o->places[i].after);
	}
	free(o->places);
	map_done(&o->by_key);
	free(o);
}

static bool is_over(const struct forecast *f, size_t n)
{
	return n % ASK_EVERY == 0 && f->stop && f->stop(f->stop_arg);
}

struct walk {
	struct outlook *outlook;
	struct map counts; /* queue -> so many */
	const struct forecast *forecast;
};

static bool see_place(void *arg, struct work *work, size_t position)
{
	struct walk *walk = arg;
	struct outlook *o = walk->outlook;
	size_t n = (size_t)map_find(&walk->counts, work->queue->name);

	/* It cannot be walked in steps, so it ends when time is up. */
	if (position > FORECAST_PLACE || (o->n >= PLACES_LEAST && is_over(walk->forecast, position)))
		return false;
	/* What has begun stands in front of everyone, but is not one who waits. */
	if (work_has_begun(work))
		return true;
	map_set(&walk->counts, work->queue->name, (void *)++n);
	ARRAY_PUSH(o->places, o->n, o->cap,
		   ((struct place){ .key = xstrdup(work->key), .position = n, .start_ms = TIME_UNKNOWN }));
	map_set(&o->by_key, work->key, (void *)o->n);
	return true;
}

static struct outlook *walk_line(const struct forecast *f, int64_t now_ms)
{
	struct walk walk = { .outlook = xcalloc(1, sizeof(struct outlook)), .forecast = f };

	walk.outlook->made_ms = now_ms;
	map_init(&walk.outlook->by_key, NULL);
	map_init(&walk.counts, NULL);
	world_each_waiting(f->source.world, see_place, &walk);
	map_done(&walk.counts);
	return walk.outlook;
}

/* ---- the second world ---- */

static bool see_running(void *arg, struct work *work)
{
	struct forecast *f = arg;

	ARRAY_PUSH(f->running, f->nrunning, f->cap_running, xstrdup(work->key));
	return true;
}

static void drop_shapes(struct forecast *f)
{
	size_t pos = 0;
	void *shape;

	while (map_next(&f->shapes, &pos, NULL, &shape))
		space_shape_unref(world_space(f->world), shape);
	map_done(&f->shapes);
	map_init(&f->shapes, NULL);
}

static void copy_free(struct copy *c)
{
	free(c->key);
	free(c->queue);
	free(c->user);
	free(c->group);
	free(c);
}

static void end_build(struct forecast *f)
{
	sim_free(f->sim);
	f->sim = NULL;
	if (f->world)
		drop_shapes(f);
	world_free(f->world);
	f->world = NULL;
	for (size_t i = 0; i < f->nrunning; i++)
		free(f->running[i]);
	for (size_t i = 0; i < f->ncopies; i++)
		copy_free(f->copies[i]);
	f->nrunning = f->ncopies = f->nwaiting = f->works_at = f->node_at = 0;
	f->stage = STAGE_NONE;
}

static void copy_queues(struct forecast *f)
{
	const json_t *queue;
	size_t pos = 0;

	world_pbs_same(f->world, f->source.world);
	world_queue(f->world, QUEUE_DEFAULT, NULL);
	while (f->source.next_queue(f->source.arg, &pos, &queue))
		world_queue(f->world, jsonx_str_or(queue, "metadata.name", ""), json_object_get(queue, "spec"));
}

static void copy_blocks(struct forecast *f)
{
	const struct world *w = f->source.world;

	for (size_t i = 0; i < w->nblocks; i++)
		world_block_for(f->world, &w->blocks[i]);
}

static void begin_build(struct forecast *f, int64_t now_ms)
{
	json_auto_t *use = NULL;

	end_build(f);
	f->old = false;
	outlook_free(f->next);
	f->next = walk_line(f, now_ms);
	world_each_running(f->source.world, see_running, f);
	f->world = world_new(&f->source.config);
	copy_queues(f);
	copy_blocks(f);
	/* As they are now: what they will allow then nobody knows. */
	world_set_budgets(f->world, f->source.world->may_evict, f->source.world->evict_arg);
	space_copy_namespaces(world_space(f->world), world_space(f->source.world));
	use = fair_save(world_fair(f->source.world));
	fair_load(world_fair(f->world), use, now_ms);
	f->sim = sim_new(f->world, now_ms);
	f->stage = STAGE_NODES;
}

static bool copy_nodes(struct forecast *f)
{
	const json_t *node;

	for (size_t n = 1; f->source.next_node(f->source.arg, &f->node_at, &node); n++) {
		world_set_node(f->world, node);
		if (is_over(f, n))
			return false;
	}
	f->stage = STAGE_WORKS;
	f->node_at = space_node_slots(world_space(f->world)); /* from there on down they go again */
	return true;
}

/* Pods that ask for the same share a shape there too.  NULL if the pod has gone. */
static struct shape *copy_shape(struct forecast *f, const struct member *m)
{
	char address[32];
	struct shape *shape;
	const json_t *pod;

	snprintf(address, sizeof(address), "%p", (const void *)m->seat.shape);
	shape = map_find(&f->shapes, address);
	if (!shape) {
		pod = f->source.pod(f->source.arg, m->id);
		if (!pod)
			return NULL;
		shape = space_shape(world_space(f->world), pod);
		map_set(&f->shapes, address, shape);
	}
	return shape_ref(shape);
}

static void copy_members(struct forecast *f, const struct work *from, struct work *to)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct member *m = &from->members[i];
		struct shape *shape = copy_shape(f, m);

		if (!shape)
			continue;
		work_member(f->world, to, m->id, shape);
		if (m->seat.node)
			work_bound(f->world, to, m->id, node_name(m->seat.node), m->seat.cards, from->started_ms);
	}
}

/* Should it be evicted on the way, it asks for the most that any of its pods asks for. */
static struct sim_job job_of(const struct copy *c, const struct work *work, int64_t now_ms)
{
	int64_t wall = work_walltime(work);
	struct sim_job j = {
		.key = c->key,
		.queue = c->queue,
		.user = c->user,
		.group = c->group,
		.submit_ms = work->submitted_ms,
		.run_ms = wall == WALLTIME_NONE ? TIME_UNKNOWN : wall,
		.walltime_ms = work->walltime_ms,
		.priority = work->priority,
		.members = work->n,
		.end_ms = work_ends_by(work, now_ms),
	};

	for (size_t i = 0; i < work->n; i++) {
		const struct shape *sh = work->members[i].seat.shape;
		int64_t *const to[] = { &j.cpu_milli, &j.memory, &j.gpus };
		static const size_t from[] = { RESOURCE_CPU, RESOURCE_MEMORY, RESOURCE_GPU };

		for (size_t k = 0; k < ARRAY_SIZE(to); k++)
			if (shape_wants(sh, from[k]) > *to[k])
				*to[k] = shape_wants(sh, from[k]);
	}
	return j;
}

static void copy_work(struct forecast *f, const char *key, size_t place)
{
	const struct work *from = world_find(f->source.world, key);
	struct copy *c;
	struct work *to;

	if (!from)
		return;
	to = world_work(f->world, &(struct work_facts){
					  .key = from->key,
					  .queue = from->queue->name,
					  .user = from->user,
					  .group = from->group,
					  .priority = from->priority,
					  .submitted_ms = from->submitted_ms,
					  .not_before_ms = from->not_before_ms,
					  .walltime_ms = from->walltime_ms,
					  .holds = from->holds & ~(unsigned)HOLD_MEMBERS,
					  .may_preempt = from->may_preempt,
					  .may_requeue = from->may_requeue,
					  .size = from->size,
					  .pbs = from->pbs,
					  .run_now = from->run_now,
					  .own = from->turn.own,
					  .place = from->turn.age,
				  });
	copy_members(f, from, to);
	c = xcalloc(1, sizeof(*c));
	*c = (struct copy){ .key = xstrdup(from->key),
			    .queue = xstrdup(from->queue->name),
			    .user = xstrdup(from->user),
			    .group = xstrdup(from->group),
			    .place = place };
	c->job = job_of(c, from, f->next->made_ms);
	ARRAY_PUSH(f->copies, f->ncopies, f->cap_copies, c);
	sim_adopt(f->sim, to, &c->job);
	if (place == SIZE_MAX || work_has_begun(to))
		return;
	ARRAY_PUSH(f->waiting, f->nwaiting, f->cap_waiting, f->ncopies - 1);
	f->next->places[place].endless = c->job.run_ms == TIME_UNKNOWN;
	f->next->places[place].gpus = c->job.gpus > 0;
}

/* First what runs, then what waits, in order: so ages are as they were. */
static bool copy_works(struct forecast *f)
{
	size_t most = f->next->n < FORECAST_MOST ? f->next->n : FORECAST_MOST;

	/* Since the last step addresses may have become others'. */
	drop_shapes(f);
	while (f->works_at < f->nrunning + most) {
		size_t at = f->works_at++;

		if (at < f->nrunning)
			copy_work(f, f->running[at], SIZE_MAX);
		else
			copy_work(f, f->next->places[at - f->nrunning].key, at - f->nrunning);
		if (is_over(f, f->works_at))
			return false;
	}
	f->stage = STAGE_RUN;
	return true;
}

/* ---- time ---- */

/* Of what has just ended, that for which it waited most likely: if it wants GPUs, one that had some, of its queue
 * rather than of another. */
static const struct sim_job *cause_of(const struct forecast *f, const struct copy *c)
{
	const struct sim_job *const *ended;
	size_t n = sim_ended(f->sim, &ended);
	const struct sim_job *best = NULL;
	int most = -1;

	for (size_t i = 0; i < n; i++) {
		int marks = 2 * (!c->job.gpus || ended[i]->gpus > 0) + streq(ended[i]->queue, c->queue);

		if (marks <= most)
			continue;
		most = marks;
		best = ended[i];
	}
	return best;
}

/* Takes note of starts; false: stop here. */
static bool on_moment(void *arg, struct sim *s, int64_t now_ms)
{
	struct forecast *f = arg;

	(void)s;
	for (size_t i = f->nwaiting; i-- > 0;) {
		const struct copy *c = f->copies[f->waiting[i]];
		const struct sim_job *cause;

		if (c->job.start_ms == TIME_UNKNOWN)
			continue;
		cause = c->job.start_ms == now_ms ? cause_of(f, c) : NULL;
		f->next->places[c->place].start_ms = c->job.start_ms;
		f->next->places[c->place].after = cause ? xstrdup(cause->key) : NULL;
		f->waiting[i] = f->waiting[--f->nwaiting];
	}
	/* The first of a step is where the last step has stopped: from there time must go on. */
	return f->nwaiting && (f->moments++ == 0 || !f->stop || !f->stop(f->stop_arg));
}

/* What was started and evicted again counts from its first start: that is when its user sees it run. */
static bool run_on(struct forecast *f)
{
	struct sim_watch watch = { .moment = on_moment, .arg = f };

	f->moments = 0;
	sim_set_stop(f->sim, f->stop, f->stop_arg);
	if (f->nwaiting)
		sim_run(f->sim, TIME_UNKNOWN - 1, &watch);
	if (f->nwaiting && f->stop && f->stop(f->stop_arg))
		return false;
	f->stage = STAGE_CLEAR;
	outlook_free(f->last);
	f->last = f->next;
	f->next = NULL;
	return true;
}

/* A large world takes its time to go, too. */
static bool clear(struct forecast *f)
{
	for (size_t n = 1; f->ncopies; n++) {
		struct copy *c = f->copies[--f->ncopies];
		struct work *work = world_find(f->world, c->key);

		for (size_t left = work ? work->n : 0; left > 0; left--)
			work_gone(f->world, work, work->members[left - 1].id, 0);
		copy_free(c);
		if (is_over(f, n))
			return false;
	}
	for (size_t n = 1; f->node_at > 0; n++) {
		const struct node *node = space_node_at(world_space(f->world), --f->node_at);

		if (node)
			world_remove_node(f->world, node_name(node));
		if (is_over(f, n))
			return false;
	}
	end_build(f);
	return true;
}

bool forecast_step(struct forecast *f, int64_t now_ms, bool (*stop)(void *arg), void *arg)
{
	static bool (*const stages[])(struct forecast * f) = {
		[STAGE_NODES] = copy_nodes, [STAGE_WORKS] = copy_works, [STAGE_RUN] = run_on, [STAGE_CLEAR] = clear
	};

	f->stop = stop;
	f->stop_arg = arg;
	if (f->stage == STAGE_NONE)
		begin_build(f, now_ms);
	for (bool goes_on = true; goes_on && f->stage != STAGE_NONE;)
		goes_on = stages[f->stage](f);
	return f->stage == STAGE_NONE;
}

/* ---- life, and answers ---- */

struct forecast *forecast_new(const struct forecast_source *source)
{
	struct forecast *f = xcalloc(1, sizeof(*f));

	f->source = *source;
	f->old = true;
	map_init(&f->shapes, NULL);
	return f;
}

void forecast_free(struct forecast *f)
{
	if (!f)
		return;
	end_build(f);
	outlook_free(f->last);
	outlook_free(f->next);
	map_done(&f->shapes);
	free(f->running);
	free(f->copies);
	free(f->waiting);
	free(f);
}

void forecast_touch(struct forecast *f)
{
	f->old = true;
}

bool forecast_is_old(const struct forecast *f)
{
	return f->old;
}

bool forecast_is_busy(const struct forecast *f)
{
	return f->stage != STAGE_NONE;
}

/* The newest line there is. */
static const struct outlook *outlook_of(const struct forecast *f)
{
	return f->next ? f->next : f->last;
}

int64_t forecast_made_ms(const struct forecast *f)
{
	const struct outlook *o = outlook_of(f);

	return o ? o->made_ms : 0;
}

static const struct place *find_place(const struct outlook *o, const char *key)
{
	size_t at = o ? (size_t)map_find(&o->by_key, key) : 0;

	return at ? &o->places[at - 1] : NULL;
}

size_t forecast_position(const struct forecast *f, const char *key)
{
	const struct place *p = find_place(outlook_of(f), key);

	return p ? p->position : 0;
}

/* Where the one under way knows nothing of it yet, the last one does. */
static const struct place *known_place(const struct forecast *f, const char *key)
{
	const struct place *p = find_place(f->next, key);

	return !p || p->start_ms == TIME_UNKNOWN ? find_place(f->last, key) : p;
}

int64_t forecast_start(const struct forecast *f, const char *key)
{
	const struct place *p = known_place(f, key);

	return p ? p->start_ms : TIME_UNKNOWN;
}

const char *forecast_after(const struct forecast *f, const char *key)
{
	const struct place *p = known_place(f, key);

	return p ? p->after : NULL;
}

const char *forecast_behind(const struct forecast *f, const char *key)
{
	const struct place *p = find_place(f->last, key);

	for (size_t i = 0; p && i < f->last->n && i < FORECAST_MOST; i++) {
		const struct place *other = &f->last->places[i];

		if (other->endless && other->start_ms != TIME_UNKNOWN && (!p->gpus || other->gpus))
			return other->key;
	}
	return NULL;
}

bool forecast_covers(const struct forecast *f, const char *key)
{
	const struct place *p = find_place(f->last, key);

	return p && p < f->last->places + FORECAST_MOST;
}

size_t forecast_count(const struct forecast *f)
{
	const struct outlook *o = outlook_of(f);

	return o ? o->n : 0;
}

const char *forecast_key(const struct forecast *f, size_t i)
{
	return outlook_of(f)->places[i].key;
}
