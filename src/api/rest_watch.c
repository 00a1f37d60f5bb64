// SPDX-License-Identifier: Apache-2.0
/* rest_watch.c - a watch on the wire: a chunked reply that a watcher writes into */
#include "api/exchange.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define TIMEOUT_MIN 1800 /* 30 to 60 minutes unless the client says so, spread so that they do not all end at once */

static void sink_write(void *arg, struct str line, struct http_shared **shared)
{
	struct exchange *x = arg;

	if (!shared) {
		http_stream_write(x->http, line.p, line.n);
		return;
	}
	if (!*shared)
		*shared = http_shared_new(&line, 1);
	http_stream_write_shared(x->http, *shared);
}

static size_t sink_pending(void *arg)
{
	struct exchange *x = arg;

	return http_stream_pending(x->http);
}

static void sink_end(void *arg, bool cut)
{
	struct exchange *x = arg;
	struct http_request *http = x->http;

	x->watcher = NULL;
	http_on_close(http, NULL, NULL);
	if (cut)
		http_stream_abort(http);
	else
		http_stream_end(http);
	exchange_free(x);
}

static void on_drained(void *arg)
{
	struct exchange *x = arg;

	if (x->watcher)
		watch_drained(x->watcher);
}

/* sendInitialEvents has rules of its own; breaking them must be an error, or clients wait for ever. */
static int initial_events(const struct exchange *x, struct watch_options *o, struct err *e)
{
	const char *match = x->req.rv_match;

	if (!exchange_param(x, "sendInitialEvents")) {
		if (match && *match)
			return err_cause(
				e, CAUSE_FORBIDDEN, "resourceVersionMatch",
				"Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
				"provided");
		return 0;
	}
	if (!match || !streq(match, "NotOlderThan"))
		return err_cause(e, CAUSE_FORBIDDEN, "resourceVersionMatch",
				 "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
	if (exchange_flag(x, "sendInitialEvents")) {
		if (!o->bookmarks)
			return err_cause(e, CAUSE_FORBIDDEN, "allowWatchBookmarks",
					 "Forbidden: sendInitialEvents requires allowWatchBookmarks=true");
		o->initial_events = true;
	}
	return 0;
}

static int read_start(const struct exchange *x, struct watch_options *o, struct err *e)
{
	const char *timeout = exchange_param(x, "timeoutSeconds");
	unsigned char spread;

	if (x->req.rv && *x->req.rv && !str_int64(x->req.rv, 0, INT64_MAX, &o->since))
		return err_set(e, ERR_BAD_REQUEST, "invalid resource version \"%.40s\": must be a number", x->req.rv);
	if (initial_events(x, o, e) < 0)
		return -1;
	/* With initial events the revision is only a lower bound for the list. */
	o->skip_list = !o->initial_events && (o->since > 0 || exchange_param(x, "sendInitialEvents"));
	crypto_random_public(&spread, 1);
	o->timeout_seconds = TIMEOUT_MIN + spread * TIMEOUT_MIN / 256;
	if (timeout && *timeout && !str_int64(timeout, 0, INT32_MAX, &o->timeout_seconds))
		return err_set(e, ERR_BAD_REQUEST, "timeoutSeconds: Invalid value: \"%.40s\": must be a whole number",
			       timeout);
	if (o->timeout_seconds == 0)
		o->timeout_seconds = TIMEOUT_MIN;
	return 0;
}

void rest_watch(struct exchange *x)
{
	struct watch_sink sink = { .write = sink_write, .pending = sink_pending, .end = sink_end, .arg = x };
	struct watch_options o = { .meta_version = x->accept.meta_version,
				   .bookmarks = exchange_flag(x, "allowWatchBookmarks") };
	auto_free char *by_name = NULL;

	o.form = x->accept.form == REPLY_TABLE                                             ? WATCH_TABLE
		 : x->accept.form == REPLY_PARTIAL || x->accept.form == REPLY_PARTIAL_LIST ? WATCH_PARTIAL
											   : WATCH_JSON;
	o.include = negotiate_include(exchange_param(x, "includeObject"));
	if (read_start(x, &o, &x->err) < 0)
		goto fail;
	if (x->req.name) { /* /watch/.../NAME */
		by_name = xasprintf("metadata.name=%s", x->req.name);
		selector_free(x->fields);
		x->fields = NULL;
		if (selector_parse_fields(by_name, x->req.kind, &x->fields, &x->err) < 0)
			goto fail;
		x->req.field_sel = x->fields;
		x->req.name = NULL;
	}
	if (watch_start(api_hub(x->rest->api), &x->req, &o, &sink, &x->watcher, &x->err) < 0)
		goto fail;
	x->labels = x->fields = NULL; /* the watcher's now */
	exchange_count(x, 200);
	http_stream_start(x->http, 200, "application/json");
	http_stream_on_drained(x->http, on_drained, x);
	return;
fail:
	exchange_finish(x);
}
