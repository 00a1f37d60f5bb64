// SPDX-License-Identifier: Apache-2.0
#include "node/node_lease.h"

#include "api/server.h"
#include "client/client.h"

#define LEASES "coordination.k8s.io/v1/leases"

static void on_lost(void *arg)
{
	++*(int *)arg;
}

static json_t *lease(struct server *s)
{
	return server_ask(s, VERB_GET, LEASES, "kube-node-lease", "box", NULL);
}

TEST("a node's lease is made for its Node, and taken up again by the next server")
{
	struct server s = server_new();
	struct client *client = client_local_new(s.api, &caller_system);
	int lost = 0;
	struct node_lease *first = node_lease_new(client, "box", on_lost, &lost);

	server_settle(&s);
	json_auto_t *none = lease(&s);

	CHECK(!none); /* there is no Node yet */
	node_lease_belongs_to(first, "3e1c");
	server_settle(&s);
	json_auto_t *made = lease(&s);

	CHECK_STR(jsonx_str(made, "spec.holderIdentity"), "box");
	CHECK_INT(jsonx_int_or(made, "spec.leaseDurationSeconds", 0), 40);
	CHECK_JSON(jsonx_at(made, "metadata.ownerReferences"),
		   "[{'apiVersion':'v1','kind':'Node','name':'box','uid':'3e1c'}]");
	node_lease_free(first);
	struct node_lease *second = node_lease_new(client, "box", on_lost, &lost);

	usleep(10);
	node_lease_belongs_to(second, "3e1c");
	node_lease_belongs_to(second, "3e1c");
	server_settle(&s);
	json_auto_t *renewed = lease(&s);

	CHECK_STR(jsonx_str(renewed, "metadata.uid"), jsonx_str(made, "metadata.uid"));
	CHECK(!str_same(jsonx_str(renewed, "spec.renewTime"), jsonx_str(made, "spec.renewTime")));
	CHECK_INT(lost, 0);
	/* one that goes while an answer is under way */
	struct node_lease *third = node_lease_new(client, "box", on_lost, &lost);

	node_lease_belongs_to(third, "3e1c");
	node_lease_free(third);
	server_settle(&s);
	node_lease_free(second);
	client_free(client);
	server_done(&s);
}
