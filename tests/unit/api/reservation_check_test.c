// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#define RESERVATIONS "stoker.dev/v1/reservations"

/* What is said to a reservation of that; "" if it is made. */
static const char *said(struct server *s, const char *what)
{
	auto_free char *body =
		xasprintf("{'metadata':{'generateName':'r-'},'spec':{'start':'2026-11-20T08:00:00Z',%s}}", what);
	json_auto_t *made = server_ask(s, VERB_CREATE, RESERVATIONS, "", NULL, body);

	return made ? "" : s->message;
}

static void add_node(struct server *s, const char *name, int gpus)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'status':{'capacity':{'cpu':'8',"
					 "'nvidia.com/gpu':'%d'}}}",
					 name, gpus);

	struct api_request req = server_request(s, VERB_UPDATE, "v1/nodes", "", name);
	json_auto_t *node = server_ask(s, VERB_CREATE, "v1/nodes", "", NULL, body);
	json_auto_t *written = NULL;

	req.subresource = "status";
	written = server_call(s, &req, body);
	CHECK(node && written);
}

TEST("a reservation of more GPUs than there are, or of nodes that are not there, is refused")
{
	struct server s = server_new();

	CHECK_STR(said(&s, "'gpus':400"), ""); /* nothing is known yet */
	add_node(&s, "n1", 4);
	add_node(&s, "n2", 2);
	CHECK_STR(said(&s, "'gpus':6"), "");
	CHECK(strstr(said(&s, "'gpus':7"), "spec.gpus: Invalid value: 7: all nodes together have only 6") != NULL);
	CHECK_STR(said(&s, "'nodes':['n2'],'gpus':2"), "");
	CHECK(strstr(said(&s, "'nodes':['n2'],'gpus':3"), "spec.gpus: Invalid value: 3: these nodes have only 2") !=
	      NULL);
	CHECK_STR(said(&s, "'nodes':['n1','n2']"), "");
	CHECK(strstr(said(&s, "'nodes':['n1','zz']"),
		     "spec.nodes: Invalid value: \"zz\": there is no such node, only n1, n2") != NULL);
	server_done(&s);
}
