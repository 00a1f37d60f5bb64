// SPDX-License-Identifier: Apache-2.0
/* quota.h - what is a queue's own, what it may borrow of others, and who gives back; pure
 *
 * Queues of a cohort lend each other what they do not use of their quotas.  A queue may always use its own quota;
 * beyond that it borrows, as long as the whole cohort uses no more than all its quotas together.  Who needs what is its
 * own and finds no room has those evicted who have borrowed; within a quota nobody is evicted for another queue's work.
 */
#ifndef STOKER_SCHED_QUOTA_H
#define STOKER_SCHED_QUOTA_H

#include "kinds/queue_limits.h"

struct work;
struct queue;

/* Of which work of other queues of its cohort one takes back what is its own. */
enum reclaim { RECLAIM_ANY, RECLAIM_LOWER, RECLAIM_NEVER };

struct quota {
	bool some;    /* false: the queue has none, and nothing else here counts */
	char *cohort; /* or NULL: nobody lends it anything */
	bool borrows;
	enum reclaim reclaim;
	struct amount_of_limits own;    /* -1: not counted */
	struct amount_of_limits borrow; /* most beyond that; -1: no limit */
};
/* From a Queue's spec, which may be NULL. */
void quota_read(struct quota *q, const json_t *spec);
void quota_done(struct quota *q);

/* What keeps a work from starting. */
struct quota_hit {
	enum { QUOTA_OWN, QUOTA_BORROWED, QUOTA_COHORT } what; /* it may not borrow; no more; nobody has more to lend */
	enum limit_of of;
	int64_t most, used, wanted;
};
/* `queues` is a map of all. */
bool quota_exceeded(const struct map *queues, const struct queue *q, const struct amount_of_limits *a,
		    struct quota_hit *ret);
void quota_hit_text(const struct quota_hit *h, const struct queue *q, struct sbuf *out);

/* Whether it would be within its queue's quota. */
bool quota_is_own(const struct work *w);
/* Whether the victim may be evicted for the work as far as quotas are concerned; *ret_any: also if its priority is not
 * lower. */
bool quota_may_evict(const struct work *w, const struct work *victim, bool *ret_any);
/* As if it no longer used anything (-1), and as it is again (1). */
void quota_count(struct work *w, int sign);

#endif
