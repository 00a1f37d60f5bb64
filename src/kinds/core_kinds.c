// SPDX-License-Identifier: Apache-2.0
/* core_kinds.c - every kind of core/v1 in the order of discovery, and the bodies that are no resource */
#include "kinds/core.h"

static const struct field binding_fields[] = {
	FIELDS_OBJECT,
	F(2, "target", OBJECT, .msg = &core_object_reference, .flags = FIELD_REQUIRED, .doc = "The node."),
};
const struct message core_binding =
	MESSAGE("io.k8s.api.core.v1.Binding", binding_fields, .doc = "Puts a pod on a node.");

static const struct field pod_attach_options_fields[] = {
	F(1, "stdin", BOOL, .doc = "Whether standard input is passed on."),
	F(2, "stdout", BOOL, .doc = "Whether standard output is passed on."),
	F(3, "stderr", BOOL, .doc = "Whether standard error is passed on."),
	F(4, "tty", BOOL, .doc = "Whether the container has a terminal."),
	F(5, "container", STRING, .doc = "The container; the only one if absent."),
};
static const struct message pod_attach_options = MESSAGE(
	"io.k8s.api.core.v1.PodAttachOptions", pod_attach_options_fields, .doc = "How to attach to a container.");

static const struct field pod_exec_options_fields[] = {
	F(1, "stdin", BOOL, .doc = "Whether standard input is passed on."),
	F(2, "stdout", BOOL, .doc = "Whether standard output is passed on."),
	F(3, "stderr", BOOL, .doc = "Whether standard error is passed on."),
	F(4, "tty", BOOL, .doc = "Whether the command gets a terminal."),
	F(5, "container", STRING, .doc = "The container; the only one if absent."),
	FL(6, "command", STRING, .doc = "The command and its arguments."),
};
static const struct message pod_exec_options =
	MESSAGE("io.k8s.api.core.v1.PodExecOptions", pod_exec_options_fields, .doc = "What to run in a container.");

static const struct field pod_port_forward_options_fields[] = {
	FL(1, "ports", INT32, .doc = "The ports."),
};
static const struct message pod_port_forward_options = MESSAGE(
	"io.k8s.api.core.v1.PodPortForwardOptions", pod_port_forward_options_fields, .doc = "Which ports to forward.");

static const struct field pod_proxy_options_fields[] = {
	F(1, "path", STRING, .doc = "Path of the request."),
};
static const struct message pod_proxy_options =
	MESSAGE("io.k8s.api.core.v1.PodProxyOptions", pod_proxy_options_fields, .doc = "What to ask of a pod.");

static const struct field service_proxy_options_fields[] = {
	F(1, "path", STRING, .doc = "Path of the request."),
};
static const struct message service_proxy_options = MESSAGE(
	"io.k8s.api.core.v1.ServiceProxyOptions", service_proxy_options_fields, .doc = "What to ask of a service.");

static const struct field node_proxy_options_fields[] = {
	F(1, "path", STRING, .doc = "Path of the request."),
};
static const struct message node_proxy_options =
	MESSAGE("io.k8s.api.core.v1.NodeProxyOptions", node_proxy_options_fields, .doc = "What to ask of a node.");

static const struct field pod_log_options_fields[] = {
	F(1, "container", STRING, .doc = "The container; the only one if absent."),
	F(2, "follow", BOOL, .doc = "Whether to wait for more."),
	F(3, "previous", BOOL, .doc = "Whether to show the log of the container before its last restart."),
	FP(4, "sinceSeconds", INT64, .doc = "Only lines that are younger."),
	FP(5, "sinceTime", TIME, .doc = "Only lines since then."),
	F(6, "timestamps", BOOL, .doc = "Whether each line begins with its time."),
	FP(7, "tailLines", INT64, .doc = "Only so many lines from the end."),
	FP(8, "limitBytes", INT64, .doc = "Stop after so many bytes."),
	F(9, "insecureSkipTLSVerifyBackend", BOOL, .doc = "Whether the node's certificate goes unchecked."),
	FP(10, "stream", STRING, .doc = "All, Stdout or Stderr."),
};
static const struct message pod_log_options =
	MESSAGE("io.k8s.api.core.v1.PodLogOptions", pod_log_options_fields, .doc = "Which part of a log to show.");

const struct kind *const kinds_core[] = {
	&kind_config_map,
	&kind_endpoints,
	&kind_event,
	&kind_limit_range,
	&kind_namespace,
	&kind_node,
	&kind_pvc,
	&kind_pv,
	&kind_pod,
	&kind_pod_template,
	&kind_replication_controller,
	&kind_resource_quota,
	&kind_secret,
	&kind_service_account,
	&kind_service,
	NULL,
};

const struct body_message body_messages_core[] = {
	{ "v1", "Binding", &core_binding },
	{ "v1", "PodAttachOptions", &pod_attach_options },
	{ "v1", "PodExecOptions", &pod_exec_options },
	{ "v1", "PodPortForwardOptions", &pod_port_forward_options },
	{ "v1", "PodProxyOptions", &pod_proxy_options },
	{ "v1", "PodLogOptions", &pod_log_options },
	{ "v1", "ServiceProxyOptions", &service_proxy_options },
	{ "v1", "NodeProxyOptions", &node_proxy_options },
	{ NULL, NULL, NULL },
};
