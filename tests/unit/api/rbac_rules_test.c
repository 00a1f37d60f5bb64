// SPDX-License-Identifier: Apache-2.0
/* rbac_rules_test.c - tables of rules and requests, covering, and the defaults' own merging */
#include "api/rbac_rules.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static json_t *parse(const char *text)
{
	json_t *ret = NULL;
	struct err e = ERR_INIT;

	if (jsonx_parse(text, strlen(text), NULL, NULL, &ret, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", e.text, text);
	return ret;
}

/* Rules in short: JSON with single quotes. */
static json_t *rules_of(const char *text)
{
	char *copy = xstrdup(text);
	json_t *ret;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	ret = parse(copy);
	free(copy);
	return ret;
}

#define PODS    "[{'apiGroups':[''],'resources':['pods'],'verbs':['get','list']}]"
#define LOGS    "[{'apiGroups':[''],'resources':['pods/log'],'verbs':['get']}]"
#define ANY_SUB "[{'apiGroups':['apps'],'resources':['*/scale'],'verbs':['*']}]"
#define ALL_IN  "[{'apiGroups':['batch'],'resources':['*'],'verbs':['*']}]"
#define NAMED   "[{'apiGroups':[''],'resources':['configmaps'],'resourceNames':['a','b'],'verbs':['*']}]"
#define GOD     "[{'apiGroups':['*'],'resources':['*'],'verbs':['*']}]"
#define HEALTH  "[{'nonResourceURLs':['/healthz','/livez/*'],'verbs':['get']}]"
#define URLS    "[{'nonResourceURLs':['*'],'verbs':['*']}]"

static const struct {
	const char *rules;
	struct authz_attributes at;
	bool allowed;
} requests[] = {
	{ PODS, { .verb = "get", .group = "", .resource = "pods" }, true },
	{ PODS, { .verb = "list", .resource = "pods", .ns = "x" }, true },
	{ PODS, { .verb = "watch", .group = "", .resource = "pods" }, false },
	{ PODS, { .verb = "get", .group = "apps", .resource = "pods" }, false },
	{ PODS, { .verb = "get", .group = "", .resource = "pod" }, false },
	{ PODS, { .verb = "get", .group = "", .resource = "podss" }, false },
	{ PODS, { .verb = "get", .group = "", .resource = "pods", .subresource = "log" }, false },
	{ PODS, { .verb = "get", .path = "/pods" }, false },
	{ LOGS, { .verb = "get", .group = "", .resource = "pods", .subresource = "log" }, true },
	{ LOGS, { .verb = "get", .group = "", .resource = "pods", .subresource = "exec" }, false },
	{ LOGS, { .verb = "get", .group = "", .resource = "pods" }, false },
	{ ANY_SUB, { .verb = "update", .group = "apps", .resource = "deployments", .subresource = "scale" }, true },
	{ ANY_SUB, { .verb = "update", .group = "apps", .resource = "deployments", .subresource = "status" }, false },
	{ ANY_SUB, { .verb = "update", .group = "apps", .resource = "deployments" }, false },
	{ ALL_IN, { .verb = "create", .group = "batch", .resource = "jobs" }, true },
	{ ALL_IN, { .verb = "update", .group = "batch", .resource = "jobs", .subresource = "status" }, true },
	{ ALL_IN, { .verb = "create", .group = "", .resource = "pods" }, false },
	{ NAMED, { .verb = "get", .group = "", .resource = "configmaps", .name = "b" }, true },
	{ NAMED, { .verb = "get", .group = "", .resource = "configmaps", .name = "c" }, false },
	{ NAMED, { .verb = "list", .group = "", .resource = "configmaps" }, false },
	{ NAMED, { .verb = "list", .group = "", .resource = "configmaps", .name = "a" }, true },
	{ NAMED, { .verb = "create", .group = "", .resource = "configmaps", .name = "" }, false },
	{ NAMED, { .verb = "deletecollection", .group = "", .resource = "configmaps" }, false },
	{ GOD, { .verb = "escalate", .group = "x", .resource = "y", .subresource = "z", .name = "n" }, true },
	{ GOD, { .verb = "get", .path = "/metrics" }, false },
	{ HEALTH, { .verb = "get", .path = "/healthz" }, true },
	{ HEALTH, { .verb = "get", .path = "/healthz/ping" }, false },
	{ HEALTH, { .verb = "get", .path = "/livez/ping" }, true },
	{ HEALTH, { .verb = "get", .path = "/livez" }, false },
	{ HEALTH, { .verb = "post", .path = "/healthz" }, false },
	{ HEALTH, { .verb = "get", .group = "", .resource = "pods" }, false },
	{ URLS, { .verb = "put", .path = "/anything" }, true },
	{ "[]", { .verb = "get", .group = "", .resource = "pods" }, false },
	{ "[{'apiGroups':[''],'resources':['pods'],'verbs':[]}]", { .verb = "get", .resource = "pods" }, false },
	{ "[{'apiGroups':[1],'resources':['pods'],'verbs':['get']}]", { .verb = "get", .resource = "pods" }, false },
};

TEST("rules match requests as Kubernetes' do")
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		json_auto_t *json = rules_of(requests[i].rules);
		struct rbac_rules rules;
		bool allowed = false;

		rbac_rules_init(&rules, json);
		for (size_t k = 0; k < rules.n; k++)
			allowed |= rbac_rule_allows(&rules.rules[k], &requests[i].at);
		if (allowed != requests[i].allowed)
			test_fail(__FILE__, __LINE__, "row %zu: %s", i, requests[i].rules);
		rbac_rules_done(&rules);
	}
}

