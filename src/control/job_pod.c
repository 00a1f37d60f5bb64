// SPDX-License-Identifier: Apache-2.0
/* job_pod.c - a pod made from a Job's template
 *
 * An Indexed one knows its number by annotation, label, JOB_COMPLETION_INDEX and host name.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/job_plan.h"

#define INDEX_ENV    "JOB_COMPLETION_INDEX"
#define HOSTNAME_MAX 63

static json_t *object_at(json_t *obj, const char *key)
{
	json_t *v = json_object_get(obj, key);

	if (!json_is_object(v)) {
		v = json_object();
		json_object_set_new(obj, key, v);
	}
	return v;
}

/* A variable that the template already has stays. */
static void add_env(json_t *containers)
{
	json_t *c;
	json_t *v;
	size_t i;
	size_t n;

	json_array_foreach (containers, i, c) {
		json_t *env = json_object_get(c, "env");
		bool there = false;

		if (!json_is_array(env)) {
			env = json_array();
			json_object_set_new(c, "env", env);
		}
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
	static const char *const kept[] = { "labels", "annotations", "finalizers" };
	const json_t *template = jsonx_at(job, "spec.template");
	const char *name = jsonx_str_or(job, "metadata.name", "");
	json_t *spec = jsonx_copy(json_object_get(template, "spec"));
	json_t *meta = json_pack("{s:s, s:[o]}", "namespace", jsonx_str_or(job, "metadata.namespace", ""),
				 "ownerReferences", controller_ref("batch/v1", "Job", job));
	json_t *finalizers;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const json_t *v = json_object_get(json_object_get(template, "metadata"), kept[i]);

		if (v)
			json_object_set_new(meta, kept[i], jsonx_copy(v));
	}
	finalizers = json_object_get(meta, "finalizers");
	if (!finalizers) {
		finalizers = json_array();
		json_object_set_new(meta, "finalizers", finalizers);
	}
	json_array_append_new(finalizers, json_string(JOB_FINALIZER));
	if (p->index >= 0) {
		set_index(meta, spec, job, p);
		json_object_set_new(meta, "generateName", jsonx_stringf("%s-%d-", name, p->index));
	} else {
		json_object_set_new(meta, "generateName", jsonx_stringf("%s-", name));
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata", meta, "spec", spec);
}
