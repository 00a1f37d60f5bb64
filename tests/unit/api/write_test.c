// SPDX-License-Identifier: Apache-2.0
#include "api/verbs.h"
#include "server.h"

#define DEPLOYMENT(name, replicas)                                                                                     \
	"{'metadata':{'name':'" name "'},'spec':{'replicas':" replicas                                                 \
	",'selector':{'matchLabels':{'a':'b'}},'template':{"                                                           \
	"'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}"

static int64_t revision(const json_t *obj)
{
	int64_t rv = 0;

	str_int64(jsonx_str_or(obj, "metadata.resourceVersion", ""), 1, INT64_MAX, &rv);
	return rv;
}

TEST("a created object is answered with 201, stamped, defaulted and readable")
{
	struct server s = server_new();
	json_auto_t *made = server_ask(&s, VERB_CREATE, "apps/v1/deployments", "default", NULL, DEPLOYMENT("d", "2"));

	CHECK_INT(s.code, 201);
	CHECK_STR(jsonx_str(made, "kind"), "Deployment");
	CHECK_STR(jsonx_str(made, "metadata.namespace"), "default");
	CHECK_INT(jsonx_int_or(made, "metadata.generation", 0), 1);
	CHECK_STR(jsonx_str(made, "spec.strategy.type"), "RollingUpdate");
	CHECK(revision(made) > 0);
	json_auto_t *got = server_ask(&s, VERB_GET, "apps/v1/deployments", "default", "d", NULL);
	CHECK_INT(s.code, 200);
	CHECK(jsonx_equal(made, got));
	server_done(&s);
}

TEST("what cannot be created is refused and leaves nothing behind")
{
	static const struct {
		const char *what, *ns, *body;
		int code;
		const char *message;
	} rows[] = {
		{ "v1/configmaps", "default", "{'metadata':{'name':'taken'}}", 409, NULL },
		{ "v1/configmaps", "nowhere", "{'metadata':{'name':'a'}}", 404, "namespaces \"nowhere\" not found" },
		{ "v1/configmaps", "default", "{'metadata':{'name':'Not A Name'}}", 422, NULL },
		{ "v1/configmaps", "default", "{'metadata':{'name':'a','resourceVersion':'1'}}", 400,
		  "resourceVersion should not be set on objects to be created" },
		{ "v1/configmaps", "default", "{'metadata':{'name':'a'},'data':{'k':1}}", 400, NULL },
		{ "v1/pods", "default", "{'metadata':{'name':'a'},'spec':{'containers':[]}}", 422, NULL },
		{ "v1/configmaps", "default", "[]", 400, NULL },
	};
	struct server s = server_new();
	int64_t before;

	server_make_map(&s, "taken", "{}");
	before = store_revision(s.store);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *made = server_ask(&s, VERB_CREATE, rows[i].what, rows[i].ns, NULL, rows[i].body);

		CHECK(!made);
		if (s.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s: %d %s", rows[i].body, s.code, s.message);
		if (rows[i].message)
			CHECK_STR(s.message, rows[i].message);
	}
	CHECK_INT(store_revision(s.store), before);
	server_done(&s);
}

TEST("generated names differ, and a given name is never replaced")
{
	struct server s = server_new();
	json_auto_t *a =
		server_ask(&s, VERB_CREATE, "v1/configmaps", "default", NULL, "{'metadata':{'generateName':'x-'}}");
	json_auto_t *b =
		server_ask(&s, VERB_CREATE, "v1/configmaps", "default", NULL, "{'metadata':{'generateName':'x-'}}");

	CHECK(strcmp(jsonx_str_or(a, "metadata.name", ""), jsonx_str_or(b, "metadata.name", "")) != 0);
	server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL,
		  "{'metadata':{'name':'x-one','generateName':'x-'}}");
	json_auto_t *again = server_ask(&s, VERB_CREATE, "v1/configmaps", "default", NULL,
					"{'metadata':{'name':'x-one','generateName':'x-'}}");
	CHECK(!again);
	CHECK_INT(s.code, 409);
	server_done(&s);
}

