// SPDX-License-Identifier: Apache-2.0
/* dns_message_test.c - the wire format, byte by byte where it matters */
#include "node/dns_message.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/dns_text.h"
#include "test.h"

static size_t question(uint8_t *buf, const char *name, uint16_t type, struct dns_question *q)
{
	size_t n = dns_write_query(buf, 512, 0x1234, name, type);

	CHECK(n > 0);
	CHECK_INT(dns_parse_query(buf, n, q), 0);
	return n;
}

TEST("a question is read as it was written, in lower case")
{
	uint8_t buf[512];
	struct dns_question q;

	question(buf, "Web.Default.svc.cluster.local", DNS_A, &q);
	CHECK_STR(q.name, "web.default.svc.cluster.local");
	CHECK_INT(q.id, 0x1234);
	CHECK_INT(q.type, DNS_A);
	CHECK_INT(q.udp_size, 512);
	CHECK(q.recursion && !q.edns);
}

TEST("bytes that are no question are refused or ignored")
{
	static const struct {
		const char *what;
		const char *bytes;
		size_t n;
		int want;
	} rows[] = {
#define ROW(what, bytes, want) { what, bytes, sizeof(bytes) - 1, want }
		ROW("nothing", "", -1),
		ROW("half a header", "\0\1\1\0\0\1", -1),
		ROW("a reply", "\0\1\x81\0\0\1\0\0\0\0\0\0\0\0\1\0\1", -1),
		ROW("an update", "\0\1\x28\0\0\1\0\0\0\0\0\0\0\0\1\0\1", DNS_NOTIMP),
		ROW("no question", "\0\1\1\0\0\0\0\0\0\0\0\0", DNS_FORMERR),
		ROW("two questions", "\0\1\1\0\0\2\0\0\0\0\0\0\0\0\1\0\1\0\0\1\0\1", DNS_FORMERR),
		ROW("a name that points to itself", "\0\1\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1", DNS_FORMERR),
		ROW("a name that points ahead", "\0\1\1\0\0\1\0\0\0\0\0\0\xc0\x10\0\1\0\1\0", DNS_FORMERR),
		ROW("a label past the end", "\0\1\1\0\0\1\0\0\0\0\0\0\x3f\0\1\0\1", DNS_FORMERR),
		ROW("a label of a reserved kind", "\0\1\1\0\0\1\0\0\0\0\0\0\x41\0\1\0\1", DNS_FORMERR),
		ROW("another class", "\0\1\1\0\0\1\0\0\0\0\0\0\0\0\1\0\3", DNS_REFUSED),
		ROW("an option past the end", "\0\1\1\0\0\1\0\0\0\0\0\1\0\0\1\0\1\0\0\x29\x10\0\0\0\0\0\0\7",
		    DNS_FORMERR),
#undef ROW
	};
	struct dns_question q;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int got = dns_parse_query((const uint8_t *)rows[i].bytes, rows[i].n, &q);

		if (got != rows[i].want)
			test_fail(__FILE__, __LINE__, "%s: %d, not %d", rows[i].what, got, rows[i].want);
	}
}

TEST("EDNS sizes are taken within bounds, and answered")
{
	static const char edns[] = "\0\1\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1\0\0\x29\xff\xff\0\0\x80\0\0\0";
	struct dns_question q;
	struct dns_reply w;
	uint8_t buf[DNS_UDP_MAX];
	size_t n;

	CHECK_INT(dns_parse_query((const uint8_t *)edns, sizeof(edns) - 1, &q), 0);
	CHECK(q.edns && q.dnssec);
	CHECK_INT(q.udp_size, DNS_UDP_MAX);
	dns_reply_begin(&w, buf, q.udp_size, (const uint8_t *)edns, &q);
	n = dns_reply_end(&w, &q, DNS_NOERROR, true);
	CHECK_INT(n, 12 + 3 + 4 + 11);
	CHECK_INT(buf[11], 1);
}

TEST("a reply is compressed, complete and readable")
{
	uint8_t query[512];
	uint8_t buf[512];
	struct dns_question q;
	struct dns_reply w;
	auto_sbuf struct sbuf text = SBUF(4096);
	size_t n;

	question(query, "_http._tcp.web.prod.svc.cluster.local", DNS_SRV, &q);
	dns_reply_begin(&w, buf, sizeof(buf), query, &q);
	dns_reply_add(&w, DNS_ANSWER,
		      &(struct dns_record){ .name = "_http._tcp.web.prod.svc.cluster.local",
					    .type = DNS_SRV,
					    .ttl = 5,
					    .port = 8080,
					    .target = "w-0.web.prod.svc.cluster.local" });
	dns_reply_add(&w, DNS_ANSWER,
		      &(struct dns_record){
			      .name = "w-0.web.prod.svc.cluster.local", .type = DNS_A, .ttl = 5, .ip = 0x0a000001 });
	dns_reply_add(
		&w, DNS_AUTHORITY,
		&(struct dns_record){ .name = "cluster.local", .type = DNS_SOA, .ttl = 5, .target = "cluster.local" });
	n = dns_reply_end(&w, &q, DNS_NOERROR, true);
	/* Question 43; SRV 12+6+4+2; A 2+10+4; SOA 2+10, two short names and five numbers. */
	CHECK_INT(n, 12 + 43 + 24 + 16 + 12 + 9 + 13 + 20);
	dns_text(buf, n, &text);
	CHECK_STR(text.p, "NOERROR aa SRV 8080 w-0.web.prod.svc.cluster.local A 10.0.0.1");
	CHECK(dns_is_reply_to(buf, n, query, q.end));
	query[0]++;
	CHECK(!dns_is_reply_to(buf, n, query, q.end));
}

TEST("answers that do not fit set the truncated bit and leave a whole message")
{
	uint8_t query[512];
	uint8_t buf[512];
	struct dns_question q;
	struct dns_reply w;
	uint32_t least;
	size_t n;
	int i;

	question(query, "a.b", DNS_A, &q);
	dns_reply_begin(&w, buf, sizeof(buf), query, &q);
	for (i = 0; i < 100; i++)
		dns_reply_add(&w, DNS_ANSWER,
			      &(struct dns_record){ .name = "a.b", .type = DNS_A, .ttl = 9, .ip = (uint32_t)i });
	n = dns_reply_end(&w, &q, DNS_NOERROR, true);
	CHECK(n <= 512 && (buf[2] & 2));
	CHECK_INT(buf[7], (512 - 12 - 9) / 16);
	CHECK(dns_age(buf, n, 4, &least));
	CHECK_INT(least, 5);
	CHECK_INT(dns_truncate(buf, n), 12 + 9);
}
