// SPDX-License-Identifier: Apache-2.0
/* world.c - see world.h: what is told, and what follows from it for the sums
 *
 * A work stands in line (in the tree of shares) while a member of it has no seat and nothing holds it.  From its first
 * seat on it runs: its queue's limits and its user's share are charged with all its members, also with those that come
 * later, until the last of them is gone.
 */
#include "sched/world.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/queue.h"
#include "kinds/walltime.h"
#include "sched/parts.h"
#include "sched/world_parts.h"

#define RANK_BEGUN    ((int64_t)1 << 62) /* what has begun holds room: it goes first */
#define RANK_NOW      (((int64_t)1 << 62) - 1)
#define RANK_BOOST    ((int64_t)1 << 32)
#define RANK_QUEUE    ((int64_t)1 << 34) /* above any job's priority */
#define PRIORITY_MOST ((int64_t)1 << 27) /* of a queue */

static int64_t rank_of(const struct work *work);
static void name_list(const struct work *work, int64_t rank, char ret[FAIR_LIST_NAME]);

/* ---- queues ---- */

static void queue_free(void *v)
{
	struct queue *q = v;

	for (size_t i = 0; q->properties && q->properties[i]; i++)
		free(q->properties[i]);
	free(q->properties);
	limits_use_done(&q->use);
	quota_done(&q->quota);
	free(q->name);
	free(q);
}

static int64_t read_walltime(const json_t *spec, const char *field)
{
	const char *text = jsonx_str(spec, field);
	int64_t seconds;

	return text && walltime_parse(text, &seconds) ? seconds * 1000 : WALLTIME_NONE;
}

static void read_properties(struct queue *q, const json_t *list)
{
	size_t n = json_array_size(list);

	for (size_t i = 0; q->properties && q->properties[i]; i++)
		free(q->properties[i]);
	free(q->properties);
	q->properties = n ? xcalloc(n + 1, sizeof(*q->properties)) : NULL;
	for (size_t i = 0; i < n; i++)
		q->properties[i] = xstrdup(json_string_value(json_array_get(list, i)));
}

/* NULL is a queue with nothing special about it. */
static void queue_read(struct world *w, struct queue *q, const json_t *spec)
{
	json_auto_t *properties = queue_properties(spec);

	q->priority = jsonx_int_or(spec, "priority", 0);
	q->priority = q->priority > PRIORITY_MOST    ? PRIORITY_MOST
		      : q->priority < -PRIORITY_MOST ? -PRIORITY_MOST
						     : q->priority;
	q->enabled = jsonx_bool_or(spec, "enabled", true);
	q->started = jsonx_bool_or(spec, "started", true);
	q->borrowing = jsonx_bool_or(spec, "borrowing", true);
	q->open = !jsonx_at(spec, "acl") && !jsonx_bool_or(spec, "fromRouteOnly", false) &&
		  !streq(jsonx_str_or(spec, "type", ""), "Route");
	q->weight = (double)jsonx_int_or(spec, "weight", 1);
	q->default_walltime_ms = read_walltime(spec, "defaultWalltime");
	q->max_walltime_ms = read_walltime(spec, "maxWalltime");
	limits_read(&q->limits, jsonx_at(spec, "limits"));
	quota_read(&q->quota, spec);
	read_properties(q, properties);
	share_set_weight(w->fair, q->share, q->weight);
}

static struct queue *queue_named(struct world *w, const char *name)
{
	struct queue *q = map_find(&w->queues, name);

	if (q)
		return q;
	q = xcalloc(1, sizeof(*q));
	q->name = xstrdup(name);
	q->share = fair_share(w->fair, NULL, name);
	limits_use_init(&q->use);
	queue_read(w, q, NULL);
	map_set(&w->queues, name, q);
	return q;
}

static int64_t rename_list(void *arg, struct turn *first, char ret[FAIR_LIST_NAME])
{
	const struct work *work = work_of_turn(first);
	int64_t rank = rank_of(work);

	(void)arg;
	name_list(work, rank, ret);
	return rank;
}

/* A queue's priority is a part of its works' ranks; all of a list have the same. */
static void line_up_all(struct world *w, const struct queue *q)
{
	fair_rerank(w->fair, q->share, rename_list, NULL);
	w->lowest_known = false;
	w->changed = true;
	w->passing = false;
}

struct queue *world_queue(struct world *w, const char *name, const json_t *spec)
{
	struct queue *q = queue_named(w, name);
	int64_t priority = q->priority;

	q->exists = true;
	queue_read(w, q, spec);
	if (q->priority != priority)
		line_up_all(w, q);
	w->changed = true;
	return q;
}

