// SPDX-License-Identifier: Apache-2.0
/* rules_test.c - holds, times, dependencies and slots, of pods and of what is above them */
#include "base/clock.h"
#include "sched/cluster.h"

#define JOBS "batch/v1/jobs"

/* A Job without a controller of Jobs: pods are made by hand. */
static void make_job(struct cluster *c, const char *name, const char *notes)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s','annotations':{%s}},'spec':{'template':{'spec':{'restartPolicy':"
			  "'Never','containers':[{'name':'c','image':'host'}]}}}}",
			  name, notes);

	server_do(&c->s, VERB_CREATE, JOBS, "default", NULL, body);
}

static void make_pod_of(struct cluster *c, const char *job, const char *name)
{
	json_auto_t *owner = server_ask(&c->s, VERB_GET, JOBS, "default", job, NULL);
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'%s','ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'%s',"
		"'uid':'%s','controller':true}]},'spec':{'containers':[{'name':'c','image':'host'}]}}",
		name, job, jsonx_str_or(owner, "metadata.uid", ""));

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

static void make_pod_saying(struct cluster *c, const char *name, const char *notes)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','annotations':{%s}},'spec':{'containers':[{'name':"
					 "'c','image':'host'}]}}",
					 name, notes);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

static void change(struct cluster *c, const char *kind, const char *name, const char *subresource, const char *patch)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, kind, "default", name);
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = subresource;
	done = server_call(&c->s, &req, patch);
	if (!done)
		test_fail(__FILE__, __LINE__, "%s: %s", name, c->s.message);
	settle(c);
}

static void delete_job(struct cluster *c, const char *name)
{
	struct api_request req = server_request(&c->s, VERB_DELETE, JOBS, "default", name);
	json_auto_t *gone = NULL;

	req.propagation = PROPAGATE_BACKGROUND;
	gone = server_call(&c->s, &req, NULL);
	CHECK(gone != NULL);
	settle(c);
}

static void end_job(struct cluster *c, const char *name, const char *condition)
{
	auto_free char *status = xasprintf("{'status':{'startTime':'2026-01-01T00:00:00Z','completionTime':%s,"
					   "'conditions':[{'type':'%s','status':'True'}]}}",
					   streq(condition, "Complete") ? "'2026-01-01T00:00:01Z'" : "null", condition);

	change(c, JOBS, name, "status", status);
}

static void end_pod(struct cluster *c, const char *name)
{
	change(c, "v1/pods", name, "status", "{'status':{'phase':'Succeeded'}}");
}

TEST("a pod that is held stays where it is until it is released")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");

	make_pod_saying(&c, "a", "'stoker.dev/hold':'user'");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "a"), "-");
	CHECK_STR(scheduled(&c, "a"), "False Unschedulable held by its user");
	change(&c, "v1/pods", "a", NULL, "{'metadata':{'annotations':{'stoker.dev/hold':null}}}");
	CHECK_STR(node_of(&c, "a"), "n");
	cluster_done(&c);
}

TEST("what a workload says goes for its pods, also if it says so later")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'1'}");

	make_pod(&c, "first", "");
	make_job(&c, "j", "'stoker.dev/hold':'operator'");
	make_pod_of(&c, "j", "j-0");
	wait_for_words(&c);
	CHECK_STR(scheduled(&c, "j-0"), "False Unschedulable held by an operator");
	change(&c, JOBS, "j", NULL, "{'metadata':{'annotations':{'stoker.dev/hold':'user'}}}");
	wait_for_words(&c);
	CHECK_STR(scheduled(&c, "j-0"), "False Unschedulable held by its user");
	change(&c, JOBS, "j", NULL, "{'metadata':{'annotations':null}}");
	wait_for_words(&c);
	CHECK_STR(scheduled(&c, "j-0"), "False Unschedulable 0/1 nodes are available: 1 Too many pods.");
	change(&c, JOBS, "j", NULL, "{'metadata':{'annotations':{'stoker.dev/hold':'user'}}}");
	end_pod(&c, "first");
	settle(&c);
	CHECK_STR(node_of(&c, "j-0"), "-");
	change(&c, JOBS, "j", NULL,
	       "{'metadata':{'annotations':{'stoker.dev/hold':null,'stoker.dev/not-before':'2100-01-01T00:00:00Z'}}}");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "j-0"), "-");
	change(&c, JOBS, "j", NULL, "{'metadata':{'annotations':{'stoker.dev/not-before':'2000-01-01T00:00:00Z'}}}");
	CHECK_STR(node_of(&c, "j-0"), "n");
	cluster_done(&c);
}

TEST("what may start soon is not forgotten over what may start later")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");
	char soon[CLOCK_RFC3339_LEN];
	auto_free char *note = NULL;

	clock_rfc3339(clock_wall() + 2, soon);
	note = xasprintf("'stoker.dev/not-before':'%s'", soon);
	make_pod_saying(&c, "far", "'stoker.dev/not-before':'2100-01-01T00:00:00Z'");
	settle(&c);
	make_pod_saying(&c, "near", note);
	settle(&c);
	for (int i = 0; i < 1000 && streq(node_of(&c, "near"), "-"); i++) {
		usleep(10000);
		loop_turn(c.s.loop, true);
	}
	CHECK_STR(node_of(&c, "near"), "n");
	CHECK_STR(node_of(&c, "far"), "-");
	cluster_done(&c);
}

