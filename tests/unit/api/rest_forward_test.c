// SPDX-License-Identifier: Apache-2.0
#include "hands.h"

TEST("a port of a pod is reached through its node")
{
	struct front f = front_new();
	struct hands_node n;
	char text[16] = { 0 };
	int fd;

	hands_init(&n, &f);
	fd = hands_open_ws(&f, "GET " PODS "/one/portforward?ports=8080,1&ports=9090", "v4.channel.k8s.io");
	CHECK_INT(f.code, 101);
	hands_hear(&f, &n, "dial one/a 9090; dial one/a 8080; ");
	hands_send(&f, fd, (struct str){ "\0hello", 6 });
	for (int i = 0; i < 100 && recv(n.port[1], text, sizeof(text), MSG_DONTWAIT) < 0; i++)
		front_turn(&f);
	CHECK_STR(text, "hello");
	CHECK_INT(send(n.port[0], "answer", 6, 0), 6);
	hands_expect(&f, fd,
		     "82:\\0\\144\\31; 82:\\1\\144\\31; 82:\\2\\1\\0; 82:\\3\\1\\0; 82:\\4\\130#; 82:\\5\\130#; "
		     "82:\\3error forwarding port 1 to pod: nobody there; 82:\\4answer; ");
	close(fd);
	hands_done(&n, &f);
}

TEST("ports that cannot be forwarded are refused before the connection leaves HTTP")
{
	static const struct {
		const char *what;
		int code;
		const char *want;
	} rows[] = {
		{ "one/portforward?ports=x", 400, "unable to parse \"x\" as a port" },
		{ "one/portforward?ports=80,0", 400, "port 0 must be 1 to 65535" },
		{ "homeless/portforward", 400, "pod homeless does not have a host assigned" },
		{ "done/portforward", 400,
		  "unable to forward port because pod is not running. Current status=Succeeded" },
		{ "none/portforward", 404, "pods \"none\" not found" },
		{ "one/portforward", 400, "Upgrade request required" },
	};
	struct front f = front_new();
	struct hands_node n;

	hands_init(&n, &f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("POST " PODS "/%s", rows[i].what);
		json_auto_t *status = NULL;

		CHECK_INT(front_ask(&f, line, "", NULL), rows[i].code);
		status = front_json(&f);
		CHECK_STR(jsonx_str(status, "message"), rows[i].want);
	}
	hands_done(&n, &f);
}
