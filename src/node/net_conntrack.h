// SPDX-License-Identifier: Apache-2.0
/* net_conntrack.h - flows the kernel remembers */
#ifndef STOKER_NODE_NET_CONNTRACK_H
#define STOKER_NODE_NET_CONNTRACK_H

#include <stddef.h>
#include <stdint.h>

/* Forgets the flows that lead to these addresses, so that a client's next datagram is translated anew.  Sorts them.
 * Reads all flows of the namespace the caller is in: for a child process.  Best effort: what cannot be forgotten times
 * out. */
void conntrack_forget(uint32_t *ips, size_t n);

#endif
