// SPDX-License-Identifier: Apache-2.0
#include "api/verbs.h"

#include <unistd.h>

#include "server.h"

TEST("a namespace that only speaks of deletion takes new objects")
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL,
		  "{'metadata':{'name':'n','labels':{'deletionTimestamp':'never'}}}");
	json_auto_t *made = server_ask(&s, VERB_CREATE, "v1/configmaps", "n", NULL, "{'metadata':{'name':'m'}}");
	CHECK_STR(s.message, "");
	CHECK(made != NULL);
	server_done(&s);
}

TEST("objects in a namespace that goes away can still be changed")
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'n'}}");
	server_do(&s, VERB_CREATE, "v1/configmaps", "n", NULL, "{'metadata':{'name':'m'}}");
	server_do(&s, VERB_DELETE, "v1/namespaces", "", "n", NULL);
	json_auto_t *changed =
		server_ask(&s, VERB_UPDATE, "v1/configmaps", "n", "m", "{'metadata':{'name':'m'},'data':{'k':'v'}}");
	CHECK(changed != NULL);
	server_done(&s);
}

TEST("nobody hands out rights that they do not have")
{
	static const char *const groups[] = { "system:authenticated", NULL };
	const struct caller editor = { .user = "ed", .uid = "", .groups = groups };
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/roles", "default", NULL);

	server_do(
		&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/roles", "default", NULL,
		"{'metadata':{'name':'maker'},'rules':[{'apiGroups':['rbac.authorization.k8s.io'],'resources':['roles'"
		"],'verbs':['create']},{'apiGroups':[''],'resources':['pods'],'verbs':['get']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/rolebindings", "default", NULL,
		  "{'metadata':{'name':'maker'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':"
		  "'maker'},'subjects':[{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'ed'}]}");
	req.caller = &editor;
	json_auto_t *more =
		server_call(&s, &req,
			    "{'metadata':{'name':'more'},'rules':[{'apiGroups':[''],'resources':['secrets'],"
			    "'verbs':['get']}]}");
	CHECK(!more);
	CHECK_INT(s.code, 403);
	json_auto_t *same = server_call(&s, &req,
					"{'metadata':{'name':'same'},'rules':[{'apiGroups':[''],'resources':['pods'],"
					"'verbs':['get']}]}");
	CHECK_STR(s.message, "");
	CHECK(same != NULL);
	server_done(&s);
}

TEST("a definition of a custom kind is served in the turn that made it")
{
	struct server s = server_new();

	server_do(
		&s, VERB_CREATE, "apiextensions.k8s.io/v1/customresourcedefinitions", "", NULL,
		"{'metadata':{'name':'widgets.example.org'},'spec':{'group':'example.org','scope':'Namespaced','names':"
		"{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{"
		"'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','properties':{'size':{'type'"
		":'integer','default':3}}}}}}}]}}");
	json_auto_t *made = server_ask(&s, VERB_CREATE, "example.org/v1/widgets", "default", NULL,
				       "{'metadata':{'name':'w'},'spec':{}}");
	CHECK_STR(s.message, "");
	CHECK_STR(jsonx_str(made, "apiVersion"), "example.org/v1");
	CHECK_INT(jsonx_int_or(made, "spec.size", 0), 3);
	server_close(&s);
	server_open(&s);
	CHECK(server_has(&s, "example.org/v1/widgets", "default", "w"));
	server_done(&s);
}

TEST("a CronJob names a time zone that this machine knows, or keeps the one it had")
{
#define CRON                                                                                                           \
	"{'metadata':{'name':'%s'},'spec':{'schedule':'@daily','timeZone':'%s','suspend':%s,'jobTemplate':{'spec':"    \
	"{'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'host'}]}}}}}}"
	struct server s = server_new();
	auto_free char *good = xasprintf(CRON, "a", "Lost", "false");
	auto_free char *held = xasprintf(CRON, "a", "Lost", "true");
	auto_free char *bad = xasprintf(CRON, "b", "Mars/Base", "false");
	auto_free char *local = xasprintf(CRON, "c", "Local", "false");
	auto_free char *zone = xasprintf("%s/Lost", s.dir);
	FILE *f = fopen(zone, "w");
	json_t *answer;

	CHECK(f && fputs("TZif", f) >= 0 && fclose(f) == 0);
	setenv("TZDIR", s.dir, 1);
	server_do(&s, VERB_CREATE, "batch/v1/cronjobs", "default", NULL, good);
	unlink(zone);
	answer = server_ask(&s, VERB_UPDATE, "batch/v1/cronjobs", "default", "a", held);
	CHECK(json_is_true(jsonx_at(answer, "spec.suspend")));
	json_decref(answer);
	unsetenv("TZDIR");
	CHECK(!server_ask(&s, VERB_CREATE, "batch/v1/cronjobs", "default", NULL, bad));
	CHECK_INT(s.code, 422);
	CHECK(strstr(s.message, "spec.timeZone: Invalid value: \"Mars/Base\": unknown time zone Mars/Base"));
	CHECK(!server_ask(&s, VERB_CREATE, "batch/v1/cronjobs", "default", NULL, local));
	CHECK(strstr(s.message, "must be an explicit time zone"));
	server_done(&s);
}
