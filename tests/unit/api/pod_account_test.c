// SPDX-License-Identifier: Apache-2.0
#include "api/pod_owner.h"
#include "server.h"

#define DIR       "/var/run/secrets/kubernetes.io/serviceaccount"
#define POD(more) "{'metadata':{'generateName':'p-'},'spec':{" more "'containers':[{'name':'c','image':'host'}]}}"

/* Volumes and mounts of a new pod: "n volumes; container:mounts ..." */
static char *shape_of(struct server *s, const char *body)
{
	static const char *const lists[] = { "spec.initContainers", "spec.containers" };
	json_auto_t *pod = server_ask(s, VERB_CREATE, "v1/pods", "default", NULL, body);
	auto_sbuf struct sbuf out = SBUF(4096);
	json_t *c;
	size_t k;

	if (!pod)
		return xstrdup(s->message);
	sbuf_addf(&out, "%zu", json_array_size(jsonx_at(pod, "spec.volumes")));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (jsonx_at(pod, lists[i]), k, c)
			sbuf_addf(&out, " %s:%zu", jsonx_str(c, "name"),
				  json_array_size(json_object_get(c, "volumeMounts")));
	return sbuf_steal(&out);
}

static void make_account(struct server *s, const char *body)
{
	server_do(s, VERB_CREATE, "v1/serviceaccounts", "default", NULL, body);
}

TEST("a pod has its account's token mounted where programs look for it")
{
	struct server s = server_new();
	json_auto_t *pod = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL, POD(""));
	json_t *volume = json_array_get(jsonx_at(pod, "spec.volumes"), 0);
	const char *name = jsonx_str_or(volume, "name", "");
	json_t *container = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	auto_free char *mounts = xasprintf("[{'name':'%s','readOnly':true,'mountPath':'" DIR "'}]", name);

	CHECK_STR(jsonx_str(pod, "spec.serviceAccountName"), "default");
	CHECK_INT(json_array_size(jsonx_at(pod, "spec.volumes")), 1);
	CHECK(str_starts(name, "kube-api-access-") && strlen(name) == strlen("kube-api-access-") + 5);
	CHECK_JSON(json_object_get(volume, "projected"),
		   "{'sources':[{'serviceAccountToken':{'expirationSeconds':3607,'path':'token'}},"
		   "{'configMap':{'name':'kube-root-ca.crt','items':[{'key':'ca.crt','path':'ca.crt'}]}},"
		   "{'downwardAPI':{'items':[{'path':'namespace','fieldRef':{'apiVersion':'v1','fieldPath':"
		   "'metadata.namespace'}}]}}],'defaultMode':420}");
	CHECK_JSON(json_object_get(container, "volumeMounts"), mounts);
	/* nobody's field: who applies a manifest again owns what is in it */
	auto_free char *managers = sample_text(jsonx_at(pod, "metadata.managedFields"));
	CHECK(strstr(managers, "f:containers") && !strstr(managers, "kube-api-access"));
	server_done(&s);
}

TEST("pods of one account call the token's volume alike, those of another do not")
{
	static const struct {
		const char *ns, *body;
		bool same;
	} rows[] = {
		{ "default", POD(""), true },
		{ "default", POD(""), true },
		{ "default", POD("'serviceAccountName':'other',"), false },
		{ "kube-system", POD(""), false },
	};
	struct server s = server_new();
	auto_free char *first = NULL;

	server_do(&s, VERB_CREATE, "v1/serviceaccounts", "default", NULL, "{'metadata':{'name':'other'}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = server_ask(&s, VERB_CREATE, "v1/pods", rows[i].ns, NULL, rows[i].body);
		const char *name = jsonx_str_or(json_array_get(jsonx_at(pod, "spec.volumes"), 0), "name", "");

		if (!first)
			first = xstrdup(name);
		CHECK_INT(streq(name, first), rows[i].same);
	}
	server_done(&s);
}

TEST("who gets a token, and who does not")
{
	static const struct {
		const char *body, *want;
	} rows[] = {
		{ POD(""), "1 c:1" },
		{ POD("'automountServiceAccountToken':false,"), "0 c:0" },
		{ POD("'serviceAccountName':'quiet',"), "0 c:0" },
		{ POD("'serviceAccountName':'quiet','automountServiceAccountToken':true,"), "1 c:1" },
		{ POD("'serviceAccount':'quiet',"), "0 c:0" },
		{ POD("'initContainers':[{'name':'i','image':'host'}],"), "1 i:1 c:1" },
		/* something else is mounted there, in one of them */
		{ POD("'volumes':[{'name':'v','emptyDir':{}}],'initContainers':[{'name':'i','image':'host','"
		      "volumeMounts':"
		      "[{'name':'v','mountPath':'" DIR "'}]}],"),
		  "2 i:1 c:1" },
		/* or in all */
		{ "{'metadata':{'name':'all'},'spec':{'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'c',"
		  "'image':'host','volumeMounts':[{'name':'v','mountPath':'" DIR "'}]}]}}",
		  "1 c:1" },
		/* a copy of another pod's manifest */
		{ POD("'volumes':[{'name':'kube-api-access-abcde','projected':{'sources':[]}}],"), "1 c:1" },
		{ POD("'serviceAccountName':'who',"),
		  "pods \"p-\" is forbidden: error looking up service account default/who: serviceaccount \"who\" not "
		  "found" },
	};
	struct server s = server_new();

	make_account(&s, "{'metadata':{'name':'quiet'},'automountServiceAccountToken':false}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = shape_of(&s, rows[i].body);

		CHECK_STR(got, rows[i].want);
	}
	server_done(&s);
}

