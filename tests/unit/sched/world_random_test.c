// SPDX-License-Identifier: Apache-2.0
/* world_random_test.c - a world to which anything may happen, judged after every pass by one who counts everything anew
 *
 * The judge knows the machine, the queues and what was asked for, and reads seats from the works; nothing else of the
 * plan.  STOKER_RANDOM_STEPS=5000000 plays longer, STOKER_RANDOM_SEED=7 another game; a failure prints the seed of its
 * round, which as STOKER_RANDOM_SEED with STOKER_RANDOM_STEPS=1 plays that round alone.
 */
#include <stdlib.h>

#include "api/sample_json.h"
#include "base/mem.h"
#include "world_game.h"

#define ROUND_STEPS 500
#define STEPS       120000

static unsigned roll(struct game *g, unsigned n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (unsigned)(g->random >> 33) % n;
}

/* ---- making ---- */

static void set_host(struct game *g, size_t i)
{
	const struct host *h = &g->hosts[i];
	auto_free char *text = xasprintf(
		"{'metadata':{'name':'%s','labels':{'pool':'%s'}},'spec':{'unschedulable':%s},'status':{'allocatable':{"
		"'cpu':'%lldm',"
		"'memory':'64Gi','pods':'6','nvidia.com/gpu':'%lld'},'conditions':[{'type':'Ready','status':'True'}]}}",
		host_name(i), i % 2 ? "odd" : "even", h->cordoned ? "true" : "false", (long long)h->cpu,
		(long long)h->gpus);
	json_auto_t *node = sample_json(text);

	if (h->there)
		world_set_node(g->w, node);
	else
		world_remove_node(g->w, host_name(i));
}

static void add_limit(json_t *limits, const char *scope, const char *of, int64_t most)
{
	json_t *in = json_object_get(limits, scope);

	if (most < 0)
		return;
	if (!in) {
		in = json_object();
		json_object_set_new(limits, scope, in);
	}
	json_object_set_new(in, of,
			    strcmp(of, "cpus") == 0 ? json_sprintf("%lldm", (long long)most) : json_integer(most));
}

static const char *line_name(size_t i)
{
	static const char *const names[QUEUES] = { "batch", "fast", "night" };

	return names[i];
}

static void set_line(struct game *g, size_t i)
{
	const struct line *l = &g->lines[i];
	json_auto_t *spec = json_pack("{s:I,s:b,s:b,s:I,s:{}}", "priority", (json_int_t)l->priority, "started",
				      l->started, "borrowing", l->borrowing, "weight", (json_int_t)l->weight, "limits");
	json_t *limits = json_object_get(spec, "limits");

	if (!l->there) {
		world_remove_queue(g->w, line_name(i));
		return;
	}
	if (l->even)
		json_object_set_new(spec, "nodeProperties", json_pack("[s]", "pool=even"));
	if (l->walltime)
		json_object_set_new(spec, "defaultWalltime", json_sprintf("00:%02lld:00", (long long)l->walltime));
	if (l->quota >= 0) {
		static const char *const reclaims[] = { "Any", "LowerPriority", "Never" };

		json_object_set_new(spec, "cohort", json_string("lab"));
		json_object_set_new(spec, "reclaim", json_string(reclaims[l->reclaim]));
		add_limit(spec, "quota", "gpus", l->quota);
		add_limit(spec, "borrowingLimit", "gpus", l->borrow);
	}
	add_limit(limits, "total", "running", l->running);
	add_limit(limits, "total", "gpus", l->gpus);
	add_limit(limits, "perUser", "gpus", l->user_gpus);
	add_limit(limits, "perGroup", "cpus", l->group_cpus);
	world_queue(g->w, line_name(i), spec);
}

static struct shape *any_shape(struct game *g)
{
	int64_t gpus = roll(g, 3) ? roll(g, CARDS + 1) : 1;

	if (g->fair)
		return space_shape_plain(g->w->space, 100, 1 << 30, 1, NULL);
	return space_shape_plain(g->w->space, 100 + 900 * roll(g, 8), (int64_t)(1 + roll(g, 4)) << 30, gpus, NULL);
}

static void add_member(struct game *g, struct job *j, struct shape *shape)
{
	char id[24];

	snprintf(id, sizeof(id), "p%lu", ++g->ids);
	work_member(g->w, j->work, id, shape);
}

