// SPDX-License-Identifier: Apache-2.0
/* rest.h - the kinds outside core/v1, and the messages among them that other files refer to */
#ifndef STOKER_KINDS_REST_H
#define STOKER_KINDS_REST_H

#include "kinds/kind.h"

/* apps */
extern const struct kind kind_deployment, kind_replica_set, kind_stateful_set, kind_daemon_set,
	kind_controller_revision;
/* batch */
extern const struct kind kind_job, kind_cron_job, kind_cron_job_v1beta1;
extern const struct message batch_job_spec;
/* events.k8s.io; its storage is core/v1's kind_event */
extern const struct kind kind_event_v1;
/* authentication.k8s.io, authorization.k8s.io */
extern const struct kind kind_token_review, kind_self_subject_review, kind_self_subject_access_review,
	kind_subject_access_review, kind_local_subject_access_review, kind_self_subject_rules_review;
extern const struct message token_request_message;
/* autoscaling, networking.k8s.io (and extensions, its old name), certificates.k8s.io, policy */
extern const struct kind kind_autoscaler, kind_ingress, kind_ingress_v1beta1, kind_ingress_class, kind_network_policy,
	kind_certificate, kind_disruption_budget, kind_disruption_budget_v1beta1;
extern const struct message scale_message, eviction_message;
/* rbac.authorization.k8s.io */
extern const struct kind kind_role, kind_cluster_role, kind_role_binding, kind_cluster_role_binding;
/* storage.k8s.io, apiextensions.k8s.io, scheduling.k8s.io, coordination.k8s.io, node.k8s.io, discovery.k8s.io */
extern const struct kind kind_storage_class, kind_crd, kind_priority_class, kind_lease, kind_runtime_class,
	kind_endpoint_slice;
/* metrics.k8s.io */
extern const struct kind kind_node_metrics, kind_pod_metrics;
/* kubeflow.org, serving.kserve.io */
extern const struct kind kind_tfjob, kind_tfjob_v1alpha2, kind_pytorchjob, kind_pytorchjob_v1alpha1, kind_paddlejob,
	kind_mpijob, kind_notebook, kind_inference_service;
/* stoker.dev */
extern const struct kind kind_queue, kind_reservation, kind_pbsjob, kind_pbsserver, kind_build, kind_token;

#endif
