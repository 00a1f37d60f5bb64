// SPDX-License-Identifier: Apache-2.0
/* What a gate does to a job's plan; the gate here says whatever the test wants. */
#include "control/gated.h"

#include "control/training_sample.h"

struct said {
	struct gate gate;
	enum gate_way way;
	enum gate_state state;
	const char *why;
	int go;                /* so many of the pods that are wished for */
	size_t wished;         /* in the last wish */
	int64_t since;         /* it said */
	char gang[64];         /* of whom */
	bool with_gates;       /* a pod that was wished for had one */
	struct gate_rule rule; /* with words: the job holds itself back */
	bool forgotten;
};

static struct said *said(struct gate *g)
{
	return (struct said *)g;
}

static enum gate_way way(struct gate *g)
{
	return said(g)->way;
}

static void wish(struct gate *g, const struct gate_wish *w, bool *ret_go)
{
	struct said *s = said(g);

	s->wished = w->n;
	s->since = w->since_ms;
	snprintf(s->gang, sizeof(s->gang), "%s %s", w->ns, w->gang);
	for (size_t i = 0; i < w->n; i++) {
		ret_go[i] = (int)i < s->go;
		s->with_gates |= jsonx_at(w->pods[i], "spec.schedulingGates") != NULL;
	}
}

static enum gate_state state(struct gate *g, const char *ns, const char *gang, const char **ret_why)
{
	(void)ns;
	(void)gang;
	*ret_why = said(g)->why;
	return said(g)->state;
}

static bool held(struct gate *g, const char *plural, const json_t *job, struct gate_rule *ret)
{
	(void)job;
	CHECK_STR(plural, "tfjobs");
	*ret = said(g)->rule;
	return ret->why != NULL;
}

static void forget(struct gate *g, const char *plural, const json_t *job)
{
	(void)plural;
	(void)job;
	said(g)->forgotten = true;
}

static const struct gate_ops ops = { .way = way, .wish = wish, .state = state, .held = held, .forget = forget };

static json_t *three_workers(void)
{
	json_t *job = sample_job("j", NULL, "'tfReplicaSpecs':{" TF_ROLE("Worker", 3, "Never") "}");

	jsonx_set_new(job, "metadata.creationTimestamp", json_string("2026-01-01T00:00:10Z"));
	jsonx_set_new(job, "metadata.labels", json_pack("{s:s}", "stoker.dev/queue", "long"));
	return job;
}

/* Pods that are made of a job whose services are all there, with that gate. */
static size_t made(struct said *s, const json_t *obj, size_t most, struct training_plan *p)
{
	struct training_job job = training_job(training_form("TFJob", obj), obj);
	struct training_view v = { .job = &job, .now = 1000000000, .create_most = most };
	const json_t *services[3];

	for (int i = 0; i < 3; i++)
		services[i] = training_service(&job, &job.roles[0], i);
	v.services = services;
	v.nservices = 3;
	gated_view(s ? &s->gate : NULL, &v);
	training_plan(&v, p);
	if (v.held)
		gated_hold_all(&s->gate, &v, p);
	else
		gated_hold(s ? &s->gate : NULL, &job, most, p);
	for (int i = 0; i < 3; i++)
		json_decref((json_t *)services[i]);
	training_job_done(&job);
	return p->npods;
}

static const json_t *queued_of(const struct training_plan *p)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(p->status, "conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), "Queued"))
			return c;
	return NULL;
}

TEST("how many pods are made depends on the gate")
{
	static const struct {
		enum gate_way way;
		int go;
		size_t most, made, wished;
		int64_t again;
	} rows[] = {
		{ GATE_ASKING, 0, 100, 0, 0, -1 }, { GATE_OFF, 0, 100, 3, 0, -1 },   { GATE_GATES, 0, 100, 3, 0, -1 },
		{ GATE_DELAY, 0, 100, 0, 3, -1 },  { GATE_DELAY, 3, 100, 3, 3, -1 }, { GATE_DELAY, 1, 100, 1, 3, -1 },
		{ GATE_DELAY, 3, 2, 2, 3, 1 },
	};
	json_auto_t *obj = three_workers();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct said s = { .gate.ops = &ops, .way = rows[i].way, .go = rows[i].go };
		struct training_plan p;

		CHECK_INT(made(&s, obj, rows[i].most, &p), rows[i].made);
		CHECK_INT(s.wished, rows[i].wished);
		CHECK_INT(p.again, rows[i].again);
		CHECK(!s.with_gates);
		if (rows[i].wished) {
			CHECK_STR(s.gang, "default tfjobs/j");
			CHECK_INT(s.since, 1767225610000);
		}
		training_plan_done(&p);
	}
}

