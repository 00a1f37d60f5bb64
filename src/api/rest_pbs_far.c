// SPDX-License-Identifier: Apache-2.0
/* rest_pbs_far.c - a command in all pods of a PBS job that are another cluster's; for rest_pbs_act.c
 *
 * The reply waits until all have ended, and says the first thing that went wrong.  If the client goes, what runs is let
 * go.
 */
#include "api/exchange.h"
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/kubelet_run.h"

#define CONTAINER "job"

struct far_act {
	struct exchange *x;
	struct err err;
	struct far_run {
		struct far_act *act;
		struct kubelet_run *run; /* NULL: it has ended */
	} * runs;
	size_t n, left;
};

static void far_act_free(void *arg)
{
	struct far_act *a = arg;

	for (size_t i = 0; i < a->n; i++)
		kubelet_run_free(a->runs[i].run);
	free(a->runs);
	free(a);
}

static void finish(struct far_act *a)
{
	struct exchange *x = a->x;
	struct status_subject about = { x->req.kind, x->req.name };

	x->err = a->err;
	if (x->err.kind == ERR_NONE) {
		x->result.code = 200;
		x->result.object = status_success(&about, NULL);
	}
	exchange_finish(x);
}

static void on_done(void *arg, int code, struct str text, const struct err *e)
{
	struct far_run *r = arg;
	struct far_act *a = r->act;
	struct err failed = ERR_INIT;

	r->run = NULL;
	if (kubelet_run_failed(code, text, e, &failed) && a->err.kind == ERR_NONE)
		a->err = failed;
	if (--a->left == 0)
		finish(a);
}

/* ---- which pods ---- */

static void add_names(const json_t *run, bool first, json_t *names)
{
	json_t *name;
	size_t i;

	json_array_foreach (json_object_get(run, "pods"), i, name)
		if (i == 0 || !first)
			json_array_append(names, name);
}

static json_t *names_of(const json_t *job, const json_t *index, bool first)
{
	const json_t *status = json_object_get(job, "status");
	json_t *names = json_array();
	json_t *v;
	size_t i;

	if (!jsonx_at(job, "spec.array") && strchr("RSE", *jsonx_str_or(status, "state", "Q")))
		add_names(status, first, names);
	json_array_foreach (json_object_get(status, "active"), i, v)
		if (!json_is_integer(index) || jsonx_equal(index, json_object_get(v, "index")))
			add_names(v, first, names);
	return names;
}

static int check_runs(const json_t *pod, struct err *e)
{
	const json_t *state = jsonx_at(rest_pod_container_status(pod, CONTAINER), "state");

	if (jsonx_at(state, "running"))
		return 0;
	return err_set(e, ERR_CONFLICT, "its program does not run on node %s%s%s",
		       jsonx_str_or(pod, "spec.nodeName", "?"), jsonx_at(state, "waiting") ? ": " : "",
		       jsonx_str_or(state, "waiting.reason", ""));
}

static int begin(struct far_act *a, struct far_run *r, const char *name, const json_t *command, struct err *e)
{
	struct exchange *x = a->x;
	struct kubelet *k = x->rest->kubelet;
	json_auto_t *pod = NULL;
	struct kubelet_target of = { .ns = x->req.ns, .pod = name, .container = CONTAINER };

	if (k->ops->pod(k, x->req.ns, name, &pod, e) < 0 || check_runs(pod, e) < 0)
		return -1;
	of.uid = jsonx_str_or(pod, "metadata.uid", "");
	return kubelet_run_new(k, &of, command, on_done, r, &r->run, e);
}

int pbs_act_far(struct exchange *x, const json_t *job, const json_t *command, bool first, struct err *e)
{
	const json_t *index = json_object_get(x->body, "index");
	json_auto_t *names = names_of(job, jsonx_at(job, "spec.array") ? index : NULL, first);
	size_t n = json_array_size(names);
	struct far_act *a;

	if (!n)
		return pbs_error_state(e, *jsonx_str_or(job, "status.state", "Q"));
	a = xcalloc(1, sizeof(*a));
	a->x = x;
	a->err = ERR_INIT;
	a->runs = xcalloc(n, sizeof(*a->runs));
	for (; a->n < n; a->n++) {
		struct far_run *r = &a->runs[a->n];

		r->act = a;
		if (begin(a, r, json_string_value(json_array_get(names, a->n)), command, e) < 0) {
			far_act_free(a);
			return -1;
		}
		a->left++;
	}
	x->stream = a;
	x->stream_free = far_act_free;
	return 0;
}
