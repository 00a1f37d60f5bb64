// SPDX-License-Identifier: Apache-2.0
/* gate_rules.h - whether a job of a cluster that others schedule holds itself back: holds, a time, other workloads
 *
 * What sched/rules.h is for the server's own scheduler, but for whole jobs: whoever makes their pods asks before, and
 * makes none while the job is held.
 */
#ifndef STOKER_SCHED_GATE_RULES_H
#define STOKER_SCHED_GATE_RULES_H

#include "client/client.h"
#include "loop/gate.h"

struct gate_rules;

/* `changed`: the answer about "namespace/plural/name" may be another now. */
struct gate_rules *gate_rules_new(struct client *c, void (*changed)(void *arg, const char *key), void *arg);
void gate_rules_free(struct gate_rules *r);
/* See struct gate_ops. */
bool gate_rules_held(struct gate_rules *r, const char *plural, const json_t *job, int64_t now_ms,
		     struct gate_rule *ret);
void gate_rules_forget(struct gate_rules *r, const char *uid);

#endif
