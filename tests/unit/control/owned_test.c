// SPDX-License-Identifier: Apache-2.0
#include "control/owned.h"

#include "api/server.h"

struct desk {
	struct server s;
	struct client *client;
	struct owned *owned;
	char told[2000];
};

static void say(struct desk *d, const char *mark, const struct pod_facts *p)
{
	snprintf(d->told + strlen(d->told), sizeof(d->told) - strlen(d->told), "%s%s ", mark, p->name);
}

static void on_change(void *arg, const json_t *ref, const struct pod_facts *pod, const struct pod_facts *old)
{
	(void)ref;
	say(arg, !pod ? "-" : old ? "~" : "+", pod ? pod : old);
}

static void on_orphan(void *arg, const struct pod_facts *pod)
{
	say(arg, "?", pod);
}

static void on_synced(void *arg)
{
	struct desk *d = arg;

	snprintf(d->told + strlen(d->told), sizeof(d->told) - strlen(d->told), "synced ");
}

static void desk_init(struct desk *d)
{
	*d = (struct desk){ .s = server_new() };
	d->client = client_local_new(d->s.api, &caller_system);
	d->owned = owned_new(d->client);
	owned_follow(d->owned, &(struct owned_handlers){ "Box", on_change, on_orphan, on_synced, d });
	server_settle(&d->s);
}

static void desk_done(struct desk *d)
{
	owned_unfollow(d->owned, d);
	owned_free(d->owned);
	server_settle(&d->s);
	client_free(d->client);
	server_done(&d->s);
}

static json_t *make(struct desk *d, const char *name, const char *owner)
{
	auto_free char *refs = owner ? xasprintf("'ownerReferences':[{'apiVersion':'x/v1','kind':'Box','name':'%s',"
						 "'uid':'%s','controller':true}],",
						 owner, owner)
				     : xstrdup("");
	auto_free char *body = xasprintf("{'metadata':{%s'name':'%s','labels':{'app':'x'}},'spec':{'containers':"
					 "[{'name':'c','image':'i'}]}}",
					 refs, name);
	json_t *pod = server_ask(&d->s, VERB_CREATE, "v1/pods", "default", NULL, body);

	CHECK(pod != NULL);
	server_settle(&d->s);
	return pod;
}

static void patch(struct desk *d, const char *name, const char *body)
{
	struct api_request req = server_request(&d->s, VERB_PATCH, "v1/pods", "default", name);

	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&d->s, &req, body);

	CHECK(done != NULL);
	server_settle(&d->s);
}

static void drop(struct desk *d, const char *name)
{
	struct api_request req = server_request(&d->s, VERB_DELETE, "v1/pods", "default", name);

	req.grace_seconds = 0;
	json_auto_t *done = server_call(&d->s, &req, NULL);

	CHECK(done != NULL);
	server_settle(&d->s);
}

TEST("pods are found by their controller, and those without by their namespace")
{
	struct desk d;

	desk_init(&d);
	json_auto_t *a = make(&d, "a", "one");
	json_auto_t *b = make(&d, "b", "one");
	json_auto_t *c = make(&d, "c", "two");
	json_auto_t *o = make(&d, "o", NULL);

	CHECK_INT(owned_by(d.owned, "one").n, 2);
	CHECK_INT(owned_by(d.owned, "two").n, 1);
	CHECK_INT(owned_by(d.owned, "three").n, 0);
	CHECK_INT(owned_orphans(d.owned, "default").n, 1);
	CHECK_INT(owned_orphans(d.owned, "other").n, 0);
	CHECK_STR(d.told, "synced +a +b +c ?o ");
	d.told[0] = '\0';
	patch(&d, "a", "{'metadata':{'ownerReferences':null}}");
	CHECK_STR(d.told, "-a ?a ");
	CHECK_INT(owned_by(d.owned, "one").n, 1);
	CHECK_INT(owned_orphans(d.owned, "default").n, 2);
	d.told[0] = '\0';
	patch(&d, "b", "{'metadata':{'labels':{'app':'y'}}}");
	drop(&d, "b");
	drop(&d, "o");
	CHECK_STR(d.told, "~b -b ");
	CHECK_INT(owned_by(d.owned, "one").n, 0);
	CHECK_INT(owned_orphans(d.owned, "default").n, 1);
	desk_done(&d);
}

static void put_on(struct desk *d, const char *name, const char *node)
{
	struct api_request req = server_request(&d->s, VERB_CREATE, "v1/pods", "default", name);
	auto_free char *body = xasprintf("{'target':{'name':'%s'}}", node);

	req.subresource = "binding";
	json_auto_t *done = server_call(&d->s, &req, body);

	CHECK(done != NULL);
	server_settle(&d->s);
}

static size_t count_on(const struct desk *d, const char *node)
{
	size_t n = 0;

	for (const struct owned_pod *p = owned_on(d->owned, node); p; p = p->beside) {
		CHECK_STR(p->facts.node, node);
		n++;
	}
	return n;
}

TEST("pods are found by their node")
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct desk d;

	desk_init(&d);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		json_decref(make(&d, names[i], i % 2 ? "one" : NULL));
	CHECK_INT(count_on(&d, ""), 0);
	for (size_t i = 0; i < 3; i++)
		put_on(&d, names[i], "here");
	put_on(&d, "d", "there");
	patch(&d, "a", "{'metadata':{'labels':{'app':'y'}}}");
	CHECK_INT(count_on(&d, "here"), 3);
	CHECK_INT(count_on(&d, "there"), 1);
	drop(&d, "b");
	drop(&d, "d");
	CHECK_INT(count_on(&d, "here"), 2);
	CHECK_INT(count_on(&d, "there"), 0);
	drop(&d, "c");
	drop(&d, "a");
	CHECK_INT(count_on(&d, "here"), 0);
	desk_done(&d);
}

TEST("what is written but not seen is expected, until it is seen or gone")
{
	struct desk d;
	json_auto_t *unseen = sample_json("{'metadata':{'uid':'u'}}");

	desk_init(&d);
	json_auto_t *a = make(&d, "a", "one");
	const char *uid = jsonx_str(a, "metadata.uid");

	/* a creation whose pod is there already is no matter of waiting */
	owned_expect(d.owned, "one", a);
	CHECK(owned_settled(d.owned, "one"));
	owned_expect(d.owned, "one", unseen);
	CHECK(!owned_settled(d.owned, "one"));
	CHECK(owned_settled(d.owned, "two"));
	owned_expect_gone(d.owned, "two", uid);
	CHECK(!owned_settled(d.owned, "two"));
	patch(&d, "a", "{'metadata':{'labels':{'app':'y'}}}");
	CHECK(!owned_settled(d.owned, "two"));
	drop(&d, "a");
	CHECK(owned_settled(d.owned, "two"));
	CHECK(!owned_settled(d.owned, "one"));
	owned_expect_gone(d.owned, "two", uid);
	CHECK(owned_settled(d.owned, "two"));
	desk_done(&d);
}
