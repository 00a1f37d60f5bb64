// SPDX-License-Identifier: Apache-2.0
/* pod_work.h - which work a pod belongs to, and what its object says about it; pure
 *
 *	label       stoker.dev/queue       the queue; batch without
 *	annotation  stoker.dev/user, /group     who is charged; set by the server
 *	            stoker.dev/gang, /gang-size  pods that start together
 *	            stoker.dev/walltime    how long it may run; else activeDeadlineSeconds
 *	            stoker.dev/not-before  a time
 *	            stoker.dev/hold        user, operator, system: any of them, with commas
 *	            stoker.dev/exclusive   "true": no other pod at its node, but those of DaemonSets
 *	            stoker.dev/cards       which GPUs of its node it was given, by the scheduler
 *
 * And for pods of PBS jobs, by their controller alone:
 *
 *	annotation  stoker.dev/place       where it stands among its owner's jobs: SECONDS/NUMBER/INDEX
 *	            stoker.dev/priority    what goes first among them (qsub -p), whatever their places
 *	            stoker.dev/run-now     "true": before all others (qrun)
 *	            stoker.dev/rerun       "false": if it is evicted it cannot be run again
 */
#ifndef STOKER_SCHED_POD_WORK_H
#define STOKER_SCHED_POD_WORK_H

#include "kinds/queue.h"
#include "kinds/work_rules.h"
#include "sched/world.h"

#define GIVEN_ANNOTATION "stoker.dev/cards"

/* Texts are borrowed from the pod, but for the key. */
struct pod_work {
	struct work_facts facts;
	char *key; /* facts.key */
	const char *uid, *ns, *name;
	const char *node; /* "" if it has none */
	card_set cards;
	int64_t started_ms; /* when it began at its node, as well as one can tell; 0 */
	bool ended;         /* Succeeded or Failed: it takes no room */
	bool ours;          /* to place: without a node, our scheduler's, not gated and not going */
};

/* What any object says about when its work may start: its holds, and a time or 0. */
unsigned work_holds(const json_t *obj);
int64_t work_not_before(const json_t *obj);
void pod_work_read(const json_t *pod, struct pod_work *ret);
void pod_work_done(struct pod_work *p);
/* The ownerReference of who controls it, or NULL.  Borrowed. */
const json_t *pod_controller(const json_t *pod);

#endif
