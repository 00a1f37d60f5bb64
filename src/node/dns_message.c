// SPDX-License-Identifier: Apache-2.0
/* dns_message.c - the wire format of RFC 1035, with EDNS (RFC 6891) as far as sizes go
 *
 * Everything that comes in is foreign: every length is checked before it is used, and a compressed name may only point
 * backwards, so that reading ends, and never into the header.  A question, which comes first, is therefore always
 * written in full.
 */
#include "node/dns_message.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FLAG_REPLY     0x8000
#define FLAG_AUTHORITY 0x0400
#define FLAG_TRUNCATED 0x0200
#define FLAG_RECURSE   0x0100
#define FLAG_AVAILABLE 0x0080
#define OPCODE(flags)  ((flags) >> 11 & 15)
#define RCODE(flags)   ((flags)&15)
#define CLASS_IN       1
#define OPT_LEN        11
#define OPT_DNSSEC     0x8000
#define SOA_REFRESH    7200
#define SOA_RETRY      1800
#define SOA_EXPIRE     86400

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void set16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void set32(uint8_t *p, uint32_t v)
{
	set16(p, v >> 16);
	set16(p + 2, v & 0xffff);
}

/* --- names --- */

/* Writes one label behind what is there; the caller knows that there is room. */
static size_t label_text(const uint8_t *label, size_t n, char *out)
{
	size_t used = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char c = label[i];

		if (c == '.' || c == '\\' || c <= ' ' || c >= 127)
			used += (size_t)snprintf(out + used, 5, "\\%03u", c);
		else
			out[used++] = (char)tolower(c);
	}
	return used;
}

/* Reads the name at *pos, leaving *pos behind it.  `out` may be NULL to skip. */
static bool name_read(const uint8_t *p, size_t n, size_t *pos, char out[DNS_NAME_MAX])
{
	size_t at = *pos;
	size_t floor = at; /* a pointer must lead to before this */
	size_t wire = 0;
	size_t used = 0;
	bool jumped = false;

	for (;;) {
		size_t len;

		if (at >= n)
			return false;
		len = p[at];
		if (len >= 0xc0) {
			size_t to;

			if (at + 1 >= n)
				return false;
			to = (len & 0x3f) << 8 | p[at + 1];
			if (to >= floor || to < DNS_HEADER)
				return false;
			if (!jumped)
				*pos = at + 2;
			jumped = true;
			at = floor = to;
			continue;
		}
		wire += len + 1;
		if (len > 63 || at + 1 + len > n || wire > 255)
			return false;
		if (len == 0)
			break;
		if (out) {
			if (used)
				out[used++] = '.';
			used += label_text(p + at + 1, len, out + used);
		}
		at += 1 + len;
	}
	if (!jumped)
		*pos = at + 1;
	if (out)
		out[used] = '\0';
	return true;
}

/* --- questions --- */

/* Looks for OPT behind the question.  Anything malformed there is FORMERR. */
static int read_options(const uint8_t *p, size_t n, size_t pos, unsigned records, struct dns_question *q)
{
	unsigned i;

	for (i = 0; i < records; i++) {
		uint16_t size;

		if (!name_read(p, n, &pos, NULL) || pos + 10 > n)
			return DNS_FORMERR;
		size = get16(p + pos + 8);
		if (pos + 10 + size > n)
			return DNS_FORMERR;
		if (get16(p + pos) == DNS_OPT) {
			q->edns = true;
			q->udp_size = get16(p + pos + 2);
			q->dnssec = get16(p + pos + 6) & OPT_DNSSEC;
		}
		pos += 10u + size;
	}
	return 0;
}

