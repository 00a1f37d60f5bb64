// SPDX-License-Identifier: Apache-2.0
#include "control/endpoints_plan.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/endpoint_pod.h"
#include "test.h"

/* A pod "name ip ready|not|ending", with more of its spec. */
static json_t *pod(const char *name, const char *ip, const char *state, const char *spec)
{
	auto_free char *text =
		xasprintf("{'metadata':{'name':'%s','namespace':'d','uid':'u-%s','labels':{'app':'web'}%s},"
			  "'spec':{'nodeName':'n1','containers':[{'ports':[{'name':'http','containerPort':8080}]}]%s},"
			  "'status':{'phase':'Running','podIP':'%s','conditions':[{'type':'Ready','status':'%s'}]}}",
			  name, name, streq(state, "ending") ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "", spec,
			  ip, streq(state, "not") ? "False" : "True");

	return sample_json(text);
}

static json_t *service(const char *spec)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'web','namespace':'d','uid':'s1','labels':{'tier':'f'}},"
					 "'spec':{'selector':{'app':'web'},%s}}",
					 spec);

	return sample_json(text);
}

#define REF(name) "'targetRef':{'kind':'Pod','namespace':'d','name':'" name "','uid':'u-" name "'},'nodeName':'n1'"
#define PORT_80   "'ports':[{'port':80,'protocol':'TCP'}]"
#define IP_A      "{'ip':'10.0.0.1'," REF("a") "}"
#define IP_B      "{'ip':'10.0.0.2'," REF("b") "}"

TEST("endpoints follow pods, ports and readiness")
{
	static const struct {
		const char *spec;  /* of the service */
		const char *state; /* of the second pod */
		const char *want;
	} rows[] = {
		{ "'clusterIP':'10.96.0.9','ports':[{'port':80,'protocol':'TCP','targetPort':80}]", "ready",
		  "[{'addresses':[" IP_A "," IP_B "]," PORT_80 "}]" },
		{ "'clusterIP':'10.96.0.9','ports':[{'port':80,'protocol':'TCP'}]", "not",
		  "[{'addresses':[" IP_A "],'notReadyAddresses':[" IP_B "]," PORT_80 "}]" },
		{ "'clusterIP':'10.96.0.9','ports':[{'port':80}]", "ending", "[{'addresses':[" IP_A "]," PORT_80 "}]" },
		{ "'publishNotReadyAddresses':true,'ports':[{'port':80}]", "not",
		  "[{'addresses':[" IP_A "," IP_B "]," PORT_80 "}]" },
		{ "'publishNotReadyAddresses':true,'ports':[{'port':80}]", "ending",
		  "[{'addresses':[" IP_A "," IP_B "]," PORT_80 "}]" },
		/* Ports by name, several of them. */
		{ "'ports':[{'name':'w','port':80,'targetPort':'http'},{'name':'m','port':81,'protocol':'UDP'}]",
		  "ready",
		  "[{'addresses':[" IP_A "," IP_B "],'ports':[{'name':'m','port':81,'protocol':'UDP'},"
		  "{'name':'w','port':8080,'protocol':'TCP'}]}]" },
		{ "'ports':[{'port':80,'targetPort':'nosuch'}]", "ready", "[]" },
		{ "'ports':[{'port':80,'targetPort':'http','protocol':'UDP'}]", "ready", "[]" },
		{ "'ports':[{'port':80,'appProtocol':'h2c'}]", "ready",
		  "[{'addresses':[" IP_A "," IP_B "],'ports':[{'port':80,'protocol':'TCP','appProtocol':'h2c'}]}]" },
		/* Headless, with ports and without. */
		{ "'clusterIP':'None','ports':[{'port':80}]", "ready",
		  "[{'addresses':[" IP_A "," IP_B "]," PORT_80 "}]" },
		{ "'clusterIP':'None'", "not", "[{'addresses':[" IP_A "],'notReadyAddresses':[" IP_B "]}]" },
		{ "'clusterIP':'10.96.0.9'", "ready", "[]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *svc = service(rows[i].spec);
		json_auto_t *pods =
			json_pack("[o, o]", pod("b", "10.0.0.2", rows[i].state, ""), pod("a", "10.0.0.1", "ready", ""));
		json_auto_t *plan = endpoints_plan(svc, pods);

		CHECK_JSON(json_object_get(plan, "subsets"), rows[i].want);
		CHECK_STR(jsonx_str(plan, "metadata.name"), "web");
	}
}

TEST("endpoints have the service's labels, and one more if it is headless")
{
	json_auto_t *svc = service("'clusterIP':'None'");
	json_auto_t *plain = service("'clusterIP':'10.96.0.9'");
	json_auto_t *a = endpoints_plan(svc, NULL);
	json_auto_t *b = endpoints_plan(plain, NULL);

	CHECK_JSON(jsonx_at(a, "metadata.labels"), "{'tier':'f','service.kubernetes.io/headless':''}");
	CHECK_JSON(jsonx_at(b, "metadata.labels"), "{'tier':'f'}");
}

TEST("a pod has a name of its own in the service that is its subdomain")
{
	static const struct {
		const char *spec, *want;
	} rows[] = {
		{ ",'hostname':'w-0','subdomain':'web'", "w-0" },
		{ ",'hostname':'w-0','subdomain':'other'", NULL },
		{ ",'subdomain':'web'", NULL },
	};
	json_auto_t *svc = service("'clusterIP':'None'");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pods = json_pack("[o]", pod("a", "10.0.0.1", "ready", rows[i].spec));
		json_auto_t *plan = endpoints_plan(svc, pods);
		json_auto_t *slices = slices_plan(svc, pods);
		const json_t *subset = json_array_get(json_object_get(plan, "subsets"), 0);
		const json_t *endpoint = json_array_get(json_object_get(json_array_get(slices, 0), "endpoints"), 0);

		CHECK(str_same(jsonx_str(json_array_get(json_object_get(subset, "addresses"), 0), "hostname"),
			       rows[i].want));
		CHECK(str_same(jsonx_str(endpoint, "hostname"), rows[i].want));
	}
}

