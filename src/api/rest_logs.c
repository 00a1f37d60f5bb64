// SPDX-License-Identifier: Apache-2.0
/* rest_logs.c - GET /apis/stoker.dev/v1/namespaces/NS/logs/NAME: logs by the name of a pod or a job, gone or not
 *
 * A pod's own log subresource goes away with the pod.  Here NAME may be a pod's, its owner's or its job's; with list=1
 * the answer says what there is, else it is the log itself, with the same parameters and of the same text.  `uid` picks
 * one of several pods, `kind` one of several meanings of the name, `attempt` one run of a container.
 *
 * measures/NAME (rest_measures.c) finds in the same way and asks for the same right.
 *
 * It is no resource: whoever may read the logs of every pod of the namespace may read these.
 */
#include <strings.h>

#include "api/exchange.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/core.h"

#define NAME_AT 6 /* segment of the path */

/* ---- which pod ---- */

static json_t *stored_pod(struct exchange *x, const char *name)
{
	struct err e = ERR_INIT;
	json_t *pod = NULL;

	return verb_load(x->rest->api, x->req.kind, x->req.ns, name, &pod, &e) == 0 ? pod : NULL;
}

static bool lives(struct exchange *x, const json_t *item)
{
	json_auto_t *pod = stored_pod(x, jsonx_str_or(item, "pod", ""));

	return pod && str_same(jsonx_str(pod, "metadata.uid"), jsonx_str(item, "uid"));
}

/* Does the name mean this one, as the kind that was asked for? */
static bool of_kind(const json_t *item, const char *kind, const char *name)
{
	const char *owner = jsonx_str(item, "owner.kind");

	if (!kind || !*kind)
		return true;
	if (strcasecmp(kind, "pod") == 0)
		return str_same(jsonx_str(item, "pod"), name);
	if (owner && str_same(jsonx_str(item, "owner.name"), name))
		return strcasecmp(owner, kind) == 0;
	return str_same(jsonx_str(item, "job"), name);
}

json_t *rest_logs_choose(struct exchange *x, struct kubelet *k)
{
	json_auto_t *list = k->ops->logs_find(k, x->req.ns, x->segments[NAME_AT]);
	const char *kind = exchange_param(x, "kind");
	const char *uid = exchange_param(x, "uid");
	json_t *chosen = json_array();
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		if (!of_kind(item, kind, x->segments[NAME_AT]) ||
		    (uid && *uid && !str_same(jsonx_str(item, "uid"), uid)))
			continue;
		json_object_set_new(item, "alive", json_boolean(lives(x, item)));
		json_array_append(chosen, item);
	}
	return chosen;
}

/* The newest, if all are of one name: a pod made again under its old name.  Else the caller must say which. */
static int pick(struct exchange *x, const json_t *items, const json_t **ret, struct err *e)
{
	const json_t *last = json_array_get(items, json_array_size(items) - 1);
	auto_sbuf struct sbuf names = SBUF(LIMIT_STATUS_TEXT / 8);
	bool several = false;
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item) {
		sbuf_addf(&names, "%s%s", i ? " " : "", jsonx_str_or(item, "pod", ""));
		several |= !str_same(jsonx_str(item, "pod"), jsonx_str(last, "pod"));
	}
	if (several)
		return err_set(e, ERR_BAD_REQUEST, "%zu pods have logs under \"%s\", choose one of: [%s%s]",
			       json_array_size(items), x->segments[NAME_AT], names.p, names.over ? " ..." : "");
	*ret = last;
	return 0;
}

/* ---- of a pod that is gone ---- */

