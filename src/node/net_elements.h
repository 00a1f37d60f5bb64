// SPDX-License-Identifier: Apache-2.0
/* net_elements.h - members of nftables sets and maps, straight to the kernel
 *
 * For what happens with every pod.  libnftables (net_nft.h) first reads every table of the machine, which takes ten
 * times as long as putting an element in.
 */
#ifndef STOKER_NODE_NET_ELEMENTS_H
#define STOKER_NODE_NET_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ELEMENT_KEY_MAX 32

struct elements;

/* Speaks for the network namespace the caller is in. */
int elements_open(struct elements **ret, struct err *e);
void elements_close(struct elements *b);

/* The parts of a key one after the other, as concatenations want them. */
struct element_key {
	uint8_t bytes[ELEMENT_KEY_MAX];
	size_t n;
};
void element_key_ip(struct element_key *k, uint32_t ip);
void element_key_link(struct element_key *k, const char *name);

/* Collects; adding what is there is fine, removing what is not is an error.  `chain` is where a verdict map's element
 * goes, else NULL. */
void elements_add(struct elements *b, const char *table, const char *set, const struct element_key *k,
		  const char *chain);
void elements_remove(struct elements *b, const char *table, const char *set, const struct element_key *k);
/* Everything collected in one transaction, or nothing of it; either way it is collected no more. */
int elements_commit(struct elements *b, struct err *e);
/* Forgets what was collected. */
void elements_reset(struct elements *b);

#endif
