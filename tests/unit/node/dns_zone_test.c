// SPDX-License-Identifier: Apache-2.0
/* dns_zone_test.c - which names there are, by a table */
#include "node/dns_zone.h"

#include <stdlib.h>

#include "base/mem.h"
#include "node/dns_text.h"
#include "node/net_lab.h"
#include "test.h"

#define SERVICES                                                                                                       \
	"[{'name':'web','namespace':'prod','type':'ClusterIP','clusterIP':'10.96.0.10',"                               \
	"'ports':[{'name':'http','port':80,'protocol':'TCP'},{'name':'dns','port':53,'protocol':'UDP'}],"              \
	"'endpoints':[{'ip':'10.244.0.5','ports':{'http':8080}}]},"                                                    \
	"{'name':'db','namespace':'prod','type':'ClusterIP','clusterIP':'None','ports':[{'name':'sql','port':5432}],"  \
	"'endpoints':[{'ip':'10.244.0.7','hostname':'db-0','ready':true,'ports':{'sql':5433}},"                        \
	"{'ip':'10.244.0.8','ready':true,'ports':{'sql':5432}},{'ip':'10.244.0.9','hostname':'db-2','ready':false}]}," \
	"{'name':'peers','namespace':'prod','clusterIP':'None','publishNotReadyAddresses':true,"                       \
	"'endpoints':[{'ip':'10.244.0.9','hostname':'p-0','ready':false}]},"                                           \
	"{'name':'empty','namespace':'prod','clusterIP':'None'},"                                                      \
	"{'name':'out','namespace':'prod','type':'ExternalName','externalName':'example.org.'},"                       \
	"{'name':'alias','namespace':'prod','type':'ExternalName','externalName':'web.prod.svc.cluster.local'},"       \
	"{'name':'ring','namespace':'prod','type':'ExternalName','externalName':'ring.prod.svc.cluster.local'},"       \
	"{'name':'Bad_Name','namespace':'prod','clusterIP':'10.96.0.66'}]"

#define D "svc.cluster.local"

static const struct {
	const char *name;
	uint16_t type;
	const char *want;
} rows[] = {
	{ "web.prod." D, DNS_A, "NOERROR A 10.96.0.10" },
	{ "web.prod." D, DNS_AAAA, "NOERROR" },
	{ "_http._tcp.web.prod." D, DNS_SRV, "NOERROR SRV 80 web.prod." D " + A 10.96.0.10" },
	{ "_dns._udp.web.prod." D, DNS_SRV, "NOERROR SRV 53 web.prod." D " + A 10.96.0.10" },
	{ "_dns._tcp.web.prod." D, DNS_SRV, "NXDOMAIN" },
	{ "10-244-0-5.web.prod." D, DNS_A, "NXDOMAIN" },
	{ "db.prod." D, DNS_A, "NOERROR A 10.244.0.7 A 10.244.0.8" },
	{ "db-0.db.prod." D, DNS_A, "NOERROR A 10.244.0.7" },
	{ "db-2.db.prod." D, DNS_A, "NXDOMAIN" },
	{ "10-244-0-8.db.prod." D, DNS_A, "NOERROR A 10.244.0.8" },
	{ "_sql._tcp.db.prod." D, DNS_SRV,
	  "NOERROR SRV 5433 db-0.db.prod." D " SRV 5432 10-244-0-8.db.prod." D " + A 10.244.0.7 + A 10.244.0.8" },
	{ "p-0.peers.prod." D, DNS_A, "NOERROR A 10.244.0.9" },
	{ "peers.prod." D, DNS_A, "NOERROR A 10.244.0.9" },
	{ "empty.prod." D, DNS_A, "NOERROR" },
	{ "out.prod." D, DNS_A, "NOERROR CNAME example.org -> example.org" },
	{ "out.prod." D, DNS_CNAME, "NOERROR CNAME example.org" },
	{ "alias.prod." D, DNS_A, "NOERROR CNAME web.prod." D " A 10.96.0.10" },
	{ "bad_name.prod." D, DNS_A, "NXDOMAIN" },
	{ "nobody.prod." D, DNS_A, "NXDOMAIN" },
	{ "prod." D, DNS_A, "NOERROR" },
	{ "nowhere." D, DNS_A, "NXDOMAIN" },
	{ "web.prod." D ".prod." D, DNS_A, "NXDOMAIN" },
	{ "cluster.local", DNS_A, "NOERROR" },
	{ "other.cluster.local", DNS_A, "NXDOMAIN" },
	{ "notcluster.local", DNS_A, "forward" },
	{ "example.org", DNS_A, "forward" },
	{ "", DNS_A, "forward" },
	{ "10-244-0-77.prod.pod.cluster.local", DNS_A, "NOERROR A 10.244.0.77" },
	{ "10-244-0-77.prod.pod.cluster.local", DNS_AAAA, "NOERROR" },
	{ "8-8-8-8.prod.pod.cluster.local", DNS_A, "NXDOMAIN" },
	{ "10-244-0.prod.pod.cluster.local", DNS_A, "NXDOMAIN" },
	{ "10.0.96.10.in-addr.arpa", DNS_PTR, "NOERROR PTR web.prod." D },
	{ "7.0.244.10.in-addr.arpa", DNS_PTR, "NOERROR PTR db-0.db.prod." D },
	{ "99.0.244.10.in-addr.arpa", DNS_PTR, "NXDOMAIN" },
	{ "8.8.8.8.in-addr.arpa", DNS_PTR, "forward" },
	{ "in-addr.arpa", DNS_PTR, "forward" },
};

