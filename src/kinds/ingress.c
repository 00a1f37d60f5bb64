// SPDX-License-Identifier: Apache-2.0
/* ingress.c - networking.k8s.io/v1 Ingress and IngressClass, kept as data for an ingress controller
 *
 * ingress_v1beta1.c has the form of old clients.
 */
#include "kinds/ingress.h"

#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field port_fields[] = {
	F(1, "name", STRING, .doc = "Name of the Service's port; or:"),
	F(2, "number", INT32, .doc = "Its number."),
};

static const struct message backend_port = MESSAGE("io.k8s.api.networking.v1.ServiceBackendPort", port_fields,
						   .doc = "A port of a Service.", .atomic = true);

static const struct field service_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the Service, in the Ingress's namespace."),
	F(2, "port", OBJECT, .msg = &backend_port, .dflt = "{}", .doc = "Which of its ports."),
};

static void service_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *name = jsonx_str_or(obj, "port.name", "");
	const json_t *number = jsonx_at(obj, "port.number");

	if (name[0] && number)
		path_invalid(at, e, obj, "cannot set both port name & port number");
	else if (!name[0] && !number)
		path_required(at, e, "port name or number is required");
	else if (number && (json_integer_value(number) < 1 || json_integer_value(number) > 65535))
		path_invalid(PATH_FIELD(at, "port.number"), e, number, "must be between 1 and 65535, inclusive");
}

static const struct message service_backend = MESSAGE("io.k8s.api.networking.v1.IngressServiceBackend", service_fields,
						      .doc = "A Service and its port.", .validate = service_validate);

static const struct field backend_fields[] = {
	F(3, "resource", OBJECT, .msg = &core_typed_local_object_reference,
	  .doc = "Another object of the namespace that answers; not together with service."),
	F(4, "service", OBJECT, .msg = &service_backend, .doc = "The Service that answers."),
};

static void backend_validate(const json_t *obj, const struct path *at, struct err *e)
{
	bool resource = json_object_get(obj, "resource"), service = json_object_get(obj, "service");

	if (resource && service)
		path_invalid(at, e, json_null(), "cannot set both resource and service backends");
	if (!resource && !service)
		path_required(at, e, "resource or service backend is required");
}

static const struct message backend = MESSAGE("io.k8s.api.networking.v1.IngressBackend", backend_fields,
					      .doc = "Who answers.", .validate = backend_validate);

static const struct field path_fields[] = {
	F(1, "path", STRING, .doc = "Path of the requests meant; begins with /."),
	F(2, "backend", OBJECT, .msg = &backend, .flags = FIELD_REQUIRED, .doc = "Who answers them."),
	FP(3, "pathType", STRING, .values = "Exact|ImplementationSpecific|Prefix",
	   .doc = "Exact: the path itself; Prefix: also what is below; ImplementationSpecific: the controller "
		  "decides."),
};

void ingress_path_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *path = json_object_get(obj, "path");
	const char *text = json_is_string(path) ? json_string_value(path) : "";
	const char *type = jsonx_str(obj, "pathType");
	bool strict = type && !streq(type, "ImplementationSpecific");

	if (!type)
		path_required(PATH_FIELD(at, "pathType"), e, "pathType must be specified");
	if ((text[0] || strict) && text[0] != '/')
		path_invalid(PATH_FIELD(at, "path"), e, path ? path : json_null(), "must be an absolute path");
	if (strict && strstr(text, "//"))
		path_invalid(PATH_FIELD(at, "path"), e, path, "must not contain '//'");
}

static const struct message http_path = MESSAGE("io.k8s.api.networking.v1.HTTPIngressPath", path_fields,
						.doc = "Which requests go to whom.", .validate = ingress_path_validate);

static const struct field http_fields[] = {
	FL(1, "paths", OBJECT, .msg = &http_path, .flags = FIELD_REQUIRED | FIELD_ATOMIC,
	   .doc = "Which requests go to whom."),
};

static const struct message http_rule =
	MESSAGE("io.k8s.api.networking.v1.HTTPIngressRuleValue", http_fields, .doc = "Requests sorted by path.");

static const struct field rule_value_fields[] = {
	F(1, "http", OBJECT, .msg = &http_rule, .doc = "Requests sorted by path."),
};

static const struct message rule_value = MESSAGE("io.k8s.api.networking.v1.IngressRuleValue", rule_value_fields);

