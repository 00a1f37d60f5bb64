// SPDX-License-Identifier: Apache-2.0
/* pbs_gate.c - see pbs_gate.h
 *
 * With scheduling gates there is nothing to remember: the pods are there.  Where they are only made when there is room,
 * what was asked for and is not wanted any more, because its job is held or deleted, has to be taken back.
 */
#include "control/pbs_gate.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_template.h"

static void set_free(void *v)
{
	json_decref(v);
}

void pbs_gate_init(struct pbs_gate *g, struct gate *gate)
{
	g->gate = gate;
	map_init(&g->wished, set_free);
}

void pbs_gate_done(struct pbs_gate *g)
{
	map_done(&g->wished);
}

static enum gate_way way_of(const struct pbs_gate *g)
{
	return g->gate ? g->gate->ops->way(g->gate) : GATE_OFF;
}

size_t pbs_gate_most(const struct pbs_gate *g, size_t most)
{
	return way_of(g) == GATE_DELAY ? SIZE_MAX : most;
}

/* ---- wishes ---- */

static char *gang_of(const json_t *job, const struct pbs_new_pod *m)
{
	return pbs_gang(job, m->index, m->run);
}

/* Those from `first` on that are of the same run; the planner makes them one after the other. */
static size_t count_run(const struct pbs_plan *p, size_t first)
{
	size_t n = 1;

	while (first + n < p->nmake && p->make[first + n].index == p->make[first].index)
		n++;
	return n;
}

static void wish(const struct pbs_gate *g, const json_t *job, const struct pbs_plan *p, size_t first, size_t n,
		 bool *ret_go)
{
	auto_free char *gang = gang_of(job, &p->make[first]);
	auto_free json_t **pods = xcalloc(n, sizeof(*pods));
	struct gate_wish w = { .ns = jsonx_str_or(job, "metadata.namespace", ""),
			       .gang = gang,
			       .pods = pods,
			       .n = n,
			       .since_ms = time_at(job, "metadata.creationTimestamp") * 1000 };

	for (size_t i = 0; i < n; i++) {
		const struct pbs_new_pod *m = &p->make[first + i];

		pods[i] = pbs_pod(m->order, m->index, m->rank, m->run);
	}
	g->gate->ops->wish(g->gate, &w, ret_go);
	for (size_t i = 0; i < n; i++)
		json_decref(pods[i]);
}

static void take_back(const struct pbs_gate *g, const char *key, const char *gang)
{
	auto_free char *ns = xstrndup(key, strcspn(key, "/"));
	bool go = false;

	g->gate->ops->wish(g->gate, &(struct gate_wish){ .ns = ns, .gang = gang }, &go);
}

/* What was asked for before and is not any more. */
static void replace(struct pbs_gate *g, const char *key, json_t *now)
{
	const char *gang;
	json_t *v;

	json_object_foreach ((json_t *)map_find(&g->wished, key), gang, v)
		if (!json_object_get(now, gang))
			take_back(g, key, gang);
	if (json_object_size(now))
		map_set(&g->wished, key, now);
	else
		map_remove(&g->wished, key);
	if (!json_object_size(now))
		json_decref(now);
}

static void ask(struct pbs_gate *g, const char *key, const json_t *job, const struct pbs_plan *p, bool *go)
{
	json_t *now = json_object();

	for (size_t i = 0, n; i < p->nmake; i += n) {
		auto_free char *gang = gang_of(job, &p->make[i]);

		n = count_run(p, i);
		wish(g, job, p, i, n, go + i);
		json_object_set_new(now, gang, json_true());
	}
	replace(g, key, now);
}

void pbs_gate_hold(struct pbs_gate *g, const char *key, const json_t *job, size_t most, struct pbs_plan *p)
{
	enum gate_way way = way_of(g);
	auto_free bool *go = NULL;
	size_t n = 0;

	if (way == GATE_ASKING)
		p->nmake = 0;
	if (way != GATE_DELAY)
		return;
	go = xcalloc(p->nmake + 1, sizeof(*go));
	ask(g, key, job, p, go);
	for (size_t i = 0; i < p->nmake; i++) {
		if (go[i] && n == most)
			p->again = p->again < 0 || p->again > 1 ? 1 : p->again;
		else if (go[i])
			p->make[n++] = p->make[i];
	}
	p->nmake = n;
}

void pbs_gate_forget(struct pbs_gate *g, const char *key)
{
	if (g->gate && map_find(&g->wished, key))
		replace(g, key, json_object());
}

/* ---- pods, and words ---- */

void pbs_gate_close(const struct pbs_gate *g, json_t *pod)
{
	if (way_of(g) == GATE_GATES)
		json_array_append_new(array_at(json_object_get(pod, "spec"), "schedulingGates"),
				      json_pack("{s:s}", "name", GATE_NAME));
}

const char *pbs_gate_why(const struct pbs_gate *g, const json_t *job, int index, int run)
{
	enum gate_way way = way_of(g);
	auto_free char *gang = pbs_gang(job, index, run);
	const char *why = NULL;

	if (way != GATE_GATES && way != GATE_DELAY)
		return NULL;
	if (g->gate->ops->state(g->gate, jsonx_str_or(job, "metadata.namespace", ""), gang, &why) != GATE_WAITS)
		return NULL;
	return why;
}
