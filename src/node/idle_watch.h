// SPDX-License-Identifier: Apache-2.0
/* idle_watch.h - looks now and then whether pods in queues with such a policy use their GPUs */
#ifndef STOKER_NODE_IDLE_WATCH_H
#define STOKER_NODE_IDLE_WATCH_H

#include "node/pod.h"

struct idle_watch;
/* `parts` outlives it. */
struct idle_watch *idle_watch_new(const struct node_parts *parts);
void idle_watch_free(struct idle_watch *w);
/* A pod may have got cards. */
void idle_watch_touch(struct idle_watch *w);

#endif
