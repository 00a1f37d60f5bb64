// SPDX-License-Identifier: Apache-2.0
/* disruption.c - keeps the status of PodDisruptionBudgets, by which the API allows evictions
 *
 * A budget is looked at when it changes and when a pod that it selects does.  If it is about a share of the pods that
 * there should be, the controllers of its pods are asked how many that is, each time: the answers are kept only until
 * the next plan has used them.  A ReplicaSet of a Deployment passes the question on.
 */
#include "control/disruption.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/disruption_plan.h"
#include "control/keeper.h"
#include "kinds/selector.h"

struct disruption {
	struct owned *owned;
	struct keeper *keeper;
	struct map selectors; /* key -> struct selector */
	struct map answers;   /* key -> {uid: {"scale": n} or the reference to ask next or {"error": text}} */
};

static void free_selector(void *s)
{
	selector_free(s);
}

static void free_json(void *p)
{
	json_decref(p);
}

/* ---- how many pods there should be ---- */

/* Whom can be asked. */
static const struct {
	const char *kind, *api_version, *plural;
} scaled[] = {
	{ "ReplicaSet", "apps/v1", "replicasets" },
	{ "Deployment", "apps/v1", "deployments" },
	{ "StatefulSet", "apps/v1", "statefulsets" },
	{ "ReplicationController", "v1", "replicationcontrollers" },
};

static json_t *answers_of(struct disruption *k, const char *key)
{
	json_t *a = map_find(&k->answers, key);

	if (!a) {
		a = json_object();
		map_set(&k->answers, key, a);
	}
	return a;
}

/* What the call carries is the reference. */
static void on_scale(void *arg, const struct answer *a)
{
	struct disruption *k = keeper_arg(arg);
	json_t *answers = answers_of(k, a->key);
	const char *uid = jsonx_str_or(a->what, "uid", "");
	const json_t *above = controller_of(a->obj);
	json_t *said;

	if (a->e->kind != ERR_NONE && a->e->kind != ERR_NOT_FOUND) {
		map_remove(&k->answers, a->key);
		return;
	}
	/* Its owner is gone: nobody wants the pod. */
	if (a->e->kind == ERR_NOT_FOUND || !str_same(jsonx_str(a->obj, "metadata.uid"), uid))
		said = json_pack("{s:i}", "scale", 0);
	else if (str_same(jsonx_str(above, "kind"), "Deployment"))
		said = jsonx_copy(above);
	else
		said = json_pack("{s:I}", "scale", (json_int_t)jsonx_int_or(a->obj, "spec.replicas", 1));
	json_object_set_new(answers, uid, said);
}

static void cannot_scale(json_t *answers, const json_t *ref)
{
	const char *version = jsonx_str_or(ref, "apiVersion", "");
	const char *slash = strchr(version, '/');
	auto_free char *kind = xstrdup(jsonx_str_or(ref, "kind", ""));

	for (char *c = kind; *c; c++)
		*c = (char)tolower(*c);
	json_object_set_new(answers, jsonx_str_or(ref, "uid", ""),
			    json_pack("{s:o}", "error",
				      jsonx_stringf("%ss%s%.*s does not implement the scale subresource", kind,
						    slash ? "." : "", slash ? (int)(slash - version) : 0, version)));
}

/* True if the answer is still to come. */
static bool ask_scale(struct disruption *k, const char *key, const char *ns, const json_t *ref)
{
	const char *kind = jsonx_str_or(ref, "kind", "");

	for (size_t i = 0; i < ARRAY_SIZE(scaled); i++) {
		struct ref to = { .api_version = scaled[i].api_version,
				  .plural = scaled[i].plural,
				  .ns = ns,
				  .name = jsonx_str_or(ref, "name", "") };

		if (!streq(kind, scaled[i].kind))
			continue;
		calls_get(keeper_calls(k->keeper), key, &to, on_scale, ref);
		return true;
	}
	cannot_scale(answers_of(k, key), ref);
	return false;
}

/* Sums up the answers there are; false if some had to be asked for. */
static bool read_scale(struct disruption *k, const char *key, struct budget_view *v, size_t *ret_unmanaged)
{
	const char *ns = jsonx_str_or(v->budget, "metadata.namespace", "");
	json_auto_t *counted = json_object();
	bool complete = true;

	for (size_t i = 0; i < v->n; i++) {
		const json_t *ref = controller_of(v->pods[i]->obj);
		const json_t *said;

		*ret_unmanaged += ref == NULL;
		for (; ref; ref = jsonx_str(said, "uid") ? said : NULL) {
			const char *uid = jsonx_str_or(ref, "uid", "");

			if (json_object_get(counted, uid))
				break;
			json_object_set_new(counted, uid, json_true());
			said = json_object_get(answers_of(k, key), uid);
			if (!said) {
				complete &= !ask_scale(k, key, ns, ref);
				said = json_object_get(answers_of(k, key), uid);
			}
			v->scale += jsonx_int_or(said, "scale", 0);
			if (jsonx_str(said, "error"))
				v->error = jsonx_str(said, "error");
		}
	}
	return complete;
}

/* ---- one budget ---- */

