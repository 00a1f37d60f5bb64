// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_state.h"

#include "follow_text.h"

TEST("replicas are the same whatever pod they have, and those that lead come first")
{
	struct follow_state s = { 0 };
	struct follow_replica *r;

	follow_job(&s, FOLLOW_CONDITION("Running", ""));
	follow_pod(&s, "worker", 1, "w1", FOLLOW_RUNS, false);
	follow_pod(&s, "worker", 0, "w0", FOLLOW_WAITS, false);
	follow_pod(&s, "master", 0, "m", FOLLOW_RUNS, false);
	CHECK_INT(s.n, 3);
	CHECK_STR(s.replicas[0]->name, "master-0");
	CHECK_STR(s.replicas[1]->name, "worker-0");
	CHECK_STR(s.replicas[2]->name, "worker-1");
	CHECK(follow_decider(&s) == s.replicas[0]);
	CHECK_INT(s.replicas[0]->phase, FOLLOW_RUNNING);
	CHECK_INT(s.replicas[0]->gpus, 1);
	CHECK_STR(s.replicas[0]->container, "pytorch");
	CHECK_INT(s.replicas[1]->phase, FOLLOW_PENDING);
	CHECK_STR(s.replicas[1]->why, "no room");
	r = follow_pod(&s, "worker", 1, "w1b", FOLLOW_RUNS, false);
	CHECK(r == s.replicas[2] && r->numbers.restarted);
	follow_pod(&s, "worker", 1, "w1", FOLLOW_ENDED("Failed", "1"), true);
	CHECK_INT(r->phase, FOLLOW_RUNNING); /* the old pod's end is nobody's business */
	CHECK_INT(s.n, 3);
	follow_state_done(&s);
}

TEST("pods of others are not followed")
{
	struct follow_state s = { 0 };
	json_auto_t *pod = about_json("{'metadata':{'name':'mnist-x','uid':'p','ownerReferences':[{'uid':'other',"
				      "'controller':true}]}}");

	follow_job(&s, "");
	CHECK(!follow_state_pod(&s, pod, false));
	CHECK_INT(s.n, 0);
	follow_state_done(&s);
}

