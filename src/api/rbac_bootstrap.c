// SPDX-License-Identifier: Apache-2.0
/* rbac_bootstrap.c - what everyone may do from the first start
 *
 * The roles are those of Kubernetes, with its names and rules as far as our kinds go, so that manifests which bind
 * "view" or "edit" mean here what they mean there; roles named stoker:* speak of our own kinds.  admin, edit and
 * view have no rules of their own: they gather those of the system:aggregate-to-* roles (and of anyone's roles with the
 * same labels), see rbac_aggregate.c.
 */
#include "api/rbac_bootstrap.h"

#include "api/rbac_rules.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define READ  "get list watch"
#define WRITE "create delete deletecollection patch update"
#define ALL   "create delete deletecollection get list patch update watch"

#define LABEL_DEFAULTS  "kubernetes.io/bootstrapping"
#define LABEL_AGGREGATE RBAC_GROUP "/aggregate-to-"
#define AUTOUPDATE      "rbac.authorization.kubernetes.io/autoupdate"

struct default_rule {
	const char *verbs;     /* words separated by spaces, as are the others */
	const char *group;     /* one; NULL: the rule is about URLs */
	const char *resources; /* or URLs */
};

struct default_role {
	const char *name;
	const char *aggregate_to; /* label that makes that role gather this one, or NULL */
	const char *gathers;      /* "view": gathers everything labelled so, or NULL */
	const struct default_rule *rules;
	size_t nrules;
};

static const struct default_rule cluster_admin[] = {
	{ "*", "*", "*" },
	{ "*", NULL, "*" },
};

