// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#define AUTHZ "authorization.k8s.io/v1/"

static const char *const ann_groups[] = { "system:authenticated", "devs", NULL };
static const struct caller ann = { .user = "ann", .uid = "7", .groups = ann_groups };

/* ann may get pods in default; the group devs may create LocalSubjectAccessReviews there. */
static struct server with_roles(void)
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/roles", "default", NULL,
		  "{'metadata':{'name':'see'},'rules':[{'apiGroups':[''],'resources':['pods'],'verbs':['get']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/rolebindings", "default", NULL,
		  "{'metadata':{'name':'see'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':"
		  "'see'},'subjects':[{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'ann'}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/roles", "default", NULL,
		  "{'metadata':{'name':'ask'},'rules':[{'apiGroups':['authorization.k8s.io'],'resources':["
		  "'localsubjectaccessreviews'],'verbs':['create']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/rolebindings", "default", NULL,
		  "{'metadata':{'name':'ask'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':"
		  "'ask'},'subjects':[{'kind':'Group','apiGroup':'rbac.authorization.k8s.io','name':'devs'}]}");
	return s;
}

TEST("a review says what is allowed, and nothing of it is stored")
{
	static const struct {
		const char *what, *ns, *body;
		bool as_ann;
		int code;
		const char *allowed; /* of status */
	} rows[] = {
		{ AUTHZ "selfsubjectaccessreviews", "",
		  "{'spec':{'resourceAttributes':{'verb':'get','resource':'pods','namespace':'default'}}}", true, 201,
		  "true" },
		{ AUTHZ "selfsubjectaccessreviews", "",
		  "{'spec':{'resourceAttributes':{'verb':'get','resource':'pods','namespace':'other'}}}", true, 201,
		  "false" },
		{ AUTHZ "selfsubjectaccessreviews", "",
		  "{'spec':{'resourceAttributes':{'verb':'delete','resource':'pods','namespace':'default'}}}", true,
		  201, "false" },
		{ AUTHZ "selfsubjectaccessreviews", "",
		  "{'spec':{'nonResourceAttributes':{'verb':'get','path':'/version'}}}", true, 201, "true" },
		{ AUTHZ "selfsubjectaccessreviews", "", "{'spec':{}}", true, 422, "(none)" },
		{ AUTHZ "selfsubjectaccessreviews", "", "{'spec':{'resourceAttributes':{},'nonResourceAttributes':{}}}",
		  true, 422, "(none)" },
		{ AUTHZ "subjectaccessreviews", "",
		  "{'spec':{'user':'ann','resourceAttributes':{'verb':'get','resource':'pods','namespace':'default'}}}",
		  false, 201, "true" },
		{ AUTHZ "subjectaccessreviews", "",
		  "{'spec':{'user':'x','groups':['system:masters'],'resourceAttributes':{'verb':'get','resource':'pods'"
		  "}}}",
		  false, 201, "true" },
		{ AUTHZ "subjectaccessreviews", "",
		  "{'spec':{'user':'bob','resourceAttributes':{'verb':'get','resource':'pods','namespace':'default'}}}",
		  false, 201, "false" },
		{ AUTHZ "subjectaccessreviews", "", "{'spec':{'resourceAttributes':{'verb':'get','resource':'pods'}}}",
		  false, 422, "(none)" },
		{ AUTHZ "subjectaccessreviews", "",
		  "{'spec':{'user':'bob','resourceAttributes':{'verb':'get','resource':'pods'}}}", true, 403,
		  "(none)" },
		{ AUTHZ "localsubjectaccessreviews", "default",
		  "{'metadata':{'namespace':'default'},'spec':{'user':'ann','resourceAttributes':{'verb':'get','"
		  "resource':"
		  "'pods','namespace':'default'}}}",
		  true, 201, "true" },
		{ AUTHZ "localsubjectaccessreviews", "default",
		  "{'spec':{'user':'ann','resourceAttributes':{'verb':'get','resource':'pods','namespace':'default'}}}",
		  true, 201, "true" },
		{ AUTHZ "localsubjectaccessreviews", "default",
		  "{'metadata':{'namespace':'default'},'spec':{'user':'ann','resourceAttributes':{'verb':'get','"
		  "resource':"
		  "'pods','namespace':'kube-system'}}}",
		  true, 422, "(none)" },
		/* what may be asked in one namespace may not be asked of another */
		{ AUTHZ "localsubjectaccessreviews", "default",
		  "{'metadata':{'namespace':'kube-system'},'spec':{'user':'ann','resourceAttributes':{'verb':'get',"
		  "'resource':'pods','namespace':'kube-system'}}}",
		  true, 400, "(none)" },
	};
	struct server s = with_roles();
	int64_t before = store_revision(s.store);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_CREATE, rows[i].what, rows[i].ns, NULL);
		json_auto_t *got = NULL;

		if (rows[i].as_ann)
			req.caller = &ann;
		got = server_call(&s, &req, rows[i].body);
		if (s.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d %s", rows[i].body, s.code, s.message);
		CHECK_JSON(jsonx_at(got, "status.allowed"), rows[i].allowed);
	}
	CHECK_INT(store_revision(s.store), before);
	server_done(&s);
}

