// SPDX-License-Identifier: Apache-2.0
/* rest_kinds_test.c - every kind outside core/v1 is whole; rules and columns of the small ones */
#include "base/jsonx.h"
#include "base/map.h"
#include "rest_test.h"

TEST("every kind outside the core is whole and in order")
{
	for (size_t i = 0; kinds_rest[i]; i++) {
		const struct kind *k = kinds_rest[i];
		json_auto_t *empty = json_object();

		CHECK(k->group && k->group[0] && k->version && k->kind && k->plural && k->singular);
		CHECK(k->verbs);
		CHECK(k->message || k == &kind_pytorchjob_v1alpha1);
		CHECK(!(k->flags & KIND_STATUS) == !kind_subresource(k, "status"));
		CHECK(!k->scale_spec == !kind_subresource(k, "scale"));
		for (size_t c = 0; c < k->ncolumns; c++) {
			json_auto_t *cell = k->columns[c].cell(empty, TEST_NOW);

			CHECK(cell && k->columns[c].name && k->columns[c].type && k->columns[c].format &&
			      k->columns[c].doc);
		}
	}
}

static bool is_core(const struct message *m)
{
	return strstr(m->name, ".core.v1.") || strstr(m->name, ".meta.v1.");
}

/* Names and numbers unique, lists keyed by members that exist, texts for explain, one table a name. */
static void check_table(const struct message *m, struct map *seen)
{
	const void *known = map_find(seen, m->name);

	CHECK(!known || known == m);
	if (known)
		return;
	map_set(seen, m->name, (void *)m);
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[i];

		CHECK(!f->msg == (f->type != FIELD_OBJECT));
		if (!is_core(m) && !(f->flags & FIELD_INLINE) && !f->doc)
			test_fail(__FILE__, __LINE__, "%s.%s has no text", m->name, f->name);
		if (f->merge_key && !message_field(f->msg, f->merge_key))
			test_fail(__FILE__, __LINE__, "%s.%s has no member %s", m->name, f->name, f->merge_key);
		for (size_t k = 0; k < i; k++)
			if ((f->number && f->number == m->fields[k].number) || streq(f->name, m->fields[k].name))
				test_fail(__FILE__, __LINE__, "%s.%s occurs twice", m->name, f->name);
		if (f->msg)
			check_table(f->msg, seen);
	}
}

TEST("every table of the kinds outside the core is consistent")
{
	struct map seen;

	map_init(&seen, NULL);
	for (size_t i = 0; kinds_rest[i]; i++)
		if (kinds_rest[i]->message)
			check_table(kinds_rest[i]->message, &seen);
	for (size_t i = 0; body_messages_rest[i].kind; i++)
		check_table(body_messages_rest[i].message, &seen);
	map_done(&seen);
}

struct object_row {
	const struct kind *kind;
	const char *object, *want;
};

