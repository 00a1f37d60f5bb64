// SPDX-License-Identifier: Apache-2.0
/* bench_sched.c - what the plan of the scheduler costs, and how well it shares: bench-sched [CASE...]
 *
 * One line a figure, "name value unit", for tests/bench/queue.py.  Times are of this program's processor alone, because
 * others run beside it.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/sim.h"

#define SLICE_NS ((int64_t)10 * 1000 * 1000) /* the server's, see sched.c */
#define T0       ((int64_t)1767225600000)
#define SECOND   ((int64_t)1000)

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void figure(const char *name, double value, const char *unit)
{
	printf("%s %.6g %s\n", name, value, unit);
	fflush(stdout);
}

static uint64_t random_state = 88172645463325252u;

static unsigned roll(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

static void add_node(struct world *w, const char *name, int cpus, int gpus)
{
	json_auto_t *node = json_pack("{s:{s:s,s:{s:s}},s:{s:[{s:s,s:s}],s:{s:o,s:s,s:s,s:o}}}", "metadata", "name",
				      name, "labels", "pool", name, "status", "conditions", "type", "Ready", "status",
				      "True", "allocatable", "cpu", jsonx_stringf("%d", cpus), "memory", "512Gi",
				      "pods", "10000", "nvidia.com/gpu", jsonx_stringf("%d", gpus));

	world_set_node(w, node);
}

static struct world *machine_with(const struct world_config *config, size_t nodes, int cpus, int gpus)
{
	struct world *w = world_new(config);

	world_queue(w, "batch", NULL);
	for (size_t i = 0; i < nodes; i++) {
		char name[32];

		snprintf(name, sizeof(name), "node-%05zu", i);
		add_node(w, name, cpus, gpus);
	}
	return w;
}

static struct world *machine(size_t nodes, int cpus, int gpus)
{
	struct world_config config = WORLD_CONFIG;

	return machine_with(&config, nodes, cpus, gpus);
}

struct ask {
	size_t pods;
	int64_t cpu_milli, gpus, walltime_ms;
	unsigned user;
};

static void add_work(struct world *w, size_t number, const struct ask *a)
{
	char key[32], user[32], id[32];
	struct work_facts f = { .key = key,
				.queue = "batch",
				.user = user,
				.group = "",
				.submitted_ms = T0,
				.walltime_ms = a->walltime_ms,
				.may_preempt = true,
				.may_requeue = true,
				.size = a->pods };
	struct work *work;

	snprintf(key, sizeof(key), "lab/job-%zu", number);
	snprintf(user, sizeof(user), "user-%u", a->user);
	work = world_work(w, &f);
	for (size_t i = 0; i < a->pods; i++) {
		snprintf(id, sizeof(id), "%zu-%zu", number, i);
		work_member(w, work, id, space_shape_plain(world_space(w), a->cpu_milli, 1 << 28, a->gpus, NULL));
	}
}

/* ---- passes ---- */

struct timing {
	int64_t began, longest, sum;
	size_t starts;
};

static bool is_over(void *arg)
{
	return cpu_ns() - ((struct timing *)arg)->began > SLICE_NS;
}

static struct timing passes(struct world *w, int64_t now_ms)
{
	struct timing t = { 0 };
	struct world_slice slice = { .now_ms = now_ms, .stop = is_over, .arg = &t, .most = 1000 };
	struct decisions d = { 0 };

	do {
		int64_t took;

		t.began = cpu_ns();
		world_pass(w, &slice, &d);
		took = cpu_ns() - t.began;
		t.sum += took;
		t.longest = took > t.longest ? took : t.longest;
		for (size_t i = 0; i < d.n; i++) {
			struct work *work = d.items[i].work;

			t.starts++;
			for (size_t k = 0; k < work->n; k++) {
				struct member *m = &work->members[k];

				work_bound(w, work, m->id, node_name(m->seat.node), m->seat.cards, now_ms);
				m->fresh = false;
			}
		}
	} while (d.more);
	decisions_done(&d);
	return t;
}

static struct ask any_ask(unsigned shapes)
{
	return (struct ask){ .pods = 1,
			     .cpu_milli = 500 + 100 * (int64_t)roll(shapes),
			     .walltime_ms = (1 + roll(8)) * 3600 * SECOND,
			     .user = roll(50) };
}

static void plan(size_t nodes, size_t pods)
{
	struct world *w = machine(nodes, 128, 0);
	struct timing t;
	char name[64];

	for (size_t i = 0; i < pods; i++) {
		struct ask a = any_ask(20);

		add_work(w, i, &a);
	}
	t = passes(w, T0);
	if (t.starts != pods)
		printf("# only %zu of %zu started\n", t.starts, pods);
	snprintf(name, sizeof(name), "plan_%zu_%zu", nodes, pods);
	figure(name, (double)pods / ((double)t.sum / 1e9), "pods/s");
	snprintf(name, sizeof(name), "plan_%zu_%zu_slice", nodes, pods);
	figure(name, (double)t.longest / 1e6, "ms");
	world_free(w);
}

static void run_plans(void)
{
	plan(100, 5000);
	plan(5000, 50000);
}

/* The machine is full, and all the others wait. */
static void run_pending(void)
{
	size_t nodes = 5000;
	struct world *w = machine(nodes, 8, 0);
	struct timing t;

	for (size_t i = 0; i < nodes; i++)
		add_work(w, i, &(struct ask){ .pods = 1, .cpu_milli = 8000, .walltime_ms = 3600 * SECOND });
	passes(w, T0);
	for (size_t i = 0; i < 50000; i++) {
		struct ask a = any_ask(50);

		add_work(w, nodes + i, &a);
	}
	t = passes(w, T0 + SECOND);
	figure("pending_pass", (double)t.sum / 1e6, "ms");
	figure("pending_slice", (double)t.longest / 1e6, "ms");
	world_free(w);
}

static void run_gang(void)
{
	struct world *w = machine(1000, 64, 8);
	struct timing t;

	add_work(w, 1, &(struct ask){ .pods = 1000, .cpu_milli = 4000, .gpus = 1, .walltime_ms = WALLTIME_NONE });
	t = passes(w, T0);
	figure("gang_1000", (double)t.sum / 1e6, "ms");
	world_free(w);
}

static void run_million(void)
{
	size_t jobs = 1000000;
	struct world *w = machine(100, 64, 8);
	struct timing t;
	size_t before;

	for (size_t i = 0; i < 800; i++)
		add_work(w, i, &(struct ask){ .pods = 1, .cpu_milli = 1000, .gpus = 1, .walltime_ms = 3600 * SECOND });
	passes(w, T0);
	before = mallinfo2().uordblks;
	for (size_t i = 0; i < jobs; i++)
		add_work(w, 1000 + i,
			 &(struct ask){ .pods = 1,
					.cpu_milli = 1000,
					.gpus = 1 + roll(4),
					.walltime_ms = (1 + roll(24)) * 3600 * SECOND,
					.user = roll(200) });
	figure("million_bytes", (double)(mallinfo2().uordblks - before) / (double)jobs, "bytes");
	t = passes(w, T0 + SECOND);
	figure("million_first_pass", (double)t.sum / 1e6, "ms");
	work_gone(w, world_find(w, "lab/job-7"), "7-0", T0 + 2 * SECOND);
	t = passes(w, T0 + 2 * SECOND);
	figure("million_pass", (double)t.sum / 1e6, "ms");
	t = passes(w, T0 + 4 * 24 * 3600 * SECOND);
	world_touch(w);
	t = passes(w, T0 + 4 * 24 * 3600 * SECOND);
	figure("million_slice", (double)t.longest / 1e6, "ms");
	world_free(w);
}

/* ---- whole runs ---- */

struct crowd {
	struct sim_job *jobs;
	size_t n;
	char (*names)[32];
};

static struct sim_job *crowd_add(struct crowd *c)
{
	struct sim_job *j = &c->jobs[c->n];

	snprintf(c->names[c->n], sizeof(*c->names), "job-%zu", c->n);
	*j = (struct sim_job){ .key = c->names[c->n], .queue = "batch", .user = "user", .group = "", .members = 1 };
	c->n++;
	return j;
}

static struct crowd crowd_new(size_t n)
{
	return (struct crowd){ .jobs = xcalloc(n, sizeof(struct sim_job)), .names = xcalloc(n, 32) };
}

static void crowd_done(struct crowd *c)
{
	free(c->jobs);
	free(c->names);
}

/* Of those of a priority. */
static double mean_wait(const struct crowd *c, int64_t priority)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->jobs[i].priority == priority) {
			sum += (double)(c->jobs[i].start_ms - c->jobs[i].submit_ms);
			n++;
		}
	return sum / (double)(n ? n : 1);
}

