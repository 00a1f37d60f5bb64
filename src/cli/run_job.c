// SPDX-License-Identifier: Apache-2.0
/* run_job.c - see run_job.h
 *
 * Workers are the pods of an Indexed Job.  A headless Service of the Job's name gives each a name that the others can
 * look up (NAME-0.NAME), and the variables that distributed frameworks read are set, so that a program which uses
 * PyTorch's env:// needs no option at all.
 */
#include "cli/run_job.h"

#include "base/jsonx.h"
#include "base/mem.h"

static void add_worker_env(const struct run_options *o, const char *name, json_t *env)
{
	static const char index[] = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
	static const char *const numbers[] = { "WORKER", "RANK" };
	static const char *const counts[] = { "WORKERS", "WORLD_SIZE" };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		run_pod_variable(env, numbers[i],
				 json_pack("{s:{s:{s:s}}}", "valueFrom", "fieldRef", "fieldPath", index));
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		run_pod_variable(env, counts[i],
				 json_pack("{s:o}", "value", jsonx_stringf("%lld", (long long)o->workers)));
	run_pod_variable(env, "MASTER_ADDR", json_pack("{s:o}", "value", jsonx_stringf("%s-0.%s", name, name)));
	run_pod_variable(env, "MASTER_PORT", json_pack("{s:o}", "value", jsonx_stringf("%d", RUN_MASTER_PORT)));
}

static json_t *make_pod_spec(const struct run_options *o, const char *name, struct err *e)
{
	json_auto_t *env = json_array();
	json_t *spec;

	if (o->workers)
		add_worker_env(o, name, env);
	spec = run_pod_spec(o, RUN_CONTAINER, env, e);
	if (!spec)
		return NULL;
	json_object_set_new(spec, "restartPolicy", json_string("Never"));
	if (o->workers)
		json_object_set_new(spec, "subdomain", jsonx_string(name));
	return spec;
}

/* Who is evicted for another has not failed: the pod is made anew and waits, however few --retries there are. */
static json_t *make_failure_policy(void)
{
	return json_pack("{s:[{s:s, s:[{s:s, s:s}]}]}", "rules", "action", "Ignore", "onPodConditions", "type",
			 "DisruptionTarget", "status", "True");
}

static json_t *make_service(const struct run_options *o, const char *name, const json_t *labels)
{
	/* Workers look for each other before any of them is ready. */
	return json_pack("{s:s, s:s, s:o, s:{s:s, s:b, s:{s:o}}}", "apiVersion", "v1", "kind", "Service", "metadata",
			 run_pod_meta(o, name, labels), "spec", "clusterIP", "None", "publishNotReadyAddresses", 1,
			 "selector", "job-name", jsonx_string(name));
}

int run_job_make(const struct run_options *o, json_t **ret_job, json_t **ret_service, struct err *e)
{
	auto_sbuf struct sbuf name = SBUF(1024);
	json_auto_t *labels = json_object();
	json_auto_t *spec = json_object();
	json_auto_t *annotations = json_object();
	json_auto_t *pod = NULL;
	json_t *tpl;

	if (run_pod_name(o, o->workers > 0, &name, e) < 0 || run_pod_labels(o, labels, e) < 0 ||
	    run_pod_times(o, spec, e) < 0 || run_pod_start(o, annotations, e) < 0)
		return -1;
	pod = make_pod_spec(o, name.p, e);
	if (!pod)
		return -1;
	tpl = json_pack("{s:O}", "spec", pod);
	if (json_object_size(labels))
		jsonx_set_new(tpl, "metadata.labels", jsonx_copy(labels));
	json_object_set_new(spec, "backoffLimit", json_integer(o->retries));
	json_object_set_new(spec, "podFailurePolicy", make_failure_policy());
	json_object_set_new(spec, "template", tpl);
	if (o->workers) {
		json_object_set_new(spec, "completionMode", json_string("Indexed"));
		json_object_set_new(spec, "completions", json_integer(o->workers));
		json_object_set_new(spec, "parallelism", json_integer(o->workers));
	}
	*ret_job = json_pack("{s:s, s:s, s:o, s:O}", "apiVersion", "batch/v1", "kind", "Job", "metadata",
			     run_pod_meta(o, name.p, labels), "spec", spec);
	if (json_object_size(annotations))
		jsonx_set_new(*ret_job, "metadata.annotations", json_incref(annotations));
	*ret_service = o->workers ? make_service(o, name.p, labels) : NULL;
	return 0;
}
