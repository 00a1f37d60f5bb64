// SPDX-License-Identifier: Apache-2.0
/* services_test.c - objects in an API become rules and names of a network in a namespace of its own */
#include "node/services.h"

#include "api/server.h"
#include "control/endpoints.h"
#include "node/net_lab.h"

struct world {
	struct lab lab;
	struct server s;
	struct client *client;
	struct endpoints *controller;
	struct services *services;
	int synced;
};

static void on_synced(void *arg)
{
	(*(int *)arg)++;
}

static void settle(struct world *w)
{
	for (int i = 0; i < 4; i++)
		server_settle(&w->s);
}

/* The API's loop turns in the lab's host, so that the network is opened on it. */
static bool world_open(struct world *w)
{
	*w = (struct world){ 0 };
	lab_enter(&w->lab);
	w->s = server_new();
	loop_free(w->lab.loop);
	w->lab.loop = w->s.loop;
	if (!lab_open(&w->lab, "0a1b2c3d"))
		return false;
	w->client = client_local_new(w->s.api, &caller_system);
	w->controller = endpoints_new(w->client);
	w->services = services_new(w->client, w->lab.net, on_synced, &w->synced);
	settle(w);
	CHECK_INT(w->synced, 1);
	return true;
}

static void world_close(struct world *w)
{
	services_free(w->services);
	endpoints_free(w->controller);
	client_free(w->client);
	net_free(w->lab.net, true);
	w->lab.loop = loop_new();
	server_done(&w->s);
	lab_leave(&w->lab);
}

static void make(struct world *w, const char *what, const char *ns, const char *body)
{
	server_do(&w->s, VERB_CREATE, what, ns, NULL, body);
	settle(w);
}

static void set_status(struct world *w, const char *ns, int i, bool ready)
{
	auto_free char *name = xasprintf("p%d", i);
	auto_free char *body =
		xasprintf("{'status':{'phase':'Running','podIP':'%s','conditions':[{'type':'Ready','status':'%s'}]}}",
			  w->lab.pods[i].ip, ready ? "True" : "False");
	struct api_request req = server_request(&w->s, VERB_PATCH, "v1/pods", ns, name);
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = "status";
	done = server_call(&w->s, &req, body);
	if (!done)
		test_fail(__FILE__, __LINE__, "%s", w->s.message);
	settle(w);
}

/* Makes pod i in the API and in the lab; new reference. */
static json_t *make_pod(struct world *w, const char *ns, int i, const char *more)
{
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'p%d','labels':{'app':'web'}},'spec':{'hostname':'h%d','subdomain':'heads',"
		"'nodeName':'n','containers':[{'name':'c','image':'i'%s}]}}",
		i, i, more);
	json_t *pod = server_ask(&w->s, VERB_CREATE, "v1/pods", ns, NULL, body);

	if (!pod || !lab_pod(&w->lab, i))
		test_fail(__FILE__, __LINE__, "pod %d: %s", i, w->s.message);
	return pod;
}

/* And tells the services of it: all but starting it. */
static void add_pod(struct world *w, const char *ns, int i, const char *more)
{
	json_auto_t *pod = make_pod(w, ns, i, more);
	struct err e = ERR_INIT;

	if (services_add_pod(w->services, pod, w->lab.pods[i].ip, &e) < 0)
		test_fail(__FILE__, __LINE__, "pod %d: %s", i, e.text);
}

/* What a name is to a pod: addresses, or "none". */
static const char *lookup(struct world *w, int pod, const char *name)
{
	auto_free char *command = xasprintf(
		"python3 - <<'EOF'\n"
		"import socket,struct\n"
		"q=struct.pack('>HHHHHH',1,256,1,0,0,0)+b''.join(bytes([len(l)])+l.encode() for l in '%s'.split('.'))+"
		"b'\\0'+struct.pack('>HH',1,1)\n"
		"s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.settimeout(30);s.sendto(q,('%s',53));r=s.recv("
		"4096)"
		"\n"
		"n=struct.unpack('>H',r[6:8])[0]\n"
		"out=sorted('.'.join(map(str,r[len(r)-4:])) for i in [0] if n)\n"
		"print(' '.join(out) or 'none')\n"
		"EOF\n",
		name, net_dns_address(w->lab.net));

	return lab_shell(&w->lab, pod, command);
}

/* On a slow machine the network is told a little later (services.c lets long syncs rest). */
#define PATIENCE 100
#define A_WHILE  50000

