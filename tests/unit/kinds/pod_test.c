// SPDX-License-Identifier: Apache-2.0
/* pod_test.c - defaults, rules and updates of pods */
#include "base/jsonx.h"
#include "core_test.h"

#define C(more_) "{'spec':{'containers':[{'name':'a','image':'i:1'" more_ "}]}}"
#define S(more_) "{'spec':{'containers':[{'name':'a','image':'i:1'}]" more_ "}}"

TEST("a pod gets every default that the real server fills in")
{
	static const struct {
		const char *path, *want;
	} rows[] = {
		{ "spec.restartPolicy", "Always" },
		{ "spec.dnsPolicy", "ClusterFirst" },
		{ "spec.schedulerName", "default-scheduler" },
		{ "spec.serviceAccountName", "default" },
		{ "spec.serviceAccount", "default" },
		{ "status.phase", "Pending" },
		{ "status.qosClass", "BestEffort" },
	};
	json_auto_t *pod = created(&kind_pod, C(",'ports':[{'containerPort':80}]"));
	const json_t *container = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	const json_t *tolerations = jsonx_at(pod, "spec.tolerations");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(jsonx_str(pod, rows[i].path), rows[i].want);
	CHECK_INT(jsonx_int_or(pod, "spec.terminationGracePeriodSeconds", -1), 30);
	CHECK(jsonx_bool_or(pod, "spec.enableServiceLinks", false));
	CHECK(json_is_object(jsonx_at(pod, "spec.securityContext")));
	CHECK_STR(jsonx_str(container, "terminationMessagePath"), "/dev/termination-log");
	CHECK_STR(jsonx_str(container, "terminationMessagePolicy"), "File");
	CHECK_STR(jsonx_str(container, "imagePullPolicy"), "IfNotPresent");
	CHECK(json_is_object(jsonx_at(container, "resources")));
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(container, "ports"), 0), "protocol"), "TCP");
	CHECK_INT(json_array_size(tolerations), 2);
	CHECK_STR(jsonx_str(json_array_get(tolerations, 0), "key"), "node.kubernetes.io/not-ready");
	CHECK_INT(jsonx_int_or(json_array_get(tolerations, 1), "tolerationSeconds", 0), 300);
}

