// SPDX-License-Identifier: Apache-2.0
/* rest_kinds.c - every built-in kind outside core/v1, in the order of discovery
 *
 * The order of groups decides what a short name means where several have it; within a group the first version of a kind
 * is the preferred one.
 */
#include "kinds/builtin.h"
#include "kinds/rest.h"

const struct kind *const kinds_rest[] = {
	&kind_deployment,
	&kind_replica_set,
	&kind_stateful_set,
	&kind_daemon_set,
	&kind_controller_revision,
	&kind_event_v1,
	&kind_token_review,
	&kind_self_subject_review,
	&kind_self_subject_access_review,
	&kind_subject_access_review,
	&kind_local_subject_access_review,
	&kind_self_subject_rules_review,
	&kind_autoscaler,
	&kind_job,
	&kind_cron_job,
	&kind_cron_job_v1beta1,
	&kind_certificate,
	&kind_ingress,
	&kind_ingress_class,
	&kind_network_policy,
	&kind_ingress_v1beta1,
	&kind_disruption_budget,
	&kind_disruption_budget_v1beta1,
	&kind_role,
	&kind_role_binding,
	&kind_cluster_role,
	&kind_cluster_role_binding,
	&kind_storage_class,
	&kind_crd,
	&kind_priority_class,
	&kind_lease,
	&kind_runtime_class,
	&kind_endpoint_slice,
	&kind_node_metrics,
	&kind_pod_metrics,
	&kind_tfjob,
	&kind_pytorchjob,
	&kind_paddlejob,
	&kind_mpijob,
	&kind_notebook,
	&kind_tfjob_v1alpha2,
	&kind_pytorchjob_v1alpha1,
	&kind_inference_service,
	&kind_queue,
	&kind_reservation,
	&kind_pbsjob,
	&kind_pbsserver,
	&kind_build,
	&kind_token,
	NULL,
};

const struct body_message body_messages_rest[] = {
	{ "autoscaling/v1", "Scale", &scale_message },
	{ "policy/v1", "Eviction", &eviction_message },
	{ "policy/v1beta1", "Eviction", &eviction_message },
	{ "authentication.k8s.io/v1", "TokenRequest", &token_request_message },
	{ NULL, NULL, NULL },
};
