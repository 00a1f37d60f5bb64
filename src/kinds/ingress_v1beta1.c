// SPDX-License-Identifier: Apache-2.0
/* ingress_v1beta1.c - extensions/v1beta1 Ingress: the same objects as networking.k8s.io/v1, as old clients write them
 *
 * `kubectl apply --prune` of 1.20 stops if this version is not served.  The old form names a backend's Service and port
 * next to each other (serviceName, servicePort) and calls the default one `backend`; nothing else differs.
 */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/ingress.h"
#include "kinds/names.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field backend_fields[] = {
	F(1, "serviceName", STRING, .doc = "Name of the Service, in the Ingress's namespace."),
	F(2, "servicePort", INTSTR, .doc = "Number or name of its port."),
	F(3, "resource", OBJECT, .msg = &core_typed_local_object_reference,
	  .doc = "Another object of the namespace that answers; not together with serviceName."),
};

/* An absent port reads as 0 in clients of the time. */
static bool has_port(const json_t *backend)
{
	const json_t *port = json_object_get(backend, "servicePort");

	return json_is_integer(port) ? json_integer_value(port) != 0 : !value_is_empty(port);
}

static void backend_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *port = json_object_get(obj, "servicePort");
	bool service = *jsonx_str_or(obj, "serviceName", "") || has_port(obj);

	if (json_object_get(obj, "resource")) {
		if (service)
			path_invalid(at, e, json_null(), "cannot set both resource and service backends");
		return;
	}
	if (!*jsonx_str_or(obj, "serviceName", ""))
		path_required(PATH_FIELD(at, "serviceName"), e, NULL);
	if (!has_port(obj))
		path_required(PATH_FIELD(at, "servicePort"), e, "port name or number is required");
	else if (json_is_integer(port) && (json_integer_value(port) < 1 || json_integer_value(port) > 65535))
		path_invalid(PATH_FIELD(at, "servicePort"), e, port, "must be between 1 and 65535, inclusive");
}

static const struct message backend = MESSAGE("io.k8s.api.extensions.v1beta1.IngressBackend", backend_fields,
					      .doc = "Who answers.", .validate = backend_validate);

static const struct field path_fields[] = {
	F(1, "path", STRING, .doc = "Path of the requests meant; begins with /."),
	F(2, "backend", OBJECT, .msg = &backend, .flags = FIELD_REQUIRED, .doc = "Who answers them."),
	FP(3, "pathType", STRING, .dflt = "\"ImplementationSpecific\"", .values = "Exact|ImplementationSpecific|Prefix",
	   .doc = "Exact: the path itself; Prefix: also what is below; ImplementationSpecific: the controller "
		  "decides."),
};

static const struct message http_path = MESSAGE("io.k8s.api.extensions.v1beta1.HTTPIngressPath", path_fields,
						.doc = "Which requests go to whom.", .validate = ingress_path_validate);

static const struct field http_fields[] = {
	FL(1, "paths", OBJECT, .msg = &http_path, .flags = FIELD_REQUIRED | FIELD_ATOMIC,
	   .doc = "Which requests go to whom."),
};

static const struct message http_rule =
	MESSAGE("io.k8s.api.extensions.v1beta1.HTTPIngressRuleValue", http_fields, .doc = "Requests sorted by path.");

static const struct field rule_value_fields[] = {
	F(1, "http", OBJECT, .msg = &http_rule, .doc = "Requests sorted by path."),
};

static const struct message rule_value = MESSAGE("io.k8s.api.extensions.v1beta1.IngressRuleValue", rule_value_fields);

static const struct field rule_fields[] = {
	F(1, "host", STRING, .doc = "Host name of the requests meant; *.x for one level below; all without."),
	F(2, "", OBJECT, .msg = &rule_value, .flags = FIELD_INLINE),
};

static const struct message ingress_rule =
	MESSAGE("io.k8s.api.extensions.v1beta1.IngressRule", rule_fields, .doc = "What happens to requests for a host.",
		.validate = ingress_rule_validate);

