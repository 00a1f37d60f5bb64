// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "hands.h"

#define EXEC PODS "/one/exec?command=sh&command=-c&command=echo+a%26b&container=a&stdin=1&stdout=true&stderr=true"

TEST("exec connects a client and a container, and says how it ended")
{
	struct front f = front_new();
	struct hands_node n;
	int fd;

	hands_init(&n, &f);
	fd = hands_open_ws(&f, "GET " EXEC, "v5.channel.k8s.io");
	CHECK_INT(f.code, 101);
	CHECK(strstr(f.head, "Sec-WebSocket-Protocol: v5.channel.k8s.io"));
	hands_hear(&f, &n, "exec one/a [\"sh\",\"-c\",\"echo a&b\"] ioe; ");
	hands_send(&f, fd, (struct str){ "\0hello", 6 });
	hands_send(&f, fd, (struct str){ "\xff\0", 2 });
	hands_hear(&f, &n, "exec one/a [\"sh\",\"-c\",\"echo a&b\"] ioe; in hello; end; ");
	n.session.h.output(n.session.h.arg, 1, STR("out"));
	n.session.h.output(n.session.h.arg, 2, STR("err"));
	hands_ended(&n, 0);
	hands_expect(&f, fd,
		     "82:\\1; 82:\\1out; 82:\\2err; 82:\\3{\"metadata\":{},\"status\":\"Success\"}; 88:\\3\\232; ");
	close(fd);
	hands_done(&n, &f);
}

TEST("attach has a terminal, no command, and leaves the container when the client goes")
{
	struct front f = front_new();
	struct hands_node n;
	int fd;

	hands_init(&n, &f);
	fd = hands_open_ws(&f, "POST " PODS "/one/attach?container=a&stdin=true&stdout=true&stderr=true&tty=true",
			   "v4.channel.k8s.io");
	CHECK_INT(f.code, 101);
	hands_send(&f, fd, STR("\4{\"Width\":80,\"Height\":24}"));
	hands_hear(&f, &n, "attach one/a [] iot; 24x80; ");
	close(fd);
	hands_hear(&f, &n, "attach one/a [] iot; 24x80; close; ");
	CHECK(!n.open);
	hands_done(&n, &f);
}

TEST("what cannot be done is said in Kubernetes' words before the connection leaves HTTP")
{
	static const struct {
		const char *what;
		int code;
		const char *want;
	} rows[] = {
		{ "one/exec?command=ls&container=a", 400, "you must specify at least 1 of stdin, stdout, stderr" },
		{ "one/exec?container=a&stdout=1", 400, "you must specify at least one command for the container" },
		{ "one/exec?command=ls&stdout=1", 400,
		  "a container name must be specified for pod one, choose one of: [a b]" },
		{ "one/exec?command=ls&stdout=1&container=x", 400, "container x is not valid for pod one" },
		{ "one/exec?command=ls&stdout=1&container=b", 404, "container not found (\"b\")" },
		{ "done/exec?command=ls&stdout=1&container=a", 400,
		  "cannot exec into a container in a completed pod; current phase is Succeeded" },
		{ "done/attach?stdout=1&container=a", 400,
		  "cannot attach a container in a completed pod; current phase is Succeeded" },
		{ "homeless/exec?command=ls&stdout=1&container=a", 400, "pod homeless does not have a host assigned" },
		{ "none/exec?command=ls&stdout=1&container=a", 404, "pods \"none\" not found" },
		{ "one/exec?command=ls&stdout=1&container=a", 400, "Upgrade request required" },
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
		CHECK_STR(jsonx_str(status, "kind"), "Status");
	}
	rest_set_kubelet(f.rest, NULL);
	CHECK_INT(front_ask(&f, "POST " EXEC, "", NULL), 503);
	CHECK(!n.asked.p);
	hands_done(&n, &f);
}

