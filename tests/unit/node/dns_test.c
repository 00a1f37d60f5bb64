// SPDX-License-Identifier: Apache-2.0
/* dns_test.c - the DNS server as pods see it, over UDP and TCP, with a nameserver behind it that the test plays */
#include "node/dns.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "node/dns_text.h"
#include "node/net_lab.h"
#include "test.h"

#define PREFIX "0a1b2c3d"
#define D      "svc.cluster.local"

struct lookup {
	const char *name;
	uint16_t type;
	bool tcp;
};

static size_t exchange(int fd, bool tcp, uint8_t *query, size_t n, uint8_t *reply)
{
	uint8_t length[2] = { (uint8_t)(n >> 8), (uint8_t)n };
	ssize_t got;

	if (tcp && send(fd, length, 2, MSG_NOSIGNAL) != 2)
		return 0;
	if (send(fd, query, n, MSG_NOSIGNAL) != (ssize_t)n)
		return 0;
	if (tcp && recv(fd, length, 2, MSG_WAITALL) != 2)
		return 0;
	got = tcp ? recv(fd, reply, (size_t)length[0] << 8 | length[1], MSG_WAITALL) : recv(fd, reply, DNS_WIRE_MAX, 0);
	return got > 0 ? (size_t)got : 0;
}

static void look_up(void *arg, struct sbuf *out)
{
	const struct lookup *l = arg;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct timeval patience = { 8, 0 };
	int fd = socket(AF_INET, l->tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	static uint8_t reply[DNS_WIRE_MAX];
	uint8_t query[512];
	size_t n = dns_write_query(query, sizeof(query), 0x4242, l->name, l->type);

	inet_pton(AF_INET, "10.244.0.1", &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		sbuf_adds(out, "no connection");
		return;
	}
	n = exchange(fd, l->tcp, query, n, reply);
	if (n >= 2 && (reply[0] != 0x42 || reply[1] != 0x42))
		sbuf_adds(out, "wrong id ");
	dns_text(reply, n, out);
}

static const char *resolve(struct lab *lab, const char *name, uint16_t type, bool tcp)
{
	return lab_do(lab, 0, look_up, &(struct lookup){ name, type, tcp });
}

static bool open_lab(struct lab *lab, const char *resolv)
{
	auto_free char *path = NULL;
	struct err e = ERR_INIT;
	json_auto_t *services = NULL;
	auto_sbuf struct sbuf many = SBUF(16384);
	int i;

	lab_enter(lab);
	path = xasprintf("%s/resolv.conf", lab->dir);
	CHECK_INT(file_write(path, 0644, str_of(resolv), &e), 0);
	if (!lab_open(lab, PREFIX) || !lab_pod(lab, 0))
		return false;
	for (i = 0; i < 100; i++)
		sbuf_addf(&many, "%s{'ip':'10.244.7.%d'}", i ? "," : "", i + 1);
	services = lab_json("[{'name':'web','namespace':'default','clusterIP':'10.96.0.10'},"
			    "{'name':'out','namespace':'default','type':'ExternalName','externalName':'ext.example'},"
			    "{'name':'many','namespace':'default','clusterIP':'None','endpoints':[%s]}]",
			    many.p);
	CHECK_INT(net_sync_services(lab->net, services, &e), 0);
	return true;
}

static void close_lab(struct lab *lab)
{
	net_free(lab->net, true);
	lab_leave(lab);
}

TEST("services resolve from a pod over UDP and TCP, and what is too long for UDP comes by TCP")
{
	struct lab lab;
	int tcp;

	if (open_lab(&lab, "")) {
		for (tcp = 0; tcp < 2; tcp++) {
			CHECK_STR(resolve(&lab, "web.default." D, DNS_A, tcp), "NOERROR aa A 10.96.0.10");
			CHECK_STR(resolve(&lab, "WEB.default." D, DNS_A, tcp), "NOERROR aa A 10.96.0.10");
			CHECK_STR(resolve(&lab, "web.default." D, DNS_AAAA, tcp), "NOERROR aa");
			CHECK_STR(resolve(&lab, "kubernetes.default." D, DNS_A, tcp), "NOERROR aa A 10.96.0.1");
			CHECK_STR(resolve(&lab, "no.default." D, DNS_A, tcp), "NXDOMAIN aa");
		}
		CHECK(strstr(resolve(&lab, "many.default." D, DNS_A, false), "NOERROR aa tc A 10.244.7."));
		CHECK_INT(strlen(resolve(&lab, "many.default." D, DNS_A, true)),
			  strlen("NOERROR aa") + 9 * 13 + 90 * 14 + 15);
	}
	close_lab(&lab);
}

TEST("with no nameserver other names fail at once")
{
	struct lab lab;
	int64_t start;

	if (open_lab(&lab, "# nothing\nsearch example\n")) {
		start = clock_mono_ms();
		CHECK_STR(resolve(&lab, "example.org", DNS_A, false), "SERVFAIL");
		CHECK_STR(resolve(&lab, "example.org", DNS_A, true), "SERVFAIL");
		CHECK(clock_mono_ms() - start < 5000);
	}
	close_lab(&lab);
}

/* Answers any question with one address, and counts in it how many there were. */
static void nameserver(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(53),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint32_t count = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		_exit(9);
	for (;;) {
		uint8_t query[512];
		uint8_t reply[512];
		struct dns_question q;
		struct dns_reply w;
		struct sockaddr_in peer;
		socklen_t len = sizeof(peer);
		ssize_t n = recvfrom(fd, query, sizeof(query), 0, (struct sockaddr *)&peer, &len);

		if (n < 0 || dns_parse_query(query, (size_t)n, &q) != 0)
			continue;
		dns_reply_begin(&w, reply, sizeof(reply), query, &q);
		dns_reply_add(
			&w, DNS_ANSWER,
			&(struct dns_record){ .name = q.name, .type = DNS_A, .ttl = 60, .ip = 0xc0000200 + ++count });
		sendto(fd, reply, dns_reply_end(&w, &q, DNS_NOERROR, false), 0, (struct sockaddr *)&peer, len);
	}
}

TEST("other names go to the host's nameserver, once, and a CNAME is followed there")
{
	struct lab lab;
	pid_t pid = -1;

	/* The first nameserver is not there; its silence costs a refusal, not an answer. */
	if (open_lab(&lab, "nameserver 127.0.0.9\nnameserver 127.0.0.1\n")) {
		pid = fork();
		if (pid == 0)
			nameserver();
		lab.children[lab.nchildren++] = pid;
		/* It may need a moment to listen; what came before that it has not counted. */
		for (int i = 0; i < 600 && streq(resolve(&lab, "example.org", DNS_A, false), "SERVFAIL"); i++)
			usleep(100000);
		CHECK_STR(resolve(&lab, "example.org", DNS_A, false), "NOERROR A 192.0.2.1");
		CHECK_STR(resolve(&lab, "EXAMPLE.org", DNS_A, true), "NOERROR A 192.0.2.1");
		CHECK_STR(resolve(&lab, "other.example", DNS_A, false), "NOERROR A 192.0.2.2");
		CHECK_STR(resolve(&lab, "out.default." D, DNS_A, false), "NOERROR CNAME ext.example A 192.0.2.3");
		/* This one speaks no TCP. */
		CHECK_STR(resolve(&lab, "third.example", DNS_A, true), "SERVFAIL");
	}
	close_lab(&lab);
}

TEST("another DNS server on every address of the host does not stop pods from using ours")
{
	struct lab lab;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(53) };
	int fd;
	struct err e = ERR_INIT;
	json_auto_t *none = json_array();

	lab_enter(&lab);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK_INT(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	if (lab_open(&lab, PREFIX) && lab_pod(&lab, 0)) {
		CHECK_INT(net_sync_services(lab.net, none, &e), 0);
		CHECK_STR(resolve(&lab, "kubernetes.default." D, DNS_A, false), "NOERROR aa A 10.96.0.1");
		CHECK_STR(resolve(&lab, "kubernetes.default." D, DNS_A, true), "NOERROR aa A 10.96.0.1");
	}
	close(fd);
	close_lab(&lab);
}
