// SPDX-License-Identifier: Apache-2.0
/* pod_gc_plan.c - which pods have been left behind */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_gc.h"
#include "kinds/condition.h"
#include "kinds/placement.h"

#define TTL_NOTE "stoker.dev/ttl-seconds-after-finished"

static bool is_out_of_service(const json_t *node)
{
	const json_t *t;
	size_t i;

	if (condition_holds(node, "Ready"))
		return false;
	json_array_foreach (jsonx_at(node, "spec.taints"), i, t)
		if (str_same(jsonx_str(t, "key"), TAINT_OUT_OF_SERVICE))
			return true;
	return false;
}

/* Nothing more can be done for it: whoever set the finalizer has to come. */
static bool is_held(const struct pod_facts *p)
{
	return p->deleting && pod_ended(p) && jsonx_int_or(p->obj, "metadata.deletionGracePeriodSeconds", -1) == 0;
}

enum pod_gc_why pod_gc_why(const struct pod_facts *p, const json_t *node)
{
	if (is_held(p))
		return POD_GC_STAYS;
	if (!p->assigned)
		return p->deleting ? POD_GC_UNSCHEDULED : POD_GC_STAYS;
	if (!node)
		return POD_GC_NO_NODE;
	return p->deleting && is_out_of_service(node) ? POD_GC_OUT_OF_SERVICE : POD_GC_STAYS;
}

int64_t pod_gc_left(const struct pod_facts *p, int64_t now)
{
	const json_t *note = json_object_get(jsonx_at(p->obj, "metadata.annotations"), TTL_NOTE);
	int64_t seconds;

	if (!note || !pod_ended(p) || p->deleting || !str_int64(json_string_value(note), 0, INT32_MAX, &seconds))
		return -1;
	return p->finished + seconds > now ? p->finished + seconds - now : 0;
}

static int by_age(const void *a, const void *b)
{
	const struct pod_facts *x = *(const struct pod_facts *const *)a;
	const struct pod_facts *y = *(const struct pod_facts *const *)b;

	if (x->created != y->created)
		return x->created < y->created ? -1 : 1;
	return strcmp(x->name, y->name);
}

size_t pod_gc_excess(const struct pod_facts **pods, size_t n, size_t keep)
{
	size_t ended = 0;
	size_t can = 0;

	for (size_t i = 0; i < n; i++) {
		const struct pod_facts *p = pods[i];

		if (!pod_ended(p) || p->deleting)
			continue;
		ended++;
		if (!json_array_size(jsonx_at(p->obj, "metadata.finalizers"))) {
			pods[i] = pods[can];
			pods[can++] = p;
		}
	}
	if (ended <= keep)
		return 0;
	qsort(pods, can, sizeof(*pods), by_age);
	return ended - keep < can ? ended - keep : can;
}
