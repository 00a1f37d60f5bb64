// SPDX-License-Identifier: Apache-2.0
/* What a Deployment does next, by table: deployment_sample.h has the words of the questions.  Of the answers:
 *
 *	+3    a new ReplicaSet with 3 replicas     a=2   a gets 2 replicas      a~   a is written, its size stays
 *	-a    a is deleted                         r2    the Deployment's revision becomes 2
 */
#include "deployment_sample.h"

static char *answer(const struct deployment_plan *p)
{
	auto_sbuf struct sbuf out = SBUF(1000);

	if (p->create)
		sbuf_addf(&out, " +%lld", (long long)jsonx_int_or(p->create, "spec.replicas", -1));
	for (size_t i = 0; i < p->nwrites; i++) {
		const char *name = jsonx_str(p->writes[i].set, "metadata.name");

		CHECK_INT(jsonx_int_or(p->writes[i].set, "spec.replicas", -1), p->writes[i].to);
		if (p->writes[i].from == p->writes[i].to)
			sbuf_addf(&out, " %s~", name);
		else
			sbuf_addf(&out, " %s=%lld", name, (long long)p->writes[i].to);
	}
	for (size_t i = 0; i < p->nremove; i++)
		sbuf_addf(&out, " -%s", jsonx_str(p->remove[i], "metadata.name"));
	if (p->revision)
		sbuf_addf(&out, " r%s", p->revision);
	return xstrdup(out.n ? out.p + 1 : "");
}

struct row {
	const char *deployment, *sets, *want;
	const char *more;
};

#define REVISION(n) "{'metadata':{'annotations':{'deployment.kubernetes.io/revision':'" #n "'}}}"

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sample s = sample_of(rows[i].deployment, rows[i].sets, rows[i].more);
		struct deployment_plan p = sample_plan(&s);
		auto_free char *got = answer(&p);

		if (!streq(got, rows[i].want))
			test_fail(__FILE__, __LINE__, "%s with %s: got \"%s\", not \"%s\"", rows[i].deployment,
				  rows[i].sets, got, rows[i].want);
		deployment_plan_done(&p);
		sample_done(&s);
	}
}

TEST("a rolling update keeps within its bounds at every step")
{
	static const struct row rows[] = {
		/* the first */
		{ "3 1 1", "", "+3", NULL },
		{ "0 1 1", "", "+0", NULL },
		{ "3 1 1", "a:3/3/3n", "", REVISION(1) },
		/* a new template: as many as the surge allows */
		{ "3 1 0", "a:3/3/3", "+1", REVISION(1) },
		{ "3 0 1", "a:3/3/3", "+0", REVISION(1) },
		{ "4 25% 25%", "a:4/4/4", "+1", REVISION(1) },
		{ "10 30% 0", "a:10/10/10", "+3", REVISION(1) },
		{ "3 100% 0", "a:3/3/3", "+3", REVISION(1) },
		{ "3 10 0", "a:3/3/3", "+3", REVISION(1) },
		/* both percentages of one are nothing: one may be missing */
		{ "1 0% 25%", "a:1/1/1", "+0", REVISION(1) },
		{ "1 0% 25%", "a:1/1/1 b:0/0/0n", "a=0", REVISION(2) },
		/* nothing old goes for a new one that is not available */
		{ "3 1 0", "a:3/3/3 b:1/1/0n", "", REVISION(2) },
		{ "3 1 0", "a:3/3/3 b:1/1/1n", "a=2", REVISION(2) },
		{ "3 1 0", "a:2/3/3 b:1/1/1n", "", REVISION(2) },
		{ "3 1 0", "a:2/2/2 b:1/1/1n", "b=2", REVISION(2) },
		{ "3 1 0", "a:2/2/2 b:2/1/1n", "", REVISION(2) },
		{ "3 1 0", "a:1/1/1 b:3/3/2n", "", REVISION(2) },
		{ "3 1 0", "a:1/1/1 b:3/3/3n", "a=0", REVISION(2) },
		{ "3 1 0", "a:0/1/1 b:3/3/3n", "", REVISION(2) },
		{ "3 0 1", "a:3/3/3 b:0/0/0n", "a=2", REVISION(2) },
		{ "3 0 1", "a:2/3/3 b:0/0/0n", "", REVISION(2) },
		{ "3 0 1", "a:2/2/2 b:0/0/0n", "b=1", REVISION(2) },
		{ "3 0 1", "a:2/2/2 b:1/1/0n", "", REVISION(2) },
		{ "3 0 1", "a:2/2/2 b:1/1/1n", "a=1", REVISION(2) },
		{ "4 2 2", "a:4/4/4 b:2/2/0n", "a=2", REVISION(2) },
		{ "10 2 0", "a:10/10/10 b:2/2/2n", "a=8", REVISION(2) },
		/* what a ReplicaSet still has but may not keep does not count */
		{ "4 1 1", "a:3/4/4 b:2/2/1n", "a=2", REVISION(2) },
		{ "4 1 1", "a:2/2/2 b:2/2/1n", "b=3", REVISION(2) },
		{ "4 1 1", "a:2/4/4 b:3/3/1n", "", REVISION(2) },
		/* broken old ones first, the oldest set first */
		{ "3 1 1", "a:2/2/0 b:1/1/1 c:1/1/0n", "a=1", REVISION(3) },
		{ "5 1 1", "a:3/3/0 b:2/2/2 c:1/1/1n", "a=1", REVISION(3) },
		{ "5 0 3", "a:3/3/1 b:2/2/2 c:0/0/0n", "a=0", REVISION(3) },
		/* too many of the new ones */
		{ "2 1 0", "a:4/4/4nd2", "a=2", REVISION(1) },
	};

	check(rows, ARRAY_SIZE(rows));
}

