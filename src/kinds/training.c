// SPDX-License-Identifier: Apache-2.0
/* training.c - what the training kinds of kubeflow.org have in common: messages, defaults, rules, columns */
#include "kinds/training.h"

#include <strings.h>

#include "kinds/activity.h"

#define KUBEFLOW "org.kubeflow.v1."

static const struct field scheduling_fields[] = {
	F(0, "minAvailable", INT32, .has_min = true,
	  .doc = "How many pods must be able to start together; all by default."),
	F(0, "queue", STRING, .doc = "The queue the job waits in."),
	FM(0, "minResources", QUANTITY, .doc = "Resources that must be free before any pod starts."),
	F(0, "priorityClass", STRING, .doc = "PriorityClass of the job."),
	F(0, "scheduleTimeoutSeconds", INT32, .has_min = true, .doc = "Seconds to wait for a place."),
};

static const struct message scheduling =
	MESSAGE(KUBEFLOW "SchedulingPolicy", scheduling_fields, .doc = "How the job's pods are placed as one.");

static const struct field policy_fields[] = {
	F(0, "cleanPodPolicy", STRING, .values = "All|Running|None",
	  .doc = "Which pods are deleted when the job has ended: all, those still running, or none."),
	F(0, "ttlSecondsAfterFinished", INT32, .has_min = true,
	  .doc = "Seconds after its end at which the job is deleted; kept for ever by default."),
	F(0, "activeDeadlineSeconds", INT64, .has_min = true,
	  .doc = "Seconds after its start at which the job is stopped and fails."),
	F(0, "backoffLimit", INT32, .has_min = true, .doc = "How many restarts there may be before the job fails."),
	F(0, "schedulingPolicy", OBJECT, .msg = &scheduling, .doc = "How the job's pods are placed as one."),
	F(0, "suspend", BOOL, .dflt = "false", .doc = "While true, no pods run; those that do are deleted."),
	F(0, "managedBy", STRING, .values = "kubeflow.org/training-operator|kueue.x-k8s.io/multikueue",
	  .doc = "The controller that runs the job; it cannot change."),
};

const struct message training_run_policy =
	MESSAGE(KUBEFLOW "RunPolicy", policy_fields, .doc = "When a job stops, and what is cleaned up.");

static const struct field replica_fields[] = {
	F(0, "replicas", INT32, .dflt = "1", .has_min = true, .doc = "How many pods of this type."),
	F(0, "restartPolicy", STRING, .values = "Always|OnFailure|Never|ExitCode",
	  .doc = "When a pod that ended is run again; ExitCode: if it was killed rather than failed by itself."),
	F(0, "template", OBJECT, .msg = &core_pod_template_spec, .flags = FIELD_REQUIRED, .doc = "The pods to run."),
};

const struct message training_replica_spec =
	MESSAGE(KUBEFLOW "ReplicaSpec", replica_fields, .doc = "Pods that have the same part in a job.");

static const struct field replica_status_fields[] = {
	F(0, "active", INT32, .doc = "Pods that run."),
	F(0, "succeeded", INT32, .doc = "Pods that ended well."),
	F(0, "failed", INT32, .doc = "Pods that failed."),
	F(0, "selector", STRING, .doc = "Labels of the pods, as a selector's text."),
	F(0, "labelSelector", OBJECT, .msg = &meta_label_selector, .doc = "The same as an object; no longer written."),
};

const struct message training_replica_status =
	MESSAGE(KUBEFLOW "ReplicaStatus", replica_status_fields, .doc = "How many pods of a type stand how.");

static const struct field record_fields[] = {
	F(0, "restarts", INT32, .doc = "How often it was restarted, by a new pod or in place."),
	F(0, "succeeded", BOOL, .doc = "Whether it ended well: it is not run again, even if its pod is deleted."),
	F(0, "run", INT32, .doc = "Which run did, counted from 0."),
	F(0, "exitCode", INT32, .doc = "With what it failed, if that was the end of the job."),
};

const struct message training_record =
	MESSAGE(KUBEFLOW "ReplicaRecord", record_fields, .doc = "What is remembered of one replica.");

static const struct field condition_fields[] = {
	F(0, "type", STRING, .flags = FIELD_REQUIRED,
	  .doc = "Created, Queued, Running, Restarting, Suspended, Succeeded or Failed."),
	F(0, "status", STRING, .flags = FIELD_REQUIRED, .doc = "True, False or Unknown."),
	F(0, "reason", STRING, .doc = "One word for programs: why status is what it is."),
	F(0, "message", STRING, .doc = "The same for people."),
	F(0, "lastUpdateTime", TIME, .doc = "When this condition was last written."),
	F(0, "lastTransitionTime", TIME, .doc = "When status last changed."),
};

const struct message training_condition =
	MESSAGE(KUBEFLOW "JobCondition", condition_fields, .doc = "One fact about a job.");

