// SPDX-License-Identifier: Apache-2.0
#include "api/exchange.h"

#include "api/audit.h"
#include "front.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

TEST("absent, 0 and false are no, anything else is yes")
{
	static const struct {
		const char *query, *name;
		bool want;
	} rows[] = {
		{ "{}", "watch", false },
		{ "{'watch':'0'}", "watch", false },
		{ "{'watch':'false'}", "watch", false },
		{ "{'watch':'False'}", "watch", false },
		{ "{'watch':''}", "watch", true },
		{ "{'watch':'1'}", "watch", true },
		{ "{'watch':'yes'}", "watch", true },
		{ "{'other':'1'}", "watch", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct exchange x = { .query = sample_json(rows[i].query) };

		CHECK_INT(exchange_flag(&x, rows[i].name), rows[i].want);
		json_decref(x.query);
	}
}

static void send_create(struct front *f, int fd, const char *name)
{
	auto_free char *body = xasprintf("{\"metadata\":{\"name\":\"%s\"}}", name);
	auto_free char *request =
		xasprintf("POST " MAPS " HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);

	front_send(f, fd, request, strlen(request));
}

TEST("a client that goes before the commit is forgotten, and its write stays")
{
	struct front f = front_new();
	int fd = front_connect(&f);

	server_settle(&f.s);
	send_create(&f, fd, "m");
	close(fd); /* both are there when the next turn looks */
	for (int i = 0; i < 20; i++)
		front_turn(&f);
	CHECK(LIST_EMPTY(&f.rest->abandoned));
	CHECK_INT(http_server_connections(f.http), 0);
	CHECK(server_has(&f.s, "v1/configmaps", "default", "m"));
	front_done(&f);
}

TEST("many requests of one turn are one commit, and each has its own answer")
{
	struct front f = front_new();
	int fds[8];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = front_connect(&f);
	server_settle(&f.s);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		auto_free char *name = xasprintf("m%zu", i / 2); /* each name twice */

		send_create(&f, fds[i], name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		sbuf_reset(&f.body);
		front_receive(&f, fds[i], "\r\n\r\n");
		CHECK(str_starts(f.body.p, i % 2 ? "HTTP/1.1 409" : "HTTP/1.1 201"));
		close(fds[i]);
	}
	CHECK(LIST_EMPTY(&f.rest->abandoned));
	sbuf_reset(&f.body);
	front_done(&f);
}

TEST("a server that stops with requests under way leaves nothing behind")
{
	struct front f = front_new();
	int fd = front_connect(&f);
	int watch = front_connect(&f);

	server_settle(&f.s);
	front_send(&f, watch, "GET " MAPS "?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n",
		   strlen("GET " MAPS "?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n"));
	server_settle(&f.s);
	send_create(&f, fd, "m");
	front_done(&f);
	close(fd);
	close(watch);
}

TEST("writes and refusals are in the audit log, reads are not")
{
	struct front f = front_new();
	auto_free char *path = xasprintf("%s/audit.log", f.s.dir);
	struct err e = ERR_INIT;
	char text[8192] = "";
	FILE *log;

	front_ask(&f, "POST " MAPS, "User-Agent: test/1\r\n", "{'metadata':{'name':'m'}}");
	front_ask(&f, "GET " MAPS "/m", "", NULL);
	front_ask(&f, "GET " MAPS, "Impersonate-User: eve\r\n", NULL);
	front_ask(&f, "GET /secret/door", "Impersonate-User: eve\r\n", NULL);
	front_ask(&f, "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "",
		  "{'spec':{'resourceAttributes':{'verb':'get','resource':'pods'}}}");
	CHECK_INT(f.code, 201);
	server_settle(&f.s);
	log = fopen(path, "r");
	CHECK(log && fread(text, 1, sizeof(text) - 1, log) > 0);
	if (log)
		fclose(log);
	CHECK_INT(audit_check(path, &e), 0);
	CHECK(strstr(text, "\"verb\":\"create\"") && strstr(text, "\"name\":\"m\"") && strstr(text, "test/1"));
	CHECK(strstr(text, "\"user\":\"eve\"") && strstr(text, "\"code\":403"));
	CHECK(strstr(text, "/secret/door") != NULL);
	CHECK(!strstr(text, "\"verb\":\"get\",\"group\":\"\""));
	CHECK(!strstr(text, "selfsubjectaccessreviews"));
	front_done(&f);
}

TEST("a blocked eviction says when to come back")
{
	struct front f = front_new();
	struct api_request status;

	server_make_pod(&f.s, "p");
	status = server_request(&f.s, VERB_PATCH, "v1/pods", "default", "p");
	status.subresource = "status";
	status.patch = PATCH_MERGE;
	json_auto_t *running = server_call(&f.s, &status, "{'status':{'phase':'Running'}}");
	CHECK(running != NULL);
	server_do(&f.s, VERB_CREATE, "policy/v1/poddisruptionbudgets", "default", NULL,
		  "{'metadata':{'name':'b'},'spec':{'minAvailable':1,'selector':{}}}");
	status = server_request(&f.s, VERB_PATCH, "policy/v1/poddisruptionbudgets", "default", "b");
	status.patch = PATCH_MERGE;
	status.subresource = "status";
	json_auto_t *counted = server_call(&f.s, &status, "{'status':{'observedGeneration':1}}");
	status.subresource = NULL;
	json_auto_t *changed = server_call(&f.s, &status, "{'spec':{'minAvailable':2}}");
	CHECK(counted && changed);
	CHECK_INT(front_ask(&f, "POST /api/v1/namespaces/default/pods/p/eviction", "", "{}"), 429);
	CHECK(strstr(f.head, "Retry-After: 10") != NULL);
	front_done(&f);
}
