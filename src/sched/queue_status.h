// SPDX-License-Identifier: Apache-2.0
/* queue_status.h - what is in each queue, told in its status */
#ifndef STOKER_SCHED_QUEUE_STATUS_H
#define STOKER_SCHED_QUEUE_STATUS_H

#include "client/client.h"
#include "sched/world.h"

struct queue_status;
/* `queues` are the Queues as the API has them; all three outlive it. */
struct queue_status *queue_status_new(struct client *c, struct world *w, struct informer *queues);
void queue_status_free(struct queue_status *s);
/* Something may have changed.  Each queue is written once a second at most, and only if it has. */
void queue_status_touch(struct queue_status *s);

#endif
