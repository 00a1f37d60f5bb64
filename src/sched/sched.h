// SPDX-License-Identifier: Apache-2.0
/* sched.h - pods without a node get one: the first that has room */
#ifndef STOKER_SCHED_SCHED_H
#define STOKER_SCHED_SCHED_H

#include "client/client.h"
#include "loop/scheduler.h"

struct sched;

struct sched *sched_new(struct client *c);
void sched_free(struct sched *s);
/* For the API; lives as long as the scheduler. */
struct scheduler *sched_door(struct sched *s);

#endif
