// SPDX-License-Identifier: Apache-2.0
/* counters_test.c - /metrics: requests and objects, as they are */
#include "api/counters.h"

#include "base/clock.h"
#include "front.h"

static void add_more(void *arg, struct sbuf *out)
{
	sbuf_adds(out, arg);
}

static bool says(struct front *f, const char *line)
{
	CHECK_INT(front_ask(f, "GET /metrics", "", NULL), 200);
	return strstr(f->body.p, line) != NULL;
}

#define REQUESTS                                                                                                       \
	"\napiserver_request_total{verb=\"%s\",group=\"%s\",version=\"v1\",resource=\"%s\",subresource=\"\",code=\"%"  \
	"s\"} %d\n"

TEST("requests are counted by what they asked for and how they ended")
{
	static const struct {
		const char *verb, *group, *resource, *code;
		int n;
	} rows[] = {
		{ "POST", "", "configmaps", "201", 2 },   { "POST", "", "configmaps", "409", 1 },
		{ "GET", "", "configmaps", "404", 1 },    { "LIST", "apps", "deployments", "200", 1 },
		{ "DELETE", "", "configmaps", "200", 1 },
	};
	struct front f = front_new();

	front_ask(&f, "POST /api/v1/namespaces/default/configmaps", "", "{'metadata':{'name':'a'}}");
	front_ask(&f, "POST /api/v1/namespaces/default/configmaps", "", "{'metadata':{'name':'b'}}");
	front_ask(&f, "POST /api/v1/namespaces/default/configmaps", "", "{'metadata':{'name':'b'}}");
	front_ask(&f, "GET /api/v1/namespaces/default/configmaps/c", "", NULL);
	front_ask(&f, "GET /apis/apps/v1/deployments", "", NULL);
	front_ask(&f, "DELETE /api/v1/namespaces/default/configmaps/a", "", NULL);
	CHECK_INT(front_ask(&f, "GET /metrics", "", NULL), 200);
	CHECK(strstr(f.head, "text/plain; version=0.0.4") != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line =
			xasprintf(REQUESTS, rows[i].verb, rows[i].group, rows[i].resource, rows[i].code, rows[i].n);

		CHECK(strstr(f.body.p, line) != NULL);
	}
	front_done(&f);
}

TEST("objects are counted once and then followed")
{
	struct front f = front_new();
	const char *more = "more 1\n";

	rest_set_metrics(f.rest, add_more, (void *)(uintptr_t)more);
	server_make_map(&f.s, "a", "{}");
	CHECK(says(&f, "\napiserver_storage_objects{resource=\"configmaps\"} 1\n"));
	CHECK(says(&f, "\nmore 1\n"));
	server_make_map(&f.s, "b", "{}");
	server_make_map(&f.s, "c", "{}");
	server_do(&f.s, VERB_UPDATE, "v1/configmaps", "default", "c", "{'metadata':{'name':'c'},'data':{'k':'v'}}");
	server_do(&f.s, VERB_DELETE, "v1/configmaps", "default", "a", NULL);
	CHECK(says(&f, "\napiserver_storage_objects{resource=\"configmaps\"} 2\n"));
	CHECK(says(&f, "\napiserver_storage_objects{resource=\"deployments.apps\"} 0\n"));
	CHECK(strstr(f.body.p, "subjectaccessreviews") == NULL);
	front_done(&f);
}

TEST("counting a request costs next to nothing")
{
	struct server s = server_new();
	struct counters *c = counters_new(s.api);
	const struct kind *k = server_kind(&s, "batch/v1/jobs");
	int64_t begin = clock_mono_ns();

	for (int i = 0; i < 100000; i++)
		counters_request(c, "PATCH", k, "status", 200);
	/* a tenth of a microsecond; ten times that with sanitizers on a busy machine */
	CHECK((clock_mono_ns() - begin) / 100000 < 20000);
	counters_free(c);
	server_done(&s);
}
