// SPDX-License-Identifier: Apache-2.0
/* net_rules_test.c - address arithmetic, leases and rule texts, without a kernel */
#include "node/net_rules.h"

#include <stdlib.h>

#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "node/net_lab.h"
#include "node/net_lease.h"
#include "test.h"

static struct net_shape shape(void)
{
	struct net_shape s = { .prefix = "0a1b2c3d", .bridge = "stk0a1b2c3d", .links = "s0a1b2c3d*", .dns_port = 53 };

	cidr_parse("10.244.0.0/16", &s.pods);
	cidr_parse("10.96.0.0/12", &s.services);
	s.gateway = s.pods.addr + 1;
	s.api_ip = 0x7f000001;
	s.api_port = 6443;
	return s;
}

TEST("address blocks are read strictly and compared rightly")
{
	struct cidr a;
	struct cidr b;
	char text[NET_CIDR_LEN];

	CHECK(cidr_parse("10.244.3.4/16", &a));
	CHECK_STR(cidr_print(a, text), "10.244.0.0/16");
	CHECK(!cidr_parse("10.244.0.0", &b) && !cidr_parse("10.244.0.0/33", &b) && !cidr_parse("x/8", &b) &&
	      !cidr_parse(NULL, &b) && !cidr_parse("10.1.1.1/", &b));
	CHECK(cidr_parse("10.0.0.0/8", &b) && cidr_overlap(a, b) && cidr_overlap(b, a));
	CHECK(cidr_parse("10.245.0.0/24", &b) && !cidr_overlap(a, b));
	CHECK(cidr_has(a, 0x0af40102) && !cidr_has(a, 0x0af50102));
	CHECK_STR(cidr_print(cidr_next(a), text), "10.245.0.0/16");
	CHECK(cidr_parse("10.255.0.0/16", &a));
	CHECK_STR(cidr_print(cidr_next(a), text), "10.0.0.0/16");
}

TEST("leases are given in turn, kept over a restart, and run out with a reason")
{
	auto_free char *dir = xasprintf("%s/leases", test_dir());
	struct leases *l = NULL;
	struct lease *lease = NULL;
	struct err e = ERR_INIT;
	char uid[2] = "a";

	/* A /29 has 8 addresses: network, gateway, five pods, broadcast. */
	CHECK_INT(leases_open(dir, 8, &l, &e), 0);
	for (uid[0] = 'a'; uid[0] <= 'e'; uid[0]++) {
		CHECK_INT(leases_take(l, uid, &lease, &e), 0);
		CHECK_INT(lease->index, uid[0] - 'a' + 2);
	}
	CHECK_INT(leases_take(l, "f", &lease, &e), -1);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	CHECK_INT(leases_take(l, "c", &lease, &e), 0);
	CHECK_INT(lease->index, 4);
	leases_release(l, lease);
	leases_free(l);
	CHECK_INT(leases_open(dir, 8, &l, &e), 0);
	CHECK_INT(leases_count(l), 4);
	CHECK(!leases_find(l, "c"));
	CHECK_INT(leases_find(l, "e")->index, 6);
	CHECK_INT(leases_take(l, "g", &lease, &e), 0);
	CHECK_INT(lease->index, 4);
	leases_free(l);
	/* A smaller block drops what is outside of it. */
	CHECK_INT(leases_open(dir, 6, &l, &e), 0);
	CHECK_INT(leases_count(l), 3);
	leases_free(l);
}

static struct service_rules *rules_of(const struct net_shape *s, json_t *services)
{
	struct service_rules *r = NULL;
	struct err e = ERR_INIT;

