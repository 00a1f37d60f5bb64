// SPDX-License-Identifier: Apache-2.0
/* rest_why.c - questions to the scheduler (loop/scheduler.h)
 *
 *	GET /apis/stoker.dev/v1/namespaces/NS/why/NAME[?kind=KIND]   of a pod, or of who controls pods
 *	GET /apis/stoker.dev/v1/line[?queue=NAME][&limit=N]          everything that runs and waits
 *
 * Neither is a resource.  Whoever may list the pods of a namespace may ask why they wait.  The line is for everyone who
 * may read /apis; of work in namespaces whose pods the caller may not list, it shows only whose it is and how large.
 */
#include "api/authz.h"
#include "api/exchange.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/core.h"

#define NAME_AT   6 /* segment of the path */
#define LINE_MOST 100000
#define LINE_ROWS 1000 /* unless a limit says otherwise */

static bool reads(const struct exchange *x)
{
	const char *method = http_method(x->http);

	return streq(method, "GET") || streq(method, "HEAD");
}

static void reply_list(struct exchange *x, const char *kind, json_t *items)
{
	exchange_reply_json(x, 200,
			    json_pack("{s:s, s:s, s:{}, s:o}", "kind", kind, "apiVersion", "stoker.dev/v1", "metadata",
				      "items", items));
}

/* Refuses, and x is gone, if nobody places pods here. */
static struct scheduler *scheduler_of(struct exchange *x)
{
	struct scheduler *s = x->rest->scheduler;

	if (!s) {
		err_set(&x->err, ERR_UNAVAILABLE, "this server places no pods");
		exchange_finish(x);
	}
	return s;
}

/* ---- why ---- */

static void serve_why(struct exchange *x)
{
	const char *name = x->segments[NAME_AT];
	struct scheduler *s = scheduler_of(x);
	json_auto_t *uids = NULL;

	if (!s)
		return;
	uids = s->ops->find(s, x->req.ns, exchange_param(x, "kind"), name);
	if (!json_array_size(uids)) {
		err_set(&x->err, ERR_NOT_FOUND, "nothing that waits or runs in namespace \"%s\" is called \"%s\"",
			x->req.ns, name);
		exchange_finish(x);
		return;
	}
	reply_list(x, "WhyList", s->ops->why(s, uids));
}

bool rest_why_route(struct exchange *x)
{
	static const char *const words[] = { "apis", "stoker.dev", "v1", "namespaces", NULL, "why", NULL };

	if (!exchange_path_is(x, words, ARRAY_SIZE(words)) || !reads(x))
		return false;
	x->req.kind = &kind_pod;
	x->req.ns = x->segments[4];
	x->req.verb = VERB_LIST;
	x->serve = serve_why;
	return true;
}

/* ---- the line ---- */

static bool may_see(struct exchange *x, struct map *known, const char *ns)
{
	static const char yes[] = "yes";
	static const char no[] = "no";
	const char *answer = map_find(known, ns);
	struct authz_attributes at = {
		.verb = "list", .group = "", .resource = "pods", .subresource = "", .ns = ns, .name = ""
	};

	if (!answer) {
		answer = authz_allowed(api_authz(x->rest->api), x->req.caller, &at) ? yes : no;
		map_set(known, ns, (void *)answer);
	}
	return answer == yes;
}

static void hide(json_t *row)
{
	static const char *const fields[] = { "namespace", "name", "uids", "pods", "sentence", "help" };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		json_object_del(row, fields[i]);
}

static void hide_foreign(struct exchange *x, const json_t *rows)
{
	struct map known;
	json_t *row;
	size_t i;

	map_init(&known, NULL);
	json_array_foreach ((json_t *)rows, i, row)
		if (!may_see(x, &known, jsonx_str_or(row, "namespace", "")))
			hide(row);
	map_done(&known);
}

bool rest_line_is(const struct exchange *x)
{
	static const char *const words[] = { "apis", "stoker.dev", "v1", "line" };

	return exchange_path_is(x, words, ARRAY_SIZE(words));
}

bool rest_line(struct exchange *x)
{
	const char *queue = exchange_param(x, "queue");
	const char *limit = exchange_param(x, "limit");
	struct scheduler *s;
	int64_t most = LINE_ROWS;
	json_t *rows;

	if (!rest_line_is(x) || !reads(x))
		return false;
	if (limit && !str_int64(limit, 1, LINE_MOST, &most)) {
		err_set(&x->err, ERR_BAD_REQUEST, "limit: Invalid value: \"%.40s\": must be a number from 1 to %d",
			limit, LINE_MOST);
		exchange_finish(x);
		return true;
	}
	s = scheduler_of(x);
	if (!s)
		return true;
	rows = s->ops->line(s, queue && *queue ? queue : NULL, (size_t)most);
	hide_foreign(x, rows);
	reply_list(x, "Line", rows);
	return true;
}
