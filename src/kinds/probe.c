// SPDX-License-Identifier: Apache-2.0
/* probe.c - how a container is asked for its health, and what runs at its start and end */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

static void exec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (!json_array_size(json_object_get(obj, "command")))
		path_required(PATH_FIELD(at, "command"), e, NULL);
}

static const struct field exec_action_fields[] = {
	FL(1, "command", STRING, .doc = "The command and its arguments; no shell is involved."),
};
static const struct message exec_action =
	MESSAGE("io.k8s.api.core.v1.ExecAction", exec_action_fields,
		.doc = "A command run inside the container; exit status 0 is success.", .validate = exec_validate);

static const struct field http_header_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the header."),
	F(2, "value", STRING, .doc = "Value of the header."),
};
static const struct message http_header =
	MESSAGE("io.k8s.api.core.v1.HTTPHeader", http_header_fields, .doc = "One header of a probe's request.");

static void http_get_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_port_or_name(json_object_get(obj, "port"), PATH_FIELD(at, "port"), e);
}

static const struct field http_get_action_fields[] = {
	F(1, "path", STRING, .dflt = "\"/\"", .doc = "Path of the request."),
	F(2, "port", INTSTR, .flags = FIELD_REQUIRED, .doc = "Number or name of the port."),
	F(3, "host", STRING, .doc = "Host to ask; the pod's own address if absent."),
	F(4, "scheme", STRING, .dflt = "\"HTTP\"", .values = "HTTP|HTTPS",
	  .doc = "HTTP or HTTPS; certificates are not checked."),
	FL(5, "httpHeaders", OBJECT, .msg = &http_header, .doc = "Headers to send."),
};
static const struct message http_get_action =
	MESSAGE("io.k8s.api.core.v1.HTTPGetAction", http_get_action_fields,
		.doc = "An HTTP GET; a status from 200 to 399 is success.", .validate = http_get_validate);

static void tcp_socket_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_port_or_name(json_object_get(obj, "port"), PATH_FIELD(at, "port"), e);
}

static const struct field tcp_socket_action_fields[] = {
	F(1, "port", INTSTR, .flags = FIELD_REQUIRED, .doc = "Number or name of the port."),
	F(2, "host", STRING, .doc = "Host to connect to; the pod's own address if absent."),
};
static const struct message tcp_socket_action =
	MESSAGE("io.k8s.api.core.v1.TCPSocketAction", tcp_socket_action_fields,
		.doc = "A TCP connection; being able to open it is success.", .validate = tcp_socket_validate);

static void grpc_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_port(json_object_get(obj, "port"), PATH_FIELD(at, "port"), e);
}

static const struct field grpc_action_fields[] = {
	F(1, "port", INT32, .flags = FIELD_REQUIRED, .doc = "Number of the port."),
	FP(2, "service", STRING, .dflt = "\"\"",
	   .doc = "Service name in the request; empty asks for the server as a whole."),
};
static const struct message grpc_action =
	MESSAGE("io.k8s.api.core.v1.GRPCAction", grpc_action_fields, .doc = "A call of the gRPC health service.",
		.validate = grpc_validate);

static const struct field sleep_action_fields[] = {
	F(1, "seconds", INT64, .flags = FIELD_REQUIRED, .has_min = true, .min = 0, .doc = "How long."),
};
static const struct message sleep_action =
	MESSAGE("io.k8s.api.core.v1.SleepAction", sleep_action_fields, .doc = "A pause.");

/* Exactly one of the named members; `kinds` in the order in which Kubernetes looks. */
static void handler_validate(const json_t *obj, const char *const *kinds, const struct path *at, struct err *e)
{
	unsigned n = 0;

	for (; *kinds; kinds++)
		if (json_object_get(obj, *kinds) && n++)
			path_forbidden(PATH_FIELD(at, *kinds), e, "may not specify more than 1 handler type");
	if (!n)
		path_required(at, e, "must specify a handler type");
}

