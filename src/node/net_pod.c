// SPDX-License-Identifier: Apache-2.0
/* net_pod.c - a pod's link, address and ports
 *
 * Detaching cuts a pod off at once: its route and its place in the rules go.  The link itself goes a little later,
 * usually with the pod's namespace: the kernel needs tens of milliseconds to remove one, in which the loop would stand
 * still.  What is left of them after a second is removed together, by a child process, and so are the flows the kernel
 * still remembers of the pods' addresses, none of which is handed out again so soon.
 */
#include <stdlib.h>
#include <unistd.h>

#include <stdio.h>

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/net_parts.h"

#define REAP_MS 1000

char *net_link_name(const struct net *n, const struct lease *lease)
{
	return xasprintf("s%s%x", n->shape.prefix, lease->index);
}

/* Hardware addresses of our own making. */
void net_mac(uint8_t kind, uint32_t id, uint8_t mac[6])
{
	memcpy(mac,
	       (uint8_t[6]){ 0x0a, kind, (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id },
	       6);
}

int net_link_setting(const char *link, const char *family, const char *name, int value, struct err *e)
{
	auto_free char *path = xasprintf("%s/conf/%s/%s", family, link, name);

	return sysctl_write(path, value, e);
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
	net_link_setting(v->name, "ipv6", "disable_ipv6", 1, &ignored);
	if (net_link_setting(v->name, "ipv4", "route_localnet", 1, e) < 0 || link_up(n->nl, l.index, e) < 0 ||
	    neighbour_add(n->nl, l.index, ip, v->peer_mac, e) < 0)
		return -1;
	return route_add(n->nl, &(struct route){ .to = { ip, 32 }, .link = l.index, .source = n->shape.gateway }, e);
}

static int make_link(struct net *n, const char *name, const char *ns, uint32_t ip, struct err *e)
{
	struct veth v = { .name = name, .mtu = n->mtu, .ns = ns, .peer = "eth0" };

	net_mac(NET_MAC_HOST, ip, v.mac);
	net_mac(NET_MAC_POD, ip, v.peer_mac);
	if (link_delete(n->nl, name, e) < 0 || link_make_veth(n->nl, &v, e) < 0 || configure_outside(n, &v, ip, e) < 0)
		return -1;
	return configure_inside(n, ns, ip, v.mac, e);
}

static int join(struct net *n, const char *name, uint32_t ip, struct err *e)
{
	rules_join_elements(&n->shape, &(struct net_member){ .link = name, .ip = ip }, n->elements);
	/* A repair also puts this pod in, for it has its lease. */
	return elements_commit(n->elements, e) < 0 ? net_repair(n, e) : 0;
}

static int leave(struct net *n, const struct net_member *m, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);

	if (!m->ports) {
		rules_leave_elements(&n->shape, m, n->elements);
		return elements_commit(n->elements, e);
	}
	rules_leave(&n->shape, m, &text);
	return nft_run(n->nft, text.p, e);
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
	name = net_link_name(n, lease);
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

/* --- links without a lease --- */

struct gather {
	struct net *n;
	bool all;
	int *links;
	size_t count, cap;
};

static void gather_link(void *arg, const struct link *l)
{
	struct gather *g = arg;
	size_t prefix = strlen(g->n->shape.links) - 1; /* without the star */
	uint32_t index;

	if (strncmp(l->name, g->n->shape.links, prefix) != 0)
		return;
	index = (uint32_t)strtoul(l->name + prefix, NULL, 16);
	if (g->all || !leases_find_index(g->n->leases, index))
		ARRAY_PUSH(g->links, g->count, g->cap, l->index);
}

uint32_t net_gather_links(struct net *n, bool all)
{
	uint32_t group = (uint32_t)strtoul(n->shape.prefix, NULL, 16) | 1; /* 0 is where all links begin */
	struct gather g = { .n = n, .all = all };
	struct err e = ERR_INIT;
	size_t put = 0;
	size_t i;

	if (link_each(n->nl, gather_link, &g, &e) < 0)
		log_warn("%s, ignoring", e.text);
	for (i = 0; i < g.count; i++)
		put += link_set_group(n->nl, g.links[i], group, &e) == 0;
	free(g.links);
	return put ? group : 0;
}

static void on_reaped(void *arg, pid_t pid, int status)
{
	(void)arg;
	(void)pid;
	(void)status;
}

/* In the child. */
__attribute__((noreturn)) static void reap(struct net *n, uint32_t group)
{
	struct netlink *nl = NULL;
	struct err e = ERR_INIT;
	bool ok = !group || (netlink_open(NULL, &nl, &e) == 0 && link_delete_group(nl, group, &e) == 0);

	if (n->nforget)
		conntrack_forget(n->forget, n->nforget);
	_exit(ok ? 0 : 1);
}

static void on_reap(void *arg)
{
	struct net *n = arg;
	uint32_t group = net_gather_links(n, false);
	struct err e = ERR_INIT;
	pid_t pid;

	if (!group && !n->nforget)
		return;
	pid = fork();
	if (pid == 0)
		reap(n, group);
	if (pid < 0) {
		net_reap_later(n);
		return;
	}
	n->nforget = 0;
	if (loop_on_child(n->loop, pid, on_reaped, NULL, &e) < 0)
		net_reap_later(n);
}

void net_reap_later(struct net *n)
{
	n->reap.fire = on_reap;
	n->reap.arg = n;
	if (!loop_timer_pending(&n->reap))
		loop_timer_set(n->loop, &n->reap, REAP_MS);
}

void net_detach(struct net *n, const char *uid)
{
	struct lease *lease = leases_find(n->leases, uid);
	auto_free char *name = NULL;
	struct net_member m;
	struct err e = ERR_INIT;

	if (!lease)
		return;
	name = net_link_name(n, lease);
	m = (struct net_member){ .link = name, .ip = n->shape.pods.addr + lease->index, .ports = lease->ports };
	if (route_delete(n->nl, (struct cidr){ m.ip, 32 }, &e) < 0)
		log_warn("%s, ignoring", e.text);
	if (leave(n, &m, &e) < 0)
		log_warn("cannot remove a pod's rules, ignoring: %s", e.text);
	ARRAY_PUSH(n->forget, n->nforget, n->forget_cap, m.ip);
	leases_release(n->leases, lease);
	net_reap_later(n);
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
	if (text.n == 0 || nft_run(n->nft, text.p, e) == 0 || net_repair(n, e) == 0)
		return 0;
	return err_prefix(e, "host ports");
}
