// SPDX-License-Identifier: Apache-2.0
#include "control/disruption.h"

#include "api/server.h"
#include "base/clock.h"
#include "client/client.h"
#include "control/disruption_plan.h"
#include "control/share.h"

#define BUDGETS     "policy/v1/poddisruptionbudgets"
#define PATIENCE_MS 120000

TEST("a share is a number or a percentage")
{
	static const struct {
		const char *value;
		int64_t whole;
		bool up;
		int64_t want;
	} rows[] = {
		{ "[3]", 10, true, 3 },
		{ "['30%']", 10, true, 3 },
		{ "['25%']", 10, true, 3 },
		{ "['25%']", 10, false, 2 },
		{ "['0%']", 10, true, 0 },
		{ "['100%']", 7, false, 7 },
		{ "['99999999999%']", 1, false, 10000 },
		{ "['-5%']", 10, true, 0 },
		{ "[null]", 10, true, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *v = sample_json(rows[i].value);

		CHECK_INT(share_of(json_array_get(v, 0), rows[i].whole, rows[i].up), rows[i].want);
	}
}

/* Pods as letters: r ready, n not ready, d being deleted, e evicted a moment ago, o evicted long ago. */
static void check_counts(const char *spec, const char *pods, int64_t scale, const char *want)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'b','generation':2},'spec':{%s},'status':{"
					 "'disruptedPods':{'e':'2026-01-01T00:09:00Z','o':'2026-01-01T00:00:00Z',"
					 "'gone':'2026-01-01T00:09:00Z'}}}",
					 spec);
	json_auto_t *budget = sample_json(text);
	struct pod_facts facts[8] = { { 0 } };
	const struct pod_facts *list[8];
	int64_t now = 0;
	struct budget_view v = { .budget = budget, .pods = list, .n = strlen(pods), .scale = scale };
	struct budget_plan p;
	char got[100];

	CHECK(clock_parse_rfc3339("2026-01-01T00:10:00Z", &now));
	v.now = now / 1000000;
	for (size_t i = 0; i < v.n; i++) {
		static const char *const names[] = { "r", "n", "d", "e", "o" };

		facts[i] = (struct pod_facts){ .phase = POD_IS_RUNNING,
					       .ready = pods[i] != 'n',
					       .deleting = pods[i] == 'd' };
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (names[k][0] == pods[i])
				facts[i].name = names[k];
		list[i] = &facts[i];
	}
	budget_plan(&v, &p);
	snprintf(got, sizeof(got), "%d of %d, %d wanted, %d may go", (int)jsonx_int_or(p.status, "currentHealthy", -1),
		 (int)jsonx_int_or(p.status, "expectedPods", -1), (int)jsonx_int_or(p.status, "desiredHealthy", -1),
		 (int)jsonx_int_or(p.status, "disruptionsAllowed", -1));
	CHECK_STR(got, want);
	CHECK_INT(p.noverdue, strchr(pods, 'o') != NULL);
	CHECK_INT(p.again, strchr(pods, 'e') ? 60 : -1);
	CHECK_INT(json_object_size(json_object_get(p.status, "disruptedPods")), strchr(pods, 'e') != NULL);
	budget_plan_done(&p);
}

TEST("a budget counts who is healthy and who must be")
{
	check_counts("'minAvailable':2", "rrr", 0, "3 of 3, 2 wanted, 1 may go");
	check_counts("'minAvailable':3", "rrr", 0, "3 of 3, 3 wanted, 0 may go");
	check_counts("'minAvailable':5", "rr", 0, "2 of 2, 5 wanted, 0 may go");
	check_counts("'minAvailable':1", "rnd", 0, "1 of 3, 1 wanted, 0 may go");
	check_counts("'minAvailable':1", "rre", 0, "2 of 3, 1 wanted, 1 may go");
	check_counts("'minAvailable':1", "rro", 0, "3 of 3, 1 wanted, 2 may go");
	check_counts("'minAvailable':'50%'", "rrr", 3, "3 of 3, 2 wanted, 1 may go");
	check_counts("'minAvailable':'50%'", "rrr", 6, "3 of 6, 3 wanted, 0 may go");
	check_counts("'maxUnavailable':1", "rrr", 3, "3 of 3, 2 wanted, 1 may go");
	check_counts("'maxUnavailable':'10%'", "rrr", 3, "3 of 3, 2 wanted, 1 may go");
	check_counts("'maxUnavailable':5", "rrr", 3, "3 of 3, 0 wanted, 3 may go");
	check_counts("'maxUnavailable':1", "", 0, "0 of 0, 0 wanted, 0 may go");
	check_counts("'maxUnavailable':0", "rr", 2, "2 of 2, 2 wanted, 0 may go");
}

TEST("who cannot count lets nobody go, and says why")
{
	json_auto_t *budget = sample_json("{'metadata':{'generation':2},'spec':{'maxUnavailable':1},"
					  "'status':{'disruptionsAllowed':4,'currentHealthy':5}}");
	struct budget_view v = { .budget = budget, .error = "jobs.batch does not implement the scale subresource" };
	struct budget_plan p;

	budget_plan(&v, &p);
	CHECK_INT(jsonx_int_or(p.status, "disruptionsAllowed", -1), 0);
	CHECK_INT(jsonx_int_or(p.status, "currentHealthy", -1), 5);
	CHECK_JSON(json_array_get(json_object_get(p.status, "conditions"), 0),
		   "{'type':'DisruptionAllowed','status':'False','observedGeneration':2,'reason':'SyncFailed',"
		   "'message':'jobs.batch does not implement the scale subresource',"
		   "'lastTransitionTime':'1970-01-01T00:00:00Z'}");
	budget_plan_done(&p);
}

/* ---- with an API ---- */