static const struct field probe_handler_fields[] = {
	FP(1, "exec", OBJECT, .msg = &exec_action, .doc = "Run a command in the container."),
	FP(2, "httpGet", OBJECT, .msg = &http_get_action, .doc = "Send an HTTP request."),
	FP(3, "tcpSocket", OBJECT, .msg = &tcp_socket_action, .doc = "Open a TCP connection."),
	FP(4, "grpc", OBJECT, .msg = &grpc_action, .doc = "Call the gRPC health service."),
};
static const struct message probe_handler =
	MESSAGE("io.k8s.api.core.v1.ProbeHandler", probe_handler_fields, .doc = "How to ask; exactly one is set.");

static void probe_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char *const kinds[] = { "exec", "httpGet", "tcpSocket", "grpc", NULL };
	const json_t *grace = json_object_get(obj, "terminationGracePeriodSeconds");

	handler_validate(obj, kinds, at, e);
	if (grace && json_integer_value(grace) < 1)
		path_invalid(PATH_FIELD(at, "terminationGracePeriodSeconds"), e, grace, "must be greater than 0");
}

static const struct field probe_fields[] = {
	F(1, "", OBJECT, .msg = &probe_handler, .flags = FIELD_INLINE),
	F(2, "initialDelaySeconds", INT32, .has_min = true, .min = 0,
	  .doc = "Wait after the container has started before the first probe."),
	F(3, "timeoutSeconds", INT32, .dflt = "1", .has_min = true, .min = 0, .doc = "Time for one probe; at least 1."),
	F(4, "periodSeconds", INT32, .dflt = "10", .has_min = true, .min = 0,
	  .doc = "Time between probes; at least 1."),
	F(5, "successThreshold", INT32, .dflt = "1", .has_min = true, .min = 0,
	  .doc = "Successes in a row that end a failure; must be 1 for liveness and startup."),
	F(6, "failureThreshold", INT32, .dflt = "3", .has_min = true, .min = 0,
	  .doc = "Failures in a row that count as one."),
	FP(7, "terminationGracePeriodSeconds", INT64,
	   .doc = "Grace period of a container that this probe ends; the pod's if absent."),
};
const struct message core_probe =
	MESSAGE("io.k8s.api.core.v1.Probe", probe_fields, .doc = "A question asked again and again about a container.",
		.validate = probe_validate);

static void lifecycle_handler_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char *const kinds[] = { "exec", "httpGet", "tcpSocket", "sleep", NULL };

	handler_validate(obj, kinds, at, e);
}

static const struct field lifecycle_handler_fields[] = {
	FP(1, "exec", OBJECT, .msg = &exec_action, .doc = "Run a command in the container."),
	FP(2, "httpGet", OBJECT, .msg = &http_get_action, .doc = "Send an HTTP request."),
	FP(3, "tcpSocket", OBJECT, .msg = &tcp_socket_action, .doc = "Kept for old manifests; does nothing."),
	FP(4, "sleep", OBJECT, .msg = &sleep_action, .doc = "Wait."),
};
static const struct message lifecycle_handler =
	MESSAGE("io.k8s.api.core.v1.LifecycleHandler", lifecycle_handler_fields,
		.doc = "What to do at a point of a container's life; exactly one is set.",
		.validate = lifecycle_handler_validate);

static const struct field lifecycle_fields[] = {
	FP(1, "postStart", OBJECT, .msg = &lifecycle_handler,
	   .doc = "Runs after the container was created; a failure ends the container."),
	FP(2, "preStop", OBJECT, .msg = &lifecycle_handler,
	   .doc = "Runs before the container is told to end; its time counts against the grace period."),
};
const struct message core_lifecycle =
	MESSAGE("io.k8s.api.core.v1.Lifecycle", lifecycle_fields,
		.doc = "What happens right after a container's start and right before its end.");