void world_remove_queue(struct world *w, const char *name)
{
	struct queue *q = map_find(&w->queues, name);

	if (!q)
		return;
	q->exists = false;
	if (!q->works)
		map_remove(&w->queues, name);
}

/* 0 is no limit. */
static int64_t server_limit(const json_t *spec, const char *field)
{
	int64_t most = jsonx_int_or(spec, field, 0);

	return most > 0 ? most : -1;
}

void world_pbs_server(struct world *w, const json_t *spec)
{
	limits_read(&w->pbs_limits, NULL);
	w->pbs_limits.most[LIMIT_TOTAL].v[LIMIT_RUNNING] = server_limit(spec, "maxRunning");
	w->pbs_limits.most[LIMIT_PER_USER].v[LIMIT_RUNNING] = server_limit(spec, "maxUserRun");
	world_touch(w);
}

void world_pbs_same(struct world *w, const struct world *from)
{
	w->pbs_limits = from->pbs_limits;
}

struct queue *world_find_queue(const struct world *w, const char *name)
{
	return map_find(&w->queues, name);
}

/* ---- nodes ---- */

void world_touch(struct world *w)
{
	w->changed = true;
}

void world_set_node(struct world *w, const json_t *node)
{
	uint64_t epoch = space_epoch(w->space);

	space_set_node(w->space, node);
	/* A node reports every few seconds; mostly nothing that matters has changed. */
	w->changed |= space_epoch(w->space) != epoch;
}

void world_set_namespace(struct world *w, const char *name, const json_t *labels)
{
	uint64_t epoch = space_epoch(w->space);

	space_set_namespace(w->space, name, labels);
	w->changed |= space_epoch(w->space) != epoch;
}

void world_remove_node(struct world *w, const char *name)
{
	space_remove_node(w->space, name);
	w->changed = true;
	w->passing = false; /* reservations may be there: they are made anew */
}

/* ---- sums ---- */

bool work_may_sit(const struct work *work, const struct node *n)
{
	for (char **property = work->queue->properties; property && *property; property++)
		if (!node_has_property(n, *property))
			return false;
	return true;
}

int64_t work_walltime(const struct work *work)
{
	return work->walltime_ms != WALLTIME_NONE ? work->walltime_ms : work->queue->default_walltime_ms;
}

int64_t work_end(const struct work *work, int64_t start_ms)
{
	int64_t wall = work_walltime(work);
	int64_t end;

	if (wall == WALLTIME_NONE || __builtin_add_overflow(start_ms, wall, &end))
		return TIME_UNKNOWN;
	return end;
}

double world_cost(const struct world *w, const struct work *work)
{
	double most = 0;

	for (size_t r = 0; r < space_resources(w->space); r++) {
		double total = (double)space_total(w->space, r);
		double sum = 0;

		if (r == RESOURCE_PODS || total <= 0)
			continue;
		for (size_t i = 0; i < work->n; i++)
			sum += (double)shape_wants(work->members[i].seat.shape, r);
		/* Who has a node for himself uses all of it. */
		if (r == RESOURCE_NODE && sum < (double)NODE_WHOLE)
			continue;
		most = sum / total > most ? sum / total : most;
	}
	return most;
}

static void sum_up(struct work *work)
{
	struct amount_of_limits *a = &work->asks;

	*a = (struct amount_of_limits){ .v[LIMIT_RUNNING] = 1 };
	for (size_t i = 0; i < work->n; i++) {
		const struct shape *shape = work->members[i].seat.shape;

		a->v[LIMIT_GPUS] += shape_wants(shape, RESOURCE_GPU);
		a->v[LIMIT_CPUS] += shape_wants(shape, RESOURCE_CPU);
		a->v[LIMIT_MEMORY] += shape_wants(shape, RESOURCE_MEMORY);
	}
}

static void runs(struct world *w, struct work *work)
{
	int64_t p = work_precedence(work);

	ARRAY_PUSH(w->running, w->nrunning, w->cap_running, work);
	work->running_at = w->nrunning - 1;
	work->queue->running++;
	if (w->lowest_known && p <= w->lowest) {
		w->nlowest = p == w->lowest ? w->nlowest + 1 : 1;
		w->lowest = p;
	}
}

static void runs_no_more(struct world *w, struct work *work)
{
	struct work *last = w->running[--w->nrunning];

	w->running[work->running_at] = last;
	last->running_at = work->running_at;
	work->queue->running--;
	if (w->lowest_known && work_precedence(work) == w->lowest && --w->nlowest == 0)
		w->lowest_known = false;
}

