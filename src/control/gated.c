// SPDX-License-Identifier: Apache-2.0
/* gated.c - see gated.h
 *
 * The gate knows gangs by what their pods say (stoker.dev/gang), so a job needs no state here: what is to be made is
 * asked for with every plan, and what is not asked for any more is forgotten there.
 */
#include "control/gated.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_template.h"
#include "kinds/queue.h"

struct gated {
	struct owned *pods;
	struct gate *gate;
};

static void on_pod(void *arg, const struct pod_facts *pod, const struct pod_facts *old)
{
	const struct gated *g = arg;

	g->gate->ops->pod(g->gate, pod ? pod->obj : old->obj, !pod);
}

static void on_synced(void *arg)
{
	const struct gated *g = arg;

	g->gate->ops->synced(g->gate);
}

struct gated *gated_new(struct owned *pods, struct gate *gate)
{
	struct gated *g = xcalloc(1, sizeof(*g));

	*g = (struct gated){ pods, gate };
	owned_follow(pods, &(struct owned_handlers){ .any = on_pod, .synced = on_synced, .arg = g });
	return g;
}

void gated_free(struct gated *g)
{
	if (!g)
		return;
	owned_unfollow(g->pods, g);
	free(g);
}

/* ---- one job ---- */

static char *gang_of(const struct training_job *j)
{
	return xasprintf("%s/%s", j->form->plural, j->name);
}

static bool has_begun(const struct training_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->pods[i]->phase != POD_IS_PENDING)
			return true;
	return false;
}

void gated_view(struct gate *gate, struct training_view *v)
{
	auto_free char *gang = gang_of(v->job);
	enum gate_way way = gate ? gate->ops->way(gate) : GATE_OFF;
	struct gate_rule rule = { 0 };

	v->held = gate && !training_finished(v->job->obj) &&
		  gate->ops->held(gate, v->job->form->plural, v->job->obj, &rule);
	if (v->held) {
		v->held_until_ms = rule.until_ms;
		v->queued = has_begun(v) ? GATE_UNKNOWN : GATE_WAITS;
		v->queued_why = rule.why;
		return;
	}
	if (gate && way == GATE_OFF)
		v->queued = GATE_IN;
	if (way != GATE_GATES && way != GATE_DELAY)
		return;
	/* All that are missing: there is room for a gang or there is not. */
	if (way == GATE_DELAY)
		v->create_most = SIZE_MAX;
	v->queued = gate->ops->state(gate, v->job->ns, gang, &v->queued_why);
}

static void wish(struct gate *gate, const struct training_job *job, const struct training_plan *p, bool *ret_go)
{
	auto_free char *gang = gang_of(job);
	auto_free json_t **pods = xcalloc(p->npods + 1, sizeof(*pods));
	struct gate_wish w = { .ns = job->ns,
			       .gang = gang,
			       .pods = pods,
			       .n = p->npods,
			       .since_ms = time_at(job->obj, "metadata.creationTimestamp") * 1000 };

	for (size_t i = 0; i < p->npods; i++) {
		pods[i] = training_pod(job, p->pods[i].role, p->pods[i].index, p->pods[i].attempt);
		gated_close(gate, job, pods[i]);
	}
	gate->ops->wish(gate, &w, ret_go);
	for (size_t i = 0; i < p->npods; i++)
		json_decref(pods[i]);
}

void gated_hold(struct gate *gate, const struct training_job *job, size_t most, struct training_plan *p)
{
	enum gate_way way = gate ? gate->ops->way(gate) : GATE_OFF;
	auto_free bool *go = NULL;
	size_t n = 0;

	if (way == GATE_ASKING)
		p->npods = 0;
	/* With gates a wish for nothing says that all pods are there that are to be. */
	if (way != GATE_DELAY && (way != GATE_GATES || p->npods))
		return;
	go = xcalloc(p->npods + 1, sizeof(*go));
	wish(gate, job, p, go);
	for (size_t i = 0; i < p->npods; i++) {
		if (go[i] && n == most)
			p->again = p->again < 0 || p->again > 1 ? 1 : p->again;
		else if (go[i])
			p->pods[n++] = p->pods[i];
	}
	p->npods = n;
}

void gated_hold_all(struct gate *gate, const struct training_view *v, struct training_plan *p)
{
	int64_t left = v->held_until_ms / 1000 + 1 - v->now;

	p->npods = 0;
	if (gate->ops->way(gate) == GATE_DELAY)
		wish(gate, v->job, p, NULL);
	if (v->held_until_ms && (p->again < 0 || p->again > left))
		p->again = left > 1 ? left : 1;
}

void gated_forget(struct gate *gate, const struct training_job *job)
{
	gated_hold(gate, job, 0, &(struct training_plan){ 0 });
	if (gate)
		gate->ops->forget(gate, job->form->plural, job->obj);
}

/* What the server of Stoker would do: the pod waits where its job waits. */
static void copy_note(const struct training_job *job, json_t *pod, const char *map, const char *key)
{
	const json_t *value = json_object_get(json_object_get(json_object_get(job->obj, "metadata"), map), key);
	json_t *own = object_at(json_object_get(pod, "metadata"), map);

	if (value && !json_object_get(own, key))
		json_object_set(own, key, (json_t *)value);
}

void gated_close(struct gate *gate, const struct training_job *job, json_t *pod)
{
	enum gate_way way = gate ? gate->ops->way(gate) : GATE_OFF;
	json_t *spec = json_object_get(pod, "spec");

	if (way == GATE_OFF)
		return;
	copy_note(job, pod, "labels", QUEUE_LABEL);
	copy_note(job, pod, "annotations", WALLTIME_ANNOTATION);
	/* One with a node from the start has been placed by hand, and may have no gate. */
	if (way == GATE_GATES && !*jsonx_str_or(spec, "nodeName", ""))
		json_array_append_new(array_at(spec, "schedulingGates"), json_pack("{s:s}", "name", GATE_NAME));
}
