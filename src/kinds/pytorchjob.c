// SPDX-License-Identifier: Apache-2.0
/* pytorchjob.c - kubeflow.org PyTorchJob, v1 and v1alpha1: PyTorch on several machines
 *
 * v1alpha1 came from another hand: a list of replicas instead of a map, one word of state instead of conditions, and
 * no schema, so that its objects keep fields nobody knows.  Both shapes fit in one object without meeting, except for
 * status.replicaStatuses, which is a list in one and a map in the other and therefore kept as it is.  An object is of
 * the shape whose replicas it has, whichever version it is read through.
 */
#include "base/jsonx.h"
#include "kinds/rest.h"
#include "kinds/training.h"

enum { MASTER_PORT = 23456 };

static const struct training pytorch = {
	.specs = "pytorchReplicaSpecs",
	.container = "pytorch",
	.port_name = "pytorchjob-port",
	.port = MASTER_PORT,
	.restart = "OnFailure",
	.types = "Master|Worker",
};

/* --- v1alpha1's own parts --- */

static const struct field old_replica_fields[] = {
	F(0, "replicas", INT32, .dflt = "1", .has_min = true, .doc = "How many pods of this type."),
	F(0, "replicaType", STRING, .dflt = "\"MASTER\"", .values = "MASTER|WORKER", .doc = "MASTER or WORKER."),
	F(0, "masterPort", INT32, .doc = "Port of the master; 23456 by default."),
	F(0, "template", OBJECT, .msg = &core_pod_template_spec, .flags = FIELD_REQUIRED, .doc = "The pods to run."),
};

static const struct message old_replica = MESSAGE("org.kubeflow.v1alpha1.PyTorchReplicaSpec", old_replica_fields,
						  .doc = "Pods that have the same part in a job.");

static const struct field master_fields[] = {
	F(0, "replicaName", STRING, .doc = "Type of the replica."),
	F(0, "replicaRank", INT32, .doc = "Its number."),
};

static const struct message master = MESSAGE("org.kubeflow.v1alpha1.MasterSpec", master_fields, .doc = "One pod.");

static const struct field termination_fields[] = {
	F(0, "master", OBJECT, .msg = &master, .doc = "The pod whose end is the job's."),
};

static const struct message termination =
	MESSAGE("org.kubeflow.v1alpha1.TerminationPolicySpec", termination_fields, .doc = "Whose end is the job's.");

#define OLD_SPEC_ROWS                                                                                                  \
	FL(0, "replicaSpecs", OBJECT, .msg = &old_replica, .doc = "v1alpha1: the job's pods by type."),                \
		F(0, "pytorchImage", STRING, .doc = "v1alpha1: image; not used."),                                     \
		F(0, "terminationPolicy", OBJECT, .msg = &termination, .doc = "v1alpha1: whose end is the job's."),    \
		F(0, "schedulerName", STRING, .doc = "v1alpha1: scheduler of the pods."),                              \
		F(0, "RuntimeId", STRING, .doc = "v1alpha1: part of the pods' names; set by the controller."),         \
		F(0, "backend", STRING, .doc = "v1alpha1: what the processes speak; told by the program itself."),     \
		F(0, "masterPort", INTSTR, .doc = "v1alpha1: port of the master where a replica has none."),           \
		FM(0, "otherFields", ANY, .doc = "v1alpha1: fields of spec that nobody knows, kept for their author.")

static void check_old_replicas(const json_t *replicas, const struct path *at, struct err *e)
{
	bool found = false;
	bool workers = false;
	json_t *r, *c;
	size_t i, j;

	json_array_foreach (replicas, i, r) {
		bool is_master = streq(jsonx_str_or(r, "replicaType", "MASTER"), "MASTER");
		bool named = false;

		if (is_master ? found : workers)
			path_duplicate(PATH_FIELD(PATH_INDEX(at, i), "replicaType"), e,
				       json_object_get(r, "replicaType"));
		found |= is_master;
		workers |= !is_master;
		if (is_master && jsonx_int_or(r, "replicas", 1) != 1)
			path_invalid(PATH_FIELD(PATH_INDEX(at, i), "replicas"), e, json_object_get(r, "replicas"),
				     "invalid job spec: The MASTER must have replicas = 1");
		if (!is_master && jsonx_int_or(r, "replicas", 1) >= TRAINING_REPLICAS_MOST)
			path_invalid(PATH_FIELD(PATH_INDEX(at, i), "replicas"), e, json_object_get(r, "replicas"),
				     "a job may have no more than %d replicas in all", TRAINING_REPLICAS_MOST);
		json_array_foreach (jsonx_at(r, "template.spec.containers"), j, c)
			named |= str_same(jsonx_str(c, "name"), "pytorch");
		if (json_object_get(r, "template") && !named)
			path_required(PATH_FIELD(PATH_INDEX(at, i), "template.spec.containers"), e,
				      "invalid job spec: Replica type is missing a container named pytorch");
	}
	if (!found)
		path_required(at, e, "invalid job spec: Missing ReplicaSpec for MASTER");
}

