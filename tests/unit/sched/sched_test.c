// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "kinds/work_rules.h"
#include "sched/cluster.h"

static char *revision_of(struct cluster *c, const char *name)
{
	json_auto_t *pod = server_ask(&c->s, VERB_GET, "v1/pods", "default", name, NULL);

	return xstrdup(jsonx_str_or(pod, "metadata.resourceVersion", ""));
}

TEST("a pod is bound to the node with room, and an event says so")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");
	json_auto_t *seen = NULL;

	make_pod(&c, "a", "");
	settle(&c);
	CHECK_STR(node_of(&c, "a"), "n");
	CHECK_STR(scheduled(&c, "a"), "True - -");
	seen = events(&c);
	CHECK_INT(json_integer_value(json_object_get(seen, "Scheduled Successfully assigned default/a to n")), 1);
	cluster_done(&c);
}

TEST("pods that were there before the scheduler are bound, and bound ones count")
{
	struct cluster c = { .s = server_new() };

	make_node(&c, "n", "{'cpu':'3','pods':'10'}");
	make_pod(&c, "there", ",'nodeName':'n'");
	make_pod(&c, "a", "");
	make_pod(&c, "b", "");
	make_pod(&c, "c", "");
	c.client = client_local_new(c.s.api, &caller_system);
	c.sched = sched_new(c.client);
	settle(&c);
	CHECK_STR(node_of(&c, "a"), "n");
	CHECK_STR(node_of(&c, "b"), "n");
	CHECK_STR(node_of(&c, "c"), "-");
	cluster_done(&c);
}

TEST("a pod without room is told why, once, and bound when room is made")
{
	struct cluster c = cluster_new("{'cpu':'1','pods':'10'}");
	json_auto_t *seen = NULL;

	make_pod(&c, "a", "");
	make_pod(&c, "b", "");
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "a"), "n");
	CHECK_STR(scheduled(&c, "b"), "False Unschedulable 0/1 nodes are available: 1 Insufficient cpu.");
	wait_for_words(&c);
	seen = events(&c);
	CHECK_INT(json_integer_value(
			  json_object_get(seen, "FailedScheduling 0/1 nodes are available: 1 Insufficient cpu.")),
		  1);
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/pods", "default", "a");
	req.patch = PATCH_MERGE;
	req.subresource = "status";
	json_auto_t *done = server_call(&c.s, &req, "{'status':{'phase':'Succeeded'}}");
	CHECK(done != NULL);
	settle(&c);
	CHECK_STR(node_of(&c, "b"), "n");
	CHECK_STR(scheduled(&c, "b"), "True - -");
	cluster_done(&c);
}

TEST("who was told why he waits is not told the same again by the next server")
{
	struct cluster c = cluster_new("{'cpu':'1','pods':'10'}");
	auto_free char *told = NULL;

	make_pod(&c, "a", "");
	make_pod(&c, "b", "");
	wait_for_words(&c);
	told = revision_of(&c, "b");
	CHECK_STR(scheduled(&c, "b"), "False Unschedulable 0/1 nodes are available: 1 Insufficient cpu.");
	sched_free(c.sched);
	c.sched = sched_new(c.client);
	wait_for_words(&c);
	auto_free char *now = revision_of(&c, "b");
	CHECK_STR(now, told);
	/* But what is new is. */
	sched_free(c.sched);
	make_node(&c, "m", "{'cpu':'500m','pods':'10'}");
	c.sched = sched_new(c.client);
	for (int i = 0; i < 100 && !strstr(scheduled(&c, "b"), "0/2 nodes"); i++)
		wait_for_words(&c);
	CHECK_STR(scheduled(&c, "b"), "False Unschedulable 0/2 nodes are available: 2 Insufficient cpu.");
	cluster_done(&c);
}