static void check_objects(const struct object_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_auto_t *obj = test_json(rows[i].object);
		struct err e = ERR_INIT;
		auto_free char *causes = NULL;

		test_admit(rows[i].kind, obj, &e);
		causes = test_causes(&e);
		if (strcmp(causes, rows[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s says\n      %s\n  not %s", rows[i].object, causes,
				  rows[i].want);
	}
}

#define NAMED "'metadata':{'name':'x'}"

TEST("rules of RBAC")
{
	static const struct object_row rows[] = {
		{ &kind_role, "{" NAMED ",'rules':[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]}", "" },
		{ &kind_role, "{'metadata':{'name':'system:x'}}", "" },
		{ &kind_role, "{" NAMED ",'rules':[{}]}",
		  "rules[0].verbs: Required value: verbs must contain at least one value\n"
		  "rules[0].apiGroups: Required value: resource rules must supply at least one api group\n"
		  "rules[0].resources: Required value: resource rules must supply at least one resource" },
		{ &kind_role, "{" NAMED ",'rules':[{'verbs':['get'],'nonResourceURLs':['/x']}]}",
		  "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource "
		  "URLs" },
		{ &kind_cluster_role, "{" NAMED ",'rules':[{'verbs':['get'],'nonResourceURLs':['/x']}]}", "" },
		{ &kind_cluster_role,
		  "{" NAMED ",'rules':[{'verbs':['get'],'nonResourceURLs':['/x'],'resources':['a']}]}",
		  "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular resources and "
		  "non-resource URLs" },
		{ &kind_role_binding,
		  "{" NAMED ",'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User','name':'u'}]}", "" },
		{ &kind_role_binding, "{" NAMED "}", "roleRef.kind: Required value\nroleRef.name: Required value" },
		{ &kind_cluster_role_binding, "{" NAMED ",'roleRef':{'kind':'Role','name':'r'}}",
		  "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"" },
		{ &kind_role_binding,
		  "{" NAMED ",'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'ServiceAccount','name':'s'}]}",
		  "subjects[0].namespace: Required value" },
		{ &kind_role_binding,
		  "{" NAMED ",'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'x','name':'s'}]}",
		  "subjects[0].kind: Unsupported value: \"x\": supported values: \"ServiceAccount\", \"User\", "
		  "\"Group\"" },
	};
	static const struct rule_row updates[] = {
		{ "{'roleRef':{'name':'other'}}",
		  "roleRef: Invalid value: "
		  "{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"other\"}: "
		  "cannot change roleRef" },
	};

	check_objects(rows, ARRAY_SIZE(rows));
	test_updates(&kind_role_binding, "{" NAMED ",'roleRef':{'apiGroup':'','kind':'Role','name':'r'}}", updates,
		     ARRAY_SIZE(updates));
}

TEST("rules of budgets, classes, leases, slices, autoscalers and ingresses")
{
#define HPA(spec_)     "{" NAMED ",'spec':{'scaleTargetRef':{'kind':'Deployment','name':'d'}," spec_ "}}"
#define INGRESS(path_) "{" NAMED ",'spec':{'rules':[{'host':'a.b','http':{'paths':[" path_ "]}}]}}"
#define BACKEND        "'backend':{'service':{'name':'s','port':{'number':80}}}"
	static const struct object_row rows[] = {
		{ &kind_disruption_budget, "{" NAMED ",'spec':{'minAvailable':0}}", "" },
		{ &kind_disruption_budget, "{" NAMED ",'spec':{'minAvailable':1,'maxUnavailable':'50%'}}",
		  "spec: Invalid value: {\"minAvailable\":1,\"maxUnavailable\":\"50%\"}: minAvailable and "
		  "maxUnavailable "
		  "cannot be both set" },
		{ &kind_priority_class, "{" NAMED ",'value':1000000000}", "" },
		{ &kind_priority_class, "{" NAMED ",'value':1000000001}",
		  "value: Forbidden: maximum allowed value of a user defined priority is 1000000000" },
		{ &kind_priority_class, "{'metadata':{'name':'system-node-critical'},'value':2000001000}", "" },
		{ &kind_priority_class, "{'metadata':{'name':'system-x'},'value':1}",
		  "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use "
		  "only" },
		{ &kind_storage_class, "{" NAMED "}", "provisioner: Required value" },
		{ &kind_storage_class, "{" NAMED ",'provisioner':'p','reclaimPolicy':'Recycle'}",
		  "reclaimPolicy: Unsupported value: \"Recycle\": supported values: \"Delete\", \"Retain\"" },
		{ &kind_lease, "{" NAMED ",'spec':{'leaseDurationSeconds':0}}",
		  "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0" },
		{ &kind_runtime_class, "{" NAMED ",'handler':'A'}",
		  "handler: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric "
		  "characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
		  "'123-abc', "
		  "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')" },
		{ &kind_endpoint_slice, "{" NAMED ",'endpoints':[]}", "addressType: Required value" },
		{ &kind_endpoint_slice,
		  "{" NAMED ",'addressType':'IPv4','endpoints':[],'ports':[{'port':1},{'port':2}]}",
		  "ports[1].name: Duplicate value: \"\"" },
		{ &kind_autoscaler, HPA("'maxReplicas':3"), "" },
		{ &kind_autoscaler, HPA("'minReplicas':0,'maxReplicas':3"),
		  "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1" },
		{ &kind_autoscaler, HPA("'minReplicas':4,'maxReplicas':3"),
		  "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`" },
		{ &kind_ingress, INGRESS("{'path':'/','pathType':'Prefix'," BACKEND "}"), "" },
		{ &kind_ingress, INGRESS("{'path':'/'," BACKEND "}"),
		  "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified" },
		{ &kind_ingress, INGRESS("{'path':'x','pathType':'Exact'," BACKEND "}"),
		  "spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be an absolute path" },
		{ &kind_ingress, INGRESS("{'path':'/','pathType':'Exact','backend':{'service':{'name':'s'}}}"),
		  "spec.rules[0].http.paths[0].backend.service: Required value: port name or number is required" },
		{ &kind_ingress_v1beta1, INGRESS("{'path':'/','backend':{'serviceName':'s','servicePort':80}}"), "" },
		{ &kind_ingress_v1beta1, INGRESS("{'path':'x','backend':{'serviceName':'s'}}"),
		  "spec.rules[0].http.paths[0].backend.servicePort: Required value: port name or number is required\n"
		  "spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be an absolute path" },
		{ &kind_ingress, "{" NAMED "}",
		  "spec: Invalid value: {}: either `defaultBackend` or `rules` must be specified" },
		{ &kind_self_subject_access_review, "{'spec':{'resourceAttributes':{'verb':'get'}}}", "" },
		{ &kind_self_subject_access_review, "{'spec':{}}",
		  "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
		  "resourceAttributes "
		  "must be specified" },
		{ &kind_subject_access_review, "{'spec':{'resourceAttributes':{'verb':'get'}}}",
		  "spec.user: Invalid value: null: at least one of user or group must be specified" },
	};

	check_objects(rows, ARRAY_SIZE(rows));
}

TEST("rules of CustomResourceDefinitions")
{
#define VERSION "{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}"
#define CRD                                                                                                            \
	"{'metadata':{'name':'foos.example.com'},'spec':{'group':'example.com','scope':'Namespaced',"                  \
	"'names':{'plural':'foos','kind':'Foo'},'versions':[" VERSION "]}}"
	static const struct rule_row rows[] = {
		{ "{}", "" },
		{ "{'metadata':{'name':'x'}}",
		  "metadata.name: Invalid value: \"x\": must be spec.names.plural+\".\"+spec.group" },
		{ "{'spec':{'scope':'x'}}",
		  "spec.scope: Unsupported value: \"x\": supported values: \"Cluster\", \"Namespaced\"" },
		{ "{'spec':{'versions':[]}}", "spec.versions: Required value" },
		{ "{'spec':{'preserveUnknownFields':true}}",
		  "spec.preserveUnknownFields: Invalid value: true: must be false" },
		{ "{'spec':{'versions':[{'name':'v1','storage':true}]}}",
		  "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required" },
	};
	json_auto_t *obj = test_json(CRD), *twice = NULL;
	struct err e = ERR_INIT;

	test_rules(&kind_crd, CRD, rows, ARRAY_SIZE(rows));
	test_admit(&kind_crd, obj, &e);
	CHECK_STR(jsonx_str(obj, "spec.names.singular"), "foo");
	CHECK_STR(jsonx_str(obj, "spec.names.listKind"), "FooList");
	CHECK_STR(jsonx_str(obj, "spec.conversion.strategy"), "None");
	twice = test_changed(CRD, "{'spec':{'versions':[" VERSION "," VERSION "]}}");
	test_admit(&kind_crd, twice, &e);
	CHECK_INT(e.ncauses, 2);
	CHECK_STR(err_cause_field(&e, 0), "spec.versions[1].name");
	CHECK_STR(err_cause_field(&e, 1), "spec.versions");
}

TEST("what may not change in small kinds does not")
{
	static const struct rule_row priority[] = {
		{ "{'value':2}", "value: Forbidden: may not be changed in an update." },
		{ "{'preemptionPolicy':'Never'}", "preemptionPolicy: Invalid value: \"Never\": field is immutable" },
		{ "{'description':'d'}", "" },
	};
	static const struct rule_row storage[] = {
		{ "{'parameters':{'a':'b'}}", "parameters: Forbidden: updates to parameters are forbidden." },
		{ "{'allowVolumeExpansion':true}", "" },
	};

	test_updates(&kind_priority_class, "{" NAMED ",'value':1}", priority, ARRAY_SIZE(priority));
	test_updates(&kind_storage_class, "{" NAMED ",'provisioner':'p'}", storage, ARRAY_SIZE(storage));
}

TEST("an event is the same in both forms")
{
	json_auto_t *obj = test_json(
		"{" NAMED
		",'eventTime':'2001-09-09T01:46:40.000000Z','reportingController':'c','reportingInstance':'i',"
		"'action':'a','reason':'r','type':'Normal','note':'n','regarding':{'kind':'Pod','name':'p'}}");
	json_auto_t *before = NULL;
	struct err e = ERR_INIT;
	auto_free char *cells = NULL;

	test_admit(&kind_event_v1, obj, &e);
	CHECK_INT(e.ncauses, 0);
	cells = test_cells(&kind_event_v1, obj);
	CHECK_STR(cells, "0s|Normal|r|pod/p||c, i|n|0s|1|x");
	before = jsonx_copy(obj);
	kind_event_v1.to_storage(obj, NULL);
	CHECK_STR(jsonx_str(obj, "involvedObject.name"), "p");
	CHECK_STR(jsonx_str(obj, "message"), "n");
	CHECK_STR(jsonx_str(obj, "reportingComponent"), "c");
	CHECK(!json_object_get(obj, "note") && !json_object_get(obj, "regarding"));
	kind_event_v1.from_storage(obj);
	CHECK(jsonx_equal(obj, before));
}

TEST("rules of Stoker's own kinds")
{
#define SERVER "'metadata':{'name':'default'},'spec':{"
#define HASH   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct object_row rows[] = {
		{ &kind_queue, "{" NAMED "}", "" },
		{ &kind_queue, "{" NAMED ",'spec':{'defaultWalltime':'168:00:00','maxWalltime':'1d'}}",
		  "spec.defaultWalltime: Invalid value: \"168:00:00\": must not be longer than maxWalltime" },
		{ &kind_queue, "{" NAMED ",'spec':{'defaultWalltime':'60','minWalltime':'1h'}}",
		  "spec.defaultWalltime: Invalid value: \"60\": must not be shorter than minWalltime" },
		{ &kind_queue, "{" NAMED ",'spec':{'limits':{'perUser':{'memory':'-1Gi'}}}}",
		  "spec.limits.perUser.memory: Invalid value: \"-1Gi\": must be greater than or equal to 0" },
		{ &kind_queue, "{" NAMED ",'spec':{'acl':{'users':['anna','-@host']}}}",
		  "spec.acl.users[1]: Invalid value: \"-@host\": must be a name, +name or -name" },
		{ &kind_queue,
		  "{'metadata':{'name':'a123456789b123456789c123456789d123456789e123456789f123456789g123'}}",
		  "metadata.name: Invalid value: "
		  "\"a123456789b123456789c123456789d123456789e123456789f123456789g123\": must be no more than 63 "
		  "characters" },
		{ &kind_queue, "{" NAMED ",'spec':{'maxWalltime':'long'}}",
		  "spec.maxWalltime: Invalid value: \"long\": must be a time such as 168:00:00, 7d or 3600" },
		{ &kind_queue, "{" NAMED ",'spec':{'idleGpu':{'warnAfter':'30m','endAfter':'30:00','below':1}}}", "" },
		{ &kind_queue, "{" NAMED ",'spec':{'idleGpu':{'warnAfter':'2h'}}}", "" },
		{ &kind_queue, "{" NAMED ",'spec':{'idleGpu':{}}}", "spec.idleGpu.warnAfter: Required value" },
		{ &kind_queue, "{" NAMED ",'spec':{'idleGpu':{'warnAfter':'soon','endAfter':'0'}}}",
		  "spec.idleGpu.warnAfter: Invalid value: \"soon\": must be a time of at least 1s, such as 30m, 2h or "
		  "02:00:00\nspec.idleGpu.endAfter: Invalid value: \"0\": must be a time of at least 1s, such as 30m, "
		  "2h "
		  "or 02:00:00" },
		{ &kind_queue, "{" NAMED ",'spec':{'idleGpu':{'warnAfter':'2h','endAfter':'1h'}}}",
		  "spec.idleGpu.endAfter: Invalid value: \"1h\": must not be shorter than warnAfter" },
		{ &kind_queue, "{" NAMED ",'spec':{'idleGpu':{'warnAfter':'2h','below':0}}}",
		  "spec.idleGpu.below: Invalid value: 0: must be greater than or equal to 1" },
		{ &kind_queue, "{" NAMED ",'spec':{'idleGpu':{'warnAfter':'2h','below':101}}}",
		  "spec.idleGpu.below: Invalid value: 101: must be a percentage from 1 to 100" },
		{ &kind_queue,
		  "{" NAMED ",'spec':{'cohort':'lab','quota':{'gpus':4,'cpus':'8'},'borrowingLimit':{'gpus':0},"
		  "'reclaim':'Never'}}",
		  "" },
		{ &kind_queue, "{" NAMED ",'spec':{'cohort':'lab'}}",
		  "spec.cohort: Invalid value: \"lab\": may only be set together with quota" },
		{ &kind_queue, "{" NAMED ",'spec':{'quota':{'gpus':4},'reclaim':'Any'}}",
		  "spec.reclaim: Invalid value: \"Any\": may only be set together with cohort" },
		{ &kind_queue, "{" NAMED ",'spec':{'quota':{'memory':'-1'}}}",
		  "spec.quota.memory: Invalid value: \"-1\": must be greater than or equal to 0" },
		{ &kind_queue, "{" NAMED ",'spec':{'type':'Route'}}",
		  "spec.destinations: Required value: a Route queue passes workloads on" },
		{ &kind_queue, "{" NAMED ",'spec':{'containers':'maybe'}}",
		  "spec.containers: Unsupported value: \"maybe\": supported values: \"allowed\", \"required\"" },
		{ &kind_pbsserver, "{'metadata':{'name':'default'}}", "" },
		{ &kind_pbsserver, "{'metadata':{'name':'other'}}",
		  "metadata.name: Invalid value: \"other\": there is one PBSServer, default" },
		{ &kind_pbsserver, "{" SERVER "'serverName':'G head'}}",
		  "spec.serverName: Invalid value: \"G head\": must be a name of printable characters without blanks "
		  "and none of #@[]/:" },
		{ &kind_pbsserver, "{" SERVER "'nextJobNumber':100000000}}",
		  "spec.nextJobNumber: Invalid value: 100000000: must be no more than 99999999" },
		{ &kind_pbsserver, "{" SERVER "'qstatLayout':5}}",
		  "spec.qstatLayout: Invalid value: 5: must be 4 or 6" },
		{ &kind_pbsserver, "{" SERVER "'managers':['root@*','@here']}}",
		  "spec.managers[1]: Invalid value: \"@here\": must be user or user@host" },
		{ &kind_pbsserver, "{" SERVER "'hostRoots':['/ghome','/']}}",
		  "spec.hostRoots[1]: Invalid value: \"/\": must be the absolute path of a directory other than /, "
		  "without .." },
		{ &kind_pbsjob, "{" NAMED ",'spec':{'script':'date','hold':'us','mail':{'points':'abe'}}}", "" },
		{ &kind_pbsjob, "{" NAMED ",'spec':{}}", "spec.script: Required value" },
		{ &kind_pbsjob, "{" NAMED ",'spec':{'script':'s','name':'a b'}}",
		  "spec.name: Invalid value: \"a b\": must have no blanks and none of &;|<>$`'\"\\()/*?" },
		{ &kind_pbsjob, "{" NAMED ",'spec':{'script':'s','priority':1024}}",
		  "spec.priority: Invalid value: 1024: must be between -1024 and 1023, inclusive" },
		{ &kind_pbsjob, "{" NAMED ",'spec':{'script':'s','hold':'x'}}",
		  "spec.hold: Invalid value: \"x\": must be n or letters of uosp" },
		{ &kind_pbsjob, "{" NAMED ",'spec':{'script':'s','mail':{'points':'bobo'}}}",
		  "spec.mail.points: Invalid value: \"bobo\": must be n or letters of abefj" },
		{ &kind_pbsjob, "{" NAMED ",'spec':{'interactive':true,'array':{'request':'1-2'}}}",
		  "spec.array: Forbidden: interactive job can not be job array" },
		{ &kind_build, "{" NAMED ",'spec':{'source':{'path':'/p'},'tag':'a:1'}}", "" },
		{ &kind_build,
		  "{" NAMED ",'spec':{'source':{'path':'/p','inline':{'Dockerfile':'FROM x'}},'tag':'a:1'}}",
		  "spec.source: Invalid value: null: exactly one of path, git and inline must be specified" },
		{ &kind_build, "{" NAMED ",'spec':{'source':{'path':'p'},'tag':'--x'}}",
		  "spec.source.path: Invalid value: \"p\": must be an absolute path\n"
		  "spec.tag: Invalid value: \"--x\": must be the name of an image, such as test-python:1.0" },
		{ &kind_token, "{" NAMED ",'spec':{'user':'u','hash':'" HASH "'}}", "" },
		{ &kind_token, "{" NAMED ",'spec':{'hash':'x'}}",
		  "spec.user: Required value\nspec.hash: Invalid value: null: must be 64 lower-case hexadecimal "
		  "digits" },
	};

	check_objects(rows, ARRAY_SIZE(rows));
}

TEST("a PBSJob begins queued, or held if it was submitted so")
{
	json_auto_t *queued = test_json("{" NAMED ",'spec':{'script':'s'}}");
	json_auto_t *held = test_json("{" NAMED ",'spec':{'script':'s','hold':'u'}}");
	struct err e = ERR_INIT;

	test_admit(&kind_pbsjob, queued, &e);
	test_admit(&kind_pbsjob, held, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK_STR(jsonx_str(queued, "status.state"), "Q");
	CHECK_STR(jsonx_str(held, "status.state"), "H");
}

TEST("columns of small kinds")
{
	static const struct object_row rows[] = {
		{ &kind_token, "{" NAMED ",'spec':{'user':'u','groups':['a','b']}}", "x|u|a,b|<never>|<unknown>" },
		{ &kind_disruption_budget,
		  "{" NAMED ",'spec':{'minAvailable':'50%'},'status':{'disruptionsAllowed':2}}",
		  "x|50%|N/A|2|<unknown>" },
		{ &kind_storage_class,
		  "{'metadata':{'name':'x','annotations':{'storageclass.kubernetes.io/is-default-class':'true'}},"
		  "'provisioner':'p'}",
		  "x (default)|p|Delete|<unset>|false|<unknown>" },
		{ &kind_role_binding,
		  "{" NAMED ",'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User','name':'u'},"
		  "{'kind':'ServiceAccount','name':'s','namespace':'n'}]}",
		  "x|Role/r|<unknown>|u||n/s" },
		{ &kind_endpoint_slice,
		  "{" NAMED
		  ",'addressType':'IPv4','ports':[{'port':80}],'endpoints':[{'addresses':['1.1.1.1','1.1.1.2']},"
		  "{'addresses':['1.1.1.3','1.1.1.4']}]}",
		  "x|IPv4|80|1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...|<unknown>" },
		{ &kind_autoscaler,
		  "{" NAMED
		  ",'spec':{'scaleTargetRef':{'kind':'Deployment','name':'d'},'minReplicas':1,'maxReplicas':3,"
		  "'targetCPUUtilizationPercentage':80}}",
		  "x|Deployment/d|cpu: <unknown>/80%|1|3|0|<unknown>" },
		{ &kind_pod_metrics,
		  "{" NAMED ",'window':'30s','containers':[{'usage':{'cpu':'100m','memory':'1Mi'}},"
		  "{'usage':{'cpu':'1','memory':'3Mi'}}]}",
		  "x|1100m|4Mi|30s" },
		{ &kind_pbsjob,
		  "{" NAMED ",'spec':{'name':'n','owner':'u','queue':'q'},'status':{'state':'C','exitStatus':271}}",
		  "x|n|u|C|q|271|<unknown>|<none>|" },
		{ &kind_certificate, "{" NAMED ",'spec':{'signerName':'s','username':'u','expirationSeconds':3600}}",
		  "x|<unknown>|s|u|60m|Pending" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = test_json(rows[i].object);
		auto_free char *cells = test_cells(rows[i].kind, obj);

		CHECK_STR(cells, rows[i].want);
	}
}

TEST("an old Ingress is the new one with its backends written another way")
{
	static const char *const rows[][2] = {
		{ "{'spec':{'backend':{'serviceName':'s','servicePort':80},'rules':[{'host':'a.b','http':{'paths':[{"
		  "'path':'/','pathType':'Prefix','backend':{'serviceName':'t','servicePort':'web'}}]}}]}}",
		  "{'spec':{'defaultBackend':{'service':{'name':'s','port':{'number':80}}},'rules':[{'host':'a.b',"
		  "'http':{'paths':[{'path':'/','pathType':'Prefix','backend':{'service':{'name':'t','port':{"
		  "'name':'web'}}}}]}}]}}" },
		{ "{'spec':{'backend':{'resource':{'kind':'K','name':'n'}}}}",
		  "{'spec':{'defaultBackend':{'resource':{'kind':'K','name':'n'}}}}" },
		{ "{'spec':{'rules':[{'host':'a.b'}]}}", "{'spec':{'rules':[{'host':'a.b'}]}}" },
	};

	CHECK(kind_storage(&kind_ingress_v1beta1) == &kind_ingress);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *there = test_json(rows[i][0]), *back = test_json(rows[i][1]);
		json_auto_t *old = test_json(rows[i][0]), *kept = test_json(rows[i][1]);

		kind_ingress_v1beta1.to_storage(there, NULL);
		CHECK(json_equal(there, kept));
		kind_ingress_v1beta1.from_storage(back);
		CHECK(json_equal(back, old));
	}
}