int dns_parse_query(const uint8_t *p, size_t n, struct dns_question *ret)
{
	size_t pos = DNS_HEADER;
	unsigned flags;
	int r;

	memset(ret, 0, offsetof(struct dns_question, name) + 1);
	if (n < DNS_HEADER)
		return -1;
	flags = get16(p + 2);
	if (flags & FLAG_REPLY)
		return -1;
	ret->id = get16(p);
	ret->recursion = flags & FLAG_RECURSE;
	ret->udp_size = DNS_UDP_MIN;
	if (OPCODE(flags) != 0)
		return DNS_NOTIMP;
	if (get16(p + 4) != 1 || !name_read(p, n, &pos, ret->name) || pos + 4 > n)
		return DNS_FORMERR;
	ret->type = get16(p + pos);
	ret->class = get16(p + pos + 2);
	ret->end = pos + 4;
	r = read_options(p, n, ret->end, (unsigned)get16(p + 6) + get16(p + 8) + get16(p + 10), ret);
	if (ret->udp_size < DNS_UDP_MIN)
		ret->udp_size = DNS_UDP_MIN;
	if (ret->udp_size > DNS_UDP_MAX)
		ret->udp_size = DNS_UDP_MAX;
	if (r == 0 && ret->class != CLASS_IN)
		return DNS_REFUSED;
	return r;
}

/* --- writing --- */

static bool room(const struct dns_reply *w, size_t n)
{
	return w->n + n + w->reserved <= w->max;
}

static bool put(struct dns_reply *w, const void *p, size_t n)
{
	if (!room(w, n))
		return false;
	memcpy(w->buf + w->n, p, n);
	w->n += n;
	return true;
}

static bool put16(struct dns_reply *w, unsigned v)
{
	uint8_t b[2];

	set16(b, v);
	return put(w, b, 2);
}

static bool put32(struct dns_reply *w, uint32_t v)
{
	uint8_t b[4];

	set32(b, v);
	return put(w, b, 4);
}

/* Where `name` was written before, whole or as the end of another, or 0. */
static size_t known_at(const struct dns_reply *w, const char *name)
{
	size_t len = strlen(name);
	size_t i;

	for (i = 0; i < w->nknown; i++) {
		size_t other = strlen(w->known[i].name);
		size_t off = other - len;

		if (other < len || (off > 0 && w->known[i].name[off - 1] != '.'))
			continue;
		if (strcmp(w->known[i].name + off, name) == 0 && w->known[i].at + off < 0x4000)
			return w->known[i].at + off;
	}
	return 0;
}

static void remember(struct dns_reply *w, const char *name, size_t at)
{
	/* With an escape in it, text and wire no longer run side by side. */
	if (w->nknown < sizeof(w->known) / sizeof(w->known[0]) && !strchr(name, '\\')) {
		w->known[w->nknown].name = name;
		w->known[w->nknown++].at = at;
	}
}

static bool put_name(struct dns_reply *w, const char *name)
{
	const char *rest = name;
	size_t start = w->n;

	while (*rest) {
		size_t at = known_at(w, rest);
		size_t len = strcspn(rest, ".");
		uint8_t n = (uint8_t)len;

		if (at) {
			if (!put16(w, 0xc000 | (unsigned)at))
				return false;
			break;
		}
		if (len == 0 || len > 63 || !put(w, &n, 1) || !put(w, rest, len))
			return false;
		rest += len + (rest[len] == '.');
	}
	if (!*rest && !put(w, "", 1))
		return false;
	if (*name && rest != name)
		remember(w, name, start);
	return true;
}

size_t dns_write_query(uint8_t *buf, size_t max, uint16_t id, const char *name, uint16_t type)
{
	struct dns_reply w = { .buf = buf, .max = max };

	if (max < DNS_HEADER || strlen(name) > 253)
		return 0;
	memset(buf, 0, DNS_HEADER);
	set16(buf, id);
	set16(buf + 2, FLAG_RECURSE);
	set16(buf + 4, 1);
	w.n = DNS_HEADER;
	if (!put_name(&w, name) || !put16(&w, type) || !put16(&w, CLASS_IN))
		return 0;
	return w.n;
}

