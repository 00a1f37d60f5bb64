// SPDX-License-Identifier: Apache-2.0
/* training_pod.c - a replica's pod and its Service
 *
 * The labels are those of all versions of the framework, so that whatever selector somebody has still works.  The
 * Service is there before the pod and publishes its address at once: the others may look for it before it is ready.
 */
#include <stdarg.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_facts.h"
#include "control/pod_template.h"
#include "control/training_job.h"
#include "kinds/activity.h"

static void set(json_t *labels, const char *key, const char *value)
{
	json_object_set_new(labels, key, jsonx_string(value));
}

void training_env(json_t *env, const char *name, const char *fmt, ...)
{
	auto_free char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	value = xvasprintf(fmt, ap);
	va_end(ap);
	json_array_append_new(env, json_pack("{s:s, s:o}", "name", name, "value", jsonx_string(value)));
}

/* Who is called the master: the leader, or the first of those that decide together. */
static bool is_master(const struct training_job *j, const struct training_role *r, int index)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->roles[i].leads)
			return r->leads;
	return r == training_members(j) && index == 0;
}

/* The labels that say which replica it is, and nothing more. */
static json_t *own_labels(const struct training_job *j, const struct training_role *r, int index)
{
	return json_pack("{s:s, s:o, s:s, s:o}", LABEL_TRAINING_OPERATOR, j->form->operator, LABEL_TRAINING_JOB,
			 jsonx_string(j->name), LABEL_TRAINING_TYPE, r->lower, LABEL_TRAINING_INDEX,
			 jsonx_stringf("%d", index));
}

static void add_labels(const struct training_job *j, const struct training_role *r, int index, json_t *labels)
{
	json_auto_t *own = own_labels(j, r, index);
	char number[16];

	snprintf(number, sizeof(number), "%d", index);
	json_object_update(labels, own);
	set(labels, "group-name", "kubeflow.org");
	set(labels, "job-name", j->name);
	set(labels, "replica-type", r->lower);
	set(labels, "replica-index", number);
	if (is_master(j, r, index)) {
		set(labels, "job-role", "master");
		set(labels, LABEL_TRAINING_ROLE, "master");
	}
	if (j->form->labels)
		j->form->labels(j, r, index, labels);
}

char *training_selector(const struct training_job *j, const struct training_role *r)
{
	return xasprintf("%s=%s,%s=%s,%s=%s", LABEL_TRAINING_JOB, j->name, LABEL_TRAINING_OPERATOR, j->form->operator,
			 LABEL_TRAINING_TYPE, r->lower);
}

/* ---- the pod ---- */

/* What its author says comes first. */
static void add_env(json_t *container, const json_t *vars)
{
	json_t *env = array_at(container, "env");
	json_t *v;
	json_t *have;
	size_t i;
	size_t n;

	json_array_foreach (vars, i, v) {
		bool there = false;

		json_array_foreach (env, n, have)
			there = there || str_same(jsonx_str(have, "name"), jsonx_str(v, "name"));
		if (!there)
			json_array_append(env, v);
	}
}

/* Its last lines are what people ask for when a container has failed. */
static void keep_last_lines(json_t *spec)
{
	static const char *const lists[] = { "initContainers", "containers" };
	json_t *c;
	size_t k;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (json_object_get(spec, lists[i]), k, c)
			json_object_set_new(c, "terminationMessagePolicy", json_string("FallbackToLogsOnError"));
}

static void set_containers(const struct training_job *j, const struct training_role *r, int index, json_t *spec)
{
	json_auto_t *vars = json_array();
	json_t *c;
	size_t i;

	j->form->env(j, r, index, vars);
	json_array_foreach (json_object_get(spec, "containers"), i, c) {
		bool own = str_same(jsonx_str(c, "name"), r->container);

		if (json_array_size(vars) && (own || j->form->env_everywhere))
			add_env(c, vars);
	}
}

/* A gang that restarts together must see its pods fail, and so must whoever looks at exit codes. */
static const char *pod_restart(const struct training_job *j, const struct training_role *r)
{
	static const char *const names[] = { [RESTART_NEVER] = "Never",
					     [RESTART_ON_FAILURE] = "OnFailure",
					     [RESTART_ALWAYS] = "Always",
					     [RESTART_EXIT_CODE] = "Never" };

	return j->gang ? "Never" : names[r->restart];
}

/* Whoever has done his part is not made again, and nobody waits for him. */
static int64_t count_done(const struct training_job *j)
{
	const char *name;
	json_t *record;
	int64_t n = 0;

	json_object_foreach (jsonx_at(j->obj, "status.replicas"), name, record)
		n += jsonx_bool_or(record, "succeeded", false);
	return n;
}