/* The next server is told of pods first if somebody else follows them already. */
TEST("what runs keeps its slots, whoever is heard of first")
{
	struct cluster c = cluster_new("{'cpu':'4','pods':'10'}");
	json_auto_t *job =
		server_ask(&c.s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
			   "{'metadata':{'name':'j','annotations':{'stoker.dev/slots':'1'}},'spec':{'template':{"
			   "'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'host'}]}}}}");
	struct informer *first;

	for (int i = 0; i < 3; i++) {
		auto_free char *body =
			xasprintf("{'metadata':{'name':'p%d','ownerReferences':[{'apiVersion':'batch/v1','kind':'Job',"
				  "'name':'j','uid':'%s','controller':true}]},'spec':{'containers':[{'name':'c',"
				  "'image':'host','resources':{'requests':{'cpu':'1'}}}]}}",
				  i, jsonx_str_or(job, "metadata.uid", ""));

		server_do(&c.s, VERB_CREATE, "v1/pods", "default", NULL, body);
		settle(&c);
	}
	CHECK_STR(node_of(&c, "p0"), "n");
	CHECK_STR(node_of(&c, "p1"), "-");
	sched_free(c.sched);
	first = informer_new(c.client, &(struct ref){ .api_version = "v1", .plural = "pods" }, NULL,
			     &(struct informer_handlers){ 0 });
	c.sched = sched_new(c.client);
	wait_for_words(&c);
	CHECK_STR(node_of(&c, "p0"), "n");
	CHECK_STR(node_of(&c, "p1"), "-");
	CHECK_STR(node_of(&c, "p2"), "-");
	informer_free(first);
	cluster_done(&c);
}

TEST("the higher priority goes first when room is made")
{
	struct cluster c = cluster_new(NULL);

	server_do(&c.s, VERB_CREATE, "scheduling.k8s.io/v1/priorityclasses", "", NULL,
		  "{'metadata':{'name':'high'},'value':1000}");
	make_pod(&c, "a", "");
	make_pod(&c, "b", ",'priorityClassName':'high','priority':1000");
	make_node(&c, "n", "{'cpu':'1','pods':'10'}");
	settle(&c);
	CHECK_STR(node_of(&c, "a"), "-");
	CHECK_STR(node_of(&c, "b"), "n");
	cluster_done(&c);
}

TEST("pods of others, with gates, and on their way out are left alone")
{
	struct cluster c = cluster_new("{'cpu':'9','pods':'10'}");

	make_pod(&c, "other", ",'schedulerName':'volcano'");
	make_pod(&c, "ours", ",'schedulerName':'stoker'");
	make_pod(&c, "gated", ",'schedulingGates':[{'name':'e.org/wait'}]");
	settle(&c);
	CHECK_STR(node_of(&c, "other"), "-");
	CHECK_STR(node_of(&c, "ours"), "n");
	CHECK_STR(node_of(&c, "gated"), "-");
	CHECK_STR(scheduled(&c, "gated"),
		  "False SchedulingGated Scheduling is blocked due to non-empty scheduling gates");
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/pods", "default", "gated");
	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&c.s, &req, "{'spec':{'schedulingGates':null}}");
	CHECK(done != NULL);
	settle(&c);
	CHECK_STR(node_of(&c, "gated"), "n");
	cluster_done(&c);
}

TEST("a pod that is ending is not bound")
{
	struct cluster c = cluster_new(NULL);
	json_auto_t *gone = NULL;

	server_do(
		&c.s, VERB_CREATE, "v1/pods", "default", NULL,
		"{'metadata':{'name':'a','finalizers':['e.org/x']},'spec':{'containers':[{'name':'c','image':'i'}]}}");
	settle(&c);
	gone = server_ask(&c.s, VERB_DELETE, "v1/pods", "default", "a", NULL);
	make_node(&c, "n", "{'cpu':'1','pods':'10'}");
	settle(&c);
	CHECK_STR(node_of(&c, "a"), "-");
	cluster_done(&c);
}

/* A client whose bindings fail as long as it is told so. */
struct failing {
	struct client client;
	struct client *real;
	bool fail;
	int tries;
	struct loop_hook answer; /* answers come from the loop */
	client_done *done;
	void *arg;
};

static void answer_failure(void *arg)
{
	struct failing *f = arg;
	struct err e = ERR_INIT;

	err_set(&e, ERR_UNAVAILABLE, "not now");
	f->done(f->arg, NULL, &e);
}

static void fail_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct failing *f = (struct failing *)c;

	if (ref->subresource && f->fail) {
		f->tries++;
		f->done = done;
		f->arg = arg;
		f->answer = (struct loop_hook){ .run = answer_failure, .arg = f, .phase = LOOP_AFTER_COMMIT };
		loop_schedule(c->loop, &f->answer);
		return;
	}
	f->real->ops->create(f->real, ref, obj, done, arg);
}

/* The local client looks at its own structure, so every other call goes to it. */
static void pass_list(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
		      void *arg)
{
	struct client *real = ((struct failing *)c)->real;

	real->ops->list(real, ref, o, done, arg);
}

static void pass_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch,
		       client_done *done, void *arg)
{
	struct client *real = ((struct failing *)c)->real;

	real->ops->patch(real, ref, type, patch, done, arg);
}

