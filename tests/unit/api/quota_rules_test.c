// SPDX-License-Identifier: Apache-2.0
#include "api/quota_parts.h"
#include "base/clock.h"
#include "server.h"

#define QUOTAS "v1/resourcequotas"
#define PODS   "v1/pods"
#define CLAIMS "v1/persistentvolumeclaims"

static const char *measured(struct server *s, const char *what, const char *obj, const char *name)
{
	static char text[QUANTITY_TEXT];
	json_auto_t *doc = sample_json(obj);
	struct quota_subject subject;
	struct quota_item item;
	struct quantity amount;

	quota_item_init(&item, name);
	quota_subject_init(&subject, server_kind(s, what), doc, 1000);
	amount = quota_measure(&subject, &item);
	quantity_text(&amount, text);
	quota_subject_done(&subject);
	quota_item_done(&item);
	return text;
}

TEST("each name of a quota measures its own part of an object")
{
	static const char pod[] = "{'spec':{'containers':[{'resources':{'requests':{'cpu':'500m','memory':'1Gi','"
				  "ephemeral-storage':'2Gi',"
				  "'hugepages-2Mi':'4Mi','nvidia.com/"
				  "gpu':2},'limits':{'cpu':1,'memory':'2Gi','ephemeral-storage':'3Gi'}}}]}}";
	static const char done[] = "{'status':{'phase':'Failed'}}";
	static const char claim[] = "{'spec':{'storageClassName':'gold','resources':{'requests':{'storage':'5Gi'}}}}";
	static const char ports[] = "{'spec':{'type':'NodePort','ports':[{'port':1},{'port':2}]}}";
	static const char balancer[] = "{'spec':{'type':'LoadBalancer','ports':[{'port':1},{'port':2}]}}";
	static const char bare[] =
		"{'spec':{'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,'ports':[{'port'"
		":1,'nodePort':30001},{'port':2}]}}";
	static const struct {
		const char *what, *obj, *name, *want;
	} rows[] = {
		{ PODS, pod, "pods", "1" },
		{ PODS, pod, "count/pods", "1" },
		{ PODS, pod, "cpu", "500m" },
		{ PODS, pod, "requests.cpu", "500m" },
		{ PODS, pod, "limits.cpu", "1" },
		{ PODS, pod, "memory", "1Gi" },
		{ PODS, pod, "limits.memory", "2Gi" },
		{ PODS, pod, "ephemeral-storage", "2Gi" },
		{ PODS, pod, "requests.ephemeral-storage", "2Gi" },
		{ PODS, pod, "limits.ephemeral-storage", "3Gi" },
		{ PODS, pod, "hugepages-2Mi", "4Mi" },
		{ PODS, pod, "requests.hugepages-2Mi", "4Mi" },
		{ PODS, pod, "requests.nvidia.com/gpu", "2" },
		{ PODS, pod, "requests.alpha.kubernetes.io/nvidia-gpu", "2" },
		{ PODS, pod, "requests.example.com/card", "0" },
		{ PODS, pod, "requests.storage", "0" },
		{ PODS, pod, "services", "0" },
		{ PODS, done, "pods", "0" },
		{ PODS, done, "count/pods", "1" },
		{ CLAIMS, claim, "persistentvolumeclaims", "1" },
		{ CLAIMS, claim, "requests.storage", "5Gi" },
		{ CLAIMS, claim, "gold.storageclass.storage.k8s.io/requests.storage", "5Gi" },
		{ CLAIMS, claim, "gold.storageclass.storage.k8s.io/persistentvolumeclaims", "1" },
		{ CLAIMS, claim, "lead.storageclass.storage.k8s.io/requests.storage", "0" },
		{ CLAIMS, claim, "lead.storageclass.storage.k8s.io/persistentvolumeclaims", "0" },
		{ "v1/services", ports, "services", "1" },
		{ "v1/services", ports, "services.nodeports", "2" },
		{ "v1/services", ports, "services.loadbalancers", "0" },
		{ "v1/services", balancer, "services.nodeports", "2" },
		{ "v1/services", balancer, "services.loadbalancers", "1" },
		{ "v1/services", bare, "services.nodeports", "1" },
		{ "v1/services", "{'spec':{'ports':[{'port':1}]}}", "services.nodeports", "0" },
		{ "v1/secrets", "{}", "secrets", "1" },
		{ "v1/configmaps", "{}", "configmaps", "1" },
		{ "v1/configmaps", "{}", "count/configmaps", "1" },
		{ QUOTAS, "{}", "resourcequotas", "1" },
		{ "v1/replicationcontrollers", "{}", "replicationcontrollers", "1" },
		{ "batch/v1/jobs", "{}", "count/jobs.batch", "1" },
		{ "batch/v1/jobs", "{}", "count/jobs.apps", "0" },
		{ "apps/v1/deployments", "{}", "count/deployments.apps", "1" },
		{ "apps/v1/deployments", "{}", "count/replicasets.apps", "0" },
	};
	struct server s = server_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!streq(measured(&s, rows[i].what, rows[i].obj, rows[i].name), rows[i].want))
			test_fail(__FILE__, __LINE__, "%s of %s is %s, not %s", rows[i].name, rows[i].obj,
				  measured(&s, rows[i].what, rows[i].obj, rows[i].name), rows[i].want);
	server_done(&s);
}

