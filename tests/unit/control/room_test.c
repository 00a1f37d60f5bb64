// SPDX-License-Identifier: Apache-2.0
#include "control/room.h"

#include "job_cluster.h"

TEST("a quota has more room when it was raised, went, or got something back")
{
#define Q(hard, used) "{'status':{'hard':{" hard "},'used':{" used "}}}"
	static const struct {
		const char *old, *now;
		bool want;
	} rows[] = {
		{ Q("'pods':'2'", "'pods':'2'"), Q("'pods':'3'", "'pods':'2'"), true },
		{ Q("'pods':'2'", "'pods':'2'"), Q("'pods':'2'", "'pods':'1'"), true },
		{ Q("'pods':'2'", "'pods':'2'"), Q("'cpu':'2'", "'cpu':'1'"), true },
		{ Q("'pods':'2'", "'pods':'2'"), NULL, true },
		{ Q("'pods':'2'", "'pods':'1'"), Q("'pods':'2'", "'pods':'2'"), false },
		{ Q("'pods':'2'", "'pods':'1'"), Q("'pods':'1'", "'pods':'0'"), false },
		{ Q("'cpu':'1','pods':'2'", "'cpu':'500m','pods':'1'"),
		  Q("'cpu':'1','pods':'2'", "'cpu':'250m','pods':'2'"), true },
		{ Q("'cpu':'1'", "'cpu':'1'"), Q("'cpu':'1000m'", "'cpu':'1000m'"), false },
		{ NULL, Q("'pods':'2'", "'pods':'2'"), false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *old = rows[i].old ? sample_json(rows[i].old) : NULL;
		json_auto_t *now = rows[i].now ? sample_json(rows[i].now) : NULL;

		CHECK_INT(room_grew(now, old), rows[i].want);
	}
}

/* How often pods of the Job were refused. */
static int64_t refusals(struct cluster *c)
{
	json_auto_t *list = all_of(c, "v1/events");
	int64_t n = 0;
	json_t *ev;
	size_t i;

	json_array_foreach (list, i, ev)
		if (str_same(jsonx_str(ev, "reason"), "FailedCreate"))
			n += jsonx_int_or(ev, "count", 1);
	return n;
}

/* A Job that a quota refuses, then the quota as it is after the patch; the number of pods soon after. */
static size_t pods_after(const char *hard, const char *patch)
{
	struct cluster c = cluster_new(false);
	struct api_request change = server_request(&c.s, VERB_PATCH, "v1/resourcequotas", "default", "q");
	auto_free char *quota = xasprintf("{'metadata':{'name':'q'},'spec':{'hard':{%s}}}", hard);
	json_auto_t *pods = NULL;
	size_t n;

	server_do(&c.s, VERB_CREATE, "v1/resourcequotas", "default", NULL, quota);
	job_make(&c, "a", "", "");
	while (refusals(&c) < 5) /* then the next try is more than a second away */
		loop_turn(c.s.loop, false);
	change.patch = PATCH_MERGE;
	json_decref(server_call(&c.s, &change, patch));
	for (int i = 0; i < 5; i++)
		server_settle(&c.s);
	pods = all_of(&c, "v1/pods");
	n = json_array_size(pods);
	cluster_done(&c);
	return n;
}

TEST("a job that a quota holds back goes on as soon as there is room, not at its next try")
{
	CHECK_INT(pods_after("'pods':'0'", "{'spec':{'hard':{'pods':'1'}}}"), 1);
}

TEST("a job whose pods do not say what a quota counts goes on when it counts something else")
{
	CHECK_INT(pods_after("'limits.memory':'1Gi'", "{'spec':{'hard':{'limits.memory':null,'pods':'5'}}}"), 1);
}
