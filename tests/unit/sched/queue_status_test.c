// SPDX-License-Identifier: Apache-2.0
/* queue_status_test.c - what is in a queue, counted and told */
#include "sched/queue_status.h"

#include <unistd.h>

#include "api/server.h"
#include "sched/sched.h"

#define QUEUES "stoker.dev/v1/queues"

/* ---- counting ---- */

static struct work *put(struct world *w, const char *key, const char *queue, unsigned holds, int64_t not_before)
{
	struct work_facts f = { .key = key,
				.queue = queue,
				.user = "u",
				.group = "",
				.size = 1,
				.holds = holds,
				.not_before_ms = not_before,
				.walltime_ms = WALLTIME_NONE };
	json_auto_t *pod = sample_json("{'spec':{'containers':[{'name':'c'}]}}");
	struct work *work = world_work(w, &f);

	work_member(w, work, key, space_shape(world_space(w), pod));
	return work;
}

static const char *counts(const struct world *w, const char *queue, int64_t now)
{
	static char out[80];
	struct queue_counts c = world_count(w, world_find_queue(w, queue), now);

	snprintf(out, sizeof(out), "%zu: %zu queued %zu held %zu waiting %zu running", c.total, c.queued, c.held,
		 c.waiting, c.running);
	return out;
}

TEST("works are counted as queued, held, waiting for a time and running, whatever becomes of them")
{
	struct world_config config = WORLD_CONFIG;
	struct world *w = world_new(&config);
	struct work *a;

	world_queue(w, "batch", NULL);
	world_queue(w, "mcc", NULL);
	a = put(w, "a", "batch", 0, 0);
	put(w, "b", "batch", HOLD_USER, 0);
	put(w, "c", "batch", 0, 1000);
	put(w, "d", "batch", HOLD_AFTER, 2000);
	CHECK_STR(counts(w, "batch", 500), "4: 1 queued 2 held 1 waiting 0 running");
	CHECK_STR(counts(w, "batch", 1500), "4: 2 queued 2 held 0 waiting 0 running");
	put(w, "d", "batch", 0, 2000);
	CHECK_STR(counts(w, "batch", 500), "4: 1 queued 1 held 2 waiting 0 running");
	put(w, "b", "mcc", HOLD_USER, 0);
	put(w, "c", "mcc", 0, 1000);
	CHECK_STR(counts(w, "batch", 500), "2: 1 queued 0 held 1 waiting 0 running");
	CHECK_STR(counts(w, "mcc", 500), "2: 0 queued 1 held 1 waiting 0 running");
	work_bound(w, a, "a", "n", 0, 400);
	work_bound(w, world_find(w, "b"), "b", "n", 0, 400);
	CHECK_STR(counts(w, "batch", 500), "2: 0 queued 0 held 1 waiting 1 running");
	CHECK_STR(counts(w, "mcc", 500), "2: 0 queued 0 held 1 waiting 1 running");
	work_gone(w, a, "a", 500);
	work_gone(w, world_find(w, "c"), "c", 500);
	work_gone(w, world_find(w, "d"), "d", 500);
	CHECK_STR(counts(w, "batch", 500), "0: 0 queued 0 held 0 waiting 0 running");
	CHECK_STR(counts(w, "mcc", 500), "1: 0 queued 0 held 0 waiting 1 running");
	world_free(w);
}

TEST("a gang that lacks members is queued, not held")
{
	struct world_config config = WORLD_CONFIG;
	struct world *w = world_new(&config);
	struct work_facts f = { .key = "g", .queue = "batch", .user = "u", .group = "", .size = 2, .walltime_ms = -1 };
	json_auto_t *pod = sample_json("{'spec':{'containers':[{'name':'c'}]}}");

	work_member(w, world_work(w, &f), "g0", space_shape(world_space(w), pod));
	CHECK_STR(counts(w, "batch", 0), "1: 1 queued 0 held 0 waiting 0 running");
	world_free(w);
}

/* ---- telling ---- */

struct cluster {
	struct server s;
	struct client *client;
	struct sched *sched;
};

static void make_node(struct server *s)
{
	struct api_request req = server_request(s, VERB_PATCH, "v1/nodes", "", "n");
	json_auto_t *status = NULL, *spec = NULL;

	server_do(s, VERB_CREATE, "v1/nodes", "", NULL, "{'metadata':{'name':'n'}}");
	req.patch = PATCH_MERGE;
	spec = server_call(s, &req, "{'spec':{'taints':null}}");
	req.subresource = "status";
	status = server_call(s, &req,
			     "{'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'10'},'conditions':"
			     "[{'type':'Ready','status':'True'}]}}");
	CHECK(spec && status);
}

