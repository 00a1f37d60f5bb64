// SPDX-License-Identifier: Apache-2.0
/* net_lease.h - which pod has which address, remembered in a file */
#ifndef STOKER_NODE_NET_LEASE_H
#define STOKER_NODE_NET_LEASE_H

#include <jansson.h>

#include "base/err.h"

#define LEASES_JOURNAL "journal" /* the file in the directory of leases */

struct leases;

struct lease {
	char *uid;
	uint32_t index; /* within the pod block: 1 is the gateway, pods begin at 2 */
	json_t *ports;  /* hostPorts as in net_publish(), or NULL */
};

/* Reads what is in `dir` (made if absent); `size` is how many addresses the block has. */
int leases_open(const char *dir, uint32_t size, struct leases **ret, struct err *e);
void leases_free(struct leases *l);
struct lease *leases_find(const struct leases *l, const char *uid);
struct lease *leases_find_index(const struct leases *l, uint32_t index);
size_t leases_count(const struct leases *l);
/* All of them, by i < leases_count(). */
struct lease *leases_at(const struct leases *l, size_t i);
/* The pod's lease, a new one if it has none; ERR_UNAVAILABLE when all addresses are taken. */
int leases_take(struct leases *l, const char *uid, struct lease **ret, struct err *e);
/* Remembers new ports (borrowed; NULL or empty: none). */
int leases_set_ports(struct leases *l, struct lease *lease, const json_t *ports, struct err *e);
void leases_release(struct leases *l, struct lease *lease);

#endif
