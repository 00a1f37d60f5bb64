// SPDX-License-Identifier: Apache-2.0
/* pod.c - Pod: what the server fills in when one is created, and the little that may change afterwards
 *
 * podspec.c has the fields that templates share, podstatus.c the status, pod_columns.c the table.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/pod_columns.h"
#include "kinds/rules.h"

#define EVICT_SECONDS 300 /* a pod stays this long on a node that stopped answering */

static void request_what_is_limited(json_t *containers)
{
	size_t i;
	json_t *container;

	json_array_foreach (containers, i, container) {
		json_t *resources = json_object_get(container, "resources");
		json_t *limits = json_object_get(resources, "limits"),
		       *requests = json_object_get(resources, "requests");

		if (!json_object_size(limits))
			continue;
		if (!json_is_object(requests)) {
			requests = json_object();
			json_object_set_new(resources, "requests", requests);
		}
		json_object_update_missing(requests, limits);
	}
}

/* With the node's network a container port is the node's port. */
static void open_host_ports(json_t *containers)
{
	size_t i, k;
	json_t *container, *port;

	json_array_foreach (containers, i, container)
		json_array_foreach (json_object_get(container, "ports"), k, port)
			if (!jsonx_int_or(port, "hostPort", 0) && json_object_get(port, "containerPort"))
				json_object_set(port, "hostPort", json_object_get(port, "containerPort"));
}

static void pod_defaults(json_t *pod)
{
	static const char *const lists[] = { "containers", "initContainers" };
	json_t *spec = json_object_get(pod, "spec");

	if (!json_is_object(spec))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		request_what_is_limited(json_object_get(spec, lists[i]));
		if (jsonx_bool_or(spec, "hostNetwork", false))
			open_host_ports(json_object_get(spec, lists[i]));
	}
	if (!json_object_get(spec, "enableServiceLinks"))
		json_object_set_new(spec, "enableServiceLinks", json_true());
}

static const struct field pod_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &core_pod_spec, .dflt = "{}", .doc = "What the pod shall be."),
	F(3, "status", OBJECT, .msg = &core_pod_status, .doc = "What the pod is doing."),
};
const struct message core_pod = MESSAGE("io.k8s.api.core.v1.Pod", pod_fields,
					.doc = "Containers that run together on one node.", .defaults = pod_defaults);

static bool tolerates(const json_t *tolerations, const char *key)
{
	size_t i;
	json_t *t;

	json_array_foreach (tolerations, i, t) {
		const char *of = jsonx_str_or(t, "key", ""), *effect = jsonx_str_or(t, "effect", "");

		if ((!*of || streq(of, key)) && (!*effect || streq(effect, "NoExecute")))
			return true;
	}
	return false;
}

static void add_tolerations(json_t *spec)
{
	static const char *const keys[] = { "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *list = json_object_get(spec, "tolerations");

		if (tolerates(list, keys[i]))
			continue;
		if (!json_is_array(list)) {
			list = json_array();
			json_object_set_new(spec, "tolerations", list);
		}
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "key", keys[i], "operator", "Exists",
						      "effect", "NoExecute", "tolerationSeconds", EVICT_SECONDS));
	}
}

static json_t *first_status(const json_t *spec)
{
	json_t *status = json_pack("{s:s, s:s}", "phase", "Pending", "qosClass", pod_qos_class(spec));

	if (json_array_size(json_object_get(spec, "schedulingGates")))
		json_object_set_new(status, "conditions",
				    json_pack("[{s:s, s:s, s:s, s:s}]", "type", "PodScheduled", "status", "False",
					      "reason", "SchedulingGated", "message",
					      "Scheduling is blocked due to non-empty scheduling gates"));
	return status;
}

static void pod_prepare_create(json_t *pod)
{
	json_t *spec = json_object_get(pod, "spec");
	const char *account;

	json_object_set_new(pod, "status", first_status(spec));
	if (!json_is_object(spec))
		return;
	account = jsonx_str_or(spec, "serviceAccountName", "");
	if (!*account)
		account = jsonx_str_or(spec, "serviceAccount", "");
	if (!*account)
		account = "default";
	/* The first set may free the text that `account` borrows; the copy keeps it. */
	json_auto_t *name = jsonx_string(account);

	json_object_set(spec, "serviceAccountName", name);
	json_object_set(spec, "serviceAccount", name);
	add_tolerations(spec);
}

