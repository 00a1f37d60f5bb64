// SPDX-License-Identifier: Apache-2.0
/* rest_pbs_act.c - what is asked of a running PBS job, rather than written into it
 *
 *	POST /apis/stoker.dev/v1/namespaces/NS/pbsjobs/NAME/signal   {"signal":"USR1","index":3}
 *	POST /apis/stoker.dev/v1/namespaces/NS/pbsjobs/NAME/message  {"stream":"out"|"err","text":"..."}
 *
 * Whoever may change the job may do it.  An index is for one element of an array; without, it is for all that run.
 */
#include <signal.h>
#include <strings.h>

#include "api/exchange.h"
#include "api/pbs_parts.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_far.h"
#include "kinds/pbs_id.h"
#include "kinds/rest.h"

#define LAST         7 /* segments: apis, stoker.dev, v1, namespaces, NS, pbsjobs, NAME, and this */
#define MOST_MESSAGE (16u * 1024)
#define CONTAINER    "job"

/* What is done to the pods of one run. */
struct act {
	struct kubelet *kubelet;
	struct exchange *x;
	const json_t *job;
	int signo;
	int stream;
	struct sbuf text;
	size_t told;
	bool taken; /* the exchange goes on without us */
};

/* "TERM", "SIGTERM", "15"; 0 if it is none. */
static int signal_number(const char *name)
{
	int64_t n;

	if (str_int64(name, 1, SIGRTMAX, &n))
		return (int)n;
	if (strncasecmp(name, "SIG", 3) == 0)
		name += 3;
	for (int i = 1; i < SIGRTMAX; i++)
		if (sigabbrev_np(i) && strcasecmp(sigabbrev_np(i), name) == 0)
			return i;
	return 0;
}

static int read_signal(struct act *a, struct err *e)
{
	const json_t *v = json_object_get(a->x->body, "signal");

	a->signo = v ? 0 : SIGTERM;
	if (json_is_integer(v) && json_integer_value(v) > 0 && json_integer_value(v) <= SIGRTMAX)
		a->signo = (int)json_integer_value(v);
	else if (json_is_string(v))
		a->signo = signal_number(json_string_value(v));
	return a->signo ? 0 : pbs_error_set(e, ERR_INVALID, PBSE_UNKSIG, NULL);
}

static int read_message(struct act *a, struct err *e)
{
	const json_t *v = json_object_get(a->x->body, "text");
	const char *stream = jsonx_str_or(a->x->body, "stream", "err");

	if (!streq(stream, "out") && !streq(stream, "err"))
		return err_set(e, ERR_BAD_REQUEST, "stream: Invalid value: \"%.40s\": must be out or err", stream);
	if (!json_is_string(v) || json_string_length(v) > MOST_MESSAGE)
		return err_set(e, ERR_BAD_REQUEST, "text: must be a text of at most %u bytes", MOST_MESSAGE);
	a->stream = streq(stream, "out") ? 1 : 2;
	sbuf_adds(&a->text, json_string_value(v));
	if (!a->text.n || a->text.p[a->text.n - 1] != '\n')
		sbuf_addc(&a->text, '\n');
	return 0;
}

static int send_signal(struct act *a, const struct kubelet_target *of, bool first, struct err *e)
{
	(void)first;
	if (!a->kubelet->ops->signal)
		return err_set(e, ERR_UNAVAILABLE, "this node sends no signals");
	return a->kubelet->ops->signal(a->kubelet, of, a->signo, e);
}

/* The script's output is the first pod's. */
static int send_message(struct act *a, const struct kubelet_target *of, bool first, struct err *e)
{
	if (!first)
		return 0;
	if (!a->kubelet->ops->message)
		return err_set(e, ERR_UNAVAILABLE, "this node takes no messages");
	return a->kubelet->ops->message(a->kubelet, of, a->stream, sbuf_str(&a->text), e);
}

static const struct {
	const char *word;
	int (*read)(struct act *a, struct err *e);
	int (*send)(struct act *a, const struct kubelet_target *of, bool first, struct err *e);
} rows[] = {
	{ "signal", read_signal, send_signal },
	{ "message", read_message, send_message },
};

static size_t row_of(const struct exchange *x)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(rows) && !streq(rows[i].word, x->segments[LAST]))
		i++;
	return i;
}

static int act_on_pod(struct act *a, const json_t *pod, bool first, struct err *e)
{
	struct kubelet_target of = { .ns = a->x->req.ns,
				     .pod = jsonx_str_or(pod, "metadata.name", ""),
				     .uid = jsonx_str_or(pod, "metadata.uid", ""),
				     .container = CONTAINER };

	if (rows[row_of(a->x)].send(a, &of, first, e) < 0)
		return -1;
	a->told++;
	return 0;
}