static const struct default_rule view[] = {
	{ READ, "",
	  "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers "
	  "replicationcontrollers/scale serviceaccounts services services/status" },
	{ READ, "",
	  "bindings events limitranges namespaces/status pods/log pods/status podtemplates "
	  "replicationcontrollers/status resourcequotas resourcequotas/status" },
	{ READ, "", "namespaces" },
	{ READ, "discovery.k8s.io", "endpointslices" },
	{ READ, "events.k8s.io", "events" },
	{ READ, "apps",
	  "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status "
	  "replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status" },
	{ READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status" },
	{ READ, "batch", "cronjobs cronjobs/status jobs jobs/status" },
	{ READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status" },
	{ READ, "networking.k8s.io", "ingresses ingresses/status" },
	{ READ, "extensions", "ingresses ingresses/status" },
};

static const struct default_rule edit[] = {
	{ READ, "", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy" },
	{ "impersonate", "", "serviceaccounts" },
	{ WRITE, "", "pods pods/attach pods/exec pods/portforward pods/proxy" },
	{ "create", "", "pods/eviction" },
	{ WRITE, "",
	  "configmaps events persistentvolumeclaims podtemplates replicationcontrollers replicationcontrollers/scale "
	  "secrets serviceaccounts services services/proxy" },
	{ "create", "", "serviceaccounts/token" },
	{ WRITE, "apps",
	  "daemonsets deployments deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale" },
	{ WRITE, "autoscaling", "horizontalpodautoscalers" },
	{ WRITE, "batch", "cronjobs jobs" },
	{ WRITE, "policy", "poddisruptionbudgets" },
	{ WRITE, "networking.k8s.io", "ingresses" },
	{ WRITE, "extensions", "ingresses" },
	{ ALL, "coordination.k8s.io", "leases" },
};

static const struct default_rule admin[] = {
	{ "create", "authorization.k8s.io", "localsubjectaccessreviews" },
	{ ALL, RBAC_GROUP, "rolebindings roles" },
};

static const struct default_rule own_view[] = {
	{ READ, "kubeflow.org", "*" },
	{ READ, "serving.kserve.io", "*" },
	{ READ, "stoker.dev", "builds builds/log builds/status pbsjobs pbsjobs/log pbsjobs/status" },
};

static const struct default_rule own_edit[] = {
	{ WRITE, "kubeflow.org", "*" },
	{ WRITE, "serving.kserve.io", "*" },
	{ WRITE, "stoker.dev", "builds pbsjobs" },
};

static const struct default_rule metrics_view[] = {
	{ READ, "metrics.k8s.io", "nodes pods" },
};

/* What qstat -Q, pbsnodes and the forms of a dashboard show; nothing of any user. */
static const struct default_rule own_basic[] = {
	{ READ, "stoker.dev", "pbsservers queues reservations" },
	{ READ, "", "nodes" },
	{ READ, "metrics.k8s.io", "nodes" },
	{ READ, "scheduling.k8s.io", "priorityclasses" },
	{ READ, "storage.k8s.io", "storageclasses" },
	{ "create", "stoker.dev", "tokens" }, /* for oneself only: authn_check_token_write() */
};

/* PBSServer's operators and managers; pbs_settings.c keeps the bindings, pbs_change.c, pbs_admit_node() and
 * pbs_admit_queue() what of an object they may change.  None of them submits jobs as somebody else. */
static const struct default_rule pbs_operator[] = {
	{ "delete get list patch update watch", "stoker.dev", "pbsjobs" },
	{ "patch update", "", "nodes" },
	{ "patch update", "stoker.dev", "queues" },
};

static const struct default_rule pbs_manager[] = {
	{ "delete get list patch update watch", "stoker.dev", "pbsjobs" },
	{ WRITE, "", "nodes" },
	{ WRITE, "stoker.dev", "queues" },
	{ "patch update", "stoker.dev", "pbsservers" },
};

static const struct default_rule discovery[] = {
	{ "get", NULL, "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/" },
};

static const struct default_rule public_info[] = {
	{ "get", NULL, "/healthz /healthz/* /livez /livez/* /readyz /readyz/* /version /version/" },
};

static const struct default_rule basic_user[] = {
	{ "create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews" },
	{ "create", "authentication.k8s.io", "selfsubjectreviews" },
};

static const struct default_rule monitoring[] = {
	{ "get", NULL, "/healthz /healthz/* /livez /livez/* /metrics /metrics/* /readyz /readyz/*" },
};

static const struct default_rule delegator[] = {
	{ "create", "authentication.k8s.io", "tokenreviews" },
	{ "create", "authorization.k8s.io", "subjectaccessreviews" },
};

static const struct default_rule node[] = {
	{ "create get list patch update watch", "", "nodes" },
	{ "patch update", "", "nodes/status pods/status" },
	{ "create delete get list watch", "", "pods" },
	{ "create", "", "pods/eviction serviceaccounts/token" },
	{ READ, "", "configmaps persistentvolumeclaims persistentvolumes secrets services" },
	{ "create patch update", "", "events" },
	{ "create delete get patch update", "coordination.k8s.io", "leases" },
};

#define RULES(x) x, ARRAY_SIZE(x)
static const struct default_role roles[] = {
	/* name                               labelled for  gathers   rules */
	{ "cluster-admin", NULL, NULL, RULES(cluster_admin) },
	{ "admin", NULL, "admin", NULL, 0 },
	{ "edit", "admin", "edit", NULL, 0 },
	{ "view", "edit", "view", NULL, 0 },
	{ "system:aggregate-to-admin", "admin", NULL, RULES(admin) },
	{ "system:aggregate-to-edit", "edit", NULL, RULES(edit) },
	{ "system:aggregate-to-view", "view", NULL, RULES(view) },
	{ "stoker:aggregate-to-edit", "edit", NULL, RULES(own_edit) },
	{ "stoker:aggregate-to-view", "view", NULL, RULES(own_view) },
	{ "system:aggregated-metrics-reader", "view", NULL, RULES(metrics_view) },
	{ "stoker:basic-user", NULL, NULL, RULES(own_basic) },
	{ "stoker:pbs-operator", NULL, NULL, RULES(pbs_operator) },
	{ "stoker:pbs-manager", NULL, NULL, RULES(pbs_manager) },
	{ "system:basic-user", NULL, NULL, RULES(basic_user) },
	{ "system:discovery", NULL, NULL, RULES(discovery) },
	{ "system:public-info-viewer", NULL, NULL, RULES(public_info) },
	{ "system:monitoring", NULL, NULL, RULES(monitoring) },
	{ "system:auth-delegator", NULL, NULL, RULES(delegator) },
	{ "system:node", NULL, NULL, RULES(node) },
};

/* Each binds the cluster role of its own name. */
static const struct {
	const char *name;
	const char *groups;
} bindings[] = {
	{ "cluster-admin", "system:masters" },
	{ "stoker:basic-user", "system:authenticated" },
	{ "system:basic-user", "system:authenticated" },
	{ "system:discovery", "system:authenticated" },
	{ "system:public-info-viewer", "system:authenticated system:unauthenticated" },
	{ "system:monitoring", "system:monitoring" },
};

/* --- tables to objects --- */

static json_t *words(const char *text)
{
	json_t *ret = json_array();
	struct str rest = str_of(text), part;

	while (str_split(&rest, ' ', &part))
		json_array_append_new(ret, jsonx_stringn(part.p, part.n));
	return ret;
}

static json_t *metadata(const char *name)
{
	return json_pack("{s:s,s:{s:s},s:{s:s}}", "name", name, "labels", LABEL_DEFAULTS, "rbac-defaults",
			 "annotations", AUTOUPDATE, "true");
}

static json_t *rule_json(const struct default_rule *r)
{
	if (!r->group)
		return json_pack("{s:o,s:o}", "verbs", words(r->verbs), "nonResourceURLs", words(r->resources));
	return json_pack("{s:o,s:[s],s:o}", "verbs", words(r->verbs), "apiGroups", r->group, "resources",
			 words(r->resources));
}

json_t *bootstrap_role(size_t i)
{
	const struct default_role *r = i < ARRAY_SIZE(roles) ? &roles[i] : NULL;
	json_t *obj, *rules;
	auto_free char *label = NULL;
	auto_free char *gathered = NULL;

	if (!r)
		return NULL;
	rules = json_array();
	for (size_t k = 0; k < r->nrules; k++)
		json_array_append_new(rules, rule_json(&r->rules[k]));
	obj = json_pack("{s:o,s:o}", "metadata", metadata(r->name), "rules", rules);
	if (r->aggregate_to) {
		label = xasprintf(LABEL_AGGREGATE "%s", r->aggregate_to);
		json_object_set_new(jsonx_at(obj, "metadata.labels"), label, json_string("true"));
	}
	if (r->gathers) {
		gathered = xasprintf(LABEL_AGGREGATE "%s", r->gathers);
		json_object_set_new(
			obj, "aggregationRule",
			json_pack("{s:[{s:{s:s}}]}", "clusterRoleSelectors", "matchLabels", gathered, "true"));
	}
	return obj;
}

json_t *bootstrap_binding(size_t i)
{
	json_t *subjects;
	struct str rest, part;

	if (i >= ARRAY_SIZE(bindings))
		return NULL;
	subjects = json_array();
	rest = str_of(bindings[i].groups);
	while (str_split(&rest, ' ', &part))
		json_array_append_new(subjects, json_pack("{s:s,s:s,s:o}", "kind", "Group", "apiGroup", RBAC_GROUP,
							  "name", jsonx_stringn(part.p, part.n)));
	return json_pack("{s:o,s:{s:s,s:s,s:s},s:o}", "metadata", metadata(bindings[i].name), "roleRef", "apiGroup",
			 RBAC_GROUP, "kind", "ClusterRole", "name", bindings[i].name, "subjects", subjects);
}

/* --- a stored object and its default --- */

/* *ret is the copy to change, made on first need so that an up-to-date object costs none. */
static json_t *copy_of(const json_t *stored, json_t **ret)
{
	if (!*ret)
		*ret = jsonx_copy(stored);
	return *ret;
}

static bool hands_off(const json_t *stored)
{
	const json_t *annotations = jsonx_at(stored, "metadata.annotations");
	const char *value = json_string_value(json_object_get(annotations, AUTOUPDATE));

	return value && streq(value, "false");
}

/* Labels or annotations that the stored object lacks. */
static void merge_strings(const json_t *stored, const json_t *wanted, const char *path, json_t **ret)
{
	const json_t *have = jsonx_at(stored, path);
	const char *key;
	json_t *value;

	json_object_foreach (jsonx_at(wanted, path), key, value) {
		if (json_object_get(have, key))
			continue;
		if (!json_is_object(jsonx_at(copy_of(stored, ret), path)))
			jsonx_set_new(*ret, path, json_object());
		json_object_set(jsonx_at(*ret, path), key, value);
	}
}

static bool contains(const json_t *list, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (jsonx_equal(json_array_get(list, i), value))
			return true;
	return false;
}

static void merge_list(const json_t *stored, const json_t *wanted, const char *path, json_t **ret)
{
	const json_t *have = jsonx_at(stored, path);
	size_t i;
	json_t *item;

	json_array_foreach (jsonx_at(wanted, path), i, item) {
		if (contains(have, item))
			continue;
		if (!json_is_array(jsonx_at(copy_of(stored, ret), path)))
			jsonx_set_new(*ret, path, json_array());
		json_array_append(jsonx_at(*ret, path), item);
	}
}

static void merge_metadata(const json_t *stored, const json_t *wanted, json_t **ret)
{
	merge_strings(stored, wanted, "metadata.labels", ret);
	merge_strings(stored, wanted, "metadata.annotations", ret);
}

json_t *bootstrap_merge_role(const json_t *stored, const json_t *wanted)
{
	json_t *ret = NULL;
	json_t *rules;

	if (hands_off(stored))
		return NULL;
	merge_metadata(stored, wanted, &ret);
	merge_list(stored, wanted, "aggregationRule.clusterRoleSelectors", &ret);
	rules = rbac_with_missing(json_object_get(stored, "rules"), json_object_get(wanted, "rules"));
	if (rules)
		json_object_set_new(copy_of(stored, &ret), "rules", rules);
	return ret;
}

json_t *bootstrap_merge_binding(const json_t *stored, const json_t *wanted)
{
	json_t *ret = NULL;

	if (hands_off(stored))
		return NULL;
	merge_metadata(stored, wanted, &ret);
	merge_list(stored, wanted, "subjects", &ret);
	return ret;
}
