// SPDX-License-Identifier: Apache-2.0
#include "api/rest.h"

#include "front.h"

TEST("a path and a method lead to one verb of one resource, or to the right refusal")
{
	static const struct {
		const char *line;
		int code;
		const char *kind; /* of the answer */
	} rows[] = {
		{ "GET /api/v1/namespaces", 200, "NamespaceList" },
		{ "GET /api/v1/namespaces/default", 200, "Namespace" },
		{ "GET /api/v1/namespaces/default/status", 200, "Namespace" },
		{ "GET /api/v1/namespaces/default/configmaps", 200, "ConfigMapList" },
		{ "GET /api/v1/configmaps", 200, "ConfigMapList" },
		{ "GET /api/v1/namespaces/default/services/kubernetes", 200, "Service" },
		{ "GET //api//v1/namespaces/default/", 200, "Namespace" },
		{ "GET /api/v1/namespaces/d%65fault", 200, "Namespace" },
		{ "GET /apis/apps/v1/namespaces/default/deployments", 200, "DeploymentList" },
		{ "GET /apis/apps/v1/deployments?labelSelector=a%3Db&limit=3", 200, "DeploymentList" },
		{ "GET /api/v1/nothings", 404, "Status" },
		{ "GET /api/v2/pods", 404, "Status" },
		{ "GET /apis/apps/v9/deployments", 404, "Status" },
		{ "GET /apis/nothing.org/v1/things", 404, NULL },
		{ "POST /apis/nothing.org/v1/things", 404, NULL },
		{ "GET /nothing", 404, "Status" },
		{ "GET /api/v1/namespaces/default/nodes", 404, "Status" },
		{ "GET /api/v1/services/kubernetes", 404, "Status" },
		{ "GET /api/v1/namespaces/default/pods/p/log/x", 404, "Status" },
		{ "GET /api/v1/a/b/c/d/e/f/g/h/i/j/k/l/m", 404, "Status" },
		{ "GET /api/v1/namespaces/%2e%2e", 400, "Status" },
		{ "GET /api/v1/namespaces/a%2Fb", 400, "Status" },
		{ "GET /api/v1/namespaces/%zz", 400, "Status" },
		{ "GET /api/v1/namespaces?limit=%zz", 400, "Status" },
		{ "GET /api/v1/namespaces?limit=many", 400, "Status" },
		{ "GET /api/v1/namespaces?labelSelector=!!", 400, "Status" },
		{ "GET /api/v1/namespaces?fieldSelector=colour=red", 400, "Status" },
		{ "GET /api/v1/namespaces?continue=zzz", 400, "Status" },
		{ "POST /api/v1/configmaps", 400, "Status" },
		{ "POST /api/v1/namespaces/default", 405, "Status" },
		{ "PUT /api/v1/namespaces/default/configmaps", 405, "Status" },
		{ "PATCH /api/v1/namespaces", 405, "Status" },
		{ "OPTIONS /api/v1/namespaces", 405, "Status" },
		{ "DELETE /api/v1/namespaces", 405, "Status" },
		{ "POST /version", 405, "Status" },
		{ "DELETE /api/v1/namespaces/default/configmaps/absent?dryRun=Some", 422, "Status" },
		{ "DELETE /api/v1/namespaces/default/configmaps/absent?gracePeriodSeconds=-1", 422, "Status" },
		{ "DELETE /api/v1/namespaces/default/configmaps/absent?propagationPolicy=Maybe", 422, "Status" },
		{ "DELETE /api/v1/namespaces/default/configmaps/absent", 404, "Status" },
		{ "DELETE /api/v1/namespaces/default/configmaps", 200, "Status" },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *doc = NULL;

		front_ask(&f, rows[i].line, "", NULL);
		doc = front_json(&f);
		if (f.code != rows[i].code || !str_same(jsonx_str(doc, "kind"), rows[i].kind))
			test_fail(__FILE__, __LINE__, "%s gives %d %s", rows[i].line, f.code, f.body.p ? f.body.p : "");
	}
	front_done(&f);
}

TEST("HEAD answers like GET without a body")
{
	struct front f = front_new();

	CHECK_INT(front_ask(&f, "HEAD /api/v1/namespaces/default", "", NULL), 200);
	CHECK_INT(f.body.n, 0);
	CHECK_INT(front_ask(&f, "HEAD /api/v1/namespaces/absent", "", NULL), 404);
	CHECK_INT(front_ask(&f, "HEAD /api/v1/namespaces?watch=1", "", NULL), 200); /* a list, and it ends */
	CHECK_INT(f.body.n, 0);
	front_done(&f);
}

