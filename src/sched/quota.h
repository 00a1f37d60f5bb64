// SPDX-License-Identifier: Apache-2.0
/* quota.h - what is a queue's own, what it may borrow of others, and who gives back; pure
 *
 * Queues of a cohort lend each other what they do not use of their quotas.  A queue may always use its own quota;
 * beyond that it borrows, as long as the whole cohort uses no more than all its quotas together.  Who needs what is its
 * own and finds no room has those evicted who have borrowed; within a quota nobody is evicted for another queue's work.
 */
#ifndef STOKER_SCHED_QUOTA_H
#define STOKER_SCHED_QUOTA_H

#include "kinds/queue_quota.h"

struct work;
struct queue;

/* `queues` is a map of all. */
bool quota_exceeded(const struct map *queues, const struct queue *q, const struct amount_of_limits *a,
		    struct quota_hit *ret);
/* Whether it is more than the queue could use if nothing else ran: it can never start. */
bool quota_impossible(const struct map *queues, const struct queue *q, const struct amount_of_limits *a,
		      struct quota_hit *ret);
void quota_hit_text(const struct quota_hit *h, const struct queue *q, struct sbuf *out);

/* Whether it would be within its queue's quota. */
bool quota_is_own(const struct work *w);
/* Whether the victim may be evicted for the work as far as quotas are concerned; *ret_any: also if its priority is not
 * lower. */
bool quota_may_evict(const struct work *w, const struct work *victim, bool *ret_any);
/* Of one that may be: because its queue has borrowed, not for its priority alone. */
bool quota_gives_back(const struct work *victim, const struct work *w);
/* That it claims what others give back, or no longer. */
void quota_claim(struct work *w, bool claims);
/* As if it no longer used anything (-1), and as it is again (1). */
void quota_count(struct work *w, int sign);

#endif
