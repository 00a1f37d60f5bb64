// SPDX-License-Identifier: Apache-2.0
#include "control/gc.h"

#include "api/server.h"

/* The local client, with the requests that go through it counted. */
struct counting {
	struct client client;
	struct client *real;
	unsigned gets, patches, removes;
	client_event *event; /* of the watch on ConfigMaps */
	void *event_arg;
};

struct cluster {
	struct server s;
	struct client *client;
	struct gc *gc;
};

static void settle(struct cluster *c)
{
	for (int i = 0; i < 6; i++)
		server_settle(&c->s);
}

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.gc = gc_new(c.client);
	settle(&c);
	return c;
}

static void cluster_done(struct cluster *c)
{
	gc_free(c->gc);
	client_free(c->client);
	server_done(&c->s);
}

static char *uid_of(struct cluster *c, const char *name)
{
	json_auto_t *obj = server_ask(&c->s, VERB_GET, "v1/configmaps", "default", name, NULL);

	return xstrdup(jsonx_str_or(obj, "metadata.uid", "none"));
}

/* A ConfigMap owned by others ("a b"); a name with '!' behind blocks its owner's deletion. */
static void make(struct cluster *c, const char *name, const char *owners)
{
	auto_sbuf struct sbuf body = SBUF(8192);
	struct str rest = str_of(owners);
	struct str one;
	bool any = false;

	sbuf_addf(&body, "{'metadata':{'name':'%s','ownerReferences':[", name);
	while (*owners && str_split(&rest, ' ', &one)) {
		bool blocks = one.p[one.n - 1] == '!';
		auto_free char *owner = xstrndup(one.p, one.n - blocks);
		auto_free char *uid = uid_of(c, owner);

		sbuf_addf(&body,
			  "%s{'apiVersion':'v1','kind':'ConfigMap','name':'%s','uid':'%s','blockOwnerDeletion':%s}",
			  any ? "," : "", owner, uid, blocks ? "true" : "false");
		any = true;
	}
	sbuf_adds(&body, "]}}");
	server_do(&c->s, VERB_CREATE, "v1/configmaps", "default", NULL, body.p);
}

/* Points `name` at another owner, be it one of its own: this API would refuse that, others do not. */
static void adopt(struct cluster *c, const char *name, const char *owner)
{
	auto_free char *uid = uid_of(c, owner);
	auto_free char *body = xasprintf("{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':"
					 "'%s','uid':'%s','blockOwnerDeletion':true}]}}",
					 owner, uid);

	server_smuggle(&c->s, "v1/configmaps", "default", name, body);
}

static void delete (struct cluster *c, const char *name, enum propagation policy)
{
	struct api_request req = server_request(&c->s, VERB_DELETE, "v1/configmaps", "default", name);
	json_auto_t *done = NULL;

	req.propagation = policy;
	done = server_call(&c->s, &req, NULL);
	CHECK(done != NULL);
}

/* Which of the names are there: "a b". */
static char *alive(struct cluster *c, const char *names)
{
	struct sbuf out = SBUF(1000);
	struct str rest = str_of(names);
	struct str one;

	while (str_split(&rest, ' ', &one)) {
		auto_free char *name = xstrndup(one.p, one.n);

		if (server_has(&c->s, "v1/configmaps", "default", name))
			sbuf_addf(&out, "%s%s", out.n ? " " : "", name);
	}
	return sbuf_steal(&out);
}

#define CHECK_ALIVE(c, names, want)                                                                                    \
	do {                                                                                                           \
		auto_free char *alive_ = alive(c, names);                                                              \
		CHECK_STR(alive_, want);                                                                               \
	} while (0)

static void count_get(struct client *c, const struct ref *ref, client_done *done, void *arg)
{
	struct counting *n = (struct counting *)c;

	n->gets++;
	n->real->ops->get(n->real, ref, done, arg);
}

