// SPDX-License-Identifier: Apache-2.0
#include "api/bootstrap.h"

#include "server.h"

TEST("a new server has the objects every cluster has, and a restart makes nothing new")
{
	static const struct {
		const char *what, *ns, *name;
	} rows[] = {
		{ "v1/namespaces", "", "default" },
		{ "v1/namespaces", "", "kube-system" },
		{ "v1/namespaces", "", "kube-public" },
		{ "v1/namespaces", "", "kube-node-lease" },
		{ "v1/services", "default", "kubernetes" },
		{ "scheduling.k8s.io/v1/priorityclasses", "", "system-node-critical" },
		{ "rbac.authorization.k8s.io/v1/clusterroles", "", "cluster-admin" },
		{ "rbac.authorization.k8s.io/v1/clusterrolebindings", "", "cluster-admin" },
	};
	struct server s = server_new();
	int64_t before = store_revision(s.store);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!server_has(&s, rows[i].what, rows[i].ns, rows[i].name))
			test_fail(__FILE__, __LINE__, "no %s %s", rows[i].what, rows[i].name);
	server_close(&s);
	server_open(&s);
	CHECK_INT(store_revision(s.store), before);
	server_done(&s);
}

TEST("what a person has changed stays, what was deleted comes back")
{
	struct server s = server_new();
	struct api_request req =
		server_request(&s, VERB_PATCH, "scheduling.k8s.io/v1/priorityclasses", "", "system-node-critical");

	req.patch = PATCH_MERGE;
	json_auto_t *changed = server_call(&s, &req, "{'metadata':{'labels':{'mine':'yes'}}}");
	CHECK(changed != NULL);
	server_do(&s, VERB_DELETE, "scheduling.k8s.io/v1/priorityclasses", "", "system-cluster-critical", NULL);
	server_close(&s);
	server_open(&s);
	json_auto_t *kept =
		server_ask(&s, VERB_GET, "scheduling.k8s.io/v1/priorityclasses", "", "system-node-critical", NULL);
	CHECK_STR(jsonx_str(kept, "metadata.labels.mine"), "yes");
	CHECK(server_has(&s, "scheduling.k8s.io/v1/priorityclasses", "", "system-cluster-critical"));
	server_done(&s);
}

TEST("a row that is wrong says which one")
{
	struct server s = server_new();
	struct err e = ERR_INIT;

	CHECK_INT(bootstrap_object(s.api, "", "v1", "nothings", "", "x", "{}", &e), -1);
	CHECK_STR(e.text, "/nothings is not a built-in kind");
	err_clear(&e);
	CHECK_INT(bootstrap_object(s.api, "", "v1", "configmaps", "nowhere", "x", "{}", &e), -1);
	CHECK_STR(e.text, "configmaps x: namespaces \"nowhere\" not found");
	server_done(&s);
}
