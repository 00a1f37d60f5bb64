// SPDX-License-Identifier: Apache-2.0
/* net_conntrack.h - flows the kernel remembers */
#ifndef STOKER_NODE_NET_CONNTRACK_H
#define STOKER_NODE_NET_CONNTRACK_H

#include <stdint.h>

/* Forgets the flows that lead to this address, so that a client's next datagram is translated anew.  Best effort: an
 * older kernel refuses, and its flows time out. */
void conntrack_forget(uint32_t ip);

#endif
