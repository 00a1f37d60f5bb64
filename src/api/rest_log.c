// SPDX-License-Identifier: Apache-2.0
/* rest_log.c - GET .../pods/NAME/log: a container's output as plain text, and as it comes
 *
 * The node is asked first, for it knows what runs; a pod that no worker has any more (it ended before a restart of the
 * server) still has its log, which is kept.  Only when there is neither does the pod's status find the words.
 *
 * A client that does not take what it asked for stops its own log from being read, and nothing else.
 */
#include "api/exchange.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/outlet.h"

#define TEXT_TYPE   "text/plain"
#define QUEUE_BYTES (256 * 1024) /* unsent before reading pauses */

/* ---- parameters ---- */

/* A whole number of at least `min`; left alone if it is not given. */
static int number(const struct exchange *x, const char *name, int64_t min, int64_t *ret, struct err *e)
{
	const char *text = exchange_param(x, name);
	int64_t n;

	if (!text || !*text)
		return 0;
	if (!str_int64(text, INT64_MIN, INT64_MAX, &n))
		return err_set(e, ERR_BAD_REQUEST, "%s: Invalid value: \"%.40s\": must be a whole number", name, text);
	if (n < min)
		return err_cause(e, CAUSE_INVALID, name, "Invalid value: %lld: must be greater than %s0", (long long)n,
				 min ? "" : "or equal to ");
	*ret = n;
	return 0;
}

static int since(const struct exchange *x, int64_t *ret_us, struct err *e)
{
	const char *time = exchange_param(x, "sinceTime");
	int64_t seconds = 0;
	int64_t now = clock_wall_micros();

	if (number(x, "sinceSeconds", 1, &seconds, e) < 0)
		return -1;
	if (seconds && time && *time)
		return err_cause(e, CAUSE_FORBIDDEN, "sinceSeconds",
				 "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified");
	if (time && *time && !clock_parse_rfc3339(time, ret_us))
		return err_set(e, ERR_BAD_REQUEST, "sinceTime: Invalid value: \"%.40s\": must be a time in RFC 3339",
			       time);
	if (seconds)
		*ret_us = seconds < now / 1000000 ? now - seconds * 1000000 : 0;
	return 0;
}

/* tailLines counts lines of both. */
static int stream_of(const struct exchange *x, int64_t tail_lines, int *ret, struct err *e)
{
	static const char *const names[] = { "All", "Stdout", "Stderr" };
	const char *text = exchange_param(x, "stream");
	size_t i = 0;

	if (!text || !*text)
		return 0;
	while (i < ARRAY_SIZE(names) && !streq(text, names[i]))
		i++;
	if (i == ARRAY_SIZE(names))
		return err_cause(e, CAUSE_NOT_SUPPORTED, "stream",
				 "Unsupported value: \"%.40s\": supported values: \"All\", \"Stderr\", \"Stdout\"",
				 text);
	if (i && tail_lines >= 0)
		return err_cause(e, CAUSE_FORBIDDEN, "tailLines",
				 "Forbidden: `tailLines` and specific `stream` are mutually exclusive for now");
	*ret = (int)i;
	return 0;
}

int rest_log_query(const struct exchange *x, struct kubelet_log_request *q, struct err *e)
{
	struct kubelet_log_request r = { .follow = exchange_flag(x, "follow"),
					 .previous = exchange_flag(x, "previous"),
					 .timestamps = exchange_flag(x, "timestamps"),
					 .tail_lines = -1,
					 .limit_bytes = -1,
					 .attempt = -1 };
	int64_t attempt = -1;

	if (number(x, "tailLines", 0, &r.tail_lines, e) < 0 || number(x, "limitBytes", 1, &r.limit_bytes, e) < 0 ||
	    number(x, "attempt", 0, &attempt, e) < 0 || since(x, &r.since_us, e) < 0 ||
	    stream_of(x, r.tail_lines, &r.stream, e) < 0)
		return -1;
	r.attempt = attempt > INT32_MAX ? INT32_MAX : (int)attempt;
	*q = r;
	return 0;
}

/* ---- the stream ---- */

struct log_stream {
	struct exchange *x;    /* NULL after an upgrade: */
	struct outlet *outlet; /* then this */
	struct kubelet *kubelet;
	struct kubelet_log *log;
	bool paused;
};

static void stream_free(void *arg)
{
	struct log_stream *s = arg;

	if (s->log)
		s->kubelet->ops->log_close(s->log);
	free(s);
}

static void on_text(void *arg, struct str piece)
{
	struct log_stream *s = arg;

	size_t pending;

	if (s->outlet) {
		outlet_write(s->outlet, piece);
		pending = outlet_pending(s->outlet);
	} else {
		http_stream_write(s->x->http, piece.p, piece.n);
		pending = http_stream_pending(s->x->http);
	}
	if (pending > QUEUE_BYTES && !s->paused) {
		s->paused = true;
		s->kubelet->ops->log_pause(s->log, true);
	}
}

