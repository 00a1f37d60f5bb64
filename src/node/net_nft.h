// SPDX-License-Identifier: Apache-2.0
/* net_nft.h - libnftables' door: a text of commands is one transaction */
#ifndef STOKER_NODE_NET_NFT_H
#define STOKER_NODE_NET_NFT_H

#include "base/err.h"
#include "base/str.h"

struct nft;

/* Speaks for the network namespace the caller is in. */
int nft_open(struct nft **ret, struct err *e);
void nft_close(struct nft *n);
/* All of it or nothing; the error is nft's own first line. */
int nft_run(struct nft *n, const char *text, struct err *e);
/* Says (one line, "" if none) which foreign chains drop forwarded or incoming packets by default: nothing of ours can
 * accept what they drop.  `own` is how our tables' names begin. */
void nft_foreign_drops(struct nft *n, const char *own, struct sbuf *out);

#endif
