// SPDX-License-Identifier: Apache-2.0
/* rbac_index_test.c - bindings by subject */
#include "api/rbac_index.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static void put(struct rbac_index *x, enum rbac_kind kind, const char *ns, const char *name, const char *text)
{
	json_auto_t *obj = NULL;
	struct err e = ERR_INIT;

	if (text && jsonx_parse(text, strlen(text), NULL, NULL, &obj, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	rbac_index_set(x, kind, ns, name, obj);
}

#define ROLE(res) "{\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"" res "\"],\"verbs\":[\"get\"]}]}"
#define REF(kind, nm)                                                                                                  \
	"\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"" kind "\",\"name\":\"" nm "\"}"
#define SUBJ(k, n) "\"subjects\":[{\"kind\":\"" k "\",\"name\":\"" n "\"}]"

static bool may(const struct rbac_index *x, const char *user, const char *group, const char *ns, const char *resource)
{
	const char *const groups[] = { group, NULL };
	struct caller c = { .user = user, .uid = "", .groups = groups };
	struct authz_attributes at = { .verb = "get", .group = "", .resource = resource, .ns = ns, .name = "" };

	return rbac_index_find(x, &c, &at) != NULL;
}

TEST("a RoleBinding counts in its namespace, a ClusterRoleBinding everywhere")
{
	struct rbac_index *x = rbac_index_new();

	put(x, RBAC_CLUSTERROLE, "", "reader", ROLE("pods"));
	put(x, RBAC_ROLEBINDING, "a", "b1", "{" REF("ClusterRole", "reader") "," SUBJ("User", "u") "}");
	put(x, RBAC_CLUSTERROLEBINDING, "", "b2", "{" REF("ClusterRole", "reader") "," SUBJ("Group", "g") "}");
	CHECK(may(x, "u", "none", "a", "pods"));
	CHECK(!may(x, "u", "none", "b", "pods"));
	CHECK(!may(x, "u", "none", "", "pods"));
	CHECK(!may(x, "u", "none", "a", "secrets"));
	CHECK(may(x, "v", "g", "b", "pods"));
	CHECK(may(x, "v", "g", "", "pods"));
	CHECK(!may(x, "g", "u", "a", "pods"));
	rbac_index_free(x);
}

TEST("a Role of the same name in another namespace is another role")
{
	struct rbac_index *x = rbac_index_new();

	put(x, RBAC_ROLE, "a", "r", ROLE("pods"));
	put(x, RBAC_ROLE, "b", "r", ROLE("secrets"));
	put(x, RBAC_CLUSTERROLE, "", "r", ROLE("nodes"));
	put(x, RBAC_ROLEBINDING, "a", "b1", "{" REF("Role", "r") "," SUBJ("User", "u") "}");
	put(x, RBAC_CLUSTERROLEBINDING, "", "b2", "{" REF("Role", "r") "," SUBJ("User", "u") "}");
	CHECK(may(x, "u", "none", "a", "pods"));
	CHECK(!may(x, "u", "none", "a", "secrets"));
	CHECK(!may(x, "u", "none", "a", "nodes"));
	CHECK(!may(x, "u", "none", "b", "secrets"));
	rbac_index_free(x);
}

TEST("a service account without a namespace is one of the binding's")
{
	struct rbac_index *x = rbac_index_new();

	put(x, RBAC_CLUSTERROLE, "", "reader", ROLE("pods"));
	put(x, RBAC_ROLEBINDING, "a", "b1", "{" REF("ClusterRole", "reader") "," SUBJ("ServiceAccount", "bot") "}");
	put(x, RBAC_CLUSTERROLEBINDING, "", "b2", "{" REF("ClusterRole", "reader") "," SUBJ("ServiceAccount", "x") "}");
	put(x, RBAC_CLUSTERROLEBINDING, "", "b3",
	    "{" REF("ClusterRole", "reader") ",\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"y\","
					     "\"namespace\":\"n\"}]}");
	CHECK(may(x, "system:serviceaccount:a:bot", "none", "a", "pods"));
	CHECK(!may(x, "system:serviceaccount:b:bot", "none", "a", "pods"));
	CHECK(!may(x, "system:serviceaccount::x", "none", "a", "pods"));
	CHECK(may(x, "system:serviceaccount:n:y", "none", "z", "pods"));
	rbac_index_free(x);
}

TEST("changes show at once, in whatever order they come")
{
	struct rbac_index *x = rbac_index_new();

	put(x, RBAC_ROLEBINDING, "a", "b", "{" REF("Role", "r") "," SUBJ("User", "u") "}");
	CHECK(!may(x, "u", "none", "a", "pods"));
	put(x, RBAC_ROLE, "a", "r", ROLE("pods"));
	CHECK(may(x, "u", "none", "a", "pods"));
	put(x, RBAC_ROLE, "a", "r", ROLE("secrets"));
	CHECK(!may(x, "u", "none", "a", "pods"));
	CHECK(may(x, "u", "none", "a", "secrets"));
	put(x, RBAC_ROLEBINDING, "a", "b", "{" REF("Role", "r") "," SUBJ("User", "v") "}");
	CHECK(!may(x, "u", "none", "a", "secrets"));
	CHECK(may(x, "v", "none", "a", "secrets"));
	put(x, RBAC_ROLE, "a", "r", NULL);
	CHECK(!may(x, "v", "none", "a", "secrets"));
	put(x, RBAC_ROLE, "a", "r", ROLE("secrets"));
	CHECK(may(x, "v", "none", "a", "secrets"));
	put(x, RBAC_ROLEBINDING, "a", "b", NULL);
	put(x, RBAC_ROLEBINDING, "a", "b", NULL);
	CHECK(!may(x, "v", "none", "a", "secrets"));
	rbac_index_free(x);
}

TEST("a thousand bindings do not slow down a question")
{
	struct rbac_index *x = rbac_index_new();
	int64_t start;
	bool all = true;

	put(x, RBAC_CLUSTERROLE, "", "reader", ROLE("pods"));
	for (int i = 0; i < 1000; i++) {
		auto_free char *ns = xasprintf("ns%d", i);

		put(x, RBAC_ROLEBINDING, ns, "b", "{" REF("ClusterRole", "reader") "," SUBJ("User", "u") "}");
	}
	start = clock_mono_ns();
	for (int i = 0; i < 10000; i++)
		all &= may(x, "u", "none", "ns999", "pods");
	CHECK(all);
	/* 10 us each leaves room for sanitizers on a busy machine; the plain build takes a tenth of a microsecond. */
	CHECK(clock_mono_ns() - start < 10000 * 10000LL);
	rbac_index_free(x);
}
