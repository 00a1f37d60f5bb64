// SPDX-License-Identifier: Apache-2.0
/* hands.h - a node for the tests of exec, attach, port-forward and proxy: it writes down what it is asked, the test
 * plays the container, and its ports are socket pairs */
#ifndef STOKER_TEST_HANDS_H
#define STOKER_TEST_HANDS_H

#include "../loop/ws_client.h"
#include "front.h"
#include "loop/kubelet.h"

#define PODS "/api/v1/namespaces/default/pods"

#define HANDS __attribute__((unused)) static

struct kubelet_session {
	struct kubelet_session_handlers h;
};

struct hands_node {
	struct kubelet base;
	struct kubelet_session session;
	bool open;
	struct sbuf asked;    /* "exec one/c [ls,-l] io; " and what follows */
	struct err fails;     /* what exec and attach say */
	size_t input_pending; /* what it claims */
	int port[8];          /* far ends of dialled ports */
	size_t nports;
};

static struct hands_node *node_of(struct kubelet_session *s)
{
	return (struct hands_node *)((char *)s - offsetof(struct hands_node, session));
}

static int hands_open(struct kubelet *k, const char *what, const struct kubelet_exec_request *q,
		      const struct kubelet_session_handlers *h, struct kubelet_session **ret, struct err *e)
{
	struct hands_node *n = (struct hands_node *)k;
	auto_free char *words = json_dumps(q->command, JSON_COMPACT | JSON_ENCODE_ANY);

	if (n->fails.kind != ERR_NONE) {
		*e = n->fails;
		return -1;
	}
	sbuf_addf(&n->asked, "%s %s/%s %s %s%s%s%s; ", what, q->of.pod, q->of.container, words, q->in ? "i" : "",
		  q->out ? "o" : "", q->err ? "e" : "", q->tty ? "t" : "");
	CHECK(q->of.uid && *q->of.uid);
	CHECK_STR(q->of.ns, "default");
	n->session.h = *h;
	n->open = true;
	*ret = &n->session;
	return 0;
}

static int hands_exec(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		      struct kubelet_session **ret, struct err *e)
{
	return hands_open(k, "exec", q, h, ret, e);
}

static int hands_attach(struct kubelet *k, const struct kubelet_exec_request *q,
			const struct kubelet_session_handlers *h, struct kubelet_session **ret, struct err *e)
{
	return hands_open(k, "attach", q, h, ret, e);
}

static void hands_input(struct kubelet_session *s, struct str bytes)
{
	sbuf_addf(&node_of(s)->asked, "in %.*s; ", STR_FMT(bytes));
}

static size_t hands_input_pending(const struct kubelet_session *s)
{
	return node_of((struct kubelet_session *)(uintptr_t)s)->input_pending;
}

static void hands_input_end(struct kubelet_session *s)
{
	sbuf_adds(&node_of(s)->asked, "end; ");
}

static void hands_resize(struct kubelet_session *s, int rows, int cols)
{
	sbuf_addf(&node_of(s)->asked, "%dx%d; ", rows, cols);
}

static void hands_pause(struct kubelet_session *s, bool paused)
{
	sbuf_adds(&node_of(s)->asked, paused ? "pause; " : "resume; ");
}

static void hands_close(struct kubelet_session *s)
{
	sbuf_adds(&node_of(s)->asked, "close; ");
	node_of(s)->open = false;
}

static int hands_dial(struct kubelet *k, const struct kubelet_target *of, int port, struct err *e)
{
	struct hands_node *n = (struct hands_node *)k;
	int pair[2];

	if (port == 1)
		return err_set(e, ERR_UNAVAILABLE, "nobody there");
	sbuf_addf(&n->asked, "dial %s/%s %d; ", of->pod, of->container, port);
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	n->port[n->nports++] = pair[0];
	return pair[1];
}

static const struct kubelet_ops hands_ops = {
	.exec = hands_exec,
	.attach = hands_attach,
	.input = hands_input,
	.input_pending = hands_input_pending,
	.input_end = hands_input_end,
	.resize = hands_resize,
	.pause = hands_pause,
	.close = hands_close,
	.dial = hands_dial,
};