TEST("with Recreate the last old pod is gone before the first new one comes")
{
	static const struct row rows[] = {
		{ "3 recreate", "", "+3", NULL },
		{ "3 recreate", "a:3/3/3p", "a=0", REVISION(1) },
		{ "3 recreate", "a:0/3/3p", "", REVISION(1) },
		{ "3 recreate", "a:0/0/0p", "", REVISION(1) },
		{ "3 recreate", "a:0/0/0", "+3", REVISION(1) },
		{ "3 recreate", "a:0/0/0 b:0/0/0n", "b=3", REVISION(2) },
		{ "3 recreate", "a:0/0/0p b:0/0/0n", "", REVISION(2) },
		{ "3 recreate", "a:0/0/0 b:3/3/1np", "", REVISION(2) },
		/* several at once, sized for another number: no proportions are kept */
		{ "3 recreate", "a:2/2/2d5 b:1/1/1d5 c:1/1/1nd5", "a=0 b=0", REVISION(3) },
	};

	check(rows, ARRAY_SIZE(rows));
}

TEST("another number of replicas comes before the next step, and a roll-out keeps its proportions")
{
	static const struct row rows[] = {
		{ "5 1 1", "a:3/3/3nd3m4", "a=5", REVISION(1) },
		{ "0 1 1", "a:3/3/3nd3m4", "a=0", REVISION(1) },
		{ "3 1 1", "a:0/0/0nm1", "a=3", REVISION(1) },
		/* the size is right already, only the note is not */
		{ "3 1 1", "a:3/3/3nd4m4", "a~", REVISION(1) },
		{ "20 0 5", "a:5/5/5d10m10 b:5/5/5nd10m10", "a=10 b=10", REVISION(2) },
		{ "15 5 2", "a:8/8/8d10m13 b:5/5/0nd10m13", "a=12 b=8", REVISION(2) },
		{ "30 3 2", "a:8/8/8d10m13 b:5/5/0nd10m13", "a=20 b=13", REVISION(2) },
		{ "5 3 2", "a:8/8/8d10m13 b:5/5/0nd10m13", "a=5 b=3", REVISION(2) },
		{ "5 1 1", "a:2/2/2d4m5 b:3/3/3nd4m5", "a~ b=4", REVISION(2) },
		{ "0 1 1", "a:2/2/2d4m5 b:3/3/3nd4m5", "a=0 b=0", REVISION(2) },
		{ "6 1 1", "a:2/2/2d4 b:3/3/3nd4", "a=3 b=4", REVISION(2) },
		/* the new one has all it needs: the old ones can go */
		{ "3 1 1", "a:1/1/1d4 b:3/3/3n", "a=0", REVISION(2) },
	};

	check(rows, ARRAY_SIZE(rows));
}

