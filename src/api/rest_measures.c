// SPDX-License-Identifier: Apache-2.0
/* rest_measures.c - GET /apis/stoker.dev/v1/namespaces/NS/measures/NAME: the numbers that a training job has printed
 *
 * NAME is found as for logs (rest_logs.c), `kind` and `uid` choose in the same way, and `metric` (names with commas
 * between) leaves out other series.  The node keeps the points (node/measure_keep.h).
 */
#include "api/exchange.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* Is the name one of those in the list? */
static bool among(struct str list, const char *name)
{
	struct str part;

	while (str_split(&list, ',', &part))
		if (str_eq(str_trim(part), name))
			return true;
	return false;
}

static json_t *only_named(json_t *series, const char *names)
{
	json_t *kept = json_array();
	json_t *one;
	size_t i;

	json_array_foreach (series, i, one)
		if (!names || !*names || among(str_of(names), jsonx_str_or(one, "name", "")))
			json_array_append(kept, one);
	return kept;
}

void rest_measures(struct exchange *x)
{
	const char *name = x->segments[x->nsegments - 1];
	struct kubelet *k = x->rest->kubelet;
	json_auto_t *pods = k ? rest_logs_choose(x, k) : NULL;
	json_auto_t *found = NULL;

	if (!k || !json_array_size(pods)) {
		if (!k)
			err_set(&x->err, ERR_UNAVAILABLE, "this server runs no pods");
		else
			err_set(&x->err, ERR_NOT_FOUND, "there are no logs of \"%s\" in namespace \"%s\"", name,
				x->req.ns);
		exchange_finish(x);
		return;
	}
	found = k->ops->measures(k, x->req.ns, pods);
	exchange_reply_json(x, 200,
			    json_pack("{s:s, s:s, s:s, s:s, s:O, s:o}", "kind", "Measures", "apiVersion",
				      "stoker.dev/v1", "namespace", x->req.ns, "job", name, "left",
				      json_object_get(found, "left"), "series",
				      only_named(json_object_get(found, "series"), exchange_param(x, "metric"))));
}
