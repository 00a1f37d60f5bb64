// SPDX-License-Identifier: Apache-2.0
/* net_rules.c - the base table: who pods claim to be, how they leave, what they may not reach
 *
 * Each pod has a link of its own with the host at its other end, and a route of its own: every packet is routed by the
 * host, even to a neighbour, so that filtering and address translation see all of it in both directions.  (As ports of
 * one bridge, pods would talk past the host, or with br_netfilter through half of it.)
 *
 * Pods' links have route_localnet set, since the API server may listen on 127.0.0.1 only, and so that NodePorts answer
 * on 127.0.0.1.  That alone would let pods reach every service of the host that trusts loopback (CVE-2020-8558), so
 * whatever arrives from a pod for 127.0.0.0/8 is dropped before any translation: only what our own rules translate gets
 * there.
 */
#include "node/net_rules.h"

#include <ctype.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"

static const struct {
	const char *name, *nft;
} protocols[] = {
	{ "TCP", "tcp" },
	{ "UDP", "udp" },
	{ "SCTP", "sctp" },
};

const char *rules_protocol(const char *name)
{
	size_t i;

	if (!name || !*name)
		return "tcp";
	for (i = 0; i < ARRAY_SIZE(protocols); i++)
		if (strcasecmp(name, protocols[i].name) == 0)
			return protocols[i].nft;
	return NULL;
}

void rules_join(const struct net_shape *s, const struct net_member *m, struct sbuf *out)
{
	char ip[NET_IP_LEN];

	net_ip_print(m->ip, ip);
	sbuf_addf(out, "add element inet stoker_%s pods { \"%s\" . %s }\n", s->prefix, m->link, ip);
	sbuf_addf(out, "add element inet stoker_%s self { %s . %s }\n", s->prefix, ip, ip);
}

/* Deleting what is not there is an error to nft, and adding what is there is none. */
void rules_leave(const struct net_shape *s, const struct net_member *m, struct sbuf *out)
{
	char ip[NET_IP_LEN];

	rules_join(s, m, out);
	net_ip_print(m->ip, ip);
	sbuf_addf(out, "delete element inet stoker_%s pods { \"%s\" . %s }\n", s->prefix, m->link, ip);
	sbuf_addf(out, "delete element inet stoker_%s self { %s . %s }\n", s->prefix, ip, ip);
	rules_unpublish(s, m, out);
}

static void member_keys(const struct net_member *m, struct element_key *pod, struct element_key *self)
{
	*pod = *self = (struct element_key){ 0 };
	element_key_link(pod, m->link);
	element_key_ip(pod, m->ip);
	element_key_ip(self, m->ip);
	element_key_ip(self, m->ip);
}

void rules_join_elements(const struct net_shape *s, const struct net_member *m, struct elements *b)
{
	auto_free char *table = xasprintf("stoker_%s", s->prefix);
	struct element_key pod;
	struct element_key self;

	member_keys(m, &pod, &self);
	elements_add(b, table, "pods", &pod, NULL);
	elements_add(b, table, "self", &self, NULL);
}

void rules_leave_elements(const struct net_shape *s, const struct net_member *m, struct elements *b)
{
	auto_free char *table = xasprintf("stoker_%s", s->prefix);
	struct element_key pod;
	struct element_key self;

	rules_join_elements(s, m, b);
	member_keys(m, &pod, &self);
	elements_remove(b, table, "pods", &pod);
	elements_remove(b, table, "self", &self);
}

int rules_check_ports(const json_t *ports, struct err *e)
{
	const json_t *p;
	size_t i;

	json_array_foreach (ports, i, p) {
		int64_t host = jsonx_int_or(p, "hostPort", 0);
		int64_t port = jsonx_int_or(p, "containerPort", 0);
		const char *address = jsonx_str_or(p, "hostIP", "");
		uint32_t ip;

		if (host < 1 || host > 65535 || port < 1 || port > 65535)
			return err_set(e, ERR_INVALID, "ports[%zu]: hostPort and containerPort must be 1 to 65535", i);
		if (!rules_protocol(jsonx_str(p, "protocol")))
			return err_set(e, ERR_INVALID, "ports[%zu].protocol: must be TCP, UDP or SCTP", i);
		if (*address && !net_ip_parse(address, &ip))
			return err_set(e, ERR_INVALID, "ports[%zu].hostIP: not an IPv4 address", i);
	}
	return 0;
}

/* "hostports { tcp . 8080" or "hostips { 10.1.2.3 . tcp . 8080" of one hostPort. */
static void port_key(const json_t *p, struct sbuf *out)
{
	const char *protocol = rules_protocol(jsonx_str(p, "protocol"));
	int port = (int)jsonx_int_or(p, "hostPort", 0);
	char text[NET_IP_LEN];
	uint32_t ip = 0;

	net_ip_parse(jsonx_str(p, "hostIP"), &ip);
	if (ip)
		sbuf_addf(out, "hostips { %s . %s . %d", net_ip_print(ip, text), protocol, port);
	else
		sbuf_addf(out, "hostports { %s . %d", protocol, port);
}

void rules_publish(const struct net_shape *s, const struct net_member *m, struct sbuf *out)
{
	char ip[NET_IP_LEN];
	const json_t *p;
	size_t i;

	json_array_foreach (m->ports, i, p) {
		sbuf_addf(out, "add element inet stoker_%s ", s->prefix);
		port_key(p, out);
		sbuf_addf(out, " : %s . %d }\n", net_ip_print(m->ip, ip), (int)jsonx_int_or(p, "containerPort", 0));
	}
}