TEST("a status in a new object is not the client's to write")
{
	struct server s = server_new();
	json_auto_t *made = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL,
				       "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]},"
				       "'status':{'phase':'Running'}}");

	CHECK_STR(jsonx_str(made, "status.phase"), "Pending");
	server_done(&s);
}

TEST("an update that changes nothing keeps the revision")
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "apps/v1/deployments", "default", NULL, DEPLOYMENT("d", "2"));
	json_auto_t *first = server_ask(&s, VERB_GET, "apps/v1/deployments", "default", "d", NULL);
	json_auto_t *same = server_ask(&s, VERB_UPDATE, "apps/v1/deployments", "default", "d", DEPLOYMENT("d", "2"));
	CHECK_INT(s.code, 200);
	CHECK(jsonx_equal(first, same));
	CHECK_INT(store_revision(s.store), revision(first));
	server_done(&s);
}

TEST("the generation counts changes of the spec and nothing else")
{
	static const struct {
		const char *patch;
		int64_t generation;
	} rows[] = {
		{ "{'metadata':{'labels':{'x':'y'}}}", 1 }, { "{'spec':{'replicas':5}}", 2 },
		{ "{'spec':{'replicas':5}}", 2 },           { "{'status':{'replicas':5}}", 2 },
		{ "{'metadata':{'generation':50}}", 2 },    { "{'spec':{'paused':true}}", 3 },
	};
	struct server s = server_new();
	int64_t last = 0;

	server_do(&s, VERB_CREATE, "apps/v1/deployments", "default", NULL, DEPLOYMENT("d", "2"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_PATCH, "apps/v1/deployments", "default", "d");
		json_auto_t *got = NULL;

		req.patch = PATCH_MERGE;
		got = server_call(&s, &req, rows[i].patch);
		CHECK_INT(jsonx_int_or(got, "metadata.generation", 0), rows[i].generation);
		CHECK(!jsonx_int_or(got, "status.replicas", 0));
		CHECK(revision(got) >= last);
		last = revision(got);
	}
	server_done(&s);
}

TEST("an update of an older state is a conflict, one without a revision is not")
{
	struct server s = server_new();
	auto_free char *stale = NULL;

	server_make_map(&s, "m", "{}");
	json_auto_t *first = server_ask(&s, VERB_GET, "v1/configmaps", "default", "m", NULL);
	server_do(&s, VERB_UPDATE, "v1/configmaps", "default", "m", "{'metadata':{'name':'m'},'data':{'k':'1'}}");
	stale = xasprintf("{'metadata':{'name':'m','resourceVersion':'%s'},'data':{'k':'2'}}",
			  jsonx_str(first, "metadata.resourceVersion"));
	json_auto_t *refused = server_ask(&s, VERB_UPDATE, "v1/configmaps", "default", "m", stale);
	CHECK(!refused);
	CHECK_INT(s.code, 409);
	CHECK_STR(s.message, "Operation cannot be fulfilled on configmaps \"m\": the object has been modified; please "
			     "apply your changes to the latest version and try again");
	json_auto_t *taken = server_ask(&s, VERB_UPDATE, "v1/configmaps", "default", "m",
					"{'metadata':{'name':'m','resourceVersion':'0'},'data':{'k':'3'}}");
	CHECK_STR(jsonx_str(taken, "data.k"), "3");
	CHECK_STR(jsonx_str(taken, "metadata.uid"), jsonx_str(first, "metadata.uid"));
	server_done(&s);
}

