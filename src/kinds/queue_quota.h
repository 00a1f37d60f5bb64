// SPDX-License-Identifier: Apache-2.0
/* queue_quota.h - a Queue's quota, and what it may borrow; pure */
#ifndef STOKER_KINDS_QUEUE_QUOTA_H
#define STOKER_KINDS_QUEUE_QUOTA_H

#include "kinds/queue_limits.h"

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
/* Whether so much is more than the queue may ever use; `cohort` is what all quotas of its cohort are together. */
bool quota_can_never(const struct quota *q, enum limit_of of, int64_t wanted, int64_t cohort, struct quota_hit *ret);
/* "queue a may use 4 GPUs, its quota" */
void quota_may_text(const struct quota_hit *h, const char *queue, const char *cohort, struct sbuf *out);
/* For what is impossible: "queue a may use 4 GPUs, its quota, and this needs 5" */
void quota_most_text(const struct quota_hit *h, const char *queue, const char *cohort, struct sbuf *out);

#endif
