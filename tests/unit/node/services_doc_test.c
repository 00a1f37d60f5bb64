// SPDX-License-Identifier: Apache-2.0
#include "node/services_doc.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

#define SERVICE                                                                                                        \
	"{'metadata':{'name':'web','namespace':'d'},'spec':{'clusterIP':'10.96.0.9','type':'NodePort','ports':"        \
	"[{'name':'http','port':80,'protocol':'TCP','nodePort':30080,'targetPort':8080}],'sessionAffinity':'ClientIP'" \
	","                                                                                                            \
	"'selector':{'app':'web'}}}"

TEST("a service and its endpoints are one part of the network's document")
{
	json_auto_t *service = sample_json(SERVICE);
	json_auto_t *endpoints =
		sample_json("{'subsets':[{'addresses':[{'ip':'10.0.0.1','hostname':'w-0'}],"
			    "'notReadyAddresses':[{'ip':'10.0.0.2'}],'ports':[{'name':'http','port':8080},"
			    "{'port':9}]}]}");
	json_auto_t *doc = service_doc(service, endpoints, NULL);

	CHECK_JSON(doc, "{'name':'web','namespace':'d','ports':[{'name':'http','port':80,'protocol':'TCP',"
			"'nodePort':30080}],'endpoints':[{'ip':'10.0.0.1','ready':true,'ports':{'http':8080,'':9},"
			"'hostname':'w-0'},{'ip':'10.0.0.2','ready':false,'ports':{'http':8080,'':9}}],"
			"'clusterIP':'10.96.0.9','type':'NodePort','sessionAffinity':'ClientIP'}");
}

TEST("pods that are about to start count as ready, listed or not")
{
	json_auto_t *service = sample_json("{'metadata':{'name':'w','namespace':'d'},'spec':{'clusterIP':'None'}}");
	json_auto_t *endpoints =
		sample_json("{'subsets':[{'notReadyAddresses':[{'ip':'10.0.0.1'},{'ip':'10.0.0.2'}]}]}");
	json_auto_t *starting = sample_json("{'10.0.0.2':'','10.0.0.3':'w-3'}");
	json_auto_t *doc = service_doc(service, endpoints, starting);

	CHECK_JSON(json_object_get(doc, "endpoints"),
		   "[{'ip':'10.0.0.1','ready':false,'ports':{}},{'ip':'10.0.0.2','ready':true,'ports':{}},"
		   "{'ip':'10.0.0.3','hostname':'w-3','ready':true}]");
	CHECK_INT(json_object_size(starting), 2);
}

TEST("names of headless services come early for pods that are ready when they run")
{
	static const struct {
		const char *service, *pod;
		bool early;
	} rows[] = {
		{ "'clusterIP':'None','selector':{'a':'b'}", "'containers':[{}]", true },
		{ "'clusterIP':'10.96.0.9','selector':{'a':'b'}", "'containers':[{}]", false },
		{ "'clusterIP':'None'", "'containers':[{}]", false },
		{ "'clusterIP':'None','selector':{'a':'c'}", "'containers':[{}]", false },
		{ "'clusterIP':'None','selector':{'a':'b'}", "'containers':[{},{'readinessProbe':{}}]", false },
		{ "'clusterIP':'None','selector':{'a':'b'}", "'readinessGates':[{}]", false },
		{ "'clusterIP':'None','selector':{'a':'b'},'publishNotReadyAddresses':true",
		  "'containers':[{'readinessProbe':{}}]", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *s = xasprintf("{'metadata':{'namespace':'d'},'spec':{%s}}", rows[i].service);
		auto_free char *p =
			xasprintf("{'metadata':{'namespace':'d','labels':{'a':'b'}},'spec':{%s}}", rows[i].pod);
		json_auto_t *service = sample_json(s);
		json_auto_t *pod = sample_json(p);

		CHECK_INT(service_names_early(service, pod), rows[i].early);
	}
}

TEST("a user's own namespace is a group, unless it is open")
{
	static const struct {
		const char *ns, *group;
	} rows[] = {
		{ "{'metadata':{'name':'default'}}", "" },
		{ "{'metadata':{'annotations':{'stoker.dev/owner':'ann'}}}", "ann" },
		{ "{'metadata':{'annotations':{'stoker.dev/owner':'ann'},'labels':{'stoker.dev/network':'open'}}}",
		  "" },
		{ "{'metadata':{'annotations':{'stoker.dev/owner':'ann'},'labels':{'stoker.dev/network':'shut'}}}",
		  "ann" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *ns = sample_json(rows[i].ns);

		CHECK_STR(namespace_group(ns), rows[i].group);
	}
}
