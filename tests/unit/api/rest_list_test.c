// SPDX-License-Identifier: Apache-2.0
#include "front.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

/* n ConfigMaps of `bytes` each. */
static void make_maps(struct front *f, int n, size_t bytes)
{
	auto_free char *big = xmalloc(bytes + 1);

	memset(big, 'x', bytes);
	big[bytes] = '\0';
	f->s.batch = true;
	for (int i = 0; i < n; i++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'m%04d'},'data':{'k':'%s'}}", i, big);

		server_do(&f->s, VERB_CREATE, "v1/configmaps", "default", NULL, body);
	}
	f->s.batch = false;
	server_turn(&f->s);
}

TEST("a long list comes in pieces that make one document")
{
	struct front f = front_new();
	json_t *item;
	size_t i;

	make_maps(&f, 40, 50000);
	CHECK_INT(front_ask(&f, "GET " MAPS, "", NULL), 200);
	CHECK(strcasestr(f.head, "chunked") != NULL);
	json_auto_t *list = front_json(&f);
	CHECK_STR(jsonx_str(list, "kind"), "ConfigMapList");
	CHECK_INT(json_array_size(json_object_get(list, "items")), 40);
	json_array_foreach (json_object_get(list, "items"), i, item) {
		auto_free char *name = xasprintf("m%04zu", i);

		CHECK_STR(jsonx_str(item, "metadata.name"), name);
	}
	CHECK(jsonx_str(list, "metadata.resourceVersion") != NULL);
	front_done(&f);
}

TEST("a long list in YAML or indented is whole as well")
{
	struct front f = front_new();

	make_maps(&f, 20, 50000);
	CHECK_INT(front_ask(&f, "GET " MAPS "?pretty=1", "", NULL), 200);
	json_auto_t *list = front_json(&f);
	CHECK_INT(json_array_size(json_object_get(list, "items")), 20);
	CHECK_INT(front_ask(&f, "GET " MAPS, "Accept: application/yaml\r\n", NULL), 200);
	CHECK(f.body.n > 20 * 50000);
	CHECK(strstr(f.body.p, "\nkind: ConfigMapList\n") != NULL);
	front_done(&f);
}

TEST("pages lead from one to the next, and tables have them too")
{
	static const char *const accepts[] = { "application/json", "application/json;as=Table;v=v1;g=meta.k8s.io" };
	struct front f = front_new();

	make_maps(&f, 5, 10);
	for (size_t i = 0; i < ARRAY_SIZE(accepts); i++) {
		auto_free char *accept = xasprintf("Accept: %s\r\n", accepts[i]);
		auto_free char *next = xstrdup("GET " MAPS "?limit=2");
		const char *rows = i ? "rows" : "items";
		size_t n = 0;
		int pages = 0;

		while (next && pages++ < 9) {
			json_auto_t *list = NULL;

			CHECK_INT(front_ask(&f, next, accept, NULL), 200);
			list = front_json(&f);
			n += json_array_size(json_object_get(list, rows));
			free(TAKE(next));
			if (jsonx_str(list, "metadata.continue"))
				next = xasprintf("GET " MAPS "?limit=2&continue=%s",
						 jsonx_str(list, "metadata.continue"));
			CHECK_INT(jsonx_int_or(list, "metadata.remainingItemCount", 0), next ? 5 - (int64_t)n : 0);
		}
		CHECK_INT(n, 5);
		CHECK_INT(pages, 3);
	}
	front_done(&f);
}

TEST("a client that goes away in the middle of a list costs nothing")
{
	struct front f = front_new();
	int fd;

	make_maps(&f, 60, 50000);
	fd = front_connect(&f);
	front_send(&f, fd, "GET " MAPS " HTTP/1.1\r\nHost: x\r\n\r\n",
		   strlen("GET " MAPS " HTTP/1.1\r\nHost: x\r\n\r\n"));
	front_receive(&f, fd, "m0001");
	close(fd);
	for (int i = 0; i < 20; i++)
		front_turn(&f);
	CHECK_INT(http_server_connections(f.http), 0);
	sbuf_reset(&f.body);
	CHECK_INT(front_ask(&f, "GET " MAPS "?limit=1", "", NULL), 200);
	front_done(&f);
}
