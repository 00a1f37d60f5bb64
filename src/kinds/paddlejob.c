// SPDX-License-Identifier: Apache-2.0
/* paddlejob.c - kubeflow.org/v1 PaddleJob: PaddlePaddle on several machines */
#include "kinds/rest.h"
#include "kinds/training.h"

static const struct training paddle = {
	.specs = "paddleReplicaSpecs",
	.container = "paddle",
	.port_name = "master",
	.port = 36543,
	.restart = "OnFailure",
	.types = "Master|Worker",
};

static const struct field elastic_fields[] = {
	F(0, "minReplicas", INT32, .has_min = true, .doc = "Fewest workers to run with."),
	F(0, "maxReplicas", INT32, .has_min = true, .doc = "Most workers to run with."),
	F(0, "maxRestarts", INT32, .has_min = true, .doc = "How often workers may be restarted."),
	FL(0, "metrics", ANY, .doc = "Measures by which the number of workers is chosen."),
};

static const struct message elastic =
	MESSAGE("org.kubeflow.v1.PaddleElasticPolicy", elastic_fields, .doc = "How many workers there may be.");

static const struct field spec_fields[] = {
	TRAINING_POLICY_ROWS,
	F(0, "elasticPolicy", OBJECT, .msg = &elastic, .doc = "How many workers there may be."),
	FM(0, "paddleReplicaSpecs", OBJECT, .msg = &training_replica_spec,
	   .doc = "The job's pods by type: Worker, and Master for parameter servers."),
};

static void spec_defaults(json_t *obj)
{
	training_default_replicas(obj, &paddle);
	training_default_policy(obj);
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	training_validate(obj, at, &paddle, e);
}

static const struct message spec = MESSAGE("org.kubeflow.v1.PaddleJobSpec", spec_fields, .doc = "How a PaddleJob runs.",
					   .defaults = spec_defaults, .validate = spec_validate);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "How the job runs."),
	F(0, "status", OBJECT, .msg = &training_status, .doc = "How it stands; written by the controller."),
};

static const struct message paddlejob =
	MESSAGE("org.kubeflow.v1.PaddleJob", fields, .doc = "Runs PaddlePaddle on several pods that find each other.");

static void validate(const json_t *obj, struct err *e)
{
	training_validate_object(obj, &paddle, e);
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.runPolicy.managedBy", e);
}

const struct kind kind_paddlejob = {
	.group = "kubeflow.org",
	.version = "v1",
	.kind = "PaddleJob",
	.plural = "paddlejobs",
	.singular = "paddlejob",
	.namespaced = true,
	.name_rule = NAME_LABEL_1035,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &paddlejob,
	KIND_COLUMNS(training_columns),
	KIND_SUBRESOURCES(status_scale),
	.scale_spec = ".spec.paddleReplicaSpecs.Worker.replicas",
	.scale_status = ".status.replicaStatuses.Worker.active",
	.scale_selector = ".status.replicaStatuses.Worker.selector",
	.prepare_create = training_begin,
	.validate = validate,
	.validate_update = validate_update,
};
