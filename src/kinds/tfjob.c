// SPDX-License-Identifier: Apache-2.0
/* tfjob.c - kubeflow.org TFJob, v1 and v1alpha2: TensorFlow on several machines
 *
 * v1alpha2 is v1 with other defaults and without printer columns; what it calls tfReplicaStatuses v1 calls
 * replicaStatuses, and the stored form has room for both.
 */
#include "kinds/rest.h"
#include "kinds/training.h"

static const struct training tensorflow = {
	.specs = "tfReplicaSpecs",
	.container = "tensorflow",
	.port_name = "tfjob-port",
	.port = 2222,
	.restart = "Never",
	.types = "Chief|Master|Worker|PS|Evaluator",
	.other_types = true,
	.leaders = "Chief|Master",
};

static const struct field spec_fields[] = {
	TRAINING_POLICY_ROWS,
	F(0, "successPolicy", STRING, .values = "AllWorkers",
	  .doc = "AllWorkers: the job has succeeded when all its workers have, not only the first."),
	F(0, "enableDynamicWorker", BOOL, .doc = "Whether workers may come and go while the job runs."),
	FM(0, "tfReplicaSpecs", OBJECT, .msg = &training_replica_spec,
	   .doc = "The job's pods by type: Chief or Master, Worker, PS, Evaluator."),
};

static void spec_defaults(json_t *obj)
{
	training_default_replicas(obj, &tensorflow);
	training_default_policy(obj);
}

static void spec_defaults_v1alpha2(json_t *obj)
{
	training_default_replicas(obj, &tensorflow);
	if (!jsonx_at(obj, "runPolicy.cleanPodPolicy"))
		set_if_absent(obj, "cleanPodPolicy", json_string("Running"));
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	training_validate(obj, at, &tensorflow, e);
}

static const struct message spec = MESSAGE("org.kubeflow.v1.TFJobSpec", spec_fields, .doc = "How a TFJob runs.",
					   .defaults = spec_defaults, .validate = spec_validate);
static const struct message spec_v1alpha2 =
	MESSAGE("org.kubeflow.v1alpha2.TFJobSpec", spec_fields, .doc = "How a TFJob runs.",
		.defaults = spec_defaults_v1alpha2, .validate = spec_validate);

static const struct field status_fields[] = {
	TRAINING_STATUS_ROWS,
	FM(0, "replicaStatuses", OBJECT, .msg = &training_replica_status,
	   .doc = "How many pods of each type stand how."),
	FM(0, "tfReplicaStatuses", OBJECT, .msg = &training_replica_status, .doc = "The same, as v1alpha2 calls it."),
};

static const struct message status =
	MESSAGE("org.kubeflow.v1.TFJobStatus", status_fields, .doc = "What the controller last saw of a TFJob.");

#define TFJOB_ROWS(spec_)                                                                                              \
	FIELDS_OBJECT, F(0, "spec", OBJECT, .msg = (spec_), .dflt = "{}", .doc = "How the job runs."),                 \
		F(0, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the controller.")

static const struct field fields[] = { TFJOB_ROWS(&spec) };
static const struct field fields_v1alpha2[] = { TFJOB_ROWS(&spec_v1alpha2) };

#define TFJOB_DOC "Runs TensorFlow on several pods that find each other by TF_CONFIG."

static const struct message tfjob = MESSAGE("org.kubeflow.v1.TFJob", fields, .doc = TFJOB_DOC);
static const struct message tfjob_v1alpha2 = MESSAGE("org.kubeflow.v1alpha2.TFJob", fields_v1alpha2, .doc = TFJOB_DOC);

static void validate(const json_t *obj, struct err *e)
{
	training_validate_object(obj, &tensorflow, e);
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.runPolicy.managedBy", e);
}

static void to_storage(json_t *obj, const json_t *old)
{
	training_mark(obj, old, "kubeflow.org/v1alpha2");
}

#define TFJOB_KIND                                                                                                     \
	.group = "kubeflow.org", .kind = "TFJob", .plural = "tfjobs", .singular = "tfjob", .namespaced = true,         \
	.name_rule = NAME_LABEL_1035, .flags = KIND_STATUS | KIND_GENERATION, .verbs = VERBS_ALL,                      \
	KIND_SUBRESOURCES(status_only), .prepare_create = training_begin, .validate = validate,                        \
	.validate_update = validate_update

const struct kind kind_tfjob = {
	TFJOB_KIND,
	.version = "v1",
	.message = &tfjob,
	KIND_COLUMNS(training_columns),
	.prepare_update = training_keep_mark,
};

const struct kind kind_tfjob_v1alpha2 = {
	TFJOB_KIND,
	.version = "v1alpha2",
	.message = &tfjob_v1alpha2,
	KIND_COLUMNS(training_plain_columns),
	.storage = &kind_tfjob,
	.to_storage = to_storage,
	.from_storage = training_unmark,
};
