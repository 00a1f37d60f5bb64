// SPDX-License-Identifier: Apache-2.0
/* net_cidr.h - IPv4 addresses and blocks as numbers in host order */
#ifndef STOKER_NODE_NET_CIDR_H
#define STOKER_NODE_NET_CIDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_IP_LEN   16 /* "255.255.255.255" and NUL */
#define NET_CIDR_LEN 19

struct cidr {
	uint32_t addr;
	int bits;
};

bool net_ip_parse(const char *text, uint32_t *ret);
/* Returns `out`, for use in a printf. */
const char *net_ip_print(uint32_t ip, char out[NET_IP_LEN]);
/* "10.244.0.0/16"; host bits are cleared. */
bool cidr_parse(const char *text, struct cidr *ret);
const char *cidr_print(struct cidr c, char out[NET_CIDR_LEN]);
bool cidr_has(struct cidr c, uint32_t ip);
bool cidr_overlap(struct cidr a, struct cidr b);
/* How many addresses the block has (2^32 - 1 for /0). */
uint32_t cidr_size(struct cidr c);
/* The block after it of the same size, staying within 10.0.0.0/8 if it was there. */
struct cidr cidr_next(struct cidr c);

#endif