void dns_reply_begin(struct dns_reply *w, uint8_t *buf, size_t max, const uint8_t *query, const struct dns_question *q)
{
	*w = (struct dns_reply){ .buf = buf, .max = max, .reserved = q->edns ? OPT_LEN : 0 };
	memset(buf, 0, DNS_HEADER);
	set16(buf, q->id);
	w->n = DNS_HEADER;
	if (q->end > DNS_HEADER && put(w, query + DNS_HEADER, q->end - DNS_HEADER)) {
		set16(buf + 4, 1);
		remember(w, q->name, DNS_HEADER);
	}
}

static bool put_soa(struct dns_reply *w, const struct dns_record *r)
{
	char server[DNS_NAME_MAX];
	char mailbox[DNS_NAME_MAX];
	/* These two do not outlive the call, so they must not stay among the known names. */
	size_t known = w->nknown;
	bool ok;

	snprintf(server, sizeof(server), "ns.dns.%s", r->target);
	snprintf(mailbox, sizeof(mailbox), "hostmaster.%s", r->target);
	ok = put_name(w, server) && put_name(w, mailbox) && put32(w, 1) && put32(w, SOA_REFRESH) &&
	     put32(w, SOA_RETRY) && put32(w, SOA_EXPIRE) && put32(w, r->ttl);
	w->nknown = known;
	return ok;
}

static bool put_data(struct dns_reply *w, const struct dns_record *r)
{
	switch (r->type) {
	case DNS_A:
		return put32(w, r->ip);
	case DNS_AAAA:
		return put(w, r->ip6, 16);
	case DNS_CNAME:
	case DNS_PTR:
		return put_name(w, r->target);
	case DNS_SRV:
		return put16(w, 0) && put16(w, 100) && put16(w, r->port) && put_name(w, r->target);
	case DNS_SOA:
		return put_soa(w, r);
	default:
		return false;
	}
}

void dns_reply_add(struct dns_reply *w, enum dns_section section, const struct dns_record *r)
{
	size_t start = w->n;
	size_t known = w->nknown;
	size_t length_at;

	if (w->truncated)
		return;
	if (put_name(w, r->name) && put16(w, r->type) && put16(w, CLASS_IN) && put32(w, r->ttl) && room(w, 2)) {
		length_at = w->n;
		w->n += 2;
		if (put_data(w, r)) {
			set16(w->buf + length_at, (unsigned)(w->n - length_at - 2));
			w->counts[section]++;
			return;
		}
	}
	w->n = start;
	w->nknown = known;
	/* Helpful extras may be missing; an answer may not. */
	if (section == DNS_ANSWER)
		w->truncated = true;
}

size_t dns_reply_end(struct dns_reply *w, const struct dns_question *q, enum dns_rcode rcode, bool authoritative)
{
	unsigned flags = FLAG_REPLY | FLAG_AVAILABLE | rcode;
	int i;

	if (q->recursion)
		flags |= FLAG_RECURSE;
	if (authoritative)
		flags |= FLAG_AUTHORITY;
	if (w->truncated)
		flags |= FLAG_TRUNCATED;
	if (q->edns) {
		uint8_t opt[OPT_LEN] = { 0, 0, DNS_OPT };

		w->reserved = 0;
		set16(opt + 3, DNS_UDP_MAX);
		if (put(w, opt, OPT_LEN))
			w->counts[DNS_ADDITIONAL]++;
	}
	set16(w->buf + 2, flags);
	for (i = 0; i < 3; i++)
		set16(w->buf + 6 + 2 * i, w->counts[i]);
	return w->n;
}

/* --- others' replies --- */