static const struct field status_fields[] = {
	TRAINING_STATUS_ROWS,
	FM(0, "replicaStatuses", OBJECT, .msg = &training_replica_status,
	   .doc = "How many pods of each type stand how."),
};

const struct message training_status =
	MESSAGE(KUBEFLOW "JobStatus", status_fields, .doc = "What the controller last saw of a job.");

/* The spelling of a replica type, whatever capitals it was written with; NULL if there is no such type. */
static const char *spelling(const char *types, const char *key, struct str *ret)
{
	struct str rest = str_of(types);

	while (str_split(&rest, '|', ret))
		if (ret->n == strlen(key) && strncasecmp(ret->p, key, ret->n) == 0)
			return ret->p;
	return NULL;
}

static void spell_types(json_t *specs, const struct training *t)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe (specs, next, key, v) {
		struct str right;
		auto_free char *name = NULL;

		if (!spelling(t->types, key, &right) || str_eq(right, key))
			continue;
		name = xstrndup(right.p, right.n);
		/* Where both are there, a client patched its own spelling onto ours: its word is the newer one. */
		json_object_set(specs, name, v);
		json_object_del(specs, key);
	}
}

static void default_port(json_t *replica, const struct training *t)
{
	json_t *containers = jsonx_at(replica, "template.spec.containers");
	json_t *container = jsonx_find(containers, "name", t->container);
	json_t *ports;

	if (!container)
		container = json_array_get(containers, 0);
	if (!json_is_object(container))
		return;
	set_if_absent(container, "ports", json_array());
	ports = json_object_get(container, "ports");
	if (json_is_array(ports) && !jsonx_find(ports, "name", t->port_name))
		json_array_append_new(ports, json_pack("{s:s, s:i}", "name", t->port_name, "containerPort", t->port));
}

void training_default_replicas(json_t *spec, const struct training *t)
{
	json_t *specs = json_object_get(spec, t->specs);
	const char *key;
	json_t *replica;

	if (!json_is_object(specs))
		return;
	spell_types(specs, t);
	json_object_foreach (specs, key, replica) {
		if (!json_is_object(replica))
			continue;
		if (value_is_empty(json_object_get(replica, "restartPolicy")))
			json_object_set_new(replica, "restartPolicy", json_string(t->restart));
		if (t->port_name)
			default_port(replica, t);
	}
}

void training_default_policy(json_t *spec)
{
	static const char *const older[] = { "cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds",
					     "backoffLimit" };
	json_t *policy;

	for (size_t i = 0; i < ARRAY_SIZE(older); i++)
		if (json_object_get(spec, older[i]))
			return;
	policy = object_in(spec, "runPolicy");
	if (policy)
		set_if_absent(policy, "cleanPodPolicy", json_string("None"));
}

static int64_t replicas_of(const json_t *replica)
{
	return jsonx_int_or(replica, "replicas", 1);
}

/* A type is part of its pods' names. */
static bool is_type_name(const char *type)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	size_t n = strlen(type);

	return n && strspn(type, allowed) == n && type[0] != '-' && type[n - 1] != '-';
}

static void check_type(const char *type, const struct path *at, const struct training *t, struct err *e)
{
	json_auto_t *text = jsonx_string(type);
	struct str right;

	if (spelling(t->types, type, &right) && str_eq(right, type))
		return;
	if (!t->other_types)
		path_unsupported(at, e, type, t->types);
	else if (!is_type_name(type))
		path_invalid(at, e, text,
			     "must consist of letters, digits or '-', and begin and end with a letter or digit");
}

/* Workers that come and go may all have gone. */
static void check_count(const json_t *spec, const json_t *replica, const char *type, const struct path *at,
			struct err *e)
{
	bool changing = jsonx_bool_or(spec, "enableDynamicWorker", false) || jsonx_at(spec, "elasticPolicy");

	if (replicas_of(replica) == 0 && !(changing && streq(type, "Worker")))
		path_invalid(PATH_FIELD(at, "replicas"), e, json_object_get(replica, "replicas"),
			     "must be greater than or equal to 1");
}

static void check_replica(const json_t *replica, const struct path *at, const struct training *t, struct err *e)
{
	const json_t *containers = jsonx_at(replica, "template.spec.containers");
	char detail[96];

	/* A template without any container is told of by its own rules. */
	if (!t->container || json_array_size(containers) == 0 || jsonx_find(containers, "name", t->container))
		return;
	snprintf(detail, sizeof(detail), "must have at least one container with name %s", t->container);
	path_required(PATH_FIELD(at, "template.spec.containers"), e, detail);
}

/* More than any machine has room for, and all of them are looked at together. */
static void check_total(const json_t *specs, const struct path *at, struct err *e)
{
	int64_t left = TRAINING_REPLICAS_MOST;
	const char *key;
	json_t *replica;

	json_object_foreach ((json_t *)specs, key, replica) {
		left -= replicas_of(replica);
		if (left < 0) {
			path_invalid(PATH_FIELD(PATH_KEY(at, key), "replicas"), e, json_object_get(replica, "replicas"),
				     "a job may have no more than %d replicas in all", TRAINING_REPLICAS_MOST);
			return;
		}
	}
}

