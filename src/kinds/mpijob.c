// SPDX-License-Identifier: Apache-2.0
/* mpijob.c - kubeflow.org/v1 MPIJob: a launcher that starts processes on workers */
#include "kinds/rest.h"
#include "kinds/training.h"

static const struct training mpi = {
	.specs = "mpiReplicaSpecs",
	.restart = "Never",
	.types = "Launcher|Worker",
};

static const struct field spec_fields[] = {
	TRAINING_POLICY_ROWS,
	F(0, "slotsPerWorker", INT32, .dflt = "1", .has_min = true, .min = 1, .doc = "Processes on each worker."),
	F(0, "mainContainer", STRING, .doc = "The container in which processes are started; the first by default."),
	FM(0, "mpiReplicaSpecs", OBJECT, .msg = &training_replica_spec,
	   .doc = "The job's pods: one Launcher, and Workers."),
};

static void spec_defaults(json_t *obj)
{
	training_default_replicas(obj, &mpi);
	training_default_policy(obj);
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *launcher = jsonx_at(obj, "mpiReplicaSpecs.Launcher");

	training_validate(obj, at, &mpi, e);
	if (value_is_empty(json_object_get(obj, "mpiReplicaSpecs")))
		return;
	if (!launcher)
		path_required(PATH_FIELD(at, "mpiReplicaSpecs[Launcher]"), e, "must be specified");
	else if (jsonx_int_or(launcher, "replicas", 1) != 1)
		path_forbidden(PATH_FIELD(at, "mpiReplicaSpecs[Launcher].replicas"), e, "must be 1");
}

static const struct message spec = MESSAGE("org.kubeflow.v1.MPIJobSpec", spec_fields, .doc = "How an MPIJob runs.",
					   .defaults = spec_defaults, .validate = spec_validate);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "How the job runs."),
	F(0, "status", OBJECT, .msg = &training_status, .doc = "How it stands; written by the controller."),
};

static const struct message mpijob =
	MESSAGE("org.kubeflow.v1.MPIJob", fields, .doc = "Runs mpirun in a launcher that starts processes on workers.");

static void validate(const json_t *obj, struct err *e)
{
	training_validate_object(obj, &mpi, e);
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.runPolicy.managedBy", e);
}

const struct kind kind_mpijob = {
	.group = "kubeflow.org",
	.version = "v1",
	.kind = "MPIJob",
	.plural = "mpijobs",
	.singular = "mpijob",
	.namespaced = true,
	.name_rule = NAME_LABEL_1035,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &mpijob,
	KIND_COLUMNS(training_columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = training_begin,
	.validate = validate,
	.validate_update = validate_update,
};