static void cluster_start(struct cluster *c)
{
	c->client = client_local_new(c->s.api, &caller_system);
	c->sched = sched_new(c->client);
}

static void cluster_stop(struct cluster *c)
{
	sched_free(c->sched);
	client_free(c->client);
}

static void make_pod(struct cluster *c, const char *name, const char *meta, const char *cpu)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'%s},'spec':{'containers':[{'name':'c','image':'host',"
					 "'resources':{'requests':{'cpu':'%s','memory':'512Mi'}}}]}}",
					 name, meta, cpu);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

/* "queued held running cpus memory" of a status. */
static const char *told(struct cluster *c, const char *queue)
{
	static char out[120];
	json_auto_t *q = server_ask(&c->s, VERB_GET, QUEUES, "", queue, NULL);

	snprintf(out, sizeof(out), "%lld %lld %lld %s %s", (long long)jsonx_int_or(q, "status.queued", -1),
		 (long long)jsonx_int_or(q, "status.held", -1), (long long)jsonx_int_or(q, "status.running", -1),
		 jsonx_str_or(q, "status.cpus", "-"), jsonx_str_or(q, "status.memory", "-"));
	return out;
}

/* Turns of the loop until a queue is as wanted; what it is at the end. */
static const char *wait_told(struct cluster *c, const char *queue, const char *want)
{
	for (int i = 0; i < 2000 && !streq(told(c, queue), want); i++) {
		server_settle(&c->s);
		usleep(5000);
	}
	return told(c, queue);
}

static int64_t version(struct cluster *c, const char *queue)
{
	json_auto_t *q = server_ask(&c->s, VERB_GET, QUEUES, "", queue, NULL);
	int64_t rv = 0;

	str_int64(jsonx_str_or(q, "metadata.resourceVersion", ""), 0, INT64_MAX, &rv);
	return rv;
}

TEST("a queue's status tells what is in it, and is not written again when nothing has changed")
{
	struct cluster c = { .s = server_new() };
	int64_t before;

	make_node(&c.s);
	server_do(&c.s, VERB_CREATE, QUEUES, "", NULL, "{'metadata':{'name':'mcc'}}");
	cluster_start(&c);
	make_pod(&c, "a", "", "2500m");
	make_pod(&c, "b", "", "3");
	make_pod(&c, "h", ",'annotations':{'stoker.dev/hold':'user'}", "1");
	CHECK_STR(wait_told(&c, "batch", "1 1 1 2500m 512Mi"), "1 1 1 2500m 512Mi");
	CHECK_STR(wait_told(&c, "mcc", "0 0 0 0 0"), "0 0 0 0 0");
	before = version(&c, "batch");
	cluster_stop(&c);
	cluster_start(&c);
	server_do(&c.s, VERB_CREATE, QUEUES, "", NULL, "{'metadata':{'name':'next'}}");
	CHECK_STR(wait_told(&c, "next", "0 0 0 0 0"), "0 0 0 0 0");
	CHECK_INT(version(&c, "batch"), before);
	cluster_stop(&c);
	server_done(&c.s);
}

TEST("a limit below present use ends nothing, and lets nothing start until there is room under it")
{
	struct cluster c = { .s = server_new() };
	struct api_request req = server_request(&c.s, VERB_PATCH, QUEUES, "", "batch");
	json_auto_t *limited = NULL;

	req.patch = PATCH_MERGE;
	make_node(&c.s);
	cluster_start(&c);
	make_pod(&c, "a", "", "1");
	make_pod(&c, "b", "", "1");
	CHECK_STR(wait_told(&c, "batch", "0 0 2 2 1Gi"), "0 0 2 2 1Gi");
	limited = server_call(&c.s, &req, "{'spec':{'limits':{'total':{'running':1}}}}");
	make_pod(&c, "c", "", "1");
	CHECK_STR(wait_told(&c, "batch", "1 0 2 2 1Gi"), "1 0 2 2 1Gi");
	req = server_request(&c.s, VERB_DELETE, "v1/pods", "default", "a");
	req.grace_seconds = 0;
	json_decref(server_call(&c.s, &req, NULL));
	CHECK_STR(wait_told(&c, "batch", "1 0 1 1 512Mi"), "1 0 1 1 512Mi");
	req.name = "b";
	json_decref(server_call(&c.s, &req, NULL));
	CHECK_STR(wait_told(&c, "batch", "0 0 1 1 512Mi"), "0 0 1 1 512Mi");
	cluster_stop(&c);
	server_done(&c.s);
}
