// SPDX-License-Identifier: Apache-2.0
/* idle_watch.c - see idle_watch.h
 *
 * Follows the queues, for their policies.  There is a timer only while a pod with cards is in a queue that has one:
 * it begins when a queue changes or a pod gets its cards, and ends when a look finds nobody to look at.  A node without
 * cards does nothing.
 */
#include "node/idle_watch.h"

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "node/gpu_use.h"
#include "node/idle.h"

struct idle_watch {
	const struct node_parts *parts;
	struct informer *queues;
	struct gpu_use *use;
	struct map policies; /* queue -> struct idle_policy *, of those that have one */
	struct loop_timer look;
};

void idle_watch_touch(struct idle_watch *w)
{
	if (w && w->use && !loop_timer_pending(&w->look))
		loop_timer_set(w->parts->loop, &w->look, 0);
}

static int64_t shortest_period(const struct idle_watch *w)
{
	int64_t shortest = INT64_MAX;
	size_t pos = 0;
	void *p;

	while (map_next(&w->policies, &pos, NULL, &p)) {
		int64_t ms = idle_period_ms(p);

		shortest = ms < shortest ? ms : shortest;
	}
	return shortest;
}

/* Also pods whose queue has no policy any more are asked: they may have been told of one. */
static void on_look(void *arg)
{
	struct idle_watch *w = arg;
	bool any = false;
	size_t pos = 0;
	void *p;

	if (w->policies.n)
		gpu_use_next(w->use);
	while (map_next(w->parts->pods, &pos, NULL, &p))
		any |= pod_idle_look(p, w->use, map_find(&w->policies, pod_queue(p)));
	if (any)
		loop_timer_set(w->parts->loop, &w->look, shortest_period(w));
	else
		gpu_use_stop(w->use);
}

static bool is_same(const struct idle_policy *a, const struct idle_policy *b)
{
	return a->warn_s == b->warn_s && a->end_s == b->end_s && a->below == b->below;
}

static void on_queue(void *arg, const json_t *obj, const json_t *old)
{
	struct idle_watch *w = arg;
	struct idle_policy policy = idle_policy_of(json_object_get(obj, "spec"));
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");
	const struct idle_policy *before = map_find(&w->policies, name);

	if (!policy.warn_s && !before)
		return;
	if (before && is_same(before, &policy))
		return; /* a status */
	if (policy.warn_s) {
		struct idle_policy *mine = xcalloc(1, sizeof(*mine));

		*mine = policy;
		map_set(&w->policies, name, mine);
	} else {
		map_remove(&w->policies, name);
	}
	loop_timer_clear(&w->look);
	idle_watch_touch(w);
}

struct idle_watch *idle_watch_new(const struct node_parts *parts)
{
	struct idle_watch *w = xcalloc(1, sizeof(*w));

	w->parts = parts;
	map_init(&w->policies, free);
	w->look = (struct loop_timer){ .fire = on_look, .arg = w };
	if (!gpus_count(parts->gpus))
		return w;
	w->use = gpu_use_new(parts->loop, parts->gpus);
	w->queues = informer_new(parts->client, &(struct ref){ .api_version = "stoker.dev/v1", .plural = "queues" },
				 NULL, &(struct informer_handlers){ .change = on_queue, .arg = w });
	return w;
}

void idle_watch_free(struct idle_watch *w)
{
	if (!w)
		return;
	informer_free(w->queues);
	loop_timer_done(&w->look);
	gpu_use_free(w->use);
	map_done(&w->policies);
	free(w);
}