static bool is_charged(const struct work *work)
{
	return work->counted.v[LIMIT_RUNNING] != 0;
}

/* Without fair share all of a queue are one user. */
static struct share *share_of(struct world *w, const struct work *work)
{
	bool fair = w->config.fair_share;
	struct share *group = fair_share(w->fair, work->queue->share, fair ? work->group : "");

	return fair_share(w->fair, group, fair ? work->user : "");
}

/* Single pods that ask for the same for the same time are refused together; gangs each for itself.  Each rank has lists
 * of its own, so that nobody is put in line behind a million others by counting them. */
static void name_list(const struct work *work, int64_t rank, char ret[FAIR_LIST_NAME])
{
	if (work_is_alone(work))
		snprintf(ret, FAIR_LIST_NAME, "%p %lld %d %d %lld",
			 (const void *)shape_core(work->members[0].seat.shape), (long long)work->walltime_ms,
			 work->may_preempt, work->pbs, (long long)rank);
	else
		snprintf(ret, FAIR_LIST_NAME, "gangs %lld", (long long)rank);
}

static struct share *list_of(struct world *w, const struct work *work, int64_t rank)
{
	char name[FAIR_LIST_NAME];

	name_list(work, rank, name);
	return fair_list(w->fair, share_of(w, work), name);
}

static void uncharge(struct world *w, struct work *work)
{
	limits_count(&work->queue->use, work->user, work->group, &work->counted, -1);
	if (work->pbs)
		limits_count(&w->pbs_use, work->user, work->group, &work->counted, -1);
	fair_run(w->fair, share_of(w, work), -work->cost);
	work->counted = (struct amount_of_limits){ 0 };
	work->cost = 0;
	runs_no_more(w, work);
}

void work_charge(struct world *w, struct work *work)
{
	if (is_charged(work))
		uncharge(w, work);
	if (!work_has_begun(work))
		return;
	work->counted = work->asks;
	work->cost = world_cost(w, work);
	limits_count(&work->queue->use, work->user, work->group, &work->counted, 1);
	if (work->pbs)
		limits_count(&w->pbs_use, work->user, work->group, &work->counted, 1);
	fair_run(w->fair, share_of(w, work), work->cost);
	runs(w, work);
}

/* ---- the line ---- */

int64_t work_precedence(const struct work *work)
{
	return work->queue->priority * RANK_QUEUE + work->priority;
}

static int64_t rank_of(const struct work *work)
{
	int64_t rank = work_precedence(work);

	if (work_has_begun(work))
		return RANK_BEGUN;
	if (work->run_now)
		return RANK_NOW;
	return work->boosted ? rank + RANK_BOOST : rank;
}

void work_line_up(struct world *w, struct work *work)
{
	bool stands = !work->holds && work->nseated < work->n;
	int64_t rank = rank_of(work);

	work_recount(w, work);
	if (work->turn.leaf && stands && work->turn.rank == rank && work->turn.leaf == list_of(w, work, rank))
		return;
	fair_leave(w->fair, &work->turn);
	work->turn.rank = rank;
	if (stands)
		fair_enter(w->fair, list_of(w, work, rank), &work->turn);
}

static void check_members(struct work *work)
{
	work->holds &= ~(unsigned)HOLD_MEMBERS;
	if (!work_has_begun(work) && work->n < work->size)
		work->holds |= HOLD_MEMBERS;
}

/* Its members are not what they were. */
static void members_changed(struct world *w, struct work *work)
{
	/* Of a gang that was started again nothing is left of the first time. */
	if (!work->nseated) {
		work->started_ms = 0;
		work->evicted_for = NULL;
		work->gives_back = false;
	}
	quota_claim(work, false);
	sum_up(work);
	check_members(work);
	work_charge(w, work);
	work_line_up(w, work);
	w->changed = true;
}

/* ---- works ---- */

static void count_queued(struct work *work, int sign)
{
	static const struct amount_of_limits one = { .v[LIMIT_QUEUED] = 1 };

	quota_claim(work, false);
	limits_count(&work->queue->use, work->user, work->group, &one, sign);
	work->queue->works += (size_t)sign;
}

static void work_free(struct world *w, struct work *work)
{
	for (size_t i = 0; i < work->n; i++) {
		space_rise(w->space, &work->members[i].seat);
		space_shape_unref(w->space, work->members[i].seat.shape);
		free(work->members[i].id);
	}
	free(work->members);
	free(work->key);
	free(work->user);
	free(work->group);
	free(work->after);
	free(work);
}

