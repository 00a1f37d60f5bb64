// SPDX-License-Identifier: Apache-2.0
/* net_open.c - finding a free block, making the bridge, and taking everything down again
 *
 * A start finds what an earlier server left, and goes on with it; what is missing is made.  Taking down removes every
 * link, rule, route and file, and gives ip_forward back unless somebody else has come to need it.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdio.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/dns_forward.h"
#include "node/net_parts.h"

#define BLOCK_TRIES  256 /* of pod blocks that are taken before we give up */
#define MTU_DEFAULT  1500
#define ROUTE_METRIC 1000 /* two servers may have the same service block, with different metrics above this */

/* --- what is remembered besides leases --- */

static char *state_path(const struct net *n)
{
	return xasprintf("%s/state.json", n->dir);
}

static json_t *state_read(const struct net *n)
{
	auto_free char *path = state_path(n);
	auto_sbuf struct sbuf text = SBUF(NET_STATE_MAX);
	struct err ignored = ERR_INIT;
	json_t *doc = NULL;

	if (file_read(path, NET_STATE_MAX, &text, &ignored) < 0 ||
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &ignored) < 0)
		return json_object();
	return doc;
}

static int state_write(const struct net *n, struct err *e)
{
	auto_free char *path = state_path(n);
	auto_sbuf struct sbuf text = SBUF(NET_STATE_MAX);
	char block[NET_CIDR_LEN];
	json_auto_t *doc = json_pack("{s:s, s:b}", "podCIDR", cidr_print(n->shape.pods, block), "setForwarding",
				     n->set_forwarding);

	jsonx_dump(doc, &text);
	return file_write(path, 0600, sbuf_str(&text), e);
}

/* --- opening --- */

struct overlap {
	struct cidr block;
	int own;    /* link that does not count */
	int before; /* if not 0: only links that are older than this one count */
	bool found;
};

static void check_route(void *arg, const struct route *r)
{
	struct overlap *o = arg;

	if (r->to.bits == 0 || r->link == o->own || (o->before && r->link >= o->before))
		return;
	if (cidr_overlap(r->to, o->block))
		o->found = true;
}

/* The host asks it for names, and would ask in vain, were it in our block; our own gateway may be asked. */
static bool has_nameserver(struct cidr block, const char *resolv_conf)
{
	struct sockaddr_storage servers[DNS_SERVERS_MAX];
	size_t n = dns_servers_read(resolv_conf, "", servers);

	for (size_t i = 0; i < n; i++) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&servers[i];
		uint32_t ip = ntohl(in->sin_addr.s_addr);

		if (in->sin_family == AF_INET && ip != block.addr + 1 && cidr_has(block, ip))
			return true;
	}
	return false;
}

static bool block_taken(struct net *n, struct cidr block, bool older_only)
{
	struct overlap o = { .block = block, .own = n->bridge, .before = older_only ? n->bridge : 0 };
	struct err ignored = ERR_INIT;

	if (cidr_overlap(block, n->shape.services))
		return true;
	return route_each(n->nl, check_route, &o, &ignored) == 0 && o.found;
}

/* Finds a block that no route of the host touches, nor holds whom it asks for names, and gives its first address to the
 * bridge.  Another server may do the same at the same moment: whoever has the younger bridge looks on. */
static int choose_block(struct net *n, struct cidr want, const char *resolv_conf, struct err *e)
{
	struct cidr block = want;
	char text[NET_CIDR_LEN];
	int i;

	for (i = 0; i < BLOCK_TRIES; i++, block = cidr_next(block)) {
		struct cidr address = { block.addr + 1, block.bits };

		if (block_taken(n, block, false) || has_nameserver(block, resolv_conf))
			continue;
		if (address_add(n->nl, n->bridge, address, e) < 0)
			return -1;
		if (!block_taken(n, block, true)) {
			n->shape.pods = block;
			return 0;
		}
		address_delete(n->nl, n->bridge, address, e);
	}
	return err_set(e, ERR_UNAVAILABLE, "no address block like %s is free of the host's routes and nameservers",
		       cidr_print(want, text));
}

struct uplink {
	int link;
	uint32_t mtu;
};

static void take_default_route(void *arg, const struct route *r)
{
	struct uplink *u = arg;

	if (r->to.bits == 0 && !u->link)
		u->link = r->link;
}