TEST("the tag of the image decides when it is fetched")
{
	static const struct {
		const char *image, *want;
	} rows[] = {
		{ "nginx", "Always" },
		{ "nginx:latest", "Always" },
		{ "nginx:1.25", "IfNotPresent" },
		{ "reg:5000/nginx", "Always" },
		{ "reg:5000/nginx:2", "IfNotPresent" },
		{ "nginx@sha256:00", "IfNotPresent" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *container = json_pack("{s:s, s:s}", "name", "a", "image", rows[i].image);

		message_default(&core_container, container);
		CHECK_STR(jsonx_str(container, "imagePullPolicy"), rows[i].want);
	}
}

TEST("probes and volumes get their defaults")
{
	json_auto_t *pod =
		created(&kind_pod, "{'spec':{'containers':[{'name':'a','image':'i','livenessProbe':{'httpGet':"
				   "{'port':80}}}],'volumes':[{'name':'v'},{'name':'c','configMap':{'name':'m'}},"
				   "{'name':'h','hostPath':{'path':'/x'}},{'name':'p','projected':{'sources':["
				   "{'serviceAccountToken':{'path':'t'}}]}}]}}");
	const json_t *probe = jsonx_at(json_array_get(jsonx_at(pod, "spec.containers"), 0), "livenessProbe");
	const json_t *volumes = jsonx_at(pod, "spec.volumes"),
		     *sources = jsonx_at(json_array_get(volumes, 3), "projected.sources");

	CHECK_INT(jsonx_int_or(probe, "timeoutSeconds", 0), 1);
	CHECK_INT(jsonx_int_or(probe, "periodSeconds", 0), 10);
	CHECK_INT(jsonx_int_or(probe, "successThreshold", 0), 1);
	CHECK_INT(jsonx_int_or(probe, "failureThreshold", 0), 3);
	CHECK_STR(jsonx_str(probe, "httpGet.path"), "/");
	CHECK_STR(jsonx_str(probe, "httpGet.scheme"), "HTTP");
	CHECK(json_is_object(jsonx_at(json_array_get(volumes, 0), "emptyDir")));
	CHECK_INT(jsonx_int_or(json_array_get(volumes, 1), "configMap.defaultMode", 0), 420);
	CHECK_STR(jsonx_str(json_array_get(volumes, 2), "hostPath.type"), "");
	CHECK_INT(jsonx_int_or(json_array_get(sources, 0), "serviceAccountToken.expirationSeconds", 0), 3600);
}

TEST("limits become requests, and decide the class of service")
{
	static const struct {
		const char *resources, *want;
	} rows[] = {
		{ "{}", "BestEffort" },
		{ "{'limits':{'cpu':'1','memory':'1Gi'}}", "Guaranteed" },
		{ "{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'500m'}}", "Burstable" },
		{ "{'requests':{'memory':'1Gi'}}", "Burstable" },
		{ "{'limits':{'nvidia.com/gpu':1}}", "BestEffort" },
	};
	json_auto_t *pod = created(&kind_pod, C(",'resources':{'limits':{'cpu':2,'memory':'1Gi'}}"));
	const json_t *container = json_array_get(jsonx_at(pod, "spec.containers"), 0);

	CHECK_STR(jsonx_str(container, "resources.requests.cpu"), "2");
	CHECK_STR(jsonx_str(pod, "status.qosClass"), "Guaranteed");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'containers':[{'name':'a','resources':%s}]}", rows[i].resources);
		json_auto_t *spec = object(text);

		CHECK_STR(pod_qos_class(spec), rows[i].want);
	}
}

TEST("a template gets the pod's defaults but not those of real pods")
{
	json_auto_t *template = object("{'spec':{'containers':[{'name':'a','image':'i'}]}}");

	message_default(&core_pod_template_spec, template);
	CHECK_STR(jsonx_str(template, "spec.restartPolicy"), "Always");
	CHECK(!jsonx_at(template, "spec.serviceAccountName"));
	CHECK(!jsonx_at(template, "spec.tolerations"));
	CHECK(!jsonx_at(template, "spec.priority"));
	CHECK(!jsonx_at(template, "spec.enableServiceLinks"));
}

