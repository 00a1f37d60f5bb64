// SPDX-License-Identifier: Apache-2.0
/* net_link.c - links, addresses and routes by rtnetlink
 *
 * Each call is one request and its answer on a socket that was born in the namespace it speaks for: the process enters
 * a pod's namespace only for the instant that opening the socket takes.  The kernel answers at once, so nothing here
 * waits for anybody else.
 */
#include "node/net_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#define REQUEST_MAX 2048
#define ANSWER_MAX  32768 /* what the kernel puts into one part of a dump at most */

struct netlink {
	struct mnl_socket *socket;
	unsigned seq;
};

static int socket_open(struct netlink **ret, struct err *e)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

	if (!s)
		return err_errno(e, ERR_UNAVAILABLE, "cannot open a netlink socket");
	if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(s);
		return err_errno(e, ERR_UNAVAILABLE, "cannot bind a netlink socket");
	}
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->socket = s;
	return 0;
}

int netlink_open(const char *ns, struct netlink **ret, struct err *e)
{
	auto_close int there = -1;
	auto_close int back = -1;
	int r;

	if (!ns)
		return socket_open(ret, e);
	there = open(ns, O_RDONLY | O_CLOEXEC);
	if (there < 0)
		return err_errno(e, ERR_NOT_FOUND, "cannot open network namespace %s", ns);
	back = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (back < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot open /proc/thread-self/ns/net");
	if (setns(there, CLONE_NEWNET) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot enter network namespace %s", ns);
	r = socket_open(ret, e);
	if (setns(back, CLONE_NEWNET) < 0) {
		/* Going on would do everything else in a pod's network. */
		log_error("cannot return to the host's network namespace");
		abort();
	}
	return r;
}

void netlink_close(struct netlink *nl)
{
	if (!nl)
		return;
	mnl_socket_close(nl->socket);
	free(nl);
}

/* A request with room for attributes behind it. */
struct request {
	char buf[REQUEST_MAX];
	struct nlmsghdr *head;
};

static void *request_begin(struct request *q, uint16_t type, uint16_t flags, size_t body)
{
	q->head = mnl_nlmsg_put_header(q->buf);
	q->head->nlmsg_type = type;
	q->head->nlmsg_flags = NLM_F_REQUEST | flags;
	return mnl_nlmsg_put_extra_header(q->head, body);
}

/* Sends and reads up to the acknowledgement or the end of a dump.  0, or -1 with errno.  What an earlier request left
 * unread, because it failed in the middle, is passed over. */
static int request_run(struct netlink *nl, struct request *q, mnl_cb_t each, void *arg)
{
	_Alignas(struct nlmsghdr) char buf[ANSWER_MAX];
	unsigned seq = ++nl->seq;
	unsigned port = mnl_socket_get_portid(nl->socket);

	q->head->nlmsg_seq = seq;
	if (mnl_socket_sendto(nl->socket, q->head, q->head->nlmsg_len) < 0)
		return -1;
	for (;;) {
		ssize_t n = mnl_socket_recvfrom(nl->socket, buf, sizeof(buf));
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (((const struct nlmsghdr *)buf)->nlmsg_seq != seq)
			continue;
		r = mnl_cb_run(buf, (size_t)n, seq, port, each, arg);
		if (r < 0)
			return -1;
		if (r == MNL_CB_STOP)
			return 0;
	}
}

static int request_ack(struct netlink *nl, struct request *q)
{
	q->head->nlmsg_flags |= NLM_F_ACK;
	return request_run(nl, q, NULL, NULL);
}

/* --- links --- */

static int on_info_attr(const struct nlattr *a, void *arg)
{
	struct link *l = arg;

	if (mnl_attr_get_type(a) == IFLA_INFO_KIND)
		snprintf(l->kind, sizeof(l->kind), "%.*s", (int)mnl_attr_get_payload_len(a), mnl_attr_get_str(a));
	return MNL_CB_OK;
}

static int on_link_attr(const struct nlattr *a, void *arg)
{
	struct link *l = arg;

	switch (mnl_attr_get_type(a)) {
	case IFLA_IFNAME:
		snprintf(l->name, sizeof(l->name), "%s", mnl_attr_get_str(a));
		break;
	case IFLA_MTU:
		l->mtu = mnl_attr_get_u32(a);
		break;
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(a, on_info_attr, l);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static void link_parse(const struct nlmsghdr *h, struct link *l)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(h);

	*l = (struct link){ .index = info->ifi_index };
	mnl_attr_parse(h, sizeof(*info), on_link_attr, l);
}

static int on_link_found(const struct nlmsghdr *h, void *arg)
{
	link_parse(h, arg);
	return MNL_CB_OK;
}

bool link_find(struct netlink *nl, const char *name, struct link *ret)
{
	struct request q;
	struct link l = { 0 };

	request_begin(&q, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(q.head, IFLA_IFNAME, name);
	q.head->nlmsg_flags |= NLM_F_ACK;
	if (request_run(nl, &q, on_link_found, &l) < 0 || l.index == 0)
		return false;
	*ret = l;
	return true;
}

struct link_walk {
	void (*fn)(void *arg, const struct link *l);
	void *arg;
};

static int on_each_link(const struct nlmsghdr *h, void *arg)
{
	struct link_walk *w = arg;
	struct link l;

	link_parse(h, &l);
	w->fn(w->arg, &l);
	return MNL_CB_OK;
}

int link_each(struct netlink *nl, void (*fn)(void *arg, const struct link *l), void *arg, struct err *e)
{
	struct request q;
	struct link_walk w = { fn, arg };

	request_begin(&q, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	if (request_run(nl, &q, on_each_link, &w) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot list network links");
	return 0;
}

static int link_made(const char *what, const char *name, struct err *e)
{
	if (errno == EPERM)
		return err_set(e, ERR_UNAVAILABLE, "cannot make %s %s: this needs root (CAP_NET_ADMIN)", what, name);
	if (errno == EOPNOTSUPP)
		return err_set(e, ERR_UNAVAILABLE, "cannot make %s %s: the kernel has no such device", what, name);
	return err_errno(e, errno == EEXIST ? ERR_EXISTS : ERR_UNAVAILABLE, "cannot make %s %s", what, name);
}

int link_make_bridge(struct netlink *nl, const char *name, const uint8_t mac[6], uint32_t mtu, struct err *e)
{
	struct request q;
	struct nlattr *info;

	request_begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(q.head, IFLA_IFNAME, name);
	mnl_attr_put(q.head, IFLA_ADDRESS, 6, mac);
	mnl_attr_put_u32(q.head, IFLA_MTU, mtu);
	info = mnl_attr_nest_start(q.head, IFLA_LINKINFO);
	mnl_attr_put_strz(q.head, IFLA_INFO_KIND, "bridge");
	mnl_attr_nest_end(q.head, info);
	if (request_ack(nl, &q) < 0)
		return link_made("bridge", name, e);
	return 0;
}

/* By default the kernel makes queues for every processor there could be, each with files in sysfs; a veth uses one. */
static void put_one_queue(struct request *q)
{
	mnl_attr_put_u32(q->head, IFLA_NUM_TX_QUEUES, 1);
	mnl_attr_put_u32(q->head, IFLA_NUM_RX_QUEUES, 1);
}

int link_make_veth(struct netlink *nl, const struct veth *v, struct err *e)
{
	auto_close int ns = open(v->ns, O_RDONLY | O_CLOEXEC);
	struct request q;
	struct nlattr *info;
	struct nlattr *data;
	struct nlattr *peer;

	if (ns < 0)
		return err_errno(e, ERR_NOT_FOUND, "cannot open network namespace %s", v->ns);
	request_begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(q.head, IFLA_IFNAME, v->name);
	mnl_attr_put(q.head, IFLA_ADDRESS, 6, v->mac);
	mnl_attr_put_u32(q.head, IFLA_MTU, v->mtu);
	put_one_queue(&q);
	info = mnl_attr_nest_start(q.head, IFLA_LINKINFO);
	mnl_attr_put_strz(q.head, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(q.head, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(q.head, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(q.head, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(q.head, IFLA_IFNAME, v->peer);
	mnl_attr_put(q.head, IFLA_ADDRESS, 6, v->peer_mac);
	mnl_attr_put_u32(q.head, IFLA_MTU, v->mtu);
	put_one_queue(&q);
	mnl_attr_put_u32(q.head, IFLA_NET_NS_FD, (uint32_t)ns);
	mnl_attr_nest_end(q.head, peer);
	mnl_attr_nest_end(q.head, data);
	mnl_attr_nest_end(q.head, info);
	if (request_ack(nl, &q) < 0)
		return link_made("link", v->name, e);
	return 0;
}

int link_up(struct netlink *nl, int index, struct err *e)
{
	struct request q;
	struct ifinfomsg *info = request_begin(&q, RTM_NEWLINK, 0, sizeof(*info));

	info->ifi_index = index;
	info->ifi_flags = IFF_UP;
	info->ifi_change = IFF_UP;
	if (request_ack(nl, &q) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot set a link up");
	return 0;
}

int link_delete(struct netlink *nl, const char *name, struct err *e)
{
	struct request q;

	request_begin(&q, RTM_DELLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(q.head, IFLA_IFNAME, name);
	if (request_ack(nl, &q) < 0 && errno != ENODEV)
		return err_errno(e, ERR_UNAVAILABLE, "cannot remove link %s", name);
	return 0;
}

int link_set_group(struct netlink *nl, int index, uint32_t group, struct err *e)
{
	struct request q;
	struct ifinfomsg *info = request_begin(&q, RTM_NEWLINK, 0, sizeof(*info));

	info->ifi_index = index;
	mnl_attr_put_u32(q.head, IFLA_GROUP, group);
	if (request_ack(nl, &q) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot put a link into a group");
	return 0;
}

int link_delete_group(struct netlink *nl, uint32_t group, struct err *e)
{
	struct request q;

	request_begin(&q, RTM_DELLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_u32(q.head, IFLA_GROUP, group);
	if (request_ack(nl, &q) < 0 && errno != ENODEV)
		return err_errno(e, ERR_UNAVAILABLE, "cannot remove a group of links");
	return 0;
}

/* --- addresses --- */

static int address_change(struct netlink *nl, uint16_t type, uint16_t flags, int index, struct cidr a)
{
	struct request q;
	struct ifaddrmsg *m = request_begin(&q, type, flags, sizeof(*m));

	m->ifa_family = AF_INET;
	m->ifa_prefixlen = (unsigned char)a.bits;
	m->ifa_index = (unsigned)index;
	mnl_attr_put_u32(q.head, IFA_LOCAL, htonl(a.addr));
	mnl_attr_put_u32(q.head, IFA_ADDRESS, htonl(a.addr));
	return request_ack(nl, &q);
}

int address_add(struct netlink *nl, int index, struct cidr address, struct err *e)
{
	char text[NET_CIDR_LEN];

	if (address_change(nl, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, address) < 0 && errno != EEXIST)
		return err_errno(e, ERR_UNAVAILABLE, "cannot add address %s", cidr_print(address, text));
	return 0;
}

int address_delete(struct netlink *nl, int index, struct cidr address, struct err *e)
{
	char text[NET_CIDR_LEN];

	if (address_change(nl, RTM_DELADDR, 0, index, address) < 0 && errno != EADDRNOTAVAIL)
		return err_errno(e, ERR_UNAVAILABLE, "cannot remove address %s", cidr_print(address, text));
	return 0;
}

struct address_search {
	int index;
	bool found;
	struct cidr address;
};

static int on_address(const struct nlmsghdr *h, void *arg)
{
	struct address_search *s = arg;
	const struct ifaddrmsg *m = mnl_nlmsg_get_payload(h);
	struct nlattr *a;

	if (s->found || (int)m->ifa_index != s->index || m->ifa_family != AF_INET)
		return MNL_CB_OK;
	mnl_attr_for_each(a, h, sizeof(*m))
	{
		if (mnl_attr_get_type(a) == IFA_LOCAL) {
			s->address = (struct cidr){ ntohl(mnl_attr_get_u32(a)), m->ifa_prefixlen };
			s->found = true;
		}
	}
	return MNL_CB_OK;
}

bool address_find(struct netlink *nl, int index, struct cidr *ret)
{
	struct request q;
	struct ifaddrmsg *m = request_begin(&q, RTM_GETADDR, NLM_F_DUMP, sizeof(*m));
	struct address_search s = { .index = index };

	m->ifa_family = AF_INET;
	if (request_run(nl, &q, on_address, &s) < 0 || !s.found)
		return false;
	*ret = s.address;
	return true;
}

/* --- routes --- */

int route_add(struct netlink *nl, const struct route *r, struct err *e)
{
	struct request q;
	struct rtmsg *m = request_begin(&q, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, sizeof(*m));
	char text[NET_CIDR_LEN];

	m->rtm_family = AF_INET;
	m->rtm_dst_len = (unsigned char)r->to.bits;
	m->rtm_table = RT_TABLE_MAIN;
	m->rtm_protocol = RTPROT_STATIC;
	m->rtm_scope = r->via ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
	m->rtm_type = RTN_UNICAST;
	if (r->to.bits)
		mnl_attr_put_u32(q.head, RTA_DST, htonl(r->to.addr));
	if (r->via)
		mnl_attr_put_u32(q.head, RTA_GATEWAY, htonl(r->via));
	mnl_attr_put_u32(q.head, RTA_OIF, (uint32_t)r->link);
	if (r->source)
		mnl_attr_put_u32(q.head, RTA_PREFSRC, htonl(r->source));
	if (r->metric)
		mnl_attr_put_u32(q.head, RTA_PRIORITY, r->metric);
	if (request_ack(nl, &q) < 0 && errno != EEXIST)
		return err_errno(e, ERR_UNAVAILABLE, "cannot add a route to %s", cidr_print(r->to, text));
	return 0;
}

int route_delete(struct netlink *nl, struct cidr to, struct err *e)
{
	struct request q;
	struct rtmsg *m = request_begin(&q, RTM_DELROUTE, 0, sizeof(*m));
	char text[NET_CIDR_LEN];

	m->rtm_family = AF_INET;
	m->rtm_dst_len = (unsigned char)to.bits;
	m->rtm_table = RT_TABLE_MAIN;
	m->rtm_scope = RT_SCOPE_NOWHERE;
	mnl_attr_put_u32(q.head, RTA_DST, htonl(to.addr));
	if (request_ack(nl, &q) < 0 && errno != ESRCH)
		return err_errno(e, ERR_UNAVAILABLE, "cannot remove the route to %s", cidr_print(to, text));
	return 0;
}

struct route_walk {
	void (*fn)(void *arg, const struct route *r);
	void *arg;
};

static int on_route(const struct nlmsghdr *h, void *arg)
{
	struct route_walk *w = arg;
	const struct rtmsg *m = mnl_nlmsg_get_payload(h);
	struct route r = { .to.bits = m->rtm_dst_len };
	struct nlattr *a;

	if (m->rtm_family != AF_INET || m->rtm_type != RTN_UNICAST || m->rtm_table == RT_TABLE_LOCAL)
		return MNL_CB_OK;
	mnl_attr_for_each(a, h, sizeof(*m))
	{
		switch (mnl_attr_get_type(a)) {
		case RTA_DST:
			r.to.addr = ntohl(mnl_attr_get_u32(a));
			break;
		case RTA_GATEWAY:
			r.via = ntohl(mnl_attr_get_u32(a));
			break;
		case RTA_OIF:
			r.link = (int)mnl_attr_get_u32(a);
			break;
		default:
			break;
		}
	}
	w->fn(w->arg, &r);
	return MNL_CB_OK;
}

int route_each(struct netlink *nl, void (*fn)(void *arg, const struct route *r), void *arg, struct err *e)
{
	struct request q;
	struct rtmsg *m = request_begin(&q, RTM_GETROUTE, NLM_F_DUMP, sizeof(*m));
	struct route_walk w = { fn, arg };

	m->rtm_family = AF_INET;
	if (request_run(nl, &q, on_route, &w) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot list routes");
	return 0;
}

int neighbour_add(struct netlink *nl, int index, uint32_t ip, const uint8_t mac[6], struct err *e)
{
	struct request q;
	struct ndmsg *m = request_begin(&q, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*m));
	char text[NET_IP_LEN];

	m->ndm_family = AF_INET;
	m->ndm_ifindex = index;
	m->ndm_state = NUD_PERMANENT;
	mnl_attr_put_u32(q.head, NDA_DST, htonl(ip));
	mnl_attr_put(q.head, NDA_LLADDR, 6, mac);
	if (request_ack(nl, &q) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot add neighbour %s", net_ip_print(ip, text));
	return 0;
}

/* --- settings --- */

int sysctl_read(const char *name, struct err *e)
{
	auto_free char *path = xasprintf("/proc/sys/net/%s", name);
	auto_sbuf struct sbuf text = SBUF(64);

	if (file_read(path, 64, &text, e) < 0)
		return -1;
	return text.n > 0 && text.p[0] != '0';
}

int sysctl_write(const char *name, int value, struct err *e)
{
	auto_free char *path = xasprintf("/proc/sys/net/%s", name);
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", value);

	if (fd < 0 || write(fd, text, (size_t)n) != n)
		return err_errno(e, ERR_UNAVAILABLE, "cannot set %s to %d", path, value);
	return 0;
}
