// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include "api/server.h"
#include "client/changes.h"
#include "client/client.h"

/* Those that keep pods in a server: all of them, all again, and those of one node. */
#define KEEPERS 4

struct keepers {
	struct server s;
	struct client *client;
	struct informer *all[KEEPERS];
	int synced;
	json_t *told; /* names, by the one who keeps nothing */
	int listed;
};

static void on_synced(void *arg)
{
	((struct keepers *)arg)->synced++;
}

static void make_pods(struct server *s, size_t n, const char *other)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *body = xasprintf(
			"{'metadata':{'name':'p%zu'},'spec':{'nodeName':'%s','containers':[{'name':'c','image':'host',"
			"'env':[{'name':'SEED','value':'1'}],'resources':{'requests':{'cpu':'1'}}}]}}",
			i, i % 2 ? "odd" : other);

		server_do(s, VERB_CREATE, "v1/pods", "default", NULL, body);
	}
}

static void start(struct keepers *k)
{
	static const char *const fields[KEEPERS] = { NULL, NULL, "spec.nodeName=odd", "status.phase!=Failed" };
	struct informer_handlers h = { .synced = on_synced, .arg = k };

	k->client = client_local_new(k->s.api, &caller_system);
	for (int i = 0; i < KEEPERS; i++)
		k->all[i] = informer_new(k->client, &(struct ref){ .api_version = "v1", .plural = "pods" },
					 &(struct list_options){ .fields = fields[i] }, &h);
}

static void settle(struct keepers *k)
{
	for (int i = 0; i < 1000 && k->synced < KEEPERS; i++)
		server_turn(&k->s);
	CHECK_INT(k->synced, KEEPERS);
	server_settle(&k->s);
}

static void stop(struct keepers *k)
{
	for (int i = 0; i < KEEPERS; i++)
		informer_free(k->all[i]);
	client_free(k->client);
	server_done(&k->s);
}

/* They have the same object, and not only an equal one. */
static void check_shared(struct keepers *k, const char *name, bool odd)
{
	const json_t *one = informer_find(k->all[0], "default", name);

	CHECK(one != NULL);
	CHECK(informer_find(k->all[1], "default", name) == one);
	CHECK(informer_find(k->all[2], "default", name) == (odd ? one : NULL));
	CHECK(informer_find(k->all[3], "default", name) == one);
}

static void label(struct server *s, const char *name, const char *value)
{
	auto_free char *body = xasprintf("{'metadata':{'labels':{'v':'%s'}}}", value);
	struct api_request req = server_request(s, VERB_PATCH, "v1/pods", "default", name);

	req.patch = PATCH_MERGE;
	json_decref(server_call(s, &req, body));
	CHECK_STR(s->message, "");
}

TEST("caches that begin together have one object of each, whatever they select")
{
	struct keepers k = { .s = server_new() };

	make_pods(&k.s, 200, "even");
	start(&k);
	settle(&k);
	check_shared(&k, "p0", false);
	check_shared(&k, "p199", true);
	label(&k.s, "p7", "new");
	server_settle(&k.s);
	check_shared(&k, "p7", true);
	CHECK_STR(jsonx_str(informer_find(k.all[1], "default", "p7"), "metadata.labels.v"), "new");
	stop(&k);
}

TEST("what changes while they are told what there is reaches all of them, as one object")
{
	struct keepers k = { .s = server_new() };

	make_pods(&k.s, 200, "even");
	start(&k);
	server_turn(&k.s); /* the first of several steps */
	CHECK_INT(k.synced, 0);
	label(&k.s, "p1", "while");
	label(&k.s, "p199", "while");
	server_do(&k.s, VERB_DELETE, "v1/pods", "default", "p3", NULL);
	settle(&k);
	check_shared(&k, "p1", true);
	check_shared(&k, "p199", true);
	CHECK_STR(jsonx_str(informer_find(k.all[2], "default", "p199"), "metadata.labels.v"), "while");
	stop(&k);
}

TEST("if the first of them leaves half-way the others are still told everything, once")
{
	for (int leaver = 0; leaver < KEEPERS; leaver++) {
		struct keepers k = { .s = server_new(), .synced = 1 };

		make_pods(&k.s, 200, "even");
		start(&k);
		server_turn(&k.s);
		informer_free(k.all[leaver]);
		k.all[leaver] = NULL;
		settle(&k);
		for (int i = 0; i < KEEPERS; i++) {
			const json_t *obj;
			size_t pos = 0;
			int n = 0;

			while (k.all[i] && informer_next(k.all[i], &pos, &obj))
				n++;
			CHECK_INT(n, i == leaver ? 0 : i == 2 ? 100 : 200);
		}
		stop(&k);
	}
}

/* ---- how much they keep ---- */

static size_t in_use;

static void *count_alloc(size_t n)
{
	void *p = malloc(n);

	in_use += malloc_usable_size(p);
	return p;
}

static void count_free(void *p)
{
	in_use -= malloc_usable_size(p);
	free(p);
}

/* Decoded, such a pod is 15 KiB, and each had its own. */
TEST("a pod costs all caches together less than its text does")
{
	enum { PODS = 500, EACH = 2500 };
	struct keepers k = { .s = server_new() };
	size_t before;

	make_pods(&k.s, PODS, "odd");
	json_set_alloc_funcs(count_alloc, count_free);
	before = in_use;
	start(&k);
	settle(&k);
	if ((in_use - before) / PODS >= EACH)
		test_fail(__FILE__, __LINE__, "%zu bytes", (in_use - before) / PODS);
	stop(&k);
	json_set_alloc_funcs(malloc, free);
}

/* ---- who keeps nothing ---- */

static void on_begin(void *arg)
{
	struct keepers *k = arg;

	json_decref(k->told);
	k->told = json_array();
}

static void on_change(void *arg, const char *type, const json_t *obj)
{
	struct keepers *k = arg;

	json_array_append_new(k->told, jsonx_stringf("%s %s", type, jsonx_str_or(obj, "metadata.name", "")));
}

static void on_listed(void *arg)
{
	struct keepers *k = arg;

	k->listed++;
	json_array_append_new(k->told, json_string("listed"));
}

TEST("who keeps nothing is told what there is, that this was all, and what happens")
{
	static const struct ref pods = { .api_version = "v1", .plural = "pods" };
	struct keepers k = { .s = server_new() };
	struct changes_handlers h = { .begin = on_begin, .change = on_change, .listed = on_listed, .arg = &k };
	struct changes *odd;

	make_pods(&k.s, 4, "even");
	k.client = client_local_new(k.s.api, &caller_system);
	odd = changes_new(k.client, &pods, "spec.nodeName=odd", &h);
	server_settle(&k.s);
	CHECK_INT(k.listed, 1);
	label(&k.s, "p0", "x");
	label(&k.s, "p1", "x");
	CHECK_JSON(k.told, "['ADDED p1','ADDED p3','listed','MODIFIED p1']");
	changes_free(odd);
	json_decref(k.told);
	client_free(k.client);
	server_done(&k.s);
}
