// SPDX-License-Identifier: Apache-2.0
/* rights_test.c - what a verb may do is decided for what it does, not only for what it is called */
#include "server.h"

static const char *const groups[] = { "system:authenticated", NULL };
static const struct caller bob = { .user = "bob", .uid = "", .groups = groups };

/* Gives bob `verbs` ("['get']") on configmaps and endpoints of default. */
static void allow_bob(struct server *s, const char *verbs)
{
	auto_free char *role = xasprintf("{'metadata':{'name':'bob'},'rules':[{'verbs':%s,'apiGroups':[''],"
					 "'resources':['configmaps','endpoints']}]}",
					 verbs);

	server_do(s, VERB_CREATE, "rbac.authorization.k8s.io/v1/roles", "default", NULL, role);
	server_do(s, VERB_CREATE, "rbac.authorization.k8s.io/v1/rolebindings", "default", NULL,
		  "{'metadata':{'name':'bob'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role',"
		  "'name':'bob'},'subjects':[{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'bob'}]}");
	server_settle(s);
}

static int as_bob(struct server *s, enum verb verb, const char *what, const char *name, const char *body)
{
	struct api_request req = server_request(s, verb, what, "default", name);

	req.caller = &bob;
	req.patch = verb == VERB_PATCH ? PATCH_APPLY : PATCH_NONE;
	json_decref(server_call(s, &req, body));
	return s->code;
}

TEST("an apply or update that would create takes the right to create")
{
	static const char map[] = "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}";
	static const char ends[] = "{'apiVersion':'v1','kind':'Endpoints','metadata':{'name':'a'}}";
	struct server s = server_new();

	allow_bob(&s, "['get','update','patch']");
	CHECK_INT(as_bob(&s, VERB_PATCH, "v1/configmaps", "a", map), 403);
	CHECK_STR(s.message, "configmaps \"a\" is forbidden: User \"bob\" cannot create resource \"configmaps\" in API "
			     "group \"\" in the namespace \"default\"");
	CHECK_INT(as_bob(&s, VERB_UPDATE, "v1/endpoints", "a", ends), 403);
	server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL, map);
	CHECK_INT(as_bob(&s, VERB_PATCH, "v1/configmaps", "a", map), 200);
	server_done(&s);
}

TEST("with the right to create they do")
{
	struct server s = server_new();

	allow_bob(&s, "['create','update','patch']");
	CHECK_INT(as_bob(&s, VERB_PATCH, "v1/configmaps", "a",
			 "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}"),
		  201);
	CHECK_INT(as_bob(&s, VERB_UPDATE, "v1/endpoints", "a", "{'metadata':{'name':'a'}}"), 201);
	server_done(&s);
}

TEST("a local review asks about the namespace it was made in, and about no other")
{
	static const struct {
		const char *ns, *body;
		int code;
	} rows[] = {
		{ "default", "{'spec':{'user':'bob','resourceAttributes':{'namespace':'default','verb':'get'}}}", 201 },
		{ "kube-public", "{'spec':{'user':'bob','resourceAttributes':{'namespace':'default','verb':'get'}}}",
		  422 },
		{ "kube-public",
		  "{'metadata':{'namespace':'default'},'spec':{'user':'bob','resourceAttributes':{'namespace':"
		  "'default','verb':'get'}}}",
		  400 },
	};
	struct server s = server_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_decref(server_ask(&s, VERB_CREATE, "authorization.k8s.io/v1/localsubjectaccessreviews", rows[i].ns,
				       NULL, rows[i].body));
		CHECK_INT(s.code, rows[i].code);
	}
	server_done(&s);
}

TEST("a review of a token takes a token")
{
	struct server s = server_new();

	json_decref(server_ask(&s, VERB_CREATE, "authentication.k8s.io/v1/tokenreviews", "", NULL,
			       "{'spec':{'token':''}}"));
	CHECK_INT(s.code, 400);
	CHECK_STR(s.message, "token is required for TokenReview in authentication");
	server_done(&s);
}
