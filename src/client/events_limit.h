// SPDX-License-Identifier: Apache-2.0
/* events_limit.h - which Events are told one by one, and how often anything is written about an object
 *
 * Kubernetes' numbers.  Both functions take the time, so that tests choose it.
 */
#ifndef STOKER_CLIENT_EVENTS_LIMIT_H
#define STOKER_CLIENT_EVENTS_LIMIT_H

#include <stdint.h>

#include "base/lru.h"

/* Of events with the same object, type and reason, so many texts within this time are one too many. */
#define EVENTS_SIMILAR    10
#define EVENTS_SIMILAR_MS (10 * 60 * 1000)
/* Writes about an object: so many at once, then one each five minutes. */
#define EVENTS_BURST     25
#define EVENTS_REFILL_MS (5 * 60 * 1000)

struct events_limit {
	struct lru groups;  /* object, type and reason -> the texts seen lately */
	struct lru objects; /* -> when they have written enough */
};

void events_limit_init(struct events_limit *l);
void events_limit_done(struct events_limit *l);
/* Is the text one too many of its group?  Then one Event stands for all of these. */
bool events_limit_combines(struct events_limit *l, const char *group, const char *text, int64_t now_ms);
/* Takes the right to write about the object now: 0, or how many milliseconds it will take to get it. */
int64_t events_limit_take(struct events_limit *l, const char *object, int64_t now_ms);

#endif