HANDS void hands_ended(struct hands_node *n, int code)
{
	struct err none = ERR_INIT;

	n->open = false;
	n->session.h.ended(n->session.h.arg, code, &none);
}

/* A pod with the containers a and b, of which a runs, in this phase. */
static void hands_pod(struct front *f, const char *name, const char *node, const char *phase)
{
	auto_free char *pod = xasprintf("{'metadata':{'name':'%s'},'spec':{%s'containers':[{'name':'a','image':'host','"
					"ports':[{'containerPort':8080},"
					"{'name':'admin','containerPort':9090}]},{'name':'b','image':'host'}]}}",
					name, node);
	auto_free char *path = xasprintf("PATCH " PODS "/%s/status", name);
	auto_free char *status = xasprintf(
		"{'status':{'phase':'%s','podIP':'10.1.2.3','containerStatuses':[{'name':'a','image':'host',"
		"'imageID':'','ready':true,'restartCount':0,'state':{'running':{}}},{'name':'b','image':'host',"
		"'imageID':'','ready':false,'restartCount':0,'state':{'waiting':{}}}]}}",
		phase);

	server_do(&f->s, VERB_CREATE, "v1/pods", "default", NULL, pod);
	CHECK_INT(front_ask(f, path, "Content-Type: application/merge-patch+json\r\n", status), 200);
}

static void hands_init(struct hands_node *n, struct front *f)
{
	*n = (struct hands_node){ .base = { .ops = &hands_ops }, .asked = SBUF(1 << 20) };
	rest_set_kubelet(f->rest, &n->base);
	hands_pod(f, "one", "'nodeName':'n',", "Running");
	hands_pod(f, "done", "'nodeName':'n',", "Succeeded");
	hands_pod(f, "homeless", "", "Pending");
}

static void hands_done(struct hands_node *n, struct front *f)
{
	front_done(f);
	CHECK(!n->open);
	for (size_t i = 0; i < n->nports; i++)
		close(n->port[i]);
	sbuf_done(&n->asked);
}

/* Turns until the node has been asked so much. */
HANDS void hands_hear(struct front *f, const struct hands_node *n, const char *want)
{
	for (int i = 0; i < 500 && n->asked.n < strlen(want); i++)
		front_turn(f);
	CHECK_STR(n->asked.p, want);
}

/* Byte by byte, for what follows is not for here. */
HANDS void hands_read_head(struct front *f, int fd)
{
	char c;

	for (int i = 0; i < 2000 && (!f->body.p || !strstr(f->body.p, "\r\n\r\n")); i++) {
		if (recv(fd, &c, 1, MSG_DONTWAIT) == 1)
			sbuf_addc(&f->body, c);
		else
			front_turn(f);
	}
}

/* Upgrades to a WebSocket; the head of the reply is left in f->head. */
HANDS int hands_open_ws(struct front *f, const char *line, const char *protocol)
{
	auto_free char *request =
		xasprintf("%s HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\n" WS_HEAD "Sec-WebSocket-Protocol: %s\r\n\r\n",
			  line, protocol);
	int fd = front_connect(f);

	sbuf_reset(&f->body);
	front_send(f, fd, request, strlen(request));
	hands_read_head(f, fd);
	front_cut(f);
	return fd;
}

HANDS void hands_send(struct front *f, int fd, struct str message)
{
	auto_sbuf struct sbuf out = SBUF(1 << 20);

	ws_frame(&out, 0x82, message);
	front_send(f, fd, out.p, out.n);
}

/* Frames in words, see ws_read(). */
HANDS void hands_expect(struct front *f, int fd, const char *want)
{
	char all[16384];
	size_t n = 0;
	auto_sbuf struct sbuf words = SBUF(1 << 16);

	for (int quiet = 0; quiet < 50 && n < sizeof(all); quiet++) {
		ssize_t got;

		front_turn(f);
		got = recv(fd, all + n, sizeof(all) - n, MSG_DONTWAIT);
		if (got > 0)
			n += (size_t)got;
	}
	ws_read((struct str){ all, n }, &words);
	CHECK_STR(words.p ? words.p : "", want);
}

#endif
