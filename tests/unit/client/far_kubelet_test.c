// SPDX-License-Identifier: Apache-2.0
/* What of another cluster's pods the API here is told, and what that cluster is asked. */
#include "client/far_kubelet.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define NOTE(store_)                                                                                                   \
	"'stoker.dev/controller':'{\\\"apiVersion\\\":\\\"stoker.dev/v1\\\",\\\"kind\\\":\\\"PBSJob\\\","              \
	"\\\"name\\\":\\\"7\\\",\\\"uid\\\":\\\"u\\\",\\\"store\\\":\\\"" store_ "\\\"}'"

TEST("a pod of another cluster is known by its controller here, and has the rights of whom it runs as")
{
	static const struct {
		const char *pod;
		const char *owner, *uid; /* NULL: it is not known; without rights */
	} rows[] = {
		{ "{'metadata':{'name':'7-0','annotations':{" NOTE("here") "}},"
									   "'spec':{'securityContext':{'runAsUser':"
									   "1001}}}",
		  "7", "1001" },
		{ "{'metadata':{'name':'7-0','annotations':{" NOTE("here") ",'stoker.dev/uid':'1'}},'spec':{}}", "7",
		  NULL },
		{ "{'metadata':{'name':'7-0','annotations':{" NOTE("other") "}},'spec':{}}", NULL, NULL },
		{ "{'metadata':{'name':'x','annotations':{'stoker.dev/uid':'1001'}},'spec':{}}", NULL, NULL },
		{ "{'metadata':{'name':'x'},'spec':{}}", NULL, NULL },
	};
	const struct split_config config = { .group = "stoker.dev", .id = "here" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = sample_json(rows[i].pod);
		json_auto_t *before = jsonx_copy(pod);
		json_auto_t *seen = far_kubelet_pod(&config, pod);

		CHECK_INT(seen != NULL, rows[i].owner != NULL);
		CHECK(json_equal(pod, before));
		if (!seen)
			continue;
		CHECK(str_same(jsonx_str(json_array_get(jsonx_at(seen, "metadata.ownerReferences"), 0), "name"),
			       rows[i].owner));
		CHECK(str_same(
			json_string_value(json_object_get(jsonx_at(seen, "metadata.annotations"), "stoker.dev/uid")),
			rows[i].uid));
	}
}

TEST("a log is asked for in the cluster's words")
{
	static const struct {
		struct kubelet_log_request q;
		const char *query;
	} rows[] = {
		{ { .of = { .container = "job" }, .tail_lines = -1, .limit_bytes = -1 },
		  "?container=job&follow=false&previous=false&timestamps=false" },
		{ { .of = { .container = "a b" },
		    .follow = true,
		    .previous = true,
		    .timestamps = true,
		    .tail_lines = 0,
		    .limit_bytes = 9,
		    .since_us = 1700000000000000 },
		  "?container=a%20b&follow=true&previous=true&timestamps=true&tailLines=0&limitBytes=9"
		  "&sinceTime=2023-11-14T22%3A13%3A20Z" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1024);

		far_kubelet_log_query(&rows[i].q, &out);
		CHECK_STR(out.p, rows[i].query);
	}
}
