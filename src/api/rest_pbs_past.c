// SPDX-License-Identifier: Apache-2.0
/* rest_pbs_past.c - GET /apis/stoker.dev/v1/pbs/records?job=380963&since=SECONDS: the accounts of one job, for tracejob
 *
 * Lines as PBS writes them, also of a job that is long forgotten.  They are for whose job it is, which lines about its
 * runs say, and for operators; to others there is no such job.  Files are read a piece a turn.
 */
#include "api/exchange.h"
#include "api/pbs.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "loop/scheduler.h"

struct past {
	struct exchange *x;
	struct loop *loop;
	struct scheduler *scheduler;
	struct scheduler_past *from;
	struct loop_hook more;
	int64_t job;
	struct sbuf out;
};

static void past_free(void *arg)
{
	struct past *p = arg;

	loop_unschedule(p->loop, &p->more);
	if (p->from)
		p->scheduler->ops->past_close(p->from);
	sbuf_done(&p->out);
	free(p);
}

bool rest_pbs_past_is_of(struct str lines, const char *user)
{
	auto_free char *mark = xasprintf("user=%s ", user);
	struct str line, word;

	/* "time;type;id;text": free text may hold anything, but stands behind the user. */
	while (lines.n && str_split(&lines, '\n', &line))
		if (str_split(&line, ';', &word) && str_split(&line, ';', &word) && str_split(&line, ';', &word) &&
		    line.n >= strlen(mark) && memcmp(line.p, mark, strlen(mark)) == 0)
			return true;
	return false;
}

static void finish(struct past *p)
{
	struct exchange *x = p->x;
	struct http_request *http = x->http;
	bool may = p->out.n && (pbs_is_operator(x->rest->api, x->req.caller) ||
				rest_pbs_past_is_of(sbuf_str(&p->out), x->req.caller->user));

	if (!may) {
		pbs_error_set(&x->err, ERR_NOT_FOUND, PBSE_UNKJOBID, NULL);
		exchange_finish(x);
		return;
	}
	exchange_count(x, 200);
	http_on_close(http, NULL, NULL);
	http_reply(http, 200, "text/plain", p->out.p, p->out.n);
	exchange_free(x);
}

static void step(void *arg)
{
	struct past *p = arg;

	if (!p->out.over && p->scheduler->ops->past_read(p->from, p->job, &p->out))
		loop_schedule(p->loop, &p->more);
	else
		finish(p);
}

static int begin(struct past *p, struct err *e)
{
	const char *job = exchange_param(p->x, "job");
	const char *since = exchange_param(p->x, "since");
	int64_t from = 0;

	if (!job || !str_int64(job, 0, INT64_MAX, &p->job))
		return err_set(e, ERR_BAD_REQUEST, "job: Invalid value: \"%.40s\": must be a job's number",
			       job ? job : "");
	if (since && *since && !str_int64(since, 0, (int64_t)1 << 40, &from))
		return err_set(e, ERR_BAD_REQUEST, "since: Invalid value: \"%.40s\": seconds since 1970", since);
	if (p->scheduler && p->scheduler->ops->past_open)
		p->from = p->scheduler->ops->past_open(p->scheduler, from);
	return p->from ? 0 : pbs_error_set(e, ERR_NOT_FOUND, PBSE_UNKJOBID, NULL);
}

bool rest_pbs_past_path(const struct exchange *x)
{
	static const char *const words[] = { "apis", "stoker.dev", "v1", "pbs", "records" };

	return exchange_path_is(x, words, ARRAY_SIZE(words));
}

bool rest_pbs_past(struct exchange *x)
{
	struct past *p;

	if (!rest_pbs_past_path(x) || !streq(http_method(x->http), "GET"))
		return false;
	p = xcalloc(1, sizeof(*p));
	*p = (struct past){
		.x = x, .loop = api_loop(x->rest->api), .scheduler = x->rest->scheduler, .out = SBUF(LIMIT_REPLY_QUEUE)
	};
	p->more = (struct loop_hook){ .run = step, .arg = p, .phase = LOOP_WORK };
	x->stream = p;
	x->stream_free = past_free;
	if (begin(p, &x->err) < 0)
		exchange_finish(x);
	else
		step(p);
	return true;
}
