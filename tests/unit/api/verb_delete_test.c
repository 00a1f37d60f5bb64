// SPDX-License-Identifier: Apache-2.0
#include "api/verbs.h"
#include "base/clock.h"
#include "server.h"

static json_t *delete_pod(struct server *s, const char *name, int64_t grace)
{
	struct api_request req = server_request(s, VERB_DELETE, "v1/pods", "default", name);

	req.grace_seconds = grace;
	return server_call(s, &req, NULL);
}

static void bind(struct server *s, const char *name)
{
	struct api_request req = server_request(s, VERB_CREATE, "v1/pods", "default", name);
	json_auto_t *bound = NULL;

	req.subresource = "binding";
	bound = server_call(s, &req, "{'target':{'kind':'Node','name':'n1'}}");
	CHECK_INT(s->code, 201);
}

TEST("a deleted object is gone, and its answer is a Status with its uid")
{
	struct server s = server_new();

	server_make_map(&s, "m", "{}");
	json_auto_t *made = server_ask(&s, VERB_GET, "v1/configmaps", "default", "m", NULL);
	json_auto_t *gone = server_ask(&s, VERB_DELETE, "v1/configmaps", "default", "m", NULL);
	CHECK_INT(s.code, 200);
	CHECK_STR(jsonx_str(gone, "status"), "Success");
	CHECK_STR(jsonx_str(gone, "details.uid"), jsonx_str(made, "metadata.uid"));
	CHECK(!server_has(&s, "v1/configmaps", "default", "m"));
	json_auto_t *twice = server_ask(&s, VERB_DELETE, "v1/configmaps", "default", "m", NULL);
	CHECK(!twice);
	CHECK_INT(s.code, 404);
	CHECK_STR(s.message, "configmaps \"m\" not found");
	server_done(&s);
}

TEST("a pod that runs has its grace, which may only become shorter")
{
	static const struct {
		int64_t grace, want, until;
	} rows[] = { { 90, 90, 1090 }, { -1, 90, 1090 }, { 60, 60, 1060 }, { 70, 60, 1060 }, { 5, 5, 1005 } };
	struct server s = server_new();
	int64_t before;

	server_make_pod(&s, "p");
	bind(&s, "p");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		clock_fake(1000 + (int64_t)i); /* it counts from the first deletion */
		json_auto_t *pod = delete_pod(&s, "p", rows[i].grace);
		int64_t until = 0;

		CHECK_STR(jsonx_str(pod, "kind"), "Pod");
		CHECK_INT(jsonx_int_or(pod, "metadata.deletionGracePeriodSeconds", -1), rows[i].want);
		clock_parse_rfc3339(jsonx_str_or(pod, "metadata.deletionTimestamp", ""), &until);
		CHECK_INT(until / 1000000, rows[i].until);
	}
	before = store_revision(s.store);
	json_auto_t *same = delete_pod(&s, "p", -1);
	CHECK(same != NULL);
	CHECK_INT(store_revision(s.store), before);
	json_auto_t *last = delete_pod(&s, "p", 0);
	CHECK_STR(jsonx_str(last, "kind"), "Pod");
	clock_fake(-1);
	CHECK(!server_has(&s, "v1/pods", "default", "p"));
	server_done(&s);
}

TEST("a pod that runs nowhere, or has ended, needs no grace")
{
	struct server s = server_new();
	struct api_request status = server_request(&s, VERB_PATCH, "v1/pods", "default", "ended");

	server_make_pod(&s, "fresh");
	server_make_pod(&s, "ended");
	bind(&s, "ended");
	status.subresource = "status";
	status.patch = PATCH_MERGE;
	json_auto_t *ended = server_call(&s, &status, "{'status':{'phase':'Succeeded'}}");
	json_auto_t *a = delete_pod(&s, "fresh", -1);
	json_auto_t *b = delete_pod(&s, "ended", -1);
	CHECK(ended && a && b);
	CHECK(!server_has(&s, "v1/pods", "default", "fresh"));
	CHECK(!server_has(&s, "v1/pods", "default", "ended"));
	server_done(&s);
}