TEST("a paused Deployment can be scaled, and rolls nothing out")
{
#define PAUSED "{'metadata':{'annotations':{'deployment.kubernetes.io/revision':'1'}},'spec':{'paused':true}}"
	static const struct row rows[] = {
		{ "3 1 1", "", "", PAUSED },
		{ "3 1 1", "a:3/3/3m4", "", PAUSED },
		{ "5 1 1", "a:3/3/3d3m4", "a=5", PAUSED },
		{ "10 1 1", "a:2/2/2d4m5 b:3/3/3d4m5", "a=4 b=7", PAUSED },
		{ "3 recreate", "a:3/3/3m3p", "", PAUSED },
		/* history ends all the same */
		{ "3 1 1", "a:0/0/0 b:0/0/0 c:0/0/0 d:3/3/3n#1", "d~ -a r4", PAUSED },
	};

	check(rows, ARRAY_SIZE(rows));
}

TEST("a Deployment that is being deleted does nothing any more")
{
	static const char *gone = "{'metadata':{'annotations':{},'deletionTimestamp':'2001-09-09T01:46:40Z'}}";
	const struct row rows[] = {
		{ "3 1 1", "", "", gone },
		{ "3 1 1", "a:3/3/3", "", gone },
		{ "5 1 1", "a:3/3/3nd3", "", gone },
	};

	check(rows, ARRAY_SIZE(rows));
}

TEST("old ReplicaSets stay as long as history goes back, and get the next number when they return")
{
	static const struct row rows[] = {
		{ "1 1 0", "a:0/0/0 b:0/0/0 c:1/1/1n", "", REVISION(3) },
		{ "1 1 0", "a:0/0/0 b:0/0/0 c:0/0/0 d:1/1/1n", "-a", REVISION(4) },
		/* by number, not by age */
		{ "1 1 0", "a:0/0/0#5 b:0/0/0 c:0/0/0 d:1/1/1n#6", "-b", REVISION(6) },
		/* not before all is done */
		{ "2 1 0", "a:0/0/0 b:0/0/0 c:1/1/1 d:1/1/1n", "d=2", REVISION(4) },
		/* not what still has pods, has not seen that it is to have none, or goes already */
		{ "1 1 0", "a:0/1/0 b:0/0/0 c:0/0/0 d:1/1/1n", "", REVISION(4) },
		{ "1 1 0", "a:0/0/0u b:0/0/0 c:0/0/0 d:1/1/1n", "", REVISION(4) },
		{ "1 1 0", "a:0/0/0x b:0/0/0 c:0/0/0 d:1/1/1n", "", REVISION(4) },
		/* undone: a is the new one again */
		{ "1 1 0", "a:0/0/0n#1 b:1/1/1#2", "a=1 r3", REVISION(2) },
		{ "1 1 0", "a:1/1/1n#3 b:0/0/0#2", "", REVISION(3) },
		/* two of the same template, made by hand: the older is the new one */
		{ "1 1 0", "a:1/1/1n b:0/0/0n", "a~ r3", REVISION(1) },
	};

	check(rows, ARRAY_SIZE(rows));
}

