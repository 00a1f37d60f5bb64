// SPDX-License-Identifier: Apache-2.0
#include "control/pod_gc.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "test.h"

#define DOWN "{'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]}}"
#define UP                                                                                                             \
	"{'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]},"                       \
	"'status':{'conditions':[{'type':'Ready','status':'True'}]}}"

TEST("a pod is left behind when no agent will ever end it")
{
	static const struct {
		const char *pod, *node;
		enum pod_gc_why want;
	} rows[] = {
		{ "{}", NULL, POD_GC_STAYS },
		{ "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}", NULL, POD_GC_UNSCHEDULED },
		{ "{'spec':{'nodeName':'n'}}", "{}", POD_GC_STAYS },
		{ "{'spec':{'nodeName':'n'}}", NULL, POD_GC_NO_NODE },
		{ "{'spec':{'nodeName':'n'},'status':{'phase':'Succeeded'}}", NULL, POD_GC_NO_NODE },
		{ "{'spec':{'nodeName':'n'}}", DOWN, POD_GC_STAYS },
		{ "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{'nodeName':'n'}}", DOWN,
		  POD_GC_OUT_OF_SERVICE },
		{ "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{'nodeName':'n'}}", UP,
		  POD_GC_STAYS },
		/* all has been done, and a finalizer holds it */
		{ "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','deletionGracePeriodSeconds':0},"
		  "'spec':{'nodeName':'n'},'status':{'phase':'Failed'}}",
		  NULL, POD_GC_STAYS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = sample_json(rows[i].pod);
		json_auto_t *node = rows[i].node ? sample_json(rows[i].node) : NULL;
		struct pod_facts p = pod_facts(pod);

		CHECK_INT(pod_gc_why(&p, node), rows[i].want);
	}
}

TEST("an ended pod goes when it said, and one that runs does not")
{
#define NOTED(ttl, phase)                                                                                              \
	"{'metadata':{'annotations':{'stoker.dev/ttl-seconds-after-finished':'" ttl "'}},'status':{'phase':'" phase    \
	"','containerStatuses':[{'state':{'terminated':{'finishedAt':'1970-01-01T00:16:40Z'}}}]}}"
	static const struct {
		const char *pod;
		int64_t now, want;
	} rows[] = {
		{ NOTED("600", "Succeeded"), 1000, 600 }, { NOTED("600", "Failed"), 1599, 1 },
		{ NOTED("600", "Failed"), 1600, 0 },      { NOTED("600", "Failed"), 9999, 0 },
		{ NOTED("0", "Failed"), 1000, 0 },        { NOTED("600", "Running"), 9999, -1 },
		{ NOTED("soon", "Failed"), 9999, -1 },    { "{'status':{'phase':'Failed'}}", 9999, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = sample_json(rows[i].pod);
		struct pod_facts p = pod_facts(pod);

		CHECK_INT(pod_gc_left(&p, rows[i].now), rows[i].want);
	}
}

TEST("of too many ended pods the oldest go, but none that is tracked")
{
	static const char *const texts[] = {
		"{'metadata':{'name':'young','creationTimestamp':'2026-01-05T00:00:00Z'},'status':{'phase':'Failed'}}",
		"{'metadata':{'name':'runs','creationTimestamp':'2026-01-01T00:00:00Z'},'status':{'phase':'Running'}}",
		"{'metadata':{'name':'tracked','creationTimestamp':'2026-01-01T00:00:00Z','finalizers':['a/b']},"
		"'status':{'phase':'Failed'}}",
		"{'metadata':{'name':'old','creationTimestamp':'2026-01-02T00:00:00Z'},'status':{'phase':'Succeeded'}}",
		"{'metadata':{'name':'older','creationTimestamp':'2026-01-01T00:00:00Z'},'status':{'phase':'Failed'}}",
		"{'metadata':{'name':'goes','creationTimestamp':'2026-01-01T00:00:00Z',"
		"'deletionTimestamp':'2026-01-01T00:00:00Z'},'status':{'phase':'Failed'}}",
	};
	static const struct {
		size_t keep, want;
	} rows[] = { { 9, 0 }, { 4, 0 }, { 3, 1 }, { 2, 2 }, { 1, 3 }, { 0, 3 } };
	struct pod_facts facts[ARRAY_SIZE(texts)];
	json_t *objs[ARRAY_SIZE(texts)];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		objs[i] = sample_json(texts[i]);
		facts[i] = pod_facts(objs[i]);
	}
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		static const char *const order[] = { "older", "old", "young" };
		const struct pod_facts *pods[ARRAY_SIZE(texts)];

		for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
			pods[i] = &facts[i];
		CHECK_INT(pod_gc_excess(pods, ARRAY_SIZE(texts), rows[r].keep), rows[r].want);
		for (size_t i = 0; i < rows[r].want; i++)
			CHECK_STR(pods[i]->name, order[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_decref(objs[i]);
}