TEST("a workload starts when those before it have ended as it asks for, and that is noted")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");
	json_auto_t *job = NULL;

	make_job(&c, "prepare", "");
	make_job(&c, "clean", "");
	make_job(&c, "train", "'stoker.dev/after':'ok:job/prepare,any:job/clean'");
	make_pod_of(&c, "train", "train-0");
	wait_for_words(&c);
	CHECK_STR(scheduled(&c, "train-0"),
		  "False Unschedulable waits until job/prepare has succeeded; waits until job/clean has ended");
	end_job(&c, "clean", "Failed");
	wait_for_words(&c);
	CHECK_STR(scheduled(&c, "train-0"), "False Unschedulable waits until job/prepare has succeeded");
	CHECK_STR(node_of(&c, "train-0"), "-");
	end_job(&c, "prepare", "Complete");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "train-0"), "n");
	job = server_ask(&c.s, VERB_GET, JOBS, "default", "train", NULL);
	CHECK_STR(json_string_value(json_object_get(jsonx_at(job, "metadata.annotations"), "stoker.dev/after-met")),
		  "ok:job/prepare,any:job/clean");
	/* A pod that comes later finds neither of them, and needs to find none. */
	delete_job(&c, "prepare");
	delete_job(&c, "clean");
	make_pod_of(&c, "train", "train-1");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "train-1"), "n");
	cluster_done(&c);
}

TEST("what can never come true is said, and a deleted workload did not end well")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");
	json_auto_t *seen = NULL;

	make_job(&c, "a", "");
	make_pod_saying(&c, "p", "'stoker.dev/after':'ok:job/a'");
	make_pod_saying(&c, "q", "'stoker.dev/after':'notok:job/a'");
	settle(&c);
	delete_job(&c, "a");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "q"), "n");
	CHECK_STR(scheduled(&c, "p"), "False Unschedulable can never start: it waits for job/a to succeed, which was "
				      "deleted before it had ended");
	seen = events(&c);
	CHECK_INT(json_integer_value(json_object_get(seen,
						     "FailedScheduling can never start: it waits for job/a to succeed, "
						     "which was deleted before it had ended")),
		  1);
	/* Another of that name is another chance. */
	make_job(&c, "a", "");
	settle(&c);
	end_job(&c, "a", "Complete");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "p"), "n");
	cluster_done(&c);
}

TEST("workloads that wait for each other are told, until one of them lets go")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");

	make_pod_saying(&c, "a", "'stoker.dev/after':'any:pod/b'");
	make_pod_saying(&c, "b", "'stoker.dev/after':'any:pod/c'");
	make_pod_saying(&c, "c", "'stoker.dev/after':'any:pod/a'");
	make_pod_saying(&c, "self", "'stoker.dev/after':'ok:pod/self'");
	wait_for_words(&c);
	wait_for_words(&c);
	CHECK_STR(scheduled(&c, "a"), "False Unschedulable can never start: pod/a waits for pod/b, which waits for "
				      "pod/c, which waits for pod/a");
	CHECK_STR(scheduled(&c, "b"), "False Unschedulable can never start: pod/b waits for pod/c, which waits for "
				      "pod/a, which waits for pod/b");
	CHECK_STR(scheduled(&c, "self"), "False Unschedulable can never start: pod/self waits for pod/self");
	change(&c, "v1/pods", "c", NULL, "{'metadata':{'annotations':{'stoker.dev/after':null}}}");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "c"), "n");
	CHECK_STR(scheduled(&c, "a"), "False Unschedulable waits until pod/b has ended");
	end_pod(&c, "c");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "b"), "n");
	cluster_done(&c);
}

TEST("of an array as many pods run as it has slots")
{
	struct cluster c = cluster_new("{'cpu':'40','pods':'100'}");

	make_job(&c, "array", "'stoker.dev/slots':'2'");
	for (int i = 0; i < 5; i++) {
		auto_free char *name = xasprintf("p%d", i);

		make_pod_of(&c, "array", name);
	}
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "p0"), "n");
	CHECK_STR(node_of(&c, "p1"), "n");
	CHECK_STR(node_of(&c, "p2"), "-");
	CHECK_STR(scheduled(&c, "p2"), "False Unschedulable its array runs as many jobs at a time as it may");
	end_pod(&c, "p0");
	settle(&c);
	CHECK_STR(node_of(&c, "p2"), "n");
	CHECK_STR(node_of(&c, "p3"), "-");
	change(&c, JOBS, "array", NULL, "{'metadata':{'annotations':{'stoker.dev/slots':'3'}}}");
	CHECK_STR(node_of(&c, "p3"), "n");
	CHECK_STR(node_of(&c, "p4"), "-");
	change(&c, JOBS, "array", NULL, "{'metadata':{'annotations':null}}");
	CHECK_STR(node_of(&c, "p4"), "n");
	cluster_done(&c);
}

TEST("a new scheduler knows what holds, what has come true and how many run")
{
	struct cluster c = cluster_new("{'cpu':'40','pods':'100'}");

	make_job(&c, "array", "'stoker.dev/slots':'1'");
	make_pod_of(&c, "array", "p1");
	settle(&c);
	make_pod_of(&c, "array", "p0");
	make_pod_saying(&c, "held", "'stoker.dev/hold':'user'");
	make_pod_saying(&c, "after", "'stoker.dev/after':'any:job/array'");
	settle(&c);
	sched_free(c.sched);
	c.sched = sched_new(c.client);
	settle(&c);
	CHECK_STR(node_of(&c, "p1"), "n");
	CHECK_STR(node_of(&c, "p0"), "-");
	CHECK_STR(node_of(&c, "held"), "-");
	CHECK_STR(node_of(&c, "after"), "-");
	end_job(&c, "array", "Failed");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "after"), "n");
	cluster_done(&c);
}
