// SPDX-License-Identifier: Apache-2.0
/* job_pod.c - a pod made from a Job's template
 *
 * An Indexed one knows its number by annotation, label, JOB_COMPLETION_INDEX and host name.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/job_plan.h"
#include "control/pod_template.h"

#define INDEX_ENV    "JOB_COMPLETION_INDEX"
#define HOSTNAME_MAX 63

/* A variable that the template already has stays. */
static void add_env(json_t *containers)
{
	json_t *c;
	json_t *v;
	size_t i;
	size_t n;

	json_array_foreach (containers, i, c) {
		json_t *env = array_at(c, "env");
		bool there = false;

		json_array_foreach (env, n, v)
			there = there || str_same(jsonx_str(v, "name"), INDEX_ENV);
		if (!there)
			json_array_append_new(env, json_pack("{s:s, s:{s:{s:s}}}", "name", INDEX_ENV, "valueFrom",
							     "fieldRef", "fieldPath",
							     "metadata.annotations['" JOB_INDEX "']"));
	}
}

static void set_index(json_t *meta, json_t *spec, const json_t *job, const struct job_new_pod *p)
{
	json_t *annotations = object_at(meta, "annotations");
	auto_free char *host = xasprintf("%s-%d", jsonx_str_or(job, "metadata.name", ""), p->index);

	json_object_set_new(annotations, JOB_INDEX, jsonx_stringf("%d", p->index));
	json_object_set_new(object_at(meta, "labels"), JOB_INDEX, jsonx_stringf("%d", p->index));
	if (jsonx_at(job, "spec.backoffLimitPerIndex")) {
		json_object_set_new(annotations, JOB_INDEX_FAILURES, jsonx_stringf("%d", p->failures));
		if (p->ignored)
			json_object_set_new(annotations, JOB_INDEX_IGNORED, jsonx_stringf("%d", p->ignored));
	}
	add_env(json_object_get(spec, "containers"));
	add_env(json_object_get(spec, "initContainers"));
	if (strlen(host) <= HOSTNAME_MAX)
		json_object_set_new(spec, "hostname", jsonx_string(host));
}

json_t *job_pod(const json_t *job, const struct job_new_pod *p)
{
	json_t *pod = pod_from_template(jsonx_at(job, "spec.template"), job, "batch/v1", "Job");
	json_t *meta = json_object_get(pod, "metadata");

	json_array_append_new(array_at(meta, "finalizers"), json_string(JOB_FINALIZER));
	if (p->index >= 0) {
		set_index(meta, json_object_get(pod, "spec"), job, p);
		json_object_set_new(meta, "generateName",
				    jsonx_stringf("%s-%d-", jsonx_str_or(job, "metadata.name", ""), p->index));
	}
	return pod;
}
