// SPDX-License-Identifier: Apache-2.0
/* job_cluster.h - a server, a scheduler, a node with the fake runtime, and the controllers of Jobs; for tests
 *
 * Containers do what annotations of the template say (node/runtime_fake.c).
 */
#ifndef STOKER_TEST_JOB_CLUSTER_H
#define STOKER_TEST_JOB_CLUSTER_H

#include "api/server.h"
#include "base/clock.h"
#include "control/cronjob.h"
#include "control/gc.h"
#include "control/job.h"
#include "node/node.h"
#include "sched/sched.h"

#define PATIENCE_MS 120000

struct cluster {
	struct server s;
	struct client *client;
	struct owned *owned;
	struct jobs *jobs;
	struct cronjobs *cronjobs;
	struct gc *gc;
	struct sched *sched;
	struct node *node;
};

static inline void control_start(struct cluster *c)
{
	c->owned = owned_new(c->client);
	c->jobs = jobs_new(c->client, c->owned);
	c->cronjobs = cronjobs_new(c->client);
}

static inline void control_stop(struct cluster *c)
{
	cronjobs_free(c->cronjobs);
	jobs_free(c->jobs);
	owned_free(c->owned);
	c->cronjobs = NULL;
	c->jobs = NULL;
	c->owned = NULL;
}

/* Without a node: tests say themselves what becomes of pods. */
static inline struct cluster cluster_new(bool with_node)
{
	struct cluster c = { .s = server_new() };
	struct node_config config = { .dir = c.s.dir, .name = "box", .runtime = "fake", .gpus = "0" };
	struct err e = ERR_INIT;

	c.client = client_local_new(c.s.api, &caller_system);
	c.gc = gc_new(c.client);
	if (with_node) {
		c.sched = sched_new(c.client);
		CHECK_INT(node_new(c.client, &config, &c.node, &e), 0);
	}
	control_start(&c);
	for (int i = 0; i < 3; i++)
		server_settle(&c.s);
	return c;
}

static inline void cluster_done(struct cluster *c)
{
	control_stop(c);
	gc_free(c->gc);
	sched_free(c->sched);
	server_settle(&c->s); /* what is being started is let start */
	node_free(c->node);
	server_settle(&c->s);
	client_free(c->client);
	server_done(&c->s);
}

static inline json_t *job_get(struct cluster *c, const char *name)
{
	return server_ask(&c->s, VERB_GET, "batch/v1/jobs", "default", name, NULL);
}

static inline bool take_item(void *arg, const struct api_item *item)
{
	json_array_append(arg, item->object);
	return true;
}

/* All objects of a kind in default, a new array. */
static inline json_t *all_of(struct cluster *c, const char *what)
{
	struct api_request req = server_request(&c->s, VERB_LIST, what, "default", NULL);
	json_t *list = json_array();
	auto_free char *cont = NULL;
	int64_t rv;
	int64_t remaining;

	c->s.e = ERR_INIT;
	CHECK_INT(api_list(c->s.api, &req, true, take_item, list, &rv, &cont, &remaining, &c->s.e), 0);
	return list;
}

static inline bool job_is(const json_t *job, const char *type)
{
	json_t *cond;
	size_t i;

	json_array_foreach (jsonx_at(job, "status.conditions"), i, cond)
		if (str_same(jsonx_str(cond, "type"), type))
			return str_same(jsonx_str(cond, "status"), "True");
	return false;
}

/* Waits until the Job has the condition. */
static inline bool job_wait(struct cluster *c, const char *name, const char *type)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *job = job_get(c, name);

		if (job_is(job, type))
			return true;
		server_turn(&c->s);
		usleep(500);
	}
	return false;
}

/* `fake` are the runtime's orders ('stoker.dev/fake-seconds':'0.01'), `spec` is more of the Job's spec. */
static inline void job_make(struct cluster *c, const char *name, const char *fake, const char *spec)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s'},'spec':{%s'template':{'metadata':{'annotations':{%s}},"
			  "'spec':{'restartPolicy':'Never','terminationGracePeriodSeconds':1,"
			  "'containers':[{'name':'c','image':'host','command':['x']}]}}}}",
			  name, spec, fake);

	server_do(&c->s, VERB_CREATE, "batch/v1/jobs", "default", NULL, body);
}

/* Events about an object as "Reason;Reason;", in the order of their making. */
static inline const char *events_of(struct cluster *c, const char *name)
{
	static char out[4000];
	json_auto_t *list = all_of(c, "v1/events");
	auto_sbuf struct sbuf text = SBUF(sizeof(out) - 1);
	json_t *ev;
	size_t i;

	json_array_foreach (list, i, ev)
		if (str_same(jsonx_str(ev, "involvedObject.name"), name))
			sbuf_addf(&text, "%s;", jsonx_str_or(ev, "reason", ""));
	snprintf(out, sizeof(out), "%s", text.p ? text.p : "");
	return out;
}

#endif