TEST("history has no end if none is set")
{
	struct sample s = sample_of("1 1 0", "a:0/0/0 b:0/0/0 c:0/0/0 d:1/1/1n", REVISION(4));
	struct deployment_plan p;

	jsonx_del(s.deployment, "spec.revisionHistoryLimit");
	p = sample_plan(&s);
	CHECK_INT(p.nremove, 0);
	deployment_plan_done(&p);
	jsonx_set_new(s.deployment, "spec.revisionHistoryLimit", json_integer(0));
	p = sample_plan(&s);
	CHECK_INT(p.nremove, 3);
	deployment_plan_done(&p);
	sample_done(&s);
}

TEST("a new ReplicaSet has the template, a hash in name, labels and selector, and the Deployment's annotations")
{
	struct sample s = sample_of("4 25% 25%", "a:4/4/4#7",
				    "{'metadata':{'annotations':{'kubernetes.io/change-cause':'why','mine':'x',"
				    "'kubectl.kubernetes.io/last-applied-configuration':'{}',"
				    "'deployment.kubernetes.io/revision':'7'}},'spec':{'minReadySeconds':9}}");
	struct deployment_plan p = sample_plan(&s);
	const char *hash = jsonx_str(p.create, "metadata.labels.pod-template-hash");
	auto_free char *name = xasprintf("d-%s", hash ? hash : "?");
	json_auto_t *again = NULL;

	CHECK(hash && strspn(hash, "bcdfghjklmnpqrstvwxz2456789") == strlen(hash));
	CHECK_STR(jsonx_str(p.create, "metadata.name"), name);
	CHECK_STR(jsonx_str(p.create, "metadata.namespace"), "ns");
	CHECK_STR(jsonx_str(p.create, "metadata.labels.app"), "d");
	CHECK_STR(jsonx_str(p.create, "spec.selector.matchLabels.app"), "d");
	CHECK_STR(jsonx_str(p.create, "spec.selector.matchLabels.pod-template-hash"), hash);
	CHECK_STR(jsonx_str(p.create, "spec.template.metadata.labels.pod-template-hash"), hash);
	CHECK_INT(jsonx_int_or(p.create, "spec.minReadySeconds", 0), 9);
	CHECK_JSON(json_array_get(jsonx_at(p.create, "metadata.ownerReferences"), 0),
		   "{'apiVersion':'apps/v1','kind':'Deployment','name':'d','uid':'uid-d','controller':true,"
		   "'blockOwnerDeletion':true}");
	CHECK_JSON(jsonx_at(p.create, "metadata.annotations"),
		   "{'kubernetes.io/change-cause':'why','mine':'x','deployment.kubernetes.io/revision':'8',"
		   "'deployment.kubernetes.io/desired-replicas':'4','deployment.kubernetes.io/max-replicas':'5'}");
	CHECK(deployment_is_new(s.deployment, p.create));
	CHECK(!p.status && !p.revision);
	/* Another name for the same template after a collision. */
	again = deployment_collided(s.deployment);
	CHECK_INT(jsonx_int_or(again, "collisionCount", 0), 1);
	json_object_set(s.deployment, "status", again);
	struct deployment_plan q = sample_plan(&s);

	CHECK(!str_same(jsonx_str(q.create, "metadata.name"), name));
	deployment_plan_done(&q);
	deployment_plan_done(&p);
	sample_done(&s);
}

TEST("the new ReplicaSet follows the Deployment's annotations and minReadySeconds, and notes its old numbers")
{
	struct sample s = sample_of("1 1 0", "a:1/1/1n#1 b:0/0/0#4",
				    "{'metadata':{'annotations':{'mine':'y'}},'spec':{'minReadySeconds':3}}");
	struct deployment_plan p = sample_plan(&s);

	CHECK_INT(p.nwrites, 1);
	CHECK_INT(jsonx_int_or(p.writes[0].set, "spec.minReadySeconds", 0), 3);
	CHECK_JSON(
		jsonx_at(p.writes[0].set, "metadata.annotations"),
		"{'deployment.kubernetes.io/revision':'5','deployment.kubernetes.io/desired-replicas':'1','mine':'y',"
		"'deployment.kubernetes.io/revision-history':'1'}");
	CHECK_STR(p.revision, "5");
	/* The next time it comes back it has two. */
	json_object_set_new(jsonx_at(s.sets[0], "metadata.annotations"), "deployment.kubernetes.io/revision-history",
			    json_string("1"));
	json_object_set_new(jsonx_at(s.sets[0], "metadata.annotations"), NOTE_REVISION, json_string("3"));
	deployment_plan_done(&p);
	p = sample_plan(&s);
	CHECK_STR(json_string_value(json_object_get(jsonx_at(p.writes[0].set, "metadata.annotations"),
						    "deployment.kubernetes.io/revision-history")),
		  "1,3");
	deployment_plan_done(&p);
	sample_done(&s);
}

