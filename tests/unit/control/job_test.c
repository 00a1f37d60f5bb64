// SPDX-License-Identifier: Apache-2.0
/* Jobs with everything real but the containers. */
#include "control/job.h"

#include "job_cluster.h"

#define QUICK "'stoker.dev/fake-seconds':'0.01'"

TEST("a job runs its pod, counts its success once and is complete")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", QUICK, "");
	CHECK(job_wait(&c, "a", "Complete"));
	json_auto_t *job = job_get(&c, "a");
	json_auto_t *pods = all_of(&c, "v1/pods");
	const json_t *pod = json_array_get(pods, 0);

	CHECK_INT(jsonx_int_or(job, "status.succeeded", 0), 1);
	CHECK_INT(jsonx_int_or(job, "status.active", 0), 0);
	CHECK_INT(jsonx_int_or(job, "status.ready", -1), 0);
	CHECK(jsonx_str(job, "status.startTime") && jsonx_str(job, "status.completionTime"));
	CHECK_INT(json_array_size(pods), 1);
	CHECK_INT(json_array_size(jsonx_at(pod, "metadata.finalizers")), 0);
	CHECK_INT(strlen(jsonx_str(pod, "metadata.name")), 2 + 5);
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0), "kind"), "Job");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), "job-name")), "a");
	CHECK_STR(events_of(&c, "a"), "SuccessfulCreate;Completed;");
	cluster_done(&c);
}
