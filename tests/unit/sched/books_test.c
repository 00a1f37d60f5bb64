// SPDX-License-Identifier: Apache-2.0
#include "sched/books.h"

#include <math.h>
#include <unistd.h>

#include "api/server.h"
#include "base/clock.h"
#include "loop/scheduler.h"
#include "sched/sched.h"

#define START 1795000000
#define WEEK  (7 * 86400)

struct lab {
	struct server s;
	struct client *client;
	struct sched *sched;
	char dir[64];
};

static void settle(struct lab *l)
{
	for (int i = 0; i < 4; i++)
		server_settle(&l->s);
}

static void patch(struct lab *l, const char *kind, const char *ns, const char *name, const char *sub, const char *body)
{
	struct api_request req = server_request(&l->s, VERB_PATCH, kind, ns, name);
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = sub;
	done = server_call(&l->s, &req, body);
	if (!done)
		test_fail(__FILE__, __LINE__, "%s: %s", name, l->s.message);
}

static void server_begins(struct lab *l)
{
	struct sched_config config = { .accounts = l->dir, .half_life = WEEK };
	struct err e = ERR_INIT;

	CHECK_INT(sched_open(l->client, &config, &l->sched, &e), 0);
	settle(l);
}

static struct lab lab_new(void)
{
	struct lab l = { .s = server_new(), .dir = "/tmp/books-XXXXXX" };

	CHECK(mkdtemp(l.dir) != NULL);
	clock_fake(START);
	server_do(&l.s, VERB_CREATE, "v1/nodes", "", NULL, "{'metadata':{'name':'n'}}");
	patch(&l, "v1/nodes", "", "n", "status",
	      "{'status':{'allocatable':{'cpu':'4','pods':'10','nvidia.com/gpu':'2'},"
	      "'conditions':[{'type':'Ready','status':'True'}]}}");
	patch(&l, "v1/nodes", "", "n", NULL, "{'spec':{'taints':null}}");
	l.client = client_local_new(l.s.api, &caller_system);
	server_begins(&l);
	return l;
}

static void lab_done(struct lab *l)
{
	auto_free char *command = xasprintf("rm -r %s", l->dir);

	sched_free(l->sched);
	client_free(l->client);
	server_done(&l->s);
	clock_fake(-1);
	CHECK_INT(system(command), 0);
}

static void next_server(struct lab *l)
{
	sched_free(l->sched);
	server_begins(l);
}

/* A pod of half the GPUs and a quarter of the processors that has begun now. */
static void begin_pod(struct lab *l, const char *name)
{
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'host','resources':{'requests':"
		"{'cpu':'1'},'limits':{'nvidia.com/gpu':'1'}}}]}}",
		name);
	char now[CLOCK_RFC3339_LEN];
	auto_free char *status = NULL;

	clock_rfc3339(clock_wall(), now);
	status = xasprintf("{'status':{'phase':'Running','startTime':'%s'}}", now);
	server_do(&l->s, VERB_CREATE, "v1/pods", "default", NULL, body);
	settle(l);
	patch(l, "v1/pods", "default", name, "status", status);
	settle(l);
}

static void end_pod(struct lab *l, const char *name)
{
	char now[CLOCK_RFC3339_LEN];
	auto_free char *status = NULL;

	clock_rfc3339(clock_wall(), now);
	status =
		xasprintf("{'status':{'phase':'Succeeded','containerStatuses':[{'name':'c','image':'host','imageID':'',"
			  "'ready':false,'restartCount':0,'state':{'terminated':{'exitCode':0,'finishedAt':'%s'}}}]}}",
			  now);
	patch(l, "v1/pods", "default", name, "status", status);
	settle(l);
}

/* Of the only user of the only queue. */
static double use(struct lab *l)
{
	struct scheduler *door = sched_door(l->sched);
	json_auto_t *shares = door->ops->shares(door);
	const json_t *queue = json_array_get(json_object_get(shares, "queues"), 0);

	return json_number_value(json_object_get(queue, "use"));
}

static json_t *usage(struct lab *l, const char *by)
{
	struct scheduler *door = sched_door(l->sched);
	struct err e = ERR_INIT;
	json_t *rows = NULL;

	if (door->ops->usage(door, by, 0, clock_wall(), NULL, &rows, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	return rows;
}

static void check_use(struct lab *l, double from, double to)
{
	double now = (double)clock_wall();
	/* half of the machine, a half forgotten every week */
	double want = 0.5 * WEEK / M_LN2 * (exp2((to - now) / WEEK) - exp2((from - now) / WEEK));

	if (fabs(use(l) - want) > want * 0.001 + 2)
		test_fail(__FILE__, __LINE__, "use is %f, not %f", use(l), want);
}

TEST("shares remember what ran through restarts, with and without their file")
{
	struct lab l = lab_new();
	auto_free char *shares = xasprintf("%s/shares.json", l.dir);

	begin_pod(&l, "a");
	clock_fake(START + 100000);
	check_use(&l, START, START + 100000);
	next_server(&l);
	check_use(&l, START, START + 100000);
	/* It goes on while there is no server. */
	sched_free(l.sched);
	clock_fake(START + 200000);
	server_begins(&l);
	check_use(&l, START, START + 200000);
	end_pod(&l, "a");
	clock_fake(START + 300000);
	next_server(&l);
	check_use(&l, START, START + 200000);
	sched_free(l.sched);
	CHECK_INT(unlink(shares), 0);
	server_begins(&l);
	check_use(&l, START, START + 200000);
	lab_done(&l);
}

TEST("a pod is recorded once through restarts, and counted while it runs")
{
	struct lab l = lab_new();
	json_auto_t *running = NULL;
	json_auto_t *ended = NULL;

	begin_pod(&l, "a");
	next_server(&l);
	clock_fake(START + 50);
	running = usage(&l, "job");
	CHECK_INT(json_array_size(running), 1);
	CHECK_INT(jsonx_int_or(json_array_get(running, 0), "running", 0), 1);
	CHECK(json_number_value(jsonx_at(json_array_get(running, 0), "gpuSeconds")) == 50);
	clock_fake(START + 100);
	end_pod(&l, "a");
	next_server(&l);
	next_server(&l);
	clock_fake(START + 900);
	ended = usage(&l, "job");
	CHECK_INT(json_array_size(ended), 1);
	CHECK_INT(jsonx_int_or(json_array_get(ended, 0), "jobs", 0), 1);
	CHECK_INT(jsonx_int_or(json_array_get(ended, 0), "running", 9), 0);
	CHECK(json_number_value(jsonx_at(json_array_get(ended, 0), "gpuSeconds")) == 100);
	lab_done(&l);
}

TEST("a machine that has no node yet is waited for before the past counts")
{
	struct lab l = lab_new();

	begin_pod(&l, "a");
	clock_fake(START + 1000);
	end_pod(&l, "a");
	sched_free(l.sched);
	patch(&l, "v1/nodes", "", "n", "status", "{'status':{'allocatable':null,'capacity':null}}");
	{
		auto_free char *shares = xasprintf("%s/shares.json", l.dir);

		CHECK_INT(unlink(shares), 0);
	}
	server_begins(&l);
	CHECK(use(&l) == 0);
	patch(&l, "v1/nodes", "", "n", "status",
	      "{'status':{'allocatable':{'cpu':'4','pods':'10','nvidia.com/gpu':'2'}}}");
	settle(&l);
	check_use(&l, START, START + 1000);
	lab_done(&l);
}