static void take_link_mtu(void *arg, const struct link *l)
{
	struct uplink *u = arg;

	if (l->index == u->link)
		u->mtu = l->mtu;
}

/* What the way out can carry, so that pods need not learn it from ICMP. */
static uint32_t uplink_mtu(struct net *n)
{
	struct uplink u = { 0 };
	struct err ignored = ERR_INIT;

	if (route_each(n->nl, take_default_route, &u, &ignored) == 0 && u.link)
		link_each(n->nl, take_link_mtu, &u, &ignored);
	return u.mtu >= 576 && u.mtu <= 9000 ? u.mtu : MTU_DEFAULT;
}

static int bridge_make(struct net *n, struct link *l, struct err *e)
{
	uint8_t mac[6];

	net_mac(NET_MAC_HOST, (uint32_t)strtoul(n->shape.prefix, NULL, 16), mac);
	if (link_make_bridge(n->nl, n->shape.bridge, mac, uplink_mtu(n), e) < 0)
		return -1;
	n->made_bridge = true;
	if (!link_find(n->nl, n->shape.bridge, l))
		return err_set(e, ERR_UNAVAILABLE, "bridge %s vanished", n->shape.bridge);
	return 0;
}

static int open_bridge(struct net *n, struct cidr want, const char *resolv_conf, struct err *e)
{
	json_auto_t *state = state_read(n);
	struct err ignored = ERR_INIT;
	struct cidr block;
	struct link l;

	n->set_forwarding = jsonx_bool_or(state, "setForwarding", false);
	if (!link_find(n->nl, n->shape.bridge, &l) && bridge_make(n, &l, e) < 0)
		return -1;
	n->bridge = l.index;
	n->mtu = l.mtu;
	if (link_up(n->nl, n->bridge, e) < 0)
		return -1;
	if (address_find(n->nl, n->bridge, &block)) {
		n->shape.pods = (struct cidr){ block.addr - 1, block.bits };
	} else {
		if (cidr_parse(jsonx_str(state, "podCIDR"), &block))
			want = block.bits == want.bits ? block : want;
		if (choose_block(n, want, resolv_conf, e) < 0)
			return -1;
	}
	n->shape.gateway = n->shape.pods.addr + 1;
	net_ip_print(n->shape.gateway, n->gateway);
	net_link_setting(n->shape.bridge, "ipv6", "disable_ipv6", 1, &ignored);
	return 0;
}

static int open_routing(struct net *n, struct err *e)
{
	struct route r = { .to = n->shape.services, .link = n->bridge };

	r.metric = ROUTE_METRIC + (uint32_t)(strtoul(n->shape.prefix, NULL, 16) & 0xffffff);
	r.source = n->shape.gateway;
	if (route_add(n->nl, &r, e) < 0)
		return -1;
	if (sysctl_read("ipv4/ip_forward", e) == 0) {
		n->set_forwarding = true;
		if (sysctl_write("ipv4/ip_forward", 1, e) < 0)
			return -1;
	}
	return state_write(n, e);
}

static void warn_of_foreign_rules(struct net *n)
{
	auto_sbuf struct sbuf chains = SBUF(1024);

	nft_foreign_drops(n->nft, "stoker_", &chains);
	if (chains.n)
		log_warn("another firewall drops packets by default, pods may not reach each other or beyond; let it "
			 "accept "
			 "what comes from and goes to the bridge, chains=\"%s\" bridge=%s",
			 chains.p, n->shape.bridge);
}

static int take_config(struct net *n, const struct net_config *c, struct cidr *ret_want, struct err *e)
{
	if (strlen(c->prefix) != 8 || strspn(c->prefix, "0123456789abcdef") != 8)
		return err_set(e, ERR_INVALID, "network prefix \"%s\": must be 8 hex digits", c->prefix);
	if (!cidr_parse(c->pod_cidr, ret_want) || ret_want->bits < 8 || ret_want->bits > 29)
		return err_set(e, ERR_INVALID, "pod network \"%s\": must be an IPv4 block from /8 to /29", c->pod_cidr);
	if (!cidr_parse(c->service_cidr, &n->shape.services) || n->shape.services.bits > 30)
		return err_set(e, ERR_INVALID, "service network \"%s\": must be an IPv4 block", c->service_cidr);
	snprintf(n->shape.prefix, sizeof(n->shape.prefix), "%s", c->prefix);
	snprintf(n->shape.bridge, sizeof(n->shape.bridge), "stk%s", c->prefix);
	snprintf(n->shape.links, sizeof(n->shape.links), "s%s*", c->prefix);
	n->dir = xasprintf("%s/run/net", c->dir);
	n->domain = xstrdup(c->domain);
	return file_make_dirs(n->dir, 0700, e);
}

