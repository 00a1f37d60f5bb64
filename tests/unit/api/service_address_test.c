// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#define SERVICE(name_, spec_) "{'metadata':{'name':'" name_ "'},'spec':{'ports':[{'port':80}]" spec_ "}}"

static json_t *make(struct server *s, const char *body)
{
	return server_ask(s, VERB_CREATE, "v1/services", "default", NULL, body);
}

static json_t *patch(struct server *s, const char *name, const char *body)
{
	struct api_request req = server_request(s, VERB_PATCH, "v1/services", "default", name);

	req.patch = PATCH_STRATEGIC;
	return server_call(s, &req, body);
}

static const char *address(const json_t *service)
{
	return jsonx_str_or(service, "spec.clusterIP", "");
}

static int64_t node_port(const json_t *service, size_t i)
{
	return jsonx_int_or(json_array_get(jsonx_at(service, "spec.ports"), i), "nodePort", 0);
}

TEST("a service gets an address of its own, also in one turn with others")
{
	struct server s = server_new();
	json_auto_t *first = NULL, *second = NULL;

	s.batch = true;
	first = make(&s, SERVICE("a", ""));
	second = make(&s, SERVICE("b", ""));
	CHECK(str_starts(address(first), "10."));
	CHECK_STR(json_string_value(json_array_get(jsonx_at(first, "spec.clusterIPs"), 0)), address(first));
	CHECK(*address(second) && !streq(address(first), address(second)));
	CHECK_INT(node_port(first, 0), 0);
	server_turn(&s);
	server_done(&s);
}

TEST("nobody owns what the server has chosen")
{
	struct server s = server_new();
	json_auto_t *made = make(&s, SERVICE("a", ",'type':'NodePort'"));
	auto_sbuf struct sbuf text = SBUF(1 << 16);

	jsonx_dump(jsonx_at(made, "metadata.managedFields"), &text);
	CHECK(strstr(text.p, "f:type") && !strstr(text.p, "f:clusterIP") && !strstr(text.p, "f:nodePort"));
	server_done(&s);
}

TEST("an address asked for is given once, and again when its service has gone")
{
	struct server s = server_new();
	json_auto_t *first = make(&s, SERVICE("a", ",'clusterIP':'10.96.0.10'"));
	json_auto_t *second = NULL;

	CHECK_STR(address(first), "10.96.0.10");
	CHECK(!make(&s, SERVICE("b", ",'clusterIP':'10.96.0.10'")));
	CHECK_INT(s.code, 422);
	CHECK(strstr(s.message, "spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: failed to allocate IP 10.96.0.10: "
				"provided IP is already allocated"));
	server_do(&s, VERB_DELETE, "v1/services", "default", "a", NULL);
	second = make(&s, SERVICE("b", ",'clusterIPs':['10.96.0.10']"));
	CHECK_STR(address(second), "10.96.0.10");
	server_done(&s);
}

TEST("addresses outside the network, and the server's own, are refused")
{
	static const struct {
		const char *body, *want;
	} rows[] = {
		{ SERVICE("x", ",'clusterIP':'10.95.0.1'"), "The range of valid IPs is 10.96.0.0/12" },
		{ SERVICE("x", ",'clusterIP':'10.96.0.0'"), "is not in the valid range" },
		{ SERVICE("x", ",'clusterIP':'10.111.255.255'"), "is not in the valid range" },
		{ SERVICE("x", ",'clusterIP':'fd00::1'"), "is not in the valid range" },
		{ SERVICE("x", ",'clusterIP':'10.96.0.1'"), "provided IP is already allocated" },
		{ SERVICE("x", ",'clusterIP':'10.96.0.8','clusterIPs':['10.96.0.9']"),
		  "first value must match `clusterIP`" },
		{ SERVICE("x", ",'clusterIP':'ten'"), "must be a valid IP address" },
	};
	struct server s = server_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(!make(&s, rows[i].body));
		CHECK_INT(s.code, 422);
		if (!strstr(s.message, rows[i].want))
			test_fail(__FILE__, __LINE__, "%s says %s", rows[i].body, s.message);
	}
	server_done(&s);
}

TEST("headless and external services have no address")
{
	struct server s = server_new();
	json_auto_t *headless = make(&s, SERVICE("a", ",'clusterIP':'None'"));
	json_auto_t *external = make(&s, SERVICE("b", ",'type':'ExternalName','externalName':'x.org'"));
	json_auto_t *second = make(&s, SERVICE("c", ",'clusterIP':'None'"));

	CHECK_STR(address(headless), "None");
	CHECK_STR(address(second), "None");
	CHECK(external && !jsonx_at(external, "spec.clusterIP"));
	server_done(&s);
}

