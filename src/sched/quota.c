// SPDX-License-Identifier: Apache-2.0
/* quota.c - see quota.h */
#include "sched/quota.h"

#include "base/mem.h"
#include "sched/work.h"

/* What the cohort has and uses of something; queues without a quota for it have none to lend and take none. */
static void count_cohort(const struct map *queues, const struct queue *of_queue, enum limit_of of, int64_t *ret_all,
			 int64_t *ret_used)
{
	const char *cohort = of_queue->quota.cohort;
	size_t pos = 0;
	void *v;

	*ret_all = *ret_used = 0;
	while (map_next(queues, &pos, NULL, &v)) {
		const struct queue *q = v;

		if (!q->quota.some || !str_same(q->quota.cohort, cohort) || q->quota.own.v[of] < 0)
			continue;
		*ret_all += q->exists ? q->quota.own.v[of] : 0;
		*ret_used += q->use.total.v[of] + (q == of_queue ? 0 : q->claimed.v[of]);
	}
}

static bool is_exceeded(const struct map *queues, const struct queue *q, enum limit_of of, int64_t wanted,
			struct quota_hit *ret)
{
	int64_t own = q->quota.own.v[of];
	int64_t most = q->quota.borrow.v[of];
	int64_t used = q->use.total.v[of];
	int64_t all;
	int64_t all_used;

	if (own < 0 || !wanted || used + wanted <= own)
		return false;
	*ret = (struct quota_hit){ .what = QUOTA_OWN, .of = of, .most = own, .used = used, .wanted = wanted };
	if (!q->quota.borrows)
		return true;
	if (most >= 0 && used + wanted > own + most) {
		ret->what = QUOTA_BORROWED;
		ret->most = own + most;
		return true;
	}
	count_cohort(queues, q, of, &all, &all_used);
	ret->what = QUOTA_COHORT;
	ret->most = all;
	ret->used = all_used;
	return all_used + wanted > all;
}

bool quota_impossible(const struct map *queues, const struct queue *q, const struct amount_of_limits *a,
		      struct quota_hit *ret)
{
	for (int of = LIMIT_GPUS; q->quota.some && of < LIMIT__COUNT; of++) {
		int64_t all = 0;
		int64_t ignored;

		if (q->quota.borrows)
			count_cohort(queues, q, of, &all, &ignored);
		if (quota_can_never(&q->quota, of, a->v[of], all, ret))
			return true;
	}
	return false;
}

bool quota_exceeded(const struct map *queues, const struct queue *q, const struct amount_of_limits *a,
		    struct quota_hit *ret)
{
	for (int of = LIMIT_GPUS; q->quota.some && of < LIMIT__COUNT; of++)
		if (is_exceeded(queues, q, of, a->v[of], ret))
			return true;
	return false;
}

void quota_hit_text(const struct quota_hit *h, const struct queue *q, struct sbuf *out)
{
	quota_may_text(h, q->name, q->quota.cohort, out);
	sbuf_adds(out, h->what == QUOTA_COHORT ? ", of which " : ", ");
	limit_number_text(h->of, h->used, out);
	sbuf_adds(out, h->used == 1 ? " is in use, and this needs " : " are in use, and this needs ");
	limit_number_text(h->of, h->wanted, out);
}

bool quota_is_own(const struct work *w)
{
	const struct queue *q = w->queue;

	for (int of = LIMIT_GPUS; q->quota.some && of < LIMIT__COUNT; of++)
		if (q->quota.own.v[of] >= 0 && w->asks.v[of] && q->use.total.v[of] + w->asks.v[of] > q->quota.own.v[of])
			return false;
	return q->quota.some;
}

/* Of something that the other needs. */
static bool has_borrowed(const struct queue *q, const struct amount_of_limits *needed)
{
	for (int of = LIMIT_GPUS; of < LIMIT__COUNT; of++)
		if (q->quota.own.v[of] >= 0 && needed->v[of] && q->use.total.v[of] > q->quota.own.v[of])
			return true;
	return false;
}

void quota_count(struct work *w, int sign)
{
	for (int of = LIMIT_GPUS; of < LIMIT__COUNT; of++)
		w->queue->use.total.v[of] += sign * w->counted.v[of];
}

bool quota_may_evict(const struct work *w, const struct work *victim, bool *ret_any)
{
	const struct quota *mine = &w->queue->quota;
	const struct quota *other = &victim->queue->quota;

	*ret_any = false;
	if (w->queue == victim->queue || (!mine->some && !other->some))
		return true;
	if (other->some && !has_borrowed(victim->queue, &w->asks))
		return false;
	if (!mine->some)
		return true;
	*ret_any = mine->reclaim == RECLAIM_ANY;
	return other->some && mine->cohort && str_same(mine->cohort, other->cohort) && mine->reclaim != RECLAIM_NEVER &&
	       quota_is_own(w);
}

void quota_claim(struct work *w, bool claims)
{
	if (w->claims == claims)
		return;
	w->claims = claims;
	for (int of = LIMIT_GPUS; of < LIMIT__COUNT; of++)
		w->queue->claimed.v[of] += claims ? w->asks.v[of] : -w->asks.v[of];
}

bool quota_gives_back(const struct work *victim, const struct work *w)
{
	return victim->queue != w->queue && victim->queue->quota.some;
}