TEST("what is wrong with a pod is told with its path, in Kubernetes' words")
{
	static const struct {
		const char *pod, *want;
	} rows[] = {
		{ C(""), "" },
		{ "{'spec':{'containers':[]}}", "spec.containers: Required value" },
		{ "{'spec':{'containers':[{'name':'a'}]}}", "spec.containers[0].image: Required value" },
		{ "{'spec':{'containers':[{'name':'a','image':'i'},{'name':'a','image':'i'}]}}",
		  "spec.containers[1].name: Duplicate value: \"a\"" },
		{ C(",'ports':[{'containerPort':70000}]"), "spec.containers[0].ports[0].containerPort: Invalid value: "
							   "70000: must be between 1 and 65535, inclusive" },
		{ C(",'ports':[{'containerPort':1,'protocol':'X'}]"),
		  "spec.containers[0].ports[0].protocol: Unsupported value: \"X\": supported values: \"SCTP\", "
		  "\"TCP\", "
		  "\"UDP\"" },
		{ C(",'ports':[{'containerPort':1,'name':'p'},{'containerPort':2,'name':'p'}]"),
		  "spec.containers[0].ports[1].name: Duplicate value: \"p\"" },
		{ C(",'ports':[{'containerPort':1,'hostPort':9},{'containerPort':2,'hostPort':9}]"),
		  "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//9\"" },
		{ C(",'volumeMounts':[{'name':'x','mountPath':'/a'}]"),
		  "spec.containers[0].volumeMounts[0].name: Not found: \"x\"" },
		{ C(",'resources':{'requests':{'cpu':2},'limits':{'cpu':1}}"),
		  "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu "
		  "limit of 1" },
		{ C(",'resources':{'requests':{'nvidia.com/gpu':1}}"),
		  "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable "
		  "resources" },
		{ C(",'resources':{'limits':{'cpu':'-1'}}"), "spec.containers[0].resources.limits[cpu]: Invalid value: "
							     "\"-1\": must be greater than or equal to 0; "
							     "spec.containers[0].resources.requests[cpu]: Invalid "
							     "value: \"-1\": must be greater than or equal to 0" },
		{ C(",'env':[{'name':'A','value':'1','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'}}}]"),
		  "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not "
		  "empty" },
		{ C(",'livenessProbe':{}"),
		  "spec.containers[0].livenessProbe: Required value: must specify a handler type" },
		{ C(",'livenessProbe':{'exec':{'command':['a']},'successThreshold':2}"),
		  "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1" },
		{ C(",'securityContext':{'runAsUser':-1}"), "spec.containers[0].securityContext.runAsUser: Invalid "
							    "value: -1: must be between 0 and 2147483647, inclusive" },
		{ C(",'restartPolicy':'Always'"),
		  "spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers" },
		{ S(",'restartPolicy':'Sometimes'"),
		  "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", "
		  "\"Never\"" },
		{ S(",'activeDeadlineSeconds':0"),
		  "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive" },
		{ S(",'volumes':[{'name':'v','emptyDir':{},'hostPath':{'path':'/x'}}]"),
		  "spec.volumes[0].emptyDir: Forbidden: may not specify more than 1 volume type" },
		{ S(",'volumes':[{'name':'v'},{'name':'v'}]"), "spec.volumes[1].name: Duplicate value: \"v\"" },
		{ S(",'volumes':[{'name':'v','configMap':{}}]"), "spec.volumes[0].configMap.name: Required value" },
		{ S(",'volumes':[{'name':'v','secret':{'secretName':'s','defaultMode':1000}}]"),
		  "spec.volumes[0].secret.defaultMode: Invalid value: 1000: must be a number between 0 and 0777 "
		  "(octal), "
		  "both inclusive" },
		{ S(",'tolerations':[{'key':'k','operator':'Exists','value':'v'}]"),
		  "spec.tolerations[0].operator: Invalid value: \"Exists\": value must be empty when `operator` is "
		  "'Exists'" },
		{ S(",'tolerations':[{'effect':'NoSchedule'}]"),
		  "spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, "
		  "which means "
		  "\"match all values and all keys\"" },
		{ S(",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms'"
		    ":["
		    "{'matchExpressions':[{'key':'k','operator':'In'}]}]}}}"),
		  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
		  "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'" },
		{ S(",'dnsPolicy':'None'"), "spec.dnsConfig.nameservers: Required value: must provide at least one DNS "
					    "nameserver when `dnsPolicy` is None" },
		{ S(",'hostAliases':[{'ip':'nope'}]"),
		  "spec.hostAliases[0].ip: Invalid value: \"nope\": must be a valid IP address, (e.g. 10.9.8.7 or "
		  "2001:db8::ffff)" },
		{ S(",'initContainers':[{'name':'b','image':'i','livenessProbe':{'exec':{'command':['a']}}}]"),
		  "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without "
		  "restartPolicy=Always" },
		{ S(",'initContainers':[{'name':'b','image':'i','restartPolicy':'Always'}]"), "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_COMPLAINT(&kind_pod, rows[i].pod, rows[i].want);
}

TEST("host network makes container ports host ports")
{
	json_auto_t *pod =
		created(&kind_pod, "{'spec':{'hostNetwork':true,'containers':[{'name':'a','image':'i','ports':[{"
				   "'containerPort':80}]}]}}");
	const json_t *container = json_array_get(jsonx_at(pod, "spec.containers"), 0);

	CHECK_INT(jsonx_int_or(json_array_get(jsonx_at(container, "ports"), 0), "hostPort", 0), 80);
}

TEST("a pod with gates begins as gated")
{
	json_auto_t *pod = created(&kind_pod, S(",'schedulingGates':[{'name':'example.com/wait'}]"));
	const json_t *condition = json_array_get(jsonx_at(pod, "status.conditions"), 0);

	CHECK_STR(jsonx_str(condition, "type"), "PodScheduled");
	CHECK_STR(jsonx_str(condition, "reason"), "SchedulingGated");
}

#define FORBIDDEN                                                                                                      \
	"spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"                    \
	"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "  \
	"tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

TEST("of a pod's spec little may change")
{
	static const struct {
		const char *path, *value, *want;
	} rows[] = {
		{ "metadata.labels", "{'a':'b'}", "" },
		{ "status.phase", "'Running'", "" },
		{ "spec.activeDeadlineSeconds", "10", "" },
		{ "spec.activeDeadlineSeconds", "200",
		  "spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value" },
		{ "spec.nodeName", "'n'", FORBIDDEN },
		{ "spec.hostNetwork", "true", FORBIDDEN },
		{ "spec.tolerations", "[]",
		  "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds" },
		{ "spec.schedulingGates", "[{'name':'g'}]",
		  "spec.schedulingGates[0]: Forbidden: only deletion is allowed, but found new scheduling gate 'g'" },
		{ "spec.containers", "[]", "spec.containers: Forbidden: pod updates may not add or remove containers" },
	};
	json_auto_t *before = created(&kind_pod, S(",'activeDeadlineSeconds':100"));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *after = jsonx_copy(before);
		auto_free char *got = NULL;

		jsonx_set_new(after, rows[i].path, object(rows[i].value));
		got = update_complaint(&kind_pod, before, after);
		CHECK_STR(got, rows[i].want);
	}
}

TEST("a PBS job's pod may be given more time")
{
	static const char owners[] =
		"[{'apiVersion':'stoker.dev/v1','kind':'%s','name':'1','uid':'u','controller':true}]";
	static const struct {
		const char *kind, *want;
	} rows[] = {
		{ "PBSJob", "" },
		{ "Job",
		  "spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *before = created(&kind_pod, S(",'activeDeadlineSeconds':100"));
		json_auto_t *after = NULL;
		auto_free char *text = xasprintf(owners, rows[i].kind);
		auto_free char *got = NULL;

		jsonx_set_new(before, "metadata.ownerReferences", object(text));
		after = jsonx_copy(before);
		jsonx_set_new(after, "spec.activeDeadlineSeconds", json_integer(200));
		got = update_complaint(&kind_pod, before, after);
		CHECK_STR(got, rows[i].want);
	}
}

TEST("a pod's image may change and tolerations may be added")
{
	json_auto_t *before = created(&kind_pod, C("")), *after = jsonx_copy(before);
	auto_free char *got = NULL;

	json_object_set_new(json_array_get(jsonx_at(after, "spec.containers"), 0), "image", json_string("i:2"));
	json_array_append_new(jsonx_at(after, "spec.tolerations"), object("{'key':'k','operator':'Exists'}"));
	got = update_complaint(&kind_pod, before, after);
	CHECK_STR(got, "");
}

TEST("a gated pod may be told more about where to go")
{
	json_auto_t *before = created(&kind_pod, S(",'schedulingGates':[{'name':'g'}]")), *after = jsonx_copy(before);
	auto_free char *got = NULL;

	json_object_del(json_object_get(after, "spec"), "schedulingGates");
	jsonx_set_new(after, "spec.nodeSelector", object("{'pool':'a'}"));
	got = update_complaint(&kind_pod, before, after);
	CHECK_STR(got, "");
}