TEST("the list of old numbers does not grow for ever")
{
	struct sample s = sample_of("1 1 0", "a:1/1/1n#900 b:0/0/0#901", NULL);
	json_t *notes = jsonx_at(s.sets[0], "metadata.annotations");
	auto_sbuf struct sbuf past = SBUF(4000);
	struct deployment_plan p;
	const char *now;

	for (int i = 100; i < 600; i++)
		sbuf_addf(&past, "%s%d", i > 100 ? "," : "", i);
	json_object_set_new(notes, "deployment.kubernetes.io/revision-history", json_string(past.p));
	p = sample_plan(&s);
	now = json_string_value(json_object_get(jsonx_at(p.writes[0].set, "metadata.annotations"),
						"deployment.kubernetes.io/revision-history"));
	CHECK(now && strlen(now) <= 2000 && strlen(now) > 1990 && str_starts(now, "10") && str_ends(now, ",599,900"));
	deployment_plan_done(&p);
	sample_done(&s);
}

/* ---- what it says ---- */

static char *told(const json_t *status)
{
	static const struct {
		const char *name;
		char mark;
	} counts[] = { { "replicas", 'r' },
		       { "updatedReplicas", 'u' },
		       { "readyReplicas", 'd' },
		       { "availableReplicas", 'a' },
		       { "unavailableReplicas", 'm' } };
	auto_sbuf struct sbuf out = SBUF(1000);
	json_t *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if (json_object_get(status, counts[i].name))
			sbuf_addf(&out, "%c%lld", counts[i].mark, (long long)jsonx_int_or(status, counts[i].name, 0));
	json_array_foreach (json_object_get(status, "conditions"), i, c)
		sbuf_addf(&out, " %s=%s", jsonx_str(c, "status"), jsonx_str(c, "reason"));
	return xstrdup(out.p ? out.p : "");
}

/* A status with the condition Progressing, said `ago` seconds ago. */
static char *was(const char *counts, const char *status, const char *reason, int ago, const char *spec)
{
	char time[CLOCK_RFC3339_LEN];

	clock_rfc3339(NOW - ago, time);
	return xasprintf(
		"{'metadata':{'annotations':{'deployment.kubernetes.io/revision':'1'}},'spec':{%s},'status':{%s"
		"'conditions':[{'type':'Progressing','status':'%s','reason':'%s','message':'m',"
		"'lastUpdateTime':'%s','lastTransitionTime':'%s'}]}}",
		spec, counts, status, reason, time, time);
}

