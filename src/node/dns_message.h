// SPDX-License-Identifier: Apache-2.0
/* dns_message.h - DNS on the wire: reading questions, writing replies, looking into others' replies; pure */
#ifndef STOKER_NODE_DNS_MESSAGE_H
#define STOKER_NODE_DNS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_MAX 1024 /* 255 bytes of the wire, each perhaps written \ddd, and NUL */
#define DNS_WIRE_MAX 65535
#define DNS_HEADER   12
#define DNS_UDP_MIN  512
#define DNS_UDP_MAX  1232 /* fits every path without fragments; what resolvers agreed on in 2020 */

enum dns_type {
	DNS_A = 1,
	DNS_CNAME = 5,
	DNS_SOA = 6,
	DNS_PTR = 12,
	DNS_AAAA = 28,
	DNS_SRV = 33,
	DNS_OPT = 41,
	DNS_ANY = 255,
};

enum dns_rcode { DNS_NOERROR, DNS_FORMERR, DNS_SERVFAIL, DNS_NXDOMAIN, DNS_NOTIMP, DNS_REFUSED };

enum dns_section { DNS_ANSWER, DNS_AUTHORITY, DNS_ADDITIONAL };

struct dns_question {
	uint16_t id, type, class;
	bool recursion, edns, dnssec;
	uint16_t udp_size;       /* what the client can take in one datagram */
	size_t end;              /* of the question in the message */
	char name[DNS_NAME_MAX]; /* lower case, no dot at the end; a dot or other odd byte in a label is \ddd */
};

struct dns_record {
	const char *name;
	uint16_t type;
	uint32_t ttl;
	uint32_t ip;        /* A */
	uint8_t ip6[16];    /* AAAA */
	uint16_t port;      /* SRV */
	const char *target; /* CNAME, PTR, SRV; SOA: the zone */
};

/* 0; or the rcode to refuse it with (id is set); or -1 if it deserves no reply. */
int dns_parse_query(const uint8_t *p, size_t n, struct dns_question *ret);

/* A query of our own, without EDNS.  0 if the name is none. */
size_t dns_write_query(uint8_t *buf, size_t max, uint16_t id, const char *name, uint16_t type);

struct dns_reply {
	uint8_t *buf;
	size_t n, max;
	size_t reserved; /* for the OPT record */
	uint16_t counts[3];
	bool truncated;
	struct {
		const char *name;
		size_t at;
	} known[16]; /* names written in full before, for compression */
	size_t nknown;
};

/* Header and question, copied from the query.  `max` is at least 512. */
void dns_reply_begin(struct dns_reply *w, uint8_t *buf, size_t max, const uint8_t *query, const struct dns_question *q);
/* Names are borrowed until the end.  An answer that does not fit sets the truncated bit. */
void dns_reply_add(struct dns_reply *w, enum dns_section section, const struct dns_record *r);
/* Flags, counts and EDNS; returns the length. */
size_t dns_reply_end(struct dns_reply *w, const struct dns_question *q, enum dns_rcode rcode, bool authoritative);

/* Others' replies: is it the answer to this query (id and question)? */
bool dns_is_reply_to(const uint8_t *reply, size_t n, const uint8_t *query, size_t query_n);
/* Makes every record `age` seconds older and tells the least time left; false if it is no well-formed message. */
bool dns_age(uint8_t *p, size_t n, uint32_t age, uint32_t *ret_least);
/* Calls fn for each record of a known type in the answer section; names are valid during the call. */
bool dns_each_answer(const uint8_t *p, size_t n, void (*fn)(void *arg, const struct dns_record *r), void *arg);
/* Cuts a reply down to header and question with the truncated bit set; returns its new length. */
size_t dns_truncate(uint8_t *p, size_t n);

#endif