static void *pass_watch(struct client *c, const struct ref *ref, const struct list_options *o, client_event *event,
			void *arg)
{
	struct client *real = ((struct failing *)c)->real;

	return real->ops->watch(real, ref, o, event, arg);
}

static void pass_watch_stop(struct client *c, void *watch)
{
	struct client *real = ((struct failing *)c)->real;

	real->ops->watch_stop(real, watch);
}

static const struct client_ops failing_ops = {
	.create = fail_create,
	.patch = pass_patch,
	.list = pass_list,
	.watch = pass_watch,
	.watch_stop = pass_watch_stop,
};

TEST("a binding that fails is tried again later, and its room is not lost")
{
	struct cluster c = { .s = server_new() };
	struct failing f = { .client = { &failing_ops, c.s.loop }, .fail = true };
	int64_t began;

	log_set_level(LOG_ERROR);
	make_node(&c, "n", "{'cpu':'1','pods':'10'}");
	f.real = c.client = client_local_new(c.s.api, &caller_system);
	c.sched = sched_new(&f.client);
	settle(&c);
	began = clock_mono_ms();
	make_pod(&c, "a", "");
	settle(&c);
	CHECK(f.tries > 0);
	/* Not at once, but on a slow machine that may be by now; words about it are a reason too. */
	CHECK(f.tries <= 1 + (clock_mono_ms() - began) / 100);
	f.fail = false;
	for (int i = 0; i < 120 && streq(node_of(&c, "a"), "-"); i++) {
		server_settle(&c.s);
		usleep(10000);
	}
	CHECK_STR(node_of(&c, "a"), "n");
	cluster_done(&c);
}

#define BURST 2000

TEST("a burst is bound in order, as far as there is room")
{
	struct cluster c = cluster_new("{'cpu':'1500','pods':'10000'}");
	int bound = 0;
	char name[16];

	c.s.batch = true;
	for (int i = 0; i < BURST; i++) {
		snprintf(name, sizeof(name), "p%04d", i);
		make_pod(&c, name, "");
	}
	c.s.batch = false;
	for (int i = 0; i < 400; i++)
		server_turn(&c.s);
	for (int i = 0; i < BURST; i++) {
		snprintf(name, sizeof(name), "p%04d", i);
		if (streq(node_of(&c, name), "n")) {
			bound++;
			CHECK(i < 1500);
		}
	}
	CHECK_INT(bound, 1500);
	cluster_done(&c);
}

TEST("a scheduler may be freed with bindings under way")
{
	struct cluster c = cluster_new("{'cpu':'9','pods':'10'}");

	c.s.batch = true;
	make_pod(&c, "a", "");
	server_turn(&c.s);
	cluster_done(&c);
}

static void make_member(struct cluster *c, const char *name, const char *gang, const char *size, const char *more)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','annotations':{'stoker.dev/gang':'%s','stoker.dev/"
					 "gang-size':'%s'}},'spec':{'containers':[{'name':'c','image':'host',"
					 "'resources':{'requests':{'cpu':'1'}}}]%s}}",
					 name, gang, size, more);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

TEST("of two gangs that each need the whole node, one starts whole and the other when that has gone")
{
	struct cluster c = cluster_new("{'cpu':'2','memory':'1Gi','pods':'10'}");

	make_member(&c, "a1", "a", "2", "");
	make_member(&c, "b1", "b", "2", "");
	settle(&c);
	CHECK_STR(node_of(&c, "a1"), "-");
	CHECK_STR(node_of(&c, "b1"), "-");
	make_member(&c, "b2", "b", "2", "");
	make_member(&c, "a2", "a", "2", "");
	settle(&c);
	CHECK_STR(node_of(&c, "b1"), "n");
	CHECK_STR(node_of(&c, "b2"), "n");
	CHECK_STR(node_of(&c, "a1"), "-");
	CHECK_STR(node_of(&c, "a2"), "-");
	server_do(&c.s, VERB_DELETE, "v1/pods", "default", "b1", NULL);
	server_do(&c.s, VERB_DELETE, "v1/pods", "default", "b2", NULL);
	settle(&c);
	for (int i = 1; i <= 2; i++) {
		auto_free char *name = xasprintf("b%d", i);
		struct api_request req = server_request(&c.s, VERB_DELETE, "v1/pods", "default", name);
		json_auto_t *gone = NULL;

		req.grace_seconds = 0;
		gone = server_call(&c.s, &req, NULL);
	}
	settle(&c);
	CHECK_STR(node_of(&c, "a1"), "n");
	CHECK_STR(node_of(&c, "a2"), "n");
	cluster_done(&c);
}