TEST("a dry run answers like the real thing and changes nothing")
{
	struct server s = server_new();
	struct api_request create = server_request(&s, VERB_CREATE, "v1/configmaps", "default", NULL);
	struct api_request update = server_request(&s, VERB_UPDATE, "v1/configmaps", "default", "m");
	struct api_request delete = server_request(&s, VERB_DELETE, "v1/configmaps", "default", "m");
	int64_t before;

	server_make_map(&s, "m", "{}");
	before = store_revision(s.store);
	create.dry_run = update.dry_run = delete.dry_run = true;
	json_auto_t *made = server_call(&s, &create, "{'metadata':{'name':'dry'}}");
	CHECK_INT(s.code, 201);
	CHECK_STR(jsonx_str(made, "metadata.name"), "dry");
	CHECK(jsonx_str(made, "metadata.uid") != NULL);
	json_auto_t *changed = server_call(&s, &update, "{'metadata':{'name':'m'},'data':{'k':'1'}}");
	CHECK_STR(jsonx_str(changed, "data.k"), "1");
	json_auto_t *gone = server_call(&s, &delete, NULL);
	CHECK_STR(jsonx_str(gone, "status"), "Success");
	CHECK_INT(store_revision(s.store), before);
	CHECK(!server_has(&s, "v1/configmaps", "default", "dry"));
	CHECK(server_has(&s, "v1/configmaps", "default", "m"));
	server_done(&s);
}

TEST("the status door changes the status and the main door does not")
{
	struct server s = server_new();
	struct api_request status = server_request(&s, VERB_PATCH, "v1/pods", "default", "p");
	struct api_request whole = server_request(&s, VERB_PATCH, "v1/pods", "default", "p");

	server_make_pod(&s, "p");
	status.subresource = "status";
	status.patch = whole.patch = PATCH_MERGE;
	json_auto_t *a = server_call(&s, &status,
				     "{'metadata':{'labels':{'x':'y'}},'spec':{'nodeName':'n'},'status':{'phase':"
				     "'Running'}}");
	CHECK_STR(jsonx_str(a, "status.phase"), "Running");
	CHECK(!jsonx_at(a, "metadata.labels.x"));
	CHECK(!jsonx_at(a, "spec.nodeName"));
	json_auto_t *b = server_call(&s, &whole, "{'metadata':{'labels':{'x':'y'}},'status':{'phase':'Failed'}}");
	CHECK_STR(jsonx_str(b, "status.phase"), "Running");
	CHECK_STR(jsonx_str(b, "metadata.labels.x"), "y");
	server_done(&s);
}

TEST("a patch changes no state that someone else has seen")
{
	static const char *const patches[] = { "{'metadata':{'labels':{'x':'y'}}}",
					       "{'spec':{'activeDeadlineSeconds':5}}",
					       "{'metadata':{'annotations':{'a':'b'}},'status':{'phase':'Failed'}}" };
	struct server s = server_new();

	server_make_pod(&s, "p");
	for (size_t i = 0; i < 2 * ARRAY_SIZE(patches); i++) {
		struct api_request get = server_request(&s, VERB_GET, "v1/pods", "default", "p");
		struct api_request req = server_request(&s, VERB_PATCH, "v1/pods", "default", "p");
		json_auto_t *before = NULL;
		json_auto_t *copy = NULL;

		get.decoded = true;
		before = server_call(&s, &get, NULL);
		copy = jsonx_copy(before);
		req.patch = i % 2 ? PATCH_STRATEGIC : PATCH_MERGE;
		req.subresource = strstr(patches[i / 2], "status") ? "status" : NULL;
		json_auto_t *after = server_call(&s, &req, patches[i / 2]);
		CHECK(after != NULL);
		CHECK(json_equal(before, copy));
		CHECK(i % 2 || !json_equal(before, after));
	}
	server_done(&s);
}

TEST("what a kind always puts into metadata comes back when a patch takes it out")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_PATCH, "v1/namespaces", "", "default");

	req.patch = PATCH_MERGE;
	json_auto_t *a = server_call(&s, &req, "{'metadata':{'labels':{'kubernetes.io/metadata.name':null,'x':'y'}}}");
	json_t *labels = jsonx_at(a, "metadata.labels");
	CHECK_STR(json_string_value(json_object_get(labels, "kubernetes.io/metadata.name")), "default");
	CHECK_STR(json_string_value(json_object_get(labels, "x")), "y");
	server_done(&s);
}