/* Kueue's scenario: cohorts are pools of nodes, whose queues lend each other all that they do not use. */
static void kueue(bool preemption)
{
	static const struct {
		int count, every_ms, run_ms, priority, cpus;
	} sets[] = { { 350, 100, 200, 50, 1 }, { 100, 500, 500, 100, 5 }, { 50, 1200, 1000, 200, 20 } };
	static char queues[30][32];
	struct crowd c = crowd_new(30 * 500);
	struct world_config config = WORLD_CONFIG;
	int64_t began = cpu_ns();
	size_t evictions = 0;
	struct world *w;
	struct sim *s;

	config.preemption = preemption;
	w = machine_with(&config, 5, 120, 0);
	s = sim_new(w, T0);
	for (int q = 0; q < 30; q++) {
		json_auto_t *spec =
			json_pack("{s:[o], s:o, s:{s:s}, s:{s:s}}", "nodeProperties",
				  jsonx_stringf("pool=node-%05d", q / 6), "cohort", jsonx_stringf("cohort-%d", q / 6),
				  "quota", "cpus", "20", "borrowingLimit", "cpus", "100");

		snprintf(queues[q], sizeof(queues[q]), "queue-%d", q);
		world_queue(w, queues[q], spec);
		for (size_t k = 0; k < ARRAY_SIZE(sets); k++)
			for (int i = 0; i < sets[k].count; i++) {
				struct sim_job *j = crowd_add(&c);

				j->queue = queues[q];
				j->submit_ms = T0 + (int64_t)i * sets[k].every_ms;
				j->run_ms = sets[k].run_ms;
				j->walltime_ms = WALLTIME_NONE;
				j->priority = sets[k].priority;
				j->cpu_milli = sets[k].cpus * 1000;
			}
	}
	for (size_t i = 0; i < c.n; i++)
		sim_add(s, &c.jobs[i]);
	figure(preemption ? "kueue_evicting" : "kueue_makespan",
	       (double)(sim_run(s, TIME_UNKNOWN - 1, NULL) - T0) / 1000, "s");
	for (size_t i = 0; i < c.n; i++)
		evictions += c.jobs[i].evictions;
	if (preemption) {
		figure("kueue_evictions", (double)evictions, "jobs");
		figure("kueue_large_wait", mean_wait(&c, 200), "ms");
	}
	if (!preemption)
		figure("kueue_cpu", (double)(cpu_ns() - began) / 1e9, "s");
	sim_free(s);
	world_free(w);
	crowd_done(&c);
}