TEST("a review names the binding that allows it")
{
	struct server s = with_roles();
	struct api_request req = server_request(&s, VERB_CREATE, AUTHZ "selfsubjectaccessreviews", "", NULL);

	req.caller = &ann;
	json_auto_t *got = server_call(
		&s, &req, "{'spec':{'resourceAttributes':{'verb':'get','resource':'pods','namespace':'default'}}}");
	CHECK_STR(jsonx_str(got, "status.reason"),
		  "RBAC: allowed by RoleBinding \"see/default\" of Role \"see\" to User \"ann\"");
	server_done(&s);
}

TEST("who I am and what I may do can be asked")
{
	struct server s = with_roles();
	struct api_request me =
		server_request(&s, VERB_CREATE, "authentication.k8s.io/v1/selfsubjectreviews", "", NULL);
	struct api_request rules = server_request(&s, VERB_CREATE, AUTHZ "selfsubjectrulesreviews", "", NULL);
	size_t i;
	json_t *rule;
	bool pods = false;

	me.caller = rules.caller = &ann;
	json_auto_t *who = server_call(&s, &me, "{}");
	CHECK_STR(jsonx_str(who, "status.userInfo.username"), "ann");
	CHECK_STR(jsonx_str(who, "status.userInfo.uid"), "7");
	CHECK_JSON(jsonx_at(who, "status.userInfo.groups"), "['system:authenticated','devs']");
	json_auto_t *may = server_call(&s, &rules, "{'spec':{'namespace':'default'}}");
	json_array_foreach (jsonx_at(may, "status.resourceRules"), i, rule)
		pods |= str_same(json_string_value(json_array_get(json_object_get(rule, "resources"), 0)), "pods");
	CHECK(pods);
	CHECK(json_array_size(jsonx_at(may, "status.nonResourceRules")) > 0);
	CHECK(!jsonx_bool_or(may, "status.incomplete", true));
	server_done(&s);
}

TEST("rights come and go with their bindings")
{
	struct server s = with_roles();
	struct api_request get = server_request(&s, VERB_GET, "v1/pods", "default", "p");

	server_make_pod(&s, "p");
	get.caller = &ann;
	json_auto_t *seen = server_call(&s, &get, NULL);
	CHECK(seen != NULL);
	server_do(&s, VERB_DELETE, "rbac.authorization.k8s.io/v1/rolebindings", "default", "see", NULL);
	json_auto_t *refused = server_call(&s, &get, NULL);
	CHECK(!refused);
	CHECK_INT(s.code, 403);
	server_done(&s);
}

TEST("an aggregated role has the rules of the roles it picks")
{
	struct server s = server_new();

	server_do(
		&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterroles", "", NULL,
		"{'metadata':{'name':'sum'},'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'add':'yes'}}]},"
		"'rules':[]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterroles", "", NULL,
		  "{'metadata':{'name':'part','labels':{'add':'yes'}},'rules':[{'apiGroups':[''],'resources':['pods'],"
		  "'verbs':['get']}]}");
	server_settle(&s);
	json_auto_t *sum = server_ask(&s, VERB_GET, "rbac.authorization.k8s.io/v1/clusterroles", "", "sum", NULL);
	CHECK_INT(json_array_size(jsonx_at(sum, "rules")), 1);
	server_do(&s, VERB_DELETE, "rbac.authorization.k8s.io/v1/clusterroles", "", "part", NULL);
	server_settle(&s);
	json_auto_t *none = server_ask(&s, VERB_GET, "rbac.authorization.k8s.io/v1/clusterroles", "", "sum", NULL);
	CHECK_INT(json_array_size(jsonx_at(none, "rules")), 0);
	server_done(&s);
}
