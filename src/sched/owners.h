// SPDX-License-Identifier: Apache-2.0
/* owners.h - the workloads above pods that say something about when they may start
 *
 * Of all workloads only those are kept that have such an annotation (kinds/work_rules.h), or were preempted, or have
 * somebody above them who may have one.
 */
#ifndef STOKER_SCHED_OWNERS_H
#define STOKER_SCHED_OWNERS_H

#include "client/client.h"

struct owners;

struct owners_handlers {
	/* What an object says is not what it said before, or it is gone. */
	void (*changed)(void *arg, const char *uid, bool gone);
	void (*synced)(void *arg);
	void *arg;
};

struct owners *owners_new(struct client *c, const struct owners_handlers *h);
void owners_free(struct owners *o);
bool owners_synced(const struct owners *o);
/* The uid of who controls an object, or NULL. */
const char *controller_uid(const json_t *obj);
/* Who controls it, if he is kept; borrowed until he changes. */
const json_t *owners_above(const struct owners *o, const json_t *obj);
/* Calls fn with the uid of each object that is kept and controlled by another. */
void owners_each_below(const struct owners *o, const char *uid, void (*fn)(void *arg, const char *uid), void *arg);

#endif
