// SPDX-License-Identifier: Apache-2.0
/* why_lab.h - a small machine whose pods are JSON, so that a forecast can copy them, and what is said of each there */
#ifndef STOKER_TEST_WHY_LAB_H
#define STOKER_TEST_WHY_LAB_H

#include <stdlib.h>
#include <time.h>

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/forecast.h"
#include "sched/why.h"
#include "sched/world_ask.h"
#include "test.h"

#define MINUTE ((int64_t)60 * 1000)
#define T0     ((int64_t)1767261600000) /* 2026-01-01 10:00 UTC */
#define NODES  4

struct lab {
	struct world *w;
	int64_t now;
	json_t *nodes, *queues, *pods;
};

static inline struct lab lab_new(int nodes, int gpus, const char *cpu)
{
	struct world_config config = WORLD_CONFIG;
	struct lab l = { .now = T0, .nodes = json_array(), .queues = json_array(), .pods = json_object() };

	config.young_ms = 0; /* all begin and are evicted in one moment */
	l.w = world_new(&config);
	setenv("TZ", "UTC", 1);
	tzset();
	world_queue(l.w, "batch", NULL);
	for (int i = 0; i < nodes; i++) {
		auto_free char *text =
			xasprintf("{'metadata':{'name':'n%d'},'status':{'allocatable':{'cpu':'%s','memory':'64Gi',"
				  "'pods':'100','nvidia.com/gpu':'%d'},'conditions':[{'type':'Ready',"
				  "'status':'True'}]}}",
				  i, cpu, gpus);

		json_array_append_new(l.nodes, sample_json(text));
		world_set_node(l.w, json_array_get(l.nodes, (size_t)i));
	}
	return l;
}

static inline void lab_done(struct lab *l)
{
	world_free(l->w);
	json_decref(l->nodes);
	json_decref(l->queues);
	json_decref(l->pods);
}

static inline void add_queue(struct lab *l, const char *name, const char *spec)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'%s'},'spec':%s}", name, spec);
	json_t *queue = sample_json(text);

	json_array_append_new(l->queues, queue);
	world_queue(l->w, name, json_object_get(queue, "spec"));
}

struct job {
	const char *name, *user;
	int pods, gpus, cpus;
	int64_t minutes; /* of walltime; 0: none */
	const char *queue;
	int64_t priority, not_before;
	unsigned holds;
	bool never_preempts, once;
	const char *model;
	bool alone;
	const char *after;
	bool stuck;
	const char *also; /* requested */
};

static inline struct work *add(struct lab *l, const struct job *j)
{
	int n = j->pods ? j->pods : 1;
	struct work_facts f = {
		.key = j->name,
		.queue = j->queue ? j->queue : "batch",
		.user = j->user ? j->user : "anna",
		.group = "",
		.priority = j->priority,
		.submitted_ms = l->now,
		.not_before_ms = j->not_before,
		.walltime_ms = j->minutes ? j->minutes * MINUTE : WALLTIME_NONE,
		.may_preempt = !j->never_preempts,
		.may_requeue = !j->once,
		.holds = j->holds,
		.after = j->after,
		.stuck = j->stuck,
		.size = (size_t)n,
	};
	struct work *work = world_work(l->w, &f);

	for (int i = 0; i < n; i++) {
		auto_free char *id = xasprintf("%s-%d", j->name, i);
		auto_free char *text = xasprintf(
			"{'metadata':{'name':'%s'%s%s%s},'spec':{'containers':[{'name':'c','resources':{"
			"'requests':{'cpu':'%d','nvidia.com/gpu':'%d'%s}}}]}}",
			id,
			j->alone   ? ",'annotations':{'stoker.dev/exclusive':'"
			: j->model ? ",'annotations':{'stoker.dev/gpu-model':'"
				   : "",
			j->alone   ? "true"
			: j->model ? j->model
				   : "",
			j->alone || j->model ? "'}" : "", j->cpus ? j->cpus : 1, j->gpus, j->also ? j->also : "");
		json_t *pod = sample_json(text);

		json_object_set_new(l->pods, id, pod);
		work_member(l->w, work, id, space_shape(world_space(l->w), pod));
	}
	return work;
}

static inline void pass(struct lab *l)
{
	struct world_slice slice = { .now_ms = l->now, .most = 1000 };
	struct decisions d = { 0 };

	do {
		world_pass(l->w, &slice, &d);
		for (size_t i = 0; i < d.n; i++)
			for (size_t k = 0; d.items[i].what == DECIDE_START && k < d.items[i].work->n; k++) {
				struct member *m = &d.items[i].work->members[k];

				if (m->fresh)
					work_bound(l->w, d.items[i].work, m->id, node_name(m->seat.node), m->seat.cards,
						   l->now);
				m->fresh = false;
			}
	} while (d.more);
	decisions_done(&d);
}

/* ---- asking ---- */

static inline bool next_of(json_t *list, size_t *pos, const json_t **ret)
{
	*ret = json_array_get(list, *pos);
	++*pos;
	return *ret != NULL;
}

static inline bool next_node(void *arg, size_t *pos, const json_t **ret)
{
	return next_of(((struct lab *)arg)->nodes, pos, ret);
}

static inline bool next_queue(void *arg, size_t *pos, const json_t **ret)
{
	return next_of(((struct lab *)arg)->queues, pos, ret);
}

static inline const json_t *find_pod(void *arg, const char *id)
{
	return json_object_get(((struct lab *)arg)->pods, id);
}

static inline struct forecast *forecast_of(struct lab *l)
{
	struct forecast_source source = { .world = l->w,
					  .config = WORLD_CONFIG,
					  .next_node = next_node,
					  .next_queue = next_queue,
					  .pod = find_pod,
					  .arg = l };

	source.config.young_ms = 0;
	return forecast_new(&source);
}

static inline const char *name_of(void *arg, const struct work *other)
{
	static char name[64];

	(void)arg;
	snprintf(name, sizeof(name), "job %s", other->key);
	return streq(other->user, "anna") ? name : NULL;
}

/* "sentence | help" */
static inline const char *ask(struct lab *l, const char *key)
{
	static char answer[2048];
	auto_sbuf struct sbuf sentence = SBUF(1024);
	auto_sbuf struct sbuf help = SBUF(1024);
	struct forecast *f = forecast_of(l);
	struct why_view v = {
		.world = l->w, .work = world_find(l->w, key), .ns = "lab", .pod = key, .now_ms = l->now, .name = name_of
	};

	CHECK(forecast_step(f, l->now, NULL, NULL));
	v.position = forecast_position(f, key);
	v.expected_ms = forecast_start(f, key);
	v.foretold = forecast_covers(f, key);
	v.after = forecast_after(f, key) ? world_find(l->w, forecast_after(f, key)) : NULL;
	v.behind = forecast_behind(f, key) ? world_find(l->w, forecast_behind(f, key)) : NULL;
	forecast_free(f);
	why_sentence(&v, &sentence);
	why_help(&v, &help);
	snprintf(answer, sizeof(answer), "%s | %s", sentence.p ? sentence.p : "", help.p ? help.p : "");
	return answer;
}

#endif