TEST("the forms of a reply follow the Accept header")
{
	static const struct {
		const char *line, *accept;
		int code;
		const char *type, *start;
	} rows[] = {
		{ "GET /api/v1/namespaces/default", "application/json", 200, "application/json",
		  "{\"kind\":\"Namespace\"" },
		{ "GET /api/v1/namespaces/default", "application/yaml", 200, "application/yaml", "apiVersion: v1\n" },
		{ "GET /api/v1/namespaces", "application/yaml", 200, "application/yaml", "apiVersion: v1\n" },
		{ "GET /api/v1/namespaces/default", "application/json;as=Table;v=v1;g=meta.k8s.io", 200,
		  "application/json", "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\"" },
		{ "GET /api/v1/namespaces", "application/json;as=Table;v=v1beta1;g=meta.k8s.io", 200,
		  "application/json", "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1beta1\"" },
		{ "GET /api/v1/namespaces/default", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", 200,
		  "application/json", "{\"kind\":\"PartialObjectMetadata\"" },
		{ "GET /api/v1/namespaces", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", 200,
		  "application/json", "{\"kind\":\"PartialObjectMetadataList\"" },
		{ "GET /api/v1/namespaces", "text/html", 406, "application/json", "{\"kind\":\"Status\"" },
		{ "GET /api/v1/namespaces/absent", "application/json;as=Table;v=v1;g=meta.k8s.io", 404,
		  "application/json", "{\"kind\":\"Status\"" },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *headers = xasprintf("Accept: %s\r\n", rows[i].accept);
		auto_free char *type = xasprintf("Content-Type: %s\r\n", rows[i].type);

		front_ask(&f, rows[i].line, headers, NULL);
		CHECK_INT(f.code, rows[i].code);
		if (!strstr(f.head, type))
			test_fail(__FILE__, __LINE__, "no %s in %s", type, f.head);
		if (!str_starts(f.body.p ? f.body.p : "", rows[i].start))
			test_fail(__FILE__, __LINE__, "%s gives %.80s", rows[i].accept, f.body.p);
	}
	front_done(&f);
}

TEST("people get indented text, programs do not, and both may ask")
{
	static const struct {
		const char *line, *agent;
		bool indented;
	} rows[] = {
		{ "GET /api/v1/namespaces/default", "kubectl/v1", false },
		{ "GET /api/v1/namespaces/default", "curl/8", true },
		{ "GET /api/v1/namespaces/default", "Mozilla/5.0 (X11)", true },
		{ "GET /api/v1/namespaces/default?pretty=0", "curl/8", false },
		{ "GET /api/v1/namespaces/default?pretty=true", "kubectl/v1", true },
		{ "GET /api/v1/namespaces?pretty=1", "kubectl/v1", true },
		{ "GET /version", "curl/8", true },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *agent = xasprintf("User-Agent: %s\r\n", rows[i].agent);

		CHECK_INT(front_ask(&f, rows[i].line, agent, NULL), 200);
		CHECK_INT(str_starts(f.body.p, "{\n  "), rows[i].indented);
	}
	front_done(&f);
}

TEST("a path with more than it may have is still an answer")
{
	struct front f = front_new();
	auto_sbuf struct sbuf line = SBUF(16384);

	sbuf_adds(&line, "GET /api/v1/namespaces?");
	for (int i = 0; i < 70; i++)
		sbuf_addf(&line, "p%d=%d&", i, i);
	CHECK_INT(front_ask(&f, line.p, "", NULL), 400);
	front_done(&f);
}

TEST("a request that is no HTTP gets a Status")
{
	struct front f = front_new();
	int fd = front_connect(&f);

	front_send(&f, fd, "NONSENSE\r\n\r\n", 12);
	front_receive(&f, fd, NULL);
	front_cut(&f);
	CHECK_INT(f.code, 400);
	json_auto_t *doc = front_json(&f);
	CHECK_STR(jsonx_str(doc, "kind"), "Status");
	close(fd);
	front_done(&f);
}

TEST("another user may be spoken for by an admin, and then has only its own rights")
{
	struct front f = front_new();

	CHECK_INT(front_ask(&f, "GET /api/v1/namespaces/default/secrets", "Impersonate-User: eve\r\n", NULL), 403);
	json_auto_t *doc = front_json(&f);
	CHECK_STR(jsonx_str(doc, "message"),
		  "secrets is forbidden: User \"eve\" cannot list resource \"secrets\" in API "
		  "group \"\" in the namespace \"default\"");
	CHECK_INT(front_ask(&f, "GET /version", "Impersonate-User: eve\r\n", NULL), 200);
	CHECK_INT(front_ask(&f, "GET /nothing", "Impersonate-User: eve\r\n", NULL), 403);
	CHECK_INT(front_ask(&f, "GET /api/v1/namespaces", "Authorization: Bearer wrong\r\n", NULL), 401);
	CHECK(strstr(f.head, "WWW-Authenticate: Bearer") != NULL);
	front_done(&f);
}
