// SPDX-License-Identifier: Apache-2.0
#include "control/idle_plan.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define GPU "'spec':{'containers':[{'name':'a','resources':{'limits':{'nvidia.com/gpu':'1'}}}]}"
#define SAYS(status_, reason_, until_)                                                                                 \
	"'status':{'phase':'Running','conditions':[{'type':'stoker.dev/GPUActive','status':'" status_                  \
	"','reason':'" reason_ "','lastTransitionTime':'2026-01-01T10:00:00Z','lastProbeTime':'2026-01-01T" until_     \
	"Z'}]}"
#define WARNED  "{" GPU "," SAYS("False", "GPUIdle", "10:30:00") "}"
#define OVER    "{" GPU "," SAYS("False", "GPUIdleTooLong", "12:00:00") "}"
#define LONGER  "{" GPU "," SAYS("False", "GPUIdleTooLong", "13:00:00") "}"
#define AGAIN   "{" GPU "," SAYS("True", "", "10:30:00") "}"
#define NEVER   "{" GPU ",'status':{'phase':'Running'}}"
#define PENDING "{" GPU ",'status':{'phase':'Pending'}}"
#define ENDED   "{" GPU ",'status':{'phase':'Succeeded'}}"
#define GOING   "{'metadata':{'deletionTimestamp':'2026-01-01T10:00:00Z'}," GPU ",'status':{'phase':'Running'}}"
#define NO_GPU  "{'spec':{'containers':[{'name':'a'}]},'status':{'phase':'Running'}}"

TEST("a workload is idle when all its pods with GPUs are")
{
	static const struct {
		const char *pods[3];
		enum idle_is is;
		int least;
	} rows[] = {
		{ { NULL }, IDLE_IS_BUSY, -1 },
		{ { NO_GPU }, IDLE_IS_BUSY, -1 },
		{ { NEVER }, IDLE_IS_BUSY, -1 },
		{ { AGAIN }, IDLE_IS_BUSY, -1 },
		{ { WARNED }, IDLE_IS_WARNED, 0 },
		{ { OVER }, IDLE_IS_OVER, 0 },
		{ { OVER, NEVER }, IDLE_IS_BUSY, -1 },
		{ { OVER, AGAIN, OVER }, IDLE_IS_BUSY, -1 },
		{ { OVER, PENDING }, IDLE_IS_BUSY, -1 },
		{ { OVER, WARNED }, IDLE_IS_WARNED, 1 },
		{ { LONGER, OVER, LONGER }, IDLE_IS_OVER, 1 },
		{ { OVER, NO_GPU }, IDLE_IS_OVER, 0 },
		{ { ENDED, OVER, GOING }, IDLE_IS_OVER, 1 },
		{ { ENDED, GOING }, IDLE_IS_BUSY, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pod_facts facts[3];
		const struct pod_facts *pods[3];
		const struct pod_facts *least;
		json_t *objs[3];
		size_t n = 0;

		for (; n < 3 && rows[i].pods[n]; n++) {
			objs[n] = sample_json(rows[i].pods[n]);
			facts[n] = pod_facts(objs[n]);
			pods[n] = &facts[n];
		}
		CHECK_INT(idle_plan(pods, n, &least), rows[i].is);
		CHECK_INT(least ? least - facts : -1, rows[i].least);
		while (n)
			json_decref(objs[--n]);
	}
}

TEST("what can fail fails, what cannot has no pods, and others are only warned")
{
	CHECK_INT(idle_end_of("Job"), IDLE_END_FAIL);
	CHECK_INT(idle_end_of("PaddleJob"), IDLE_END_FAIL);
	CHECK_INT(idle_end_of("Deployment"), IDLE_END_SCALE);
	CHECK_INT(idle_end_of("StatefulSet"), IDLE_END_SCALE);
	CHECK_INT(idle_end_of("PBSJob"), IDLE_END_QDEL);
	CHECK_INT(idle_end_of("DaemonSet"), IDLE_END_NOT);
	CHECK_INT(idle_end_of("Spider"), IDLE_END_NOT);
}

TEST("what is to fail is told so once, and not after its end")
{
	static const struct {
		const char *obj;
		int conditions; /* -1: nothing to do */
	} rows[] = {
		{ "{}", 1 },
		{ "{'status':{'conditions':[{'type':'Running','status':'True'}]}}", 2 },
		{ "{'status':{'conditions':[{'type':'Failed','status':'False'}]}}", 2 },
		{ "{'status':{'conditions':[{'type':'Failed','status':'True'}]}}", -1 },
		{ "{'status':{'conditions':[{'type':'Complete','status':'True'}]}}", -1 },
		{ "{'status':{'conditions':[{'type':'SuccessCriteriaMet','status':'True'}]}}", -1 },
		{ "{'status':{'conditions':[{'type':'FailureTarget','status':'True'}]}}", -1 },
		{ "{'status':{'phase':'Failed'}}", -1 },
		{ "{'metadata':{'deletionTimestamp':'2026-01-01T10:00:00Z'}}", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_json(rows[i].obj);
		json_auto_t *status = idle_fail_status(obj, "FailureTarget", "why", 0);
		const json_t *list = json_object_get(status, "conditions");

		CHECK_INT(status ? (int)json_array_size(list) : -1, rows[i].conditions);
		if (status)
			CHECK_STR(jsonx_str(json_array_get(list, json_array_size(list) - 1), "reason"), "GPUIdle");
	}
}
