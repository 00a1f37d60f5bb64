// SPDX-License-Identifier: Apache-2.0
/* net_cidr.c - arithmetic of address blocks; pure */
#include "node/net_cidr.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"

static uint32_t cidr_mask(int bits)
{
	return bits == 0 ? 0 : UINT32_MAX << (32 - bits);
}

bool net_ip_parse(const char *text, uint32_t *ret)
{
	struct in_addr a;

	if (!text || inet_pton(AF_INET, text, &a) != 1)
		return false;
	*ret = ntohl(a.s_addr);
	return true;
}

const char *net_ip_print(uint32_t ip, char out[NET_IP_LEN])
{
	snprintf(out, NET_IP_LEN, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
	return out;
}

bool cidr_parse(const char *text, struct cidr *ret)
{
	const char *slash = text ? strchr(text, '/') : NULL;
	auto_free char *host = NULL;
	int64_t bits;
	uint32_t addr;

	if (!slash)
		return false;
	host = xstrndup(text, (size_t)(slash - text));
	if (!net_ip_parse(host, &addr) || !str_int64(slash + 1, 0, 32, &bits))
		return false;
	*ret = (struct cidr){ addr & cidr_mask((int)bits), (int)bits };
	return true;
}

const char *cidr_print(struct cidr c, char out[NET_CIDR_LEN])
{
	char ip[NET_IP_LEN];

	snprintf(out, NET_CIDR_LEN, "%s/%u", net_ip_print(c.addr, ip), (unsigned)c.bits & 63);
	return out;
}

bool cidr_has(struct cidr c, uint32_t ip)
{
	return (ip & cidr_mask(c.bits)) == c.addr;
}

bool cidr_overlap(struct cidr a, struct cidr b)
{
	uint32_t mask = cidr_mask(a.bits < b.bits ? a.bits : b.bits);

	return (a.addr & mask) == (b.addr & mask);
}

uint32_t cidr_size(struct cidr c)
{
	return c.bits == 0 ? UINT32_MAX : (uint32_t)1 << (32 - c.bits);
}

struct cidr cidr_next(struct cidr c)
{
	const struct cidr ten = { 10u << 24, 8 };
	struct cidr next = { c.addr + cidr_size(c), c.bits };

	if (c.bits > ten.bits && cidr_has(ten, c.addr) && !cidr_has(ten, next.addr))
		next.addr = ten.addr;
	return next;
}
