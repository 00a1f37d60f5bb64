// SPDX-License-Identifier: Apache-2.0
/* net.h - an address per pod, services by nftables, names by DNS in the process
 *
 * Names of the bridge, tables and chains are derived from the data directory, so that two servers on one machine do not
 * meet; all of it is removed with the last of it.  Foreign rules and bridges are never touched.
 */
#ifndef STOKER_NODE_NET_H
#define STOKER_NODE_NET_H

#include <jansson.h>

#include "base/err.h"
#include "loop/loop.h"

struct net;

struct net_config {
	const char *prefix;       /* 8 hex digits */
	const char *pod_cidr;     /* "10.244.0.0/16" or a free one near it when taken */
	const char *service_cidr; /* "10.96.0.0/12" */
	const char *dir;          /* leases of addresses survive a restart: DIR/run/net */
	const char *domain;       /* "cluster.local" */
	const char *api_host;     /* where kubernetes.default leads: the server's own address */
	int api_port;
	const char *resolv_conf; /* whose nameservers answer for other names; NULL: /etc/resolv.conf */
};

/* Makes bridge, tables and the DNS listener on the bridge's address.  ERR_UNAVAILABLE says what is missing (no root, no
 * nft ...). */
int net_open(struct loop *loop, const struct net_config *config, struct net **ret, struct err *e);
/* `remove`: take everything down too (the last pod is gone). */
void net_free(struct net *n, bool remove);

/* Gives the namespace file `ns` an interface and the pod an address (text into ip); the same again for the same uid. */
int net_attach(struct net *n, const char *uid, const char *ns, char *ip, size_t ip_len, struct err *e);
void net_detach(struct net *n, const char *uid);
/* Detaches every pod whose uid is not in this array of texts: after a restart, those that ended meanwhile. */
void net_keep_only(struct net *n, const json_t *uids);
/* hostPorts of a pod, in place of earlier ones: array of {"hostPort","containerPort","protocol","hostIP"}. ERR_CONFLICT
 * if another pod has one of them. */
int net_publish(struct net *n, const char *uid, const char *ip, const json_t *ports, struct err *e);

/* The whole desired state of services, endpoints and pod names; applied as one nftables transaction.  Each service:
 * {"name","namespace","clusterIP","type","ports":[{"name","port","protocol","nodePort"}],"sessionAffinity",
 *  "sessionAffinityConfig":{"clientIP":{"timeoutSeconds"}},"publishNotReadyAddresses","externalName",
 *  "endpoints":[{"ip","hostname","ready","ports":{"<name, or empty>":N}}]}.
 * default/kubernetes is always there and leads to api_host:api_port.  The same document again does nothing.  Services
 * are kept by reference: a changed one is a new object. */
int net_sync_services(struct net *n, const json_t *services, struct err *e);
/* Which pods may talk to each other: {"ip": "group"}; pods of different groups are isolated unless one group is "".
 * With a document in force, a pod that is not in it talks only to group "": name a pod before it starts.  NULL: no
 * document, everybody talks to everybody. */
int net_sync_isolation(struct net *n, const json_t *groups, struct err *e);
/* Pods that come, change and go: {"ip": "group" or null}.  Costs what it changes, and nothing while there is no
 * document in force. */
int net_change_isolation(struct net *n, const json_t *changes, struct err *e);
/* For /etc/resolv.conf of pods. */
const char *net_dns_address(const struct net *n);
const char *net_gateway(const struct net *n);

#endif
