// SPDX-License-Identifier: Apache-2.0
/* dns.h - the DNS server of the pod network, over UDP and TCP */
#ifndef STOKER_NODE_DNS_H
#define STOKER_NODE_DNS_H

#include "base/err.h"
#include "loop/loop.h"
#include "node/dns_zone.h"

struct dns;

/* Listens on port 53 of the address; if somebody else has that port on every address, on another (dns_port() tells).
 * Names that are not of the zone go to the nameservers of `resolv_conf`. */
int dns_open(struct loop *loop, uint32_t ip, const char *resolv_conf, struct dns **ret, struct err *e);
void dns_free(struct dns *d);
int dns_port(const struct dns *d);
/* Takes the zone.  Before the first one nothing is known, and every client is told to try again (SERVFAIL). */
void dns_set_zone(struct dns *d, struct dns_zone *zone);

#endif
