// SPDX-License-Identifier: Apache-2.0
/* kinds_core_test.c - rules and defaults of the core kinds other than pods, and of the list of them */
#include "base/jsonx.h"
#include "base/map.h"
#include "core_test.h"

#define TLS "'type':'kubernetes.io/tls'"

TEST("every core kind is whole")
{
	for (size_t i = 0; kinds_core[i]; i++) {
		const struct kind *k = kinds_core[i];

		CHECK_STR(k->group, "");
		CHECK_STR(k->version, "v1");
		CHECK(k->message && k->columns && k->ncolumns && k->verbs && k->plural && k->singular);
		CHECK(!i || strcmp(kinds_core[i - 1]->plural, k->plural) < 0);
		CHECK(!(k->flags & KIND_STATUS) == !kind_subresource(k, "status"));
		CHECK(!(k->flags & KIND_STATUS) || message_field(k->message, "status"));
		for (size_t c = 0; c < k->ncolumns; c++)
			CHECK(k->columns[c].name && k->columns[c].type && k->columns[c].format && k->columns[c].cell);
	}
}

/* Numbers and names unique, lists keyed by members that exist, one table a message; then the messages below. */
static void check_table(const struct message *m, struct map *seen)
{
	const void *known = map_find(seen, m->name);

	CHECK(!known || known == m);
	if (known)
		return;
	map_set(seen, m->name, (void *)m);
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[i];

		CHECK(!(f->type == FIELD_OBJECT) == !f->msg);
		CHECK(!f->merge_key || (f->shape == SHAPE_LIST && message_field(f->msg, f->merge_key)));
		for (size_t k = 0; k < i; k++) {
			CHECK(!f->number || f->number != m->fields[k].number);
			CHECK(!streq(f->name, m->fields[k].name));
		}
		if (f->msg)
			check_table(f->msg, seen);
	}
}

TEST("every table of the core kinds is consistent")
{
	struct map seen;

	map_init(&seen, NULL);
	for (size_t i = 0; kinds_core[i]; i++)
		check_table(kinds_core[i]->message, &seen);
	for (size_t i = 0; body_messages_core[i].kind; i++)
		check_table(body_messages_core[i].message, &seen);
	CHECK(seen.n > 150);
	map_done(&seen);
}

TEST("a cell of an empty object does not fail")
{
	json_auto_t *empty = json_object();

	for (size_t i = 0; kinds_core[i]; i++) {
		for (size_t c = 0; c < kinds_core[i]->ncolumns; c++) {
			json_auto_t *value = kinds_core[i]->columns[c].cell(empty, 0);

			CHECK(value != NULL);
		}
	}
}

TEST("rules and defaults survive objects with nothing in them")
{
	for (size_t i = 0; kinds_core[i]; i++) {
		json_auto_t *obj = created(kinds_core[i], "{}"), *same = jsonx_copy(obj);
		struct err e = ERR_INIT;

		kind_validate(kinds_core[i], obj, &e);
		if (kinds_core[i]->prepare_update)
			kinds_core[i]->prepare_update(obj, same);
		kind_validate_update(kinds_core[i], obj, same, &e);
	}
}