void rules_unpublish(const struct net_shape *s, const struct net_member *m, struct sbuf *out)
{
	const json_t *p;
	size_t i;

	json_array_foreach (m->ports, i, p) {
		sbuf_addf(out, "delete element inet stoker_%s ", s->prefix);
		port_key(p, out);
		sbuf_adds(out, " }\n");
	}
}

/* What is routed to the bridge is nobody's: a ClusterIP that nothing translated has no endpoint, and an address of the
 * pod network without a route of its own has no pod.  Say so at once. */
static void reject_nobody(const struct net_shape *s, struct sbuf *out)
{
	char services[NET_CIDR_LEN];

	cidr_print(s->services, services);
	sbuf_addf(out, "oifname \"%s\" ip daddr %s meta l4proto tcp reject with tcp reset\n", s->bridge, services);
	sbuf_addf(out, "oifname \"%s\" ip daddr %s reject with icmp port-unreachable\n", s->bridge, services);
	sbuf_addf(out, "oifname \"%s\" meta nfproto ipv4 reject with icmp host-unreachable\n", s->bridge);
}

static void filter_chains(const struct net_shape *s, struct sbuf *out)
{
	char ip[NET_IP_LEN];

	sbuf_adds(out, "chain from_pod {\n"
		       "meta nfproto ipv6 drop\n"
		       "iifname . ip saddr != @pods drop\n"
		       "ip daddr 127.0.0.0/8 drop\n"
		       "}\n"
		       "chain early { type filter hook prerouting priority raw; policy accept;\n");
	sbuf_addf(out, "iifname \"%s\" goto from_pod\n", s->links);
	sbuf_adds(out, "iifname \"lo\" accept\n");
	/* The DNS server is for pods and this machine; a neighbour on the LAN could route packets to it. */
	sbuf_addf(out, "ip daddr %s drop\n}\n", net_ip_print(s->gateway, ip));
	sbuf_adds(out, "chain forward { type filter hook forward priority filter; policy accept;\n");
	reject_nobody(s, out);
	/* Here the link is still that of the route before translation. */
	sbuf_adds(out,
		  "}\nchain out { type filter hook output priority filter; policy accept;\nct status dnat accept\n");
	reject_nobody(s, out);
	sbuf_adds(out, "}\n");
}

/* Addresses are named, not left to masquerade, where the way leads to pods: their links have none. */
static void nat_chains(const struct net_shape *s, struct sbuf *out)
{
	char ip[NET_IP_LEN];
	char pods[NET_CIDR_LEN];

	net_ip_print(s->gateway, ip);
	cidr_print(s->pods, pods);
	sbuf_adds(out, "chain published {\n"
		       "dnat ip to ip daddr . meta l4proto . th dport map @hostips\n"
		       "meta nfproto ipv4 fib daddr type local dnat ip to meta l4proto . th dport map @hostports\n"
		       "}\n"
		       "chain prerouting { type nat hook prerouting priority dstnat; policy accept;\n");
	if (s->dns_port != 53) {
		sbuf_addf(out, "ip daddr %s udp dport 53 dnat ip to %s:%d\n", ip, ip, s->dns_port);
		sbuf_addf(out, "ip daddr %s tcp dport 53 dnat ip to %s:%d\n", ip, ip, s->dns_port);
	}
	sbuf_adds(out, "jump published\n}\n"
		       "chain output { type nat hook output priority -100; policy accept;\njump published\n}\n"
		       "chain postrouting { type nat hook postrouting priority srcnat; policy accept;\n");
	sbuf_addf(out, "ip saddr . ip daddr @self snat ip to %s\n", ip);
	sbuf_addf(out, "oifname \"%s\" ip saddr 127.0.0.0/8 snat ip to %s\n", s->links, ip);
	sbuf_addf(out, "oifname \"%s\" accept\noifname \"lo\" accept\n", s->links);
	sbuf_addf(out, "ip saddr %s masquerade\n}\n", pods);
}

void rules_base(const struct net_shape *s, const struct net_member *members, size_t n, struct sbuf *out)
{
	size_t i;

	sbuf_addf(out, "table inet stoker_%s\ndelete table inet stoker_%s\n", s->prefix, s->prefix);
	sbuf_addf(out, "table inet stoker_%s {\n", s->prefix);
	sbuf_adds(out, "set pods { type ifname . ipv4_addr; }\n"
		       "set self { type ipv4_addr . ipv4_addr; }\n"
		       "map hostports { type inet_proto . inet_service : ipv4_addr . inet_service; }\n"
		       "map hostips { type ipv4_addr . inet_proto . inet_service : ipv4_addr . inet_service; }\n");
	filter_chains(s, out);
	nat_chains(s, out);
	sbuf_adds(out, "}\n");
	for (i = 0; i < n; i++) {
		rules_join(s, &members[i], out);
		rules_publish(s, &members[i], out);
	}
}

void rules_remove(const struct net_shape *s, struct sbuf *out)
{
	static const struct {
		const char *family, *suffix;
	} tables[] = { { "inet", "_isolation" }, { "inet", "_services" }, { "inet", "" } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		sbuf_addf(out, "table %s stoker_%s%s\ndelete table %s stoker_%s%s\n", tables[i].family, s->prefix,
			  tables[i].suffix, tables[i].family, s->prefix, tables[i].suffix);
}
