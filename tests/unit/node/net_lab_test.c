// SPDX-License-Identifier: Apache-2.0
/* net_lab_test.c - namespaces, servers and clients for the network tests; see net_lab.h */
#include "node/net_lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define TEXT_MAX   (256 * 1024)
#define PATIENCE_S 5

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

static void shell(const char *command)
{
	if (system(command) != 0)
		test_fail(__FILE__, __LINE__, "command failed: %s", command);
}

void lab_enter(struct lab *lab)
{
	static int number;

	memset(lab, 0, sizeof(*lab));
	snprintf(lab->dir, sizeof(lab->dir), "%s/lab%d", test_dir(), number++);
	mkdir(lab->dir, 0700);
	lab->home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (lab->home < 0 || unshare(CLONE_NEWNET) < 0)
		die("these tests need root and network namespaces");
	shell("ip link set lo up");
	lab->loop = loop_new();
}

void lab_leave(struct lab *lab)
{
	size_t i;

	for (i = 0; i < lab->nchildren; i++) {
		kill(lab->children[i], SIGKILL);
		waitpid(lab->children[i], NULL, 0);
	}
	for (i = 0; i < LAB_PODS; i++)
		if (lab->pods[i].ns[0])
			close(lab->pods[i].fd);
	loop_free(lab->loop);
	if (setns(lab->home, CLONE_NEWNET) < 0)
		die("cannot go home");
	close(lab->home);
}

bool lab_open(struct lab *lab, const char *prefix)
{
	auto_free char *resolv = xasprintf("%s/resolv.conf", lab->dir);
	struct net_config config = { .prefix = prefix,
				     .pod_cidr = "10.244.0.0/16",
				     .service_cidr = "10.96.0.0/12",
				     .dir = lab->dir,
				     .domain = "cluster.local",
				     .api_host = "127.0.0.1",
				     .api_port = 6443,
				     .resolv_conf = resolv };
	struct err e = ERR_INIT;

	if (net_open(lab->loop, &config, &lab->net, &e) < 0) {
		test_fail(__FILE__, __LINE__, "%s", e.text);
		return false;
	}
	return true;
}

/* A namespace is made by going there and back; a descriptor keeps it, so that nothing is left even after a crash. */
void lab_namespace(struct lab *lab, int i)
{
	struct lab_pod *p = &lab->pods[i];
	auto_close int here = -1;

	if (p->ns[0])
		return;
	here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (here < 0 || unshare(CLONE_NEWNET) < 0)
		die("namespace");
	p->fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (p->fd < 0 || setns(here, CLONE_NEWNET) < 0)
		die("namespace");
	snprintf(p->ns, sizeof(p->ns), "/proc/%d/fd/%d", (int)getpid(), p->fd);
	snprintf(p->uid, sizeof(p->uid), "uid-%d", i);
}

bool lab_pod(struct lab *lab, int i)
{
	struct lab_pod *p = &lab->pods[i];
	struct err e = ERR_INIT;

	lab_namespace(lab, i);
	if (net_attach(lab->net, p->uid, p->ns, p->ip, sizeof(p->ip), &e) < 0) {
		test_fail(__FILE__, __LINE__, "%s", e.text);
		return false;
	}
	return true;
}

static void enter_pod(struct lab *lab, int pod)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	if (pod < 0)
		return;
	fd = open(lab->pods[pod].ns, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		die("enter pod");
	close(fd);
}

/* --- servers --- */

