// SPDX-License-Identifier: Apache-2.0
#include "control/namespace_left.h"

#include "api/server.h"
#include "base/jsonx.h"

static const char *message(const json_t *conditions, size_t at)
{
	return jsonx_str(json_array_get(conditions, at), "message");
}

TEST("what is left is told by resource and by finalizer")
{
	struct namespace_left l = { 0 };
	json_auto_t *maps = sample_json("{'metadata':{'remainingItemCount':2},'items':[{'metadata':{'finalizers':"
					"['e.org/x','e.org/y']}},{'metadata':{'finalizers':['e.org/x']}}]}");
	json_auto_t *jobs = sample_json("{'metadata':{},'items':[{'metadata':{}}]}");
	json_auto_t *none = sample_json("{'metadata':{},'items':[]}");
	json_auto_t *conditions = NULL;

	namespace_left_reset(&l);
	namespace_left_add(&l, "v1", "configmaps", maps);
	namespace_left_add(&l, "v1", "pods", none);
	namespace_left_add(&l, "batch/v1", "jobs", jobs);
	CHECK_INT(l.objects, 5);
	conditions = namespace_left_conditions(&l, NULL, 0);
	CHECK_INT(json_array_size(conditions), 5);
	CHECK_STR(jsonx_str(json_array_get(conditions, 0), "status"), "False");
	CHECK_STR(message(conditions, 3), "Some resources are remaining: configmaps. has 4 resource instances, "
					  "jobs.batch has 1 resource instances");
	CHECK_STR(message(conditions, 4), "Some content in the namespace has finalizers remaining: e.org/x in 2 "
					  "resource instances, e.org/y in 1 resource instances");
	namespace_left_done(&l);
}

TEST("a condition that stays keeps its time, one that turns gets a new one")
{
	struct namespace_left l = { 0 };
	json_auto_t *maps = sample_json("{'items':[{'metadata':{'finalizers':['e.org/x']}}]}");
	json_auto_t *pods = sample_json("{'items':[{'metadata':{}}]}");
	json_auto_t *before = NULL, *after = NULL;

	namespace_left_reset(&l);
	namespace_left_add(&l, "v1", "configmaps", maps);
	before = namespace_left_conditions(&l, NULL, 0);
	namespace_left_reset(&l);
	namespace_left_add(&l, "v1", "pods", pods);
	after = namespace_left_conditions(&l, before, 60);
	CHECK_STR(jsonx_str(json_array_get(after, 3), "lastTransitionTime"), "1970-01-01T00:00:00Z");
	CHECK_STR(message(after, 3), "Some resources are remaining: pods. has 1 resource instances");
	CHECK_STR(jsonx_str(json_array_get(after, 4), "lastTransitionTime"), "1970-01-01T00:01:00Z");
	CHECK_STR(jsonx_str(json_array_get(after, 4), "status"), "False");
	namespace_left_done(&l);
}
