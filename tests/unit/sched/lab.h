// SPDX-License-Identifier: Apache-2.0
/* lab.h - a small machine of which every card is counted, and what a pass decides there */
#ifndef STOKER_TEST_LAB_H
#define STOKER_TEST_LAB_H

#include "api/sample_json.h"
#include "base/mem.h"
#include "sched/why.h"
#include "sched/world.h"
#include "test.h"

#define HOUR ((int64_t)3600 * 1000)
#define T0   ((int64_t)1767225600000) /* 2026-01-01 */

struct lab {
	struct world *w;
	int64_t now;
	struct decisions d;
};

static inline void add_node(struct lab *l, const char *name, int gpus)
{
	auto_free char *text =
		xasprintf("{'metadata':{'name':'%s'},'status':{'allocatable':{'cpu':'64','memory':'256Gi',"
			  "'pods':'100','nvidia.com/gpu':'%d'},'conditions':[{'type':'Ready',"
			  "'status':'True'}]}}",
			  name, gpus);
	json_auto_t *node = sample_json(text);

	world_set_node(l->w, node);
}

static inline struct lab lab_new(int nodes, int gpus)
{
	struct world_config config = WORLD_CONFIG;
	struct lab l = { .now = T0 };

	config.young_ms = 0; /* all begin and are evicted in one moment */
	l.w = world_new(&config);
	world_queue(l.w, "batch", NULL);
	for (int i = 0; i < nodes; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		add_node(&l, name, gpus);
	}
	return l;
}

static inline void lab_done(struct lab *l)
{
	decisions_done(&l->d);
	world_free(l->w);
}

/* One job: a letter, so many pods with so many cards each. */
struct job {
	const char *name, *user;
	int pods, gpus;
	int64_t wall, priority;
	const char *queue;
	/* Of PBS jobs. */
	bool pbs, run_now;
	int own;
	uint64_t place;
};

static inline struct work *add(struct lab *l, const struct job *j)
{
	struct work_facts f = {
		.key = j->name,
		.queue = j->queue ? j->queue : "batch",
		.user = j->user ? j->user : "anna",
		.group = "",
		.priority = j->priority,
		.submitted_ms = l->now,
		.walltime_ms = j->wall ? j->wall : WALLTIME_NONE,
		.may_preempt = true,
		.may_requeue = true,
		.size = (size_t)j->pods,
		.pbs = j->pbs,
		.run_now = j->run_now,
		.own = j->own,
		.place = j->place,
	};
	struct work *work = world_work(l->w, &f);

	for (int i = 0; i < j->pods; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", i);
		work_member(l->w, work, id, space_shape_plain(world_space(l->w), 1000, 1 << 20, j->gpus, NULL));
	}
	return work;
}

/* Passes until there is nothing more to decide: "a b -c" started a and b and evicted c. */
static inline const char *pass(struct lab *l)
{
	static char out[4096];
	struct world_slice slice = { .now_ms = l->now, .most = 1000 };
	size_t n = 0;

	out[0] = 0;
	do {
		world_pass(l->w, &slice, &l->d);
		for (size_t i = 0; i < l->d.n; i++) {
			struct work *work = l->d.items[i].work;
			bool start = l->d.items[i].what == DECIDE_START;

			n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s%s", n ? " " : "", start ? "" : "-",
					      work->key);
			for (size_t k = 0; start && k < work->n; k++) {
				struct member *m = &work->members[k];

				if (m->fresh)
					work_bound(l->w, work, m->id, node_name(m->seat.node), m->seat.cards, l->now);
				m->fresh = false;
			}
		}
	} while (l->d.more);
	return out;
}

static inline void end(struct lab *l, const char *name)
{
	struct work *work = world_find(l->w, name);

	for (size_t left = work->n; left > 0; left--)
		work_gone(l->w, work, work->members[left - 1].id, l->now);
}

#define CHECK_WHY(l, name, want)                                                                                       \
	do {                                                                                                           \
		auto_sbuf struct sbuf why_ = SBUF(2000);                                                               \
		why_condition(                                                                                         \
			&(struct why_view){ .world = (l)->w, .work = world_find((l)->w, name), .now_ms = (l)->now },   \
			&why_);                                                                                        \
		CHECK_STR(why_.p ? why_.p : "", want);                                                                 \
	} while (0)

#endif
