// SPDX-License-Identifier: Apache-2.0
/* replicas_plan.c - counting pods
 *
 * Only pods that have neither ended nor are being deleted count; those that ended are left for people to look at.  The
 * status says what was there when the decision was made: what comes of it is counted the next time.
 */
#include "control/replicas_plan.h"

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/status.h"

/* ---- too many ---- */

static size_t active_in(const struct pod_facts *const *pods, size_t n, const struct pod_facts **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (pod_active(pods[i]))
			ret[count++] = pods[i];
	return count;
}

/* Node -> how many of the related pods are on it. */
static void count_nodes(const struct replicas_view *v, struct map *nodes)
{
	map_init(nodes, NULL);
	for (size_t i = 0; i < v->nrelated; i++)
		if (pod_active(v->related[i])) {
			uintptr_t count = (uintptr_t)map_find(nodes, v->related[i]->node);

			map_set(nodes, v->related[i]->node, (void *)(count + 1));
		}
}

static void choose_surplus(const struct replicas_view *v, const struct pod_facts *const *active, size_t nactive,
			   size_t surplus, struct replicas_plan *p)
{
	auto_free struct pod_surplus *order = xcalloc(nactive, sizeof(*order));
	struct map nodes;

	count_nodes(v, &nodes);
	for (size_t i = 0; i < nactive; i++)
		order[i] =
			(struct pod_surplus){ active[i], (size_t)(uintptr_t)map_find(&nodes, active[i]->node), v->now };
	map_done(&nodes);
	qsort(order, nactive, sizeof(*order), pod_surplus_rank);
	p->nremove = surplus < REPLICAS_BURST ? surplus : REPLICAS_BURST;
	p->remove = xcalloc(p->nremove, sizeof(const struct pod_facts *));
	for (size_t i = 0; i < p->nremove; i++)
		p->remove[i] = order[i].pod;
}

/* ---- the status ---- */

static bool fully_labeled(const struct pod_facts *p, const json_t *template_labels)
{
	const json_t *labels = jsonx_at(p->obj, "metadata.labels");
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)template_labels, key, value)
		if (!str_same(json_string_value(json_object_get(labels, key)), json_string_value(value)))
			return false;
	return true;
}

static void count(const struct replicas_view *v, const struct pod_facts *const *active, size_t nactive,
		  struct replicas_plan *p)
{
	const json_t *labels = jsonx_at(v->obj, "spec.template.metadata.labels");
	int64_t min_ready = jsonx_int_or(v->obj, "spec.minReadySeconds", 0);
	int64_t labeled = 0;
	int64_t ready = 0;
	int64_t available = 0;

	for (size_t i = 0; i < nactive; i++) {
		labeled += fully_labeled(active[i], labels);
		ready += active[i]->ready;
		available += pod_available(active[i], min_ready, v->now, &p->again);
	}
	json_object_set_new(p->status, "replicas", json_integer((json_int_t)nactive));
	status_set_count(p->status, "fullyLabeledReplicas", labeled);
	status_set_count(p->status, "readyReplicas", ready);
	status_set_count(p->status, "availableReplicas", available);
	status_set_count(p->status, "observedGeneration", jsonx_int_or(v->obj, "metadata.generation", 0));
}

/* ---- the plan ---- */

void replicas_plan(const struct replicas_view *v, struct replicas_plan *p)
{
	auto_free const struct pod_facts **active = xcalloc(v->n + 1, sizeof(*active));
	size_t nactive = active_in(v->pods, v->n, active);
	int64_t replicas = jsonx_int_or(v->obj, "spec.replicas", 1);
	size_t want = replicas > 0 ? (size_t)replicas : 0;
	size_t most = v->create_most < REPLICAS_BURST ? v->create_most : REPLICAS_BURST;
	bool deleting = jsonx_at(v->obj, "metadata.deletionTimestamp") != NULL;
	const char *reason = NULL;

	*p = (struct replicas_plan){ .again = -1 };
	p->status = json_copy(json_object_get(v->obj, "status"));
	if (!p->status)
		p->status = json_object();
	if (nactive < want && !deleting) {
		p->create = want - nactive < most ? want - nactive : most;
		reason = v->create_error ? "FailedCreate" : NULL;
	} else if (nactive > want && !deleting) {
		choose_surplus(v, active, nactive, nactive - want, p);
		reason = v->remove_error ? "FailedDelete" : NULL;
	}
	count(v, active, nactive, p);
	status_set_failure(p->status, v->now, reason, nactive < want ? v->create_error : v->remove_error);
}

void replicas_plan_done(struct replicas_plan *p)
{
	free(p->remove);
	json_decref(p->status);
	*p = (struct replicas_plan){ 0 };
}
