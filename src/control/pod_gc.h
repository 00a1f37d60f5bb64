// SPDX-License-Identifier: Apache-2.0
/* pod_gc.h - removes pods that nobody else will: their node is gone, far too many have ended, or they say so themselves
 */
#ifndef STOKER_CONTROL_POD_GC_H
#define STOKER_CONTROL_POD_GC_H

#include "control/owned.h"
#include "control/workqueue.h"

#define POD_GC_KEEP 2500 /* ended pods; Kubernetes: 12500, for whole clusters */

struct pod_gc;

/* `owned` outlives it. */
struct pod_gc *pod_gc_new(struct client *c, struct owned *owned);
void pod_gc_free(struct pod_gc *k);
struct workqueue_counts pod_gc_counts(const struct pod_gc *k);
/* How long a node may be missing before its pods go: 40 seconds if this is not called. */
void pod_gc_set_quarantine(struct pod_gc *k, int64_t ms);

/* --- pod_gc_plan.c; pure --- */
enum pod_gc_why {
	POD_GC_STAYS,
	POD_GC_NO_NODE,        /* bound to a node that is not there: to be removed if that stays so */
	POD_GC_UNSCHEDULED,    /* deleted before it had a node: no agent will end it */
	POD_GC_OUT_OF_SERVICE, /* deleted, and its node is known to be off */
};
/* `node` is the Node it is bound to, or NULL if there is none of that name. */
enum pod_gc_why pod_gc_why(const struct pod_facts *p, const json_t *node);

/* In how many seconds an ended pod is to go by its annotation stoker.dev/ttl-seconds-after-finished; -1: never. */
int64_t pod_gc_left(const struct pod_facts *p, int64_t now);

/* Which of these pods are to go so that no more than `keep` ended ones are left: the number, and those first in `pods`,
 * oldest first.  Pods that somebody still tracks by a finalizer stay, and those on their way out count as gone. */
size_t pod_gc_excess(const struct pod_facts **pods, size_t n, size_t keep);

#endif