/* --- v1 --- */

static const struct field rdzv_fields[] = {
	F(0, "key", STRING, .doc = "Name of a setting."),
	F(0, "value", STRING, .doc = "Its value."),
};

static const struct message rdzv = MESSAGE("org.kubeflow.v1.RDZVConf", rdzv_fields, .doc = "A rendezvous setting.");

static const struct field elastic_fields[] = {
	F(0, "minReplicas", INT32, .has_min = true, .doc = "Fewest workers to run with."),
	F(0, "maxReplicas", INT32, .has_min = true, .doc = "Most workers to run with."),
	F(0, "rdzvBackend", STRING, .values = "c10d|etcd|etcd-v2",
	  .doc = "How workers find each other; c10d by default."),
	F(0, "rdzvPort", INT32, .doc = "Port of the meeting place."),
	F(0, "rdzvHost", STRING, .doc = "Host of the meeting place."),
	F(0, "rdzvId", STRING, .doc = "Name of the meeting."),
	FL(0, "rdzvConf", OBJECT, .msg = &rdzv, .doc = "Settings of the meeting."),
	F(0, "standalone", BOOL, .doc = "Whether one machine meets by itself."),
	F(0, "nProcPerNode", INT32, .doc = "Older place of spec.nprocPerNode."),
	F(0, "maxRestarts", INT32, .has_min = true, .doc = "How often the workers may be restarted."),
	FL(0, "metrics", ANY, .doc = "Measures by which the number of workers is chosen."),
};

static const struct message elastic = MESSAGE("org.kubeflow.v1.ElasticPolicy", elastic_fields,
					      .doc = "How many workers there may be, and how they meet.");

static const struct field spec_fields[] = {
	TRAINING_POLICY_ROWS,
	F(0, "elasticPolicy", OBJECT, .msg = &elastic, .doc = "How many workers there may be, and how they meet."),
	FM(0, "pytorchReplicaSpecs", OBJECT, .msg = &training_replica_spec,
	   .doc = "The job's pods by type: one Master, and Workers."),
	F(0, "nprocPerNode", STRING, .doc = "Processes in each pod: auto, cpu, gpu or a number."),
	OLD_SPEC_ROWS,
};

static bool is_old(const json_t *spec)
{
	return json_object_get(spec, "replicaSpecs") && !json_object_get(spec, "pytorchReplicaSpecs");
}

/* Either end of the range, where only the other is given; both from the workers where neither is. */
static void default_elastic(json_t *spec)
{
	json_t *policy = json_object_get(spec, "elasticPolicy");
	int64_t workers = jsonx_int_or(spec, "pytorchReplicaSpecs.Worker.replicas", 1);

	if (!json_is_object(policy))
		return;
	set_if_absent(policy, "minReplicas", json_integer(jsonx_int_or(policy, "maxReplicas", workers)));
	set_if_absent(policy, "maxReplicas", json_integer(jsonx_int_or(policy, "minReplicas", workers)));
}

static void spec_defaults(json_t *obj)
{
	if (is_old(obj))
		return;
	training_default_replicas(obj, &pytorch);
	training_default_policy(obj);
	default_elastic(obj);
	set_if_absent(obj, "nprocPerNode", json_string("auto"));
}

static void check_elastic(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *policy = json_object_get(spec, "elasticPolicy");

	if (!policy)
		return;
	if (!jsonx_at(spec, "pytorchReplicaSpecs.Worker"))
		path_required(PATH_FIELD(at, "pytorchReplicaSpecs[Worker]"), e, "must be specified with elasticPolicy");
	if (jsonx_int_or(policy, "minReplicas", 0) > jsonx_int_or(policy, "maxReplicas", INT32_MAX))
		path_invalid(PATH_FIELD(at, "elasticPolicy.maxReplicas"), e, json_object_get(policy, "maxReplicas"),
			     "must be greater than or equal to minReplicas");
}

