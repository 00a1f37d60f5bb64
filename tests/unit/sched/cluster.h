// SPDX-License-Identifier: Apache-2.0
/* cluster.h - a server with a scheduler and a node or two, and what tests ask of them */
#ifndef STOKER_TEST_CLUSTER_H
#define STOKER_TEST_CLUSTER_H

#include <unistd.h>

#include "api/server.h"
#include "sched/sched.h"

struct cluster {
	struct server s;
	struct client *client;
	struct sched *sched;
};

static inline void settle(struct cluster *c)
{
	for (int i = 0; i < 3; i++)
		server_settle(&c->s);
}

static inline void make_node(struct cluster *c, const char *name, const char *allocatable)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'}}", name);
	auto_free char *status =
		xasprintf("{'status':{'allocatable':%s,'conditions':[{'type':'Ready','status':'True'}]}}", allocatable);
	struct api_request req = server_request(&c->s, VERB_PATCH, "v1/nodes", "", name);
	json_auto_t *done = NULL;

	server_do(&c->s, VERB_CREATE, "v1/nodes", "", NULL, body);
	req.patch = PATCH_MERGE;
	req.subresource = "status";
	done = server_call(&c->s, &req, status);
	if (!done)
		test_fail(__FILE__, __LINE__, "node: %s", c->s.message);
	req = server_request(&c->s, VERB_PATCH, "v1/nodes", "", name);
	req.patch = PATCH_MERGE;
	json_decref(done);
	done = server_call(&c->s, &req, "{'spec':{'taints':null}}");
}

static inline struct cluster cluster_new(const char *allocatable)
{
	struct cluster c = { .s = server_new() };

	if (allocatable)
		make_node(&c, "n", allocatable);
	c.client = client_local_new(c.s.api, &caller_system);
	c.sched = sched_new(c.client);
	settle(&c);
	return c;
}

static inline void cluster_done(struct cluster *c)
{
	sched_free(c->sched);
	client_free(c->client);
	server_done(&c->s);
}

static inline void make_pod(struct cluster *c, const char *name, const char *spec)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'host',"
					 "'resources':{'requests':{'cpu':'1'}}}]%s}}",
					 name, spec);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

/* "n", or "-" without a node. */
static inline const char *node_of(struct cluster *c, const char *name)
{
	static char out[64];
	json_auto_t *pod = server_ask(&c->s, VERB_GET, "v1/pods", "default", name, NULL);

	snprintf(out, sizeof(out), "%s", jsonx_str_or(pod, "spec.nodeName", "-"));
	return out;
}

/* "status reason message" of the condition PodScheduled. */
static inline const char *scheduled(struct cluster *c, const char *name)
{
	static char out[500];
	json_auto_t *pod = server_ask(&c->s, VERB_GET, "v1/pods", "default", name, NULL);
	json_t *condition;
	size_t i;

	out[0] = '\0';
	json_array_foreach (jsonx_at(pod, "status.conditions"), i, condition)
		if (str_same(jsonx_str(condition, "type"), "PodScheduled"))
			snprintf(out, sizeof(out), "%s %s %s", jsonx_str_or(condition, "status", ""),
				 jsonx_str_or(condition, "reason", "-"), jsonx_str_or(condition, "message", "-"));
	return out;
}

/* Turns for a little longer than the scheduler waits before it says something. */
static inline void wait_for_words(struct cluster *c)
{
	for (int i = 0; i < 30; i++) {
		server_settle(&c->s);
		usleep(10000);
	}
}

static inline bool count_event(void *arg, const struct api_item *item)
{
	json_t *counts = arg;
	auto_free char *key =
		xasprintf("%s %s", jsonx_str_or(item->object, "reason", ""), jsonx_str_or(item->object, "message", ""));

	json_object_set_new(counts, key,
			    json_integer(jsonx_int_or(item->object, "count", 1) +
					 json_integer_value(json_object_get(counts, key))));
	return true;
}

/* "reason message" -> how often. */
static inline json_t *events(struct cluster *c)
{
	struct api_request req = server_request(&c->s, VERB_LIST, "v1/events", "default", NULL);
	json_t *counts = json_object();
	auto_free char *cont = NULL;
	int64_t rv;
	int64_t remaining;

	c->s.e = ERR_INIT;
	CHECK_INT(api_list(c->s.api, &req, true, count_event, counts, &rv, &cont, &remaining, &c->s.e), 0);
	return counts;
}

#endif
