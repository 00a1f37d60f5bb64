// SPDX-License-Identifier: Apache-2.0
/* door.h - answers questions of the API: why something waits, who is in line, who used how much (loop/scheduler.h) */
#ifndef STOKER_SCHED_DOOR_H
#define STOKER_SCHED_DOOR_H

#include "client/client.h"
#include "loop/scheduler.h"
#include "sched/feed.h"
#include "sched/rules.h"

struct door;
struct books;

struct door_config {
	struct loop *loop;
	struct world *world;
	struct world_config world_config;
	const struct feed *feed;
	const struct informer *pods, *nodes, *queues;
	const struct rules *rules;
};

struct door *door_new(const struct door_config *config);
void door_free(struct door *d);
/* The accounts: without them there are no answers about use. */
void door_set_books(struct door *d, struct books *b);
/* Where PBS's are. */
void door_set_past(struct door *d, const char *dir);
struct scheduler *door_scheduler(struct door *d);
/* "job/a1", what a work is called for those of a namespace; a new text, or NULL: it is of another. */
char *door_name(struct door *d, const struct work *work, const char *ns);
/* why_condition() with the names that its namespace may know. */
void door_condition(struct door *d, struct work *work, struct sbuf *out);
/* Something has changed that expected starts may depend on. */
void door_touch(struct door *d);

#endif
