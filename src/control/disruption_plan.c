// SPDX-License-Identifier: Apache-2.0
/* disruption_plan.c - how many pods are healthy, how many must be, and so how many may go
 *
 * An eviction that the API has allowed is noted in status.disruptedPods until its pod is seen to go; until then the pod
 * does not count as healthy.  After two minutes it will not go any more, and counts again.
 */
#include "control/disruption_plan.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/share.h"
#include "kinds/condition.h"

#define DELETION_SECONDS 120 /* as in Kubernetes */
#define CONDITION        "DisruptionAllowed"

bool budget_needs_scale(const json_t *budget)
{
	return jsonx_at(budget, "spec.maxUnavailable") || json_is_string(jsonx_at(budget, "spec.minAvailable"));
}

/* ---- counting ---- */

static int64_t evicted_at(const json_t *budget, const struct pod_facts *p)
{
	const json_t *text = json_object_get(jsonx_at(budget, "status.disruptedPods"), p->name);
	int64_t us;

	return json_is_string(text) && clock_parse_rfc3339(json_string_value(text), &us) ? us / 1000000 : 0;
}

/* Pods whose eviction is still under way, as the status has them. */
static json_t *disrupted(const struct budget_view *v, struct budget_plan *p)
{
	json_t *left = json_object();

	p->overdue = xcalloc(v->n + 1, sizeof(*p->overdue));
	for (size_t i = 0; i < v->n; i++) {
		int64_t at = evicted_at(v->budget, v->pods[i]);
		int64_t wait = at + DELETION_SECONDS - v->now;

		if (!at || v->pods[i]->deleting)
			continue;
		if (wait <= 0) {
			p->overdue[p->noverdue++] = v->pods[i];
			continue;
		}
		json_object_set(left, v->pods[i]->name,
				json_object_get(jsonx_at(v->budget, "status.disruptedPods"), v->pods[i]->name));
		if (p->again < 0 || wait < p->again)
			p->again = wait;
	}
	return left;
}

static int64_t count_healthy(const struct budget_view *v, const json_t *left)
{
	int64_t healthy = 0;

	for (size_t i = 0; i < v->n; i++)
		healthy += v->pods[i]->ready && !v->pods[i]->deleting && !json_object_get(left, v->pods[i]->name);
	return healthy;
}

static void count_wanted(const struct budget_view *v, int64_t *ret_expected, int64_t *ret_wanted)
{
	const json_t *most = jsonx_at(v->budget, "spec.maxUnavailable");
	const json_t *least = jsonx_at(v->budget, "spec.minAvailable");

	*ret_expected = budget_needs_scale(v->budget) ? v->scale : (int64_t)v->n;
	*ret_wanted = most ? *ret_expected - share_of(most, *ret_expected, true) : share_of(least, *ret_expected, true);
	if (*ret_wanted < 0)
		*ret_wanted = 0;
}

/* ---- the status ---- */

static json_t *next_condition(const struct budget_view *v, bool allowed)
{
	const char *status = allowed ? "True" : "False";
	const json_t *old = condition_of(v->budget, CONDITION);
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(v->now, now);
	return json_pack(
		"{s:s, s:s, s:I, s:s, s:s, s:s}", "type", CONDITION, "status", status, "observedGeneration",
		(json_int_t)jsonx_int_or(v->budget, "metadata.generation", 0), "reason",
		v->error  ? "SyncFailed"
		: allowed ? "SufficientPods"
			  : "InsufficientPods",
		"message", v->error ? v->error : "", "lastTransitionTime",
		old && str_same(jsonx_str(old, "status"), status) ? jsonx_str_or(old, "lastTransitionTime", now) : now);
}

/* Who cannot count lets nobody go. */
static json_t *failed_status(const struct budget_view *v)
{
	const json_t *old = json_object_get(v->budget, "status");
	json_t *status = json_is_object(old) ? json_copy((json_t *)old) : json_object();

	json_object_set_new(status, "disruptionsAllowed", json_integer(0));
	json_object_set_new(status, "conditions", json_pack("[o]", next_condition(v, false)));
	return status;
}

void budget_plan(const struct budget_view *v, struct budget_plan *p)
{
	json_auto_t *left = NULL;
	int64_t expected;
	int64_t wanted;
	int64_t healthy;
	int64_t allowed;

	*p = (struct budget_plan){ .again = -1 };
	if (v->error) {
		p->status = failed_status(v);
		return;
	}
	left = disrupted(v, p);
	healthy = count_healthy(v, left);
	count_wanted(v, &expected, &wanted);
	allowed = expected > 0 && healthy > wanted ? healthy - wanted : 0;
	p->status = json_pack("{s:I, s:I, s:I, s:I, s:I, s:[o]}", "currentHealthy", (json_int_t)healthy,
			      "desiredHealthy", (json_int_t)wanted, "disruptionsAllowed", (json_int_t)allowed,
			      "expectedPods", (json_int_t)expected, "observedGeneration",
			      (json_int_t)jsonx_int_or(v->budget, "metadata.generation", 0), "conditions",
			      next_condition(v, allowed > 0));
	if (json_object_size(left))
		json_object_set(p->status, "disruptedPods", left);
}

void budget_plan_done(struct budget_plan *p)
{
	json_decref(p->status);
	free(p->overdue);
}