static bool reaches(struct world *w, int pod, const char *ip, int port, const char *want)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (str_same(lab_ask(&w->lab, pod, ip, port), want))
			return true;
		usleep(A_WHILE);
		settle(w);
	}
	return false;
}

static bool finds(struct world *w, int pod, const char *name, const char *want)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (str_same(lookup(w, pod, name), want))
			return true;
		usleep(A_WHILE);
		settle(w);
	}
	return false;
}

#define HEADS "{'metadata':{'name':'heads'},'spec':{'clusterIP':'None','selector':{'app':'web'}}}"
#define WEB                                                                                                            \
	"{'metadata':{'name':'web'},'spec':{'clusterIP':'10.96.0.50','selector':{'app':'web'},'ports':[{'port':80,'"   \
	"targetPort':8080}]}}"

TEST("a service leads to its pods once they are ready")
{
	struct world w;

	if (world_open(&w)) {
		make(&w, "v1/services", "default", WEB);
		add_pod(&w, "default", 0, "");
		add_pod(&w, "default", 1, "");
		lab_serve(&w.lab, 0, "0.0.0.0", 8080, "0");
		set_status(&w, "default", 0, false);
		CHECK(reaches(&w, 1, "10.96.0.50", 80, "refused"));
		set_status(&w, "default", 0, true);
		CHECK(reaches(&w, 1, "10.96.0.50", 80, "0"));
		CHECK(finds(&w, 1, "web.default.svc.cluster.local", "10.96.0.50"));
		server_do(&w.s, VERB_DELETE, "v1/services", "default", "web", NULL);
		settle(&w);
		CHECK(finds(&w, 1, "web.default.svc.cluster.local", "none"));
	}
	world_close(&w);
}

TEST("a pod's names are there before it starts, and stay until it is not ready any more")
{
	struct world w;

	if (world_open(&w)) {
		make(&w, "v1/services", "default", HEADS);
		add_pod(&w, "default", 0, "");
		add_pod(&w, "default", 1, ",'readinessProbe':{'tcpSocket':{'port':1}}");
		CHECK_STR(lookup(&w, 0, "h0.heads.default.svc.cluster.local"), w.lab.pods[0].ip);
		CHECK_STR(lookup(&w, 0, "heads.default.svc.cluster.local"), w.lab.pods[0].ip);
		CHECK(finds(&w, 0, "h1.heads.default.svc.cluster.local", "none"));
		set_status(&w, "default", 0, false);
		CHECK_STR(lookup(&w, 0, "h0.heads.default.svc.cluster.local"), w.lab.pods[0].ip);
		set_status(&w, "default", 0, true);
		set_status(&w, "default", 1, true);
		CHECK_STR(lookup(&w, 0, "h0.heads.default.svc.cluster.local"), w.lab.pods[0].ip);
		CHECK(finds(&w, 0, "h1.heads.default.svc.cluster.local", w.lab.pods[1].ip));
		set_status(&w, "default", 0, false);
		CHECK(finds(&w, 0, "h0.heads.default.svc.cluster.local", "none"));
	}
	world_close(&w);
}

TEST("also where there is so much to tell the network that it is told less often")
{
	struct world w;

	if (world_open(&w)) {
		json_auto_t *pod = make_pod(&w, "default", 0, "");
		auto_sbuf struct sbuf ports = SBUF(65536);
		auto_free char *service = NULL;
		auto_free char *endpoints = NULL;
		struct err e = ERR_INIT;

		for (int i = 1; i <= 1000; i++)
			sbuf_addf(&ports, "%s{'name':'p%d','port':%d}", i > 1 ? "," : "", i, i);
		service = xasprintf("{'metadata':{'name':'much'},'spec':{'clusterIP':'10.96.0.51','ports':[%s]}}",
				    ports.p);
		endpoints = xasprintf("{'metadata':{'name':'much'},'subsets':[{'addresses':[{'ip':'10.9.9.9'}],"
				      "'ports':[%s]}]}",
				      ports.p);
		make(&w, "v1/services", "default", HEADS);
		server_do(&w.s, VERB_CREATE, "v1/endpoints", "default", NULL, endpoints);
		make(&w, "v1/services", "default", service);
		CHECK(finds(&w, 0, "much.default.svc.cluster.local", "10.96.0.51")); /* took long, hence a rest */
		CHECK_INT(services_add_pod(w.services, pod, w.lab.pods[0].ip, &e), 0);
		loop_turn(w.s.loop, false);
		CHECK_STR(lookup(&w, 0, "h0.heads.default.svc.cluster.local"), w.lab.pods[0].ip);
	}
	world_close(&w);
}

