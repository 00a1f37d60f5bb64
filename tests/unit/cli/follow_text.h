// SPDX-License-Identifier: Apache-2.0
/* follow_text.h - a job and its pods for the tests of what is followed */
#ifndef STOKER_TEST_FOLLOW_TEXT_H
#define STOKER_TEST_FOLLOW_TEXT_H

#include "about_text.h"
#include "cli/follow_state.h"
#include "kinds/core.h"
#include "kinds/rest.h"

#define FOLLOW_NOW (ABOUT_NOW * INT64_C(1000000))

/* A PyTorchJob that was created a minute ago; `status` without its braces. */
static inline void follow_job(struct follow_state *s, const char *status)
{
	auto_free char *text =
		xasprintf("{'kind':'PyTorchJob','apiVersion':'kubeflow.org/v1','metadata':{'name':'mnist',"
			  "'namespace':'lab','uid':'j','creationTimestamp':'2025-12-31T23:59:00Z'},"
			  "'spec':{'pytorchReplicaSpecs':{'Master':{'replicas':1},'Worker':{'replicas':"
			  "2}}},'status':{'startTime':'2025-12-31T23:59:00Z'%s%s}}",
			  *status ? "," : "", status);
	json_auto_t *obj = about_json(text);

	if (s->kind) {
		follow_state_job(s, obj);
	} else {
		struct found f;

		found_init(&f, &kind_pytorchjob, obj);
		follow_state_init(s, &f);
		found_done(&f);
	}
}

/* Its pod `type`-`index`; `status` as JSON, `more` in its metadata. */
static inline struct follow_replica *follow_pod(struct follow_state *s, const char *type, int index, const char *uid,
						const char *status, bool gone)
{
	auto_free char *text = xasprintf(
		"{'metadata':{'name':'mnist-%s-%d','uid':'%s','labels':{'training.kubeflow.org/replica-type':'%s',"
		"'training.kubeflow.org/replica-index':'%d'},'ownerReferences':[{'uid':'j','controller':true}]},"
		"'spec':{'nodeName':'vm','containers':[{'name':'pytorch','resources':{'limits':{'nvidia.com/"
		"gpu':'1'}}}]},"
		"'status':%s}",
		type, index, uid, type, index, status);
	json_auto_t *pod = about_json(text);

	return follow_state_pod(s, pod, gone);
}

#define FOLLOW_RUNS                                                                                                    \
	"{'phase':'Running','containerStatuses':[{'name':'pytorch','restartCount':0,'state':{'running':{"              \
	"'startedAt':'2025-12-31T23:59:30Z'}}}]}"
#define FOLLOW_ENDED(phase_, code_)                                                                                    \
	"{'phase':'" phase_ "','containerStatuses':[{'name':'pytorch','restartCount':0,'state':{'terminated':{"        \
	"'startedAt':'2025-12-31T23:59:30Z','finishedAt':'2025-12-31T23:59:50Z','exitCode':" code_ "}}}]}"
#define FOLLOW_WAITS "{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','message':'no room'}]}"
#define FOLLOW_CONDITION(type_, message_)                                                                              \
	"'conditions':[{'type':'" type_ "','status':'True','reason':'PyTorchJob" type_ "','message':'" message_ "'}]"

/* What a replica printed, so many seconds ago. */
static inline bool follow_print(struct follow_replica *r, const char *line, int ago)
{
	return follow_numbers_line(&r->numbers, str_of(line), FOLLOW_NOW - ago * INT64_C(1000000));
}

#endif
