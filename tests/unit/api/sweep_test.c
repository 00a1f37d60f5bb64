// SPDX-License-Identifier: Apache-2.0
#include "api/sweep.h"

#include "server.h"

struct sweeping {
	int calls;
	struct err e;
	struct sweep *sweep;
};

static void on_done(void *arg, const struct err *e)
{
	struct sweeping *w = arg;

	w->calls++;
	w->e = *e;
	w->sweep = NULL;
}

/* Starts, and turns until the answer or for `turns`. */
static int sweep(struct server *s, struct api_request *req, struct sweeping *w, int turns)
{
	*w = (struct sweeping){ 0 };
	s->e = ERR_INIT;
	if (sweep_start(s->api, req, on_done, w, &w->sweep, &s->e) < 0)
		return -1;
	CHECK_INT(w->calls, 0);
	for (int i = 0; i < turns && !w->calls; i++)
		server_turn(s);
	return 0;
}

TEST("a collection goes by its selector, in one namespace")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_DELETECOLLECTION, "v1/configmaps", "default", NULL);
	struct selector *labels = NULL;
	struct sweeping w;

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'other'}}");
	server_do(&s, VERB_CREATE, "v1/configmaps", "other", NULL, "{'metadata':{'name':'a','labels':{'go':'yes'}}}");
	server_make_map(&s, "a", "{'go':'yes'}");
	server_make_map(&s, "b", "{'go':'no'}");
	CHECK_INT(selector_parse_labels("go=yes", &labels, &s.e), 0);
	req.labels = labels;
	CHECK_INT(sweep(&s, &req, &w, 20), 0);
	CHECK_INT(w.calls, 1);
	CHECK_INT(w.e.kind, ERR_NONE);
	CHECK(!server_has(&s, "v1/configmaps", "default", "a"));
	CHECK(server_has(&s, "v1/configmaps", "default", "b"));
	CHECK(server_has(&s, "v1/configmaps", "other", "a"));
	selector_free(labels);
	server_done(&s);
}

TEST("the right to delete a collection is needed and enough")
{
	static const char *const groups[] = { "system:authenticated", NULL };
	const struct caller cleaner = { .user = "cleaner", .uid = "", .groups = groups };
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_DELETECOLLECTION, "v1/configmaps", "default", NULL);
	struct sweeping w;

	server_make_map(&s, "a", "{}");
	req.caller = &cleaner;
	CHECK_INT(sweep(&s, &req, &w, 20), -1);
	CHECK_INT(s.e.kind, ERR_FORBIDDEN);
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/roles", "default", NULL,
		  "{'metadata':{'name':'clean'},'rules':[{'apiGroups':[''],'resources':['configmaps'],'verbs':["
		  "'deletecollection']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/rolebindings", "default", NULL,
		  "{'metadata':{'name':'clean'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':"
		  "'clean'},'subjects':[{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'cleaner'}]}");
	CHECK_INT(sweep(&s, &req, &w, 20), 0);
	CHECK_INT(w.e.kind, ERR_NONE);
	CHECK(!server_has(&s, "v1/configmaps", "default", "a"));
	server_done(&s);
}

TEST("a large collection goes over several turns, and may be stopped between them")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_DELETECOLLECTION, "v1/configmaps", "default", NULL);
	struct sweeping w;
	int kind = 0;

	s.batch = true;
	for (int i = 0; i < 300; i++) {
		auto_free char *name = xasprintf("m%03d", i);

		server_make_map(&s, name, "{}");
	}
	s.batch = false;
	server_turn(&s);
	CHECK_INT(api_store_kind(s.api, req.kind, &kind, &s.e), 0);
	CHECK_INT(sweep(&s, &req, &w, 1), 0);
	CHECK_INT(w.calls, 0);
	sweep_cancel(w.sweep);
	server_settle(&s);
	CHECK_INT(w.calls, 0);
	CHECK(store_count(s.store, kind, "default") > 0);
	CHECK(store_count(s.store, kind, "default") < 300);
	CHECK_INT(sweep(&s, &req, &w, 20), 0);
	CHECK_INT(w.calls, 1);
	CHECK_INT(store_count(s.store, kind, "default"), 0);
	server_done(&s);
}

TEST("an object made anew while the collection goes stays, one that has gone is no error")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_DELETECOLLECTION, "v1/configmaps", "default", NULL);
	struct sweeping w;

	server_make_map(&s, "a", "{}");
	server_make_map(&s, "b", "{}");
	CHECK_INT(sweep(&s, &req, &w, 0), 0);
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "a", NULL); /* the first step comes after this one */
	server_make_map(&s, "c", "{}");
	server_settle(&s);
	CHECK_INT(w.calls, 1);
	CHECK_INT(w.e.kind, ERR_NONE);
	CHECK(!server_has(&s, "v1/configmaps", "default", "b"));
	CHECK(server_has(&s, "v1/configmaps", "default", "c"));
	server_done(&s);
}

TEST("a kind without collections says so")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_DELETECOLLECTION, "v1/namespaces", "", NULL);
	struct sweeping w;

	CHECK_INT(sweep(&s, &req, &w, 5), -1);
	CHECK_INT(s.e.kind, ERR_NO_METHOD);
	server_done(&s);
}