static int kept_container(const struct exchange *x, const json_t *item, const char **ret, struct err *e)
{
	const json_t *list = json_object_get(item, "containers");
	const char *given = exchange_param(x, "container");
	auto_sbuf struct sbuf names = SBUF(LIMIT_STATUS_TEXT / 8);
	const char *pod = jsonx_str_or(item, "pod", "");
	const char *only = NULL;
	size_t mains = 0;
	json_t *c;
	size_t i;

	json_array_foreach (list, i, c) {
		bool init = jsonx_bool_or(c, "init", false);

		if (given && str_same(jsonx_str(c, "name"), given)) {
			*ret = given;
			return 0;
		}
		sbuf_addf(&names, "%s%s", i ? " " : "", jsonx_str_or(c, "name", ""));
		if (!init || json_array_size(list) == 1)
			only = jsonx_str(c, "name");
		mains += !init;
	}
	if (given && *given)
		return err_set(e, ERR_BAD_REQUEST, "container %s is not valid for pod %s", given, pod);
	if (mains > 1 || !only)
		return err_set(e, ERR_BAD_REQUEST, "a container name must be specified for pod %s, choose one of: [%s]",
			       pod, names.p ? names.p : "");
	*ret = only;
	return 0;
}

static void serve_kept(struct exchange *x, struct kubelet *k, const json_t *item)
{
	struct kubelet_log_request q;
	const char *container = NULL;

	if (rest_log_query(x, &q, &x->err) < 0 || kept_container(x, item, &container, &x->err) < 0) {
		exchange_finish(x);
		return;
	}
	q.follow = false;
	q.of = (struct kubelet_target){ .ns = x->req.ns,
					.pod = jsonx_str_or(item, "pod", ""),
					.uid = jsonx_str_or(item, "uid", ""),
					.container = container };
	rest_log_kept(x, k, &q);
}

/* ---- the request ---- */

static void reply_list(struct exchange *x, const json_t *items)
{
	exchange_reply_json(x, 200,
			    json_pack("{s:s, s:s, s:{}, s:O}", "kind", "LogList", "apiVersion", "stoker.dev/v1",
				      "metadata", "items", items));
}

/* As the pod's own subresource. */
static void serve_living(struct exchange *x, const char *name)
{
	x->req.name = x->found = xstrdup(name);
	rest_log(x);
}

static void serve_logs(struct exchange *x)
{
	const char *name = x->segments[NAME_AT];
	struct kubelet *k = x->rest->kubelet;
	json_auto_t *items = NULL;
	json_auto_t *pod = NULL;
	const json_t *item = NULL;

	if (!k) {
		err_set(&x->err, ERR_UNAVAILABLE, "this server runs no pods");
		exchange_finish(x);
		return;
	}
	items = rest_logs_choose(x, k);
	if (exchange_flag(x, "list")) {
		reply_list(x, items);
		return;
	}
	if (!json_array_size(items) && !exchange_param(x, "uid") && (pod = stored_pod(x, name))) {
		serve_living(x, name); /* it has no log yet, and is the one to say why */
		return;
	}
	if (!json_array_size(items)) {
		err_set(&x->err, ERR_NOT_FOUND, "there are no logs of \"%s\" in namespace \"%s\"", name, x->req.ns);
		exchange_finish(x);
	} else if (pick(x, items, &item, &x->err) < 0) {
		exchange_finish(x);
	} else if (jsonx_bool_or(item, "alive", false)) {
		serve_living(x, jsonx_str_or(item, "pod", ""));
	} else {
		serve_kept(x, k, item);
	}
}

/* What there is by such a name. */
static const struct {
	const char *word;
	stream_fn *serve;
} things[] = {
	{ "logs", serve_logs },
	{ "measures", rest_measures },
};

bool rest_logs_route(struct exchange *x)
{
	static const char *const words[] = { "apis", "stoker.dev", "v1", "namespaces", NULL, NULL, NULL };
	const char *method = http_method(x->http);
	size_t thing = 0;

	if (!exchange_path_is(x, words, ARRAY_SIZE(words)) || (!streq(method, "GET") && !streq(method, "HEAD")))
		return false;
	while (thing < ARRAY_SIZE(things) && !streq(things[thing].word, x->segments[NAME_AT - 1]))
		thing++;
	if (thing == ARRAY_SIZE(things))
		return false;
	/* Without a name: the right to one pod's logs is none to those of a job of that name. */
	x->req.kind = &kind_pod;
	x->req.subresource = "log";
	x->req.ns = x->segments[4];
	x->req.verb = VERB_GET;
	x->serve = things[thing].serve;
	return true;
}
