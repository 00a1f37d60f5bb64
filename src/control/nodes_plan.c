// SPDX-License-Identifier: Apache-2.0
/* nodes_plan.c - from health to conditions, from conditions to taints, from taints to evictions
 *
 * Conditions are the node's own word until it falls silent; then those that its agent keeps become Unknown.  Taints
 * follow from conditions alone, so a node that comes back loses them by what it says.  Taints that somebody else set
 * are not touched.
 */
#include "control/nodes_plan.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/placement.h"

/* Kubernetes' numbers. */
#define PARTIAL_PERCENT 55
#define PARTIAL_NODES   3

enum disruption nodes_disruption(size_t ready, size_t not_ready)
{
	if (!ready && not_ready)
		return DISRUPTION_FULL;
	if (not_ready >= PARTIAL_NODES && not_ready * 100 >= (ready + not_ready) * PARTIAL_PERCENT)
		return DISRUPTION_PARTIAL;
	return DISRUPTION_NONE;
}

bool node_is_not_ready(const json_t *node, bool late)
{
	return late || !condition_holds(node, "Ready");
}

/* ---- conditions ---- */

/* What a kubelet answers for; others (NetworkUnavailable) are somebody else's. */
static const char *const kept[] = { "Ready", "MemoryPressure", "DiskPressure", "PIDPressure" };

static bool make_unknown(json_t *list, const char *type, const json_t *node, const char *now)
{
	json_t *c = condition_in(list, type);

	if (c && str_same(jsonx_str(c, "status"), "Unknown"))
		return false;
	if (!c) {
		c = json_pack("{s:s, s:s, s:O?, s:s, s:s, s:s}", "type", type, "status", "Unknown", "lastHeartbeatTime",
			      jsonx_at(node, "metadata.creationTimestamp"), "lastTransitionTime", now, "reason",
			      "NodeStatusNeverUpdated", "message", "Kubelet never posted node status.");
		json_array_append_new(list, c);
		return true;
	}
	json_object_set_new(c, "status", json_string("Unknown"));
	json_object_set_new(c, "reason", json_string("NodeStatusUnknown"));
	json_object_set_new(c, "message", json_string("Kubelet stopped posting node status."));
	json_object_set_new(c, "lastTransitionTime", json_string(now));
	return true;
}

/* The new list, or NULL if nothing changes. */
static json_t *silent_conditions(const struct node_health *h)
{
	const json_t *old = jsonx_at(h->node, "status.conditions");
	json_t *list = json_is_array(old) ? jsonx_copy(old) : json_array();
	char now[CLOCK_RFC3339_LEN];
	bool changed = false;

	clock_rfc3339(h->now, now);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		changed |= make_unknown(list, kept[i], h->node, now);
	if (changed)
		return list;
	json_decref(list);
	return NULL;
}

/* ---- taints ---- */

/* Which of them a node is to have.  Each row's taint comes and goes with what it stands for. */
static const struct rule {
	const char *type, *status; /* of the condition; a type of NULL is spec.unschedulable */
	const char *key, *effect;
} rules[] = {
	{ "Ready", "False", TAINT_NOT_READY, "NoSchedule" },
	{ "Ready", "Unknown", TAINT_UNREACHABLE, "NoSchedule" },
	{ "MemoryPressure", "True", TAINT_MEMORY_PRESSURE, "NoSchedule" },
	{ "DiskPressure", "True", TAINT_DISK_PRESSURE, "NoSchedule" },
	{ "PIDPressure", "True", TAINT_PID_PRESSURE, "NoSchedule" },
	{ "NetworkUnavailable", "True", TAINT_NETWORK_UNAVAILABLE, "NoSchedule" },
	{ NULL, NULL, TAINT_UNSCHEDULABLE, "NoSchedule" },
	{ "Ready", "False", TAINT_NOT_READY, "NoExecute" },
	{ "Ready", "Unknown", TAINT_UNREACHABLE, "NoExecute" },
};

static bool is_taint(const json_t *t, const char *key, const char *effect)
{
	return str_same(jsonx_str(t, "key"), key) && str_same(jsonx_str(t, "effect"), effect);
}

static const struct rule *rule_of(const json_t *taint)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (is_taint(taint, rules[i].key, rules[i].effect))
			return &rules[i];
	return NULL;
}

