// SPDX-License-Identifier: Apache-2.0
#include "front.h"

TEST("every document has its path")
{
	static const struct {
		const char *path;
		int code;
		const char *part; /* of the body */
	} rows[] = {
		{ "/", 200, "\"paths\":[\"/api\"" },
		{ "/healthz", 200, "ok" },
		{ "/livez", 200, "ok" },
		{ "/readyz", 200, "ok" },
		{ "/readyz?verbose", 200, "[+]store ok\nreadyz check passed\n" },
		{ "/readyz/store", 200, "ok" },
		{ "/version", 200, "\"gitVersion\":" },
		{ "/api", 200, "\"kind\":\"APIVersions\"" },
		{ "/api/v1", 200, "\"kind\":\"APIResourceList\"" },
		{ "/apis", 200, "\"kind\":\"APIGroupList\"" },
		{ "/apis/apps", 200, "\"kind\":\"APIGroup\"" },
		{ "/apis/apps/v1", 200, "\"groupVersion\":\"apps/v1\"" },
		{ "/openapi/v2", 200, "\"swagger\":\"2.0\"" },
		{ "/openapi/v3", 200, "\"paths\":{" },
		{ "/openapi/v3/apis/apps/v1", 200, "\"openapi\":\"3" },
		{ "/api/v2", 404, "\"reason\":\"NotFound\"" },
		{ "/apis/nothing", 404, "404 page not found\n" },
		{ "/apis/nothing/v1", 404, "404 page not found\n" },
		{ "/apis/apps/v9", 404, "\"reason\":\"NotFound\"" },
		{ "/openapi", 404, "\"reason\":\"NotFound\"" },
		{ "/openapi/v4", 404, "\"reason\":\"NotFound\"" },
		{ "/openapi/v3/apis/nothing/v1", 404, "\"reason\":\"NotFound\"" },
		{ "/version/more", 404, "\"reason\":\"NotFound\"" },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("GET %s", rows[i].path);

		front_ask(&f, line, "", NULL);
		if (f.code != rows[i].code || !f.body.p || !strstr(f.body.p, rows[i].part))
			test_fail(__FILE__, __LINE__, "%s gives %d %.200s", line, f.code, f.body.p ? f.body.p : "");
	}
	front_done(&f);
}

TEST("aggregated discovery says so in its type")
{
	static const struct {
		const char *path, *version, *part;
	} rows[] = {
		{ "/api", "v2", "\"resource\":\"pods\"" },
		{ "/apis", "v2", "\"resource\":\"deployments\"" },
		{ "/apis", "v2beta1", "\"resource\":\"deployments\"" },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("GET %s", rows[i].path);
		auto_free char *type = xasprintf("application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList",
						 rows[i].version);
		auto_free char *accept = xasprintf("Accept: %s,application/json\r\n", type);

		CHECK_INT(front_ask(&f, line, accept, NULL), 200);
		CHECK(strstr(f.head, type) != NULL);
		CHECK(strstr(f.body.p, rows[i].part) != NULL);
	}
	front_done(&f);
}

TEST("a client that has the OpenAPI document already is told so, until a kind comes")
{
	static const char *const paths[] = { "/openapi/v2", "/openapi/v3/apis/apps/v1" };
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		auto_free char *line = xasprintf("GET %s", paths[i]);
		auto_free char *header = NULL;
		const char *etag;

		CHECK_INT(front_ask(&f, line, "", NULL), 200);
		etag = strcasestr(f.head, "ETag: ");
		CHECK(etag != NULL);
		header = xasprintf("If-None-Match: %.*s\r\n", (int)strcspn(etag + 6, "\r"), etag + 6);
		CHECK_INT(front_ask(&f, line, header, NULL), 304);
		CHECK_INT(f.body.n, 0);
		CHECK_INT(front_ask(&f, line, "If-None-Match: \"other\"\r\n", NULL), 200);
		if (i > 0)
			continue;
		server_do(
			&f.s, VERB_CREATE, "apiextensions.k8s.io/v1/customresourcedefinitions", "", NULL,
			"{'metadata':{'name':'widgets.example.org'},'spec':{'group':'example.org','scope':'Namespaced',"
			"'names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':"
			"true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}");
		CHECK_INT(front_ask(&f, line, header, NULL), 200);
		CHECK(strstr(f.body.p, "org.example.v1.Widget") != NULL);
	}
	front_done(&f);
}
