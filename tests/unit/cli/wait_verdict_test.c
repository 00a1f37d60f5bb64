// SPDX-License-Identifier: Apache-2.0
#include "cli/wait_verdict.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "test.h"

#define PENDING "{\"spec\":{}}"
#define RUNNING "{\"spec\":{},\"status\":{\"active\":1,\"ready\":1}}"
#define COMPLETE                                                                                                       \
	"{\"spec\":{},\"status\":{\"succeeded\":1,\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}}"
#define BROKEN                                                                                                         \
	"{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"m\"}]}}"
#define READY   "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define UNREADY "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}"

TEST("each goal has its verdict for each state")
{
	static const struct {
		const char *goal;
		const struct kind *kind;
		const char *obj; /* NULL: gone */
		enum wait_verdict verdict;
		const char *sentence;
	} rows[] = {
		{ "done", &kind_job, PENDING, WAIT_ON, "is pending" },
		{ "done", &kind_job, RUNNING, WAIT_ON, "is running" },
		{ "done", &kind_job, COMPLETE, WAIT_CAME, "succeeded" },
		{ "done", &kind_job, BROKEN, WAIT_NEVER, "failed: r: m" },
		{ "done", &kind_job, NULL, WAIT_NEVER, "is deleted" },
		{ "succeeded", &kind_job, BROKEN, WAIT_NEVER, "failed: r: m" },
		{ "failed", &kind_job, BROKEN, WAIT_CAME, "failed: r: m" },
		{ "failed", &kind_job, COMPLETE, WAIT_NEVER, "succeeded" },
		{ "running", &kind_job, PENDING, WAIT_ON, "is pending" },
		{ "running", &kind_job, RUNNING, WAIT_CAME, "is running" },
		{ "running", &kind_job, COMPLETE, WAIT_CAME, "succeeded" },
		{ "running", &kind_job, BROKEN, WAIT_NEVER, "failed: r: m" },
		{ "ready", &kind_pod, UNREADY, WAIT_ON, "is running" },
		{ "ready", &kind_pod, READY, WAIT_CAME, "is ready" },
		{ "ready", &kind_job, COMPLETE, WAIT_NEVER, "succeeded" },
		{ "ready", &kind_deployment, "{\"spec\":{\"replicas\":2},\"status\":{\"readyReplicas\":1}}", WAIT_ON,
		  "is pending" },
		{ "running", &kind_deployment, "{\"spec\":{\"replicas\":2},\"status\":{\"readyReplicas\":1}}",
		  WAIT_CAME, "is running" },
		{ "deleted", &kind_job, RUNNING, WAIT_ON, "is running" },
		{ "deleted", &kind_job, COMPLETE, WAIT_ON, "succeeded" },
		{ "delete", &kind_job, NULL, WAIT_CAME, "is deleted" },
		{ "condition=complete", &kind_job, COMPLETE, WAIT_CAME, "has condition Complete=True" },
		{ "condition=Complete", &kind_job, BROKEN, WAIT_NEVER, "failed: r: m" },
		{ "condition=Ready=False", &kind_pod, UNREADY, WAIT_CAME, "has condition Ready=False" },
		{ "condition=Ready", &kind_pod, UNREADY, WAIT_ON, "is running" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = rows[i].obj ? json_loads(rows[i].obj, 0, NULL) : NULL;
		auto_sbuf struct sbuf sentence = SBUF(1024);
		struct err e = ERR_INIT;
		struct wait_for w = { 0 };
		enum wait_verdict v;

		CHECK_INT(wait_for_parse(rows[i].goal, &w, &e), 0);
		v = wait_judge(&w, rows[i].kind, obj, &sentence);
		if (v != rows[i].verdict || !streq(sentence.p, rows[i].sentence))
			test_fail(__FILE__, __LINE__, "row %zu: %d \"%s\"", i, v, sentence.p);
		wait_for_done(&w);
	}
}

TEST("goals that there are not, or that a kind never reaches, are refused")
{
	struct wait_for w = { 0 };
	struct err e = ERR_INIT;

	CHECK_INT(wait_for_parse("finished", &w, &e), -1);
	CHECK(strstr(e.text, "is not one of done, succeeded"));
	CHECK_INT(wait_for_parse("condition=", &w, &e), -1);
	err_clear(&e);
	CHECK_INT(wait_for_check(&(struct wait_for){ .goal = WAIT_DONE }, &kind_deployment, &e), -1);
	CHECK(strstr(e.text, "a deployment does not end by itself"));
	CHECK_INT(wait_for_default(&kind_deployment), WAIT_READY);
	CHECK_INT(wait_for_default(&kind_pytorchjob), WAIT_DONE);
}

TEST("ready pods of an older template do not count")
{
	static const struct {
		const struct kind *kind;
		const char *obj; /* with ' for " */
		enum wait_verdict verdict;
		const char *sentence;
	} rows[] = {
		{ &kind_deployment,
		  "{'metadata':{'generation':2},'spec':{'replicas':2},'status':{'observedGeneration':1,'replicas':2,"
		  "'readyReplicas':2,'updatedReplicas':2,'availableReplicas':2}}",
		  WAIT_ON, "has a change that is not yet seen" },
		{ &kind_deployment,
		  "{'metadata':{'generation':2},'spec':{'replicas':2},'status':{'observedGeneration':2,'replicas':3,"
		  "'readyReplicas':2,'updatedReplicas':1,'availableReplicas':2}}",
		  WAIT_ON, "is rolling out: 1 of 2 pods are updated" },
		{ &kind_deployment,
		  "{'metadata':{'generation':2},'spec':{'replicas':2},'status':{'observedGeneration':2,'replicas':2,"
		  "'readyReplicas':2,'updatedReplicas':2,'availableReplicas':2}}",
		  WAIT_CAME, "is ready" },
		{ &kind_stateful_set,
		  "{'spec':{'replicas':2},'status':{'replicas':2,'readyReplicas':2,'updatedReplicas':1,"
		  "'currentRevision':'a','updateRevision':'b'}}",
		  WAIT_ON, "is rolling out: 1 of 2 pods are updated" },
		{ &kind_stateful_set,
		  "{'spec':{'replicas':2},'status':{'replicas':2,'readyReplicas':2,'updatedReplicas':2,"
		  "'currentRevision':'b','updateRevision':'b'}}",
		  WAIT_CAME, "is ready" },
		{ &kind_stateful_set,
		  "{'spec':{'replicas':2,'updateStrategy':{'rollingUpdate':{'partition':1}}},'status':{'replicas':2,"
		  "'readyReplicas':2,'updatedReplicas':1,'currentRevision':'a','updateRevision':'b'}}",
		  WAIT_CAME, "is ready" },
		{ &kind_stateful_set,
		  "{'spec':{'replicas':2,'updateStrategy':{'type':'OnDelete'}},'status':{'replicas':2,"
		  "'readyReplicas':2,'currentRevision':'a','updateRevision':'b'}}",
		  WAIT_CAME, "is ready" },
		{ &kind_daemon_set,
		  "{'status':{'desiredNumberScheduled':2,'numberReady':2,'numberAvailable':2,"
		  "'updatedNumberScheduled':1}}",
		  WAIT_ON, "is rolling out: 1 of 2 pods are updated" },
		{ &kind_daemon_set,
		  "{'status':{'desiredNumberScheduled':2,'numberReady':2,'numberAvailable':2,"
		  "'updatedNumberScheduled':2}}",
		  WAIT_CAME, "is ready" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xstrdup(rows[i].obj);
		auto_sbuf struct sbuf sentence = SBUF(1024);
		json_auto_t *obj = NULL;
		enum wait_verdict v;

		for (char *p = text; *p; p++)
			if (*p == '\'')
				*p = '"';
		obj = json_loads(text, 0, NULL);
		v = wait_judge(&(struct wait_for){ .goal = WAIT_READY }, rows[i].kind, obj, &sentence);
		if (v != rows[i].verdict || !streq(sentence.p, rows[i].sentence))
			test_fail(__FILE__, __LINE__, "row %zu: %d \"%s\"", i, v, sentence.p);
	}
}