static void check_processes(const json_t *spec, const struct path *at, struct err *e)
{
	const char *text = jsonx_str_or(spec, "nprocPerNode", "auto");
	int64_t n;

	if (!streq(text, "auto") && !streq(text, "cpu") && !streq(text, "gpu") && !str_int64(text, 1, 65536, &n))
		path_invalid(PATH_FIELD(at, "nprocPerNode"), e, json_object_get(spec, "nprocPerNode"),
			     "must be auto, cpu, gpu or a number from 1 to 65536");
}

static void check_old_port(const json_t *port, const struct path *at, struct err *e)
{
	int64_t n = json_integer_value(port);

	if (json_is_string(port) && !str_int64(json_string_value(port), 1, 65535, &n))
		n = 0;
	if (port && (n < 1 || n > 65535))
		path_invalid(at, e, port, "must be a number from 1 to 65535");
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *leader = jsonx_at(obj, "pytorchReplicaSpecs.Master");

	if (is_old(obj)) {
		check_old_port(json_object_get(obj, "masterPort"), PATH_FIELD(at, "masterPort"), e);
		check_old_replicas(json_object_get(obj, "replicaSpecs"), PATH_FIELD(at, "replicaSpecs"), e);
		return;
	}
	training_validate(obj, at, &pytorch, e);
	if (leader && jsonx_int_or(leader, "replicas", 1) != 1)
		path_forbidden(PATH_FIELD(at, "pytorchReplicaSpecs[Master].replicas"), e, "must be 1");
	check_processes(obj, at, e);
	check_elastic(obj, at, e);
}

static const struct message spec =
	MESSAGE("org.kubeflow.v1.PyTorchJobSpec", spec_fields, .doc = "How a PyTorchJob runs.",
		.defaults = spec_defaults, .validate = spec_validate);

static const struct field status_fields[] = {
	TRAINING_STATUS_ROWS,
	F(0, "replicaStatuses", ANY, .doc = "How many pods of each type stand how: active, succeeded, failed."),
	F(0, "phase", STRING, .doc = "v1alpha1: Creating, Done, Failed or CleanUp."),
	F(0, "state", STRING, .doc = "v1alpha1: Unknown, Running, Succeeded or Failed."),
	F(0, "reason", STRING, .doc = "v1alpha1: why it failed."),
};

