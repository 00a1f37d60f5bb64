// SPDX-License-Identifier: Apache-2.0
/* net.c - the pod network of one server: a bridge, its tables, its names
 *
 * What is in the kernel follows from three things that are kept: the leases (files), the services and the isolation
 * document (given again by the caller after a restart).  A start makes what is missing and leaves the rest, so that
 * running pods notice nothing.
 *
 *	pod eth0 10.244.0.7/32 <--veth--> sPPPPPPPP7, to which the host has a route for 10.244.0.7 alone
 *	stkPPPPPPPP 10.244.0.1/16          a bridge without ports: the gateway's address, and the block's claim
 *
 * net_rules.c tells why each pod has a link of its own and what is guarded.
 */
#include "node/net.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/dns.h"
#include "node/net_conntrack.h"
#include "node/net_lease.h"
#include "node/net_link.h"
#include "node/net_nft.h"
#include "node/net_rules.h"

#define BLOCK_TRIES  256 /* of pod blocks that are taken before we give up */
#define MTU_DEFAULT  1500
#define STATE_MAX    4096
#define MAC_HOST     0x53
#define MAC_POD      0x58
#define ROUTE_METRIC 1000 /* two servers may have the same service block, with different metrics above this */

struct net {
	struct loop *loop;
	struct net_shape shape;
	char *dir; /* DIR/run/net */
	char *domain;
	char gateway[NET_IP_LEN];
	struct netlink *nl;
	struct nft *nft;
	struct leases *leases;
	struct dns *dns;
	int bridge;
	uint32_t mtu;
	bool made_bridge;    /* in this process */
	bool set_forwarding; /* ip_forward was 0 before us */
	json_t *services;    /* last applied, or NULL */
	struct service_rules *rules;
	json_t *groups; /* last applied, or NULL */
};

/* --- what is remembered besides leases --- */

static char *state_path(const struct net *n)
{
	return xasprintf("%s/state.json", n->dir);
}

static json_t *state_read(const struct net *n)
{
	auto_free char *path = state_path(n);
	auto_sbuf struct sbuf text = SBUF(STATE_MAX);
	struct err ignored = ERR_INIT;
	json_t *doc = NULL;

	if (file_read(path, STATE_MAX, &text, &ignored) < 0 ||
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &ignored) < 0)
		return json_object();
	return doc;
}