static const struct {
	const char *have, *want;
	const char *missing; /* "" if covered */
} coverings[] = {
	{ PODS, PODS, "" },
	{ GOD, PODS, "" },
	{ GOD, HEALTH,
	  "{NonResourceURLs:[\"/healthz\"], Verbs:[\"get\"]}\n{NonResourceURLs:[\"/livez/*\"], Verbs:[\"get\"]}" },
	{ URLS, HEALTH, "" },
	{ PODS, LOGS, "{APIGroups:[\"\"], Resources:[\"pods/log\"], Verbs:[\"get\"]}" },
	{ PODS, "[{'apiGroups':[''],'resources':['pods'],'verbs':['*']}]",
	  "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"*\"]}" },
	{ PODS, "[{'apiGroups':[''],'resources':['pods'],'resourceNames':['x'],'verbs':['get']}]", "" },
	{ NAMED, "[{'apiGroups':[''],'resources':['configmaps'],'resourceNames':['a'],'verbs':['get']}]", "" },
	{ NAMED, "[{'apiGroups':[''],'resources':['configmaps'],'verbs':['get']}]",
	  "{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"get\"]}" },
	{ NAMED, "[{'apiGroups':[''],'resources':['configmaps'],'resourceNames':['z'],'verbs':['get']}]",
	  "{APIGroups:[\"\"], Resources:[\"configmaps\"], ResourceNames:[\"z\"], Verbs:[\"get\"]}" },
	{ ANY_SUB, "[{'apiGroups':['apps'],'resources':['deployments/scale'],'verbs':['get']}]", "" },
	{ ANY_SUB, "[{'apiGroups':['apps'],'resources':['deployments'],'verbs':['get']}]",
	  "{APIGroups:[\"apps\"], Resources:[\"deployments\"], Verbs:[\"get\"]}" },
	{ "[]", "[]", "" },
	{ "[]",
	  "[{'apiGroups':[''],'resources':['secrets'],'verbs':['get','list']},"
	  "{'apiGroups':[''],'resources':['configmaps'],'verbs':['get']}]",
	  "{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"get\"]}\n"
	  "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}" },
	/* two rules held together give what neither gives alone */
	{ "[{'apiGroups':[''],'resources':['pods'],'verbs':['get']},"
	  "{'apiGroups':[''],'resources':['services'],'verbs':['get']}]",
	  "[{'apiGroups':[''],'resources':['pods','services'],'verbs':['get']}]", "" },
};

TEST("a role is covered by the rules held, or what is missing is told")
{
	for (size_t i = 0; i < ARRAY_SIZE(coverings); i++) {
		json_auto_t *have_json = rules_of(coverings[i].have);
		json_auto_t *want_json = rules_of(coverings[i].want);
		struct rbac_rules have, want;
		const struct rbac_rule *held[8];
		auto_sbuf struct sbuf missing = SBUF(4096);

		rbac_rules_init(&have, have_json);
		rbac_rules_init(&want, want_json);
		for (size_t k = 0; k < have.n; k++)
			held[k] = &have.rules[k];
		CHECK(rbac_covers(held, have.n, &want, &missing) == !*coverings[i].missing);
		CHECK_STR(missing.p ? missing.p : "", coverings[i].missing);
		rbac_rules_done(&have);
		rbac_rules_done(&want);
	}
}

TEST("a role whose lists multiply beyond reason is refused without being unfolded")
{
	json_auto_t *list = json_array();
	json_auto_t *json = NULL;
	struct rbac_rules want;
	auto_sbuf struct sbuf missing = SBUF(4096);

	for (int i = 0; i < 5000; i++)
		json_array_append_new(list, jsonx_stringf("w%d", i));
	json = json_pack("[{s:O,s:O,s:O,s:O}]", "verbs", list, "apiGroups", list, "resources", list, "resourceNames",
			 list);
	rbac_rules_init(&want, json);
	CHECK(!rbac_covers(NULL, 0, &want, &missing));
	CHECK_STR(missing.p, "more than 10000 of them in one role");
	rbac_rules_done(&want);
}

TEST("only the rules that are missing are added")
{
	json_auto_t *stored = rules_of(PODS);
	json_auto_t *wanted = rules_of("[{'apiGroups':[''],'resources':['pods'],'verbs':['get']},"
				       "{'apiGroups':[''],'resources':['pods/log'],'verbs':['get']}]");
	json_auto_t *merged = rbac_with_missing(stored, wanted);
	json_auto_t *again = rbac_with_missing(merged, wanted);

	CHECK_INT(json_array_size(merged), 2);
	CHECK(jsonx_equal(json_array_get(merged, 0), json_array_get(stored, 0)));
	CHECK(jsonx_equal(json_array_get(merged, 1), json_array_get(wanted, 1)));
	CHECK(again == NULL);
	CHECK_INT(json_array_size(stored), 1);
}
