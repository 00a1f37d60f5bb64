// SPDX-License-Identifier: Apache-2.0
/* dns_forward.h - questions for the host's own resolvers */
#ifndef STOKER_NODE_DNS_FORWARD_H
#define STOKER_NODE_DNS_FORWARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "loop/loop.h"

#define DNS_SERVERS_MAX 3 /* as resolv.conf(5) */

struct dns_forward;
struct dns_ask;

/* The nameservers of a file like /etc/resolv.conf without `own`; how many. */
size_t dns_servers_read(const char *resolv_conf, const char *own, struct sockaddr_storage ret[DNS_SERVERS_MAX]);

/* `resolv_conf` names the nameservers and is read again when it changes; `own` (an address text) is left out, lest we
 * ask ourselves. */
struct dns_forward *dns_forward_new(struct loop *loop, const char *resolv_conf, const char *own);
/* Asks in flight end without a call. */
void dns_forward_free(struct dns_forward *f);

/* The reply carries the query's id and belongs to the callee only during the call; n = 0: nobody answered. */
typedef void dns_done_fn(void *arg, const uint8_t *reply, size_t n);
/* Calls done once: at once (then NULL is returned) from the cache or when nobody can be asked, else later from the
 * loop. */
struct dns_ask *dns_forward_ask(struct dns_forward *f, const uint8_t *query, size_t n, bool tcp, dns_done_fn *done,
				void *arg);
/* No call will follow. */
void dns_ask_cancel(struct dns_ask *a);

#endif
