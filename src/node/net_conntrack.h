// SPDX-License-Identifier: Apache-2.0
/* net_conntrack.h - flows the kernel remembers */
#ifndef STOKER_NODE_NET_CONNTRACK_H
#define STOKER_NODE_NET_CONNTRACK_H

#include <stdint.h>

struct mnl_socket;

/* A socket for the namespace the caller is in; NULL if there is none to be had.  It is kept, since closing one makes
 * the kernel wait. */
struct mnl_socket *conntrack_open(void);
void conntrack_close(struct mnl_socket *s);
/* Forgets the flows that lead to this address, so that a client's next datagram is translated anew.  Best effort: an
 * older kernel refuses, and its flows time out. */
void conntrack_forget(struct mnl_socket *s, uint32_t ip);

#endif
