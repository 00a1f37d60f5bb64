// SPDX-License-Identifier: Apache-2.0
#include "sched/queue.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

static struct waiting *waiting(struct queue *q, const char *name, int priority, int second)
{
	auto_free char *text = xasprintf(
		"{'metadata':{'name':'%s','creationTimestamp':'2026-01-01T00:00:%02dZ'},'spec':{'priority':%d}}", name,
		second, priority);
	json_auto_t *pod = sample_json(text);
	struct waiting *w = waiting_new(pod);

	queue_add(q, w);
	return w;
}

static char *order(const struct queue *q)
{
	struct sbuf out = SBUF(1000);
	struct waiting *w;

	for (size_t i = 0; (w = queue_at(q, i)); i++)
		sbuf_adds(&out, w->name);
	return sbuf_steal(&out);
}

#define CHECK_ORDER(q, want)                                                                                           \
	do {                                                                                                           \
		auto_free char *order_ = order(q);                                                                     \
		CHECK_STR(order_, want);                                                                               \
	} while (0)

TEST("pods wait by priority, then age, then arrival")
{
	struct queue q = { 0 };
	struct waiting *all[6];

	all[0] = waiting(&q, "a", 0, 5);
	all[1] = waiting(&q, "b", 0, 5);
	all[2] = waiting(&q, "c", 9, 6);
	all[3] = waiting(&q, "d", 0, 4);
	all[4] = waiting(&q, "e", -1, 0);
	all[5] = waiting(&q, "f", 0, 5);
	CHECK_ORDER(&q, "cdabfe");
	queue_leave(&q, 1);
	queue_leave(&q, 3);
	queue_pack(&q);
	CHECK_ORDER(&q, "cafe");
	queue_remove(&q, all[1]); /* not there any more */
	queue_remove(&q, all[5]);
	CHECK_ORDER(&q, "cae");
	queue_add(&q, all[1]); /* back in its old place */
	queue_add(&q, all[5]);
	CHECK_ORDER(&q, "cabfe");
	for (size_t i = 0; i < 6; i++)
		waiting_free(all[i]);
	queue_done(&q);
}

TEST("what the status says already need not be said again")
{
	json_auto_t *pod = sample_json("{'status':{'conditions':[{'type':'PodScheduled','status':'False',"
				       "'reason':'Unschedulable','message':'full'}]}}");
	json_auto_t *gated = sample_json("{'status':{'conditions':[{'type':'PodScheduled','status':'False',"
					 "'reason':'SchedulingGated','message':'gates'}]}}");
	struct waiting *w = waiting_new(pod);
	struct waiting *g = waiting_new(gated);

	CHECK_STR(w->said, "full");
	CHECK(!g->said);
	waiting_free(w);
	waiting_free(g);
}
