// SPDX-License-Identifier: Apache-2.0
/* rules.h - when a pod may start, by its own word and that of all workloads above it
 *
 * Holds, a time, other workloads that must have ended first, and how many of one workload run at once: see
 * kinds/work_rules.h.  What a workload says goes for its pods that wait, also if it says so later.
 */
#ifndef STOKER_SCHED_RULES_H
#define STOKER_SCHED_RULES_H

#include "client/client.h"
#include "sched/pod_work.h"

struct rules;

struct rules_handlers {
	/* The pod's rules are others now: it is to be told to the world again. */
	void (*changed)(void *arg, const char *uid);
	void (*synced)(void *arg);
	void *arg;
};

struct rules *rules_new(struct client *c, const struct rules_handlers *h);
void rules_free(struct rules *r);
bool rules_synced(const struct rules *r);
/* Adds what holds the pod to its facts; texts are borrowed until the next turn. */
void rules_read(struct rules *r, const json_t *pod, struct pod_work *pw);
/* Who says it, the pod or the nearest workload above it: one of these holds, or without any the time before which it is
 * not to start.  Borrowed; NULL: nobody does. */
const json_t *rules_source(const struct rules *r, const json_t *pod, unsigned holds);
/* When a workload of its, the nearest, was preempted last, and by whom (PREEMPTED_ANNOTATION); "" if none was. */
const char *rules_preempted(const struct rules *r, const json_t *pod);
/* It is gone. */
void rules_forget(struct rules *r, const char *uid);

#endif
