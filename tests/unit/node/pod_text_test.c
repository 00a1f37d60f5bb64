// SPDX-License-Identifier: Apache-2.0
#include "node/pod_text.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static json_t *parse(const char *text)
{
	json_t *v = NULL;
	struct err e = ERR_INIT;

	CHECK(jsonx_parse(text, strlen(text), NULL, NULL, &v, &e) == 0);
	return v;
}

static const struct pod_names names = { .hostname = "a",
					.ip = "10.244.0.7",
					.domain = "cluster.local",
					.dns = "10.244.0.1",
					.host_hosts = "127.0.0.1 localhost box\n",
					.host_resolv =
						"nameserver 192.0.2.53\nsearch lab.example\noptions\ttimeout:1\n" };

static char *resolv(const char *spec, const struct pod_names *n)
{
	auto_free char *text = xasprintf("{\"metadata\":{\"name\":\"a\",\"namespace\":\"lab\"},\"spec\":%s}", spec);
	json_auto_t *pod = parse(text);
	struct sbuf out = SBUF(4096);

	pod_resolv_text(pod, n, &out);
	return sbuf_steal(&out);
}

TEST("resolv.conf follows dnsPolicy and dnsConfig")
{
	struct pod_names host = names;
	static const struct {
		const char *spec, *want;
		bool host;
	} rows[] = {
		{ "{}",
		  "nameserver 10.244.0.1\nsearch lab.svc.cluster.local svc.cluster.local cluster.local lab.example\n"
		  "options ndots:5\n",
		  false },
		{ "{}", "nameserver 192.0.2.53\nsearch lab.example\noptions timeout:1\n", true },
		{ "{\"dnsPolicy\":\"ClusterFirstWithHostNet\"}",
		  "nameserver 10.244.0.1\nsearch lab.svc.cluster.local svc.cluster.local cluster.local lab.example\n"
		  "options ndots:5\n",
		  true },
		{ "{\"dnsPolicy\":\"Default\"}", "nameserver 192.0.2.53\nsearch lab.example\noptions timeout:1\n",
		  false },
		{ "{\"dnsPolicy\":\"None\",\"dnsConfig\":{\"nameservers\":[\"192.0.2.1\"],\"searches\":[\"x.y\"],"
		  "\"options\":[{\"name\":\"ndots\",\"value\":\"2\"},{\"name\":\"edns0\"}]}}",
		  "nameserver 192.0.2.1\nsearch x.y\noptions ndots:2 edns0\n", false },
		{ "{\"dnsConfig\":{\"options\":[{\"name\":\"ndots\",\"value\":\"1\"}]}}",
		  "nameserver 10.244.0.1\nsearch lab.svc.cluster.local svc.cluster.local cluster.local lab.example\n"
		  "options ndots:1\n",
		  false },
	};

	host.ip = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = resolv(rows[i].spec, rows[i].host ? &host : &names);

		CHECK_STR(text, rows[i].want);
	}
}

TEST("the hosts file has the pod's own names and its aliases")
{
	json_auto_t *pod = parse("{\"metadata\":{\"name\":\"a\",\"namespace\":\"lab\"},\"spec\":{\"hostname\":\"w-0\","
				 "\"subdomain\":\"workers\",\"hostAliases\":[{\"ip\":\"192.0.2.9\",\"hostnames\":"
				 "[\"data\",\"data.lab\"]}]}}");
	struct pod_names n = names;
	auto_sbuf struct sbuf out = SBUF(4096);

	n.hostname = "w-0";
	pod_hosts_text(pod, &n, &out);
	CHECK(strstr(out.p, "10.244.0.7\tw-0.workers.lab.svc.cluster.local\tw-0\n"));
	CHECK(strstr(out.p, "192.0.2.9\tdata\tdata.lab\n"));
	CHECK(strstr(out.p, "127.0.0.1\tlocalhost\n"));
	n.ip = NULL;
	sbuf_reset(&out);
	pod_hosts_text(pod, &n, &out);
	CHECK(str_starts(out.p, "127.0.0.1 localhost box\n"));
	CHECK(strstr(out.p, "192.0.2.9\tdata"));
}

TEST("a host name is cut to what the kernel and DNS take")
{
	json_auto_t *pod =
		parse("{\"metadata\":{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-"
		      "bbbb\",\"namespace\":\"lab\"},\"spec\":{}}");
	auto_sbuf struct sbuf out = SBUF(256);

	pod_hostname(pod, &out);
	CHECK_INT(out.n, 62);
	sbuf_reset(&out);
	jsonx_set_new(pod, "spec.setHostnameAsFQDN", json_true());
	jsonx_set_new(pod, "spec.hostname", json_string("h"));
	jsonx_set_new(pod, "spec.subdomain", json_string("s"));
	pod_hostname(pod, &out);
	CHECK_STR(out.p, "h.s.lab.svc.cluster.local");
}