TEST("a gang that was half bound when the server died is completed before anybody else gets its room")
{
	struct cluster c = { .s = server_new() };

	make_node(&c, "n", "{'cpu':'4','memory':'1Gi','pods':'10'}");
	/* In the order of names, as all are of the same second. */
	make_pod(&c, "0-older", "");
	make_member(&c, "0-b1", "b", "2", "");
	make_member(&c, "0-b2", "b", "2", "");
	make_member(&c, "a1", "a", "4", ",'nodeName':'n'");
	make_member(&c, "a2", "a", "4", ",'nodeName':'n'");
	make_member(&c, "a3", "a", "4", "");
	make_member(&c, "a4", "a", "4", "");
	c.client = client_local_new(c.s.api, &caller_system);
	c.sched = sched_new(c.client);
	settle(&c);
	CHECK_STR(node_of(&c, "a3"), "n");
	CHECK_STR(node_of(&c, "a4"), "n");
	CHECK_STR(node_of(&c, "0-older"), "-");
	CHECK_STR(node_of(&c, "0-b1"), "-");
	cluster_done(&c);
}

TEST("a gang does not begin by pods of its name that are on their way out")
{
	struct cluster c = { .s = server_new() };

	make_node(&c, "n", "{'cpu':'2','memory':'1Gi','pods':'10'}");
	make_member(&c, "a1", "a", "2", ",'nodeName':'n'");
	server_do(&c.s, VERB_DELETE, "v1/pods", "default", "a1", NULL);
	make_member(&c, "a2", "a", "2", "");
	make_member(&c, "a3", "a", "2", "");
	c.client = client_local_new(c.s.api, &caller_system);
	c.sched = sched_new(c.client);
	settle(&c);
	CHECK_STR(node_of(&c, "a2"), "-");
	CHECK_STR(node_of(&c, "a3"), "-");
	cluster_done(&c);
}

TEST("who is evicted is told by whom, but no names of another namespace")
{
	static const struct {
		const char *ns, *event;
	} rows[] = {
		{ "default", "Preempted Preempted by pod/high, which has a higher priority" },
		{ "other", "Preempted Preempted by work of another user, which has a higher priority" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cluster c = cluster_new("{'cpu':'1','pods':'10'}");
		json_auto_t *seen = NULL;

		server_do(&c.s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'other'}}");
		server_do(&c.s, VERB_CREATE, "scheduling.k8s.io/v1/priorityclasses", "", NULL,
			  "{'metadata':{'name':'high'},'value':10}");
		make_pod(&c, "low", "");
		settle(&c);
		CHECK_STR(node_of(&c, "low"), "n");
		server_do(&c.s, VERB_CREATE, "v1/pods", rows[i].ns, NULL,
			  "{'metadata':{'name':'high'},'spec':{'priorityClassName':'high','containers':[{'name':'c',"
			  "'image':'host','resources':{'requests':{'cpu':'1'}}}]}}");
		wait_for_words(&c);
		seen = events(&c);
		CHECK_INT(json_integer_value(json_object_get(seen, rows[i].event)), 1);
		cluster_done(&c);
	}
}

/* A pod of Job j, and with a second one of the gang. */
static void make_job_pod(struct cluster *c, const char *uid, const char *name)
{
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'%s','annotations':{'stoker.dev/gang':'jobs/j','stoker.dev/gang-size':'2'},"
		"'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'%s','controller':true}]},"
		"'spec':{'containers':[{'name':'c','image':'host','resources':{'requests':{'cpu':'1'}}}]}}",
		name, uid);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