static const struct message status = MESSAGE("org.kubeflow.v1.PyTorchJobStatus", status_fields,
					     .doc = "What the controller last saw of a PyTorchJob.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "How the job runs."),
	F(0, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the controller."),
};

static const struct message pytorchjob =
	MESSAGE("org.kubeflow.v1.PyTorchJob", fields, .doc = "Runs PyTorch on several pods that find each other.");

static void validate(const json_t *obj, struct err *e)
{
	training_validate_object(obj, &pytorch, e);
}

#define WORKERS "spec.pytorchReplicaSpecs.Worker.replicas"

/* A number of workers that torchrun would not take.  Only where it changes: the operators let a job begin with any. */
static void check_scale(const json_t *obj, const json_t *old, struct err *e)
{
	const struct path at = { .name = "spec.pytorchReplicaSpecs[Worker].replicas" };
	int64_t least = jsonx_int_or(obj, "spec.elasticPolicy.minReplicas", 0);
	int64_t most = jsonx_int_or(obj, "spec.elasticPolicy.maxReplicas", INT32_MAX);
	int64_t n = jsonx_int_or(obj, WORKERS, 1);

	if (jsonx_at(obj, "spec.elasticPolicy") && n != jsonx_int_or(old, WORKERS, 1) && (n < least || n > most))
		path_invalid(&at, e, jsonx_at(obj, WORKERS),
			     "must be between elasticPolicy.minReplicas (%lld) and elasticPolicy.maxReplicas (%lld)",
			     (long long)least, (long long)most);
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.runPolicy.managedBy", e);
	check_scale(obj, old, e);
}

/* --- v1alpha1 as a version: no table, so that unknown fields stay --- */

static void default_old_replica(json_t *r, const json_t *port)
{
	int64_t number = json_integer_value(port);

	if (json_is_string(port) && !str_int64(json_string_value(port), 1, 65535, &number))
		number = 0;
	set_if_absent(r, "replicas", json_integer(1));
	set_if_absent(r, "replicaType", json_string("MASTER"));
	set_if_absent(r, "masterPort", json_integer(number > 0 ? number : MASTER_PORT));
}

static void default_old(json_t *obj)
{
	json_t *own = object_in(obj, "spec");
	json_t *r;
	size_t i;

	if (!own)
		return;
	json_array_foreach (json_object_get(own, "replicaSpecs"), i, r)
		if (json_is_object(r))
			default_old_replica(r, json_object_get(own, "masterPort"));
	set_if_absent(own, "pytorchImage", json_string("pytorch/pytorch:v0.2"));
	set_if_absent(own, "terminationPolicy",
		      json_pack("{s:{s:s, s:i}}", "master", "replicaName", "MASTER", "replicaRank", 0));
}

static void prepare_create_old(json_t *obj)
{
	training_begin(obj);
	default_old(obj);
}

static void prepare_update_old(json_t *obj, const json_t *old)
{
	(void)old;
	default_old(obj);
}

/* Checked by the table on a copy: what the table would drop, the object keeps. */
static void validate_old(const json_t *obj, struct err *e)
{
	json_auto_t *copy = jsonx_copy(json_object_get(obj, "spec"));
	const struct path at = { .name = "spec" };
	struct err wrong = ERR_INIT;

	training_validate_annotations(obj, e);
	if (!json_is_object(copy) || value_is_empty(json_object_get(copy, "replicaSpecs"))) {
		path_required(PATH_FIELD(&at, "replicaSpecs"), e, NULL);
		return;
	}
	json_object_del(copy, "pytorchReplicaSpecs");
	if (message_decode_at(&spec, copy, &at, NULL, &wrong) < 0) {
		path_invalid(&at, e, json_null(), "%s", wrong.text);
		return;
	}
	message_default(&spec, copy);
	message_validate(&spec, copy, &at, e);
}

/* v1's table would drop fields that it does not know; they are put where it keeps them. */
static void to_storage(json_t *obj, const json_t *old)
{
	json_t *own = json_object_get(obj, "spec");
	const char *key;
	json_t *v;
	void *next;

	training_mark(obj, old, "kubeflow.org/v1alpha1");
	json_object_foreach_safe (own, next, key, v) {
		json_t *kept = message_field(&spec, key) ? NULL : object_in(own, "otherFields");

		if (!kept)
			continue;
		json_object_set(kept, key, v);
		json_object_del(own, key);
	}
}

static void from_storage(json_t *obj)
{
	json_t *own = json_object_get(obj, "spec");
	json_auto_t *kept = json_incref(json_object_get(own, "otherFields"));

	training_unmark(obj);
	json_object_del(own, "otherFields");
	json_object_update(own, kept);
}

#define PYTORCHJOB_KIND                                                                                                \
	.group = "kubeflow.org", .kind = "PyTorchJob", .plural = "pytorchjobs", .singular = "pytorchjob",              \
	.namespaced = true, .name_rule = NAME_LABEL_1035, .flags = KIND_STATUS | KIND_GENERATION, .verbs = VERBS_ALL

const struct kind kind_pytorchjob = {
	PYTORCHJOB_KIND,
	.version = "v1",
	.message = &pytorchjob,
	KIND_COLUMNS(training_columns),
	KIND_SUBRESOURCES(status_scale),
	.scale_spec = ".spec.pytorchReplicaSpecs.Worker.replicas",
	.scale_status = ".status.replicaStatuses.Worker.active",
	.scale_selector = ".status.replicaStatuses.Worker.selector",
	.prepare_create = training_begin,
	.prepare_update = training_keep_mark,
	.validate = validate,
	.validate_update = validate_update,
};

const struct kind kind_pytorchjob_v1alpha1 = {
	PYTORCHJOB_KIND,
	.version = "v1alpha1",
	KIND_COLUMNS(training_plain_columns),
	KIND_SUBRESOURCES(status_only),
	.storage = &kind_pytorchjob,
	.to_storage = to_storage,
	.from_storage = from_storage,
	.prepare_create = prepare_create_old,
	.prepare_update = prepare_update_old,
	.validate = validate_old,
};
