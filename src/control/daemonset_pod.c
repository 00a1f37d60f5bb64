// SPDX-License-Identifier: Apache-2.0
/* daemonset_pod.c - a daemon's pod and its node
 *
 * The scheduler binds daemons as it does all pods; required node affinity leaves it one node to choose.  Daemons stay
 * where others are sent away: they tolerate the taints that the state of a node leads to.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/daemonset_plan.h"
#include "control/pod_template.h"
#include "control/revisions.h"
#include "kinds/placement.h"

json_t *daemon_tolerations(const json_t *set)
{
	static const struct {
		const char *key, *effect;
		bool host_network; /* only then */
	} rows[] = {
		{ TAINT_NOT_READY, "NoExecute", false },           { TAINT_UNREACHABLE, "NoExecute", false },
		{ TAINT_DISK_PRESSURE, "NoSchedule", false },      { TAINT_MEMORY_PRESSURE, "NoSchedule", false },
		{ TAINT_PID_PRESSURE, "NoSchedule", false },       { TAINT_UNSCHEDULABLE, "NoSchedule", false },
		{ TAINT_NETWORK_UNAVAILABLE, "NoSchedule", true },
	};
	const json_t *own = jsonx_at(set, "spec.template.spec.tolerations");
	bool host_network = jsonx_bool_or(set, "spec.template.spec.hostNetwork", false);
	json_t *list = json_is_array(own) ? jsonx_copy(own) : json_array();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!rows[i].host_network || host_network)
			json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key", rows[i].key, "operator",
							      "Exists", "effect", rows[i].effect));
	return list;
}

/* Whatever was required of nodes has been looked at: only the name is left. */
static void require_node(json_t *spec, const char *node)
{
	json_t *affinity = object_at(object_at(spec, "affinity"), "nodeAffinity");

	json_object_set_new(affinity, "requiredDuringSchedulingIgnoredDuringExecution",
			    json_pack("{s:[{s:[{s:s, s:s, s:[s]}]}]}", "nodeSelectorTerms", "matchFields", "key",
				      "metadata.name", "operator", "In", "values", node));
}

json_t *daemon_pod(const json_t *set, const char *node, const char *hash, int64_t generation)
{
	json_t *pod = pod_from_template(jsonx_at(set, "spec.template"), set, DAEMON_VERSION, DAEMON_KIND);
	json_t *labels = object_at(json_object_get(pod, "metadata"), "labels");
	json_t *spec = json_object_get(pod, "spec");

	json_object_set_new(labels, LABEL_REVISION_HASH, json_string(hash));
	json_object_set_new(labels, LABEL_TEMPLATE_GENERATION, jsonx_stringf("%lld", (long long)generation));
	json_object_set_new(spec, "tolerations", daemon_tolerations(set));
	require_node(spec, node);
	return pod;
}

const char *daemon_pod_node(const json_t *pod)
{
	const json_t *spec = json_object_get(pod, "spec");
	const char *bound = jsonx_str_or(spec, "nodeName", "");
	const json_t *term;
	const json_t *x;
	size_t i;
	size_t k;

	if (*bound)
		return bound;
	json_array_foreach (required_node_terms(spec), i, term)
		json_array_foreach (json_object_get(term, "matchFields"), k, x)
			if (streq(jsonx_str_or(x, "key", ""), "metadata.name"))
				return json_string_value(json_array_get(json_object_get(x, "values"), 0))
					       ? json_string_value(json_array_get(json_object_get(x, "values"), 0))
					       : "";
	return "";
}

struct daemon_fit daemon_fits(const json_t *set, const json_t *tolerations, const json_t *node)
{
	const json_t *spec = jsonx_at(set, "spec.template.spec");
	const json_t *labels = jsonx_at(node, "metadata.labels");
	const char *name = jsonx_str_or(node, "metadata.name", "");
	const char *only = jsonx_str_or(spec, "nodeName", "");
	struct daemon_fit fit = { true, true };
	const json_t *t;
	size_t i;

	if ((*only && !streq(only, name)) || !node_selector_matches(json_object_get(spec, "nodeSelector"), labels) ||
	    !node_terms_match(required_node_terms(spec), labels, name))
		return (struct daemon_fit){ false, false };
	json_array_foreach (jsonx_at(node, "spec.taints"), i, t) {
		struct taint taint = taint_read(t);

		if (streq(taint.effect, "PreferNoSchedule") || taint_tolerated(tolerations, &taint))
			continue;
		fit.run = false;
		if (streq(taint.effect, "NoExecute"))
			fit.keep = false;
	}
	return fit;
}
