// SPDX-License-Identifier: Apache-2.0
/* dns_text.h - a DNS reply as one line: rcode, aa, tc, and its answers */
#ifndef STOKER_DNS_TEXT_H
#define STOKER_DNS_TEXT_H

#include "base/str.h"
#include "node/dns_message.h"
#include "node/net_cidr.h"

static inline void dns_text_record(void *arg, const struct dns_record *r)
{
	struct sbuf *out = arg;
	char ip[NET_IP_LEN];

	if (r->type == DNS_A)
		sbuf_addf(out, " A %s", net_ip_print(r->ip, ip));
	else if (r->type == DNS_SRV)
		sbuf_addf(out, " SRV %d %s", r->port, r->target);
	else
		sbuf_addf(out, " %s %s", r->type == DNS_PTR ? "PTR" : r->type == DNS_CNAME ? "CNAME" : "?", r->target);
}

static inline void dns_text(const uint8_t *p, size_t n, struct sbuf *out)
{
	static const char *const rcodes[16] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED" };

	if (n < DNS_HEADER) {
		sbuf_adds(out, "nothing");
		return;
	}
	sbuf_adds(out, rcodes[p[3] & 15] ? rcodes[p[3] & 15] : "?");
	sbuf_adds(out, p[2] & 4 ? " aa" : "");
	sbuf_adds(out, p[2] & 2 ? " tc" : "");
	dns_each_answer(p, n, dns_text_record, out);
}

#endif
