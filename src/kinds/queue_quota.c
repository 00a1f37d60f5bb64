// SPDX-License-Identifier: Apache-2.0
/* queue_quota.c - see queue_quota.h */
#include "kinds/queue_quota.h"

#include "base/jsonx.h"
#include "base/mem.h"

static enum reclaim read_reclaim(const char *word)
{
	static const char *const words[] = {
		[RECLAIM_ANY] = "Any", [RECLAIM_LOWER] = "LowerPriority", [RECLAIM_NEVER] = "Never"
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (streq(words[i], word))
			return (enum reclaim)i;
	return RECLAIM_ANY;
}

void quota_read(struct quota *q, const json_t *spec)
{
	const char *cohort = jsonx_str_or(spec, "cohort", "");

	quota_done(q);
	q->some = json_object_size(json_object_get(spec, "quota")) > 0;
	q->cohort = *cohort ? xstrdup(cohort) : NULL;
	q->borrows = q->cohort && jsonx_bool_or(spec, "borrowing", true);
	q->reclaim = read_reclaim(jsonx_str_or(spec, "reclaim", ""));
	limits_read_amount(&q->own, json_object_get(spec, "quota"));
	limits_read_amount(&q->borrow, json_object_get(spec, "borrowingLimit"));
}

void quota_done(struct quota *q)
{
	free(q->cohort);
	*q = (struct quota){ 0 };
}

bool quota_can_never(const struct quota *q, enum limit_of of, int64_t wanted, int64_t cohort, struct quota_hit *ret)
{
	int64_t own = q->own.v[of];
	int64_t borrow = q->borrow.v[of];

	if (!q->some || own < 0 || wanted <= own)
		return false;
	*ret = (struct quota_hit){ .what = QUOTA_OWN, .of = of, .most = own, .wanted = wanted };
	if (!q->borrows)
		return true;
	if (borrow >= 0 && own + borrow < cohort) {
		ret->what = QUOTA_BORROWED;
		ret->most = own + borrow;
	} else {
		ret->what = QUOTA_COHORT;
		ret->most = cohort;
	}
	return wanted > ret->most;
}

void quota_may_text(const struct quota_hit *h, const char *queue, const char *cohort, struct sbuf *out)
{
	if (h->what == QUOTA_COHORT)
		sbuf_addf(out, "cohort %s has ", cohort);
	else
		sbuf_addf(out, "queue %s may use ", queue);
	limit_amount_text(h->of, h->most, out);
	sbuf_adds(out, h->what == QUOTA_COHORT     ? " in all"
		       : h->what == QUOTA_BORROWED ? " with what it may borrow"
						   : ", its quota");
}

void quota_most_text(const struct quota_hit *h, const char *queue, const char *cohort, struct sbuf *out)
{
	quota_may_text(h, queue, cohort, out);
	sbuf_adds(out, h->what == QUOTA_OWN ? ", and this needs " : " and this needs ");
	limit_number_text(h->of, h->wanted, out);
}