static void describe(const struct dns_zone *z, const char *name, uint16_t type, struct sbuf *out)
{
	struct dns_answer a;
	size_t i;

	if (!dns_zone_find(z, name, type, 0, &a)) {
		sbuf_adds(out, "forward");
		return;
	}
	sbuf_adds(out, a.rcode == DNS_NOERROR ? "NOERROR" : "NXDOMAIN");
	for (i = 0; i < a.n; i++)
		dns_text_record(out, a.records[i]);
	for (i = 0; i < a.nextra; i++) {
		sbuf_adds(out, " +");
		dns_text_record(out, a.extra[i]);
	}
	if (a.outside)
		sbuf_addf(out, " -> %s", a.outside);
	dns_answer_done(&a);
}

static struct dns_zone *zone(const json_t *list)
{
	struct dns_zone_config c = { .domain = "cluster.local", .list = list };

	cidr_parse("10.244.0.0/16", &c.pods);
	cidr_parse("10.96.0.0/12", &c.services);
	return dns_zone_new(&c);
}

TEST("the zone has the names Kubernetes promises, and no others")
{
	json_auto_t *list = lab_json(SERVICES);
	struct dns_zone *z = zone(list);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf text = SBUF(4096);

		describe(z, rows[i].name, rows[i].type, &text);
		if (!streq(text.p, rows[i].want))
			test_fail(__FILE__, __LINE__, "%s: %s, not %s", rows[i].name, text.p, rows[i].want);
	}
	dns_zone_free(z);
}

TEST("a CNAME that leads to itself ends, and several addresses take turns")
{
	json_auto_t *list = lab_json(SERVICES);
	struct dns_zone *z = zone(list);
	struct dns_answer a;

	CHECK(dns_zone_find(z, "ring.prod." D, DNS_A, 0, &a));
	CHECK(a.n > 0 && a.n < 20);
	dns_answer_done(&a);
	CHECK(dns_zone_find(z, "db.prod." D, DNS_A, 1, &a));
	CHECK_INT(a.n, 2);
	CHECK(a.records[0]->ip == 0x0af40008);
	dns_answer_done(&a);
	dns_zone_free(z);
}
