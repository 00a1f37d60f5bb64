// SPDX-License-Identifier: Apache-2.0
/* disruption_plan.h - the status of a PodDisruptionBudget; pure */
#ifndef STOKER_CONTROL_DISRUPTION_PLAN_H
#define STOKER_CONTROL_DISRUPTION_PLAN_H

#include "control/pod_facts.h"

struct budget_view {
	const json_t *budget;
	const struct pod_facts *const *pods; /* that it selects */
	size_t n;
	int64_t scale;     /* how many pods their controllers want; only asked for if budget_needs_scale() */
	const char *error; /* why that is not known, or NULL */
	int64_t now;
};

struct budget_plan {
	json_t *status;
	int64_t again;                    /* seconds; -1: no need */
	const struct pod_facts **overdue; /* evicted long ago, and still here */
	size_t noverdue;
};

/* Whether the budget is about a share of the pods that there should be, not of those that there are. */
bool budget_needs_scale(const json_t *budget);
void budget_plan(const struct budget_view *v, struct budget_plan *p);
void budget_plan_done(struct budget_plan *p);

#endif