/* 127.0.0.1 stays as it is: net_rules.c makes that way safe.  Listening everywhere means the bridge's address too. */
static void take_api(struct net *n, const struct net_config *c)
{
	static const char *const everywhere[] = { "", "*", "0.0.0.0", "::", "[::]" };
	const char *host = c->api_host ? c->api_host : "";
	size_t i;

	n->shape.api_port = c->api_port;
	if (c->api_port < 1 || c->api_port > 65535)
		return;
	for (i = 0; i < ARRAY_SIZE(everywhere); i++)
		if (streq(host, everywhere[i]))
			n->shape.api_ip = n->shape.gateway;
	if (streq(host, "localhost"))
		host = "127.0.0.1";
	if (!n->shape.api_ip && !net_ip_parse(host, &n->shape.api_ip))
		log_warn("pods cannot reach the API server at an address that is not IPv4, host=%s", host);
}

int net_open_parts(struct net *n, const struct net_config *c, struct err *e)
{
	const char *resolv_conf = c->resolv_conf ? c->resolv_conf : "/etc/resolv.conf";
	auto_free char *leases = NULL;
	struct cidr want;

	if (take_config(n, c, &want, e) < 0 || netlink_open(NULL, &n->nl, e) < 0 || nft_open(&n->nft, e) < 0 ||
	    elements_open(&n->elements, e) < 0 || open_bridge(n, want, resolv_conf, e) < 0)
		return -1;
	take_api(n, c);
	leases = xasprintf("%s/leases", n->dir);
	if (leases_open(leases, cidr_size(n->shape.pods), &n->leases, e) < 0 ||
	    dns_open(n->loop, n->shape.gateway, resolv_conf, &n->dns, e) < 0)
		return -1;
	n->shape.dns_port = dns_port(n->dns);
	if (net_apply_base(n, e) < 0 || open_routing(n, e) < 0)
		return -1;
	warn_of_foreign_rules(n);
	net_reap_later(n); /* what a crash left */
	return 0;
}

/* --- closing --- */

static void count_other_bridges(void *arg, const struct link *l)
{
	if (streq(l->kind, "bridge"))
		++*(unsigned *)arg;
}

/* ip_forward goes back to what it was, unless somebody else has come to need it. */
static void restore_forwarding(struct net *n)
{
	struct err e = ERR_INIT;
	unsigned others = 0;

	if (!n->set_forwarding || link_each(n->nl, count_other_bridges, &others, &e) < 0 || others > 0)
		return;
	if (sysctl_write("ipv4/ip_forward", 0, &e) < 0)
		log_warn("cannot restore forwarding, ignoring: %s", e.text);
}

static void remove_files(struct net *n)
{
	auto_free char *state = state_path(n);
	auto_free char *leases = xasprintf("%s/leases", n->dir);
	auto_free char *journal = xasprintf("%s/" LEASES_JOURNAL, leases);

	unlink(state);
	unlink(journal);
	rmdir(leases);
	rmdir(n->dir);
}

void net_take_down(struct net *n)
{
	auto_sbuf struct sbuf text = SBUF(NET_STATE_MAX);
	struct err e = ERR_INIT;
	uint32_t group;

	group = n->nl && n->leases ? net_gather_links(n, true) : 0;
	if (group && link_delete_group(n->nl, group, &e) < 0)
		log_warn("%s, ignoring", e.text);
	while (n->leases && leases_count(n->leases) > 0)
		leases_release(n->leases, leases_at(n->leases, 0));
	if (n->nl && n->bridge && link_delete(n->nl, n->shape.bridge, &e) < 0)
		log_warn("%s, ignoring", e.text);
	rules_remove(&n->shape, &text);
	if (n->nft && nft_run(n->nft, text.p, &e) < 0)
		log_warn("cannot remove tables, ignoring: %s", e.text);
	if (n->nl)
		restore_forwarding(n);
	remove_files(n);
}