struct cluster {
	struct server s;
	struct client *client;
	struct owned *owned;
	struct disruption *budgets;
};

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.owned = owned_new(c.client);
	c.budgets = disruption_new(c.client, c.owned);
	server_settle(&c.s);
	return c;
}

static void cluster_done(struct cluster *c)
{
	disruption_free(c->budgets);
	owned_free(c->owned);
	server_settle(&c->s);
	client_free(c->client);
	server_done(&c->s);
}

static void add_pod(struct cluster *c, const char *name, const char *owner)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','labels':{'app':'x'},'ownerReferences':[%s]},"
					 "'spec':{'nodeName':'n','containers':[{'name':'c','image':'host'}]}}",
					 name, owner);
	struct api_request req = server_request(&c->s, VERB_PATCH, "v1/pods", "default", name);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
	req.patch = PATCH_MERGE;
	req.subresource = "status";
	json_auto_t *done = server_call(
		&c->s, &req, "{'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}");

	CHECK(done != NULL);
}

static bool allowed(struct cluster *c, const char *want)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *b = server_ask(&c->s, VERB_GET, BUDGETS, "default", "b", NULL);
		auto_free char *got =
			xasprintf("%lld/%lld %s", (long long)jsonx_int_or(b, "status.disruptionsAllowed", -1),
				  (long long)jsonx_int_or(b, "status.expectedPods", -1),
				  jsonx_str_or(json_array_get(jsonx_at(b, "status.conditions"), 0), "reason", "none"));

		if (streq(got, want))
			return true;
		server_turn(&c->s);
		usleep(500);
	}
	return false;
}

static void evict(struct cluster *c, const char *name, int code)
{
	struct api_request req = server_request(&c->s, VERB_CREATE, "v1/pods", "default", name);

	req.subresource = "eviction";
	json_auto_t *done = server_call(&c->s, &req, "{}");

	(void)done;
	CHECK_INT(c->s.code, code);
}

TEST("a Deployment is asked through its ReplicaSet, and evictions stop when the budget is used up")
{
	struct cluster c = cluster_new();
	json_auto_t *d = server_ask(
		&c.s, VERB_CREATE, "apps/v1/deployments", "default", NULL,
		"{'metadata':{'name':'d'},'spec':{'replicas':3,'selector':{'matchLabels':{'app':'x'}},'template':{"
		"'metadata':{'labels':{'app':'x'}},'spec':{'containers':[{'name':'c','image':'host'}]}}}}");
	auto_free char *set = xasprintf(
		"{'metadata':{'name':'r','ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':'d',"
		"'uid':'%s','controller':true}]},'spec':{'replicas':2,'selector':{'matchLabels':{'app':'x'}},"
		"'template':{'metadata':{'labels':{'app':'x'}},'spec':{'containers':[{'name':'c','image':'host'}]}}}}",
		jsonx_str_or(d, "metadata.uid", ""));
	json_auto_t *r = server_ask(&c.s, VERB_CREATE, "apps/v1/replicasets", "default", NULL, set);
	auto_free char *owner = xasprintf("{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'%s',"
					  "'controller':true}",
					  jsonx_str_or(r, "metadata.uid", ""));

	add_pod(&c, "p1", owner);
	add_pod(&c, "p2", owner);
	add_pod(&c, "p3", owner);
	server_do(&c.s, VERB_CREATE, BUDGETS, "default", NULL,
		  "{'metadata':{'name':'b'},'spec':{'maxUnavailable':1,'selector':{'matchLabels':{'app':'x'}}}}");
	CHECK(allowed(&c, "1/3 SufficientPods"));
	evict(&c, "p1", 201);
	evict(&c, "p2", 429);
	CHECK(allowed(&c, "0/3 InsufficientPods"));
	/* a new pod fills it up */
	add_pod(&c, "p4", owner);
	CHECK(allowed(&c, "1/3 SufficientPods"));
	cluster_done(&c);
}

TEST("an owner that cannot be asked is said, and one that is gone wants nothing")
{
	struct cluster c = cluster_new();
	json_auto_t *job = server_ask(&c.s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
				      "{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never',"
				      "'containers':[{'name':'c','image':'host'}]}}}}");
	auto_free char *owner =
		xasprintf("{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'%s','controller':true}",
			  jsonx_str_or(job, "metadata.uid", ""));
	json_auto_t *set = server_ask(
		&c.s, VERB_CREATE, "apps/v1/replicasets", "default", NULL,
		"{'metadata':{'name':'r'},'spec':{'replicas':2,'selector':{'matchLabels':{'app':'x'}},'template':{"
		"'metadata':{'labels':{'app':'x'}},'spec':{'containers':[{'name':'c','image':'host'}]}}}}");
	auto_free char *other =
		xasprintf("{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'%s','controller':true}",
			  jsonx_str_or(set, "metadata.uid", ""));
	struct api_request req = server_request(&c.s, VERB_DELETE, "v1/pods", "default", "p1");

	server_do(&c.s, VERB_CREATE, BUDGETS, "default", NULL,
		  "{'metadata':{'name':'b'},'spec':{'maxUnavailable':1,'selector':{'matchLabels':{'app':'x'}}}}");
	add_pod(&c, "p1", owner);
	CHECK(allowed(&c, "0/0 SyncFailed"));
	req.grace_seconds = 0;
	json_auto_t *gone = server_call(&c.s, &req, NULL);

	CHECK(gone != NULL);
	add_pod(&c, "p2", other);
	CHECK(allowed(&c, "0/2 InsufficientPods"));
	server_do(&c.s, VERB_DELETE, "apps/v1/replicasets", "default", "r", NULL);
	add_pod(&c, "p3", "");
	CHECK(allowed(&c, "0/0 InsufficientPods"));
	cluster_done(&c);
}