/* All pods of a run, the one of the script first. */
static int act_on_run(struct act *a, const json_t *run, struct err *e)
{
	struct stored_kind k = { .group = "", .version = "v1", .plural = "pods" };
	struct exchange *x = a->x;
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(run, "pods"), i, v) {
		json_auto_t *pod = NULL;

		if (stored_get(x->rest->api, &k, x->req.ns, json_string_value(v), &pod, e) < 0) {
			if (e->kind != ERR_NOT_FOUND)
				return -1;
			err_clear(e);
			continue;
		}
		if (act_on_pod(a, pod, i == 0, e) < 0)
			return -1;
	}
	return 0;
}

/* One whose start is not told yet: its node knows whether there is somebody to hear it. */
static int act_on_begun(void *arg, json_t *pod, struct err *e)
{
	if (act_on_pod(arg, pod, true, e) == 0)
		return 0;
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	err_clear(e);
	return 0;
}

static int act_on_told(struct act *a, const json_t *index, char state, struct err *e)
{
	const json_t *status = json_object_get(a->job, "status");
	json_t *v;
	size_t i;

	if (!jsonx_at(a->job, "spec.array"))
		return strchr("RSE", state) ? act_on_run(a, status, e) : 0;
	json_array_foreach (json_object_get(status, "active"), i, v)
		if ((!json_is_integer(index) || jsonx_equal(index, json_object_get(v, "index"))) &&
		    act_on_run(a, v, e) < 0)
			return -1;
	return 0;
}

static int act_on_untold(struct act *a, const json_t *index, struct err *e)
{
	struct api *api = a->x->rest->api;
	json_auto_t *pod = NULL;

	if (!json_is_integer(index))
		return pbs_begun_all(api, a->job, act_on_begun, a, e);
	if (pbs_begun(api, a->job, (int)json_integer_value(index), &pod, e) < 0)
		return -1;
	return pod ? act_on_begun(a, pod, e) : 0;
}

static int act_on_job(struct act *a, struct err *e)
{
	const json_t *index = json_object_get(a->x->body, "index");
	char state = *jsonx_str_or(a->job, "status.state", "Q");
	bool array = jsonx_at(a->job, "spec.array") != NULL;

	if (act_on_told(a, array ? index : NULL, state, e) < 0)
		return -1;
	/* Of an array some may be told and others not; of one element or job it is one or the other. */
	if (state != 'C' && (!a->told || (array && !json_is_integer(index))) &&
	    act_on_untold(a, array ? index : NULL, e) < 0)
		return -1;
	return a->told ? 0 : pbs_error_state(e, array && state != 'C' ? 'Q' : state);
}

/* Pods of another cluster know no signals but those that somebody sends in them. */
static int act_far(struct act *a, struct err *e)
{
	json_auto_t *command = a->signo ? pbs_far_signal(a->signo) : pbs_far_message(a->stream, sbuf_str(&a->text));

	if (pbs_act_far(a->x, a->job, command, !a->signo, e) < 0)
		return -1;
	a->taken = true;
	return 0;
}

static int act(struct exchange *x, bool *ret_taken, struct err *e)
{
	struct act a = { .kubelet = x->rest->kubelet, .x = x, .text = SBUF(MOST_MESSAGE + 2) };
	json_auto_t *job = NULL;
	int r = -1;

	if (body_read(x, e) == 0 && verb_load(x->rest->api, x->req.kind, x->req.ns, x->req.name, &job, e) == 0 &&
	    pbs_may_act(x->rest->api, x->req.caller, job, e) == 0)
		r = rows[row_of(x)].read(&a, e);
	a.job = job;
	if (r == 0 && !a.kubelet)
		r = err_set(e, ERR_UNAVAILABLE, "this server runs no pods");
	if (r == 0)
		r = a.kubelet->ops->pod ? act_far(&a, e) : act_on_job(&a, e);
	sbuf_done(&a.text);
	*ret_taken = a.taken;
	return r;
}

static void serve_act(struct exchange *x)
{
	struct status_subject about = { x->req.kind, x->req.name };

	bool taken = false;
	int r;

	x->mutating = true;
	r = act(x, &taken, &x->err);
	if (taken)
		return;
	if (r == 0) {
		x->result.code = 200;
		x->result.object = status_success(&about, NULL);
	}
	exchange_finish(x);
}

bool rest_pbs_act_route(struct exchange *x)
{
	static const char *const words[] = { "apis", "stoker.dev", "v1", "namespaces", NULL, "pbsjobs", NULL };

	if (x->nsegments != LAST + 1 || !streq(http_method(x->http), "POST") || row_of(x) == ARRAY_SIZE(rows))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i] && !streq(words[i], x->segments[i]))
			return false;
	x->req.kind = &kind_pbsjob;
	x->req.ns = x->segments[4];
	x->req.name = x->segments[6];
	x->req.verb = VERB_UPDATE;
	x->serve = serve_act;
	return true;
}
