// SPDX-License-Identifier: Apache-2.0
/* training_forms.c - the frameworks and their versions, a row each */
#include "base/mem.h"
#include "control/training_job.h"

#define TF_ROW                                                                                                         \
	.kind = "TFJob", .plural = "tfjobs", .operator= "tfjob-controller", .specs = "tfReplicaSpecs",                 \
	.container = "tensorflow", .port_name = "tfjob-port", .port = 2222,                                            \
	.order = "Chief|Evaluator|Master|PS|Worker", .leaders = "Chief|Master", .members = "Worker",                   \
	.clean = CLEAN_RUNNING, .backoff = -1, .first_decides = true, .labels = tf_labels

#define PYTORCH_ROW                                                                                                    \
	.kind = "PyTorchJob", .plural = "pytorchjobs", .operator= "pytorchjob-controller", .container = "pytorch",     \
	.port = 23456, .leaders = "Master|MASTER", .members = "Worker", .succeeded = "is successfully completed",      \
	.failed = "is failed", .labels = pytorch_labels

#define SET_POLICY "SetPodTemplateRestartPolicy"

const struct training_form training_forms[] = {
	{
		TF_ROW,
		.env = tf_env,
		.full_name = true,
		.succeeded = "successfully completed",
		.failed = "has failed",
		.set_policy = SET_POLICY,
	},
	{
		TF_ROW,
		.written_as = "kubeflow.org/v1alpha2",
		.env = tf_env_v1alpha2,
		.env_everywhere = true,
		.late_start = true,
		.one_port = true,
		.codes_listed = true,
		.old_words = true,
		.succeeded = "is successfully completed",
		.failed = "is failed",
		.set_policy = "SettedPodTemplateRestartPolicy",
	},
	{
		PYTORCH_ROW,
		.specs = "pytorchReplicaSpecs",
		.order = "Master|Worker",
		.port_name = "pytorchjob-port",
		.backoff = -1,
		.elastic = true,
		.env = pytorch_env,
		.env_everywhere = true,
		.set_policy = SET_POLICY,
	},
	{
		PYTORCH_ROW,
		.written_as = "kubeflow.org/v1alpha1",
		.specs = "replicaSpecs",
		.order = "MASTER|WORKER",
		.backoff = 6, /* it had no limit, and a worker that cannot run was replaced for ever */
		.replaces_failed = true,
		.pod_restarts = true,
		.listed = true,
		.one_port = true,
		.cluster_ip = true,
		.old_words = true,
		.env = pytorch_env_v1alpha1,
	},
	{
		.kind = "PaddleJob",
		.plural = "paddlejobs",
		.operator= "paddlejob-controller",
		.specs = "paddleReplicaSpecs",
		.container = "paddle",
		.port_name = "master",
		.port = 36543,
		.order = "Master|Worker",
		.leaders = "Master",
		.members = "Worker",
		.backoff = -1,
		.env = paddle_env,
		.env_everywhere = true,
		.succeeded = "is successfully completed",
		.failed = "is failed",
		.set_policy = SET_POLICY,
	},
	{
		.kind = "MPIJob",
		.plural = "mpijobs",
		.operator= "mpijob-controller",
		.specs = "mpiReplicaSpecs",
		.order = "Launcher|Worker",
		.leaders = "Launcher",
		.members = "Worker",
		.lone = "Launcher",
		.backoff = -1,
		.env = mpi_env,
		.labels = mpi_labels,
		.finish = mpi_finish,
		.need = mpi_need,
		.succeeded = "successfully completed",
		.failed = "has failed",
		.full_name = true,
		.set_policy = SET_POLICY,
	},
};

const size_t training_nforms = ARRAY_SIZE(training_forms);