TEST("finalizers hold an object until the last one is taken off")
{
	static const char *const adds[] = { "{'metadata':{'finalizers':['e.org/a','e.org/b','e.org/c']}}",
					    "{'metadata':{'finalizers':['e.org/c']}}" };
	struct server s = server_new();
	struct api_request patch = server_request(&s, VERB_PATCH, "v1/configmaps", "default", "m");
	int64_t marked;

	patch.patch = PATCH_MERGE;
	server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL,
		  "{'metadata':{'name':'m','finalizers':['e.org/a','e.org/b']}}");
	json_auto_t *going = server_ask(&s, VERB_DELETE, "v1/configmaps", "default", "m", NULL);
	CHECK_STR(jsonx_str(going, "kind"), "ConfigMap");
	CHECK(jsonx_str(going, "metadata.deletionTimestamp") != NULL);
	CHECK_INT(jsonx_int_or(going, "metadata.deletionGracePeriodSeconds", -1), 0);
	marked = store_revision(s.store);
	json_auto_t *again = server_ask(&s, VERB_DELETE, "v1/configmaps", "default", "m", NULL);
	CHECK(jsonx_equal(going, again));
	CHECK_INT(store_revision(s.store), marked);
	for (size_t i = 0; i < ARRAY_SIZE(adds); i++) {
		json_auto_t *more = server_call(&s, &patch, adds[i]);

		CHECK(!more);
		CHECK_INT(s.code, 422);
		CHECK_STR(err_cause_field(&s.e, 0), "metadata.finalizers");
	}
	json_auto_t *fewer = server_call(&s, &patch, "{'metadata':{'finalizers':['e.org/b']}}");
	CHECK(fewer != NULL);
	CHECK(server_has(&s, "v1/configmaps", "default", "m"));
	json_auto_t *none = server_call(&s, &patch, "{'metadata':{'finalizers':null}}");
	CHECK_STR(jsonx_str(none, "kind"), "ConfigMap");
	CHECK(!server_has(&s, "v1/configmaps", "default", "m"));
	server_done(&s);
}

TEST("preconditions must hold")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_DELETE, "v1/configmaps", "default", "m");

	server_make_map(&s, "m", "{}");
	json_auto_t *made = server_ask(&s, VERB_GET, "v1/configmaps", "default", "m", NULL);
	req.if_uid = "other";
	json_auto_t *a = server_call(&s, &req, NULL);
	CHECK(!a);
	CHECK_INT(s.code, 409);
	CHECK(str_starts(s.message, "Precondition failed: UID in precondition: other, UID in object meta: "));
	req.if_uid = jsonx_str(made, "metadata.uid");
	req.if_rv = "1";
	json_auto_t *b = server_call(&s, &req, NULL);
	CHECK(!b);
	CHECK(str_starts(s.message, "Precondition failed: ResourceVersion in precondition: 1, "));
	req.if_rv = jsonx_str(made, "metadata.resourceVersion");
	json_auto_t *c = server_call(&s, &req, NULL);
	CHECK(c != NULL);
	server_done(&s);
}

TEST("a propagation policy leaves its finalizer, and the last one given counts")
{
	static const struct {
		enum propagation policy;
		const char *finalizers;
	} rows[] = {
		{ PROPAGATE_FOREGROUND, "['e.org/x','foregroundDeletion']" },
		{ PROPAGATE_DEFAULT, "['e.org/x','foregroundDeletion']" },
		{ PROPAGATE_ORPHAN, "['e.org/x','orphan']" },
		{ PROPAGATE_DEFAULT, "['e.org/x','orphan']" },
		{ PROPAGATE_BACKGROUND, "['e.org/x']" },
	};
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL,
		  "{'metadata':{'name':'m','finalizers':['e.org/x']}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_DELETE, "v1/configmaps", "default", "m");
		json_auto_t *got = NULL;

		req.propagation = rows[i].policy;
		got = server_call(&s, &req, NULL);
		CHECK_JSON(jsonx_at(got, "metadata.finalizers"), rows[i].finalizers);
	}
	server_done(&s);
}

TEST("a namespace waits for its contents, and the server's own stay")
{
	struct server s = server_new();
	struct api_request finalize = server_request(&s, VERB_UPDATE, "v1/namespaces", "", "n");

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'n'}}");
	json_auto_t *going = server_ask(&s, VERB_DELETE, "v1/namespaces", "", "n", NULL);
	CHECK_STR(jsonx_str(going, "status.phase"), "Terminating");
	CHECK_JSON(jsonx_at(going, "spec.finalizers"), "['kubernetes']");
	json_auto_t *late = server_ask(&s, VERB_CREATE, "v1/configmaps", "n", NULL, "{'metadata':{'name':'late'}}");
	CHECK(!late);
	CHECK_INT(s.code, 403);
	CHECK_STR(s.message, "configmaps \"late\" is forbidden: unable to create new content in namespace n because it "
			     "is being terminated");
	finalize.subresource = "finalize";
	json_auto_t *gone = server_call(&s, &finalize, "{'metadata':{'name':'n'},'spec':{'finalizers':[]}}");
	CHECK_STR(jsonx_str(gone, "kind"), "Namespace");
	CHECK(!server_has(&s, "v1/namespaces", "", "n"));
	json_auto_t *kept = server_ask(&s, VERB_DELETE, "v1/namespaces", "", "default", NULL);
	CHECK(!kept);
	CHECK_INT(s.code, 403);
	server_done(&s);
}