/* Also where one is enough to begin: nobody waits for the others then, but all end together. */
static void set_gang(const struct training_job *j, json_t *annotations)
{
	int64_t left = j->total - count_done(j);
	int64_t size = jsonx_int_or(j->spec, "runPolicy.schedulingPolicy.minAvailable", j->total);

	if (j->elastic)
		size = j->total - (training_members(j) ? training_members(j)->replicas : 0) +
		       jsonx_int_or(j->spec, "elasticPolicy.minReplicas", 0);
	if (size > j->total || size < 0)
		size = j->total;
	if (size > left)
		size = left;
	json_object_set_new(annotations, TRAINING_GANG, jsonx_stringf("%s/%s", j->form->plural, j->name));
	json_object_set_new(annotations, TRAINING_GANG_SIZE, jsonx_stringf("%lld", (long long)size));
}

/* The node watches those that have it. */
static void set_hang_after(const struct training_job *j, json_t *annotations)
{
	const json_t *asked = json_object_get(jsonx_at(j->obj, "metadata.annotations"), HANG_AFTER);

	json_object_del(annotations, HANG_AFTER);
	if (j->hang_after)
		json_object_set(annotations, HANG_AFTER, (json_t *)asked);
}

static void set_default(json_t *spec, const char *key, const char *value)
{
	if (value && !*jsonx_str_or(spec, key, ""))
		json_object_set_new(spec, key, jsonx_string(value));
}

json_t *training_pod(const struct training_job *j, const struct training_role *r, int index, int attempt)
{
	json_t *pod = pod_from_template(r->template, j->obj, TRAINING_VERSION, j->form->kind);
	json_t *meta = json_object_get(pod, "metadata");
	json_t *spec = json_object_get(pod, "spec");
	json_t *annotations = object_at(meta, "annotations");
	auto_free char *name = training_pod_name(j, r, index, attempt);

	json_object_del(meta, "generateName");
	json_object_set_new(meta, "name", jsonx_string(name));
	add_labels(j, r, index, object_at(meta, "labels"));
	if (attempt)
		json_object_set_new(annotations, TRAINING_ATTEMPT, jsonx_stringf("%d", attempt));
	set_gang(j, annotations);
	set_hang_after(j, annotations);
	json_object_set_new(spec, "restartPolicy", json_string(pod_restart(j, r)));
	set_default(spec, "priorityClassName", jsonx_str(j->spec, "runPolicy.schedulingPolicy.priorityClass"));
	set_default(spec, "schedulerName", jsonx_str(j->spec, "schedulerName"));
	set_containers(j, r, index, spec);
	keep_last_lines(spec);
	if (j->form->finish)
		j->form->finish(j, r, pod);
	return pod;
}

/* ---- the Service ---- */

static json_t *service_ports(const struct training_job *j, const struct training_role *r)
{
	json_t *ports = json_array();
	json_t *p;
	size_t i;

	if (j->form->one_port) {
		json_array_append_new(ports,
				      json_pack("{s:s, s:i}", "name",
						j->form->port_name ? j->form->port_name : "tf-port", "port", r->port));
		return ports;
	}
	json_array_foreach (r->ports, i, p) {
		json_int_t number = jsonx_int_or(p, "containerPort", 0);
		const char *name = jsonx_str(p, "name");

		json_array_append_new(ports, json_pack("{s:o, s:I, s:s}", "name",
						       name ? jsonx_string(name) : jsonx_stringf("port-%zu", i), "port",
						       number, "protocol", jsonx_str_or(p, "protocol", "TCP")));
	}
	return ports;
}

json_t *training_service(const struct training_job *j, const struct training_role *r, int index)
{
	auto_free char *name = training_host(j, r, index);
	json_t *labels = json_object();
	json_t *service = json_pack(
		"{s:s, s:s, s:{s:s, s:o, s:o, s:[o]}, s:{s:o, s:b, s:o}}", "apiVersion", "v1", "kind", "Service",
		"metadata", "name", name, "namespace", jsonx_string(j->ns), "labels", labels, "ownerReferences",
		controller_ref(TRAINING_VERSION, j->form->kind, j->obj), "spec", "selector", own_labels(j, r, index),
		"publishNotReadyAddresses", 1, "ports", service_ports(j, r));

	add_labels(j, r, index, labels);
	if (!j->form->cluster_ip)
		jsonx_set_new(service, "spec.clusterIP", json_string("None"));
	return service;
}
