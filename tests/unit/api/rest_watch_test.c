// SPDX-License-Identifier: Apache-2.0
#include "api/watch.h"
#include "front.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

/* Sends a request and waits for a word of its answer; the connection stays open. */
static int open_watch(struct front *f, const char *path, const char *want)
{
	auto_free char *request = xasprintf("GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	int fd = front_connect(f);

	sbuf_reset(&f->body);
	front_send(f, fd, request, strlen(request));
	front_receive(f, fd, want);
	return fd;
}

TEST("a watch streams, in the new style and the old")
{
	static const char *const paths[] = { MAPS "?watch=1", MAPS "?watch=true&timeoutSeconds=60",
					     "/api/v1/watch/namespaces/default/configmaps",
					     "/api/v1/watch/namespaces/default/configmaps/first" };
	struct front f = front_new();

	server_make_map(&f.s, "first", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		auto_free char *name = xasprintf("new%zu", i);
		int fd = open_watch(&f, paths[i], "\"name\":\"first\"");

		CHECK(strstr(f.body.p, "Transfer-Encoding: chunked") != NULL);
		CHECK(strstr(f.body.p, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"ConfigMap\"") != NULL);
		server_make_map(&f.s, name, "{}");
		if (!str_ends(paths[i], "/first"))
			front_receive(&f, fd, name);
		CHECK_INT(watch_count(api_hub(f.s.api)), 1);
		close(fd);
		for (int k = 0; k < 20 && watch_count(api_hub(f.s.api)); k++)
			front_turn(&f);
		CHECK_INT(watch_count(api_hub(f.s.api)), 0);
	}
	front_done(&f);
}

TEST("the parameters of a watch have their rules")
{
	static const struct {
		const char *query;
		int code;
	} rows[] = {
		{ "resourceVersion=x", 400 },
		{ "timeoutSeconds=soon", 400 },
		{ "resourceVersionMatch=NotOlderThan", 422 },
		{ "sendInitialEvents=true", 422 },
		{ "sendInitialEvents=true&resourceVersionMatch=Exact", 422 },
		{ "sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 422 },
		{ "labelSelector=!!", 400 },
		{ "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion="
		  "999999",
		  504 },
	};
	struct front f = front_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("GET " MAPS "?watch=1&%s", rows[i].query);

		front_ask(&f, line, "", NULL);
		if (f.code != rows[i].code)
			test_fail(__FILE__, __LINE__, "%s gives %d %s", rows[i].query, f.code, f.body.p);
	}
	CHECK_INT(watch_count(api_hub(f.s.api)), 0);
	front_done(&f);
}

TEST("initial events end with a bookmark, and may be left out")
{
	struct front f = front_new();
	int fd;

	server_make_map(&f.s, "first", "{}");
	fd = open_watch(
		&f, MAPS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		"initial-events-end");
	CHECK(strstr(f.body.p, "\"name\":\"first\"") != NULL);
	close(fd);
	fd = open_watch(&f, MAPS "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", "\r\n\r\n");
	server_make_map(&f.s, "second", "{}");
	front_receive(&f, fd, "\"name\":\"second\"");
	CHECK(strstr(f.body.p, "\"name\":\"first\"") == NULL);
	close(fd);
	front_turn(&f);
	front_done(&f);
}

TEST("a watch ends by itself when its time is over")
{
	struct front f = front_new();

	CHECK_INT(front_ask(&f, "GET " MAPS "?watch=1&timeoutSeconds=1&allowWatchBookmarks=1", "", NULL), 200);
	CHECK(str_starts(f.body.p ? f.body.p : "", "{\"type\":\"BOOKMARK\""));
	CHECK_INT(watch_count(api_hub(f.s.api)), 0);
	front_done(&f);
}
