// SPDX-License-Identifier: Apache-2.0
/* door_test.c - questions to a scheduler that runs, and what it tells the owners of pods */
#include "sched/door.h"

#include <unistd.h>

#include "api/server.h"
#include "sched/sched.h"

struct cluster {
	struct server s;
	struct client *client;
	struct sched *sched;
	char job[64]; /* uid of Job a */
};

static void settle(struct cluster *c)
{
	for (int i = 0; i < 3; i++)
		server_settle(&c->s);
}

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/nodes", "", "n");
	json_auto_t *ready = NULL;
	json_auto_t *job = server_ask(&c.s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
				      "{'metadata':{'name':'a'},'spec':{'template':{'spec':{'restartPolicy':'Never',"
				      "'containers':[{'name':'c','image':'host'}]}}}}");
	json_auto_t *clean = NULL;

	snprintf(c.job, sizeof(c.job), "%s", jsonx_str_or(job, "metadata.uid", ""));
	server_do(&c.s, VERB_CREATE, "v1/nodes", "", NULL, "{'metadata':{'name':'n'}}");
	req.patch = PATCH_MERGE;
	req.subresource = "status";
	ready = server_call(&c.s, &req,
			    "{'status':{'allocatable':{'cpu':'2','pods':'10'},'conditions':[{'type':'Ready',"
			    "'status':'True'}]}}");
	req = server_request(&c.s, VERB_PATCH, "v1/nodes", "", "n");
	req.patch = PATCH_MERGE;
	clean = server_call(&c.s, &req, "{'spec':{'taints':null}}");
	c.client = client_local_new(c.s.api, &caller_system);
	c.sched = sched_new(c.client);
	settle(&c);
	return c;
}

static void cluster_done(struct cluster *c)
{
	sched_free(c->sched);
	client_free(c->client);
	server_done(&c->s);
}