static void on_drained(void *arg)
{
	struct log_stream *s = arg;

	if (!s->paused)
		return;
	s->paused = false;
	if (s->log)
		s->kubelet->ops->log_pause(s->log, false);
}

static void on_end(void *arg, const struct err *e)
{
	struct log_stream *s = arg;
	struct exchange *x = s->x;
	struct http_request *http;

	s->log = NULL;
	if (s->outlet) {
		outlet_end(s->outlet);
		free(s);
		return;
	}
	http = x->http;
	http_on_close(http, NULL, NULL);
	if (e->kind == ERR_NONE)
		http_stream_end(http);
	else
		http_stream_abort(http);
	exchange_free(x);
}

typedef int log_op(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		   struct kubelet_log **ret, struct err *e);

/* The log is the exchange's, and nothing has been sent. */
static int stream_open(struct exchange *x, struct kubelet *k, log_op *op, const struct kubelet_log_request *q,
		       struct err *e)
{
	struct log_stream *s = xcalloc(1, sizeof(*s));
	struct kubelet_log_handlers h = { .text = on_text, .end = on_end, .arg = s };

	s->x = x;
	s->kubelet = k;
	if (op(k, q, &h, &s->log, e) < 0) {
		free(s);
		return -1;
	}
	x->stream = s;
	x->stream_free = stream_free;
	return 0;
}

/* By WebSocket; the exchange is over. */
static void stream_upgrade(struct exchange *x)
{
	struct log_stream *s = x->stream;
	const struct outlet_handlers h = { .drained = on_drained, .closed = stream_free, .arg = s };

	exchange_keep_peer(x);
	if (outlet_accept(x->http, &h, &s->outlet, &x->err) < 0) {
		exchange_finish(x);
		return;
	}
	s->x = NULL;
	x->stream = NULL;
	exchange_upgraded(x);
}

static void stream_run(struct exchange *x)
{
	if (http_wants_upgrade(x->http, "websocket")) {
		stream_upgrade(x);
		return;
	}
	if (streq(http_method(x->http), "HEAD")) {
		exchange_reply_text(x, 200, TEXT_TYPE, (struct str){ "", 0 });
		return;
	}
	exchange_count(x, 200);
	http_stream_start(x->http, 200, TEXT_TYPE);
	http_stream_on_drained(x->http, on_drained, x->stream);
}

/* ---- why there is none ---- */

static int explain(const json_t *pod, const char *container, bool previous, struct err *e)
{
	static const struct {
		const char *reason, *words;
	} waits[] = {
		{ "ErrImagePull", "image can't be pulled" },
		{ "ImagePullBackOff", "trying and failing to pull image" },
	};
	const char *name = jsonx_str_or(pod, "metadata.name", "");
	const json_t *st = rest_pod_container_status(pod, container);
	const char *why = jsonx_str_or(st, "state.waiting.reason", "ContainerCreating");

	if (previous)
		return err_set(e, ERR_BAD_REQUEST, "previous terminated container \"%s\" in pod \"%s\" not found",
			       container, name);
	if (jsonx_at(st, "state.terminated"))
		return err_set(e, ERR_BAD_REQUEST, "container \"%s\" in pod \"%s\" is terminated", container, name);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (streq(waits[i].reason, why))
			why = waits[i].words;
	return err_set(e, ERR_BAD_REQUEST, "container \"%s\" in pod \"%s\" is waiting to start: %s", container, name,
		       why);
}

static int open_log(struct exchange *x, const json_t *pod, struct kubelet *k, struct err *e)
{
	struct kubelet_log_request q;
	const char *container;

	if (rest_log_query(x, &q, e) < 0 || rest_pod_container(pod, exchange_param(x, "container"), &container, e) < 0)
		return -1;
	if (!*jsonx_str_or(pod, "spec.nodeName", ""))
		return err_set(e, ERR_BAD_REQUEST, "pod %s does not have a host assigned", x->req.name);
	q.of = (struct kubelet_target){ .ns = x->req.ns,
					.pod = x->req.name,
					.uid = jsonx_str_or(pod, "metadata.uid", ""),
					.container = container };
	if (q.attempt < 0) {
		if (stream_open(x, k, k->ops->log, &q, e) == 0)
			return 0;
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
	}
	if (stream_open(x, k, k->ops->log_kept, &q, e) == 0)
		return 0;
	return e->kind == ERR_NOT_FOUND ? explain(pod, container, q.previous, e) : -1;
}

void rest_log(struct exchange *x)
{
	json_auto_t *pod = NULL;
	struct kubelet *kubelet;

	if (rest_pod_get(x, &pod, &kubelet, &x->err) < 0 || open_log(x, pod, kubelet, &x->err) < 0)
		exchange_finish(x);
	else
		stream_run(x);
}

void rest_log_kept(struct exchange *x, struct kubelet *k, const struct kubelet_log_request *q)
{
	if (stream_open(x, k, k->ops->log_kept, q, &x->err) < 0)
		exchange_finish(x);
	else
		stream_run(x);
}