#define OWNED(name, more) "{'metadata':{'name':'" name "','annotations':{'stoker.dev/owner':'" name "'}" more "}}"

TEST("users' pods are isolated from each other from the start, unless a namespace is open")
{
	struct world w;

	if (world_open(&w)) {
		make(&w, "v1/namespaces", "", OWNED("ann", ""));
		make(&w, "v1/namespaces", "", OWNED("bob", ""));
		add_pod(&w, "default", 0, "");
		CHECK_STR(lab_shell(&w.lab, -1, "nft list tables | grep -c isolation"), "0");
		add_pod(&w, "ann", 1, "");
		add_pod(&w, "bob", 2, "");
		add_pod(&w, "ann", 3, "");
		add_pod(&w, "default", 4, "");
		lab_serve(&w.lab, 1, "0.0.0.0", 8080, "1");
		CHECK(reaches(&w, 0, w.lab.pods[1].ip, 8080, "1"));
		CHECK(reaches(&w, 2, w.lab.pods[1].ip, 8080, "prohibited"));
		CHECK(reaches(&w, 3, w.lab.pods[1].ip, 8080, "1"));
		CHECK(reaches(&w, 4, w.lab.pods[1].ip, 8080, "1"));
		struct api_request req = server_request(&w.s, VERB_PATCH, "v1/namespaces", "", "ann");
		req.patch = PATCH_MERGE;
		json_auto_t *done = server_call(&w.s, &req, "{'metadata':{'labels':{'stoker.dev/network':'open'}}}");
		CHECK(done != NULL);
		settle(&w);
		CHECK(reaches(&w, 2, w.lab.pods[1].ip, 8080, "1"));
	}
	world_close(&w);
}

TEST("a pod that is gone is in no group, and after a restart those that run are")
{
	struct world w;
	auto_free char *rule = NULL;

	if (world_open(&w)) {
		make(&w, "v1/namespaces", "", OWNED("ann", ""));
		add_pod(&w, "ann", 0, "");
		add_pod(&w, "default", 1, "");
		set_status(&w, "ann", 0, true);
		set_status(&w, "default", 1, true);
		services_free(w.services);
		w.services = services_new(w.client, w.lab.net, on_synced, &w.synced);
		settle(&w);
		CHECK_INT(w.synced, 2);
		rule = xasprintf("nft list table inet stoker_0a1b2c3d_isolation | grep -c %s", w.lab.pods[1].ip);
		CHECK_STR(lab_shell(&w.lab, -1, rule), "1");
		struct api_request req = server_request(&w.s, VERB_DELETE, "v1/pods", "default", "p1");
		req.grace_seconds = 0;
		json_auto_t *gone = server_call(&w.s, &req, NULL);
		settle(&w);
		CHECK_STR(lab_shell(&w.lab, -1, rule), "0");
	}
	world_close(&w);
}

TEST("a pod's environment knows the services of its namespace and the API")
{
	struct world w;

	if (world_open(&w)) {
		json_auto_t *before = services_for_env(w.services, "default");
		json_auto_t *after = NULL;
		json_auto_t *other = NULL;

		make(&w, "v1/services", "default", WEB);
		after = services_for_env(w.services, "default");
		other = services_for_env(w.services, "kube-system");
		CHECK_INT(json_array_size(before), 1);
		CHECK_INT(json_array_size(after), 2);
		CHECK_INT(json_array_size(other), 1);
		CHECK_STR(jsonx_str(json_array_get(other, 0), "metadata.name"), "kubernetes");
	}
	world_close(&w);
}

TEST("the Endpoints of the API say where it is")
{
	struct world w;

	if (world_open(&w)) {
		json_auto_t *ep = NULL;

		services_publish_api(w.services, "192.168.1.1", 6443);
		settle(&w);
		server_do(&w.s, VERB_DELETE, "v1/endpoints", "default", "kubernetes", NULL);
		settle(&w);
		ep = server_ask(&w.s, VERB_GET, "v1/endpoints", "default", "kubernetes", NULL);
		CHECK_JSON(json_object_get(ep, "subsets"),
			   "[{'addresses':[{'ip':'192.168.1.1'}],'ports':[{'name':'https',"
			   "'port':6443,'protocol':'TCP'}]}]");
	}
	world_close(&w);
}