/* A pod of the Job, or of nobody. */
static void make_pod(struct cluster *c, const char *name, bool of_job, int cpus, const char *meta)
{
	auto_free char *owner = of_job ? xasprintf(",'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job',"
						   "'name':'a','uid':'%s','controller':true}]",
						   c->job)
				       : xstrdup("");
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'%s'%s%s},'spec':{'activeDeadlineSeconds':3600,'containers':[{'name':'c',"
		"'image':'host','resources':{'requests':{'cpu':'%d'}}}]}}",
		name, owner, meta, cpus);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

static json_t *ask(struct cluster *c, const char *kind, const char *name)
{
	struct scheduler *s = sched_door(c->sched);
	json_auto_t *uids = s->ops->find(s, "default", kind, name);

	return s->ops->why(s, uids);
}

/* "name state position", of each row. */
static const char *summary(const json_t *rows)
{
	static char out[1000];
	size_t n = 0;
	json_t *row;
	size_t i;

	out[0] = '\0';
	json_array_foreach ((json_t *)rows, i, row)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s %s %lld", i ? ", " : "",
				      jsonx_str_or(row, "name", "?"), jsonx_str_or(row, "state", "?"),
				      (long long)jsonx_int_or(row, "position", 0));
	return out;
}

TEST("door: pods are found by their own name and by who controls them")
{
	struct cluster c = cluster_new();
	json_auto_t *job = NULL;
	json_auto_t *pod = NULL;
	json_auto_t *wrong = NULL;
	json_auto_t *nobody = NULL;

	make_pod(&c, "a-1", true, 1, "");
	make_pod(&c, "a-2", true, 2, "");
	make_pod(&c, "b", false, 2, "");
	settle(&c);
	job = ask(&c, NULL, "a");
	CHECK_STR(summary(job), "job/a running 0, job/a waiting 1");
	pod = ask(&c, "pod", "b");
	CHECK_STR(summary(pod), "pod/b waiting 2");
	wrong = ask(&c, "tfjob", "a");
	CHECK_STR(summary(wrong), "");
	nobody = ask(&c, NULL, "c");
	CHECK_STR(summary(nobody), "");
	cluster_done(&c);
}

TEST("door: elements of an array have their indexes")
{
	struct cluster c = cluster_new();
	struct scheduler *s = sched_door(c.sched);
	json_auto_t *all = NULL;

	make_pod(&c, "a-3", true, 1, ",'labels':{'stoker.dev/pbs-index':'3'}");
	make_pod(&c, "own", false, 1, ",'labels':{'stoker.dev/pbs-index':'4'}");
	settle(&c);
	all = s->ops->line(s, NULL, 100);
	CHECK_STR(summary(all), "job/a[3] running 0, pod/own running 0");
	cluster_done(&c);
}

TEST("door: the line is what runs, what waits in order, and what is held")
{
	struct cluster c = cluster_new();
	struct scheduler *s = sched_door(c.sched);
	json_auto_t *all = NULL;
	json_auto_t *two = NULL;
	json_auto_t *other = NULL;

	make_pod(&c, "a", false, 2, "");
	settle(&c);
	make_pod(&c, "h", false, 1, ",'annotations':{'stoker.dev/hold':'user'}");
	make_pod(&c, "b", false, 1, "");
	make_pod(&c, "c", false, 1, "");
	/* A look ahead has its time, and goes on in the next turns. */
	for (int i = 0; i < 100 && !jsonx_str(json_array_get(all, 1), "expectedStart"); i++) {
		settle(&c);
		json_decref(all);
		all = s->ops->line(s, NULL, 100);
	}
	CHECK_STR(summary(all), "pod/a running 0, pod/b waiting 1, pod/c waiting 2, pod/h held 0");
	CHECK(jsonx_str(json_array_get(all, 0), "endsBy"));
	CHECK_STR(jsonx_str(json_array_get(all, 1), "expectedStart"), jsonx_str(json_array_get(all, 0), "endsBy"));
	CHECK(strstr(jsonx_str_or(json_array_get(all, 1), "sentence", ""),
		     "first in queue batch; needs 1 CPU on one node, none is free; pod a ends by "));
	two = s->ops->line(s, "batch", 2);
	CHECK_STR(summary(two), "pod/a running 0, pod/b waiting 1");
	other = s->ops->line(s, "night", 100);
	CHECK_STR(summary(other), "");
	cluster_done(&c);
}

TEST("door: what has just come is in the line, although nothing was foretold about it yet")
{
	struct cluster c = cluster_new();
	struct scheduler *s = sched_door(c.sched);

	make_pod(&c, "a", false, 2, "");
	for (size_t n = 1; n < 60; n++) {
		auto_free char *name = xasprintf("b%zu", n);
		json_auto_t *all = NULL;
		json_auto_t *other = NULL;

		make_pod(&c, name, false, 2, "");
		settle(&c);
		all = s->ops->line(s, NULL, 100);
		CHECK_INT(json_array_size(all), n + 1);
		CHECK_STR(jsonx_str(json_array_get(all, n), "state"), "waiting");
		other = s->ops->line(s, "night", 100);
		CHECK_INT(json_array_size(other), 0);
	}
	cluster_done(&c);
}

static bool count_waiting(void *arg, const struct api_item *item)
{
	if (str_same(jsonx_str(item->object, "reason"), "Waiting"))
		*(int *)arg += (int)jsonx_int_or(item->object, "count", 1);
	return true;
}

static int waiting_events(struct cluster *c)
{
	struct api_request req = server_request(&c->s, VERB_LIST, "v1/events", "default", NULL);
	auto_free char *cont = NULL;
	int64_t rv, remaining;
	int n = 0;

	c->s.e = ERR_INIT;
	CHECK_INT(api_list(c->s.api, &req, true, count_waiting, &n, &rv, &cont, &remaining, &c->s.e), 0);
	return n;
}

TEST("door: the job whose pods wait has one event for all of them")
{
	struct cluster c = cluster_new();

	make_pod(&c, "a-1", true, 2, "");
	settle(&c);
	make_pod(&c, "a-2", true, 2, "");
	make_pod(&c, "a-3", true, 1, "");
	for (int i = 0; i < 300 && !waiting_events(&c); i++) {
		server_settle(&c.s);
		usleep(10000);
	}
	settle(&c);
	CHECK_INT(waiting_events(&c), 1);
	cluster_done(&c);
}

TEST("door: what waits for itself is told how to let go of that")
{
	struct cluster c = cluster_new();
	json_auto_t *rows = NULL;

	make_pod(&c, "self", false, 1, ",'annotations':{'stoker.dev/after':'ok:pod/self'}");
	settle(&c);
	rows = ask(&c, "pod", "self");
	CHECK(strstr(jsonx_str_or(json_array_get(rows, 0), "help", ""),
		     "`kubectl annotate pod/self -n default stoker.dev/after-` lets it start"));
	cluster_done(&c);
}

/* A waiting pod of a PBS job, which only the server makes. */
static void make_pbs_pod(struct cluster *c, const char *name, const char *job, const char *labels)
{
	auto_free char *spec = xasprintf("{'metadata':{'name':'%s'},'spec':{'script':'date'}}", job);
	json_auto_t *made = server_ask(&c->s, VERB_CREATE, "stoker.dev/v1/pbsjobs", "default", NULL, spec);
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'%s','labels':{'stoker.dev/queue':'night'%s},'ownerReferences':[{'apiVersion':"
		"'stoker.dev/v1','kind':'PBSJob','name':'%s','uid':'%s','controller':true}]},'spec':{'containers':["
		"{'name':'c','image':'i'}]}}",
		name, labels, job, jsonx_str_or(made, "metadata.uid", ""));

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

TEST("door: a PBS job is moved by what moves PBS jobs, not by a label of its pods")
{
	static const struct {
		const char *pod, *job, *labels, *help;
	} rows[] = {
		{ "12-0", "12", "", "; or `qmove batch 12` moves it to queue batch" },
		{ "13-4-0", "13", ",'stoker.dev/pbs-index':'4'", "; or `qmove batch '13[]'` moves it to queue batch" },
		{ "2nd-0", "2nd", "",
		  "; or `kubectl patch pbsjob 2nd -n default --type merge -p '{\"spec\":{\"queue\":\"batch\"}}'` moves "
		  "it "
		  "to queue batch" },
	};
	struct cluster c = cluster_new();

	server_do(&c.s, VERB_CREATE, "stoker.dev/v1/queues", "", NULL,
		  "{'metadata':{'name':'night'},'spec':{'started':false}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		make_pbs_pod(&c, rows[i].pod, rows[i].job, rows[i].labels);
	settle(&c);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *row = ask(&c, "pod", rows[i].pod);
		const char *help = jsonx_str_or(json_array_get(row, 0), "help", "");

		CHECK_STR(strstr(help, "; or ") ? strstr(help, "; or ") : help, rows[i].help);
	}
	cluster_done(&c);
}