static void tell(struct disruption *k, const struct budget_view *v, const struct budget_plan *p, size_t unmanaged)
{
	struct events *events = keeper_events(k->keeper);
	bool first = jsonx_int_or(v->budget, "status.observedGeneration", 0) <
		     jsonx_int_or(v->budget, "metadata.generation", 0);

	for (size_t i = 0; i < p->noverdue; i++)
		events_note(events, p->overdue[i]->obj, "Warning", "NotDeleted",
			    "Pod was expected by PDB %s/%s to be deleted but it wasn't",
			    jsonx_str_or(v->budget, "metadata.namespace", ""),
			    jsonx_str_or(v->budget, "metadata.name", ""));
	if (v->error)
		events_note(events, v->budget, "Warning", "CalculateExpectedPodCountFailed",
			    "Failed to calculate the number of expected pods: %s", v->error);
	else if (first && !v->n)
		events_note(events, v->budget, "Normal", "NoPods", "No matching pods found");
	else if (first && unmanaged)
		events_note(events, v->budget, "Warning", "UnmanagedPods",
			    "%zu of the pods have no controller and are not counted as expected; an integer "
			    "spec.minAvailable counts all pods",
			    unmanaged);
}

static void plan(void *arg, const char *key, const json_t *budget)
{
	struct disruption *k = arg;
	const struct selector *selector = map_find(&k->selectors, key);
	const char *ns = jsonx_str_or(budget, "metadata.namespace", "");
	struct budget_view v = { .budget = budget, .now = clock_wall() };
	const struct pod_facts **pods = NULL;
	const struct owned_pod *pod;
	struct budget_plan p;
	size_t unmanaged = 0;
	size_t pos = 0;
	size_t cap = 0;

	while (selector && owned_next(k->owned, &pos, &pod))
		if (str_same(jsonx_str(pod->facts.obj, "metadata.namespace"), ns) &&
		    selector_match_labels(selector, jsonx_at(pod->facts.obj, "metadata.labels")))
			ARRAY_PUSH(pods, v.n, cap, &pod->facts);
	v.pods = pods;
	if (!budget_needs_scale(budget) || read_scale(k, key, &v, &unmanaged)) {
		budget_plan(&v, &p);
		keeper_write_status(k->keeper, key, budget, p.status);
		tell(k, &v, &p, unmanaged);
		if (p.again >= 0)
			keeper_look_after(k->keeper, key, clock_until_ms(p.again));
		budget_plan_done(&p);
		map_remove(&k->answers, key);
	}
	free(pods);
}

/* ---- what happens ---- */

static void on_budget(void *arg, const char *key, const json_t *obj, const json_t *old)
{
	struct disruption *k = arg;
	struct selector *s = NULL;
	struct err e = ERR_INIT;

	if (obj && old && json_equal(jsonx_at(obj, "spec.selector"), jsonx_at(old, "spec.selector")))
		return;
	map_remove(&k->selectors, key);
	if (!obj)
		map_remove(&k->answers, key);
	else if (jsonx_at(obj, "spec.selector") && selector_from_json(jsonx_at(obj, "spec.selector"), &s, &e) == 0)
		map_set(&k->selectors, key, s);
}

static bool matters(const struct pod_facts *now, const struct pod_facts *old)
{
	return !now || !old || now->ready != old->ready || now->deleting != old->deleting ||
	       !json_equal(jsonx_at(now->obj, "metadata.labels"), jsonx_at(old->obj, "metadata.labels")) ||
	       !str_same(jsonx_str(controller_of(now->obj), "uid"), jsonx_str(controller_of(old->obj), "uid"));
}

static void on_pod(void *arg, const struct pod_facts *now, const struct pod_facts *old)
{
	struct disruption *k = arg;
	const char *ns = jsonx_str_or((now ? now : old)->obj, "metadata.namespace", "");
	const json_t *labels = now ? jsonx_at(now->obj, "metadata.labels") : NULL;
	const json_t *before = old ? jsonx_at(old->obj, "metadata.labels") : NULL;
	const char *key;
	size_t pos = 0;
	void *s;

	if (!k->selectors.n || !matters(now, old))
		return;
	while (map_next(&k->selectors, &pos, &key, &s))
		if (strncmp(key, ns, strlen(ns)) == 0 && key[strlen(ns)] == '/' &&
		    ((now && selector_match_labels(s, labels)) || (old && selector_match_labels(s, before))))
			keeper_look(k->keeper, key);
}

static void on_synced(void *arg)
{
	struct disruption *k = arg;

	if (k->keeper)
		keeper_start(k->keeper);
}

static bool synced(void *arg)
{
	const struct disruption *k = arg;

	return owned_synced(k->owned);
}

static const struct keeper_kind budget_kind = {
	.api_version = "policy/v1",
	.kind = "PodDisruptionBudget",
	.plural = "poddisruptionbudgets",
	.component = "controllermanager",
	.plan = plan,
	.changed = on_budget,
	.synced = synced,
};

struct disruption *disruption_new(struct client *c, struct owned *owned)
{
	struct disruption *k = xcalloc(1, sizeof(*k));

	k->owned = owned;
	map_init(&k->selectors, free_selector);
	map_init(&k->answers, free_json);
	k->keeper = keeper_new(c, NULL, &budget_kind, k);
	owned_follow(owned, &(struct owned_handlers){ .any = on_pod, .synced = on_synced, .arg = k });
	return k;
}

void disruption_free(struct disruption *k)
{
	if (!k)
		return;
	owned_unfollow(k->owned, k);
	keeper_free(k->keeper);
	map_done(&k->selectors);
	map_done(&k->answers);
	free(k);
}

struct workqueue_counts disruption_counts(const struct disruption *k)
{
	return keeper_counts(k->keeper);
}
