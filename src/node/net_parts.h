// SPDX-License-Identifier: Apache-2.0
/* net_parts.h - what net.c, net_open.c and net_pod.c share */
#ifndef STOKER_NODE_NET_PARTS_H
#define STOKER_NODE_NET_PARTS_H

#include "node/dns.h"
#include "node/net.h"
#include "node/net_conntrack.h"
#include "node/net_elements.h"
#include "node/net_lease.h"
#include "node/net_link.h"
#include "node/net_nft.h"
#include "node/net_rules.h"

#define NET_STATE_MAX 4096
#define NET_MAC_HOST  0x53
#define NET_MAC_POD   0x58

struct net {
	struct loop *loop;
	struct net_shape shape;
	char *dir; /* DIR/run/net */
	char *domain;
	char gateway[NET_IP_LEN];
	struct netlink *nl;
	struct nft *nft;
	struct elements *elements;
	struct leases *leases;
	struct dns *dns;
	int bridge;
	uint32_t mtu;
	bool made_bridge;    /* in this process */
	bool set_forwarding; /* ip_forward was 0 before us */
	json_t *services;    /* last applied, or NULL */
	struct service_rules *rules;
	bool isolation_known; /* this process has made or removed the table */
	json_t *groups;       /* last applied, or NULL: nobody is isolated */
	json_t *group_names;  /* what the table has chains for, as keys */
	struct loop_timer reap;
	uint32_t *forget; /* addresses given back, whose flows are still there */
	size_t nforget, forget_cap;
};

/* --- net.c --- */
/* The base table, with everybody who has a lease. */
int net_apply_base(struct net *n, struct err *e);
/* Somebody may have flushed all rules (a firewall's reload does): puts ours back, all of them. */
int net_repair(struct net *n, struct err *e);

/* --- net_open.c --- */
/* Bridge, leases, DNS, base table and routes. */
int net_open_parts(struct net *n, const struct net_config *c, struct err *e);
/* Removes all of it. */
void net_take_down(struct net *n);

/* --- net_pod.c --- */
/* The name of the host's end of a pod's link; the caller frees it. */
char *net_link_name(const struct net *n, const struct lease *lease);
/* A hardware address of our own making. */
void net_mac(uint8_t kind, uint32_t id, uint8_t mac[6]);
/* A setting of a link: family is "ipv4" or "ipv6". */
int net_link_setting(const char *link, const char *family, const char *name, int value, struct err *e);
/* Puts links of ours into a group that can be deleted at once, all of them or those without a lease; the group, or 0 if
 * there are none. */
uint32_t net_gather_links(struct net *n, bool all);
/* Removes links without a lease, soon. */
void net_reap_later(struct net *n);

#endif