TEST("what is wrong with an object is told with its path")
{
	static const struct {
		const struct kind *kind;
		const char *obj, *want;
	} rows[] = {
		{ &kind_pod, "{}", "spec.containers: Required value" },
		{ &kind_pod_template, "{}", "template.spec.containers: Required value" },
		{ &kind_limit_range, "{}", "spec.limits: Required value" },
		{ &kind_service, "{}", "spec.ports: Required value" },
		{ &kind_service, "{'spec':{'clusterIP':'None'}}", "" },
		{ &kind_service, "{'spec':{'ports':[{'port':80}]}}", "" },
		{ &kind_service, "{'spec':{'ports':[{'port':0}]}}",
		  "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive; "
		  "spec.ports[0].targetPort: "
		  "Invalid value: 0: must be between 1 and 65535, inclusive" },
		{ &kind_service, "{'spec':{'ports':[{'port':80,'name':'a'},{'port':81}]}}",
		  "spec.ports[1].name: Required value" },
		{ &kind_service, "{'spec':{'ports':[{'port':80,'name':'a'},{'port':80,'name':'b'}]}}",
		  "spec.ports[1]: Duplicate value: {\"port\":80,\"protocol\":\"TCP\"}" },
		{ &kind_service, "{'spec':{'ports':[{'port':80,'nodePort':30000}]}}",
		  "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'" },
		{ &kind_service, "{'spec':{'type':'NodePort','ports':[{'port':80,'nodePort':80}]}}",
		  "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of "
		  "valid "
		  "ports is 30000-32767" },
		{ &kind_service, "{'spec':{'type':'ExternalName'}}", "spec.externalName: Required value" },
		{ &kind_service, "{'spec':{'clusterIP':'ten','ports':[{'port':1}]}}",
		  "spec.clusterIP: Invalid value: \"ten\": must be a valid IP address, (e.g. 10.9.8.7 or "
		  "2001:db8::ffff)" },
		{ &kind_secret, "{" TLS "}", "data[tls.crt]: Required value; data[tls.key]: Required value" },
		{ &kind_secret, "{" TLS ",'stringData':{'tls.crt':'a','tls.key':'b'}}", "" },
		{ &kind_secret, "{'type':'kubernetes.io/dockerconfigjson','stringData':{'.dockerconfigjson':'{}'}}",
		  "" },
		{ &kind_secret, "{'type':'kubernetes.io/basic-auth','stringData':{'username':'u'}}", "" },
		{ &kind_secret, "{'type':'kubernetes.io/ssh-auth'}", "data[ssh-privatekey]: Required value" },
		{ &kind_secret, "{'type':'kubernetes.io/service-account-token'}",
		  "metadata.annotations[kubernetes.io/service-account.name]: Required value" },
		{ &kind_config_map, "{'data':{'k':'v'},'binaryData':{'k':'AA=='}}",
		  "data[k]: Invalid value: \"k\": duplicate of key present in binaryData" },
		{ &kind_pvc, "{'spec':{}}",
		  "spec.accessModes: Required value: at least 1 access mode is required; spec.resources[storage]: "
		  "Required "
		  "value" },
		{ &kind_pvc, "{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}",
		  "" },
		{ &kind_pv, "{'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce']}}",
		  "spec: Required value: must specify a volume type" },
		{ &kind_pv,
		  "{'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/d'}}}",
		  "" },
		{ &kind_replication_controller,
		  "{'spec':{'selector':{'a':'b'},'template':{'metadata':{'labels':{'a':'c'}},'spec':{'containers':[{"
		  "'name':'c','image':'i'}]}}}}",
		  "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template "
		  "`labels`" },
		{ &kind_resource_quota, "{'spec':{'hard':{'pods':'1.5'}}}",
		  "spec.hard[pods]: Invalid value: \"1500m\": must be an integer" },
		{ &kind_resource_quota,
		  "{'spec':{'hard':{'cpu':'500m','requests.nvidia.com/gpu':4,'count/jobs.batch':9}}}", "" },
		{ &kind_resource_quota, "{'spec':{'hard':{'pods':-1}}}",
		  "spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0" },
		{ &kind_resource_quota, "{'spec':{'hard':{'gpus':1}}}",
		  "spec.hard[gpus]: Invalid value: \"gpus\": must be a standard resource for quota" },
		{ &kind_resource_quota, "{'spec':{'hard':{'pods':1},'scopes':['BestEffort','NotBestEffort']}}",
		  "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes" },
		{ &kind_resource_quota, "{'spec':{'hard':{'cpu':1},'scopes':['BestEffort']}}",
		  "spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource" },
		{ &kind_resource_quota, "{'spec':{'hard':{'secrets':1},'scopes':['Terminating']}}",
		  "spec.scopes: Invalid value: [\"Terminating\"]: unsupported scope applied to resource" },
		{ &kind_resource_quota,
		  "{'spec':{'hard':{'pods':1,'cpu':1,'requests.nvidia.com/gpu':1},'scopes':['NotBestEffort']}}", "" },
		{ &kind_resource_quota,
		  "{'spec':{'hard':{'pods':1},'scopeSelector':{'matchExpressions':[{'scopeName':'Terminating',"
		  "'operator':'DoesNotExist'}]}}}",
		  "spec.scopeSelector.matchExpressions[0].operator: Invalid value: \"DoesNotExist\": must be 'Exist' "
		  "only "
		  "operator when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
		  "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
		  "ResourceQuotaScopeCrossNamespacePodAffinity" },
		{ &kind_resource_quota,
		  "{'spec':{'hard':{'services':1},'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass',"
		  "'operator':'Exists'}]}}}",
		  "spec.scopeSelector.matchExpressions: Invalid value: {\"matchExpressions\":[{\"scopeName\":"
		  "\"PriorityClass\",\"operator\":\"Exists\"}]}: unsupported scope applied to resource" },
		{ &kind_resource_quota,
		  "{'spec':{'hard':{'pods':1},'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass',"
		  "'operator':'In'}]}}}",
		  "spec.scopeSelector.matchExpressions[0].values: Required value: must be at least one value when "
		  "`operator` is 'In' or 'NotIn' for scope selector" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'Container','max':{'cpu':1},'default':{'cpu':2}}]}}",
		  "spec.limits[0].defaultRequest[cpu]: Invalid value: \"2\": default request value 2 is greater than "
		  "max "
		  "value 1; spec.limits[0].default[cpu]: Invalid value: \"2\": default value 2 is greater than max "
		  "value "
		  "1" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'Container','max':{'gpus':1}}]}}",
		  "spec.limits[0].max[gpus]: Invalid value: \"gpus\": must be a standard resource for containers; "
		  "spec.limits[0].default[gpus]: Invalid value: \"gpus\": must be a standard resource for containers; "
		  "spec.limits[0].defaultRequest[gpus]: Invalid value: \"gpus\": must be a standard resource for "
		  "containers" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'Pod','max':{'storage':1}}]}}",
		  "spec.limits[0].max[storage]: Invalid value: \"storage\": must be a standard resource for "
		  "containers" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'PersistentVolumeClaim','max':{'storage':1}}]}}", "" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'PersistentVolumeClaim','max':{'cpu':1}}]}}",
		  "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but "
		  "neither "
		  "was provided" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'Pod','maxLimitRequestRatio':{'cpu':'0.5'}}]}}",
		  "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is less than 1" },
		{ &kind_limit_range,
		  "{'spec':{'limits':[{'type':'Pod','min':{'cpu':1},'max':{'cpu':2},'maxLimitRequestRatio':{'cpu':3}}]}"
		  "}",
		  "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"3\": ratio 3 is greater than max/min = "
		  "2.000000" },
		{ &kind_limit_range,
		  "{'spec':{'limits':[{'type':'Container','default':{'nvidia.com/gpu':2},'defaultRequest':{"
		  "'nvidia.com/gpu':1}}]}}",
		  "spec.limits[0].defaultRequest[nvidia.com/gpu]: Invalid value: \"1\": default value 2 must equal to "
		  "defaultRequest value 1 in nvidia.com/gpu" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'Pod','max':{'cpu':-1}}]}}",
		  "spec.limits[0].max[cpu]: Invalid value: \"-1\": must be greater than or equal to 0" },
		{ &kind_limit_range, "{'spec':{'limits':[{'type':'Pod','min':{'cpu':2},'max':{'cpu':1}}]}}",
		  "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1" },
		{ &kind_event, "{'involvedObject':{'namespace':'other'}}",
		  "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace" },
		{ &kind_event, "{'involvedObject':{'kind':'Node','name':'n'}}", "" },
		{ &kind_endpoints, "{'subsets':[{'ports':[{'port':1}]}]}",
		  "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`" },
		{ &kind_node,
		  "{'spec':{'taints':[{'key':'a','effect':'NoSchedule'},{'key':'a','effect':'NoSchedule'}]}}",
		  "spec.taints[1]: Duplicate value: {\"key\":\"a\",\"effect\":\"NoSchedule\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_COMPLAINT(rows[i].kind, rows[i].obj, rows[i].want);
}