static void count_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch,
			client_done *done, void *arg)
{
	struct counting *n = (struct counting *)c;

	n->patches++;
	n->real->ops->patch(n->real, ref, type, patch, done, arg);
}

static void count_remove(struct client *c, const struct ref *ref, const json_t *options, client_done *done, void *arg)
{
	struct counting *n = (struct counting *)c;

	n->removes++;
	n->real->ops->remove(n->real, ref, options, done, arg);
}

static void *pass_watch(struct client *c, const struct ref *ref, const struct list_options *o, client_event *event,
			void *arg)
{
	struct counting *n = (struct counting *)c;

	if (streq(ref->plural, "configmaps")) {
		n->event = event;
		n->event_arg = arg;
	}
	return n->real->ops->watch(n->real, ref, o, event, arg);
}

static void pass_list(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
		      void *arg)
{
	struct client *real = ((struct counting *)c)->real;

	real->ops->list(real, ref, o, done, arg);
}

static void pass_watch_stop(struct client *c, void *watch)
{
	struct client *real = ((struct counting *)c)->real;

	real->ops->watch_stop(real, watch);
}

static void pass_raw(struct client *c, const char *method, const char *path, struct str body,
		     void (*done)(void *arg, int code, struct str body, const struct err *e), void *arg)
{
	struct client *real = ((struct counting *)c)->real;

	real->ops->raw(real, method, path, body, done, arg);
}

static const struct client_ops counting_ops = {
	.get = count_get,
	.list = pass_list,
	.patch = count_patch,
	.remove = count_remove,
	.watch = pass_watch,
	.watch_stop = pass_watch_stop,
	.raw = pass_raw,
};

#define MANY 1000

/* Deletes an owner of MANY and turns the loop until it is gone; *ret_most is the most requests of one kind that one
 * turn saw. */
static struct counting delete_many(struct cluster *c, enum propagation policy, unsigned *ret_most)
{
	struct counting n = { .client = { &counting_ops, c->s.loop }, .real = c->client };
	unsigned patches, removes;
	char name[16];

	gc_free(c->gc);
	c->gc = gc_new(&n.client);
	make(c, "owner", "");
	c->s.batch = true;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		make(c, name, "owner!");
	}
	c->s.batch = false;
	settle(c);
	n.gets = n.patches = n.removes = 0;
	delete (c, "owner", policy);
	*ret_most = 0;
	patches = n.patches;
	removes = n.removes;
	for (int i = 0; i < MANY && server_has(&c->s, "v1/configmaps", "default", "owner"); i++) {
		unsigned most = n.patches - patches > n.removes - removes ? n.patches - patches : n.removes - removes;

		*ret_most = most > *ret_most ? most : *ret_most;
		patches = n.patches;
		removes = n.removes;
	}
	settle(c);
	gc_free(c->gc);
	c->gc = NULL;
	return n;
}

TEST("an owner of many in the foreground: each is deleted and released once, a few a turn")
{
	struct cluster c = cluster_new();
	unsigned most;
	struct counting n = delete_many(&c, PROPAGATE_FOREGROUND, &most);

	CHECK_ALIVE(&c, "owner d0 d1 d500 d999", "");
	CHECK_INT(n.removes, MANY);
	CHECK_INT(n.patches, MANY + 1);
	CHECK(n.gets <= 2 * MANY + 100);
	CHECK(most > 1 && most <= 65);
	cluster_done(&c);
}

TEST("an owner of many that leaves orphans: each is released once, a few a turn")
{
	struct cluster c = cluster_new();
	unsigned most;
	struct counting n = delete_many(&c, PROPAGATE_ORPHAN, &most);

	CHECK_ALIVE(&c, "owner d0 d1 d500 d999", "d0 d1 d500 d999");
	CHECK_INT(n.removes, 0);
	CHECK_INT(n.patches, MANY + 1);
	CHECK(most > 1 && most <= 65);
	cluster_done(&c);
}

