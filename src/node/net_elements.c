// SPDX-License-Identifier: Apache-2.0
/* net_elements.c - a batch of nfnetlink messages, one an element
 *
 * The kernel works through a batch while it is being sent, so its answer is there when the call returns.  Only the last
 * message asks for one; those that fail answer unasked.
 */
#include "node/net_elements.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>

#include "base/mem.h"
#include "base/str.h"

#define MESSAGE_MAX 2048               /* two names of 255 bytes and a key */
#define BATCH_MAX   (16 * 1024 * 1024) /* 40,000 elements */
#define ANSWER_MAX  8192

struct elements {
	struct mnl_socket *socket;
	unsigned seq;
	struct sbuf batch;
	size_t last; /* where its last message begins */
	bool any;
};

int elements_open(struct elements **ret, struct err *e)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int room = BATCH_MAX;

	if (!s)
		return err_errno(e, ERR_UNAVAILABLE, "cannot open a netfilter socket");
	if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(s);
		return err_errno(e, ERR_UNAVAILABLE, "cannot bind a netfilter socket");
	}
	setsockopt(mnl_socket_get_fd(s), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->socket = s;
	sbuf_init(&(*ret)->batch, BATCH_MAX);
	return 0;
}

void elements_close(struct elements *b)
{
	if (!b)
		return;
	mnl_socket_close(b->socket);
	sbuf_done(&b->batch);
	free(b);
}

/* --- keys --- */

static void key_add(struct element_key *k, const void *bytes, size_t n)
{
	memcpy(k->bytes + k->n, bytes, n);
	k->n += n;
}

void element_key_ip(struct element_key *k, uint32_t ip)
{
	uint32_t order = htonl(ip);

	key_add(k, &order, sizeof(order));
}

void element_key_link(struct element_key *k, const char *name)
{
	char padded[IFNAMSIZ] = "";

	memcpy(padded, name, strnlen(name, IFNAMSIZ - 1));
	key_add(k, padded, sizeof(padded));
}

/* --- messages --- */

static struct nlmsghdr *begin(struct elements *b, void *buf, uint16_t type, uint16_t flags, uint8_t family,
			      uint16_t resource)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *g;

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = ++b->seq;
	g = mnl_nlmsg_put_extra_header(h, sizeof(*g));
	g->nfgen_family = family;
	g->version = NFNETLINK_V0;
	g->res_id = htons(resource);
	return h;
}

static void add_limit(struct elements *b, uint16_t type)
{
	char buf[MESSAGE_MAX];
	struct nlmsghdr *h = begin(b, buf, type, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);

	sbuf_add(&b->batch, h, h->nlmsg_len);
}

static void put_verdict(struct nlmsghdr *h, const char *chain)
{
	struct nlattr *data = mnl_attr_nest_start(h, NFTA_SET_ELEM_DATA);
	struct nlattr *verdict = mnl_attr_nest_start(h, NFTA_DATA_VERDICT);

	mnl_attr_put_u32(h, NFTA_VERDICT_CODE, htonl((uint32_t)NFT_GOTO));
	mnl_attr_put_strz(h, NFTA_VERDICT_CHAIN, chain);
	mnl_attr_nest_end(h, verdict);
	mnl_attr_nest_end(h, data);
}

static void add_message(struct elements *b, uint16_t type, uint16_t flags, const char *table, const char *set,
			const struct element_key *k, const char *chain)
{
	char buf[MESSAGE_MAX];
	struct nlattr *list;
	struct nlattr *element;
	struct nlattr *key;
	struct nlmsghdr *h;

	if (!b->any)
		add_limit(b, NFNL_MSG_BATCH_BEGIN);
	b->any = true;
	h = begin(b, buf, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, NFPROTO_INET, 0);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_TABLE, table);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_SET, set);
	list = mnl_attr_nest_start(h, NFTA_SET_ELEM_LIST_ELEMENTS);
	element = mnl_attr_nest_start(h, NFTA_LIST_ELEM);
	key = mnl_attr_nest_start(h, NFTA_SET_ELEM_KEY);
	mnl_attr_put(h, NFTA_DATA_VALUE, k->n, k->bytes);
	mnl_attr_nest_end(h, key);
	if (chain)
		put_verdict(h, chain);
	mnl_attr_nest_end(h, element);
	mnl_attr_nest_end(h, list);
	b->last = b->batch.n;
	sbuf_add(&b->batch, h, h->nlmsg_len);
}

void elements_add(struct elements *b, const char *table, const char *set, const struct element_key *k,
		  const char *chain)
{
	add_message(b, NFT_MSG_NEWSETELEM, NLM_F_CREATE, table, set, k, chain);
}

void elements_remove(struct elements *b, const char *table, const char *set, const struct element_key *k)
{
	add_message(b, NFT_MSG_DELSETELEM, 0, table, set, k, NULL);
}

void elements_reset(struct elements *b)
{
	sbuf_reset(&b->batch);
	b->any = false;
}

/* Reads what there is.  0 if the message `seq` was acknowledged and none failed; else -1 with errno. */
static int read_answers(struct elements *b, unsigned seq)
{
	char buf[ANSWER_MAX];
	int failed = 0;
	bool done = false;

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(b->socket, buf, sizeof(buf));
		struct nlmsghdr *h = (struct nlmsghdr *)buf;
		int left = (int)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		for (; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
			const struct nlmsgerr *err = mnl_nlmsg_get_payload(h);

			if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			if (err->error && !failed)
				failed = -err->error;
			done |= !err->error && h->nlmsg_seq == seq;
		}
	}
	if (!failed && done)
		return 0;
	errno = failed ? failed : ENODATA;
	return -1;
}

int elements_commit(struct elements *b, struct err *e)
{
	struct nlmsghdr *last;
	unsigned seq;
	int r = -1;

	if (!b->any)
		return 0;
	last = (struct nlmsghdr *)(b->batch.p + b->last);
	last->nlmsg_flags |= NLM_F_ACK;
	seq = last->nlmsg_seq;
	add_limit(b, NFNL_MSG_BATCH_END);
	if (b->batch.over)
		errno = EMSGSIZE;
	else if (mnl_socket_sendto(b->socket, b->batch.p, b->batch.n) >= 0)
		r = read_answers(b, seq);
	elements_reset(b);
	return r < 0 ? err_errno(e, ERR_UNAVAILABLE, "cannot change a set of the packet filter") : 0;
}