static void fill_facts(struct game *g, struct work_facts *f)
{
	static const char *const groups[GROUPS + 1] = { "", "vision", "speech" };

	f->queue = line_name(g->calm ? 0 : roll(g, QUEUES));
	/* In fair rounds some send much more than others. */
	f->user = user_name(g->fair ? roll(g, 1 + roll(g, USERS)) : roll(g, USERS));
	f->group = g->fair ? "" : groups[roll(g, GROUPS + 1)];
	f->priority = g->calm || roll(g, 2) ? 0 : (int64_t)roll(g, 4) - 1;
	f->walltime_ms = g->calm || roll(g, 3) ? (1 + roll(g, 30)) * MINUTE : WALLTIME_NONE;
	f->may_preempt = roll(g, 5) != 0;
	f->may_requeue = roll(g, 4) != 0;
	if (g->calm)
		return;
	f->holds = roll(g, 12) ? 0 : HOLD_USER;
	f->not_before_ms = roll(g, 10) ? 0 : g->now + roll(g, 20) * MINUTE;
}

/* Works with a default walltime end by it, too. */
static int64_t how_long(struct game *g, const struct work *work)
{
	int64_t wall = work_walltime(work);

	return wall == WALLTIME_NONE ? (1 + roll(g, 60)) * MINUTE : 1000 + roll(g, (unsigned)(wall / 1000)) * 1000;
}

static void submit(struct game *g, struct job *j, int64_t submitted_ms)
{
	struct work_facts f = { .key = j->key, .submitted_ms = submitted_ms, .size = 1 };
	struct shape *same;

	*j = (struct job){ .end_ms = TIME_UNKNOWN, .evict_ms = TIME_UNKNOWN, .promise = TIME_UNKNOWN };
	snprintf(j->key, sizeof(j->key), "j%lu", ++g->keys);
	fill_facts(g, &f);
	if (roll(g, 3) == 0 && !g->fair)
		f.size = 1 + roll(g, NODES);
	j->work = world_work(g->w, &f);
	j->work->arg = j;
	j->lasts = how_long(g, j->work);
	same = any_shape(g);
	for (size_t i = 0; i < f.size; i++)
		add_member(g, j, g->calm || roll(g, 4) ? shape_ref(same) : any_shape(g));
	space_shape_unref(g->w->space, same);
}

/* ---- what happens ---- */

static struct job *any_job(struct game *g)
{
	struct job *j = &g->jobs[roll(g, JOBS)];

	return j->work ? j : NULL;
}

static void lose(struct game *g, struct job *j, size_t i)
{
	bool last = j->work->n == 1;

	work_gone(g->w, j->work, j->work->members[i].id, g->now);
	if (last)
		j->work = NULL;
}

static void lose_all(struct game *g, struct job *j)
{
	while (j->work)
		lose(g, j, j->work->n - 1);
}

static void on_submit(struct game *g)
{
	for (size_t i = 0; i < JOBS; i++)
		if (!g->jobs[i].work) {
			submit(g, &g->jobs[i], g->now);
			return;
		}
}

static void on_end(struct game *g)
{
	struct job *j = any_job(g);

	if (j && (j->begun || !roll(g, 8)))
		lose_all(g, j);
}

static void on_lose(struct game *g)
{
	struct job *j = any_job(g);

	if (!j || !j->begun)
		return;
	if (roll(g, 2) && j->work->n > 1)
		add_member(g, j, shape_ref(j->work->members[0].seat.shape));
	lose(g, j, roll(g, (unsigned)j->work->n));
}

static void on_late_member(struct game *g)
{
	struct job *j = any_job(g);

	if (j && j->work->n < 8)
		add_member(g, j, any_shape(g));
}

static void on_host(struct game *g)
{
	size_t i = roll(g, NODES);
	struct host *h = &g->hosts[i];

	*h = (struct host){
		.there = roll(g, 8) != 0,
		.cordoned = roll(g, 6) == 0,
		.cpu = 4000 + 1000 * (int64_t)roll(g, 12),
		.gpus = roll(g, 4) ? CARDS : roll(g, CARDS + 1),
	};
	set_host(g, i);
}

static int64_t any_limit(struct game *g, unsigned n)
{
	return roll(g, 3) ? -1 : (int64_t)roll(g, n);
}

static void on_line(struct game *g)
{
	size_t i = roll(g, QUEUES);

	g->lines[i] = (struct line){
		.there = roll(g, 8) != 0,
		.started = roll(g, 5) != 0,
		.borrowing = roll(g, 3) != 0,
		.even = roll(g, 4) == 0,
		.priority = roll(g, 3),
		.weight = 1 + roll(g, 4),
		.walltime = roll(g, 3) ? 0 : 1 + roll(g, 40),
		.running = any_limit(g, 6),
		.gpus = any_limit(g, 12),
		.user_gpus = any_limit(g, 6),
		.group_cpus = any_limit(g, 20000),
		.quota = roll(g, 2) ? -1 : (int64_t)roll(g, 12),
		.borrow = any_limit(g, 8),
		.reclaim = roll(g, 3),
	};
	set_line(g, i);
}