static void bind_to(int fd, const char *ip, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int on = 1;

	inet_pton(AF_INET, ip, &a.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("bind");
}

static void answer(int fd, const struct sockaddr_in *peer, const char *word)
{
	char ip[16];

	inet_ntop(AF_INET, &peer->sin_addr, ip, sizeof(ip));
	if (strcmp(word, "peer") == 0)
		word = ip;
	(void)!sendto(fd, word, strlen(word), MSG_NOSIGNAL, (const struct sockaddr *)peer, sizeof(*peer));
}

static void server(const char *ip, int port, const char *word, int ready)
{
	struct pollfd p[2] = { { socket(AF_INET, SOCK_STREAM, 0), POLLIN, 0 },
			       { socket(AF_INET, SOCK_DGRAM, 0), POLLIN, 0 } };

	bind_to(p[0].fd, ip, port);
	bind_to(p[1].fd, ip, port);
	listen(p[0].fd, 128);
	(void)!write(ready, "r", 1);
	for (;;) {
		struct sockaddr_in peer = { 0 };
		socklen_t len = sizeof(peer);
		char buf[64];

		poll(p, 2, -1);
		if (p[0].revents) {
			int c = accept(p[0].fd, (struct sockaddr *)&peer, &len);

			answer(c, &peer, word);
			close(c);
		} else if (recvfrom(p[1].fd, buf, sizeof(buf), 0, (struct sockaddr *)&peer, &len) >= 0) {
			answer(p[1].fd, &peer, word);
		}
	}
}

void lab_serve(struct lab *lab, int pod, const char *ip, int port, const char *word)
{
	int ready[2];
	char c;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		enter_pod(lab, pod);
		server(ip, port, word, ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		test_fail(__FILE__, __LINE__, "a server did not start");
	close(ready[0]);
	lab->children[lab->nchildren++] = pid;
}

/* --- clients --- */

struct lab_call {
	int fd;
	struct sbuf text;
	bool done;
};

static void on_output(void *arg, bool readable, bool writable)
{
	struct lab_call *c = arg;
	char buf[4096];
	ssize_t n = read(c->fd, buf, sizeof(buf));

	(void)readable;
	(void)writable;
	if (n > 0)
		sbuf_add(&c->text, buf, (size_t)n);
	else
		c->done = true;
}

const char *lab_do(struct lab *lab, int pod, void (*fn)(void *arg, struct sbuf *out), void *arg)
{
	static char text[TEXT_MAX];
	struct lab_call c = { .text = SBUF(TEXT_MAX - 1) };
	struct loop_fd *watch;
	struct str trimmed;
	int out[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		struct sbuf said = SBUF(TEXT_MAX);

		enter_pod(lab, pod);
		fn(arg, &said);
		(void)!write(out[1], said.p ? said.p : "", said.n);
		_exit(0);
	}
	close(out[1]);
	c.fd = out[0];
	watch = loop_fd_new(lab->loop, c.fd, true, false, on_output, &c);
	while (!c.done)
		loop_turn(lab->loop, false);
	loop_fd_free(watch);
	close(out[0]);
	waitpid(pid, NULL, 0);
	trimmed = str_trim(sbuf_str(&c.text));
	snprintf(text, sizeof(text), "%.*s", STR_FMT(trimmed));
	sbuf_done(&c.text);
	return text;
}

struct target {
	const char *ip;
	int port;
	int type;
	int from;
};

static const char *why(int error)
{
	static const struct {
		int error;
		const char *word;
	} words[] = {
		{ ECONNREFUSED, "refused" },    { EHOSTUNREACH, "prohibited" }, { EACCES, "prohibited" },
		{ ENETUNREACH, "unreachable" }, { EAGAIN, "timeout" },          { EINPROGRESS, "timeout" },
		{ ETIMEDOUT, "timeout" },       { ECONNRESET, "reset" },        { EPERM, "prohibited" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].error == error)
			return words[i].word;
	return strerror(error);
}

static void ask(void *arg, struct sbuf *out)
{
	const struct target *t = arg;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)t->port) };
	struct timeval patience = { PATIENCE_S, 0 };
	int fd = socket(AF_INET, t->type, 0);
	char buf[256];
	ssize_t n;

	inet_pton(AF_INET, t->ip, &a.sin_addr);
	if (t->from)
		bind_to(fd, "0.0.0.0", t->from);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || (t->type == SOCK_DGRAM && send(fd, "q", 1, 0) < 0)) {
		sbuf_adds(out, why(errno));
		return;
	}
	n = recv(fd, buf, sizeof(buf), 0);
	if (n < 0)
		sbuf_adds(out, why(errno));
	else
		sbuf_add(out, buf, (size_t)n);
}

const char *lab_ask(struct lab *lab, int pod, const char *ip, int port)
{
	return lab_do(lab, pod, ask, &(struct target){ ip, port, SOCK_STREAM, 0 });
}

const char *lab_ask_udp(struct lab *lab, int pod, const char *ip, int port)
{
	return lab_ask_udp_from(lab, pod, 0, ip, port);
}

const char *lab_ask_udp_from(struct lab *lab, int pod, int from, const char *ip, int port)
{
	return lab_do(lab, pod, ask, &(struct target){ ip, port, SOCK_DGRAM, from });
}

static void run_shell(void *arg, struct sbuf *out)
{
	FILE *f = popen(arg, "r");
	char buf[4096];
	size_t n;

	while (f && (n = fread(buf, 1, sizeof(buf), f)) > 0)
		sbuf_add(out, buf, n);
	if (f)
		pclose(f);
}

const char *lab_shell(struct lab *lab, int pod, const char *command)
{
	return lab_do(lab, pod, run_shell, (void *)command);
}

json_t *lab_json(const char *fmt, ...)
{
	auto_free char *text = NULL;
	struct err e = ERR_INIT;
	json_t *doc = NULL;
	va_list ap;
	char *c;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	for (c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	if (jsonx_parse(text, strlen(text), NULL, NULL, &doc, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s in %s", e.text, text);
	return doc;
}