void world_bury(struct world *w)
{
	while (w->nghosts)
		work_free(w, w->ghosts[--w->nghosts]);
}

/* It leaves its queue and its user for others. */
static void move_work(struct world *w, struct work *work, const struct work_facts *f)
{
	bool charged = is_charged(work);
	struct queue *old = work->queue;

	if (charged)
		uncharge(w, work);
	if (old) {
		limit_forget(work);
		work_uncount(w, work);
		count_queued(work, -1);
	}
	fair_leave(w->fair, &work->turn);
	free(work->user);
	free(work->group);
	work->user = xstrdup(f->user);
	work->group = xstrdup(f->group);
	work->queue = queue_named(w, f->queue);
	count_queued(work, 1);
	if (charged)
		work_charge(w, work);
	if (old && !old->exists && !old->works)
		map_remove(&w->queues, old->name);
}

/* Nothing that could let something start: most of what is told is a running pod's status. */
static bool is_same(const struct work *work, const struct work_facts *f)
{
	return work->queue && streq(work->queue->name, f->queue) && streq(work->user, f->user) &&
	       streq(work->group, f->group) && work->priority == f->priority && work->submitted_ms == f->submitted_ms &&
	       work->not_before_ms == f->not_before_ms && work->walltime_ms == f->walltime_ms &&
	       (work->holds & ~(unsigned)HOLD_MEMBERS) == f->holds && work->may_preempt == f->may_preempt &&
	       work->may_requeue == f->may_requeue && work->size == f->size && str_same(work->after, f->after) &&
	       work->stuck == f->stuck && work->run_now == f->run_now && work->turn.own == f->own &&
	       (!f->place || work->turn.age == f->place);
}

/* Where it stands among its owner's. */
static void take_place(struct world *w, struct work *work, const struct work_facts *f)
{
	uint64_t now = place_at(f->submitted_ms / 1000, 0, 0);

	if (work->turn.own != f->own || (f->place && work->turn.age != f->place))
		fair_leave(w->fair, &work->turn);
	work->turn.own = f->own;
	if (f->place)
		work->turn.age = f->place;
	/* As they come, but comparable with places; what is listed in another order than it was made stays so. */
	else if (!work->turn.age)
		work->turn.age = w->ages = now > w->ages ? now : w->ages + 1;
}

struct work *world_work(struct world *w, const struct work_facts *f)
{
	struct work *work = map_find(&w->works, f->key);

	if (!work) {
		work = xcalloc(1, sizeof(*work));
		work->key = xstrdup(f->key);
		work->pbs = f->pbs;
		map_set(&w->works, f->key, work);
	}
	if (is_same(work, f))
		return work;
	if (!work->queue || !streq(work->queue->name, f->queue) || !streq(work->user, f->user) ||
	    !streq(work->group, f->group))
		move_work(w, work, f);
	take_place(w, work, f);
	work->run_now = f->run_now;
	if (work->priority != f->priority)
		w->lowest_known = false;
	work->priority = f->priority;
	work->submitted_ms = f->submitted_ms;
	work->not_before_ms = f->not_before_ms;
	work->walltime_ms = f->walltime_ms;
	work->holds = f->holds | (work->holds & HOLD_MEMBERS);
	work->may_preempt = f->may_preempt;
	work->may_requeue = f->may_requeue;
	work->size = f->size;
	work->stuck = f->stuck;
	if (!str_same(work->after, f->after)) {
		free(work->after);
		work->after = f->after ? xstrdup(f->after) : NULL;
	}
	check_members(work);
	work_line_up(w, work);
	w->changed = true;
	return work;
}

void work_hold(struct world *w, struct work *work, unsigned holds)
{
	if (work->holds == holds)
		return;
	work->holds = holds;
	work_line_up(w, work);
	w->changed = true;
}

struct work *world_find(const struct world *w, const char *key)
{
	return map_find(&w->works, key);
}

static struct member *find_member(struct work *work, const char *id)
{
	for (size_t i = 0; i < work->n; i++)
		if (streq(work->members[i].id, id))
			return &work->members[i];
	return NULL;
}

struct member *work_member(struct world *w, struct work *work, const char *id, struct shape *shape)
{
	struct member *m = find_member(work, id);

	if (m) {
		space_shape_unref(w->space, shape);
		return m;
	}
	ARRAY_PUSH(work->members, work->n, work->cap, ((struct member){ .id = xstrdup(id), .seat.shape = shape }));
	members_changed(w, work);
	return find_member(work, id);
}

