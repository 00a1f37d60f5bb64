// SPDX-License-Identifier: Apache-2.0
/* sched.h - pods without a node get one: the first that has room */
#ifndef STOKER_SCHED_SCHED_H
#define STOKER_SCHED_SCHED_H

#include "client/client.h"
#include "loop/scheduler.h"

struct sched;

struct sched_config {
	const char *accounts; /* directory of the accounts; NULL: none are kept */
	int64_t half_life;    /* of what was used, in seconds; 0: in a queue, first come, first served */
};

/* Without accounts, and who has just begun is evicted like any other; all else as usual. */
struct sched *sched_new(struct client *c);
int sched_open(struct client *c, const struct sched_config *config, struct sched **ret, struct err *e);
void sched_free(struct sched *s);
/* For the API; lives as long as the scheduler. */
struct scheduler *sched_door(struct sched *s);

#endif