void training_validate(const json_t *spec, const struct path *at, const struct training *t, struct err *e)
{
	const struct path specs_at = { .up = at, .name = t->specs };
	json_t *specs = json_object_get(spec, t->specs);
	int64_t leaders = 0;
	const char *key;
	json_t *replica;
	struct str right;

	if (value_is_empty(specs)) {
		path_required(&specs_at, e, "must be specified");
		return;
	}
	json_object_foreach (specs, key, replica) {
		check_type(key, PATH_KEY(&specs_at, key), t, e);
		check_count(spec, replica, key, PATH_KEY(&specs_at, key), e);
		if (t->leaders && spelling(t->leaders, key, &right))
			leaders += replicas_of(replica);
		check_replica(replica, PATH_KEY(&specs_at, key), t, e);
	}
	check_total(specs, &specs_at, e);
	if (leaders > 1)
		path_forbidden(&specs_at, e, "More than 1 %s found",
			       streq(t->leaders, "Chief|Master") ? "chief/master" : "master");
}

void training_validate_annotations(const json_t *obj, struct err *e)
{
	const struct path at = { .name = "metadata.annotations" };
	const json_t *annotations = jsonx_at(obj, "metadata.annotations");
	const json_t *hang = json_object_get(annotations, HANG_AFTER);
	const char *restart = json_string_value(json_object_get(annotations, TRAINING_RESTART));
	int64_t seconds;

	if (restart && !streq(restart, "gang"))
		path_unsupported(PATH_KEY(&at, TRAINING_RESTART), e, restart, "gang");
	if (json_is_string(hang) && !hang_after_parse(json_string_value(hang), &seconds))
		path_invalid(PATH_KEY(&at, HANG_AFTER), e, hang, HANG_AFTER_RULE);
}

static void check_name(const json_t *obj, const struct training *t, struct err *e)
{
	json_t *specs = json_object_get(json_object_get(obj, "spec"), t->specs);
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	const char *key;
	json_t *replica;

	json_object_foreach (specs, key, replica) {
		int64_t last = replicas_of(replica) - 1;
		int longest = 63 - snprintf(NULL, 0, "-%s-%lld", key, (long long)(last > 0 ? last : 0));

		if (longest > 0 && strlen(name) > (size_t)longest) {
			path_invalid(&(struct path){ .name = "metadata.name" }, e, jsonx_at(obj, "metadata.name"),
				     "must be no more than %d characters, because the names of its %s replicas must "
				     "be no more than 63",
				     longest, key);
			return;
		}
	}
}

void training_validate_object(const json_t *obj, const struct training *t, struct err *e)
{
	check_name(obj, t, e);
	training_validate_annotations(obj, e);
}

void training_begin(json_t *obj)
{
	json_object_del(obj, "status");
}

static const char *mark_of(const json_t *obj)
{
	return json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), TRAINING_WRITTEN_AS));
}

static void set_mark(json_t *obj, const char *version)
{
	json_t *metadata = object_in(obj, "metadata");
	json_t *annotations = metadata ? object_in(metadata, "annotations") : NULL;

	if (annotations)
		json_object_set_new(annotations, TRAINING_WRITTEN_AS, json_string(version));
}

void training_keep_mark(json_t *obj, const json_t *old)
{
	const char *mark = mark_of(old);

	if (mark && !str_same(mark, mark_of(obj)))
		set_mark(obj, mark);
	else if (!mark && mark_of(obj))
		training_unmark(obj);
}

void training_mark(json_t *obj, const json_t *old, const char *version)
{
	if (old)
		training_keep_mark(obj, old);
	else
		set_mark(obj, version);
}

void training_unmark(json_t *obj)
{
	json_t *metadata = json_object_get(obj, "metadata");
	json_t *annotations = json_object_get(metadata, "annotations");

	json_object_del(annotations, TRAINING_WRITTEN_AS);
	if (annotations && value_is_empty(annotations))
		json_object_del(metadata, "annotations");
}

/* The newest condition that holds; what is over, such as a suspension, says nothing.  PyTorchJobs of v1alpha1 have one
 * word instead. */
static json_t *cell_state(const json_t *obj, int64_t now)
{
	const json_t *conditions = jsonx_at(obj, "status.conditions");
	const char *state = json_array_size(conditions) ? NULL : jsonx_str(obj, "status.state");
	json_t *c;
	size_t i;

	(void)now;
	json_array_foreach (conditions, i, c)
		if (str_same(jsonx_str(c, "status"), "True"))
			state = jsonx_str(c, "type");
	return state ? jsonx_string(state) : json_null();
}

const struct column training_columns[3] = {
	COLUMN_NAME,
	COLUMN("State", "How the job stands.", cell_state),
	COLUMN_AGE,
};

const struct column training_plain_columns[2] = { COLUMN_NAME, COLUMN_AGE };
