// SPDX-License-Identifier: Apache-2.0
/* rbac_bootstrap_test.c - the default roles, what they let people do, and how they meet stored ones */
#include "api/rbac_bootstrap.h"

#include "api/rbac_index.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static json_t *all_roles(void)
{
	json_t *ret = json_object();
	json_t *role;

	for (size_t i = 0; (role = bootstrap_role(i)); i++)
		json_object_set_new(ret, jsonx_str(role, "metadata.name"), role);
	return ret;
}

/* Gathers until nothing changes, as authz_aggregate() does. */
static void aggregate(json_t *roles)
{
	const char *name;
	json_t *role;

	for (int pass = 0; pass < 4; pass++) {
		json_object_foreach (roles, name, role) {
			json_t *selectors = jsonx_at(role, "aggregationRule.clusterRoleSelectors");

			if (selectors)
				json_object_set_new(role, "rules", rbac_aggregate(name, selectors, roles));
		}
	}
}

static struct rbac_index *default_index(void)
{
	struct rbac_index *x = rbac_index_new();
	json_auto_t *roles = all_roles();
	const char *name;
	json_t *obj;

	aggregate(roles);
	json_object_foreach (roles, name, obj) {
		rbac_index_set(x, RBAC_CLUSTERROLE, "", name, obj);
	}
	for (size_t i = 0; (obj = bootstrap_binding(i)); i++) {
		rbac_index_set(x, RBAC_CLUSTERROLEBINDING, "", jsonx_str(obj, "metadata.name"), obj);
		json_decref(obj);
	}
	return x;
}

static void bind(struct rbac_index *x, const char *ns, const char *role, const char *user)
{
	json_auto_t *b = json_pack("{s:{s:s,s:s},s:[{s:s,s:s}]}", "roleRef", "kind", "ClusterRole", "name", role,
				   "subjects", "kind", "User", "name", user);

	rbac_index_set(x, RBAC_ROLEBINDING, ns, role, b);
}

static const struct {
	const char *user, *group;
	struct authz_attributes at;
	bool allowed;
} defaults[] = {
	{ "system:anonymous", "system:unauthenticated", { .verb = "get", .path = "/healthz" }, true },
	{ "system:anonymous", "system:unauthenticated", { .verb = "get", .path = "/livez/ping" }, true },
	{ "system:anonymous", "system:unauthenticated", { .verb = "get", .path = "/readyz" }, true },
	{ "system:anonymous", "system:unauthenticated", { .verb = "get", .path = "/version" }, true },
	{ "system:anonymous", "system:unauthenticated", { .verb = "get", .path = "/api" }, false },
	{ "system:anonymous", "system:unauthenticated", { .verb = "get", .path = "/metrics" }, false },
	{ "system:anonymous", "system:unauthenticated", { .verb = "get", .path = "/" }, false },
	{ "system:anonymous",
	  "system:unauthenticated",
	  { .verb = "create", .group = "authorization.k8s.io", .resource = "selfsubjectaccessreviews" },
	  false },
	{ "x", "system:authenticated", { .verb = "get", .path = "/apis/apps/v1" }, true },
	{ "x", "system:authenticated", { .verb = "get", .path = "/openapi/v2" }, true },
	{ "x", "system:authenticated", { .verb = "get", .path = "/metrics" }, false },
	{ "x",
	  "system:authenticated",
	  { .verb = "create", .group = "authorization.k8s.io", .resource = "selfsubjectrulesreviews" },
	  true },
	{ "x", "system:authenticated", { .verb = "list", .group = "stoker.dev", .resource = "queues" }, true },
	{ "x", "system:authenticated", { .verb = "update", .group = "stoker.dev", .resource = "queues" }, false },
	{ "x", "system:authenticated", { .verb = "list", .group = "stoker.dev", .resource = "tokens" }, false },
	{ "x", "system:authenticated", { .verb = "list", .group = "", .resource = "pods", .ns = "n" }, false },
	{ "a", "system:authenticated", { .verb = "create", .group = "", .resource = "pods", .ns = "n" }, true },
	{ "a", "system:authenticated", { .verb = "create", .group = "", .resource = "pods", .ns = "m" }, false },
	{ "a", "system:authenticated", { .verb = "get", .group = "", .resource = "secrets", .ns = "n" }, true },
	{ "a",
	  "system:authenticated",
	  { .verb = "create", .group = "kubeflow.org", .resource = "tfjobs", .ns = "n" },
	  true },
	{ "a",
	  "system:authenticated",
	  { .verb = "create", .group = "stoker.dev", .resource = "pbsjobs", .ns = "n" },
	  true },
	{ "a",
	  "system:authenticated",
	  { .verb = "create", .group = RBAC_GROUP, .resource = "roles", .ns = "n" },
	  true },
	{ "a",
	  "system:authenticated",
	  { .verb = "update", .group = "", .resource = "resourcequotas", .ns = "n" },
	  false },
	{ "e",
	  "system:authenticated",
	  { .verb = "create", .group = RBAC_GROUP, .resource = "roles", .ns = "n" },
	  false },
	{ "e",
	  "system:authenticated",
	  { .verb = "create", .group = "", .resource = "pods", .subresource = "exec", .ns = "n" },
	  true },
	{ "v", "system:authenticated", { .verb = "get", .group = "", .resource = "secrets", .ns = "n" }, false },
	{ "v",
	  "system:authenticated",
	  { .verb = "get", .group = "", .resource = "pods", .subresource = "log", .ns = "n" },
	  true },
	{ "v",
	  "system:authenticated",
	  { .verb = "create", .group = "", .resource = "pods", .subresource = "exec", .ns = "n" },
	  false },
	{ "v", "system:authenticated", { .verb = "watch", .group = "batch", .resource = "jobs", .ns = "n" }, true },
	{ "v", "system:authenticated", { .verb = "delete", .group = "batch", .resource = "jobs", .ns = "n" }, false },
	{ "v",
	  "system:authenticated",
	  { .verb = "list", .group = "metrics.k8s.io", .resource = "pods", .ns = "n" },
	  true },
};