static int state_write(const struct net *n, struct err *e)
{
	auto_free char *path = state_path(n);
	auto_sbuf struct sbuf text = SBUF(STATE_MAX);
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

static bool block_taken(struct net *n, struct cidr block, bool older_only)
{
	struct overlap o = { .block = block, .own = n->bridge, .before = older_only ? n->bridge : 0 };
	struct err ignored = ERR_INIT;

	if (cidr_overlap(block, n->shape.services))
		return true;
	return route_each(n->nl, check_route, &o, &ignored) == 0 && o.found;
}

/* Finds a block that no route of the host touches and gives its first address to the bridge.  Another server may do the
 * same at the same moment: whoever has the younger bridge looks on. */
static int choose_block(struct net *n, struct cidr want, struct err *e)
{
	struct cidr block = want;
	char text[NET_CIDR_LEN];
	int i;

	for (i = 0; i < BLOCK_TRIES; i++, block = cidr_next(block)) {
		struct cidr address = { block.addr + 1, block.bits };

		if (block_taken(n, block, false))
			continue;
		if (address_add(n->nl, n->bridge, address, e) < 0)
			return -1;
		if (!block_taken(n, block, true)) {
			n->shape.pods = block;
			return 0;
		}
		address_delete(n->nl, n->bridge, address, e);
	}
	return err_set(e, ERR_UNAVAILABLE, "no address block like %s is free of the host's routes",
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

/* Hardware addresses of our own making. */
static void mac_of(uint8_t kind, uint32_t id, uint8_t mac[6])
{
	memcpy(mac,
	       (uint8_t[6]){ 0x0a, kind, (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id },
	       6);
}

static int bridge_make(struct net *n, struct link *l, struct err *e)
{
	uint8_t mac[6];

	mac_of(MAC_HOST, (uint32_t)strtoul(n->shape.prefix, NULL, 16), mac);
	if (link_make_bridge(n->nl, n->shape.bridge, mac, uplink_mtu(n), e) < 0)
		return -1;
	n->made_bridge = true;
	if (!link_find(n->nl, n->shape.bridge, l))
		return err_set(e, ERR_UNAVAILABLE, "bridge %s vanished", n->shape.bridge);
	return 0;
}

static int link_setting(const char *link, const char *family, const char *name, int value, struct err *e)
{
	auto_free char *path = xasprintf("%s/conf/%s/%s", family, link, name);

	return sysctl_write(path, value, e);
}

static int open_bridge(struct net *n, struct cidr want, struct err *e)
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
		if (choose_block(n, want, e) < 0)
			return -1;
	}
	n->shape.gateway = n->shape.pods.addr + 1;
	net_ip_print(n->shape.gateway, n->gateway);
	link_setting(n->shape.bridge, "ipv6", "disable_ipv6", 1, &ignored);
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

static char *link_name(const struct net *n, const struct lease *lease)
{
	return xasprintf("s%s%x", n->shape.prefix, lease->index);
}

static int apply_base(struct net *n, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	size_t count = leases_count(n->leases);
	auto_free struct net_member *members = xcalloc(count + 1, sizeof(*members));
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		const struct lease *lease = leases_at(n->leases, i);

		members[i] = (struct net_member){ .link = link_name(n, lease),
						  .ip = n->shape.pods.addr + lease->index,
						  .ports = lease->ports };
	}
	rules_base(&n->shape, members, count, &text);
	r = nft_run(n->nft, text.p, e);
	for (i = 0; i < count; i++)
		free((char *)members[i].link);
	return r;
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

static int open_parts(struct net *n, const struct net_config *c, struct err *e)
{
	auto_free char *leases = NULL;
	struct cidr want;

	if (take_config(n, c, &want, e) < 0 || netlink_open(NULL, &n->nl, e) < 0 || nft_open(&n->nft, e) < 0 ||
	    open_bridge(n, want, e) < 0)
		return -1;
	take_api(n, c);
	leases = xasprintf("%s/leases", n->dir);
	if (leases_open(leases, cidr_size(n->shape.pods), &n->leases, e) < 0 ||
	    dns_open(n->loop, n->shape.gateway, c->resolv_conf ? c->resolv_conf : "/etc/resolv.conf", &n->dns, e) < 0)
		return -1;
	n->shape.dns_port = dns_port(n->dns);
	if (apply_base(n, e) < 0 || open_routing(n, e) < 0)
		return -1;
	warn_of_foreign_rules(n);
	return 0;
}

int net_open(struct loop *loop, const struct net_config *config, struct net **ret, struct err *e)
{
	struct net *n = xcalloc(1, sizeof(*n));

	n->loop = loop;
	if (open_parts(n, config, e) < 0) {
		/* What pods of an earlier server use stays. */
		net_free(n, n->made_bridge);
		return err_prefix(e, "pod network");
	}
	*ret = n;
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

	unlink(state);
	rmdir(leases);
	rmdir(n->dir);
}

static void take_down(struct net *n)
{
	auto_sbuf struct sbuf text = SBUF(STATE_MAX);
	struct err e = ERR_INIT;

	while (n->leases && leases_count(n->leases) > 0) {
		struct lease *lease = leases_at(n->leases, 0);
		auto_free char *name = link_name(n, lease);

		if (link_delete(n->nl, name, &e) < 0)
			log_warn("%s, ignoring", e.text);
		leases_release(n->leases, lease);
	}
	if (n->nl && n->bridge && link_delete(n->nl, n->shape.bridge, &e) < 0)
		log_warn("%s, ignoring", e.text);
	rules_remove(&n->shape, &text);
	if (n->nft && nft_run(n->nft, text.p, &e) < 0)
		log_warn("cannot remove tables, ignoring: %s", e.text);
	if (n->nl)
		restore_forwarding(n);
	remove_files(n);
}

void net_free(struct net *n, bool remove)
{
	if (!n)
		return;
	dns_free(n->dns);
	if (remove)
		take_down(n);
	leases_free(n->leases);
	netlink_close(n->nl);
	nft_close(n->nft);
	service_rules_free(n->rules);
	json_decref(n->services);
	json_decref(n->groups);
	free(n->dir);
	free(n->domain);
	free(n);
}

/* --- pods --- */

/* Somebody may have flushed all rules (a firewall's reload does): put ours back, all of them. */
static int repair(struct net *n, struct err *e)
{
	json_auto_t *services = TAKE(n->services);
	json_auto_t *groups = TAKE(n->groups);

	service_rules_free(n->rules);
	n->rules = NULL;
	if (apply_base(n, e) < 0 || (services && net_sync_services(n, services, e) < 0) ||
	    (groups && net_sync_isolation(n, groups, e) < 0))
		return -1;
	log_warn("packet filter tables were gone and have been made again, prefix=%s", n->shape.prefix);
	return 0;
}

/* The pod's end of the link: address, and everything by way of the gateway. */
static int configure_inside(struct net *n, const char *ns, uint32_t ip, const uint8_t gateway_mac[6], struct err *e)
{
	struct netlink *nl = NULL;
	struct link lo;
	struct link eth;
	int r = -1;

	if (netlink_open(ns, &nl, e) < 0)
		return -1;
	if (!link_find(nl, "lo", &lo) || !link_find(nl, "eth0", &eth))
		err_set(e, ERR_UNAVAILABLE, "no eth0 in network namespace %s", ns);
	else if (link_up(nl, lo.index, e) == 0 && address_add(nl, eth.index, (struct cidr){ ip, 32 }, e) == 0 &&
		 link_up(nl, eth.index, e) == 0 &&
		 neighbour_add(nl, eth.index, n->shape.gateway, gateway_mac, e) == 0 &&
		 route_add(nl, &(struct route){ .to = { n->shape.gateway, 32 }, .link = eth.index }, e) == 0 &&
		 route_add(nl, &(struct route){ .via = n->shape.gateway, .link = eth.index }, e) == 0)
		r = 0;
	netlink_close(nl);
	return r;
}

/* Is everything as an earlier attach left it? */
static bool is_attached(struct net *n, const char *name, const char *ns, uint32_t ip)
{
	struct err ignored = ERR_INIT;
	struct netlink *nl = NULL;
	struct link l;
	struct cidr address;
	bool ok;

	if (!link_find(n->nl, name, &l) || netlink_open(ns, &nl, &ignored) < 0)
		return false;
	ok = link_find(nl, "eth0", &l) && address_find(nl, l.index, &address) && address.addr == ip;
	netlink_close(nl);
	return ok;
}

/* The host's end of the link. */
static int configure_outside(struct net *n, const struct veth *v, uint32_t ip, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct link l;

	if (!link_find(n->nl, v->name, &l))
		return err_set(e, ERR_UNAVAILABLE, "link %s vanished", v->name);
	link_setting(v->name, "ipv6", "disable_ipv6", 1, &ignored);
	if (link_setting(v->name, "ipv4", "route_localnet", 1, e) < 0 || link_up(n->nl, l.index, e) < 0 ||
	    neighbour_add(n->nl, l.index, ip, v->peer_mac, e) < 0)
		return -1;
	return route_add(n->nl, &(struct route){ .to = { ip, 32 }, .link = l.index, .source = n->shape.gateway }, e);
}

static int make_link(struct net *n, const char *name, const char *ns, uint32_t ip, struct err *e)
{
	struct veth v = { .name = name, .mtu = n->mtu, .ns = ns, .peer = "eth0" };

	mac_of(MAC_HOST, ip, v.mac);
	mac_of(MAC_POD, ip, v.peer_mac);
	if (link_delete(n->nl, name, e) < 0 || link_make_veth(n->nl, &v, e) < 0 || configure_outside(n, &v, ip, e) < 0)
		return -1;
	return configure_inside(n, ns, ip, v.mac, e);
}

static int join(struct net *n, const char *name, uint32_t ip, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(STATE_MAX);

	rules_join(&n->shape, &(struct net_member){ .link = name, .ip = ip }, &text);
	/* A repair also puts this pod in, for it has its lease. */
	return nft_run(n->nft, text.p, e) < 0 ? repair(n, e) : 0;
}

int net_attach(struct net *n, const char *uid, const char *ns, char *ip, size_t ip_len, struct err *e)
{
	bool known = leases_find(n->leases, uid) != NULL;
	struct lease *lease = NULL;
	auto_free char *name = NULL;
	char text[NET_IP_LEN];
	uint32_t address;

	if (leases_take(n->leases, uid, &lease, e) < 0)
		return err_prefix(e, "pod network");
	name = link_name(n, lease);
	address = n->shape.pods.addr + lease->index;
	if (!(known && is_attached(n, name, ns, address)) &&
	    (make_link(n, name, ns, address, e) < 0 || join(n, name, address, e) < 0)) {
		struct err ignored = ERR_INIT;

		if (known)
			link_delete(n->nl, name, &ignored);
		else
			net_detach(n, uid);
		return err_prefix(e, "pod network");
	}
	snprintf(ip, ip_len, "%s", net_ip_print(address, text));
	return 0;
}

void net_detach(struct net *n, const char *uid)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	struct lease *lease = leases_find(n->leases, uid);
	auto_free char *name = NULL;
	struct net_member m;
	struct err e = ERR_INIT;

	if (!lease)
		return;
	name = link_name(n, lease);
	m = (struct net_member){ .link = name, .ip = n->shape.pods.addr + lease->index, .ports = lease->ports };
	if (link_delete(n->nl, name, &e) < 0)
		log_warn("%s, ignoring", e.text);
	rules_leave(&n->shape, &m, &text);
	if (nft_run(n->nft, text.p, &e) < 0)
		log_warn("cannot remove a pod's rules, ignoring: %s", e.text);
	conntrack_forget(m.ip);
	leases_release(n->leases, lease);
}

void net_keep_only(struct net *n, const json_t *uids)
{
	size_t i = leases_count(n->leases);

	while (i-- > 0) {
		const struct lease *lease = leases_at(n->leases, i);
		bool keep = false;
		const json_t *uid;
		size_t k;

		json_array_foreach (uids, k, uid)
			keep |= str_same(json_string_value(uid), lease->uid);
		if (!keep) {
			auto_free char *gone = xstrdup(lease->uid);

			net_detach(n, gone);
		}
	}
}

/* Would the two collide?  A port on every address collides with the same on one. */
static bool ports_collide(const json_t *a, const json_t *b)
{
	const char *ip_a = jsonx_str_or(a, "hostIP", "");
	const char *ip_b = jsonx_str_or(b, "hostIP", "");
	bool all = !*ip_a || !*ip_b || streq(ip_a, "0.0.0.0") || streq(ip_b, "0.0.0.0");

	return jsonx_int_or(a, "hostPort", 0) == jsonx_int_or(b, "hostPort", 0) &&
	       streq(rules_protocol(jsonx_str(a, "protocol")), rules_protocol(jsonx_str(b, "protocol"))) &&
	       (all || streq(ip_a, ip_b));
}

static int check_collisions(const struct net *n, const struct lease *own, const json_t *ports, struct err *e)
{
	const json_t *mine;
	const json_t *theirs;
	size_t i;
	size_t k;
	size_t m;

	for (i = 0; i < leases_count(n->leases); i++) {
		const struct lease *lease = leases_at(n->leases, i);

		if (lease == own)
			continue;
		json_array_foreach (ports, k, mine)
			json_array_foreach (lease->ports, m, theirs)
				if (ports_collide(mine, theirs))
					return err_set(e, ERR_CONFLICT, "host port %d is taken by another pod",
						       (int)jsonx_int_or(mine, "hostPort", 0));
	}
	return 0;
}

int net_publish(struct net *n, const char *uid, const char *ip, const json_t *ports, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	struct lease *lease = leases_find(n->leases, uid);
	json_auto_t *old = NULL;
	struct net_member m = { .link = "" };

	(void)ip; /* the lease knows */
	if (!lease)
		return err_set(e, ERR_NOT_FOUND, "host ports: the pod has no address");
	if (json_equal(lease->ports, (json_t *)ports) || (!lease->ports && json_array_size(ports) == 0))
		return 0;
	if (rules_check_ports(ports, e) < 0 || check_collisions(n, lease, ports, e) < 0)
		return -1;
	old = json_incref(lease->ports);
	if (leases_set_ports(n->leases, lease, ports, e) < 0)
		return -1;
	m.ip = n->shape.pods.addr + lease->index;
	m.ports = old;
	rules_unpublish(&n->shape, &m, &text);
	m.ports = lease->ports;
	rules_publish(&n->shape, &m, &text);
	if (text.n == 0 || nft_run(n->nft, text.p, e) == 0 || repair(n, e) == 0)
		return 0;
	return err_prefix(e, "host ports");
}

/* --- what the API says --- */

int net_sync_services(struct net *n, const json_t *services, struct err *e)
{
	json_auto_t *all = services_complete(&n->shape, services);
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	struct service_rules *rules = NULL;
	int r = 0;

	if (n->services && json_equal(n->services, all))
		return 0;
	if (service_rules_make(&n->shape, all, &rules, e) < 0)
		return err_prefix(e, "services");
	service_rules_diff(&n->shape, n->rules, rules, &text);
	if (text.over)
		r = err_set(e, ERR_TOO_LARGE, "too many endpoints");
	else if (text.n)
		r = nft_run(n->nft, text.p, e);
	if (r < 0 && n->rules && !text.over) {
		/* The table is not as we left it: make it anew. */
		sbuf_reset(&text);
		service_rules_diff(&n->shape, NULL, rules, &text);
		r = nft_run(n->nft, text.p, e);
	}
	if (r < 0) {
		service_rules_free(rules);
		return err_prefix(e, "services");
	}
	service_rules_free(n->rules);
	n->rules = rules;
	json_decref(n->services);
	/* A copy: the caller may change its document, and then nothing would seem to have changed. */
	n->services = json_deep_copy(all);
	dns_set_zone(n->dns, dns_zone_new(&(struct dns_zone_config){ .domain = n->domain,
								     .pods = n->shape.pods,
								     .services = n->shape.services,
								     .list = n->services }));
	return 0;
}

int net_sync_isolation(struct net *n, const json_t *groups, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);

	if (n->groups && json_equal(n->groups, groups))
		return 0;
	if (isolation_rules(&n->shape, groups, &text, e) < 0 || nft_run(n->nft, text.p, e) < 0)
		return -1;
	json_decref(n->groups);
	n->groups = json_deep_copy(groups);
	return 0;
}

const char *net_dns_address(const struct net *n)
{
	return n->gateway;
}

const char *net_gateway(const struct net *n)
{
	return n->gateway;
}