static void on_facts(struct game *g)
{
	struct job *j = any_job(g);
	struct work_facts f = { 0 };

	if (!j)
		return;
	f = (struct work_facts){ .key = j->key, .submitted_ms = j->work->submitted_ms, .size = j->work->size };
	fill_facts(g, &f);
	world_work(g->w, &f);
}

static void on_later(struct game *g)
{
	g->now += roll(g, 4) ? roll(g, 60) * 1000 : roll(g, 20) * MINUTE;
	judge_time(g);
}

static void on_clock_back(struct game *g)
{
	g->now -= roll(g, 10) * MINUTE;
}

static void on_block(struct game *g)
{
	size_t hosts[] = { roll(g, NODES), roll(g, NODES) };
	const char *nodes[] = { host_name(hosts[0]), host_name(hosts[1]), NULL };

	if (g->blocked) {
		world_unblock(g->w, "maintenance");
	} else {
		g->block_from = g->now + roll(g, 30) * MINUTE;
		g->block_to = g->block_from + (1 + roll(g, 30)) * MINUTE;
		g->block_hosts = 1u << hosts[0] | 1u << hosts[1];
		world_block(g->w, "maintenance", nodes, g->block_from, g->block_to);
	}
	g->blocked = !g->blocked;
}

static const struct {
	void (*happen)(struct game *g);
	unsigned often;
	bool calm; /* may happen where promises are kept */
} events[] = {
	{ on_submit, 35, true }, { on_end, 10, true },  { on_later, 30, true },      { on_lose, 5, false },
	{ on_host, 3, false },   { on_line, 4, false }, { on_facts, 6, false },      { on_late_member, 2, false },
	{ on_block, 1, false },  { on_end, 10, true },  { on_clock_back, 1, false },
};

static void something_happens(struct game *g)
{
	unsigned sum = 0;
	unsigned n;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sum += events[i].often;
	n = roll(g, sum);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (n >= events[i].often) {
			n -= events[i].often;
			continue;
		}
		if (events[i].calm || !g->calm)
			events[i].happen(g);
		return;
	}
}

/* Ends whose time has come, and evictions. */
static void time_passes(struct game *g)
{
	for (size_t i = 0; i < JOBS; i++) {
		struct job *j = &g->jobs[i];

		if (!j->work)
			continue;
		if (j->evict_ms <= g->now) {
			bool again = j->work->may_requeue;
			int64_t since = j->work->submitted_ms;

			lose_all(g, j);
			if (again)
				submit(g, j, since);
		} else if (j->begun && j->end_ms <= g->now) {
			lose_all(g, j);
		}
	}
}

/* ---- passes ---- */

static void carry_out_start(struct game *g, struct work *work)
{
	struct job *j = work->arg;

	g->starts++;
	if (!j->begun)
		j->end_ms = g->now + j->lasts;
	for (size_t i = 0; i < work->n; i++) {
		struct member *m = &work->members[i];
		bool refused = m->fresh && !g->calm && !roll(g, 20);

		if (refused)
			work_unbound(g->w, work, m->id);
		else if (m->fresh)
			work_bound(g->w, work, m->id, node_name(m->seat.node), m->seat.cards, g->now);
		m->fresh = false;
	}
	j->begun = work_has_begun(work);
	if (!j->begun)
		j->end_ms = TIME_UNKNOWN;
}

static void carry_out(struct game *g)
{
	for (size_t i = 0; i < g->d.n; i++) {
		const struct decision *d = &g->d.items[i];

		if (d->what == DECIDE_START)
			judge_start(g, d->work);
		else
			judge_eviction(g, d);
	}
	for (size_t i = 0; i < g->d.n; i++) {
		const struct decision *d = &g->d.items[i];

		if (d->what == DECIDE_START) {
			carry_out_start(g, d->work);
			continue;
		}
		g->evictions++;
		((struct job *)d->work->arg)->evict_ms = roll(g, 2) ? g->now : g->now + roll(g, 120) * 1000;
	}
}

/* What was told between two slices may have changed who has begun. */
static void look(struct game *g)
{
	for (size_t i = 0; i < JOBS; i++)
		if (g->jobs[i].work && g->jobs[i].begun && !work_has_begun(g->jobs[i].work)) {
			g->jobs[i].begun = false;
			g->jobs[i].end_ms = TIME_UNKNOWN;
		}
}

static void settle(struct game *g)
{
	unsigned passes = 0;

	do {
		struct world_slice slice = { .now_ms = g->now,
					     .most = g->fair      ? 1
						     : roll(g, 3) ? 1000
								  : 1 + roll(g, 3) };

		world_pass(g->w, &slice, &g->d);
		carry_out(g);
		judge_sums(g);
		if (g->d.more && !g->calm && roll(g, 4) == 0)
			something_happens(g);
		time_passes(g);
		look(g);
		JUDGE(++passes < 3000, "the passes do not end");
	} while ((g->d.more || g->d.n || g->w->changed || g->d.next_ms <= g->now) && !g->failed);
	judge_who_waits(g);
	judge_reservations(g);
	judge_promises(g);
}

