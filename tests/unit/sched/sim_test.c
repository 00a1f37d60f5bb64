// SPDX-License-Identifier: Apache-2.0
#include "sched/sim.h"

#include <math.h>
#include <stdlib.h>

#include "api/sample_json.h"
#include "base/mem.h"
#include "test.h"

#define MINUTE ((int64_t)60 * 1000)
#define T0     ((int64_t)1767225600000) /* 2026-01-01 */

static struct world *machine(int nodes, int gpus)
{
	struct world_config config = WORLD_CONFIG;
	struct world *w = world_new(&config);

	world_queue(w, "batch", NULL);
	for (int i = 0; i < nodes; i++) {
		auto_free char *text = xasprintf(
			"{'metadata':{'name':'n%d'},'status':{'allocatable':{'cpu':'640','memory':'256Gi',"
			"'pods':'100','nvidia.com/gpu':'%d'},'conditions':[{'type':'Ready','status':'True'}]}}",
			i, gpus);
		json_auto_t *node = sample_json(text);

		world_set_node(w, node);
	}
	return w;
}

static struct sim_job job(const char *key, const char *user, int64_t at, int gpus, int64_t minutes)
{
	return (struct sim_job){ .key = key,
				 .queue = "batch",
				 .user = user,
				 .group = "",
				 .submit_ms = T0 + at * MINUTE,
				 .run_ms = minutes * MINUTE,
				 .walltime_ms = 2 * minutes * MINUTE,
				 .members = 1,
				 .cpu_milli = 100,
				 .memory = 1 << 20,
				 .gpus = gpus };
}

TEST("sim: jobs wait for each other and end at their time")
{
	struct world *w = machine(1, 2);
	struct sim *s = sim_new(w, T0);
	struct sim_job jobs[] = {
		job("a", "anna", 0, 2, 10),
		job("b", "ben", 1, 2, 5),
		job("c", "anna", 2, 1, 3),
	};

	jobs[2].walltime_ms = 2 * MINUTE; /* shorter than it takes: it is ended then */
	for (size_t i = 0; i < 3; i++)
		sim_add(s, &jobs[i]);
	CHECK_INT(sim_run(s, TIME_UNKNOWN - 1, NULL), T0 + 17 * MINUTE);
	CHECK_INT(jobs[0].end_ms, T0 + 10 * MINUTE);
	CHECK_INT(jobs[1].start_ms, T0 + 10 * MINUTE);
	CHECK_INT(jobs[2].start_ms, T0 + 15 * MINUTE);
	CHECK_INT(jobs[2].end_ms, T0 + 17 * MINUTE);
	CHECK_INT((int64_t)jobs[0].gpu_seconds, 1200);
	sim_free(s);
	world_free(w);
}

TEST("sim: the important one evicts, and the evicted runs again from its beginning")
{
	struct world *w = machine(1, 2);
	struct sim *s = sim_new(w, T0);
	struct sim_job low = job("low", "anna", 0, 2, 10);
	struct sim_job top = job("top", "ben", 4, 2, 5);

	top.priority = 7;
	sim_add(s, &low);
	sim_add(s, &top);
	CHECK_INT(sim_run(s, TIME_UNKNOWN - 1, NULL), T0 + 19 * MINUTE);
	CHECK_INT(top.start_ms, T0 + 4 * MINUTE);
	CHECK_INT(low.start_ms, T0 + 9 * MINUTE);
	CHECK_INT(low.evictions, 1);
	CHECK_INT((int64_t)low.gpu_seconds, 2 * 60 * 14);
	sim_free(s);
	world_free(w);
}

/* ---- fairness ---- */

#define USERS 20
#define EACH  150

struct crowd {
	struct sim_job jobs[USERS * EACH];
	char keys[USERS * EACH][8];
	char users[USERS][8];
};

/* Until the first user has nothing left to start. */
static bool all_have_work(void *arg, struct sim *s, int64_t now_ms)
{
	const struct crowd *c = arg;

	(void)s;
	(void)now_ms;
	for (int u = 0; u < USERS; u++)
		if (c->jobs[u * EACH + EACH - 1].start_ms != TIME_UNKNOWN)
			return false;
	return true;
}

TEST("sim: users with equal shares get equal time, whatever their jobs are like")
{
	struct world *w = machine(5, 8);
	struct sim *s = sim_new(w, T0);
	struct crowd *c = xcalloc(1, sizeof(*c));
	struct sim_watch watch = { .moment = all_have_work, .arg = c };
	double used[USERS] = { 0 };
	double sum = 0;
	unsigned seed = 3;
	int64_t now;

	for (int u = 0; u < USERS; u++)
		snprintf(c->users[u], sizeof(c->users[u]), "u%d", u);
	for (int i = 0; i < USERS * EACH; i++) {
		int u = i / EACH;

		snprintf(c->keys[i], sizeof(c->keys[i]), "%d", i);
		/* Some send many small ones, some few that are large or long; one came much earlier. */
		c->jobs[i] = job(c->keys[i], c->users[u], u ? 1 : 0, 1 + u % 4, 5 + rand_r(&seed) % (20 + u));
		sim_add(s, &c->jobs[i]);
	}
	now = sim_run(s, TIME_UNKNOWN - 1, &watch);
	for (int i = 0; i < USERS * EACH; i++) {
		struct sim_job *j = &c->jobs[i];
		double running = j->start_ms != TIME_UNKNOWN && j->end_ms == TIME_UNKNOWN
					 ? (double)(now - j->start_ms) / 1000 * (double)j->gpus
					 : 0;

		used[i / EACH] += j->gpu_seconds + running;
		sum += j->gpu_seconds + running;
	}
	for (int u = 0; u < USERS; u++)
		if (fabs(used[u] * USERS / sum - 1) > 0.05)
			test_fail(__FILE__, __LINE__, "user %d has %.3f of a fair share", u, used[u] * USERS / sum);
	/* And nothing stood idle for it. */
	CHECK(sum / ((double)(now - T0) / 1000 * 40) > 0.97);
	sim_free(s);
	world_free(w);
	free(c);
}
