// SPDX-License-Identifier: Apache-2.0
/* net_conntrack.c - forgetting the flows of pods that are gone
 *
 * Translation is decided by a flow's first packet.  A client that keeps sending datagrams to a ClusterIP from one
 * socket would go on being led to a pod that has ended, for as long as it keeps sending.
 *
 * The kernel would also delete by address itself.  But whoever asks, it walks its whole table of a quarter of a million
 * slots, most of a millisecond: too much for each pod.  So all flows are read once and the pods' own are picked out.
 */
#include "node/net_conntrack.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdbool.h>
#include <stdlib.h>

#define READ_BYTES 32768
#define SEND_BYTES 1024

struct forgetting {
	const uint32_t *ips;
	size_t n;
	struct mnl_socket *out; /* deletes while the other reads */
};

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static struct nlmsghdr *put_head(char *buf, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *m;

	h->nlmsg_type = (uint16_t)(NFNL_SUBSYS_CTNETLINK << 8 | type);
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->nfgen_family = AF_INET;
	m->version = NFNETLINK_V0;
	return h;
}

static const struct nlattr *find_nested(const struct nlattr *in, uint16_t type)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, in) if (mnl_attr_get_type(a) == type) return a;
	return NULL;
}

/* Where a flow's answers come from: the address it leads to. */
static bool leads_to(const struct nlattr *reply, uint32_t *ret)
{
	const struct nlattr *address = reply ? find_nested(reply, CTA_TUPLE_IP) : NULL;
	const struct nlattr *source = address ? find_nested(address, CTA_IP_V4_SRC) : NULL;

	if (!source || mnl_attr_validate(source, MNL_TYPE_U32) < 0)
		return false;
	*ret = ntohl(mnl_attr_get_u32(source));
	return true;
}

static void copy(struct nlmsghdr *h, const struct nlattr *a)
{
	if (a)
		mnl_attr_put_check(h, SEND_BYTES, a->nla_type, mnl_attr_get_payload_len(a), mnl_attr_get_payload(a));
}

static int on_flow(const struct nlmsghdr *h, void *arg)
{
	const struct forgetting *f = arg;
	const struct nlattr *found[CTA_MAX + 1] = { NULL };
	char buf[SEND_BYTES];
	const struct nlattr *a;
	struct nlmsghdr *out;
	uint32_t ip;

	mnl_attr_for_each(a, h, sizeof(struct nfgenmsg)) if (mnl_attr_type_valid(a, CTA_MAX) > 0)
		found[mnl_attr_get_type(a)] = a;
	if (!found[CTA_TUPLE_ORIG] || !leads_to(found[CTA_TUPLE_REPLY], &ip) ||
	    !bsearch(&ip, f->ips, f->n, sizeof(ip), compare))
		return MNL_CB_OK;
	out = put_head(buf, IPCTNL_MSG_CT_DELETE, 0);
	copy(out, found[CTA_TUPLE_ORIG]);
	copy(out, found[CTA_ZONE]);
	(void)mnl_socket_sendto(f->out, out, out->nlmsg_len);
	return MNL_CB_OK;
}

static struct mnl_socket *open_socket(void)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);

	if (s && mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(s);
		return NULL;
	}
	return s;
}

static void read_flows(struct mnl_socket *in, struct forgetting *f)
{
	char ask[SEND_BYTES];
	char buf[READ_BYTES];
	struct nlmsghdr *h = put_head(ask, IPCTNL_MSG_CT_GET, NLM_F_DUMP);
	ssize_t n = mnl_socket_sendto(in, h, h->nlmsg_len);

	while (n >= 0 && (n = mnl_socket_recvfrom(in, buf, sizeof(buf))) > 0)
		if (mnl_cb_run(buf, (size_t)n, 0, mnl_socket_get_portid(in), on_flow, f) <= MNL_CB_STOP)
			break;
}

void conntrack_forget(uint32_t *ips, size_t n)
{
	struct forgetting f = { .ips = ips, .n = n, .out = open_socket() };
	struct mnl_socket *in = open_socket();

	qsort(ips, n, sizeof(*ips), compare);
	if (in && f.out)
		read_flows(in, &f);
	if (in)
		mnl_socket_close(in);
	if (f.out)
		mnl_socket_close(f.out);
}