TEST("the defaults let everyone do what Kubernetes lets them, and no more")
{
	struct rbac_index *x = default_index();

	bind(x, "n", "admin", "a");
	bind(x, "n", "edit", "e");
	bind(x, "n", "view", "v");
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		const char *const groups[] = { defaults[i].group, NULL };
		struct caller c = { .user = defaults[i].user, .uid = "", .groups = groups };

		if ((rbac_index_find(x, &c, &defaults[i].at) != NULL) != defaults[i].allowed)
			test_fail(__FILE__, __LINE__, "row %zu is not %s", i,
				  defaults[i].allowed ? "allowed" : "denied");
	}
	rbac_index_free(x);
}

TEST("an up-to-date role needs no write")
{
	json_auto_t *role = bootstrap_role(0);
	json_auto_t *binding = bootstrap_binding(0);
	json_auto_t *changed = bootstrap_merge_role(role, role);
	json_auto_t *changed_binding = bootstrap_merge_binding(binding, binding);

	CHECK(changed == NULL);
	CHECK(changed_binding == NULL);
}

TEST("what is missing is added and what the owner added stays")
{
	json_auto_t *roles = all_roles();
	const json_t *wanted = json_object_get(roles, "system:basic-user");
	json_auto_t *stored =
		json_pack("{s:{s:s,s:{s:s}},s:[{s:[s],s:[s],s:[s]}]}", "metadata", "name", "system:basic-user",
			  "labels", "mine", "1", "rules", "apiGroups", "mine", "resources", "things", "verbs", "get");
	json_auto_t *merged = NULL;

	CHECK(wanted != NULL);
	merged = bootstrap_merge_role(stored, wanted);
	CHECK_INT(json_array_size(json_object_get(merged, "rules")), 3);
	CHECK_STR(json_string_value(json_object_get(jsonx_at(merged, "metadata.labels"), "mine")), "1");
	CHECK_STR(
		json_string_value(json_object_get(jsonx_at(merged, "metadata.labels"), "kubernetes.io/bootstrapping")),
		"rbac-defaults");
	CHECK_INT(json_array_size(json_object_get(stored, "rules")), 1);
}

TEST("a role marked autoupdate false is left alone")
{
	json_auto_t *wanted = bootstrap_role(0);
	json_auto_t *stored = json_pack("{s:{s:s,s:{s:s}}}", "metadata", "name", "cluster-admin", "annotations",
					"rbac.authorization.kubernetes.io/autoupdate", "false");
	json_auto_t *merged = bootstrap_merge_role(stored, wanted);

	CHECK(merged == NULL);
}

TEST("a binding gets back the subject it lost")
{
	json_auto_t *wanted = bootstrap_binding(0);
	json_auto_t *stored = jsonx_copy(wanted);
	json_auto_t *merged = NULL;

	json_object_set_new(stored, "subjects", json_pack("[{s:s,s:s}]", "kind", "User", "name", "me"));
	merged = bootstrap_merge_binding(stored, wanted);
	CHECK_INT(json_array_size(json_object_get(merged, "subjects")), 2);
}

TEST("an aggregated role takes each rule once, by the order of names, and never its own")
{
	json_auto_t *roles = json_pack(
		"{s:{s:{s:{s:s}},s:[{s:[s]}]},s:{s:{s:{s:s}},s:[{s:[s]},{s:[s]}]},s:{s:{s:{s:s}},s:[{s:[s]}]}}", "b",
		"metadata", "labels", "x", "1", "rules", "verbs", "get", "a", "metadata", "labels", "x", "1", "rules",
		"verbs", "list", "verbs", "get", "self", "metadata", "labels", "x", "1", "rules", "verbs", "own");
	json_auto_t *selectors = json_pack("[{s:{s:s}}]", "matchLabels", "x", "1");
	json_auto_t *rules = rbac_aggregate("self", selectors, roles);
	auto_sbuf struct sbuf text = SBUF(1000);

	jsonx_dump(rules, &text);
	CHECK_STR(text.p, "[{\"verbs\":[\"list\"]},{\"verbs\":[\"get\"]}]");
}