TEST("a verb or subresource that a kind does not have is not found or not allowed")
{
	static const struct {
		enum verb verb;
		const char *what, *sub;
		int code;
	} rows[] = {
		{ VERB_CREATE, "v1/pods", "nonsense", 404 },
		{ VERB_DELETE, "v1/pods", "status", 405 },
		{ VERB_UPDATE, "v1/pods", "binding", 405 },
		{ VERB_GET, "v1/configmaps", "status", 404 },
		{ VERB_GET, "authorization.k8s.io/v1/subjectaccessreviews", NULL, 405 },
		{ VERB_GET, "v1/pods", "log", 404 },
	};
	struct server s = server_new();

	server_make_pod(&s, "p");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, rows[i].verb, rows[i].what, "default", "p");
		json_auto_t *got = NULL;

		req.subresource = rows[i].sub;
		got = server_call(&s, &req, "{}");
		CHECK(!got);
		CHECK_INT(s.code, rows[i].code);
	}
	server_done(&s);
}

TEST("warnings come with the answer")
{
	struct server s = server_new();
	json_auto_t *made = server_ask(&s, VERB_CREATE, "v1/configmaps", "default", NULL,
				       "{'metadata':{'name':'w'},'colour':'red'}");

	CHECK(made != NULL);
	CHECK_JSON(s.warnings, "['unknown field `'colour`'']");
	server_done(&s);
}

TEST("a namespace's finalizers are names, by whatever door they come")
{
	static const struct {
		const char *body;
		int code;
	} rows[] = {
		{ "{'spec':{'finalizers':[1]}}", 400 },
		{ "{'spec':{'finalizers':[{'a':'b'}]}}", 400 },
		{ "{'spec':{'finalizers':'kubernetes'}}", 400 },
		{ "['kubernetes']", 400 },
		{ "{'spec':{'finalizers':['kubernetes','example.com/mine']}}", 200 },
		{ "{'spec':{'finalizers':[]}}", 200 },
	};
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'n'}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_UPDATE, "v1/namespaces", "", "n");

		req.subresource = "finalize";
		json_decref(server_call(&s, &req, rows[i].body));
		CHECK_INT(s.code, rows[i].code);
	}
	server_done(&s);
}

TEST("who is not allowed is refused before anything else is looked at")
{
	static const char *const groups[] = { "system:authenticated", NULL };
	const struct caller nobody = { .user = "eve", .uid = "", .groups = groups };
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_CREATE, "v1/configmaps", "default", NULL);

	req.caller = &nobody;
	json_auto_t *made = server_call(&s, &req, "{'kind':'Nonsense'}");
	CHECK(!made);
	CHECK_INT(s.code, 403);
	CHECK_STR(s.message, "configmaps is forbidden: User \"eve\" cannot create resource \"configmaps\" in API group "
			     "\"\" in the namespace \"default\"");
	server_done(&s);
}

TEST("the manager of a write is its name, or the client's up to the slash")
{
	static const struct {
		const char *manager, *agent, *want;
	} rows[] = {
		{ "me", "kubectl/v1", "me" },
		{ "", "kubectl/v1.32 (linux)", "kubectl" },
		{ NULL, "curl", "curl" },
		{ NULL, NULL, "unknown" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = { .field_manager = rows[i].manager, .user_agent = rows[i].agent };
		char buf[32];

		CHECK_STR(write_manager(&req, buf, sizeof(buf)), rows[i].want);
	}
}

TEST("what was written is there after a restart, under the same revision")
{
	struct server s = server_new();
	int64_t before;

	server_make_map(&s, "m", "{'a':'b'}");
	json_auto_t *made = server_ask(&s, VERB_GET, "v1/configmaps", "default", "m", NULL);
	before = store_revision(s.store);
	server_close(&s);
	server_open(&s);
	json_auto_t *again = server_ask(&s, VERB_GET, "v1/configmaps", "default", "m", NULL);
	CHECK(jsonx_equal(made, again));
	CHECK_INT(store_revision(s.store), before);
	server_done(&s);
}