TEST("a gang that is preempted is evicted once, and its job remembers by whom")
{
	struct cluster c = cluster_new("{'cpu':'2','pods':'10'}");
	auto_free char *uid = NULL;
	json_auto_t *job = NULL;
	json_auto_t *seen = NULL;

	server_do(&c.s, VERB_CREATE, "scheduling.k8s.io/v1/priorityclasses", "", NULL,
		  "{'metadata':{'name':'high'},'value':10}");
	server_do(&c.s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
		  "{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never','containers':[{'name':"
		  "'c','image':'host'}]}}}}");
	job = server_ask(&c.s, VERB_GET, "batch/v1/jobs", "default", "j", NULL);
	uid = xstrdup(jsonx_str_or(job, "metadata.uid", ""));
	make_job_pod(&c, uid, "j1");
	make_job_pod(&c, uid, "j2");
	settle(&c);
	CHECK_STR(node_of(&c, "j2"), "n");
	make_pod(&c, "urgent", ",'priorityClassName':'high'");
	/* Further ones would be written after a second. */
	for (int i = 0; i < 5; i++)
		wait_for_words(&c);
	seen = events(&c);
	/* Both pods, and the job. */
	CHECK_INT(json_integer_value(
			  json_object_get(seen, "Preempted Preempted by pod/urgent, which has a higher priority")),
		  3);
	json_decref(job);
	job = server_ask(&c.s, VERB_GET, "batch/v1/jobs", "default", "j", NULL);
	CHECK(strstr(work_note(job, PREEMPTED_ANNOTATION), "Z by pod/urgent, which has a higher priority") != NULL);
	make_job_pod(&c, uid, "j3");
	wait_for_words(&c);
	CHECK(strstr(scheduled(&c, "j3"), "; preempted at ") != NULL);
	CHECK(strstr(scheduled(&c, "j3"), " by pod/urgent, which has a higher priority") != NULL);
	cluster_done(&c);
}

TEST("of very many PBS jobs that wait only some are told why at once")
{
	struct cluster c = cluster_new("{'cpu':'1','pods':'10'}");
	json_auto_t *job = NULL;
	int64_t began = clock_mono_ms();
	int told = 0;

	server_do(&c.s, VERB_CREATE, "stoker.dev/v1/pbsjobs", "default", NULL,
		  "{'metadata':{'name':'j'},'spec':{'script':'true','owner':'nobody'}}");
	job = server_ask(&c.s, VERB_GET, "stoker.dev/v1/pbsjobs", "default", "j", NULL);

	for (int i = 0; i < 800; i++) {
		auto_free char *body = xasprintf(
			"{'metadata':{'name':'p%d','ownerReferences':[{'apiVersion':'stoker.dev/v1','kind':'PBSJob',"
			"'name':'j','uid':'%s','controller':true}]},'spec':{'containers':[{'name':'c','image':"
			"'host','resources':{'requests':{'cpu':'2'}}}]}}",
			i, jsonx_str_or(job, "metadata.uid", ""));

		server_do(&c.s, VERB_CREATE, "v1/pods", "default", NULL, body);
	}
	for (int i = 0; i < 4; i++)
		wait_for_words(&c);
	for (int i = 0; i < 800; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		told += strstr(scheduled(&c, name), "Insufficient cpu") != NULL;
	}
	CHECK(told > 0);
	CHECK(told <= 256 + (clock_mono_ms() - began) / 50);
	cluster_done(&c);
}

#define LINE    300
#define STOPPED "queue batch is stopped"

static void let_run(struct cluster *c, const char *spec)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, "stoker.dev/v1/queues", "", "batch");

	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&c->s, &req, spec);

	CHECK(done != NULL);
}

static int count_bound(struct cluster *c)
{
	char name[16];
	int n = 0;

	for (int i = 0; i < LINE; i++) {
		snprintf(name, sizeof(name), "p%03d", i);
		n += streq(node_of(c, name), "n");
	}
	return n;
}

static int count_told(struct cluster *c)
{
	json_auto_t *told = events(c);

	return (int)jsonx_int_or(told, "FailedScheduling " STOPPED, 0);
}

TEST("who waits for its turn in a pass under way is not told that it waits for something else")
{
	struct cluster c = cluster_new("{'cpu':'1000','pods':'1000'}");
	json_auto_t *told = NULL;
	const char *words;
	json_t *count;
	char name[16];

	let_run(&c, "{'spec':{'started':false}}");
	settle(&c);
	c.s.batch = true;
	for (int i = 0; i < LINE; i++) {
		snprintf(name, sizeof(name), "p%03d", i);
		make_pod(&c, name, "");
	}
	c.s.batch = false;
	for (int i = 0; i < 100 && count_told(&c) < LINE; i++)
		wait_for_words(&c);
	let_run(&c, "{'spec':{'started':true}}");
	/* A turn does a piece of it; then words are due. */
	for (int i = 0; i < 3; i++)
		server_turn(&c.s);
	usleep(300000);
	for (int i = 0; i < 100 && count_bound(&c) < LINE; i++)
		settle(&c);
	CHECK_INT(count_bound(&c), LINE);
	told = events(&c);
	json_object_foreach (told, words, count)
		if (str_starts(words, "FailedScheduling"))
			CHECK_STR(words, "FailedScheduling " STOPPED);
	cluster_done(&c);
}