TEST("a value may not change where the kind forbids it")
{
	static const char bound[] =
		"{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'2Gi'}}}}";
	static const struct {
		const struct kind *kind;
		const char *obj, *path, *value, *want;
	} rows[] = {
		{ &kind_config_map, "{'data':{'a':'b'},'immutable':true}", "data.a", "'c'",
		  "data: Forbidden: field is immutable when `immutable` is set" },
		{ &kind_config_map, "{'data':{'a':'b'},'immutable':true}", "immutable", "false",
		  "immutable: Forbidden: field is immutable when `immutable` is set" },
		{ &kind_config_map, "{'data':{'a':'b'}}", "data.a", "'c'", "" },
		{ &kind_secret, "{}", "type", "'other'", "type: Invalid value: \"other\": field is immutable" },
		{ &kind_service, "{'spec':{'clusterIP':'10.0.0.1','ports':[{'port':1}]}}", "spec.clusterIP",
		  "'10.0.0.2'", "spec.clusterIP: Invalid value: \"10.0.0.2\": field is immutable" },
		{ &kind_pvc, bound, "spec.volumeName", "'v'", "" },
		{ &kind_pvc, bound, "spec.volumeMode", "'Block'",
		  "spec: Forbidden: spec is immutable after creation except resources.requests and "
		  "volumeAttributesClassName for bound claims" },
		{ &kind_node, "{'spec':{'providerID':'a'}}", "spec.providerID", "'b'",
		  "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *before = created(rows[i].kind, rows[i].obj), *after = jsonx_copy(before);
		auto_free char *got = NULL;

		jsonx_set_new(after, rows[i].path, object(rows[i].value));
		got = update_complaint(rows[i].kind, before, after);
		CHECK_STR(got, rows[i].want);
	}
}

TEST("a bound claim may grow but not shrink")
{
	json_auto_t *before = created(&kind_pvc, "{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{"
						 "'storage':'2Gi'}}}}");
	json_auto_t *after = NULL;
	auto_free char *grown = NULL, *shrunk = NULL;

	jsonx_set_new(before, "status.phase", json_string("Bound"));
	after = jsonx_copy(before);
	jsonx_set_new(after, "spec.resources.requests.storage", json_string("3Gi"));
	grown = update_complaint(&kind_pvc, before, after);
	CHECK_STR(grown, "");
	jsonx_set_new(after, "spec.resources.requests.storage", json_string("1Gi"));
	shrunk = update_complaint(&kind_pvc, before, after);
	CHECK_STR(shrunk, "spec.resources.requests.storage: Forbidden: field can not be less than previous value");
}

TEST("text of a secret is folded into its data")
{
	json_auto_t *secret = created(&kind_secret, "{'data':{'a':'eA=='},'stringData':{'b':'hello','c':''}}");

	CHECK_STR(jsonx_str(secret, "type"), "Opaque");
	CHECK_STR(jsonx_str(secret, "data.a"), "eA==");
	CHECK_STR(jsonx_str(secret, "data.b"), "aGVsbG8=");
	CHECK_STR(jsonx_str(secret, "data.c"), "");
	CHECK(!jsonx_at(secret, "stringData"));
}

TEST("a config map over a mebibyte is refused")
{
	json_auto_t *map = created(&kind_config_map, "{'data':{}}");
	auto_free char *big = xcalloc(1, 1024 * 1024 + 2), *got = NULL;
	struct err e = ERR_INIT;

	memset(big, 'x', 1024 * 1024 + 1);
	json_object_set_new(json_object_get(map, "data"), "k", json_string(big));
	kind_validate(&kind_config_map, map, &e);
	got = causes(&e);
	CHECK_STR(got, "data: Too long: may not be more than 1048576 bytes");
}

TEST("a service gets its defaults and keeps what it was given")
{
	json_auto_t *before = created(&kind_service, "{'spec':{'type':'NodePort','ports':[{'port':80}]}}"),
		    *after = NULL;
	json_t *port = json_array_get(jsonx_at(before, "spec.ports"), 0);

	CHECK_INT(jsonx_int_or(port, "targetPort", 0), 80);
	CHECK_STR(jsonx_str(port, "protocol"), "TCP");
	CHECK_STR(jsonx_str(before, "spec.sessionAffinity"), "None");
	CHECK_STR(jsonx_str(before, "spec.externalTrafficPolicy"), "Cluster");
	CHECK_STR(jsonx_str(before, "spec.internalTrafficPolicy"), "Cluster");
	CHECK_STR(jsonx_str(before, "spec.ipFamilyPolicy"), "SingleStack");
	CHECK(json_is_object(jsonx_at(before, "status.loadBalancer")));

	after = jsonx_copy(before);
	jsonx_set_new(before, "spec.clusterIP", json_string("10.0.0.7"));
	json_object_set_new(port, "nodePort", json_integer(30123));
	kind_service.prepare_update(after, before);
	CHECK_STR(jsonx_str(after, "spec.clusterIP"), "10.0.0.7");
	CHECK_INT(jsonx_int_or(json_array_get(jsonx_at(after, "spec.ports"), 0), "nodePort", 0), 30123);
}

TEST("namespaces, claims and volumes begin as the real server makes them")
{
	json_auto_t *ns = created(&kind_namespace, "{'metadata':{'name':'lab'}}"),
		    *pvc = created(&kind_pvc, "{'spec':{}}"), *pv = created(&kind_pv, "{'spec':{}}");

	CHECK_STR(jsonx_str(ns, "status.phase"), "Active");
	CHECK_STR(json_string_value(json_array_get(jsonx_at(ns, "spec.finalizers"), 0)), "kubernetes");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(ns, "metadata.labels"), "kubernetes.io/metadata.name")),
		  "lab");
	CHECK_STR(jsonx_str(pvc, "status.phase"), "Pending");
	CHECK_STR(jsonx_str(pvc, "spec.volumeMode"), "Filesystem");
	CHECK_STR(json_string_value(json_array_get(jsonx_at(pvc, "metadata.finalizers"), 0)),
		  "kubernetes.io/pvc-protection");
	CHECK_STR(jsonx_str(pv, "spec.persistentVolumeReclaimPolicy"), "Retain");
}

TEST("bounds of containers give their defaults")
{
	json_auto_t *range = created(&kind_limit_range, "{'spec':{'limits':[{'type':'Container','max':{'cpu':2},'min':{"
							"'memory':'1Mi'}}]}}");
	const json_t *item = json_array_get(jsonx_at(range, "spec.limits"), 0);

	CHECK_STR(jsonx_str(item, "default.cpu"), "2");
	CHECK_STR(jsonx_str(item, "defaultRequest.cpu"), "2");
	CHECK_STR(jsonx_str(item, "defaultRequest.memory"), "1Mi");
}