bool dns_is_reply_to(const uint8_t *reply, size_t n, const uint8_t *query, size_t query_n)
{
	char asked[DNS_NAME_MAX];
	char got[DNS_NAME_MAX];
	size_t a = DNS_HEADER;
	size_t b = DNS_HEADER;

	if (n < DNS_HEADER || query_n < DNS_HEADER || get16(reply) != get16(query) || get16(reply + 4) != 1)
		return false;
	if (!(get16(reply + 2) & FLAG_REPLY) || !name_read(query, query_n, &a, asked) || !name_read(reply, n, &b, got))
		return false;
	return a + 4 <= query_n && b + 4 <= n && memcmp(query + a, reply + b, 4) == 0 && strcmp(asked, got) == 0;
}

/* Where the records begin, or 0. */
static size_t records_start(const uint8_t *p, size_t n)
{
	size_t pos = DNS_HEADER;
	unsigned i;

	if (n < DNS_HEADER)
		return 0;
	for (i = 0; i < get16(p + 4); i++) {
		if (!name_read(p, n, &pos, NULL) || pos + 4 > n)
			return 0;
		pos += 4;
	}
	return pos;
}

bool dns_age(uint8_t *p, size_t n, uint32_t age, uint32_t *ret_least)
{
	size_t pos = records_start(p, n);
	unsigned records;
	uint32_t least = UINT32_MAX;
	unsigned i;

	if (!pos)
		return false;
	records = (unsigned)get16(p + 6) + get16(p + 8) + get16(p + 10);
	for (i = 0; i < records; i++) {
		uint32_t ttl;
		uint16_t size;

		if (!name_read(p, n, &pos, NULL) || pos + 10 > n)
			return false;
		size = get16(p + pos + 8);
		if (pos + 10 + size > n)
			return false;
		if (get16(p + pos) != DNS_OPT) {
			ttl = get32(p + pos + 4);
			ttl = ttl > age ? ttl - age : 0;
			set32(p + pos + 4, ttl);
			if (ttl < least)
				least = ttl;
		}
		pos += 10u + size;
	}
	*ret_least = least == UINT32_MAX ? 0 : least;
	return true;
}

/* The kinds of data we know; false for others and for what is no such data. */
static bool read_data(const uint8_t *p, size_t n, size_t data, size_t size, struct dns_record *r,
		      char target[DNS_NAME_MAX])
{
	switch (r->type) {
	case DNS_A:
		r->ip = size == 4 ? get32(p + data) : 0;
		return size == 4;
	case DNS_AAAA:
		if (size == 16)
			memcpy(r->ip6, p + data, 16);
		return size == 16;
	case DNS_CNAME:
	case DNS_PTR:
		return name_read(p, n, &data, target);
	case DNS_SRV:
		if (size < 7)
			return false;
		r->port = get16(p + data + 4);
		data += 6;
		return name_read(p, n, &data, target);
	default:
		return false;
	}
}

bool dns_each_answer(const uint8_t *p, size_t n, void (*fn)(void *arg, const struct dns_record *r), void *arg)
{
	size_t pos = records_start(p, n);
	unsigned i;

	if (!pos || RCODE(get16(p + 2)) != DNS_NOERROR)
		return false;
	for (i = 0; i < get16(p + 6); i++) {
		char name[DNS_NAME_MAX];
		char target[DNS_NAME_MAX];
		struct dns_record r = { .name = name, .target = target };
		size_t data;
		uint16_t size;

		if (!name_read(p, n, &pos, name) || pos + 10 > n)
			return false;
		r.type = get16(p + pos);
		r.ttl = get32(p + pos + 4);
		size = get16(p + pos + 8);
		data = pos + 10;
		if (data + size > n)
			return false;
		pos = data + size;
		if (read_data(p, n, data, size, &r, target))
			fn(arg, &r);
	}
	return true;
}

size_t dns_truncate(uint8_t *p, size_t n)
{
	size_t end = records_start(p, n);

	if (n < DNS_HEADER)
		return n;
	set16(p + 2, get16(p + 2) | FLAG_TRUNCATED);
	memset(p + (end ? 6 : 4), 0, end ? 6 : 8);
	return end ? end : DNS_HEADER;
}
