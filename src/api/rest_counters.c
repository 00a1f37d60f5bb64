// SPDX-License-Identifier: Apache-2.0
/* rest_counters.c - GET /metrics, for Prometheus
 *
 * Rights to the path have been checked, as to any other that is no resource.  The text is made when the turn's writes
 * are committed: counters.c says why.
 */
#include "api/counters.h"
#include "api/exchange.h"
#include "base/limits.h"
#include "base/metrics.h"

static void on_committed(void *arg, const struct err *e)
{
	struct exchange *x = arg;
	struct rest *r = x->rest;
	auto_sbuf struct sbuf out = SBUF(LIMIT_REPLY_QUEUE);

	x->waiting = false;
	(void)e;                              /* what was undone was never counted */
	if (store_dirty(api_store(r->api))) { /* whoever was told before us has written again */
		rest_counters(x);
		return;
	}
	counters_text(r->counters, &out);
	if (r->add_metrics)
		r->add_metrics(r->metrics_arg, &out);
	exchange_reply_text(x, 200, METRICS_TYPE, sbuf_str(&out));
}

void rest_counters(struct exchange *x)
{
	x->after = (struct store_after){ .fn = on_committed, .arg = x };
	x->waiting = true;
	store_after(api_store(x->rest->api), &x->after);
}