TEST("node ports are picked, checked and shared between protocols")
{
	struct server s = server_new();
	json_auto_t *a = make(&s, "{'metadata':{'name':'a'},'spec':{'type':'NodePort','ports':["
				  "{'name':'t','port':53,'protocol':'TCP'},{'name':'u','port':53,'protocol':'UDP'},"
				  "{'name':'x','port':80},{'name':'y','port':81,'nodePort':30500}]}}");
	json_auto_t *b = NULL;

	CHECK(node_port(a, 0) >= 30000 && node_port(a, 0) <= 32767);
	CHECK_INT(node_port(a, 1), node_port(a, 0));
	CHECK(node_port(a, 2) >= 30000 && node_port(a, 2) != node_port(a, 0));
	CHECK_INT(node_port(a, 3), 30500);
	CHECK(!make(&s, "{'metadata':{'name':'b'},'spec':{'type':'NodePort','ports':[{'port':1,'nodePort':30500}]}}"));
	CHECK(strstr(s.message, "spec.ports[0].nodePort: Invalid value: 30500: provided port is already allocated"));
	b = make(&s, SERVICE("b", ",'type':'LoadBalancer','externalTrafficPolicy':'Local'"));
	CHECK(node_port(b, 0) >= 30000);
	CHECK(jsonx_int_or(b, "spec.healthCheckNodePort", 0) >= 30000);
	CHECK(jsonx_int_or(b, "spec.healthCheckNodePort", 0) != node_port(b, 0));
	server_done(&s);
}

TEST("a service of another type takes and gives back")
{
	struct server s = server_new();
	json_auto_t *a = make(&s, SERVICE("a", ",'clusterIP':'10.96.0.20'"));
	json_auto_t *port = patch(&s, "a", "{'spec':{'type':'NodePort','ports':[{'port':80,'nodePort':30600}]}}");
	json_auto_t *plain = NULL, *external = NULL, *other = NULL, *again = NULL;

	CHECK_STR(address(port), "10.96.0.20");
	CHECK_INT(node_port(port, 0), 30600);
	plain = patch(&s, "a", "{'spec':{'type':'ClusterIP'}}");
	CHECK_STR(s.message, "");
	CHECK_STR(address(plain), "10.96.0.20");
	CHECK_INT(node_port(plain, 0), 0);
	external = patch(&s, "a", "{'spec':{'type':'ExternalName','externalName':'x.org'}}");
	CHECK_STR(s.message, "");
	CHECK(external && !*address(external));
	other = make(&s, "{'metadata':{'name':'o'},'spec':{'type':'NodePort','clusterIP':'10.96.0.20','ports':["
			 "{'port':1,'nodePort':30600}]}}");
	CHECK_STR(s.message, "");
	CHECK(other != NULL);
	again = patch(&s, "a", "{'spec':{'type':'ClusterIP','externalName':null}}");
	CHECK(str_starts(address(again), "10.") && !streq(address(again), "10.96.0.20"));
	server_done(&s);
}

TEST("a dry run shows an address and keeps none")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_CREATE, "v1/services", "default", NULL);
	json_auto_t *shown = NULL, *made = NULL;

	req.dry_run = true;
	shown = server_call(&s, &req, SERVICE("a", ",'clusterIP':'10.96.0.30'"));
	CHECK_STR(address(shown), "10.96.0.30");
	json_decref(shown);
	shown = server_call(&s, &req, SERVICE("a", ""));
	CHECK(str_starts(address(shown), "10."));
	made = make(&s, SERVICE("b", ",'clusterIP':'10.96.0.30'"));
	CHECK(made != NULL);
	server_done(&s);
}

TEST("addresses are known again after a restart")
{
	struct server s = server_new();
	json_auto_t *a = make(&s, SERVICE("a", ",'clusterIP':'10.96.0.40'"));
	json_auto_t *kubernetes = NULL;

	CHECK(a != NULL);
	server_close(&s);
	server_open(&s);
	CHECK(!make(&s, SERVICE("b", ",'clusterIP':'10.96.0.40'")));
	CHECK_INT(s.code, 422);
	kubernetes = server_ask(&s, VERB_GET, "v1/services", "default", "kubernetes", NULL);
	CHECK_STR(address(kubernetes), "10.96.0.1");
	server_done(&s);
}