static const struct field rule_fields[] = {
	F(1, "host", STRING, .doc = "Host name of the requests meant; *.x for one level below; all without."),
	F(2, "", OBJECT, .msg = &rule_value, .flags = FIELD_INLINE),
};

void ingress_rule_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *host = json_object_get(obj, "host");
	const char *text = json_is_string(host) ? json_string_value(host) : "";
	const char *complaint = text[0] ? name_check_subdomain(str_starts(text, "*.") ? text + 2 : text) : NULL;

	if (text[0] && strspn(text, "0123456789.") == strlen(text))
		path_invalid(PATH_FIELD(at, "host"), e, host, "must be a DNS name, not an IP address");
	else if (complaint)
		path_invalid(PATH_FIELD(at, "host"), e, host, "%s", complaint);
}

static const struct message ingress_rule =
	MESSAGE("io.k8s.api.networking.v1.IngressRule", rule_fields, .doc = "What happens to requests for a host.",
		.validate = ingress_rule_validate);

static const struct field tls_fields[] = {
	FL(1, "hosts", STRING, .flags = FIELD_ATOMIC, .doc = "Host names that the certificate is for."),
	F(2, "secretName", STRING, .doc = "Secret with the certificate and its key."),
};

const struct message ingress_tls =
	MESSAGE("io.k8s.api.networking.v1.IngressTLS", tls_fields, .doc = "A certificate and its hosts.");

static const struct field spec_fields[] = {
	F(1, "defaultBackend", OBJECT, .msg = &backend, .doc = "Who answers requests that no rule is about."),
	FL(2, "tls", OBJECT, .msg = &ingress_tls, .flags = FIELD_ATOMIC, .doc = "Certificates."),
	FL(3, "rules", OBJECT, .msg = &ingress_rule, .flags = FIELD_ATOMIC, .doc = "Rules by host."),
	FP(4, "ingressClassName", STRING, .doc = "The IngressClass whose controller takes care of this Ingress."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (value_is_empty(json_object_get(obj, "rules")) && !json_object_get(obj, "defaultBackend"))
		path_invalid(at, e, obj, "either `defaultBackend` or `rules` must be specified");
	rule_name(obj, "ingressClassName", name_check_subdomain, at, e);
}

static const struct message spec = MESSAGE("io.k8s.api.networking.v1.IngressSpec", spec_fields,
					   .doc = "Which requests go to whom.", .validate = spec_validate);

static const struct field port_status_fields[] = {
	F(1, "port", INT32, .doc = "The port."),
	F(2, "protocol", STRING, .values = "TCP|UDP|SCTP", .doc = "Its protocol."),
	FP(3, "error", STRING, .doc = "What is wrong with it."),
};

static const struct message port_status = MESSAGE("io.k8s.api.networking.v1.IngressPortStatus", port_status_fields,
						  .doc = "A port of the load balancer.");

static const struct field balancer_ingress_fields[] = {
	F(1, "ip", STRING, .doc = "Address."),
	F(2, "hostname", STRING, .doc = "Or host name."),
	FL(4, "ports", OBJECT, .msg = &port_status, .flags = FIELD_ATOMIC, .doc = "Its ports."),
};

static const struct message balancer_ingress = MESSAGE("io.k8s.api.networking.v1.IngressLoadBalancerIngress",
						       balancer_ingress_fields, .doc = "Where requests arrive.");

static const struct field balancer_fields[] = {
	FL(1, "ingress", OBJECT, .msg = &balancer_ingress, .flags = FIELD_ATOMIC, .doc = "Where requests arrive."),
};

static const struct message balancer =
	MESSAGE("io.k8s.api.networking.v1.IngressLoadBalancerStatus", balancer_fields, .doc = "Where requests arrive.");

static const struct field status_fields[] = {
	F(1, "loadBalancer", OBJECT, .msg = &balancer, .doc = "Where requests arrive."),
};

const struct message ingress_status =
	MESSAGE("io.k8s.api.networking.v1.IngressStatus", status_fields, .doc = "What the controller made of it.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "Which requests go to whom."),
	F(3, "status", OBJECT, .msg = &ingress_status, .doc = "What the controller made of it."),
};

static const struct message ingress = MESSAGE("io.k8s.api.networking.v1.Ingress", fields,
					      .doc = "Sends HTTP requests from outside to Services by host and path.");

void ingress_prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_pack("{s:{}}", "loadBalancer"));
}

