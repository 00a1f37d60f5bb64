// SPDX-License-Identifier: Apache-2.0
/* fuzz_dns.c - any bytes are a question, a reply or neither; what we write about them can be read again */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "node/dns_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void count(void *arg, const struct dns_record *r)
{
	if (strlen(r->name) >= DNS_NAME_MAX || strlen(r->target) >= DNS_NAME_MAX)
		__builtin_trap();
	++*(unsigned *)arg;
}

static void answer(const uint8_t *query, const struct dns_question *q)
{
	uint8_t buf[DNS_UDP_MAX];
	struct dns_reply w;
	uint32_t least;
	unsigned answers = 0;
	size_t n;
	int i;

	dns_reply_begin(&w, buf, q->udp_size, query, q);
	for (i = 0; i < 40; i++)
		dns_reply_add(&w, DNS_ANSWER,
			      &(struct dns_record){ .name = "a.b.svc.c", .type = DNS_A, .ttl = 5, .ip = 1 });
	dns_reply_add(&w, DNS_ANSWER,
		      &(struct dns_record){ .name = "_x._tcp.b.svc.c", .type = DNS_SRV, .target = "a.b.svc.c" });
	dns_reply_add(&w, DNS_AUTHORITY, &(struct dns_record){ .name = "c", .type = DNS_SOA, .target = "c" });
	n = dns_reply_end(&w, q, DNS_NOERROR, true);
	if (n > q->udp_size || !dns_age(buf, n, 1, &least) || !dns_each_answer(buf, n, count, &answers))
		__builtin_trap();
	if (answers != w.counts[DNS_ANSWER] || !dns_is_reply_to(buf, n, query, q->end))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free uint8_t *copy = xmemdup(n ? data : (const uint8_t *)"", n ? n : 1);
	struct dns_question q;
	unsigned answers = 0;
	uint32_t least;

	if (dns_parse_query(copy, n, &q) == 0)
		answer(copy, &q);
	dns_each_answer(copy, n, count, &answers);
	dns_is_reply_to(copy, n, copy, n);
	/* Ageing may change bytes that a forged name points into: nothing holds afterwards but its ending. */
	dns_age(copy, n, 7, &least);
	if (dns_truncate(copy, n) > n)
		__builtin_trap();
	return 0;
}
