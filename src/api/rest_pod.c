// SPDX-License-Identifier: Apache-2.0
/* rest_pod.c - subresources that are streams: which function serves them, and what they have in common
 *
 * They differ from all others in that no stored object answers them: they lead to a container, through the door of
 * loop/kubelet.h.  A row is served after the caller's right to it has been checked; bodies and Accept headers are its
 * own business.
 */
#include "api/exchange.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/core.h"

static const struct {
	const char *plural, *subresource; /* of the core group */
	stream_fn *serve;
} streams[] = {
	{ "pods", "attach", rest_attach }, { "pods", "exec", rest_exec },
	{ "pods", "log", rest_log },       { "pods", "portforward", rest_portforward },
	{ "pods", "proxy", rest_proxy },   { "services", "proxy", rest_proxy },
};

stream_fn *rest_stream_find(const struct exchange *x)
{
	const struct kind *k = x->req.kind;
	const struct subresource *sub;

	if (x->serve)
		return x->serve;
	if (!x->req.subresource || *k->group)
		return NULL;
	sub = kind_subresource(k, x->req.subresource);
	if (!sub || !(sub->verbs & (1u << x->req.verb)))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		if (streq(streams[i].plural, k->plural) && streq(streams[i].subresource, sub->name))
			return streams[i].serve;
	return NULL;
}

static bool pods_are_elsewhere(const struct exchange *x)
{
	return x->rest->kubelet && x->rest->kubelet->ops->pod;
}

bool rest_pod_elsewhere(struct exchange *x)
{
	struct kubelet *k = x->rest->kubelet;
	json_t *pod = NULL;

	if (!pods_are_elsewhere(x) || x->req.kind != &kind_pod || x->req.verb != VERB_GET || x->req.subresource)
		return false;
	if (k->ops->pod(k, x->req.ns, x->req.name, &pod, &x->err) < 0)
		exchange_finish(x);
	else
		exchange_reply_json(x, 200, pod);
	return true;
}

int rest_pod_get(struct exchange *x, json_t **ret_pod, struct kubelet **ret_kubelet, struct err *e)
{
	json_t *pod;

	if (pods_are_elsewhere(x)) {
		*ret_kubelet = x->rest->kubelet;
		return x->rest->kubelet->ops->pod(x->rest->kubelet, x->req.ns, x->req.name, ret_pod, e);
	}
	if (verb_load(x->rest->api, x->req.kind, x->req.ns, x->req.name, &pod, e) < 0)
		return -1;
	if (!x->rest->kubelet) {
		json_decref(pod);
		return err_set(e, ERR_UNAVAILABLE, "this server runs no pods");
	}
	*ret_pod = pod;
	*ret_kubelet = x->rest->kubelet;
	return 0;
}

/* ---- which container ---- */

static const struct {
	const char *path, *words;
} containers[] = {
	{ "spec.containers", ", choose one of: " },
	{ "spec.initContainers", " or one of the init containers: " },
	{ "spec.ephemeralContainers", " or one of the ephemeral containers: " },
};

static void add_choice(const json_t *list, const char *words, struct sbuf *out)
{
	json_t *c;
	size_t i;

	if (!json_array_size(list))
		return;
	sbuf_adds(out, words);
	json_array_foreach (list, i, c)
		sbuf_addf(out, "%s%s", i ? " " : "[", jsonx_str_or(c, "name", ""));
	sbuf_addc(out, ']');
}

static int ask_which(const json_t *pod, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);

	for (size_t i = 0; i < ARRAY_SIZE(containers); i++)
		add_choice(jsonx_at(pod, containers[i].path), containers[i].words, &text);
	return err_set(e, ERR_BAD_REQUEST, "a container name must be specified for pod %s%s",
		       jsonx_str_or(pod, "metadata.name", ""), text.p ? text.p : "");
}

int rest_pod_container(const json_t *pod, const char *given, const char **ret, struct err *e)
{
	const json_t *list = jsonx_at(pod, "spec.containers");

	if (!given || !*given) {
		if (json_array_size(list) != 1)
			return ask_which(pod, e);
		*ret = jsonx_str_or(json_array_get(list, 0), "name", "");
		return 0;
	}
	for (size_t k = 0; k < ARRAY_SIZE(containers); k++) {
		json_t *c;
		size_t i;

		json_array_foreach (jsonx_at(pod, containers[k].path), i, c)
			if (str_same(jsonx_str(c, "name"), given)) {
				*ret = jsonx_str(c, "name");
				return 0;
			}
	}
	return err_set(e, ERR_BAD_REQUEST, "container %s is not valid for pod %s", given,
		       jsonx_str_or(pod, "metadata.name", ""));
}

const json_t *rest_pod_container_status(const json_t *pod, const char *container)
{
	static const char *const lists[] = { "status.containerStatuses", "status.initContainerStatuses",
					     "status.ephemeralContainerStatuses" };

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		json_t *st;
		size_t i;

		json_array_foreach (jsonx_at(pod, lists[k]), i, st)
			if (str_same(jsonx_str(st, "name"), container))
				return st;
	}
	return NULL;
}