CELL_STR(cell_class, "spec.ingressClassName", "<none>")

static json_t *joined(const json_t *list, const char *name, const char *other, const char *none)
{
	json_auto_t *texts = json_array();
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		const char *s = jsonx_str_or(item, name, "");

		if (!s[0] && other)
			s = jsonx_str_or(item, other, "");
		if (s[0])
			json_array_append_new(texts, json_string(s));
	}
	return cell_join(texts, ",", none);
}

static json_t *cell_hosts(const json_t *obj, int64_t now)
{
	(void)now;
	return joined(jsonx_at(obj, "spec.rules"), "host", NULL, "*");
}

static json_t *cell_address(const json_t *obj, int64_t now)
{
	(void)now;
	return joined(jsonx_at(obj, "status.loadBalancer.ingress"), "ip", "hostname", "");
}

static json_t *cell_ports(const json_t *obj, int64_t now)
{
	(void)now;
	return json_string(value_is_empty(jsonx_at(obj, "spec.tls")) ? "80" : "80, 443");
}

const struct column ingress_columns[INGRESS_COLUMNS] = {
	COLUMN_NAME,
	COLUMN("Class", "Whose controller takes care of it.", cell_class),
	COLUMN("Hosts", "Host names of its rules.", cell_hosts),
	COLUMN("Address", "Where requests arrive.", cell_address),
	COLUMN("Ports", "Ports requests arrive at.", cell_ports),
	COLUMN_AGE,
};

static const char *const short_names[] = { "ing", NULL };

const struct kind kind_ingress = {
	.group = "networking.k8s.io",
	.version = "v1",
	.kind = "Ingress",
	.plural = "ingresses",
	.singular = "ingress",
	.short_names = short_names,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &ingress,
	KIND_COLUMNS(ingress_columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = ingress_prepare_create,
};

static const struct field parameters_fields[] = {
	FP(1, "apiGroup", STRING, .doc = "Group of the object."),
	F(2, "kind", STRING, .flags = FIELD_REQUIRED, .doc = "Its kind."),
	F(3, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Its name."),
	FP(4, "scope", STRING, .dflt = "\"Cluster\"", .values = "Cluster|Namespace", .doc = "Where it lives."),
	FP(5, "namespace", STRING, .doc = "Its namespace, with scope Namespace."),
};

static const struct message parameters = MESSAGE("io.k8s.api.networking.v1.IngressClassParametersReference",
						 parameters_fields, .doc = "An object with the controller's settings.");

static const struct field class_spec_fields[] = {
	F(1, "controller", STRING, .doc = "Name of the controller, such as example.com/ingress; it cannot change."),
	F(2, "parameters", OBJECT, .msg = &parameters, .doc = "An object with the controller's settings."),
};

static const struct message class_spec = MESSAGE("io.k8s.api.networking.v1.IngressClassSpec", class_spec_fields,
						 .doc = "Which controller, with which settings.");

static const struct field class_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &class_spec, .doc = "Which controller, with which settings."),
};

static const struct message ingress_class = MESSAGE("io.k8s.api.networking.v1.IngressClass", class_fields,
						    .doc = "A controller that takes care of Ingresses.");

static void class_validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.controller", e);
}

CELL_STR(cell_controller, "spec.controller", "")

static json_t *cell_parameters(const json_t *obj, int64_t now)
{
	const json_t *p = jsonx_at(obj, "spec.parameters");
	const char *group = jsonx_str(p, "apiGroup");

	(void)now;
	if (!p)
		return json_string("<none>");
	return jsonx_stringf("%s%s%s/%s", jsonx_str_or(p, "kind", ""), group ? "." : "", group ? group : "",
			     jsonx_str_or(p, "name", ""));
}

static const struct column class_columns[] = {
	COLUMN_NAME,
	COLUMN("Controller", "Name of the controller.", cell_controller),
	COLUMN("Parameters", "The object with its settings.", cell_parameters),
	COLUMN_AGE,
};

const struct kind kind_ingress_class = {
	.group = "networking.k8s.io",
	.version = "v1",
	.kind = "IngressClass",
	.plural = "ingressclasses",
	.singular = "ingressclass",
	.flags = KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &ingress_class,
	KIND_COLUMNS(class_columns),
	.validate_update = class_validate_update,
};