TEST("dependents follow their owner, and theirs follow them")
{
	struct cluster c = cluster_new();

	make(&c, "a", "");
	make(&c, "b", "a");
	make(&c, "c", "b");
	make(&c, "other", "");
	settle(&c);
	CHECK_ALIVE(&c, "a b c other", "a b c other");
	delete (&c, "a", PROPAGATE_BACKGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "a b c other", "other");
	cluster_done(&c);
}

TEST("an object with a second owner stays and forgets the first")
{
	struct cluster c = cluster_new();

	make(&c, "a", "");
	make(&c, "b", "");
	make(&c, "c", "a b");
	delete (&c, "a", PROPAGATE_BACKGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "a b c", "b c");
	json_auto_t *obj = server_ask(&c.s, VERB_GET, "v1/configmaps", "default", "c", NULL);
	CHECK_INT(json_array_size(jsonx_at(obj, "metadata.ownerReferences")), 1);
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(obj, "metadata.ownerReferences"), 0), "name"), "b");
	cluster_done(&c);
}

TEST("an owner that never was takes its dependents at once, a kind that is not served none")
{
	struct cluster c = cluster_new();

	server_make_map(&c.s, "here", "{}");
	server_do(
		&c.s, VERB_CREATE, "v1/configmaps", "default", NULL,
		"{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'gone','uid':"
		"'u1'}]}}");
	server_do(&c.s, VERB_CREATE, "v1/configmaps", "default", NULL,
		  "{'metadata':{'name':'b','ownerReferences':[{'apiVersion':'example.org/v1','kind':'Thing','name':'x',"
		  "'uid':'u2'}]}}");
	server_do(
		&c.s, VERB_CREATE, "v1/configmaps", "default", NULL,
		"{'metadata':{'name':'c','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'here','uid':"
		"'another'}]}}");
	settle(&c);
	CHECK_ALIVE(&c, "a b c here", "b here");
	cluster_done(&c);
}

TEST("in the foreground an owner waits for what blocks it")
{
	struct cluster c = cluster_new();

	make(&c, "a", "");
	make(&c, "b", "a!");
	server_do(&c.s, VERB_CREATE, "v1/configmaps", "default", NULL,
		  "{'metadata':{'name':'held','finalizers':['e.org/x']}}");
	adopt(&c, "held", "a");
	settle(&c);
	delete (&c, "a", PROPAGATE_FOREGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "a b held", "a held");
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/configmaps", "default", "held");
	req.patch = PATCH_MERGE;
	json_auto_t *freed = server_call(&c.s, &req, "{'metadata':{'finalizers':null}}");
	CHECK(freed != NULL);
	settle(&c);
	CHECK_ALIVE(&c, "a b held", "");
	cluster_done(&c);
}

TEST("a chain in the foreground goes from its far end")
{
	struct cluster c = cluster_new();

	make(&c, "a", "");
	make(&c, "b", "a!");
	make(&c, "c", "b!");
	make(&c, "d", "c!");
	settle(&c);
	delete (&c, "a", PROPAGATE_FOREGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "a b c d", "");
	cluster_done(&c);
}

TEST("orphans lose their owner and stay")
{
	struct cluster c = cluster_new();

	make(&c, "a", "");
	make(&c, "b", "a!");
	make(&c, "c", "b!");
	settle(&c);
	delete (&c, "a", PROPAGATE_ORPHAN);
	settle(&c);
	CHECK_ALIVE(&c, "a b c", "b c");
	json_auto_t *obj = server_ask(&c.s, VERB_GET, "v1/configmaps", "default", "b", NULL);
	CHECK(!jsonx_at(obj, "metadata.ownerReferences"));
	cluster_done(&c);
}

