// SPDX-License-Identifier: Apache-2.0
#include "api/verbs.h"
#include "server.h"

static json_t *patch(struct server *s, enum patch_type type, const char *name, const char *body)
{
	struct api_request req = server_request(s, VERB_PATCH, "v1/configmaps", "default", name);

	req.patch = type;
	return server_call(s, &req, body);
}

TEST("each kind of patch changes the object in its own way")
{
	static const struct {
		enum patch_type type;
		const char *body, *data;
	} rows[] = {
		{ PATCH_MERGE, "{'data':{'b':'2','a':null}}", "{'b':'2'}" },
		{ PATCH_STRATEGIC, "{'data':{'c':'3'}}", "{'b':'2','c':'3'}" },
		{ PATCH_JSON, "[{'op':'remove','path':'/data/b'},{'op':'test','path':'/kind','value':'ConfigMap'}]",
		  "{'c':'3'}" },
		{ PATCH_STRATEGIC, "{'data':{'$patch':'replace','d':'4'}}", "{'d':'4'}" },
		{ PATCH_MERGE, "{}", "{'d':'4'}" },
	};
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL, "{'metadata':{'name':'m'},'data':{'a':'1'}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *got = patch(&s, rows[i].type, "m", rows[i].body);

		CHECK_INT(s.code, 200);
		CHECK_JSON(jsonx_at(got, "data"), rows[i].data);
	}
	server_done(&s);
}

TEST("a patch of a secret's texts changes its data, what it does not name included")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_PATCH, "v1/secrets", "default", "k");
	json_auto_t *got = NULL;

	server_do(&s, VERB_CREATE, "v1/secrets", "default", NULL,
		  "{'metadata':{'name':'k'},'stringData':{'a':'1','b':'2'}}");
	req.patch = PATCH_STRATEGIC;
	json_auto_t *patched = server_call(&s, &req, "{'stringData':{'a':'3'}}");
	CHECK_JSON(json_object_get(patched, "data"), "{'a':'Mw==','b':'Mg=='}");
	got = server_ask(&s, VERB_GET, "v1/secrets", "default", "k", NULL);
	CHECK_JSON(json_object_get(got, "data"), "{'a':'Mw==','b':'Mg=='}");
	server_done(&s);
}

TEST("a patch that cannot be done changes nothing")
{
	static const struct {
		enum patch_type type;
		const char *name, *body;
		int code;
	} rows[] = {
		{ PATCH_MERGE, "absent", "{}", 404 },
		{ PATCH_MERGE, "m", "[]", 400 },
		{ PATCH_STRATEGIC, "m", "'x'", 400 },
		{ PATCH_JSON, "m", "{}", 400 },
		{ PATCH_JSON, "m", "[{'op':'test','path':'/data/a','value':'9'}]", 422 },
		{ PATCH_JSON, "m", "[{'op':'replace','path':'','value':7}]", 400 },
		{ PATCH_MERGE, "m", "{'metadata':{'name':'other'}}", 400 },
		{ PATCH_MERGE, "m", "{'metadata':{'uid':'other'}}", 422 },
		{ PATCH_MERGE, "m", "{'metadata':{'resourceVersion':'1'}}", 409 },
		{ PATCH_MERGE, "m", "{'data':{'a':7}}", 400 },
		{ PATCH_MERGE, "m", "{'kind':'Secret'}", 400 },
		{ PATCH_MERGE, "m", "{'data':{'../a':'x'}}", 422 },
	};
	struct server s = server_new();
	int64_t before;

	server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL, "{'metadata':{'name':'m'},'data':{'a':'1'}}");
	before = store_revision(s.store);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *got = patch(&s, rows[i].type, rows[i].name, rows[i].body);

		if (got || s.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d: %s", rows[i].body, s.code, s.message);
	}
	CHECK_INT(store_revision(s.store), before);
	server_done(&s);
}

TEST("an apply may create, takes fields over only by force, and removes what it no longer names")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_PATCH, "v1/configmaps", "default", "m");
	int64_t before;

	req.patch = PATCH_APPLY;
	req.field_manager = "one";
	json_auto_t *made = server_call(
		&s, &req, "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m'},'data':{'a':'1','b':'1'}}");
	CHECK_INT(s.code, 201);
	before = store_revision(s.store);
	json_auto_t *same = server_call(
		&s, &req, "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m'},'data':{'a':'1','b':'1'}}");
	CHECK_INT(s.code, 200);
	CHECK_INT(store_revision(s.store), before);
	CHECK(jsonx_equal(made, same));
	req.field_manager = "two";
	json_auto_t *conflict = server_call(&s, &req, "{'kind':'ConfigMap','apiVersion':'v1','data':{'a':'2'}}");
	CHECK(!conflict);
	CHECK_INT(s.code, 409);
	CHECK_INT(s.e.causes[0].kind, CAUSE_MANAGER);
	req.force = true;
	json_auto_t *forced = server_call(&s, &req, "{'kind':'ConfigMap','apiVersion':'v1','data':{'a':'2'}}");
	CHECK_JSON(jsonx_at(forced, "data"), "{'a':'2','b':'1'}");
	req.field_manager = "one";
	req.force = false;
	json_auto_t *fewer = server_call(&s, &req, "{'kind':'ConfigMap','apiVersion':'v1','data':{}}");
	CHECK_JSON(jsonx_at(fewer, "data"), "{'a':'2'}");
	server_done(&s);
}

TEST("an apply must say who applies and what")
{
	static const struct {
		const char *manager, *body;
		int code;
	} rows[] = {
		{ NULL, "{'kind':'ConfigMap','apiVersion':'v1'}", 422 },
		{ "", "{'kind':'ConfigMap','apiVersion':'v1'}", 422 },
		{ "one", "[]", 400 },
		{ "one", "{'apiVersion':'v1'}", 400 },
		{ "one", "{'kind':'ConfigMap'}", 400 },
		{ "one", "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'x'}}", 400 },
		{ "one", "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'managedFields':[{}]}}", 400 },
	};
	struct server s = server_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_PATCH, "v1/configmaps", "default", "m");
		json_auto_t *got = NULL;

		req.patch = PATCH_APPLY;
		req.field_manager = rows[i].manager;
		got = server_call(&s, &req, rows[i].body);
		CHECK(!got);
		if (s.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d: %s", rows[i].body, s.code, s.message);
	}
	CHECK(!server_has(&s, "v1/configmaps", "default", "m"));
	server_done(&s);
}