/* --- updates --- */

static void put_back(json_t *spec, const json_t *old, const char *field);

/* Admission gave these; who replaces a pod by its manifest does not know of them. */
static void pod_prepare_update(json_t *pod, const json_t *old)
{
	static const char *const given[] = { "priority", "preemptionPolicy" };
	json_t *spec = json_object_get(pod, "spec");

	for (size_t i = 0; json_is_object(spec) && i < ARRAY_SIZE(given); i++)
		if (!json_object_get(spec, given[i]))
			put_back(spec, json_object_get(old, "spec"), given[i]);
}

/* Whether some item of `list` equals `item` but for one member. */
static bool contains_but(const json_t *list, const json_t *item, const char *member)
{
	json_auto_t *want = json_copy((json_t *)item);
	size_t i;
	json_t *other;

	json_object_del(want, member);
	json_array_foreach (list, i, other) {
		json_auto_t *have = json_copy(other);

		json_object_del(have, member);
		if (jsonx_equal(have, want))
			return true;
	}
	return false;
}

static void tolerations_update(const json_t *spec, const json_t *old, const struct path *at, struct err *e)
{
	size_t i;
	json_t *t;

	json_array_foreach (json_object_get(old, "tolerations"), i, t) {
		if (contains_but(json_object_get(spec, "tolerations"), t, "tolerationSeconds"))
			continue;
		path_forbidden(PATH_FIELD(at, "tolerations"), e,
			       "existing toleration can not be modified except its tolerationSeconds");
		return;
	}
}

static void gates_update(const json_t *spec, const json_t *old, const struct path *at, struct err *e)
{
	size_t i;
	json_t *gate;

	json_array_foreach (json_object_get(spec, "schedulingGates"), i, gate)
		if (!contains_but(json_object_get(old, "schedulingGates"), gate, ""))
			path_forbidden(PATH_INDEX(PATH_FIELD(at, "schedulingGates"), i), e,
				       "only deletion is allowed, but found new scheduling gate '%s'",
				       jsonx_str_or(gate, "name", ""));
}

/* A PBS job may be given more time while it runs; api/pbs_pod_rules.c sees to who gives it. */
static bool is_pbs(const json_t *pod)
{
	json_t *owner;
	size_t i;

	json_array_foreach (jsonx_at(pod, "metadata.ownerReferences"), i, owner)
		if (jsonx_bool_or(owner, "controller", false) && streq(jsonx_str_or(owner, "kind", ""), "PBSJob") &&
		    str_starts(jsonx_str_or(owner, "apiVersion", ""), "stoker.dev/"))
			return true;
	return false;
}

static void deadline_update(const json_t *spec, const json_t *old, bool pbs, const struct path *at, struct err *e)
{
	const json_t *after = json_object_get(spec, "activeDeadlineSeconds"),
		     *before = json_object_get(old, "activeDeadlineSeconds");
	const struct path *here = PATH_FIELD(at, "activeDeadlineSeconds");

	if (!before)
		return;
	if (!after)
		path_invalid(here, e, json_null(), "must not update from a positive integer to nil value");
	else if (json_integer_value(after) > json_integer_value(before) && !pbs)
		path_invalid(here, e, after, "must be less than or equal to previous value");
}

static bool same_count(const json_t *spec, const json_t *old, const char *list, const struct path *at, struct err *e)
{
	if (json_array_size(json_object_get(spec, list)) == json_array_size(json_object_get(old, list)))
		return true;
	path_forbidden(PATH_FIELD(at, list), e, "pod updates may not add or remove containers");
	return false;
}

/* Puts back what the old spec has, so that a comparison overlooks it. */
static void put_back(json_t *spec, const json_t *old, const char *field)
{
	json_t *value = json_object_get(old, field);

	if (value)
		json_object_set(spec, field, value);
	else
		json_object_del(spec, field);
}

static void put_back_images(json_t *containers, const json_t *old)
{
	size_t i;
	json_t *container;

	json_array_foreach (containers, i, container)
		put_back(container, json_array_get(old, i), "image");
}

/* A pod that waits behind gates may still be told more about where to go. */
static bool only_adds(const json_t *map, const json_t *old)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)old, key, value)
		if (!json_object_get(map, key) || !jsonx_equal(json_object_get(map, key), value))
			return false;
	return true;
}