void work_bound(struct world *w, struct work *work, const char *id, const char *node, card_set cards,
		int64_t started_ms)
{
	struct member *m = find_member(work, id);
	struct node *n = space_node(w->space, node);

	if (!m)
		return;
	if (!work->started_ms || (started_ms && started_ms < work->started_ms))
		work->started_ms = started_ms;
	work->nbound += !m->bound;
	m->bound = true;
	if (m->seat.node == n && (!cards || m->seat.cards == cards))
		return;
	work->nseated += !m->seat.node;
	space_rise(w->space, &m->seat);
	space_sit(w->space, &m->seat, n, cards);
	members_changed(w, work);
}

void work_unbound(struct world *w, struct work *work, const char *id)
{
	struct member *m = find_member(work, id);

	if (!m || m->bound || !m->seat.node)
		return;
	space_rise(w->space, &m->seat);
	m->fresh = false;
	work->nseated--;
	members_changed(w, work);
}

void work_let_in(struct world *w, struct work *work, const char *id, int64_t now_ms)
{
	struct member *m = find_member(work, id);

	if (!m || m->seat.node || !space_find(w->space, &m->seat, NULL))
		return;
	work->nseated++;
	if (!work->started_ms)
		work->started_ms = now_ms;
	members_changed(w, work);
}

void work_rename(struct work *work, const char *id, const char *new_id)
{
	struct member *m = find_member(work, id);

	if (!m)
		return;
	free(m->id);
	m->id = xstrdup(new_id);
}

void work_gone(struct world *w, struct work *work, const char *id, int64_t now_ms)
{
	struct member *m = find_member(work, id);
	struct queue *q = work->queue;

	if (!m)
		return;
	fair_now(w->fair, now_ms);
	backfill_drop(&w->backfill, work);
	work->nbound -= m->bound;
	work->nseated -= m->seat.node != NULL;
	space_rise(w->space, &m->seat);
	space_shape_unref(w->space, m->seat.shape);
	free(m->id);
	*m = work->members[--work->n];
	members_changed(w, work);
	if (work->n)
		return;
	fair_leave(w->fair, &work->turn);
	limit_forget(work);
	work_uncount(w, work);
	count_queued(work, -1);
	if (!q->exists && !q->works)
		map_remove(&w->queues, q->name);
	backfill_forget(&w->backfill, work);
	map_remove(&w->works, work->key);
	if (w->passing)
		ARRAY_PUSH(w->ghosts, w->nghosts, w->cap_ghosts, work);
	else
		work_free(w, work);
}

/* ---- life ---- */

struct world *world_new(const struct world_config *config)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->config = *config;
	w->space = space_new();
	space_set_policy(w->space, config->policy);
	w->fair = fair_new(config->half_life);
	backfill_init(&w->backfill, config->patience_ms);
	map_init(&w->queues, queue_free);
	map_init(&w->works, NULL);
	limits_use_init(&w->pbs_use);
	limits_read(&w->pbs_limits, NULL);
	w->next_ms = TIME_UNKNOWN;
	return w;
}

void world_free(struct world *w)
{
	size_t pos = 0;
	void *work;

	if (!w)
		return;
	backfill_done(&w->backfill);
	limits_use_done(&w->pbs_use);
	world_bury(w);
	free(w->ghosts);
	while (map_next(&w->works, &pos, NULL, &work))
		work_free(w, work);
	map_done(&w->works);
	map_done(&w->queues);
	world_blocks_done(w);
	free(w->running);
	free(w->dated);
	fair_free(w->fair);
	space_free(w->space);
	free(w);
}

struct space *world_space(struct world *w)
{
	return w->space;
}

struct fair *world_fair(struct world *w)
{
	return w->fair;
}

void world_set_budgets(struct world *w, bool (*may_evict)(void *arg, struct work *const *works, size_t n), void *arg)
{
	w->may_evict = may_evict;
	w->evict_arg = arg;
}

void world_each_running(struct world *w, bool (*each)(void *arg, struct work *work), void *arg)
{
	for (size_t i = 0; i < w->nrunning; i++)
		if (!each(arg, w->running[i]))
			return;
}

void world_each(struct world *w, bool (*each)(void *arg, struct work *work), void *arg)
{
	size_t pos = 0;

	world_each_from(w, &pos, each, arg);
}

bool world_each_from(struct world *w, size_t *pos, bool (*each)(void *arg, struct work *work), void *arg)
{
	void *work;

	while (map_next(&w->works, pos, NULL, &work))
		if (!each(arg, work)) {
			--*pos;
			return false;
		}
	*pos = 0;
	return true;
}
