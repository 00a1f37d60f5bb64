// SPDX-License-Identifier: Apache-2.0
/* Pods are written "R0a": Running and ready, ordinal 0, of revision a.  Other states: N not ready, P pending, F failed,
 * S succeeded, D being deleted, Y ready for one second only, f failed a second ago.  Plans are written "+2b" (create
 * web-2 of revision b), "-1o" (delete web-1, it is outdated; e ended, s surplus). */
#include "control/statefulset_plan.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define NOW  1700000000
#define MOST 16

struct scene {
	json_t *set;
	json_t *objs; /* of the pods */
	struct pod_facts facts[MOST];
	const struct pod_facts *pods[MOST];
	struct revision a, b;
	json_t *template;
	struct set_view v;
};

static json_t *pod_of(const char *text)
{
	char state = text[0];
	char *end = NULL;
	long ordinal = strtol(text + 1, &end, 10);
	bool ready = strchr("RYD", state) != NULL;
	bool ended = strchr("FfS", state) != NULL;
	char at[CLOCK_RFC3339_LEN];
	char made[CLOCK_RFC3339_LEN];
	json_t *pod;

	clock_rfc3339(NOW - (state == 'Y' ? 1 : 100), at);
	clock_rfc3339(NOW - (state == 'f' ? 1 : 100), made);
	pod = json_pack("{s:{s:o, s:s, s:{s:o}}, s:{s:s, s:[{s:s, s:s, s:s}]}}", "metadata", "name",
			jsonx_stringf("web-%ld", ordinal), "creationTimestamp", made, "labels", LABEL_REVISION_HASH,
			jsonx_stringf("web-%c", *end), "status", "phase",
			state == 'P' ? "Pending"
			: ended      ? (state == 'S' ? "Succeeded" : "Failed")
				     : "Running",
			"conditions", "type", "Ready", "status", ready ? "True" : "False", "lastTransitionTime", at);
	json_object_set_new(json_object_get(pod, "metadata"), "uid", jsonx_stringf("u%s", text));
	if (state == 'D')
		jsonx_set_new(pod, "metadata.deletionTimestamp", json_string(at));
	return pod;
}

static void scene_init(struct scene *s, const char *spec, const char *pods)
{
	auto_free char *text = xstrdup(pods);
	char *save = NULL;

	*s = (struct scene){ .objs = json_array() };
	s->set = json_pack("{s:{s:s, s:s, s:s, s:i}, s:o}", "metadata", "name", "web", "namespace", "ns", "uid", "u",
			   "generation", 4, "spec", json_loads(spec, 0, NULL));
	CHECK(json_is_object(json_object_get(s->set, "spec")));
	s->a = (struct revision){ .name = "web-a" };
	s->b = (struct revision){ .name = "web-b" };
	s->v = (struct set_view){
		.set = s->set, .pods = s->pods, .current = &s->a, .update = &s->b, .now = NOW, .create_most = 3
	};
	for (char *p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		json_t *pod = pod_of(p);

		json_array_append_new(s->objs, pod);
		s->facts[s->v.n] = pod_facts(pod);
		s->pods[s->v.n] = &s->facts[s->v.n];
		s->v.n++;
	}
}

static void scene_done(struct scene *s)
{
	json_decref(s->set);
	json_decref(s->objs);
}

static const char *told(const struct set_plan *p)
{
	static char out[200];
	auto_sbuf struct sbuf text = SBUF(sizeof(out) - 1);

	for (size_t i = 0; i < p->ncreate; i++)
		sbuf_addf(&text, "+%d%s ", (int)p->create[i].ordinal, strchr(p->create[i].revision->name, '-') + 1);
	for (size_t i = 0; i < p->nremove; i++)
		sbuf_addf(&text, "-%s%c ", strchr(p->remove[i].pod->name, '-') + 1, "eso"[p->remove[i].why]);
	snprintf(out, sizeof(out), "%s", text.p ? text.p : "");
	return out;
}

struct row {
	const char *spec, *pods, *want;
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct set_plan p;
		struct scene s;