/* ---- rounds ---- */

/* Queues that hold nobody back. */
static void open_lines(struct game *g)
{
	for (size_t i = 0; i < QUEUES; i++) {
		g->lines[i] = (struct line){ .there = true, .started = true, .borrowing = true, .weight = 1 };
		g->lines[i].running = g->lines[i].gpus = g->lines[i].user_gpus = g->lines[i].group_cpus = -1;
		g->lines[i].quota = g->lines[i].borrow = -1;
		set_line(g, i);
	}
}

static void deal(struct game *g, uint64_t seed)
{
	*g = (struct game){ .random = seed * 2654435761u + 88172645463325252u, .seed = seed, .now = T0 };
	for (int i = 0; i < 4; i++)
		roll(g, 2);
	g->calm = roll(g, 4) == 0;
	g->fair = g->calm && roll(g, 2);
	g->config = (struct world_config)WORLD_CONFIG;
	g->config.policy = roll(g, 2) ? SPACE_PACK : SPACE_SPREAD;
	g->config.fair_share = g->fair || (!g->calm && roll(g, 3));
	g->config.preemption = !g->calm && roll(g, 3);
	g->config.backfill = g->calm || roll(g, 3);
	g->config.patience_ms = roll(g, 60) * MINUTE;
	g->config.starving_ms = g->calm || roll(g, 2) ? 0 : roll(g, 200) * MINUTE;
	g->config.half_life = roll(g, 4) ? FAIR_HALF_LIFE : (g->fair || roll(g, 2)) * 600;
	g->used_ms = T0;
	g->w = world_new(&g->config);
	for (size_t i = 0; i < NODES; i++) {
		g->hosts[i] = (struct host){ .there = true, .cpu = 8000, .gpus = g->fair ? 1 : CARDS };
		set_host(g, i);
	}
	open_lines(g);
}

/* Everything is as it should be again, nothing more arrives: all that is whole must start, one after the other. */
static void drain(struct game *g)
{
	size_t left = JOBS;

	for (size_t i = 0; i < NODES; i++) {
		g->hosts[i] = (struct host){ .there = true, .cpu = 16000, .gpus = CARDS };
		set_host(g, i);
	}
	open_lines(g);
	if (g->blocked)
		on_block(g);
	g->calm = true; /* nothing happens between slices, and all bindings succeed */
	g->fair = false;
	g->config.patience_ms = 0;
	for (int hour = 0; left && hour < 24 * 20 && !g->failed; hour++) {
		left = 0;
		for (size_t i = 0; i < JOBS; i++) {
			struct job *j = &g->jobs[i];

			if (j->work && (j->work->n < j->work->size || j->work->size > 8 || j->work->holds))
				lose_all(g, j);
			left += j->work != NULL;
			j->promise = TIME_UNKNOWN;
		}
		settle(g);
		g->now += 10 * MINUTE;
		time_passes(g);
	}
	for (size_t i = 0; i < JOBS; i++)
		JUDGE(!g->jobs[i].work, "%s never starts: why %d, size %zu", g->jobs[i].key, g->jobs[i].work->why,
		      g->jobs[i].work->size);
}

static bool play(uint64_t seed, unsigned long *starts, unsigned long *evictions)
{
	struct game game;
	struct game *g = &game;

	deal(g, seed);
	for (g->step = 0; g->step < ROUND_STEPS && !g->failed; g->step++) {
		something_happens(g);
		time_passes(g);
		look(g);
		settle(g);
	}
	drain(g);
	*starts += g->starts;
	*evictions += g->evictions;
	decisions_done(&g->d);
	world_free(g->w);
	return !g->failed;
}

static unsigned long number_from(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

TEST("world: whatever happens, nothing is given twice, broken, exceeded or forgotten")
{
	unsigned long seed = number_from("STOKER_RANDOM_SEED", 1);
	unsigned long steps = number_from("STOKER_RANDOM_STEPS", STEPS);
	unsigned long starts = 0;
	unsigned long evictions = 0;
	unsigned failures = 0;

	for (unsigned long done = 0; done < steps && failures < 5; done += ROUND_STEPS)
		failures += !play(seed++, &starts, &evictions);
	if (steps == STEPS) {
		CHECK(starts > STEPS / 10);
		CHECK(evictions > STEPS / 500);
	}
}

/* Rooms that were counted twice, for a victim that was young, and ends of works that had been started again. */
TEST("world: rounds that went wrong once go well")
{
	static const uint64_t seeds[] = { 1768, 2849, 2941, 8409, 10594 };
	unsigned long starts = 0;
	unsigned long evictions = 0;

	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++)
		CHECK(play(seeds[i], &starts, &evictions));
}
