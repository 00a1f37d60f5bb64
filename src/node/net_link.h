// SPDX-License-Identifier: Apache-2.0
/* net_link.h - rtnetlink through libmnl: links, addresses and routes of one network namespace */
#ifndef STOKER_NODE_NET_LINK_H
#define STOKER_NODE_NET_LINK_H

#include "base/err.h"
#include "node/net_cidr.h"

struct netlink;

/* A socket that speaks for the namespace file `ns`, or for our own with NULL; it needs no setns() afterwards. */
int netlink_open(const char *ns, struct netlink **ret, struct err *e);
void netlink_close(struct netlink *nl);

struct link {
	int index;
	uint32_t mtu;
	char name[16];
	char kind[16]; /* "bridge", "veth" ..., "" for hardware */
};

/* False if there is none of this name. */
bool link_find(struct netlink *nl, const char *name, struct link *ret);
int link_each(struct netlink *nl, void (*fn)(void *arg, const struct link *l), void *arg, struct err *e);

/* An existing one of the name is an error of kind ERR_EXISTS. */
int link_make_bridge(struct netlink *nl, const char *name, const uint8_t mac[6], uint32_t mtu, struct err *e);

struct veth {
	const char *name;
	uint8_t mac[6]; /* of the end that stays here */
	const char *ns; /* namespace file of the other end */
	const char *peer;
	uint8_t peer_mac[6];
	uint32_t mtu;
};
int link_make_veth(struct netlink *nl, const struct veth *v, struct err *e);
int link_up(struct netlink *nl, int index, struct err *e);
/* Gone already is fine.  The kernel takes its time: tens of milliseconds on a busy machine. */
int link_delete(struct netlink *nl, const char *name, struct err *e);
/* All links of a group in the time of one; a group is a number links can be put into. */
int link_set_group(struct netlink *nl, int index, uint32_t group, struct err *e);
int link_delete_group(struct netlink *nl, uint32_t group, struct err *e);

int address_add(struct netlink *nl, int index, struct cidr address, struct err *e);
int address_delete(struct netlink *nl, int index, struct cidr address, struct err *e);
/* The first IPv4 address of a link (not cut to its block); false if it has none. */
bool address_find(struct netlink *nl, int index, struct cidr *ret);

struct route {
	struct cidr to;
	uint32_t via; /* 0: on the link */
	int link;
	uint32_t source; /* preferred address of ours, 0: any */
	uint32_t metric;
};
/* One that is there already is fine. */
int route_add(struct netlink *nl, const struct route *r, struct err *e);
/* The one in the main table to exactly this block; none is fine. */
int route_delete(struct netlink *nl, struct cidr to, struct err *e);
/* IPv4 unicast routes of all tables but `local`. */
int route_each(struct netlink *nl, void (*fn)(void *arg, const struct route *r), void *arg, struct err *e);

/* A neighbour that needs no asking for, so that none can be lied about. */
int neighbour_add(struct netlink *nl, int index, uint32_t ip, const uint8_t mac[6], struct err *e);

/* /proc/sys/net/<name> of our own namespace. */
int sysctl_read(const char *name, struct err *e);
int sysctl_write(const char *name, int value, struct err *e);

#endif
