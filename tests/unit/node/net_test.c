// SPDX-License-Identifier: Apache-2.0
/* net_test.c - pods with addresses, services and walls between them, in namespaces of their own */
#include "node/net.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/net_lab.h"
#include "node/net_nft.h"
#include "test.h"

#define PREFIX "0a1b2c3d"

static void sync_to(struct lab *lab, json_t *services)
{
	struct err e = ERR_INIT;

	if (net_sync_services(lab->net, services, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	json_decref(services);
}

static void isolate(struct lab *lab, json_t *groups)
{
	struct err e = ERR_INIT;

	if (net_sync_isolation(lab->net, groups, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	json_decref(groups);
}

/* "web" at 10.96.0.10:80 and NodePort 30080, over pods 1 to n. */
static json_t *web_service(struct lab *lab, int n, const char *more)
{
	auto_sbuf struct sbuf endpoints = SBUF(4096);
	int i;

	for (i = 1; i <= n; i++)
		sbuf_addf(&endpoints, "%s{'ip':'%s','ready':true,'ports':{'http':8080}}", i > 1 ? "," : "",
			  lab->pods[i].ip);
	return lab_json("[{'name':'web','namespace':'default','type':'NodePort','clusterIP':'10.96.0.10',"
			"'ports':[{'name':'http','port':80,'protocol':'TCP','nodePort':30080},"
			"{'name':'http','port':80,'protocol':'UDP'}],'endpoints':[%s]%s}]",
			endpoints.p ? endpoints.p : "", more);
}

static char *host_state(struct lab *lab)
{
	return xstrdup(lab_shell(
		lab, -1,
		"ip -o link | sed 's/^[0-9]*: //' | sort; ip route show table all | sort; nft list ruleset; cat "
		"/proc/sys/net/ipv4/ip_forward; ls -A"));
}

TEST("pods reach each other and the host, and teardown leaves nothing")
{
	struct lab lab;
	auto_free char *before = NULL;
	auto_free char *after = NULL;

	lab_enter(&lab);
	before = host_state(&lab);
	if (lab_open(&lab, PREFIX) && lab_pod(&lab, 0) && lab_pod(&lab, 1)) {
		CHECK_STR(lab.pods[0].ip, "10.244.0.2");
		CHECK_STR(lab.pods[1].ip, "10.244.0.3");
		CHECK_STR(net_gateway(lab.net), "10.244.0.1");
		CHECK_STR(net_dns_address(lab.net), "10.244.0.1");
		lab_serve(&lab, 0, "0.0.0.0", 8080, "peer");
		lab_serve(&lab, -1, "0.0.0.0", 9090, "peer");
		CHECK_STR(lab_ask(&lab, 1, lab.pods[0].ip, 8080), lab.pods[1].ip);
		CHECK_STR(lab_ask_udp(&lab, 1, lab.pods[0].ip, 8080), lab.pods[1].ip);
		CHECK_STR(lab_ask(&lab, -1, lab.pods[0].ip, 8080), "10.244.0.1");
		CHECK_STR(lab_ask(&lab, 0, "10.244.0.1", 9090), lab.pods[0].ip);
		CHECK_STR(lab_shell(&lab, 1, "ping -c1 -W2 10.244.0.2 >/dev/null && echo pong"), "pong");
	}
	net_free(lab.net, true);
	after = host_state(&lab);
	CHECK_STR(after, before);
	lab_leave(&lab);
}

/* Slot 7 is the world: a machine on the host's other link, 192.168.77.0/24. */
static void make_world(struct lab *lab)
{
	auto_free char *text = NULL;

	lab_namespace(lab, 7);
	text = xasprintf(
		"ip link add up0 type veth peer name wan0; ip link set wan0 netns %s 2>&1;"
		"ip addr add 192.168.77.1/24 dev up0; ip link set up0 up;"
		"nsenter --net=%s sh -c 'ip link set lo up; ip addr add 192.168.77.2/24 dev wan0; ip link set wan0 up'",
		lab->pods[7].ns, lab->pods[7].ns);
	CHECK_STR(lab_shell(lab, -1, text), "");
	snprintf(lab->pods[7].ip, sizeof(lab->pods[7].ip), "192.168.77.2");
}

TEST("what leaves the pod network has the host's address")
{
	struct lab lab;

	lab_enter(&lab);
	make_world(&lab);
	if (lab_open(&lab, PREFIX) && lab_pod(&lab, 0)) {
		lab_serve(&lab, 7, "0.0.0.0", 8080, "peer");
		CHECK_STR(lab_ask(&lab, 0, "192.168.77.2", 8080), "192.168.77.1");
		CHECK_STR(lab_ask_udp(&lab, 0, "192.168.77.2", 8080), "192.168.77.1");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

/* Asks n times and counts the answers "1" to "4". */
static void spread(struct lab *lab, int pod, const char *ip, int port, int n, int counts[5])
{
	memset(counts, 0, 5 * sizeof(counts[0]));
	for (; n > 0; n--) {
		const char *word = lab_ask(lab, pod, ip, port);

		counts[word[0] >= '1' && word[0] <= '4' && !word[1] ? word[0] - '0' : 0]++;
	}
}

static bool open_with_web(struct lab *lab, int n)
{
	int i;

	if (!lab_open(lab, PREFIX) || !lab_pod(lab, 0))
		return false;
	for (i = 1; i <= n; i++) {
		char word[2] = { (char)('0' + i), 0 };

		if (!lab_pod(lab, i))
			return false;
		lab_serve(lab, i, "0.0.0.0", 8080, word);
	}
	sync_to(lab, web_service(lab, n, ""));
	return true;
}

TEST("a service leads to each of its endpoints, from pods, the host, loopback and beyond")
{
	struct lab lab;
	int counts[5];
	int i;

	lab_enter(&lab);
	make_world(&lab);
	if (open_with_web(&lab, 4)) {
		spread(&lab, 0, "10.96.0.10", 80, 100, counts);
		CHECK_INT(counts[0], 0);
		/* Each expects 25; below 6 comes once in a million. */
		for (i = 1; i <= 4; i++)
			CHECK(counts[i] >= 6);
		spread(&lab, -1, "10.96.0.10", 80, 8, counts);
		CHECK_INT(counts[0], 0);
		spread(&lab, -1, "127.0.0.1", 30080, 8, counts);
		CHECK_INT(counts[0], 0);
		spread(&lab, -1, "10.244.0.1", 30080, 4, counts);
		CHECK_INT(counts[0], 0);
		spread(&lab, 0, "10.244.0.1", 30080, 4, counts);
		CHECK_INT(counts[0], 0);
		spread(&lab, 7, "192.168.77.1", 30080, 4, counts);
		CHECK_INT(counts[0], 0);
		CHECK(strlen(lab_ask_udp(&lab, 0, "10.96.0.10", 80)) == 1);
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("a pod reaches itself through its service")
{
	struct lab lab;

	lab_enter(&lab);
	if (lab_open(&lab, PREFIX) && lab_pod(&lab, 0) && lab_pod(&lab, 1)) {
		lab_serve(&lab, 1, "0.0.0.0", 8080, "peer");
		sync_to(&lab, web_service(&lab, 1, ""));
		CHECK_STR(lab_ask(&lab, 1, "10.96.0.10", 80), "10.244.0.1");
		CHECK_STR(lab_ask_udp(&lab, 1, "10.96.0.10", 80), "10.244.0.1");
		/* Others are seen as who they are. */
		CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), lab.pods[0].ip);
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("a service without endpoints refuses at once, and endpoints that are not ready do not count")
{
	struct lab lab;

	lab_enter(&lab);
	if (open_with_web(&lab, 1)) {
		sync_to(&lab, web_service(&lab, 0, ""));
		CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), "refused");
		CHECK_STR(lab_ask_udp(&lab, 0, "10.96.0.10", 80), "refused");
		CHECK_STR(lab_ask(&lab, -1, "10.96.0.10", 80), "refused");
		CHECK_STR(lab_ask(&lab, -1, "127.0.0.1", 30080), "refused");
		CHECK_STR(lab_ask(&lab, 0, "10.96.7.7", 80), "refused");
		sync_to(&lab,
			lab_json("[{'name':'web','namespace':'default','clusterIP':'10.96.0.10','ports':[{'port':80}],"
				 "'endpoints':[{'ip':'%s','ready':false,'ports':{'':8080}}]}]",
				 lab.pods[1].ip));
		CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), "refused");
		sync_to(&lab,
			lab_json("[{'name':'web','namespace':'default','clusterIP':'10.96.0.10','ports':[{'port':80}],"
				 "'publishNotReadyAddresses':true,"
				 "'endpoints':[{'ip':'%s','ready':false,'ports':{'':8080}}]}]",
				 lab.pods[1].ip));
		CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), "1");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("with session affinity a client stays with its endpoint while other services change")
{
	struct lab lab;
	char first[8];
	int i;

	lab_enter(&lab);
	if (open_with_web(&lab, 4)) {
		const char *sticky = ",'sessionAffinity':'ClientIP'";

		sync_to(&lab, web_service(&lab, 4, sticky));
		snprintf(first, sizeof(first), "%s", lab_ask(&lab, 0, "10.96.0.10", 80));
		for (i = 0; i < 12; i++)
			CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), first);
		json_t *both = web_service(&lab, 4, sticky);
		json_array_append_new(both, lab_json("{'name':'b','namespace':'default','clusterIP':'10.96.0.11',"
						     "'ports':[{'port':80}],'endpoints':[{'ip':'10.244.0.3',"
						     "'ports':{'':8080}}]}"));
		sync_to(&lab, both);
		for (i = 0; i < 12; i++)
			CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), first);
		sync_to(&lab, web_service(&lab, 3, ""));
		CHECK(strlen(lab_ask(&lab, 0, "10.96.0.10", 80)) == 1);
		CHECK_STR(lab_ask(&lab, 0, "10.96.0.11", 80), "refused");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("kubernetes.default leads to the server on loopback, and nothing else of loopback is open to pods")
{
	struct lab lab;

	lab_enter(&lab);
	if (lab_open(&lab, PREFIX) && lab_pod(&lab, 0)) {
		lab_serve(&lab, -1, "127.0.0.1", 6443, "api");
		lab_serve(&lab, -1, "127.0.0.1", 5432, "secret");
		sync_to(&lab, json_array());
		CHECK_STR(lab_ask(&lab, 0, "10.96.0.1", 443), "api");
		CHECK_STR(lab_ask(&lab, -1, "10.96.0.1", 443), "api");
		/* A pod that may change its routes sends 127.0.0.1 out to the host. */
		lab_shell(&lab, 0,
			  "exec 2>/dev/null; ip link set lo down; ip addr del 127.0.0.1/8 dev lo; ip route del local "
			  "127.0.0.0/8 dev lo "
			  "table local;"
			  "ip route add 127.0.0.1 via 10.244.0.1 src 10.244.0.2; echo 1 "
			  ">/proc/sys/net/ipv4/conf/eth0/route_localnet");
		CHECK_STR(lab_ask(&lab, 0, "127.0.0.1", 5432), "timeout");
		CHECK_STR(lab_ask(&lab, 0, "10.244.0.1", 5432), "refused");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("host ports lead to their pod, and two pods cannot have the same")
{
	struct lab lab;
	struct err e = ERR_INIT;
	json_auto_t *ports = lab_json("[{'hostPort':8081,'containerPort':8080},{'hostPort':8082,'containerPort':8080,"
				      "'hostIP':'192.168.77.1'}]");
	json_auto_t *none = json_array();

	lab_enter(&lab);
	make_world(&lab);
	if (open_with_web(&lab, 2)) {
		CHECK_INT(net_publish(lab.net, "uid-1", lab.pods[1].ip, ports, &e), 0);
		CHECK_STR(lab_ask(&lab, 7, "192.168.77.1", 8081), "1");
		CHECK_STR(lab_ask(&lab, 7, "192.168.77.1", 8082), "1");
		CHECK_STR(lab_ask(&lab, -1, "127.0.0.1", 8081), "1");
		CHECK_STR(lab_ask(&lab, -1, "127.0.0.1", 8082), "refused");
		CHECK_STR(lab_ask(&lab, 2, "10.244.0.1", 8081), "1");
		CHECK_STR(lab_ask(&lab, 1, "10.244.0.1", 8081), "1");
		CHECK_INT(net_publish(lab.net, "uid-2", lab.pods[2].ip, ports, &e), -1);
		CHECK_INT(e.kind, ERR_CONFLICT);
		CHECK_INT(net_publish(lab.net, "uid-1", lab.pods[1].ip, none, &e), 0);
		CHECK_STR(lab_ask(&lab, -1, "127.0.0.1", 8081), "refused");
		CHECK_INT(net_publish(lab.net, "uid-2", lab.pods[2].ip, ports, &e), 0);
		CHECK_STR(lab_ask(&lab, -1, "127.0.0.1", 8081), "2");
		net_detach(lab.net, "uid-2");
		CHECK_STR(lab_ask(&lab, -1, "127.0.0.1", 8081), "refused");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("pods of different groups do not reach each other, not even through a service")
{
	struct lab lab;

	lab_enter(&lab);
	if (open_with_web(&lab, 1) && lab_pod(&lab, 2) && lab_pod(&lab, 3)) {
		lab_serve(&lab, 0, "0.0.0.0", 8080, "0");
		isolate(&lab, lab_json("{'%s':'ann','%s':'bob','%s':'bob','%s':''}", lab.pods[0].ip, lab.pods[1].ip,
				       lab.pods[2].ip, lab.pods[3].ip));
		CHECK_STR(lab_ask(&lab, 0, lab.pods[1].ip, 8080), "prohibited");
		CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), "prohibited");
		CHECK_STR(lab_ask(&lab, 0, "10.244.0.1", 30080), "prohibited");
		CHECK_STR(lab_ask(&lab, 2, lab.pods[1].ip, 8080), "1");
		CHECK_STR(lab_ask(&lab, 2, "10.96.0.10", 80), "1");
		CHECK_STR(lab_ask(&lab, 3, lab.pods[1].ip, 8080), "1");
		CHECK_STR(lab_ask(&lab, 3, lab.pods[0].ip, 8080), "0");
		CHECK_STR(lab_ask(&lab, -1, lab.pods[0].ip, 8080), "0");
		isolate(&lab, lab_json("{'%s':'bob','%s':'bob'}", lab.pods[0].ip, lab.pods[1].ip));
		CHECK_STR(lab_ask(&lab, 0, lab.pods[1].ip, 8080), "1");
		/* Nobody said whose pod 2 is. */
		CHECK_STR(lab_ask(&lab, 2, lab.pods[1].ip, 8080), "prohibited");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

static void change(struct lab *lab, json_t *changes)
{
	struct err e = ERR_INIT;

	if (net_change_isolation(lab->net, changes, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	json_decref(changes);
}

TEST("isolation changes pod by pod, mends itself, and can be given up")
{
	struct lab lab;
	struct err e = ERR_INIT;

	lab_enter(&lab);
	if (lab_open(&lab, PREFIX) && lab_pod(&lab, 0) && lab_pod(&lab, 1) && lab_pod(&lab, 2)) {
		lab_serve(&lab, 0, "0.0.0.0", 8080, "0");
		change(&lab, lab_json("{'%s':'ann'}", lab.pods[0].ip)); /* nothing is in force */
		CHECK_STR(lab_ask(&lab, 1, lab.pods[0].ip, 8080), "0");
		isolate(&lab, lab_json("{'%s':'ann'}", lab.pods[0].ip));
		change(&lab, lab_json("{'%s':'bob','%s':''}", lab.pods[1].ip, lab.pods[2].ip));
		CHECK_STR(lab_ask(&lab, 1, lab.pods[0].ip, 8080), "prohibited");
		CHECK_STR(lab_ask(&lab, 2, lab.pods[0].ip, 8080), "0");
		change(&lab, lab_json("{'%s':'ann','%s':null}", lab.pods[1].ip, lab.pods[2].ip));
		CHECK_STR(lab_ask(&lab, 1, lab.pods[0].ip, 8080), "0");
		CHECK_STR(lab_ask(&lab, 2, lab.pods[0].ip, 8080), "prohibited");
		lab_shell(&lab, -1, "nft flush ruleset");
		change(&lab, lab_json("{'%s':'bob'}", lab.pods[1].ip));
		CHECK_STR(lab_ask(&lab, 1, lab.pods[0].ip, 8080), "prohibited");
		CHECK_INT(net_sync_isolation(lab.net, NULL, &e), 0);
		CHECK_STR(lab_ask(&lab, 1, lab.pods[0].ip, 8080), "0");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("a pod cannot speak with another's address, nor to others behind the host's back")
{
	struct lab lab;

	lab_enter(&lab);
	if (lab_open(&lab, PREFIX) && lab_pod(&lab, 0) && lab_pod(&lab, 1)) {
		lab_serve(&lab, 1, "0.0.0.0", 8080, "peer");
		lab_shell(&lab, 0, "ip addr add 10.244.0.99/32 dev eth0");
		CHECK_STR(lab_shell(&lab, 0, "ping -c1 -W1 -I 10.244.0.99 10.244.0.1 >/dev/null || echo lost"), "lost");
		/* Directly on the wire: the neighbour does not even answer ARP. */
		lab_shell(&lab, 0, "ip route add 10.244.0.3 dev eth0 scope link");
		CHECK_STR(lab_ask(&lab, 0, lab.pods[1].ip, 8080), "prohibited");
		CHECK_STR(lab_shell(&lab, 0, "ip neigh show 10.244.0.3 | grep -c lladdr"), "0");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("a restart keeps addresses, links and ports, and the ended can be dropped")
{
	struct lab lab;
	struct err e = ERR_INIT;
	json_auto_t *ports = lab_json("[{'hostPort':8081,'containerPort':8080}]");
	json_auto_t *alive = lab_json("['uid-1']");
	auto_free char *index = NULL;

	lab_enter(&lab);
	if (open_with_web(&lab, 2)) {
		CHECK_INT(net_publish(lab.net, "uid-1", lab.pods[1].ip, ports, &e), 0);
		index = xstrdup(lab_shell(&lab, 1, "ip -o link show eth0 | cut -d: -f1"));
		net_free(lab.net, false);
		CHECK_STR(lab_shell(&lab, 0, "ip -o link show eth0 | wc -l"), "1");
		if (lab_open(&lab, PREFIX)) {
			/* Services work before they have been synced again. */
			CHECK(strlen(lab_ask(&lab, 0, "10.96.0.10", 80)) == 1);
			CHECK_STR(lab_ask(&lab, -1, "127.0.0.1", 8081), "1");
			net_keep_only(lab.net, alive);
			CHECK(lab_pod(&lab, 1));
			CHECK_STR(lab.pods[1].ip, "10.244.0.3");
			CHECK_STR(lab_shell(&lab, 1, "ip -o link show eth0 | cut -d: -f1"), index);
			/* The link goes a little later. */
			CHECK_STR(
				lab_shell(
					&lab, 0,
					"for i in $(seq 100); do ip -o link show eth0 >/dev/null 2>&1 || break; sleep "
					"0.1; done; ip -o link show eth0 2>/dev/null | wc -l"),
				"0");
			CHECK_STR(lab_ask(&lab, 1, "10.244.0.2", 8080), "prohibited");
			/* A freed address is not handed out again at once. */
			CHECK(lab_pod(&lab, 3));
			CHECK_STR(lab.pods[3].ip, "10.244.0.5");
			sync_to(&lab, web_service(&lab, 1, ""));
			CHECK_STR(lab_ask(&lab, 3, "10.96.0.10", 80), "1");
		}
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("a client that keeps its socket is led to another endpoint when its own is gone")
{
	struct lab lab;
	const char *want;

	lab_enter(&lab);
	if (open_with_web(&lab, 2)) {
		bool second = streq(lab_ask_udp_from(&lab, 0, 5555, "10.96.0.10", 80), "2");

		net_detach(lab.net, second ? "uid-2" : "uid-1");
		if (second)
			memcpy(lab.pods[2].ip, lab.pods[1].ip, sizeof(lab.pods[1].ip));
		else
			memcpy(lab.pods[1].ip, lab.pods[2].ip, sizeof(lab.pods[1].ip));
		want = second ? "1" : "2";
		sync_to(&lab, web_service(&lab, 1, ""));
		/* Its flows are forgotten a little later. */
		for (int i = 0; i < 20 && !streq(lab_ask_udp_from(&lab, 0, 5555, "10.96.0.10", 80), want); i++)
			;
		CHECK_STR(lab_ask_udp_from(&lab, 0, 5555, "10.96.0.10", 80), want);
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("two networks live side by side, and the second takes the next free block")
{
	struct lab lab;
	struct net *first = NULL;
	auto_free char *before = NULL;
	auto_free char *after = NULL;
	struct err e = ERR_INIT;
	char ip[16] = "";

	lab_enter(&lab);
	before = host_state(&lab);
	if (open_with_web(&lab, 1)) {
		first = lab.net;
		snprintf(lab.dir + strlen(lab.dir), 8, "/b");
		if (lab_open(&lab, "ffffffff")) {
			CHECK_STR(net_gateway(lab.net), "10.245.0.1");
			lab_namespace(&lab, 5);
			CHECK_INT(net_attach(lab.net, "uid-5", lab.pods[5].ns, ip, sizeof(ip), &e), 0);
			CHECK_STR(ip, "10.245.0.2");
			lab_serve(&lab, 5, "0.0.0.0", 8080, "other");
			/* The same ClusterIP means another service to the pods of another server. */
			sync_to(&lab,
				lab_json(
					"[{'name':'web','namespace':'default','clusterIP':'10.96.0.10',"
					"'ports':[{'port':80}],'endpoints':[{'ip':'10.245.0.2','ports':{'':8080}}]}]"));
			CHECK_STR(lab_ask(&lab, 5, "10.96.0.10", 80), "other");
			CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), "1");
			net_free(lab.net, true);
			CHECK_STR(lab_ask(&lab, 0, "10.96.0.10", 80), "1");
			CHECK_STR(lab_ask(&lab, -1, "10.96.0.10", 80), "1");
		}
		lab.net = first;
	}
	net_free(lab.net, true);
	after = host_state(&lab);
	CHECK_STR(after, before);
	lab_leave(&lab);
}

TEST("a block the host already routes is left alone, foreign rules too")
{
	struct lab lab;
	auto_free char *foreign = NULL;

	lab_enter(&lab);
	make_world(&lab);
	lab_shell(&lab, -1,
		  "ip route add 10.244.0.0/17 via 192.168.77.2; ip route add 10.245.3.0/24 via 192.168.77.2;"
		  "nft add table ip other; nft 'add chain ip other c { type filter hook input priority 0; }';"
		  "nft add rule ip other c tcp dport 1 drop");
	foreign = xstrdup(lab_shell(&lab, -1, "nft list table ip other"));
	if (lab_open(&lab, PREFIX))
		CHECK_STR(net_gateway(lab.net), "10.246.0.1");
	CHECK_STR(lab_shell(&lab, -1, "nft list table ip other"), foreign);
	net_free(lab.net, true);
	CHECK_STR(lab_shell(&lab, -1, "nft list table ip other"), foreign);
	lab_leave(&lab);
}

TEST("a block with a nameserver of the host's is left alone, unless it is the block's own")
{
	auto_free char *resolv = NULL;
	struct err e = ERR_INIT;
	struct lab lab;

	lab_enter(&lab);
	resolv = xasprintf("%s/resolv.conf", lab.dir);
	CHECK_INT(file_write(resolv, 0644,
			     str_of("search lab\nnameserver ::1\nnameserver 10.244.255.53\nnameserver 10.245.0.1\n"),
			     &e),
		  0);
	if (lab_open(&lab, PREFIX))
		CHECK_STR(net_gateway(lab.net), "10.245.0.1");
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("firewalls that drop by default are named")
{
	struct lab lab;
	struct nft *nft = NULL;
	struct err e = ERR_INIT;
	auto_sbuf struct sbuf text = SBUF(1024);

	lab_enter(&lab);
	lab_shell(&lab, -1,
		  "nft add table ip filter; nft 'add chain ip filter FORWARD { type filter hook forward priority 0; "
		  "policy drop; "
		  "}'; nft 'add chain ip filter OUT { type filter hook output priority 0; policy drop; }'; nft add "
		  "table inet "
		  "stoker_x; nft 'add chain inet stoker_x f { type filter hook forward priority 0; policy drop; }'");
	CHECK_INT(nft_open(&nft, &e), 0);
	nft_foreign_drops(nft, "stoker_", &text);
	CHECK_STR(text.p, "ip filter FORWARD");
	CHECK_INT(nft_run(nft, "add rule ip nowhere x accept", &e), -1);
	CHECK(strstr(e.text, "nftables: "));
	nft_close(nft);
	lab_leave(&lab);
}

TEST("a server without privileges is told what it lacks")
{
	struct lab lab;
	struct net_config config = { .prefix = PREFIX,
				     .pod_cidr = "10.244.0.0/16",
				     .service_cidr = "10.96.0.0/12",
				     .dir = lab.dir,
				     .domain = "cluster.local" };
	struct net *net = NULL;
	struct err e = ERR_INIT;

	lab_enter(&lab);
	CHECK_INT(chmod(test_dir(), 0777) | chmod(lab.dir, 0777), 0);
	CHECK_INT(seteuid(65534), 0);
	CHECK_INT(net_open(lab.loop, &config, &net, &e), -1);
	CHECK_INT(seteuid(0), 0);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	CHECK(strstr(e.text, "needs root"));
	config.prefix = "UPPERCASE";
	CHECK_INT(net_open(lab.loop, &config, &net, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	lab_leave(&lab);
}

TEST("rules that somebody flushed are put back with the next pod")
{
	struct lab lab;

	lab_enter(&lab);
	if (open_with_web(&lab, 1)) {
		lab_shell(&lab, -1, "nft flush ruleset");
		CHECK(lab_pod(&lab, 2));
		CHECK_STR(lab_ask(&lab, 2, "10.96.0.10", 80), "1");
		sync_to(&lab, web_service(&lab, 1, ",'sessionAffinity':'ClientIP'"));
		lab_shell(&lab, -1, "nft flush ruleset");
		sync_to(&lab, web_service(&lab, 1, ""));
		CHECK_STR(lab_ask(&lab, -1, "10.96.0.10", 80), "1");
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}

TEST("the same services again change nothing in the kernel")
{
	struct lab lab;
	auto_free char *before = NULL;

	lab_enter(&lab);
	if (open_with_web(&lab, 2)) {
		/* Handles are new whenever something was made anew. */
		before = xstrdup(lab_shell(&lab, -1, "nft -a list ruleset"));
		sync_to(&lab, web_service(&lab, 2, ""));
		CHECK_STR(lab_shell(&lab, -1, "nft -a list ruleset"), before);
	}
	net_free(lab.net, true);
	lab_leave(&lab);
}