static bool has_taint(const json_t *taints, const char *key, const char *effect)
{
	const json_t *t;
	size_t i;

	json_array_foreach (taints, i, t)
		if (is_taint(t, key, effect))
			return true;
	return false;
}

static const char *next_status(const json_t *conditions, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (conditions, i, c)
		if (str_same(jsonx_str(c, "type"), type))
			return jsonx_str_or(c, "status", "");
	return "";
}

static bool wanted(const struct rule *r, const struct node_health *h, const json_t *conditions, const json_t *old)
{
	bool no_execute = streq(r->effect, "NoExecute");
	const char *status;

	if (!r->type)
		return jsonx_bool_or(h->node, "spec.unschedulable", false);
	status = next_status(conditions, r->type);
	/* A node that has not spoken yet takes no pods, but has none to lose. */
	if (!*status && !no_execute && streq(r->type, "Ready"))
		status = "False";
	if (!streq(status, r->status))
		return false;
	if (!no_execute)
		return true;
	/* One that has lost its pods already keeps the mark while most others are silent too. */
	if (h->disruption == DISRUPTION_PARTIAL)
		return has_taint(old, TAINT_NOT_READY, "NoExecute") || has_taint(old, TAINT_UNREACHABLE, "NoExecute");
	return h->disruption == DISRUPTION_NONE;
}

/* The new list, or NULL if nothing changes. */
static json_t *next_taints(const struct node_health *h, const json_t *conditions)
{
	const json_t *old = jsonx_at(h->node, "spec.taints");
	json_t *list = json_array();
	char now[CLOCK_RFC3339_LEN];
	bool changed = false;
	json_t *t;
	size_t i;

	clock_rfc3339(h->now, now);
	json_array_foreach (old, i, t) {
		const struct rule *r = rule_of(t);

		if (!r || wanted(r, h, conditions, old))
			json_array_append(list, t);
		else
			changed = true;
	}
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (wanted(&rules[i], h, conditions, old) && !has_taint(old, rules[i].key, rules[i].effect)) {
			json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key", rules[i].key, "effect",
							      rules[i].effect, "timeAdded", now));
			changed = true;
		}
	if (changed)
		return list;
	json_decref(list);
	return NULL;
}

void node_plan(const struct node_health *h, struct node_plan *p)
{
	const json_t *conditions;

	*p = (struct node_plan){ 0 };
	if (h->late)
		p->conditions = silent_conditions(h);
	conditions = p->conditions ? p->conditions : jsonx_at(h->node, "status.conditions");
	p->taints = next_taints(h, conditions);
}

void node_plan_done(struct node_plan *p)
{
	json_decref(p->conditions);
	json_decref(p->taints);
}

/* ---- evictions ---- */

bool has_no_execute_taint(const json_t *taints)
{
	const json_t *t;
	size_t i;

	json_array_foreach (taints, i, t)
		if (str_same(jsonx_str(t, "effect"), "NoExecute"))
			return true;
	return false;
}

/* Of tolerations that cover the taint the shortest counts; -1: none has a limit, -2: none covers it. */
static int64_t tolerated_for(const json_t *tolerations, const struct taint *taint)
{
	int64_t shortest = -2;
	const json_t *t;
	size_t i;

	json_array_foreach (tolerations, i, t) {
		const json_t *seconds = json_object_get(t, "tolerationSeconds");
		int64_t n = json_is_integer(seconds) ? json_integer_value(seconds) : -1;

		if (!toleration_covers(t, taint))
			continue;
		if (json_is_integer(seconds) && n < 0)
			n = 0;
		if (shortest == -2 || (n >= 0 && (shortest < 0 || n < shortest)))
			shortest = n;
	}
	return shortest;
}

int64_t taint_eviction_after(const json_t *taints, const json_t *tolerations)
{
	int64_t shortest = -1;
	const json_t *t;
	size_t i;

	json_array_foreach (taints, i, t) {
		struct taint taint = taint_read(t);
		int64_t n;

		if (!streq(taint.effect, "NoExecute"))
			continue;
		n = tolerated_for(tolerations, &taint);
		if (n == -2)
			return 0;
		if (n >= 0 && (shortest < 0 || n < shortest))
			shortest = n;
	}
	return shortest;
}
