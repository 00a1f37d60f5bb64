// SPDX-License-Identifier: Apache-2.0
#include "node/net_link.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

/* Asks for all links on the socket and reads nothing of the answer. */
static void leave_answers(int fd)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg body;
	} ask = { .head = { .nlmsg_len = sizeof(ask),
			    .nlmsg_type = RTM_GETLINK,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
			    .nlmsg_seq = 4711 } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	CHECK_INT(sendto(fd, &ask, sizeof(ask), 0, (struct sockaddr *)&kernel, sizeof(kernel)), sizeof(ask));
}

TEST("net link: what a request that failed left unread does not confuse the next")
{
	struct err e = ERR_INIT;
	struct netlink *nl;
	struct link l;
	int fd = dup(0);

	close(fd); /* the next descriptor has this number */
	CHECK_INT(netlink_open(NULL, &nl, &e), 0);
	leave_answers(fd);
	CHECK(link_find(nl, "lo", &l));
	CHECK_STR(l.name, "lo");
	leave_answers(fd);
	CHECK(!link_find(nl, "no-such-link", &l));
	CHECK(link_find(nl, "lo", &l));
	netlink_close(nl);
}