static void run_kueue(void)
{
	kueue(false);
	kueue(true);
}

#define USERS     100
#define USER_JOBS 1000

struct fairness {
	const struct crowd *crowd;
	int64_t now_ms;
	size_t left[USERS];
};

/* Until the first user has nothing more that waits. */
static bool all_wait(void *arg, struct sim *s, int64_t now_ms)
{
	struct fairness *f = arg;

	(void)s;
	f->now_ms = now_ms;
	for (size_t u = 0; u < USERS; u++) {
		const struct sim_job *jobs = &f->crowd->jobs[u * USER_JOBS];

		while (f->left[u] && jobs[USER_JOBS - f->left[u]].start_ms != TIME_UNKNOWN)
			f->left[u]--;
		if (!f->left[u])
			return false;
	}
	return true;
}

static double gpu_seconds(const struct crowd *c, size_t user, int64_t now_ms)
{
	double sum = 0;

	for (size_t i = user * USER_JOBS; i < (user + 1) * USER_JOBS; i++) {
		const struct sim_job *j = &c->jobs[i];

		if (j->start_ms != TIME_UNKNOWN)
			sum += (double)((j->end_ms < now_ms ? j->end_ms : now_ms) - j->start_ms) / 1000 *
			       (double)j->gpus;
	}
	return sum;
}

static void run_fair(void)
{
	static char users[USERS][32];
	struct crowd c = crowd_new((size_t)USERS * USER_JOBS);
	struct world *w = machine(8, 64, 8);
	struct sim *s = sim_new(w, T0);
	struct fairness f = { .crowd = &c };
	int64_t began = cpu_ns();
	double mean = 0;
	double worst = 0;

	for (size_t u = 0; u < USERS; u++) {
		snprintf(users[u], sizeof(users[u]), "user-%zu", u);
		f.left[u] = USER_JOBS;
		for (size_t i = 0; i < USER_JOBS; i++) {
			struct sim_job *j = crowd_add(&c);

			j->user = users[u];
			j->submit_ms = T0;
			j->gpus = 1 + roll(u % 3 + 1);
			j->cpu_milli = 1000;
			j->run_ms = (600 + roll(1200)) * SECOND;
			j->walltime_ms = 3600 * SECOND;
		}
	}
	for (size_t i = 0; i < c.n; i++)
		sim_add(s, &c.jobs[i]);
	sim_run(s, TIME_UNKNOWN - 1, &(struct sim_watch){ .moment = all_wait, .arg = &f });
	for (size_t u = 0; u < USERS; u++)
		mean += gpu_seconds(&c, u, f.now_ms) / USERS;
	for (size_t u = 0; u < USERS; u++)
		worst = fmax(worst, fabs(gpu_seconds(&c, u, f.now_ms) / mean - 1));
	figure("fair_worst", worst * 100, "%");
	figure("fair_days", (double)(f.now_ms - T0) / (24 * 3600 * SECOND), "days");
	figure("fair_cpu", (double)(cpu_ns() - began) / 1e9, "s");
	sim_free(s);
	world_free(w);
	crowd_done(&c);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "plan", run_plans },  { "pending", run_pending }, { "gang", run_gang },
		{ "kueue", run_kueue }, { "fair", run_fair },       { "million", run_million },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool wanted = argc == 1;

		for (int k = 1; k < argc; k++)
			wanted |= streq(argv[k], cases[i].name);
		if (wanted)
			cases[i].run();
	}
	return 0;
}
