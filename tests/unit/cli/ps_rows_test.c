// SPDX-License-Identifier: Apache-2.0
#include "cli/ps_rows.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/find.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "test.h"

#define NOW 100000

struct lists {
	json_t *of[32];
};

/* Adds an object; `owner` is the uid of its controller or NULL, `status` JSON. */
static void add(struct lists *l, const struct kind *k, const char *name, const char *owner, const char *created,
		const char *spec, const char *status)
{
	json_t *obj = json_pack("{s:{s:s,s:s,s:s,s:s},s:o,s:o}", "metadata", "name", name, "uid", name, "namespace",
				"lab", "creationTimestamp", created, "spec", json_loads(spec, 0, NULL), "status",
				json_loads(status, 0, NULL));
	size_t i = 0;

	if (owner)
		jsonx_set_new(obj, "metadata.ownerReferences",
			      json_pack("[{s:s,s:s,s:s,s:b}]", "uid", owner, "kind", "Any", "apiVersion", "v1",
					"controller", 1));
	while (workloads[i] != k)
		i++;
	if (!l->of[i])
		l->of[i] = json_pack("{s:[]}", "items");
	json_array_append_new(json_object_get(l->of[i], "items"), obj);
}

static void lists_done(struct lists *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(l->of); i++)
		json_decref(l->of[i]);
}

#define POD_RUNNING "{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}"
#define JOB_DONE(at_)                                                                                                  \
	"{\"startTime\":\"1970-01-01T00:40:00Z\",\"completionTime\":\"" at_                                            \
	"\",\"succeeded\":1,\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}"
#define AT(s_) "1970-01-02T03:4" s_ "Z"

static void fill(struct lists *l)
{
	add(l, &kind_job, "train", NULL, AT("5:00"), "{}",
	    "{\"active\":1,\"ready\":1,\"startTime\":\"" AT("6:00") "\"}");
	add(l, &kind_pod, "train-a", "train", AT("5:01"),
	    "{\"nodeName\":\"g1\",\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"2\"}}}]}",
	    POD_RUNNING);
	add(l, &kind_job, "old", NULL, AT("0:00"), "{}", JOB_DONE("1970-01-01T01:00:00Z"));
	add(l, &kind_job, "fresh", NULL, AT("1:00"), "{}", JOB_DONE("1970-01-02T03:40:00Z"));
	add(l, &kind_deployment, "web", NULL, AT("4:00"), "{\"replicas\":1}", "{\"readyReplicas\":1}");
	add(l, &kind_replica_set, "web-1", "web", AT("4:00"), "{\"replicas\":1}", "{\"readyReplicas\":1}");
	add(l, &kind_pod, "web-1-a", "web-1", AT("4:00"), "{\"nodeName\":\"g2\"}", POD_RUNNING);
	add(l, &kind_pod, "alone", "somebody-else", AT("2:00"), "{}", "{\"phase\":\"Pending\"}");
}

static void expect(struct lists *l, const struct ps_filter *f, const char *names)
{
	auto_sbuf struct sbuf got = SBUF(1024);
	struct ps_row *rows = NULL;
	size_t n = 0;

	ps_rows_make(l->of, f, &rows, &n);
	for (size_t i = 0; i < n; i++)
		sbuf_addf(&got, "%s%s", i ? " " : "", jsonx_str(rows[i].obj, "metadata.name"));
	CHECK_STR(got.n ? got.p : "", names);
	ps_rows_free(rows, n);
}

TEST("workloads are rows, what they made is part of them, what ended long ago is left out")
{
	const struct kind *const pods = &kind_pod;
	struct lists l = { 0 };

	fill(&l);
	expect(&l, &(struct ps_filter){ .now = NOW }, "fresh alone web train");
	expect(&l, &(struct ps_filter){ .now = NOW, .all = true }, "old fresh alone web train");
	expect(&l, &(struct ps_filter){ .now = NOW, .kinds = &pods, .nkinds = 1 }, "alone web-1-a train-a");
	expect(&l, &(struct ps_filter){ .now = NOW, .user = "lab" }, "fresh alone web train");
	expect(&l, &(struct ps_filter){ .now = NOW, .user = "bob" }, "");
	lists_done(&l);
}