TEST("conditions tell how a roll-out goes")
{
#define FULL "'replicas':3,'updatedReplicas':3,'readyReplicas':3,'availableReplicas':3,"
	static const struct {
		const char *sets;
		const char *counts, *status, *reason;
		int ago;
		const char *spec;
		const char *want;
		int again;
	} rows[] = {
		/* found, without having been made here */
		{ "a:3/3/0n", "", NULL, NULL, 0, "", "r3u3m3 False=MinimumReplicasUnavailable True=ReplicaSetUpdated",
		  601 },
		{ "a:3/0/0n", "", NULL, NULL, 0, "", "m3 True=FoundNewReplicaSet False=MinimumReplicasUnavailable",
		  601 },
		/* progress starts the clock anew */
		{ "a:3/3/1n", "", "True", "NewReplicaSetCreated", 50, "",
		  "r3u3d1a1m2 False=MinimumReplicasUnavailable True=ReplicaSetUpdated", 601 },
		{ "a:3/3/1n", "'replicas':3,'updatedReplicas':3,'readyReplicas':1,'availableReplicas':1,", "True",
		  "ReplicaSetUpdated", 50, "", "r3u3d1a1m2 True=ReplicaSetUpdated False=MinimumReplicasUnavailable",
		  551 },
		{ "a:3/3/3n", "", "True", "ReplicaSetUpdated", 50, "",
		  "r3u3d3a3 True=MinimumReplicasAvailable True=NewReplicaSetAvailable", -1 },
		/* fewer old ones are progress too */
		{ "a:2/2/2 b:1/1/0n", "'replicas':4,'updatedReplicas':1,'readyReplicas':3,'availableReplicas':3,",
		  "True", "ReplicaSetUpdated", 599, "",
		  "r3u1d2a2m2 True=MinimumReplicasAvailable True=ReplicaSetUpdated", 601 },
		/* too long */
		{ "a:3/3/0n", "'replicas':3,'updatedReplicas':3,", "True", "ReplicaSetUpdated", 600, "",
		  "r3u3m3 True=ReplicaSetUpdated False=MinimumReplicasUnavailable", 1 },
		{ "a:3/3/0n", "'replicas':3,'updatedReplicas':3,", "True", "ReplicaSetUpdated", 601, "",
		  "r3u3m3 False=MinimumReplicasUnavailable False=ProgressDeadlineExceeded", -1 },
		{ "a:3/3/0n", "'replicas':3,'updatedReplicas':3,", "False", "ProgressDeadlineExceeded", 9, "",
		  "r3u3m3 False=ProgressDeadlineExceeded False=MinimumReplicasUnavailable", -1 },
		/* and yet it comes to an end */
		{ "a:3/3/3n", "'replicas':3,'updatedReplicas':3,", "False", "ProgressDeadlineExceeded", 9, "",
		  "r3u3d3a3 True=MinimumReplicasAvailable True=NewReplicaSetAvailable", -1 },
		/* done is done: pods that come and go are no roll-out */
		{ "a:3/3/1n", FULL, "True", "NewReplicaSetAvailable", 5000, "",
		  "r3u3d1a1m2 True=NewReplicaSetAvailable False=MinimumReplicasUnavailable", -1 },
		{ "a:3/3/3 b:0/0/0n", FULL, "True", "NewReplicaSetAvailable", 5000, "",
		  "r3d3a3m1 True=NewReplicaSetAvailable True=MinimumReplicasAvailable", -1 },
		/* while it is paused no time runs */
		{ "a:3/3/0n", "'replicas':3,'updatedReplicas':3,", "True", "ReplicaSetUpdated", 601, "'paused':true",
		  "r3u3m3 Unknown=DeploymentPaused False=MinimumReplicasUnavailable", -1 },
		{ "a:3/3/0n", "'replicas':3,'updatedReplicas':3,", "Unknown", "DeploymentPaused", 9999, "",
		  "r3u3m3 Unknown=DeploymentResumed False=MinimumReplicasUnavailable", 601 },
		{ "a:3/3/0n", "'replicas':3,'updatedReplicas':3,", "False", "ProgressDeadlineExceeded", 9,
		  "'paused':true", "r3u3m3 False=ProgressDeadlineExceeded False=MinimumReplicasUnavailable", -1 },
		/* without a deadline nothing is said */
		{ "a:3/3/0n", "'replicas':3,'updatedReplicas':3,", "True", "ReplicaSetUpdated", 601,
		  "'progressDeadlineSeconds':2147483647", "r3u3m3 False=MinimumReplicasUnavailable", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *more =
			rows[i].status ? was(rows[i].counts, rows[i].status, rows[i].reason, rows[i].ago, rows[i].spec)
				       : xstrdup("{}");
		struct sample s = sample_of("3 1 1", rows[i].sets, more);
		struct deployment_plan p = sample_plan(&s);
		auto_free char *got = told(p.status);

		if (!streq(got, rows[i].want) || p.again != rows[i].again)
			test_fail(__FILE__, __LINE__, "row %zu, %s: got \"%s\" and %lld, not \"%s\" and %d", i,
				  rows[i].sets, got, (long long)p.again, rows[i].want, rows[i].again);
		CHECK_INT(jsonx_int_or(p.status, "observedGeneration", 0), 5);
		deployment_plan_done(&p);
		sample_done(&s);
	}
}

TEST("the words of conditions are Kubernetes', and their times say when")
{
	auto_free char *more = was("", "True", "NewReplicaSetCreated", 50, "");
	struct sample s = sample_of("3 1 1", "a:3/3/3n", more);
	struct deployment_plan p = sample_plan(&s);

	CHECK_JSON(jsonx_at(p.status, "conditions"),
		   "[{'type':'Available','status':'True','lastUpdateTime':'2001-09-09T01:46:40Z',"
		   "'lastTransitionTime':'2001-09-09T01:46:40Z','reason':'MinimumReplicasAvailable',"
		   "'message':'Deployment has minimum availability.'},"
		   "{'type':'Progressing','status':'True','lastUpdateTime':'2001-09-09T01:46:40Z',"
		   "'lastTransitionTime':'2001-09-09T01:45:50Z','reason':'NewReplicaSetAvailable',"
		   "'message':'ReplicaSet `'a`' has successfully progressed.'}]");
	deployment_plan_done(&p);
	sample_done(&s);
}

TEST("what fails in a ReplicaSet is told by the Deployment, and no longer than it lasts")
{
	struct sample s = sample_of("3 1 1", "a:3/0/0n", REVISION(1));
	struct deployment_plan p;
	auto_free char *first = NULL;
	auto_free char *then = NULL;

	jsonx_set_new(s.sets[0], "status.conditions",
		      sample_json("[{'type':'ReplicaFailure','status':'True','reason':'FailedCreate','message':'no',"
				  "'lastTransitionTime':'2001-09-09T01:45:50Z'}]"));
	p = sample_plan(&s);
	first = told(p.status);
	CHECK_STR(first, "m3 True=FoundNewReplicaSet False=MinimumReplicasUnavailable True=FailedCreate");
	json_object_set(s.deployment, "status", p.status);
	jsonx_del(s.sets[0], "status.conditions");
	deployment_plan_done(&p);
	p = sample_plan(&s);
	then = told(p.status);
	CHECK_STR(then, "m3 True=FoundNewReplicaSet False=MinimumReplicasUnavailable");
	/* Planning again changes nothing. */
	json_object_set(s.deployment, "status", p.status);
	deployment_plan_done(&p);
	p = sample_plan(&s);
	CHECK(json_equal(p.status, json_object_get(s.deployment, "status")));
	deployment_plan_done(&p);
	sample_done(&s);
}

TEST("a creation that succeeds or fails is told once")
{
	json_auto_t *d = deployment_of("3 1 1", NULL);
	json_auto_t *failed = deployment_told(d, NOW, false, "ReplicaSetCreateError", "quota");
	json_auto_t *again = NULL;
	json_auto_t *made = NULL;

	CHECK_JSON(failed, "{'conditions':[{'type':'Progressing','status':'False','lastUpdateTime':"
			   "'2001-09-09T01:46:40Z','lastTransitionTime':'2001-09-09T01:46:40Z','reason':"
			   "'ReplicaSetCreateError','message':'quota'}]}");
	json_object_set(d, "status", failed);
	again = deployment_told(d, NOW + 5, false, "ReplicaSetCreateError", "quota");
	CHECK(json_equal(again, failed));
	made = deployment_told(d, NOW + 9, true, "NewReplicaSetCreated", "made");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(made, "conditions"), 0), "lastTransitionTime"),
		  "2001-09-09T01:46:49Z");
}
