// SPDX-License-Identifier: Apache-2.0
#include "control/namespace.h"

#include "api/server.h"

TEST("only a namespace that goes, and waits for us, is emptied")
{
	static const struct {
		const char *ns;
		bool want;
	} rows[] = {
		{ "{'metadata':{},'spec':{'finalizers':['kubernetes']}}", false },
		{ "{'metadata':{'deletionTimestamp':'t'},'spec':{'finalizers':['kubernetes']}}", true },
		{ "{'metadata':{'deletionTimestamp':'t'},'spec':{'finalizers':['e.org/x','kubernetes']}}", true },
		{ "{'metadata':{'deletionTimestamp':'t'},'spec':{'finalizers':['e.org/x']}}", false },
		{ "{'metadata':{'deletionTimestamp':'t'},'spec':{}}", false },
		{ "{'metadata':{'deletionTimestamp':'t'}}", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *ns = sample_json(rows[i].ns);

		CHECK_INT(namespace_plan(ns), rows[i].want);
	}
}

struct cluster {
	struct server s;
	struct client *client;
	struct namespaces *controller;
};

/* Turns until the namespace has gone, or for about `ms`. */
static bool gone(struct cluster *c, const char *name, int ms)
{
	for (int i = 0; i < ms; i++) {
		for (int k = 0; k < 10; k++)
			server_turn(&c->s);
		if (!server_has(&c->s, "v1/namespaces", "", name))
			return true;
		usleep(1000);
	}
	return false;
}

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.controller = namespaces_new(c.client);
	server_settle(&c.s);
	server_do(&c.s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'n'}}");
	server_do(&c.s, VERB_CREATE, "v1/configmaps", "n", NULL, "{'metadata':{'name':'m'}}");
	server_do(&c.s, VERB_CREATE, "v1/pods", "n", NULL,
		  "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
	server_do(&c.s, VERB_CREATE, "v1/events", "n", NULL,
		  "{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'p','namespace':'n'}}");
	server_make_map(&c.s, "elsewhere", "{}");
	return c;
}

static void cluster_done(struct cluster *c)
{
	namespaces_free(c->controller);
	client_free(c->client);
	server_done(&c->s);
}

TEST("a deleted namespace takes its contents with it and nothing else")
{
	struct cluster c = cluster_new();

	server_do(&c.s, VERB_DELETE, "v1/namespaces", "", "n", NULL);
	CHECK(gone(&c, "n", 200));
	CHECK(!server_has(&c.s, "v1/configmaps", "n", "m"));
	CHECK(!server_has(&c.s, "v1/pods", "n", "p"));
	CHECK(!server_has(&c.s, "v1/events", "n", "e"));
	CHECK(server_has(&c.s, "v1/configmaps", "default", "elsewhere"));
	cluster_done(&c);
}

TEST("a namespace waits for contents that cannot go yet")
{
	struct cluster c = cluster_new();

	server_do(&c.s, VERB_CREATE, "v1/configmaps", "n", NULL,
		  "{'metadata':{'name':'held','finalizers':['e.org/x']}}");
	server_do(&c.s, VERB_DELETE, "v1/namespaces", "", "n", NULL);
	CHECK(!gone(&c, "n", 30));
	CHECK(!server_has(&c.s, "v1/configmaps", "n", "m"));
	json_auto_t *held = server_ask(&c.s, VERB_GET, "v1/configmaps", "n", "held", NULL);
	CHECK(jsonx_at(held, "metadata.deletionTimestamp"));
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/configmaps", "n", "held");
	req.patch = PATCH_MERGE;
	json_auto_t *freed = server_call(&c.s, &req, "{'metadata':{'finalizers':null}}");
	CHECK(freed != NULL);
	CHECK(gone(&c, "n", 3000));
	cluster_done(&c);
}

TEST("a namespace that was going when the server stopped goes on")
{
	struct cluster c = cluster_new();

	namespaces_free(c.controller);
	server_settle(&c.s);
	server_do(&c.s, VERB_DELETE, "v1/namespaces", "", "n", NULL);
	CHECK(!gone(&c, "n", 5));
	c.controller = namespaces_new(c.client);
	CHECK(gone(&c, "n", 200));
	cluster_done(&c);
}

TEST("the controller may stop while it empties a namespace")
{
	for (int turns = 0; turns < 8; turns++) {
		struct cluster c = cluster_new();

		server_do(&c.s, VERB_DELETE, "v1/namespaces", "", "n", NULL);
		for (int i = 0; i < turns; i++)
			server_turn(&c.s);
		cluster_done(&c);
	}
}