TEST("the table says it all")
{
	auto_sbuf struct sbuf out = SBUF(4096);
	struct ps_row *rows = NULL;
	struct lists l = { 0 };
	struct table t;
	size_t n = 0;

	fill(&l);
	ps_rows_make(l.of, &(struct ps_filter){ .now = NOW }, &rows, &n);
	ps_rows_table(rows, n, true, NOW, &t);
	table_text(&t, false, false, 0, &out);
	CHECK_STR(out.p, "NAMESPACE  NAME            STATE      PODS  GPUS  AGE    DURATION  REASON\n"
			 "lab        job/fresh       Succeeded   1/1     0  5m40s  27h       -\n"
			 "lab        pod/alone       Pending     0/1     0  4m40s  -         -\n"
			 "lab        deployment/web  Running     1/1     0  2m40s  -         -\n"
			 "lab        job/train       Running     1/1     2  100s   40s       -\n");
	table_done(&t);
	sbuf_reset(&out);
	ps_rows_table(rows, n, false, NOW, &t);
	table_text(&t, true, false, 0, &out);
	CHECK(str_starts(
		out.p,
		"NAME            STATE      PODS  GPUS  AGE    DURATION  USER  QUEUE  NODES  COMMAND  REASON\n"));
	CHECK(strstr(out.p,
		     "deployment/web  Running     1/1     0  2m40s  -         lab   -      g2     -        -\n"));
	table_done(&t);
	ps_rows_free(rows, n);
	lists_done(&l);
}

static json_t *refusal(const char *uid, const char *at, const char *message)
{
	return json_pack("{s:s,s:s,s:s,s:{s:s}}", "reason", "FailedCreate", "lastTimestamp", at, "message", message,
			 "involvedObject", "uid", uid);
}

TEST("what has fewer pods than it wants says what the newest refusal says")
{
	json_auto_t *events = json_pack(
		"[o,o,o,o]",
		refusal("held", AT("6:02"), "Error creating: pods \"held-x\" is forbidden: exceeded quota: q"),
		refusal("held", AT("6:01"), "Error creating: something older"),
		refusal("every", AT("6:00"), "Error creating: no"), refusal("train", AT("6:00"), "Error creating: no"));
	struct ps_row *rows = NULL;
	struct lists l = { 0 };
	size_t n = 0;

	/* All its pods that may run at once do run: what was once refused is past. */
	add(&l, &kind_job, "train", NULL, AT("0:00"), "{\"completions\":3,\"parallelism\":1}", "{\"active\":1}");
	add(&l, &kind_pod, "train-a", "train", AT("5:01"), "{}", POD_RUNNING);
	ps_rows_make(l.of, &(struct ps_filter){ .now = NOW }, &rows, &n);
	CHECK(!ps_rows_unexplained(rows, n));
	ps_rows_free(rows, n);
	add(&l, &kind_job, "held", NULL, AT("1:00"), "{}", "{}");
	add(&l, &kind_daemon_set, "every", NULL, AT("2:00"), "{}", "{\"desiredNumberScheduled\":1}");
	add(&l, &kind_job, "other", NULL, AT("3:00"), "{}", "{}");
	ps_rows_make(l.of, &(struct ps_filter){ .now = NOW }, &rows, &n);
	CHECK(ps_rows_unexplained(rows, n));
	ps_rows_explain(rows, n, events);
	CHECK_INT(n, 4);
	CHECK_STR(rows[0].work.reason, "");
	CHECK_STR(rows[1].work.reason, "exceeded quota: q");
	CHECK_STR(rows[2].work.reason, "no");
	CHECK_STR(rows[3].work.reason, "");
	/* An operator holds a Job back. */
	json_auto_t *waits = json_pack("[o]", refusal("other", AT("6:00"), "Waiting: held by its user"));

	json_object_set_new(json_array_get(waits, 0), "reason", json_string("Waiting"));
	ps_rows_explain(rows, n, waits);
	CHECK_STR(rows[3].work.reason, "held by its user");
	ps_rows_free(rows, n);
	lists_done(&l);
}

TEST("owners in a circle are no reason to hang")
{
	struct lists l = { 0 };

	add(&l, &kind_job, "a", "b", AT("0:00"), "{}", "{}");
	add(&l, &kind_job, "b", "a", AT("0:00"), "{}", "{}");
	add(&l, &kind_pod, "p", "a", AT("0:00"), "{}", POD_RUNNING);
	expect(&l, &(struct ps_filter){ .now = NOW }, "");
	lists_done(&l);
}