		scene_init(&s, rows[i].spec, rows[i].pods);
		set_plan(&s.v, &p);
		if (strcmp(told(&p), rows[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s with \"%s\": \"%s\", not \"%s\"", rows[i].spec, rows[i].pods,
				  told(&p), rows[i].want);
		set_plan_done(&p);
		scene_done(&s);
	}
}

#define CHECK_ROWS(rows) check(rows, ARRAY_SIZE(rows))
#define THREE            "{\"replicas\":3}"
#define PARALLEL         "{\"replicas\":3,\"podManagementPolicy\":\"Parallel\"}"

TEST("an ordered set makes one pod after the other, each when all before are available")
{
	static const struct row rows[] = {
		{ THREE, "", "+0b " },
		{ THREE, "P0b", "" },
		{ THREE, "N0b", "" },
		{ THREE, "R0b", "+1b " },
		{ THREE, "R1b R0b", "+2b " },
		{ THREE, "R0b R2b", "+1b " }, /* a gap */
		{ THREE, "D0b", "" },
		{ THREE, "R0b D1b", "" },
		{ THREE, "R0b R1b R2b", "" },
		{ "{\"replicas\":0}", "", "" },
		{ "{}", "", "+0b " },
		{ "{\"replicas\":2,\"minReadySeconds\":10}", "Y0b", "" },
		{ "{\"replicas\":2,\"minReadySeconds\":10}", "R0b", "+1b " },
		{ "{\"replicas\":2,\"ordinals\":{\"start\":5}}", "", "+5b " },
		{ "{\"replicas\":2,\"ordinals\":{\"start\":5}}", "R5b", "+6b " },
	};

	CHECK_ROWS(rows);
}

TEST("a parallel set makes all that are missing, some at a time, and waits for none")
{
	static const struct row rows[] = {
		{ PARALLEL, "", "+0b +1b +2b " },
		{ PARALLEL, "P1b", "+0b +2b " },
		{ PARALLEL, "N0b D1b", "+2b " },
		{ "{\"replicas\":9,\"podManagementPolicy\":\"Parallel\"}", "P1b F8b", "+0b +2b +3b -8e " },
		{ "{\"replicas\":2147483647,\"podManagementPolicy\":\"Parallel\"}", "P1b", "+0b +2b +3b " },
	};

	CHECK_ROWS(rows);
}

TEST("a pod that ended is deleted to be made anew, but not again and again at once")
{
	static const struct row rows[] = {
		{ THREE, "F0b", "-0e " },
		{ THREE, "S0b R1b", "-0e " },
		{ THREE, "R0b F1b R2b", "-1e " },
		{ THREE, "f0b", "" },
		{ PARALLEL, "F0b f1b S2b", "-0e -2e " },
	};
	struct set_plan p;
	struct scene s;

	CHECK_ROWS(rows);
	scene_init(&s, THREE, "f0b");
	set_plan(&s.v, &p);
	CHECK_INT(p.again, SET_RECREATE_S - 1);
	set_plan_done(&p);
	scene_done(&s);
}

TEST("an ordered set shrinks from the top, one pod at a time, while all before are available")
{
	static const struct row rows[] = {
		{ "{\"replicas\":1}", "R0b R1b R2b", "-2s " },
		{ "{\"replicas\":1}", "R0b R1b D2b", "" },
		{ "{\"replicas\":1}", "N0b R1b R2b", "" },
		{ "{\"replicas\":1}", "R0b R1b N2b", "-2s " }, /* the only one that is not available */
		{ "{\"replicas\":1}", "R0b N1b N2b", "" },     /* web-1 is waited for */
		{ "{\"replicas\":1}", "R0b N1b R2b", "-2s " },
		{ "{\"replicas\":0}", "F0b", "-0s " },
		{ "{\"replicas\":1}", "R1b", "+0b " }, /* first what is wanted */
		{ "{\"replicas\":1,\"ordinals\":{\"start\":2}}", "R0b R1b R2b", "-1s " },
		{ "{\"replicas\":1,\"podManagementPolicy\":\"Parallel\"}", "N0b R1b N2b D3b", "-2s -1s " },
	};

	CHECK_ROWS(rows);
}

#define ROLL(more) "{\"replicas\":3,\"updateStrategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{" more "}}}"

TEST("an update goes from the top down to the partition, and waits for each pod")
{
	static const struct row rows[] = {
		{ ROLL(""), "R0a R1a R2a", "-2o " },
		{ ROLL(""), "R0a R1a D2a", "" },
		{ ROLL(""), "R0a R1a", "+2b " },
		{ ROLL(""), "R0a R1a P2b", "" },
		{ ROLL(""), "R0a R1a R2b", "-1o " },
		{ ROLL(""), "R0a R1b R2b", "-0o " },
		{ ROLL(""), "R0b R1b R2b", "" },
		{ ROLL(""), "R0b R1a R2b", "-1o " }, /* deleted by hand meanwhile */
		{ ROLL("\"partition\":2"), "R0a R1a R2a", "-2o " },
		{ ROLL("\"partition\":2"), "R0a R1a R2b", "" },
		{ ROLL("\"partition\":2"), "R0a R2b", "+1a " }, /* comes back as it was */
		{ ROLL("\"partition\":2"), "R0a R1a", "+2b " },
		{ ROLL("\"partition\":9"), "R0a R1a R2a", "" },
		{ ROLL("\"maxUnavailable\":2"), "R0a R1a R2a", "-2o -1o " },
		{ ROLL("\"maxUnavailable\":\"70%\""), "R0a R1a R2a", "-2o -1o " },
		{ ROLL("\"maxUnavailable\":\"1%\""), "R0a R1a R2a", "-2o " },
		{ ROLL("\"maxUnavailable\":\"150%\""), "R0a R1a R2a", "-2o -1o -0o " },
		{ "{\"replicas\":3,\"minReadySeconds\":10}", "R0a R1a Y2b", "" },
		{ "{\"replicas\":2,\"ordinals\":{\"start\":5},\"updateStrategy\":{\"rollingUpdate\":{\"partition\":1}}"
		  "}",
		  "R5a R6a", "-6o " },
		{ "{\"replicas\":2,\"ordinals\":{\"start\":5},\"updateStrategy\":{\"rollingUpdate\":{\"partition\":1}}"
		  "}",
		  "R5a R6b", "" },
		{ "{\"replicas\":3,\"updateStrategy\":{\"type\":\"OnDelete\"}}", "R0a R1a R2a", "" },
		{ "{\"replicas\":3,\"updateStrategy\":{\"type\":\"OnDelete\"}}", "R0a R1a", "+2b " },
	};

	CHECK_ROWS(rows);
}

TEST("a set that shrinks or grows while it is updated does that first")
{
	static const struct row rows[] = {
		{ "{\"replicas\":2}", "R0a R1a R2a", "-2s " },
		{ "{\"replicas\":4}", "R0a R1a R2b", "+3b " },
		{ "{\"replicas\":4}", "R0a R1a R2a P3b", "" },
		{ "{\"replicas\":3,\"podManagementPolicy\":\"Parallel\"}", "R0a R1a", "+2b " },
	};

	CHECK_ROWS(rows);
}

TEST("a pod that never gets ready holds an ordered update up until someone deletes it")
{
	static const struct row rows[] = {
		{ THREE, "R0a R1a N2a", "" }, /* of a revision that is not wanted any more */
		{ THREE, "R0a R1a", "+2b " }, /* forced: what comes is of the template as it is */
		{ PARALLEL, "R0a R1a N2a", "-2o " }, { PARALLEL, "N0a N1a R2b", "-1o " },
		{ PARALLEL, "R0a R1a N2b", "" },
	};

	CHECK_ROWS(rows);
}

TEST("pods that are not named by the set, and a set that is being deleted, are let alone")
{
	struct set_plan p;
	struct scene s;

	scene_init(&s, "{\"replicas\":0}", "R0a");
	CHECK_INT(set_ordinal(s.set, "web-7"), 7);
	CHECK_INT(set_ordinal(s.set, "web-07"), -1);
	CHECK_INT(set_ordinal(s.set, "web-"), -1);
	CHECK_INT(set_ordinal(s.set, "web-+1"), -1);
	CHECK_INT(set_ordinal(s.set, "web-1-1"), -1);
	CHECK_INT(set_ordinal(s.set, "web"), -1);
	CHECK_INT(set_ordinal(s.set, "weber-1"), -1);
	CHECK_INT(set_ordinal(s.set, "web-99999999999"), -1);
	jsonx_set_new(s.set, "metadata.deletionTimestamp", json_string("2024-01-01T00:00:00Z"));
	set_plan(&s.v, &p);
	CHECK_STR(told(&p), "");
	CHECK_INT(jsonx_int_or(p.status, "replicas", -1), 1);
	set_plan_done(&p);
	scene_done(&s);
}

static char *status_of(const char *spec, const char *pods, const char *refused)
{
	struct set_plan p;
	struct scene s;
	char *text;

	scene_init(&s, spec, pods);
	s.v.refused = refused;
	set_plan(&s.v, &p);
	text = json_dumps(p.status, JSON_SORT_KEYS | JSON_COMPACT);
	set_plan_done(&p);
	scene_done(&s);
	return text;
}

TEST("a status counts pods, those of either revision, and ends an update")
{
	static const struct row rows[] = {
		{ THREE, "",
		  "{\"availableReplicas\":0,\"collisionCount\":0,\"currentRevision\":\"web-a\",\"observedGeneration\":"
		  "4,"
		  "\"replicas\":0,\"updateRevision\":\"web-b\"}" },
		{ THREE, "R0a N1a D2a",
		  "{\"availableReplicas\":2,\"collisionCount\":0,\"currentReplicas\":2,\"currentRevision\":\"web-a\","
		  "\"observedGeneration\":4,\"readyReplicas\":2,\"replicas\":3,\"updateRevision\":\"web-b\"}" },
		{ "{\"replicas\":3,\"minReadySeconds\":5}", "R0a R1b Y2b",
		  "{\"availableReplicas\":2,\"collisionCount\":0,\"currentReplicas\":1,\"currentRevision\":\"web-a\","
		  "\"observedGeneration\":4,\"readyReplicas\":3,\"replicas\":3,\"updateRevision\":\"web-b\","
		  "\"updatedReplicas\":2}" },
		{ THREE, "R0b R1b R2b",
		  "{\"availableReplicas\":3,\"collisionCount\":0,\"currentReplicas\":3,\"currentRevision\":\"web-b\","
		  "\"observedGeneration\":4,\"readyReplicas\":3,\"replicas\":3,\"updateRevision\":\"web-b\","
		  "\"updatedReplicas\":3}" },
		{ "{\"replicas\":1,\"updateStrategy\":{\"type\":\"OnDelete\"}}", "R0b",
		  "{\"availableReplicas\":1,\"collisionCount\":0,\"currentRevision\":\"web-a\",\"observedGeneration\":"
		  "4,"
		  "\"readyReplicas\":1,\"replicas\":1,\"updateRevision\":\"web-b\",\"updatedReplicas\":1}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = status_of(rows[i].spec, rows[i].pods, NULL);

		CHECK_STR(got, rows[i].want);
	}
}

TEST("a pod that cannot be made is a condition until it can")
{
	auto_free char *with = status_of(THREE, "", "no room");
	auto_free char *without = status_of(THREE, "", NULL);

	CHECK(strstr(with, "\"message\":\"no room\",\"reason\":\"FailedCreate\",\"status\":\"True\",\"type\":"
			   "\"ReplicaFailure\"") != NULL);
	CHECK(!strstr(without, "ReplicaFailure"));
}

TEST("a plan says when waiting alone makes a pod available")
{
	struct set_plan p;
	struct scene s;

	scene_init(&s, "{\"replicas\":2,\"minReadySeconds\":10}", "Y0b");
	set_plan(&s.v, &p);
	CHECK_INT(p.again, 9);
	set_plan_done(&p);
	scene_done(&s);
}