TEST("a command that cannot start is told on the error channel")
{
	struct front f = front_new();
	struct hands_node n;
	int fd;

	hands_init(&n, &f);
	err_set(&n.fails, ERR_NOT_FOUND, "container not found (\"a\")");
	fd = hands_open_ws(&f, "GET " EXEC, "v4.channel.k8s.io");
	hands_expect(&f, fd,
		     "82:\\1; 82:\\3{\"metadata\":{},\"status\":\"Failure\",\"message\":\"container not found "
		     "(\\\"a\\\")\",\"reason\":"
		     "\"InternalError\",\"details\":{\"causes\":[{\"message\":\"container not found "
		     "(\\\"a\\\")\"}]},\"code\":500}; "
		     "88:\\3\\232; ");
	close(fd);
	hands_done(&n, &f);
}

TEST("a slow client stops the container's output, a slow container its client's input")
{
	static char much[512 << 10];
	struct front f = front_new();
	struct hands_node n;
	int fd;

	hands_init(&n, &f);
	fd = hands_open_ws(&f, "GET " EXEC, "v5.channel.k8s.io");
	hands_hear(&f, &n, "exec one/a [\"sh\",\"-c\",\"echo a&b\"] ioe; ");
	sbuf_reset(&n.asked);
	n.session.h.output(n.session.h.arg, 1, (struct str){ much, sizeof(much) });
	CHECK_STR(n.asked.p, "pause; ");
	for (int i = 0; i < 2000 && n.asked.n < 8; i++) {
		recv(fd, much, sizeof(much), MSG_DONTWAIT);
		front_turn(&f);
	}
	CHECK_STR(n.asked.p, "pause; resume; ");
	n.input_pending = 1 << 20;
	sbuf_reset(&n.asked);
	hands_send(&f, fd, (struct str){ "\0one", 4 });
	hands_hear(&f, &n, "in one; ");
	hands_send(&f, fd, (struct str){ "\0two", 4 });
	for (int i = 0; i < 50; i++)
		front_turn(&f);
	CHECK_STR(n.asked.p, "in one; ");
	n.input_pending = 0;
	n.session.h.drained(n.session.h.arg);
	hands_hear(&f, &n, "in one; in two; ");
	close(fd);
	hands_hear(&f, &n, "in one; in two; close; ");
	hands_done(&n, &f);
}

TEST("reaching into a pod is audited, also when it is refused")
{
	struct front f = front_new();
	struct hands_node n;
	auto_free char *path = xasprintf("%s/audit.log", f.s.dir);
	auto_sbuf struct sbuf log = SBUF(1 << 20);
	struct err e = ERR_INIT;
	int fd;

	hands_init(&n, &f);
	fd = hands_open_ws(&f, "GET " EXEC, "v5.channel.k8s.io");
	CHECK_INT(front_ask(&f, "GET " PODS "/one/exec", "", NULL), 400);
	close(fd);
	front_turn(&f);
	front_turn(&f);
	CHECK_INT(file_read(path, 1 << 20, &log, &e), 0);
	CHECK(strstr(log.p,
		     "\"verb\":\"get\",\"version\":\"v1\",\"resource\":\"pods\",\"subresource\":\"exec\",\"namespace\":"
		     "\"default\",\"name\":\"one\",\"code\":101,\"address\":\"unix\",\"userAgent\":\"test\""));
	CHECK(strstr(log.p, "\"subresource\":\"exec\",\"namespace\":\"default\",\"name\":\"one\",\"code\":400,"));
	hands_done(&n, &f);
}

TEST("a server that ends lets go of the containers its clients had in hand")
{
	struct front f = front_new();
	struct hands_node n;
	int fd;

	hands_init(&n, &f);
	fd = hands_open_ws(&f, "GET " EXEC, "v5.channel.k8s.io");
	hands_hear(&f, &n, "exec one/a [\"sh\",\"-c\",\"echo a&b\"] ioe; ");
	hands_done(&n, &f);
	close(fd);
}