TEST("a circle of owners goes as a whole, in background and foreground")
{
	static const enum propagation policies[] = { PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND };

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		struct cluster c = cluster_new();

		make(&c, "a", "");
		make(&c, "b", "a!");
		make(&c, "c", "b!");
		adopt(&c, "a", "c");
		settle(&c);
		CHECK_ALIVE(&c, "a b c", "a b c");
		delete (&c, "a", policies[i]);
		settle(&c);
		CHECK_ALIVE(&c, "a b c", "");
		cluster_done(&c);
	}
}

TEST("an object that owns itself can be deleted in the foreground")
{
	struct cluster c = cluster_new();

	make(&c, "a", "");
	adopt(&c, "a", "a");
	settle(&c);
	CHECK_ALIVE(&c, "a", "a");
	delete (&c, "a", PROPAGATE_FOREGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "a", "");
	cluster_done(&c);
}

TEST("what was left undone by a stopped server is done by the next")
{
	struct cluster c = cluster_new();

	make(&c, "a", "");
	make(&c, "b", "a");
	settle(&c);
	gc_free(c.gc);
	delete (&c, "a", PROPAGATE_BACKGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "a b", "b");
	c.gc = gc_new(c.client);
	settle(&c);
	CHECK_ALIVE(&c, "a b", "");
	cluster_done(&c);
}

TEST("the collector may stop while its questions are out")
{
	for (int turns = 0; turns < 6; turns++) {
		struct cluster c = cluster_new();

		make(&c, "a", "");
		make(&c, "b", "a!");
		make(&c, "c", "a!");
		settle(&c);
		delete (&c, "a", turns % 2 ? PROPAGATE_BACKGROUND : PROPAGATE_FOREGROUND);
		for (int i = 0; i < turns; i++)
			server_turn(&c.s);
		cluster_done(&c);
	}
}

TEST("what went while a watch was lost holds up nobody")
{
	struct cluster c = cluster_new();
	struct counting n = { .client = { &counting_ops, c.s.loop }, .real = c.client };
	struct err lost = ERR_INIT;

	gc_free(c.gc);
	c.gc = gc_new(&n.client);
	make(&c, "a", "");
	make(&c, "root", "");
	make(&c, "leaf", "root");
	server_do(&c.s, VERB_CREATE, "v1/configmaps", "default", NULL,
		  "{'metadata':{'name':'held','finalizers':['e.org/x']}}");
	adopt(&c, "held", "a");
	settle(&c);
	delete (&c, "a", PROPAGATE_FOREGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "a held", "a held");
	err_set(&lost, ERR_EXPIRED, "lost");
	n.event(n.event_arg, NULL, NULL, &lost);
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/configmaps", "default", "held");
	req.patch = PATCH_MERGE;
	json_auto_t *freed = server_call(&c.s, &req, "{'metadata':{'finalizers':null}}");
	CHECK(freed != NULL);
	delete (&c, "root", PROPAGATE_BACKGROUND);
	for (int i = 0; i < 5 && server_has(&c.s, "v1/configmaps", "default", "a"); i++) {
		loop_turn(c.s.loop, false); /* until it looks again */
		settle(&c);
	}
	CHECK_ALIVE(&c, "a held root leaf", "");
	make(&c, "b", "");
	make(&c, "d", "b");
	delete (&c, "b", PROPAGATE_BACKGROUND);
	settle(&c);
	CHECK_ALIVE(&c, "b d", "");
	cluster_done(&c);
}

TEST("the collector may stop while it lists again")
{
	for (int turns = 0; turns < 3; turns++) {
		struct cluster c = cluster_new();
		struct counting n = { .client = { &counting_ops, c.s.loop }, .real = c.client };
		struct err lost = ERR_INIT;

		gc_free(c.gc);
		c.gc = gc_new(&n.client);
		make(&c, "a", "");
		settle(&c);
		err_set(&lost, ERR_EXPIRED, "lost");
		n.event(n.event_arg, NULL, NULL, &lost);
		loop_turn(c.s.loop, false);
		for (int i = 0; i < turns; i++)
			server_turn(&c.s);
		cluster_done(&c);
	}
}