TEST("a replica's state says what its pod leaves open")
{
	static const struct {
		const char *status;
		bool gone;
		enum follow_phase phase;
		const char *why;
		int status_code;
		bool log_ready, log_ends;
	} rows[] = {
		{ FOLLOW_WAITS, false, FOLLOW_PENDING, "no room", -1, false, true },
		{ FOLLOW_RUNS, false, FOLLOW_RUNNING, "", -1, true, false },
		{ FOLLOW_RUNS, true, FOLLOW_STOPPED, "", -1, true, true },
		{ FOLLOW_ENDED("Succeeded", "0"), false, FOLLOW_SUCCEEDED, "", 0, true, true },
		{ FOLLOW_ENDED("Failed", "3"), false, FOLLOW_FAILED, "exit status 3", 3, true, true },
		{ FOLLOW_ENDED("Running", "3"), false, FOLLOW_RESTARTING, "exit status 3", -1, true, true },
		{ "{'phase':'Running','containerStatuses':[{'name':'pytorch','restartCount':1,'state':{'waiting':{"
		  "'reason':'CrashLoopBackOff','message':'back-off 10s'}}}]}",
		  false, FOLLOW_RESTARTING, "CrashLoopBackOff: back-off 10s", -1, false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct follow_state s = { 0 };
		struct follow_replica *r;

		follow_job(&s, "");
		r = follow_pod(&s, "worker", 0, "u", rows[i].status, rows[i].gone);
		CHECK_INT(r->phase, rows[i].phase);
		CHECK_STR(r->why, rows[i].why);
		CHECK_INT(r->status, rows[i].status_code);
		CHECK_INT(r->log_ends, rows[i].log_ends);
		if (!rows[i].gone)
			CHECK_INT(r->log_ready, rows[i].log_ready);
		follow_state_done(&s);
	}
}

TEST("restarts are those that the job remembers")
{
	struct follow_state s = { 0 };

	follow_job(&s, "'replicas':{'worker-0':{'restarts':4}}");
	CHECK_INT(follow_pod(&s, "worker", 0, "u", FOLLOW_RUNS, false)->restarts, 4);
	CHECK_INT(follow_pod(&s, "worker", 1, "v", FOLLOW_RUNS, false)->restarts, 0);
	follow_state_done(&s);
}

TEST("the first that failed by itself is the cause")
{
	struct follow_state s = { 0 };

	follow_job(&s, "");
	CHECK(!follow_cause(&s));
	follow_pod(&s, "master", 0, "m",
		   "{'phase':'Failed','containerStatuses':[{'name':'pytorch','state':{'terminated':{'exitCode':1,"
		   "'finishedAt':'2025-12-31T23:59:55Z'}}}]}",
		   false);
	follow_pod(&s, "worker", 0, "w", FOLLOW_ENDED("Failed", "7"), false);
	follow_pod(&s, "worker", 1, "v", FOLLOW_ENDED("Failed", "9"), true); /* deleted */
	CHECK_STR(follow_cause(&s)->name, "worker-0");
	CHECK_INT(follow_cause(&s)->status, 7);
	follow_state_done(&s);
}

TEST("the one that its job names as failed is the cause, though it was stopped with the others")
{
	static const char stopped[] = "{'phase':'Failed','reason':'DeadlineExceeded','containerStatuses':[{'name':"
				      "'pytorch','restartCount':2,'state':{'terminated':{'exitCode':3}}}]}";
	struct follow_state s = { 0 };

	follow_job(&s, "'replicas':{'worker-0':{'exitCode':3}}," FOLLOW_CONDITION("Failed", ""));
	follow_pod(&s, "worker", 0, "w", stopped, true);
	CHECK(follow_cause(&s));
	CHECK_STR(follow_cause(&s)->why, "exit status 3");
	CHECK_INT(follow_cause(&s)->status, 3);
	follow_state_done(&s);
}

TEST("a job is deleted if it or its uid is gone, unless it was over")
{
	struct follow_state s = { 0 };

	follow_job(&s, "");
	follow_state_job(&s, NULL);
	CHECK(s.deleted && follow_is_over(&s));
	follow_state_done(&s);
	s = (struct follow_state){ 0 };
	follow_job(&s, FOLLOW_CONDITION("Succeeded", ""));
	follow_state_job(&s, NULL);
	CHECK(!s.deleted && follow_is_over(&s));
	follow_state_done(&s);
}

TEST("a time limit is known by its words")
{
	struct follow_state s = { 0 };

	follow_job(&s,
		   FOLLOW_CONDITION("Failed", "Job x has failed because it was active longer than specified deadline"));
	CHECK(follow_timed_out(&s));
	follow_job(&s, FOLLOW_CONDITION("Failed", "worker-0 exited with code 1"));
	CHECK(!follow_timed_out(&s));
	follow_state_done(&s);
}

TEST("pods of Jobs are workers by their index, and a pod is itself")
{
	struct follow_state s = { 0 };
	json_auto_t *job = about_json("{'metadata':{'name':'crew','uid':'j'}}");
	json_auto_t *pod = about_json("{'metadata':{'name':'crew-1-abcde','uid':'p','annotations':{"
				      "'batch.kubernetes.io/job-completion-index':'1'},'ownerReferences':[{'uid':'j',"
				      "'controller':true}]}}");
	json_auto_t *plain = about_json("{'metadata':{'name':'crew-abcde','uid':'q','ownerReferences':[{'uid':'j',"
					"'controller':true}]}}");
	struct found f;

	found_init(&f, &kind_job, job);
	follow_state_init(&s, &f);
	CHECK_STR(follow_state_pod(&s, pod, false)->name, "worker-1");
	CHECK_STR(follow_state_pod(&s, plain, false)->name, "abcde");
	follow_state_done(&s);
	found_done(&f);
	found_init(&f, &kind_pod, pod);
	follow_state_init(&s, &f);
	CHECK(follow_state_pod(&s, pod, false) != NULL);
	CHECK(!follow_state_pod(&s, plain, false));
	follow_state_done(&s);
	found_done(&f);
}