static void spec_update(const json_t *spec, const json_t *old, const struct path *at, struct err *e)
{
	static const char *const fields[] = { "activeDeadlineSeconds", "tolerations", "schedulingGates" };
	static const char *const lists[] = { "containers", "initContainers" };
	json_auto_t *kept = jsonx_copy(spec);

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		put_back(kept, old, fields[i]);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		put_back_images(json_object_get(kept, lists[i]), json_object_get(old, lists[i]));
	if (jsonx_int_or(old, "terminationGracePeriodSeconds", 0) < 0 &&
	    jsonx_int_or(spec, "terminationGracePeriodSeconds", 0) == 1)
		put_back(kept, old, "terminationGracePeriodSeconds");
	if (json_array_size(json_object_get(old, "schedulingGates"))) {
		put_back(kept, old, "affinity");
		if (only_adds(json_object_get(spec, "nodeSelector"), json_object_get(old, "nodeSelector")))
			put_back(kept, old, "nodeSelector");
	}
	if (!jsonx_equal(kept, old))
		path_forbidden(
			at, e,
			"pod updates may not change fields other than `spec.containers[*].image`,"
			"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
			"additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
			"to 1 if it was previously negative)");
}

static void pod_validate_update(const json_t *pod, const json_t *old_pod, struct err *e)
{
	const json_t *spec = json_object_get(pod, "spec"), *old = json_object_get(old_pod, "spec");
	const struct path *at = PATH_FIELD(NULL, "spec");

	if (!spec || !old || !same_count(spec, old, "containers", at, e) ||
	    !same_count(spec, old, "initContainers", at, e))
		return;
	deadline_update(spec, old, is_pbs(old_pod), at, e);
	tolerations_update(spec, old, at, e);
	gates_update(spec, old, at, e);
	spec_update(spec, old, at, e);
}

static const struct selectable pod_selectable[] = {
	{ "spec.nodeName", "spec.nodeName", NULL },
	{ "spec.host", "spec.nodeName", NULL },
	{ "spec.restartPolicy", "spec.restartPolicy", NULL },
	{ "spec.schedulerName", "spec.schedulerName", NULL },
	{ "spec.serviceAccountName", "spec.serviceAccountName", NULL },
	{ "spec.hostNetwork", "spec.hostNetwork", "false" },
	{ "status.phase", "status.phase", NULL },
	{ "status.podIP", "status.podIP", NULL },
	{ "status.podIPs", "status.podIP", NULL },
	{ "status.nominatedNodeName", "status.nominatedNodeName", NULL },
};

#define VERBS_STREAM (V(CREATE) | V(GET))
#define VERBS_PROXY  (V(CREATE) | V(DELETE) | V(GET) | V(PATCH) | V(UPDATE))

static const struct subresource pod_subresources[] = {
	{ "attach", VERBS_STREAM, NULL, NULL, "PodAttachOptions" },
	{ "binding", V(CREATE), NULL, NULL, "Binding" },
	{ "ephemeralcontainers", VERBS_STATUS, NULL, NULL, NULL },
	{ "eviction", V(CREATE), "policy", "v1", "Eviction" },
	{ "exec", VERBS_STREAM, NULL, NULL, "PodExecOptions" },
	{ "log", V(GET), NULL, NULL, NULL },
	{ "portforward", VERBS_STREAM, NULL, NULL, "PodPortForwardOptions" },
	{ "proxy", VERBS_PROXY, NULL, NULL, "PodProxyOptions" },
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_pod = {
	.group = "",
	.version = "v1",
	.kind = "Pod",
	.plural = "pods",
	.singular = "pod",
	.short_names = (const char *const[]){ "po", NULL },
	.categories = (const char *const[]){ "all", NULL },
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GRACE,
	.verbs = VERBS_ALL,
	.message = &core_pod,
	.columns = pod_columns,
	.ncolumns = POD_COLUMNS,
	.selectable = pod_selectable,
	.nselectable = ARRAY_SIZE(pod_selectable),
	.subresources = pod_subresources,
	.nsubresources = ARRAY_SIZE(pod_subresources),
	.prepare_create = pod_prepare_create,
	.prepare_update = pod_prepare_update,
	.validate_update = pod_validate_update,
};
