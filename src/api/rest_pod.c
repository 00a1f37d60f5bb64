// SPDX-License-Identifier: Apache-2.0
/* rest_pod.c - subresources that are streams: which function serves them, and what they have in common
 *
 * They differ from all others in that no stored object answers them: they lead to a container, through the door of
 * loop/kubelet.h.  A row is served after the caller's right to it has been checked; bodies and Accept headers are its
 * own business.
 */
#include "api/exchange.h"
#include "api/verbs.h"
#include "base/mem.h"

static const struct {
	const char *plural, *subresource; /* of the core group */
	stream_fn *serve;
} streams[] = {
	{ "pods", "log", rest_log },
};

stream_fn *rest_stream_find(const struct exchange *x)
{
	const struct kind *k = x->req.kind;
	const struct subresource *sub;

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

int rest_pod_get(struct exchange *x, json_t **ret_pod, struct kubelet **ret_kubelet, struct err *e)
{
	json_t *pod;

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
