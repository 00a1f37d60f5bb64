// SPDX-License-Identifier: Apache-2.0
/* pod_text.h - the small files every container finds in /etc; pure */
#ifndef STOKER_NODE_POD_TEXT_H
#define STOKER_NODE_POD_TEXT_H

#include <jansson.h>

#include "base/str.h"

struct pod_names {
	const char *hostname, *ip;            /* ip NULL: the host's network */
	const char *domain;                   /* "cluster.local" */
	const char *dns;                      /* the pod network's own name server; NULL: none */
	const char *host_hosts, *host_resolv; /* texts of this machine's files */
};

/* What `hostname` says inside: spec.hostname, else the pod's name, cut to 63; FQDN if asked for. */
void pod_hostname(const json_t *pod, struct sbuf *out);
/* hostname.subdomain.NS.svc.DOMAIN, or empty. */
void pod_fqdn(const json_t *pod, const char *domain, struct sbuf *out);
void pod_hosts_text(const json_t *pod, const struct pod_names *n, struct sbuf *out);
/* By dnsPolicy and dnsConfig. */
void pod_resolv_text(const json_t *pod, const struct pod_names *n, struct sbuf *out);

#endif