	if (service_rules_make(s, services, &r, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	json_decref(services);
	return r;
}

#define T       "inet stoker_0a1b2c3d_services "
#define WEB     "'name':'web','namespace':'prod','clusterIP':'10.96.0.10','ports':[{'name':'h','port':80,'nodePort':30080}]"
#define EP(ip_) "{'ip':'" ip_ "','ports':{'h':8080}}"

static const struct {
	const char *what;
	const char *from, *to;
	const char *want;
} diffs[] = {
	{ "nothing changed", "[{" WEB ",'endpoints':[" EP("10.244.0.2") "]}]",
	  "[{" WEB ",'endpoints':[" EP("10.244.0.2") "]}]", "" },
	{ "one endpoint more", "[{" WEB ",'endpoints':[" EP("10.244.0.2") "]}]",
	  "[{" WEB ",'endpoints':[" EP("10.244.0.2") "," EP("10.244.0.3") "]}]",
	  "flush chain " T "svc/prod/web/tcp/80\n"
	  "add rule " T
	  "svc/prod/web/tcp/80 meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.0.2 . 8080, 1 : "
	  "10.244.0.3 . 8080 }\n" },
	{ "a new service", "[]", "[{" WEB ",'endpoints':[" EP("10.244.0.2") "]}]",
	  "add chain " T "svc/prod/web/tcp/80\n"
	  "add rule " T "svc/prod/web/tcp/80 meta l4proto tcp dnat ip to 10.244.0.2:8080\n"
	  "add element " T "clusterips { 10.96.0.10 . tcp . 80 : goto svc/prod/web/tcp/80 }\n"
	  "add element " T "nodeports { tcp . 30080 : goto svc/prod/web/tcp/80 }\n" },
	{ "a service without endpoints", "[]", "[{" WEB "}]", "" },
	{ "an endpoint beyond the pods", "[]",
	  "[{'name':'x','namespace':'n','clusterIP':'10.96.0.9','ports':[{'port':1,'protocol':'UDP'}],"
	  "'endpoints':[{'ip':'192.0.2.9','ports':{'':5}}]}]",
	  "add chain " T "svc/n/x/udp/1\n"
	  "add rule " T "svc/n/x/udp/1 meta l4proto udp dnat ip to 192.0.2.9:5\n"
	  "add element " T "clusterips { 10.96.0.9 . udp . 1 : goto svc/n/x/udp/1 }\n"
	  "add element " T "outside { 192.0.2.9 . udp . 5 }\n" },
	{ "affinity", "[]",
	  "[{'name':'x','namespace':'n','clusterIP':'10.96.0.9','sessionAffinity':'ClientIP','ports':[{'port':1}],"
	  "'sessionAffinityConfig':{'clientIP':{'timeoutSeconds':60}},'endpoints':[{'ip':'10.244.0.9','ports':{'':5}}]}"
	  "]",
	  "add set " T
	  "aff/n/x/tcp/1/10.244.0.9/5/60 { type ipv4_addr; size 65536; flags dynamic,timeout; timeout 60s; }\n" },
	{ "headless", "[]", "[{'name':'x','namespace':'n','clusterIP':'None','ports':[{'port':1}],'endpoints':[]}]",
	  "" },
};

TEST("a change of services touches only what changed")
{
	struct net_shape s = shape();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(diffs); i++) {
		struct service_rules *old = rules_of(&s, lab_json("%s", diffs[i].from));
		struct service_rules *new = rules_of(&s, lab_json("%s", diffs[i].to));
		auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);

		service_rules_diff(&s, old, new, &text);
		if (strncmp(text.p ? text.p : "", diffs[i].want, strlen(diffs[i].want)) != 0 ||
		    (!*diffs[i].want && text.n))
			test_fail(__FILE__, __LINE__, "%s:\n%s", diffs[i].what, text.p);
		service_rules_free(old);
		service_rules_free(new);
	}
}

TEST("a removed service leaves in the order nft needs")
{
	struct net_shape s = shape();
	struct service_rules *old = rules_of(&s, lab_json("[{" WEB ",'endpoints':[" EP("10.244.0.2") "]}]"));
	struct service_rules *new = rules_of(&s, json_array());
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	const char *chain;

	service_rules_diff(&s, old, new, &text);
	chain = strstr(text.p, "delete chain " T "svc/prod/web/tcp/80\n");
	CHECK(chain && strstr(text.p, "delete element " T "clusterips { 10.96.0.10 . tcp . 80 }\n"));
	CHECK(chain && !strstr(chain, "delete element"));
	service_rules_free(old);
	service_rules_free(new);
}

TEST("names and ports that would break the text of a rule are refused")
{
	static const char *const bad[] = {
		"[{'name':'a b','namespace':'n'}]",
		"[{'name':'a;flush','namespace':'n'}]",
		"[{'name':'a'}]",
		"[{'name':'a','namespace':'n','clusterIP':'10.96.0.2','ports':[{'port':0}]}]",
		"[{'name':'a','namespace':'n','clusterIP':'10.96.0.2','ports':[{'port':1,'protocol':'x'}]}]",
		"[{'name':'a','namespace':'n','clusterIP':'10.96.0.2','ports':[{'port':1,'nodePort':70000}]}]",
	};
	struct net_shape s = shape();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		json_auto_t *doc = lab_json("%s", bad[i]);
		struct service_rules *r = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(service_rules_make(&s, doc, &r, &e), -1);
		CHECK_INT(e.kind, ERR_INVALID);
	}
}

TEST("kubernetes.default is there once and leads to the server, whatever the document says")
{
	struct net_shape s = shape();
	json_auto_t *given =
		lab_json("[{'name':'kubernetes','namespace':'default','clusterIP':'10.96.0.1','ports':"
			 "[{'name':'https','port':443}],'endpoints':[{'ip':'192.0.2.1','ports':{'https':1}}]}]");
	json_auto_t *none = json_array();
	json_auto_t *a = services_complete(&s, given);
	json_auto_t *b = services_complete(&s, none);
	const json_t *docs[] = { a, b };
	size_t i;

	for (i = 0; i < 2; i++) {
		const json_t *endpoint = json_array_get(json_object_get(json_array_get(docs[i], 0), "endpoints"), 0);

		CHECK_INT(json_array_size(docs[i]), 1);
		CHECK_STR(json_string_value(json_object_get(endpoint, "ip")), "127.0.0.1");
		CHECK_INT(json_integer_value(json_object_get(json_object_get(endpoint, "ports"), "https")), 6443);
	}
}

