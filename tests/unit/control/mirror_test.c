// SPDX-License-Identifier: Apache-2.0
/* Nodes of one API in another: two real ones. */
#include "control/mirror.h"

#include "api/server.h"
#include "base/mem.h"

#define NODES "v1/nodes"

TEST("what is kept of a node leaves heartbeats and images out")
{
	json_auto_t *node = sample_json(
		"{'metadata':{'name':'a','uid':'u','labels':{'x':'y'},'annotations':{'stoker.dev/np':'4','z':'1'}},"
		"'spec':{'podCIDR':'10.0.0.0/24','unschedulable':true},'status':{'capacity':{'cpu':'8'},'images':[{}],"
		"'conditions':[{'type':'Ready','status':'True','lastHeartbeatTime':'2026-01-01T00:00:00Z'}]}}");
	json_auto_t *form = mirror_form(node);

	CHECK_JSON(form, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'a','annotations':{'stoker.dev/np':'4'},"
			 "'labels':{'x':'y'}},'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready',"
			 "'status':'True'}],'capacity':{'cpu':'8'}}}");
}

TEST("only what people may set leads to a patch")
{
	json_auto_t *a = sample_json("{'metadata':{'labels':{'property.stoker.dev/S':'','x':'1'},"
				     "'annotations':{'stoker.dev/note':'old'}}}");
	json_auto_t *b = sample_json("{'metadata':{'labels':{'property.stoker.dev/D':'','x':'2'}},"
				     "'spec':{'unschedulable':true}}");
	json_auto_t *from = mirror_editable(a);
	json_auto_t *to = mirror_editable(b);
	json_auto_t *patch = mirror_patch(from, to);

	CHECK(mirror_patch(from, from) == NULL);
	CHECK_JSON(patch, "{'metadata':{'labels':{'property.stoker.dev/S':null,'property.stoker.dev/D':''},"
			  "'annotations':{'stoker.dev/note':null}},'spec':{'unschedulable':true}}");
}

struct pair {
	struct server here, there;
	struct client *near, *far;
	struct mirror *mirror;
};

static void settle(struct pair *p)
{
	for (int i = 0; i < 10; i++) {
		server_settle(&p->there);
		server_settle(&p->here);
	}
}

static void begin(struct pair *p)
{
	p->mirror = mirror_new(p->near, p->far);
	settle(p);
}

static struct pair pair_new(void)
{
	struct pair p = { .here = server_new(), .there = server_new() };

	p.near = client_local_new(p.here.api, &caller_system);
	p.far = client_local_new(p.there.api, &caller_system);
	return p;
}

static void pair_done(struct pair *p)
{
	mirror_free(p->mirror);
	client_free(p->near);
	client_free(p->far);
	server_done(&p->here);
	server_done(&p->there);
}

static json_t *node_in(struct server *s, const char *name)
{
	return server_ask(s, VERB_GET, NODES, "", name, NULL);
}

static void patch(struct pair *p, struct server *s, const char *name, const char *body)
{
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = name };
	json_auto_t *doc = sample_json(body);
	struct client *c = s == &p->here ? p->near : p->far;
	json_t *obj = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(client_patch_wait(c, &ref, "merge", doc, &obj, &e), 0);
	json_decref(obj);
	settle(p);
}

TEST("nodes come, change and go as the cluster's do, and what is set here is set there")
{
	struct pair p = pair_new();
	json_t *node;

	server_do(&p.there, VERB_CREATE, NODES, "", NULL, "{'metadata':{'name':'a','labels':{'x':'1'}}}");
	server_do(&p.here, VERB_CREATE, NODES, "", NULL, "{'metadata':{'name':'old'}}");
	begin(&p);
	node = node_in(&p.here, "a");
	CHECK_STR(jsonx_str(node, "metadata.labels.x"), "1");
	json_decref(node);
	node = node_in(&p.here, "old");
	CHECK(!node || !json_object_get(node, "metadata"));
	json_decref(node);
	patch(&p, &p.there, "a", "{'metadata':{'labels':{'x':'2'}}}");
	node = node_in(&p.here, "a");
	CHECK_STR(jsonx_str(node, "metadata.labels.x"), "2");
	json_decref(node);
	patch(&p, &p.here, "a", "{'spec':{'unschedulable':true},'metadata':{'annotations':{'stoker.dev/note':'n'}}}");
	node = node_in(&p.there, "a");
	CHECK(jsonx_bool_or(node, "spec.unschedulable", false));
	json_decref(node);
	/* Another has the last word, and nothing goes to and fro. */
	patch(&p, &p.there, "a", "{'spec':{'unschedulable':null}}");
	node = node_in(&p.here, "a");
	CHECK(!jsonx_bool_or(node, "spec.unschedulable", false));
	json_decref(node);
	server_do(&p.there, VERB_DELETE, NODES, "", "a", NULL);
	settle(&p);
	node = node_in(&p.here, "a");
	CHECK(!node || !json_object_get(node, "metadata"));
	json_decref(node);
	pair_done(&p);
}
