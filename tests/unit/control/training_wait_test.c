// SPDX-License-Identifier: Apache-2.0
/* What a job says of replicas that cannot start. */
#include "control/training_plan.h"

#include "control/training_sample.h"

static const char spec[] = "'tfReplicaSpecs':{" TF_ROLE("Worker", 2, "Never") "," TF_ROLE("PS", 1, "Never") "}";

/* Pods of PS and both workers, whose containers wait so; NULL: it runs.  The answer is the plan's word, or "". */
static char *waits_for(const char *ps, const char *workers)
{
	json_auto_t *obj = sample_job("mnist", NULL, spec);
	struct training_job job = training_job(training_form("TFJob", obj), obj);
	const char *states[] = { ps, workers, workers };
	json_auto_t *objects = json_array();
	struct pod_facts facts[3];
	const struct pod_facts *pods[3];
	struct training_plan p;
	char *ret;

	for (int i = 0; i < 3; i++) {
		json_t *pod = training_pod(&job, training_role(&job, i ? "Worker" : "PS"), i ? i - 1 : 0, 0);
		auto_free char *state = states[i] ? xasprintf("{'state':{'waiting':%s}}", states[i]) : NULL;

		jsonx_set_new(pod, "spec.nodeName", json_string("box"));
		jsonx_set_new(pod, "status.phase", json_string(state ? "Pending" : "Running"));
		if (state)
			jsonx_set_new(pod, "status.containerStatuses", json_pack("[o]", sample_json(state)));
		json_array_append_new(objects, pod);
		facts[i] = pod_facts(pod);
		pods[i] = &facts[i];
	}
	training_plan(&(struct training_view){ .job = &job, .pods = pods, .n = 3, .now = 1000, .create_most = 1 }, &p);
	ret = xstrdup(p.waits ? p.waits : "");
	training_plan_done(&p);
	training_job_done(&job);
	return ret;
}

TEST("a job says which replica cannot start, and why")
{
	static const struct {
		const char *ps, *workers, *says;
	} rows[] = {
		{ NULL, NULL, "" },
		{ "{'reason':'ContainerCreating'}", "{'reason':'PodInitializing'}", "" },
		{ "{'reason':'ErrImagePull','message':'no such host'}", "{'reason':'ContainerCreating'}",
		  "ps-0 cannot start: ErrImagePull: no such host" },
		/* the same between two tries, so that it is told once */
		{ "{'reason':'ImagePullBackOff','message':'Back-off pulling image \\'x\\': ErrImagePull: no such "
		  "host'}",
		  NULL, "ps-0 cannot start: ErrImagePull: no such host" },
		{ "{'reason':'ImagePullBackOff','message':'Back-off pulling image'}", NULL,
		  "ps-0 cannot start: ImagePullBackOff: Back-off pulling image" },
		{ "{'reason':'ContainerCreating','message':'secret \\'s\\' not found'}", NULL,
		  "ps-0 cannot start: ContainerCreating: secret \"s\" not found" },
		{ "{'reason':'ErrImageNeverPull'}", "{'reason':'ErrImageNeverPull'}",
		  "ps-0 and 2 more cannot start: ErrImageNeverPull" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *said = waits_for(rows[i].ps, rows[i].workers);

		CHECK_STR(said, rows[i].says);
	}
}