TEST("isolation takes addresses and groups, nothing else")
{
	struct net_shape s = shape();
	json_auto_t *good = lab_json("{'10.244.0.2':'x } evil','10.244.0.3':''}");
	json_auto_t *bad = lab_json("{'not an address':'x'}");
	json_auto_t *names = json_object();
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	struct err e = ERR_INIT;

	CHECK_INT(isolation_rules(&s, good, names, &text, &e), 0);
	CHECK(!strstr(text.p, "evil"));
	CHECK(strstr(text.p, "_isolation open { 10.244.0.3 }\n"));
	CHECK_INT(isolation_rules(&s, bad, names, &text, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK_INT(isolation_change(&s, good, bad, names, &text, &e), -1);
	CHECK_INT(json_object_size(names), 1);
}

TEST("a change of isolation touches only what changes")
{
	static const struct {
		const char *changes, *want;
	} rows[] = {
		{ "{'10.244.0.2':'a'}", "" },
		{ "{'10.244.0.9':null}", "" },
		{ "{'10.244.0.9':''}", "add element inet stoker_0a1b2c3d_isolation open { 10.244.0.9 }\n" },
		{ "{'10.244.0.3':null}", "delete element inet stoker_0a1b2c3d_isolation open { 10.244.0.3 }\n" },
		{ "{'10.244.0.9':'a'}",
		  "add element inet stoker_0a1b2c3d_isolation m61 { 10.244.0.9 }\n"
		  "add element inet stoker_0a1b2c3d_isolation groups { 10.244.0.9 : goto g61 }\n" },
		{ "{'10.244.0.2':''}", "delete element inet stoker_0a1b2c3d_isolation m61 { 10.244.0.2 }\n"
				       "delete element inet stoker_0a1b2c3d_isolation groups { 10.244.0.2 }\n"
				       "add element inet stoker_0a1b2c3d_isolation open { 10.244.0.2 }\n" },
	};
	struct net_shape s = shape();
	json_auto_t *groups = lab_json("{'10.244.0.2':'a','10.244.0.3':''}");
	json_auto_t *names = lab_json("{'a':true}");
	struct err e = ERR_INIT;

	snprintf(s.prefix, sizeof(s.prefix), "0a1b2c3d");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
		json_auto_t *changes = lab_json("%s", rows[i].changes);

		CHECK_INT(isolation_change(&s, groups, changes, names, &text, &e), 0);
		CHECK_STR(text.p ? text.p : "", rows[i].want);
	}
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

TEST("a journal of leases with a torn or foreign line keeps the rest")
{
	auto_free char *dir = xasprintf("%s/torn", test_dir());
	auto_free char *path = xasprintf("%s/" LEASES_JOURNAL, dir);
	struct leases *l = NULL;
	struct lease *lease = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(leases_open(dir, 256, &l, &e), 0);
	leases_free(l);
	write_text(path, "{\"index\":2,\"uid\":\"a\"}\n{\"index\":3,\"uid\":\"b\",\"ports\":[{\"hostPort\":80}]}\n"
			 "rubbish\n{\"index\":900,\"uid\":\"far\"}\n{\"index\":2}\n{\"index\":4,\"uid\":\"c\"}\n"
			 "{\"index\":5,\"uid\":\"c\"}\n{\"index\":6,\"ui");
	CHECK_INT(leases_open(dir, 256, &l, &e), 0);
	CHECK_INT(leases_count(l), 2);
	CHECK(!leases_find(l, "a"));
	CHECK_INT(json_array_size(leases_find(l, "b")->ports), 1);
	CHECK_INT(leases_find(l, "c")->index, 5);
	CHECK_INT(leases_take(l, "d", &lease, &e), 0);
	leases_free(l);
	CHECK_INT(leases_open(dir, 256, &l, &e), 0);
	CHECK_INT(leases_count(l), 3);
	leases_free(l);
}

TEST("a journal of leases does not grow without end")
{
	auto_free char *dir = xasprintf("%s/long", test_dir());
	auto_free char *path = xasprintf("%s/" LEASES_JOURNAL, dir);
	struct leases *l = NULL;
	struct lease *lease = NULL;
	struct err e = ERR_INIT;
	struct stat st;

	CHECK_INT(leases_open(dir, 65536, &l, &e), 0);
	CHECK_INT(leases_take(l, "stays", &lease, &e), 0);
	for (int i = 0; i < 5000; i++) {
		CHECK_INT(leases_take(l, "comes and goes", &lease, &e), 0);
		leases_release(l, lease);
	}
	leases_free(l);
	CHECK(stat(path, &st) == 0 && st.st_size < 64 * 1024);
	CHECK_INT(leases_open(dir, 65536, &l, &e), 0);
	CHECK_INT(leases_count(l), 1);
	leases_free(l);
}