TEST("a pod without pull secrets gets its account's")
{
	struct server s = server_new();

	make_account(&s, "{'metadata':{'name':'puller'},'imagePullSecrets':[{'name':'reg'}]}");
	json_auto_t *given =
		server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL, POD("'serviceAccountName':'puller',"));
	json_auto_t *own = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL,
				      POD("'serviceAccountName':'puller','imagePullSecrets':[{'name':'mine'}],"));
	CHECK_JSON(jsonx_at(given, "spec.imagePullSecrets"), "[{'name':'reg'}]");
	CHECK_JSON(jsonx_at(own, "spec.imagePullSecrets"), "[{'name':'mine'}]");
	server_done(&s);
}

TEST("a pod that is quicker than its namespace's account brings it along")
{
	struct server s = server_new();
	struct api_request dry = server_request(&s, VERB_CREATE, "v1/pods", "lab", NULL);

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'lab'}}");
	dry.dry_run = true;
	json_auto_t *shown = server_call(&s, &dry, POD(""));
	CHECK(shown != NULL);
	CHECK(!server_has(&s, "v1/serviceaccounts", "lab", "default"));
	server_do(&s, VERB_CREATE, "v1/pods", "lab", NULL, POD(""));
	CHECK(server_has(&s, "v1/serviceaccounts", "lab", "default"));
	server_done(&s);
}

TEST("a pod is not touched again when it is changed")
{
	struct server s = server_new();
	auto_free char *plain = shape_of(&s, "{'metadata':{'name':'a'},'spec':{'automountServiceAccountToken':false,"
					     "'containers':[{'name':'c','image':'host'}]}}");
	struct api_request req = server_request(&s, VERB_PATCH, "v1/pods", "default", "a");

	CHECK_STR(plain, "0 c:0");
	server_do(&s, VERB_DELETE, "v1/serviceaccounts", "default", "default", NULL);
	req.patch = PATCH_MERGE;
	json_auto_t *changed = server_call(&s, &req, "{'metadata':{'labels':{'a':'b'}}}");
	CHECK_STR(s.message, "");
	CHECK(!jsonx_at(changed, "spec.volumes"));
	CHECK(!server_has(&s, "v1/serviceaccounts", "default", "default"));
	server_done(&s);
}

TEST("the Service kubernetes comes back with its address")
{
	struct server s = server_new();

	server_do(&s, VERB_DELETE, "v1/services", "default", "kubernetes", NULL);
	json_auto_t *service = server_ask(&s, VERB_GET, "v1/services", "default", "kubernetes", NULL);
	CHECK_STR(jsonx_str(service, "spec.clusterIP"), "10.96.0.1");
	server_done(&s);
}

TEST("a token for a pod is for those whose pod it is")
{
	static const char *const users[] = { "system:authenticated", NULL };
	const struct caller daemon_user = { .user = "daemon", .uid = "1", .groups = users };
	const struct caller other = { .user = "bin", .uid = "2", .groups = users };
	static const char request[] = "{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'p'}}}";
	struct server s = server_new_with_pki();
	const struct {
		const struct caller *who;
		int code;
	} rows[] = { { &caller_system, 201 }, { &daemon_user, 201 }, { &other, 403 } };
	struct api_request make = server_request(&s, VERB_CREATE, "v1/pods", "default", NULL);

	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterroles", "", NULL,
		  "{'metadata':{'name':'all'},'rules':[{'apiGroups':['*'],'resources':['*'],'verbs':['*']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterrolebindings", "", NULL,
		  "{'metadata':{'name':'all'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
		  "'name':'all'},'subjects':[{'kind':'User','name':'daemon','apiGroup':'rbac.authorization.k8s.io'},"
		  "{'kind':'User','name':'bin','apiGroup':'rbac.authorization.k8s.io'}]}");
	make.caller = &daemon_user;
	json_auto_t *pod = server_call(&s, &make,
				       "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':"
				       "'host'}]}}");
	CHECK_STR(s.message, "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_CREATE, "v1/serviceaccounts", "default", "default");

		req.subresource = "token";
		req.caller = rows[i].who;
		json_auto_t *got = server_call(&s, &req, request);
		CHECK_INT(s.code, rows[i].code);
	}
	server_done(&s);
}