TEST("of a job that holds itself back no pod is made, whatever the room, and it says why")
{
	static const enum gate_way ways[] = { GATE_ASKING, GATE_OFF, GATE_GATES, GATE_DELAY };
	json_auto_t *obj = three_workers();

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct said s = { .gate.ops = &ops,
				  .way = ways[i],
				  .go = 3,
				  .wished = 9,
				  .rule = { .why = "not to start before 10:00", .until_ms = 1000000005000 } };
		struct training_plan p;

		CHECK_INT(made(&s, obj, 100, &p), 0);
		CHECK_INT(s.wished, ways[i] == GATE_DELAY ? 0 : 9);
		CHECK_INT(p.again, 6);
		CHECK_STR(jsonx_str_or(queued_of(&p), "message", ""),
			  "TFJob default/j waits: not to start before 10:00.");
		training_plan_done(&p);
	}
}

TEST("a gate is set where pods are held by gates, and the queue is the job's")
{
	static const struct {
		enum gate_way way;
		const char *node, *gates, *queue;
	} rows[] = {
		{ GATE_OFF, "", "null", "" },
		{ GATE_DELAY, "", "null", "long" },
		{ GATE_GATES, "", "[{\"name\":\"stoker.dev/queue\"}]", "long" },
		{ GATE_GATES, "n1", "null", "long" },
	};
	json_auto_t *obj = three_workers();
	struct training_job job = training_job(training_form("TFJob", obj), obj);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct said s = { .gate.ops = &ops, .way = rows[i].way };
		json_auto_t *pod = training_pod(&job, &job.roles[0], 0, 0);
		auto_free char *gates = NULL;

		if (*rows[i].node)
			jsonx_set_new(pod, "spec.nodeName", json_string(rows[i].node));
		gated_close(&s.gate, &job, pod);
		gates = json_dumps(jsonx_at(pod, "spec.schedulingGates"), JSON_COMPACT);
		CHECK_STR(gates ? gates : "null", rows[i].gates);
		CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), "stoker.dev/queue"))
				  ?: "",
			  rows[i].queue);
	}
	training_job_done(&job);
}

TEST("nobody waits for a replica that has succeeded and is not made again")
{
	json_auto_t *obj = three_workers();
	struct training_job job = training_job(training_form("TFJob", obj), obj);
	json_auto_t *pod = training_pod(&job, &job.roles[0], 0, 0);
	json_auto_t *later = NULL;

	CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), TRAINING_GANG_SIZE)), "3");
	jsonx_set_new(obj, "status.replicas.worker-2", json_pack("{s:b}", "succeeded", 1));
	later = training_pod(&job, &job.roles[0], 0, 1);
	CHECK_STR(json_string_value(json_object_get(jsonx_at(later, "metadata.annotations"), TRAINING_GANG_SIZE)), "2");
	training_job_done(&job);
}

TEST("a job says why it waits, when that changes, and when it no longer does")
{
	static const struct {
		enum gate_state state;
		const char *why, *condition, *message, *event;
	} steps[] = {
		{ GATE_UNKNOWN, NULL, "", "", "" },
		{ GATE_WAITS, "needs much", "True", "TFJob default/j waits: needs much.", "TFJobQueued" },
		{ GATE_WAITS, "needs much", "True", "TFJob default/j waits: needs much.", "" },
		{ GATE_WAITS, "needs more", "True", "TFJob default/j waits: needs more.", "TFJobQueued" },
		{ GATE_UNKNOWN, NULL, "True", "TFJob default/j waits: needs more.", "" },
		{ GATE_IN, NULL, "False", "TFJob default/j is admitted.", "TFJobAdmitted" },
		{ GATE_IN, NULL, "False", "TFJob default/j is admitted.", "" },
	};
	json_auto_t *obj = three_workers();

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct said s = { .gate.ops = &ops, .way = GATE_GATES, .state = steps[i].state, .why = steps[i].why };
		struct training_plan p;
		const json_t *c;
		const char *event = "";

		made(&s, obj, 100, &p);
		if (p.status)
			json_object_set(obj, "status", p.status);
		json_decref(p.status);
		p.status = json_incref(json_object_get(obj, "status"));
		c = queued_of(&p);
		for (size_t k = 0; k < p.nevents; k++)
			if (!streq(p.events[k].reason, "TFJobCreated"))
				event = p.events[k].reason;
		CHECK_STR(jsonx_str_or(c, "status", ""), steps[i].condition);
		CHECK_STR(jsonx_str_or(c, "message", ""), steps[i].message);
		CHECK_STR(event, steps[i].event);
		training_plan_done(&p);
	}
}

TEST("without a gate nothing is said of queues")
{
	json_auto_t *obj = three_workers();
	struct training_plan p;

	CHECK_INT(made(NULL, obj, 100, &p), 3);
	CHECK(!queued_of(&p));
	training_plan_done(&p);
}