static const struct field spec_fields[] = {
	F(1, "backend", OBJECT, .msg = &backend, .doc = "Who answers requests that no rule is about."),
	FL(2, "tls", OBJECT, .msg = &ingress_tls, .flags = FIELD_ATOMIC, .doc = "Certificates."),
	FL(3, "rules", OBJECT, .msg = &ingress_rule, .flags = FIELD_ATOMIC, .doc = "Rules by host."),
	FP(4, "ingressClassName", STRING, .doc = "The IngressClass whose controller takes care of this Ingress."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (value_is_empty(json_object_get(obj, "rules")) && !json_object_get(obj, "backend"))
		path_invalid(at, e, obj, "either `backend` or `rules` must be specified");
	rule_name(obj, "ingressClassName", name_check_subdomain, at, e);
}

static const struct message spec = MESSAGE("io.k8s.api.extensions.v1beta1.IngressSpec", spec_fields,
					   .doc = "Which requests go to whom.", .validate = spec_validate);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "Which requests go to whom."),
	F(3, "status", OBJECT, .msg = &ingress_status, .doc = "What the controller made of it."),
};

static const struct message ingress = MESSAGE("io.k8s.api.extensions.v1beta1.Ingress", fields,
					      .doc = "Sends HTTP requests from outside to Services by host and path.");

/* ---- conversion ---- */

static void backend_to_storage(json_t *backend_obj)
{
	const json_t *name = json_object_get(backend_obj, "serviceName");
	const json_t *port = json_object_get(backend_obj, "servicePort");
	json_t *service = json_object();

	if (*jsonx_str_or(backend_obj, "serviceName", ""))
		json_object_set(service, "name", (json_t *)name);
	if (has_port(backend_obj))
		json_object_set_new(service, "port",
				    json_pack("{s:O}", json_is_integer(port) ? "number" : "name", port));
	json_object_del(backend_obj, "serviceName");
	json_object_del(backend_obj, "servicePort");
	if (json_object_size(service))
		json_object_set(backend_obj, "service", service);
	json_decref(service);
}

static void backend_from_storage(json_t *backend_obj)
{
	json_t *number = jsonx_at(backend_obj, "service.port.number");
	json_t *port = number ? number : jsonx_at(backend_obj, "service.port.name");
	json_t *name = jsonx_at(backend_obj, "service.name");

	if (name)
		json_object_set(backend_obj, "serviceName", name);
	if (port)
		json_object_set(backend_obj, "servicePort", port);
	json_object_del(backend_obj, "service");
}

static void convert(json_t *obj, const char *from, const char *to, void (*fn)(json_t *backend_obj))
{
	json_t *in = json_object_get(obj, "spec");
	json_t *whole = json_object_get(in, from);
	json_t *rule;
	json_t *path;
	size_t i;
	size_t k;

	if (json_is_object(whole)) {
		fn(whole);
		json_object_set(in, to, whole);
		json_object_del(in, from);
	}
	json_array_foreach (json_object_get(in, "rules"), i, rule)
		json_array_foreach (jsonx_at(rule, "http.paths"), k, path)
			if (json_is_object(json_object_get(path, "backend")))
				fn(json_object_get(path, "backend"));
}

static void to_storage(json_t *obj, const json_t *old)
{
	(void)old;
	convert(obj, "backend", "defaultBackend", backend_to_storage);
}

static void from_storage(json_t *obj)
{
	convert(obj, "defaultBackend", "backend", backend_from_storage);
}

static const char *const short_names[] = { "ing", NULL };

const struct kind kind_ingress_v1beta1 = {
	.group = "extensions",
	.version = "v1beta1",
	.kind = "Ingress",
	.plural = "ingresses",
	.singular = "ingress",
	.short_names = short_names,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION | KIND_OLD_CLIENTS,
	.verbs = VERBS_ALL,
	.message = &ingress,
	KIND_COLUMNS(ingress_columns),
	KIND_SUBRESOURCES(status_only),
	.storage = &kind_ingress,
	.to_storage = to_storage,
	.from_storage = from_storage,
	.prepare_create = ingress_prepare_create,
};
