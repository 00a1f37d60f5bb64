// SPDX-License-Identifier: Apache-2.0
#include "front.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

TEST("a body may be JSON or YAML, and must be one of them")
{
	static const struct {
		const char *type, *body;
		int code;
	} rows[] = {
		{ "", "{'metadata':{'name':'a'}}", 201 },
		{ "Content-Type: application/json; charset=utf-8\r\n", "{'metadata':{'name':'b'}}", 201 },
		{ "Content-Type: application/yaml\r\n", "metadata:\n  name: c\n", 201 },
		{ "Content-Type: application/yaml\r\n", "a: [", 400 },
		{ "Content-Type: application/json\r\n", "{'metadata':", 400 },
		{ "Content-Type: application/json\r\n", "", 400 },
		{ "Content-Type: application/json\r\n", "null", 400 },
		{ "Content-Type: text/plain\r\n", "{}", 415 },
		{ "Content-Type: application/vnd.kubernetes.protobuf\r\n", "{}", 400 },
		{ "Content-Type: application/vnd.kubernetes.protobuf\r\n", "k8s", 400 },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		front_ask(&f, "POST " MAPS, rows[i].type, rows[i].body);
		if (f.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d %s", rows[i].body, f.code, f.body.p);
	}
	front_done(&f);
}

TEST("a patch needs the name of its kind")
{
	static const struct {
		const char *type, *body;
		int code;
	} rows[] = {
		{ "application/merge-patch+json", "{'data':{'a':'1'}}", 200 },
		{ "application/strategic-merge-patch+json", "{'data':{'b':'2'}}", 200 },
		{ "application/json-patch+json", "[{'op':'remove','path':'/data/a'}]", 200 },
		{ "application/apply-patch+yaml", "kind: ConfigMap\napiVersion: v1\ndata: {c: '3'}\n", 200 },
		{ "application/json", "{}", 415 },
		{ "application/merge-patch+json", "{", 400 },
	};
	struct front f = front_new();

	server_make_map(&f.s, "m", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *type = xasprintf("Content-Type: %s\r\n", rows[i].type);

		front_ask(&f, "PATCH " MAPS "/m?fieldManager=t", type, rows[i].body);
		if (f.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d %s", rows[i].body, f.code, f.body.p);
	}
	front_done(&f);
}

TEST("parameters of a write are checked")
{
	static const struct {
		const char *query;
		int code;
	} rows[] = {
		{ "?dryRun=All", 201 },
		{ "?dryRun=Some", 422 },
		{ "?fieldValidation=Strict", 400 },
		{ "?fieldValidation=Warn&dryRun=All", 201 },
		{ "?fieldValidation=Ignore&dryRun=All", 201 },
		{ "?fieldValidation=Perhaps", 422 },
		{ "?fieldManager="
		  "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
		  "89012345678901234567890123456789012345678901234567890",
		  422 },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("POST " MAPS "%s", rows[i].query);

		front_ask(&f, line, "", "{'metadata':{'name':'m'},'colour':1}");
		if (f.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d %s", rows[i].query, f.code, f.body.p);
	}
	CHECK(!server_has(&f.s, "v1/configmaps", "default", "m"));
	front_done(&f);
}

TEST("unknown and repeated fields come back as warnings")
{
	struct front f = front_new();

	CHECK_INT(front_ask(&f, "POST " MAPS, "", "{'metadata':{'name':'m'},'colour':1,'data':{'a':'1','a':'2'}}"),
		  201);
	CHECK(strstr(f.head, "Warning: 299 - \"unknown field \\\"colour\\\"\"") != NULL);
	CHECK(strstr(f.head, "Warning: 299 - \"duplicate field \\\"data.a\\\"\"") != NULL);
	front_done(&f);
}

TEST("the options of a delete come from the query or the body")
{
	static const struct {
		const char *query, *body;
		int code;
		const char *left; /* finalizers of what is left, or NULL: it is gone */
	} rows[] = {
		{ "", NULL, 200, NULL },
		{ "?propagationPolicy=Foreground", NULL, 200, "['foregroundDeletion']" },
		{ "?propagationPolicy=Orphan", NULL, 200, "['orphan']" },
		{ "?orphanDependents=true", NULL, 200, "['orphan']" },
		{ "?orphanDependents=false", NULL, 200, NULL },
		{ "", "{'propagationPolicy':'Foreground'}", 200, "['foregroundDeletion']" },
		{ "", "{'kind':'DeleteOptions','apiVersion':'v1','orphanDependents':true}", 200, "['orphan']" },
		{ "", "{'preconditions':{'uid':'x'}}", 409, "" },
		{ "", "{'preconditions':{'resourceVersion':'1'}}", 409, "" },
		{ "", "{'dryRun':['All']}", 200, "" },
		{ "?dryRun=All", NULL, 200, "" },
		{ "", "{'gracePeriodSeconds':-3}", 422, "" },
		{ "", "{'gracePeriodSeconds':'x'}", 422, "" },
		{ "", "{'gracePeriodSeconds':0}", 200, NULL },
		{ "", "{'propagationPolicy':'Later'}", 422, "" },
		{ "", "[]", 400, "" },
		{ "", "{", 400, "" },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *name = xasprintf("m%zu", i);
		auto_free char *line = xasprintf("DELETE " MAPS "/%s%s", name, rows[i].query);
		json_auto_t *left = NULL;

		server_make_map(&f.s, name, "{}");
		front_ask(&f, line, "", rows[i].body);
		if (f.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s %s gives %d %s", line, rows[i].body, f.code, f.body.p);
		left = server_ask(&f.s, VERB_GET, "v1/configmaps", "default", name, NULL);
		CHECK_INT(left != NULL, rows[i].left != NULL);
		if (rows[i].left && *rows[i].left)
			CHECK_JSON(jsonx_at(left, "metadata.finalizers"), rows[i].left);
	}
	front_done(&f);
}
