// SPDX-License-Identifier: Apache-2.0
#include "sched/pod_work.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

TEST("pod work: what a plain pod says")
{
	json_auto_t *pod = sample_json("{'metadata':{'name':'a','namespace':'lab','uid':'u1',"
				       "'creationTimestamp':'2026-01-01T00:00:10Z'},'spec':{}}");
	struct pod_work p;

	pod_work_read(pod, &p);
	CHECK_STR(p.facts.key, "u1");
	CHECK_STR(p.facts.queue, "batch");
	CHECK_STR(p.facts.user, "lab");
	CHECK_STR(p.facts.group, "");
	CHECK_INT(p.facts.size, 1);
	CHECK_INT(p.facts.submitted_ms, 1767225610000);
	CHECK_INT(p.facts.walltime_ms, WALLTIME_NONE);
	CHECK_INT(p.facts.holds, 0);
	CHECK(p.ours && !p.ended && p.facts.may_preempt && !p.facts.may_requeue);
	pod_work_done(&p);
}

TEST("pod work: labels and annotations")
{
	json_auto_t *pod =
		sample_json("{'metadata':{'name':'a','namespace':'lab','uid':'u1','labels':{'stoker.dev/queue':'long'},"
			    "'ownerReferences':[{'controller':true}],'annotations':{'stoker.dev/user':'anna',"
			    "'stoker.dev/group':'vision','stoker.dev/gang':'tfjobs/x','stoker.dev/gang-size':'3',"
			    "'stoker.dev/walltime':'1:00:00','stoker.dev/not-before':'2026-01-01T00:00:00Z',"
			    "'stoker.dev/hold':'user, operator','stoker.dev/cards':'0,2'}},"
			    "'spec':{'priority':7,'preemptionPolicy':'Never','nodeName':'n1'},"
			    "'status':{'phase':'Running','startTime':'2026-01-01T00:00:01Z'}}");
	struct pod_work p;

	pod_work_read(pod, &p);
	CHECK_STR(p.facts.key, "lab/tfjobs/x");
	CHECK_STR(p.facts.queue, "long");
	CHECK_STR(p.facts.user, "anna");
	CHECK_STR(p.facts.group, "vision");
	CHECK_INT(p.facts.size, 3);
	CHECK_INT(p.facts.priority, 7);
	CHECK_INT(p.facts.walltime_ms, 3600000);
	CHECK_INT(p.facts.not_before_ms, 1767225600000);
	CHECK_INT(p.facts.holds, HOLD_USER | HOLD_OPERATOR);
	CHECK_INT(p.started_ms, 1767225601000);
	CHECK_INT(p.cards, 5);
	CHECK_STR(p.node, "n1");
	CHECK(!p.ours && !p.ended && !p.facts.may_preempt && p.facts.may_requeue);
	pod_work_done(&p);
}

TEST("pod work: cards that its node chose count where the scheduler chose none")
{
	static const struct {
		const char *notes;
		card_set want;
	} rows[] = {
		{ "{'stoker.dev/gpus':'1,3'}", 10 },
		{ "{'stoker.dev/gpus':'1','stoker.dev/cards':'0'}", 1 },
		{ "{'stoker.dev/gpus':'all'}", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = sample_json("{'metadata':{'uid':'u'},'spec':{'nodeName':'n'}}");
		struct pod_work p;

		jsonx_set_new(pod, "metadata.annotations", sample_json(rows[i].notes));
		pod_work_read(pod, &p);
		CHECK_INT(p.cards, rows[i].want);
		pod_work_done(&p);
	}
}

TEST("pod work: gates, other schedulers and ends are not ours")
{
	static const char *const specs[] = {
		"{'metadata':{'uid':'u'},'spec':{'schedulingGates':[{'name':'x'}]}}",
		"{'metadata':{'uid':'u'},'spec':{'schedulerName':'volcano'}}",
		"{'metadata':{'uid':'u','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{}}",
		"{'metadata':{'uid':'u'},'spec':{},'status':{'phase':'Failed'}}",
		"{'metadata':{'uid':'u'},'spec':{'nodeName':'n'}}",
	};

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		json_auto_t *pod = sample_json(specs[i]);
		struct pod_work p;

		pod_work_read(pod, &p);
		CHECK(!p.ours);
		pod_work_done(&p);
	}
}
