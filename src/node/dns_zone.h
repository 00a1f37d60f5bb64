// SPDX-License-Identifier: Apache-2.0
/* dns_zone.h - the names of the cluster domain, from the services document; pure */
#ifndef STOKER_NODE_DNS_ZONE_H
#define STOKER_NODE_DNS_ZONE_H

#include <jansson.h>

#include "node/dns_message.h"
#include "node/net_cidr.h"

#define DNS_ZONE_TTL 5 /* seconds; as short as CoreDNS', since pods come and go */

struct dns_zone;

struct dns_zone_config {
	const char *domain;
	struct cidr pods, services; /* whose reverse names are ours too */
	const json_t *list;         /* as in net_sync_services() */
};
struct dns_zone *dns_zone_new(const struct dns_zone_config *config);
void dns_zone_free(struct dns_zone *z);

/* What there is to say about a question.  The records belong to the zone, but for `pod`. */
struct dns_answer {
	enum dns_rcode rcode;
	const struct dns_record **records;
	size_t n, cap;
	const struct dns_record **extra; /* addresses of SRV targets */
	size_t nextra, extra_cap;
	const char *outside;    /* a CNAME leads out of the zone, to here */
	struct dns_record soa;  /* for the authority section when there are no records */
	struct dns_record made; /* a pod's record, which is computed */
};

/* False if the name is not ours to answer.  `seed` decides which of several addresses comes first. */
bool dns_zone_find(const struct dns_zone *z, const char *name, uint16_t type, unsigned seed, struct dns_answer *ret);
void dns_answer_done(struct dns_answer *a);

#endif
