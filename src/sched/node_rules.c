// SPDX-License-Identifier: Apache-2.0
/* node_rules.c - does a node take such a pod at all: taints, selectors, affinity; pure
 *
 * In Kubernetes' order, so that the first refusal is the one it would name.
 */
#include "kinds/placement.h"
#include "sched/parts.h"

/* A node that has not said that it is ready has a taint, even before somebody writes it down: if nobody has, a pod
 * must tolerate this one. */
static bool has_health_taint(const json_t *taints)
{
	const json_t *t;
	size_t i;

	json_array_foreach (taints, i, t) {
		struct taint taint = taint_read(t);

		if (streq(taint.effect, "NoSchedule") &&
		    (streq(taint.key, TAINT_NOT_READY) || streq(taint.key, TAINT_UNREACHABLE)))
			return true;
	}
	return false;
}

static bool taint_refuses(const struct taint *t, const struct shape *s, struct sbuf *why)
{
	if (streq(t->effect, "PreferNoSchedule") || taint_tolerated(s->tolerations, t))
		return false;
	sbuf_addf(why, "node(s) had untolerated taint {%s: %s}", t->key, t->value);
	return true;
}

static bool taints_refuse(const struct node_view *n, const struct shape *s, struct sbuf *why)
{
	static const struct taint not_ready = { TAINT_NOT_READY, "", "NoSchedule" };
	const json_t *t;
	size_t i;

	if (!n->ready && !has_health_taint(n->taints) && taint_refuses(&not_ready, s, why))
		return true;
	json_array_foreach (n->taints, i, t) {
		struct taint taint = taint_read(t);

		if (taint_refuses(&taint, s, why))
			return true;
	}
	return false;
}

bool node_refuses(const struct node_view *n, const struct shape *s, struct sbuf *why)
{
	static const struct taint unschedulable = { TAINT_UNSCHEDULABLE, "", "NoSchedule" };

	if (n->unschedulable && !taint_tolerated(s->tolerations, &unschedulable)) {
		sbuf_adds(why, "node(s) were unschedulable");
		return true;
	}
	if (taints_refuse(n, s, why))
		return true;
	if (!node_selector_matches(s->selector, n->labels) || !node_terms_match(s->terms, n->labels, n->name)) {
		sbuf_adds(why, "node(s) didn't match Pod's node affinity/selector");
		return true;
	}
	return false;
}
