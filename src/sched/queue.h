// SPDX-License-Identifier: Apache-2.0
/* queue.h - pods that wait for a node: by priority, then by age */
#ifndef STOKER_SCHED_QUEUE_H
#define STOKER_SCHED_QUEUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiting {
	char *ns, *name, *uid;
	int64_t priority, created;
	uint64_t arrival; /* creation times are whole seconds: among equals, who came first */
	int64_t since_ms; /* monotonic */
	struct shape *shape;
	char *said;        /* why it waits, as its status has it; NULL: nothing yet */
	bool binding;      /* and so not in the queue */
	bool placed;       /* counted at a node with the others of its gang, still to be bound */
	struct gang *gang; /* or NULL */
};

struct waiting *waiting_new(const json_t *pod);
void waiting_free(struct waiting *w);

struct queue {
	struct waiting **items; /* with holes where somebody left, until queue_pack() */
	size_t n, cap;
	uint64_t arrivals;
	size_t holes;
};

void queue_done(struct queue *q);
void queue_add(struct queue *q, struct waiting *w);
/* Not being in it is fine. */
void queue_remove(struct queue *q, struct waiting *w);
/* NULL behind the last.  There are no holes but between queue_leave() and queue_pack(). */
struct waiting *queue_at(const struct queue *q, size_t i);
/* Takes one out while the queue is being walked; the others keep their places. */
void queue_leave(struct queue *q, size_t i);
void queue_pack(struct queue *q);

#endif