TEST("pods that name their ports differently are apart")
{
	json_auto_t *svc = service("'ports':[{'port':80,'targetPort':'http'}]");
	json_auto_t *pods = json_pack("[o, o, o]", pod("a", "10.0.0.1", "ready", ""), pod("b", "10.0.0.2", "ready", ""),
				      pod("c", "10.0.0.3", "ready", ""));
	json_auto_t *plan = NULL;
	json_auto_t *slices = NULL;
	json_t *ports =
		json_object_get(json_array_get(jsonx_at(json_array_get(pods, 1), "spec.containers"), 0), "ports");

	json_object_set_new(json_array_get(ports, 0), "containerPort", json_integer(9090));
	plan = endpoints_plan(svc, pods);
	slices = slices_plan(svc, pods);
	CHECK_JSON(json_object_get(plan, "subsets"),
		   "[{'addresses':[" IP_A ",{'ip':'10.0.0.3'," REF("c") "}],'ports':[{'port':8080,'protocol':'TCP'}]},"
									"{'addresses':[" IP_B
									"],'ports':[{'port':9090,'protocol':'TCP'}]}]");
	CHECK_INT(json_array_size(slices), 2);
}

TEST("only pods with an address that have not finished count")
{
	static const struct {
		const char *pod;
		bool counts, ending;
	} rows[] = {
		{ "{'status':{'podIP':'10.0.0.1','phase':'Running'}}", true, false },
		{ "{'status':{'podIP':'10.0.0.1','phase':'Pending'}}", true, false },
		{ "{'status':{'phase':'Pending'}}", false, false },
		{ "{'status':{'podIP':'10.0.0.1','phase':'Succeeded'}}", false, false },
		{ "{'status':{'podIP':'10.0.0.1','phase':'Failed'}}", false, false },
		{ "{'metadata':{'deletionTimestamp':'t'},'status':{'podIP':'10.0.0.1','phase':'Running'}}", true,
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *p = sample_json(rows[i].pod);

		CHECK_INT(endpoint_pod_counts(p, true), rows[i].counts);
		CHECK_INT(endpoint_pod_counts(p, false), rows[i].counts && !rows[i].ending);
	}
	CHECK(!endpoint_pod_counts(NULL, true));
	CHECK(endpoint_pod_same(NULL, NULL));
}

TEST("a slice says of each endpoint how it stands")
{
	static const struct {
		const char *spec, *state, *want;
	} rows[] = {
		{ "'ports':[{'port':80}]", "ready", "{'ready':true,'serving':true,'terminating':false}" },
		{ "'ports':[{'port':80}]", "not", "{'ready':false,'serving':false,'terminating':false}" },
		{ "'ports':[{'port':80}]", "ending", "{'ready':false,'serving':true,'terminating':true}" },
		{ "'publishNotReadyAddresses':true,'ports':[{'port':80}]", "not",
		  "{'ready':true,'serving':false,'terminating':false}" },
		{ "'publishNotReadyAddresses':true,'ports':[{'port':80}]", "ending",
		  "{'ready':true,'serving':true,'terminating':true}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *svc = service(rows[i].spec);
		json_auto_t *pods = json_pack("[o]", pod("a", "10.0.0.1", rows[i].state, ""));
		json_auto_t *slices = slices_plan(svc, pods);
		const json_t *endpoint = json_array_get(json_object_get(json_array_get(slices, 0), "endpoints"), 0);

		CHECK_JSON(json_object_get(endpoint, "conditions"), rows[i].want);
	}
}

TEST("a slice belongs to its service")
{
	json_auto_t *svc = service("'clusterIP':'10.96.0.9','ports':[{'port':80}]");
	json_auto_t *pods = json_pack("[o]", pod("a", "10.0.0.1", "ready", ""));
	json_auto_t *slices = slices_plan(svc, pods);
	json_auto_t *again = slices_plan(svc, pods);
	const json_t *slice = json_array_get(slices, 0);

	CHECK_INT(json_array_size(slices), 1);
	CHECK_JSON(jsonx_at(slice, "metadata.labels"),
		   "{'tier':'f','kubernetes.io/service-name':'web',"
		   "'endpointslice.kubernetes.io/managed-by':'endpointslice-controller.k8s.io'}");
	CHECK_JSON(jsonx_at(slice, "metadata.ownerReferences"),
		   "[{'apiVersion':'v1','kind':'Service','name':'web','uid':'s1','controller':true,"
		   "'blockOwnerDeletion':true}]");
	CHECK_JSON(json_object_get(slice, "ports"), "[{'name':'','port':80,'protocol':'TCP'}]");
	CHECK_STR(jsonx_str(slice, "addressType"), "IPv4");
	CHECK_INT(strlen(jsonx_str(slice, "metadata.name")), strlen("web-") + 5);
	CHECK(json_equal(slices, again));
	CHECK(slice_same(slice, json_array_get(again, 0)));
}

TEST("a service without pods has one empty slice")
{
	json_auto_t *svc = service("'clusterIP':'10.96.0.9','ports':[{'port':80}]");
	json_auto_t *slices = slices_plan(svc, NULL);

	CHECK_INT(json_array_size(slices), 1);
	CHECK_INT(json_array_size(json_object_get(json_array_get(slices, 0), "endpoints")), 0);
}

TEST("slices hold a hundred endpoints at most")
{
	json_auto_t *svc = service("'ports':[{'port':80}]");
	json_auto_t *pods = json_array();
	json_auto_t *slices = NULL;

	for (int i = 0; i < 250; i++) {
		auto_free char *ip = xasprintf("10.0.%d.%d", i / 100, i % 100 + 1);
		auto_free char *name = xasprintf("p%d", i);

		json_array_append_new(pods, pod(name, ip, "ready", ""));
	}
	slices = slices_plan(svc, pods);
	CHECK_INT(json_array_size(slices), 3);
	CHECK_INT(json_array_size(json_object_get(json_array_get(slices, 0), "endpoints")), 100);
	CHECK_INT(json_array_size(json_object_get(json_array_get(slices, 2), "endpoints")), 50);
	CHECK(!streq(jsonx_str(json_array_get(slices, 0), "metadata.name"),
		     jsonx_str(json_array_get(slices, 1), "metadata.name")));
}

#define OUTSIDE                                                                                                        \
	"'subsets':[{'addresses':[{'ip':'192.168.1.5','hostname':'db'},{'ip':'fd00::1'}],'notReadyAddresses':"         \
	"[{'ip':'192.168.1.6'}],'ports':[{'port':5432,'protocol':'TCP'}]}]"

TEST("endpoints that somebody else keeps are mirrored")
{
	json_auto_t *svc =
		sample_json("{'metadata':{'name':'db','namespace':'d','uid':'s2'},'spec':{'ports':[{'port':5432}]}}");
	json_auto_t *ep = sample_json("{'metadata':{'name':'db','uid':'e1','labels':{'x':'y'}}," OUTSIDE "}");
	json_auto_t *skip = sample_json("{'metadata':{'name':'db','uid':'e1','labels':{'endpointslice.kubernetes.io/"
					"skip-mirror':'true'}}," OUTSIDE "}");
	json_auto_t *lock = sample_json("{'metadata':{'name':'db','uid':'e1','annotations':{'control-plane.alpha."
					"kubernetes.io/leader':'{}'}}," OUTSIDE "}");
	json_auto_t *slices = slices_mirror(svc, ep);
	json_auto_t *none = slices_mirror(svc, skip);
	json_auto_t *no_lock = slices_mirror(svc, lock);
	const json_t *slice = json_array_get(slices, 0);

	CHECK_INT(json_array_size(slices), 2);
	CHECK_STR(jsonx_str(slice, "addressType"), "IPv4");
	CHECK_JSON(json_object_get(slice, "endpoints"),
		   "[{'addresses':['192.168.1.5'],'conditions':{'ready':true},'hostname':'db'},"
		   "{'addresses':['192.168.1.6'],'conditions':{'ready':false}}]");
	CHECK_JSON(jsonx_at(slice, "metadata.labels"),
		   "{'x':'y','kubernetes.io/service-name':'db',"
		   "'endpointslice.kubernetes.io/managed-by':'endpointslicemirroring-controller.k8s.io'}");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(slice, "metadata.ownerReferences"), 0), "kind"), "Endpoints");
	CHECK_STR(jsonx_str(json_array_get(slices, 1), "addressType"), "IPv6");
	CHECK_INT(json_array_size(none), 0);
	CHECK_INT(json_array_size(no_lock), 0);
}