TEST("scopes choose which pods count")
{
#define TERM(op, values)                                                                                               \
	"'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'" op "'" values "}]}"
#define FAR(kind, more)                                                                                                \
	"{'affinity':{'" kind "':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'k'" more "}]}}}"
	static const char plain[] = "{'containers':[{}]}";
	static const char asks[] = "{'containers':[{'resources':{'requests':{'cpu':1}}}]}";
	static const char ends[] = "{'activeDeadlineSeconds':5}";
	static const char high[] = "{'priorityClassName':'high'}";
	static const struct {
		const char *spec, *pod;
		bool want;
	} rows[] = {
		{ "", plain, true },
		{ "'scopes':['Terminating']", plain, false },
		{ "'scopes':['Terminating']", ends, true },
		{ "'scopes':['NotTerminating']", plain, true },
		{ "'scopes':['NotTerminating']", ends, false },
		{ "'scopes':['BestEffort']", plain, true },
		{ "'scopes':['BestEffort']", asks, false },
		{ "'scopes':['NotBestEffort']", plain, false },
		{ "'scopes':['NotBestEffort']", asks, true },
		{ "'scopes':['NotBestEffort','Terminating']", asks, false },
		{ "'scopes':['PriorityClass']", high, true },
		{ "'scopes':['PriorityClass']", plain, false },
		{ TERM("In", ",'values':['low','high']"), high, true },
		{ TERM("In", ",'values':['low']"), high, false },
		{ TERM("In", ",'values':['low']"), plain, false },
		{ TERM("NotIn", ",'values':['low']"), high, true },
		{ TERM("NotIn", ",'values':['high']"), high, false },
		{ TERM("NotIn", ",'values':['high']"), plain, true },
		{ TERM("Exists", ""), high, true },
		{ TERM("Exists", ""), plain, false },
		{ TERM("DoesNotExist", ""), high, false },
		{ TERM("DoesNotExist", ""), plain, true },
		{ "'scopes':['CrossNamespacePodAffinity']", FAR("podAffinity", ",'namespaces':['x']"), true },
		{ "'scopes':['CrossNamespacePodAffinity']", FAR("podAntiAffinity", ",'namespaceSelector':{}"), true },
		{ "'scopes':['CrossNamespacePodAffinity']", FAR("podAffinity", ""), false },
		{ "'scopes':['CrossNamespacePodAffinity']",
		  "{'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,"
		  "'podAffinityTerm':{'namespaces':['x']}}]}}}",
		  true },
	};
	struct server s = server_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'metadata':{'name':'q'},'spec':{%s}}", rows[i].spec);
		auto_free char *pod_text = xasprintf("{'spec':%s}", rows[i].pod);
		json_auto_t *obj = sample_json(text);
		json_auto_t *pod = sample_json(pod_text);
		struct quota *q = quota_new(obj);
		struct quota_subject subject;

		quota_subject_init(&subject, server_kind(&s, PODS), pod, 0);
		if (quota_matches(q, &subject) != rows[i].want)
			test_fail(__FILE__, __LINE__, "%s and %s", rows[i].spec, rows[i].pod);
		quota_subject_init(&subject, server_kind(&s, "v1/secrets"), pod, 0);
		CHECK_INT(quota_matches(q, &subject), !*rows[i].spec);
		quota_free(q);
	}
	server_done(&s);
}

TEST("the end of a grace period is noticed by itself")
{
	struct server s = server_new();
	struct quotas *qs = api_quotas(s.api);
	struct api_request bind = server_request(&s, VERB_CREATE, PODS, "default", "a");
	struct quota_space *space;
	int64_t now = clock_wall();

	clock_fake(now);
	server_do(&s, VERB_CREATE, QUOTAS, "default", NULL, "{'metadata':{'name':'q'},'spec':{'hard':{'pods':'1'}}}");
	server_make_pod(&s, "a");
	bind.subresource = "binding";
	json_decref(server_call(&s, &bind, "{'metadata':{'name':'a'},'target':{'kind':'Node','name':'lost'}}"));
	server_do(&s, VERB_DELETE, PODS, "default", "a", NULL);
	space = map_find(&qs->spaces, "default");
	CHECK_INT(space->leaving, 1);
	CHECK_INT(space->deadline, now + 61); /* when it should go, and as long again */
	CHECK(loop_timer_pending(&qs->deadline));
	clock_fake(now + 60);
	qs->deadline.fire(qs->deadline.arg);
	CHECK(space->counted);
	CHECK_INT(quantity_value(&space->quotas[0]->items[0].used), 1);
	clock_fake(now + 61);
	qs->deadline.fire(qs->deadline.arg);
	server_turn(&s);
	CHECK_INT(quantity_value(&space->quotas[0]->items[0].used), 0);
	server_make_pod(&s, "b");
	CHECK_INT(quantity_value(&space->quotas[0]->items[0].used), 1);
	clock_fake(-1);
	server_done(&s);
}
