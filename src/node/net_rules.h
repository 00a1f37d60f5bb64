// SPDX-License-Identifier: Apache-2.0
/* net_rules.h - what the packet filter shall do, as nftables text; pure
 *
 * Three tables, each named from the prefix: "inet stoker_P" (guards, leaving the pod network, hostPorts),
 * "inet stoker_P_services" and "inet stoker_P_isolation".  The last two are left as they are when a server starts and
 * are replaced by the first sync, so that a restart interrupts nobody.
 */
#ifndef STOKER_NODE_NET_RULES_H
#define STOKER_NODE_NET_RULES_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "node/net_cidr.h"
#include "node/net_elements.h"

#define NET_RULES_MAX (64u * 1024 * 1024) /* of one transaction's text: 100,000 endpoints fit */

/* The fixed facts of one pod network. */
struct net_shape {
	char prefix[9];
	char bridge[16]; /* has the gateway's address, and no ports */
	char links[16];  /* pattern of the names of pods' links */
	struct cidr pods, services;
	uint32_t gateway; /* the bridge's address */
	uint32_t api_ip;  /* where kubernetes.default leads; 0: nowhere */
	int api_port;
	int dns_port; /* 53, unless somebody else has it on every address */
};

/* A pod as the base table knows it; `ports` as in net_publish(), or NULL. */
struct net_member {
	const char *link;
	uint32_t ip;
	const json_t *ports;
};

/* The base table anew, with everybody in it. */
void rules_base(const struct net_shape *s, const struct net_member *members, size_t n, struct sbuf *out);
/* One pod more, or gone with its ports. */
void rules_join(const struct net_shape *s, const struct net_member *m, struct sbuf *out);
void rules_leave(const struct net_shape *s, const struct net_member *m, struct sbuf *out);
/* The same straight to the kernel; not the ports. */
void rules_join_elements(const struct net_shape *s, const struct net_member *m, struct elements *b);
void rules_leave_elements(const struct net_shape *s, const struct net_member *m, struct elements *b);
/* hostPorts of a pod; ERR_INVALID names a port that cannot be one. */
int rules_check_ports(const json_t *ports, struct err *e);
void rules_publish(const struct net_shape *s, const struct net_member *m, struct sbuf *out);
void rules_unpublish(const struct net_shape *s, const struct net_member *m, struct sbuf *out);
/* All tables gone. */
void rules_remove(const struct net_shape *s, struct sbuf *out);

/* "tcp" of "TCP" or nothing (TCP is the default); NULL if it is none we know. */
const char *rules_protocol(const char *name);

/* --- net_services.c --- */
struct service_rules;
/* The document of net_sync_services() with kubernetes.default in it, leading to the server; new reference. */
json_t *services_complete(const struct net_shape *s, const json_t *services);
/* ERR_INVALID names the service that is not well-formed. */
int service_rules_make(const struct net_shape *s, const json_t *services, struct service_rules **ret, struct err *e);
void service_rules_free(struct service_rules *r);
/* What leads from `old` to `new`; with no `old` the table is made anew.  Nothing to do is an empty text. */
void service_rules_diff(const struct net_shape *s, const struct service_rules *old, const struct service_rules *new,
			struct sbuf *out);

/* --- net_isolation.c --- */
/* The whole table for a document of net_sync_isolation(); `names` gets the groups that are in it. */
int isolation_rules(const struct net_shape *s, const json_t *groups, json_t *names, struct sbuf *out, struct err *e);
/* What leads from `groups` to it with the changes of net_change_isolation(); `names` gets new groups. */
int isolation_change(const struct net_shape *s, const json_t *groups, const json_t *changes, json_t *names,
		     struct sbuf *out, struct err *e);
/* The same straight to the kernel; false if it takes more than elements, or one of the changes is not well-formed. */
bool isolation_elements(const struct net_shape *s, const json_t *groups, const json_t *changes, const json_t *names,
			struct elements *b);
/* No table. */
void isolation_none(const struct net_shape *s, struct sbuf *out);

#endif
