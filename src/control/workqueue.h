// SPDX-License-Identifier: Apache-2.0
/* workqueue.h - keys to look at: each once, now, later, or again after a failure
 *
 * A controller puts the key of an object in whenever something about it may have changed, and is called with it in the
 * work phase of a turn.  However often a key is put in before that, it is looked at once.  Looking takes a bounded part
 * of a turn; what is left waits for the next one, in the order in which it came.
 */
#ifndef STOKER_CONTROL_WORKQUEUE_H
#define STOKER_CONTROL_WORKQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop/loop.h"

struct workqueue;

struct workqueue_counts {
	uint64_t added;   /* keys that came when they were not waiting already */
	uint64_t looked;  /* calls */
	uint64_t retried; /* keys that came back after a failure */
	size_t ready;     /* keys to look at now */
	size_t later;     /* keys that wait for their time */
	int64_t busy_ns;  /* spent looking */
};

struct workqueue *workqueue_new(struct loop *loop, void (*look)(void *arg, const char *key), void *arg);
void workqueue_free(struct workqueue *q);
/* Nothing is looked at before this; then everything that was put in is. */
void workqueue_start(struct workqueue *q);

void workqueue_add(struct workqueue *q, const char *key);
/* Not before `ms` have passed; the earliest of several times counts, and workqueue_add() is earlier than any. */
void workqueue_add_after(struct workqueue *q, const char *key, int64_t ms);
/* After a failure: the first time soon, then ever later, up to five minutes. */
void workqueue_retry(struct workqueue *q, const char *key);
/* It went well: the next failure is a first one again. */
void workqueue_forget(struct workqueue *q, const char *key);
/* The writes for it have ended: it is looked at once more, now or as after a failure. */
void workqueue_written(struct workqueue *q, const char *key, bool failed);
/* How often it failed in a row. */
unsigned workqueue_failures(const struct workqueue *q, const char *key);
struct workqueue_counts workqueue_counts(const struct workqueue *q);
/* Of a controller with two queues. */
struct workqueue_counts workqueue_counts_sum(struct workqueue_counts a, struct workqueue_counts b);

#endif
