// SPDX-License-Identifier: Apache-2.0
/* ConfigMaps as children of something, kept by their owner. */
#include "control/children.h"

#include "api/server.h"

#define MAPS "v1/configmaps"

struct desk {
	struct server s;
	struct client *client;
	struct children *maps;
	char told[2000];
};

static void say(struct desk *d, const char *mark, const char *name)
{
	snprintf(d->told + strlen(d->told), sizeof(d->told) - strlen(d->told), "%s%s ", mark, name);
}

static void on_change(void *arg, const char *owner)
{
	say(arg, "", owner);
}

static void on_orphan(void *arg, const json_t *child)
{
	say(arg, "?", jsonx_str(child, "metadata.name"));
}

static void on_synced(void *arg)
{
	say(arg, "", "synced");
}

static const struct children_kind kind = {
	.api_version = "v1",
	.plural = "configmaps",
	.owner = "Folder",
	.change = on_change,
	.orphan = on_orphan,
	.synced = on_synced,
};

static void desk_init(struct desk *d)
{
	*d = (struct desk){ .s = server_new() };
	d->client = client_local_new(d->s.api, &caller_system);
	d->maps = children_new(d->client, &kind, d);
	server_settle(&d->s);
}

static void desk_done(struct desk *d)
{
	children_free(d->maps);
	server_settle(&d->s);
	client_free(d->client);
	server_done(&d->s);
}

static json_t *map_make(struct desk *d, const char *name, const char *owner_kind, const char *owner)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s','ownerReferences':[{'apiVersion':'test/v1','kind':'%s','name':'%s',"
			  "'uid':'uid-%s','controller':true}]}}",
			  name, owner_kind, owner, owner);
	json_t *map = server_ask(&d->s, VERB_CREATE, MAPS, "default", NULL, body);

	if (!map)
		test_fail(__FILE__, __LINE__, "%s", d->s.message);
	return map;
}

static void map_patch(struct desk *d, const char *name, const char *body)
{
	struct api_request req = server_request(&d->s, VERB_PATCH, MAPS, "default", name);

	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&d->s, &req, body);

	CHECK(done != NULL);
	server_settle(&d->s);
}

static size_t count_of(struct desk *d, const char *uid)
{
	auto_free const json_t **all = NULL;

	return children_of(d->maps, uid, &all);
}

TEST("children are kept by their owner, and owners hear of them")
{
	struct desk d;
	json_auto_t *a = NULL;
	json_auto_t *b = NULL;
	json_auto_t *other = NULL;

	desk_init(&d);
	CHECK(children_synced(d.maps));
	a = map_make(&d, "a", "Folder", "x");
	b = map_make(&d, "b", "Folder", "y");
	other = map_make(&d, "c", "Other", "x");
	server_settle(&d.s);
	CHECK_STR(d.told, "synced default/x default/y ");
	CHECK_INT(count_of(&d, "uid-x"), 1);
	CHECK(children_find(d.maps, "default", "a") != NULL);
	d.told[0] = '\0';
	map_patch(&d, "a",
		  "{'metadata':{'ownerReferences':[{'apiVersion':'test/v1','kind':'Folder','name':'y',"
		  "'uid':'uid-y','controller':true}]}}");
	CHECK_STR(d.told, "default/x default/y ");
	CHECK_INT(count_of(&d, "uid-x"), 0);
	CHECK_INT(count_of(&d, "uid-y"), 2);
	desk_done(&d);
}

TEST("what others control is not kept, and one that goes to them is gone")
{
	struct desk d;
	json_auto_t *a = NULL;
	json_auto_t *other = NULL;

	desk_init(&d);
	a = map_make(&d, "a", "Folder", "x");
	other = map_make(&d, "c", "Other", "x");
	server_settle(&d.s);
	CHECK(children_find(d.maps, "default", "c") == NULL);
	d.told[0] = '\0';
	map_patch(&d, "a",
		  "{'metadata':{'ownerReferences':[{'apiVersion':'test/v1','kind':'Other','name':'x',"
		  "'uid':'uid-x','controller':true}]}}");
	CHECK_STR(d.told, "default/x ");
	CHECK(children_find(d.maps, "default", "a") == NULL);
	CHECK_INT(count_of(&d, "uid-x"), 0);
	map_patch(&d, "c", "{'metadata':{'ownerReferences':null}}");
	CHECK(children_find(d.maps, "default", "c") != NULL);
	desk_done(&d);
}

TEST("an orphan is told of when it becomes one or has other labels, not for every change")
{
	struct desk d;
	json_auto_t *a = NULL;

	desk_init(&d);
	a = map_make(&d, "a", "Folder", "x");
	server_settle(&d.s);
	d.told[0] = '\0';
	map_patch(&d, "a", "{'metadata':{'ownerReferences':null}}");
	CHECK_STR(d.told, "default/x ?a ");
	d.told[0] = '\0';
	map_patch(&d, "a", "{'metadata':{'annotations':{'k':'v'}}}");
	CHECK_STR(d.told, "");
	map_patch(&d, "a", "{'metadata':{'labels':{'k':'v'}}}");
	CHECK_STR(d.told, "?a ");
	desk_done(&d);
}

TEST("an owner is settled when what was written for it has been seen, or has gone")
{
	struct desk d;
	json_auto_t *a = NULL;
	json_auto_t *unseen = NULL;

	desk_init(&d);
	a = map_make(&d, "a", "Folder", "x");
	server_settle(&d.s);
	children_expect(d.maps, "uid-x", a);
	CHECK(children_settled(d.maps, "uid-x"));
	/* A write that the watch has not brought yet. */
	unseen = jsonx_copy(a);
	jsonx_set_new(unseen, "metadata.resourceVersion",
		      jsonx_stringf("%ld", strtol(jsonx_str(a, "metadata.resourceVersion"), NULL, 10) + 1));
	children_expect(d.maps, "uid-x", unseen);
	CHECK(!children_settled(d.maps, "uid-x"));
	CHECK(children_settled(d.maps, "uid-y"));
	map_patch(&d, "a", "{'metadata':{'annotations':{'k':'v'}}}");
	CHECK(children_settled(d.maps, "uid-x"));
	jsonx_set_new(unseen, "metadata.resourceVersion", json_string("999999"));
	children_expect(d.maps, "uid-x", unseen);
	CHECK(!children_settled(d.maps, "uid-x"));
	server_do(&d.s, VERB_DELETE, MAPS, "default", "a", NULL);
	server_settle(&d.s);
	CHECK(children_settled(d.maps, "uid-x"));
	desk_done(&d);
}
