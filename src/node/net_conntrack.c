// SPDX-License-Identifier: Apache-2.0
/* net_conntrack.c - forgetting the flows of a pod that is gone
 *
 * Translation is decided by a flow's first packet.  A client that keeps sending datagrams to a ClusterIP from one
 * socket would go on being led to a pod that has ended, for as long as it keeps sending.
 *
 * A kernel that knows CTA_FILTER deletes what matches; one that does not looks for a whole tuple, misses its ports, and
 * refuses.
 */
#include "node/net_conntrack.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>

#define FILTER_IP_SRC 1u /* bit of CTA_FILTER_REPLY_FLAGS; the kernel's headers do not export it */

static void put_message(struct nlmsghdr *h, uint32_t ip)
{
	struct nfgenmsg *m;
	struct nlattr *tuple;
	struct nlattr *address;
	struct nlattr *filter;

	h->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	h->nlmsg_seq = 1;
	m = mnl_nlmsg_put_extra_header(h, sizeof(*m));
	m->nfgen_family = AF_INET;
	m->version = NFNETLINK_V0;
	tuple = mnl_attr_nest_start(h, CTA_TUPLE_REPLY);
	address = mnl_attr_nest_start(h, CTA_TUPLE_IP);
	mnl_attr_put_u32(h, CTA_IP_V4_SRC, htonl(ip));
	mnl_attr_nest_end(h, address);
	mnl_attr_nest_end(h, tuple);
	filter = mnl_attr_nest_start(h, CTA_FILTER);
	mnl_attr_put_u32(h, CTA_FILTER_REPLY_FLAGS, FILTER_IP_SRC);
	mnl_attr_nest_end(h, filter);
}

struct mnl_socket *conntrack_open(void)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);

	if (s && mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(s);
		return NULL;
	}
	return s;
}

void conntrack_close(struct mnl_socket *s)
{
	if (s)
		mnl_socket_close(s);
}

void conntrack_forget(struct mnl_socket *s, uint32_t ip)
{
	char buf[1024];

	if (!s)
		return;
	put_message(mnl_nlmsg_put_header(buf), ip);
	if (mnl_socket_sendto(s, buf, ((struct nlmsghdr *)buf)->nlmsg_len) >= 0)
		(void)mnl_socket_recvfrom(s, buf, sizeof(buf));
}
