// SPDX-License-Identifier: Apache-2.0
/* converge_world.h - a cluster that a test throws dice over: API, store, scheduler and all controllers are real, three
 * nodes and their pods are played by the test, and the wall clock is the test's own
 *
 * What was asked for and accepted is noted down as wishes; converge_model.h compares them with what came of it.
 */
#ifndef STOKER_TEST_CONVERGE_WORLD_H
#define STOKER_TEST_CONVERGE_WORLD_H

#include "api/server.h"
#include "base/clock.h"
#include "base/map.h"
#include "control/control.h"
#include "sched/sched.h"

#define NODES       3
#define WALL_AT_ALL 1700000000 /* when the world begins */

struct sort;

/* What was asked for and has not been deleted. */
struct wish {
	int replicas;
};

struct world {
	unsigned seed;
	const struct sort *sorts;
	size_t nsorts;
	struct server s;
	struct client *client;
	struct control *control;
	struct sched *sched;
	int64_t wall;
	struct map wishes;  /* "batch/v1/jobs ns/name" -> struct wish */
	struct map let_go;  /* pods that may be nobody's: by uid, or all of "ns/app" */
	unsigned addresses; /* of pods, given so far */
	size_t operations;
};

static inline unsigned dice(struct world *w, unsigned sides)
{
	return (unsigned)rand_r(&w->seed) % sides;
}

static inline void clock_step(struct world *w, int64_t seconds)
{
	w->wall += seconds;
	clock_fake(w->wall);
}

/* ---- the API in short ---- */

/* The answer, or NULL where it refused: in a world of chance that is no mistake. */
static inline json_t *ask(struct world *w, enum verb verb, const char *what, const char *ns, const char *name,
			  const char *body)
{
	struct api_request req = server_request(&w->s, verb, what, ns, name);

	req.patch = verb == VERB_PATCH ? PATCH_MERGE : PATCH_NONE;
	return server_call(&w->s, &req, body);
}

static inline bool tell(struct world *w, enum verb verb, const char *what, const char *ns, const char *name,
			const char *body)
{
	json_auto_t *answer = ask(w, verb, what, ns, name, body);

	return answer != NULL;
}

static inline bool patch_status(struct world *w, const char *what, const json_t *obj, const char *body)
{
	struct api_request req = server_request(&w->s, VERB_PATCH, what, jsonx_str_or(obj, "metadata.namespace", ""),
						jsonx_str(obj, "metadata.name"));

	req.patch = PATCH_MERGE;
	req.subresource = "status";
	json_auto_t *answer = server_call(&w->s, &req, body);

	return answer != NULL;
}

static inline bool take_copy(void *arg, const struct api_item *item)
{
	json_array_append(arg, item->object);
	return true;
}

/* All objects of a kind everywhere, a new array. */
static inline json_t *list_of(struct world *w, const char *what)
{
	struct api_request req = server_request(&w->s, VERB_LIST, what, "", NULL);
	json_t *list = json_array();
	auto_free char *cont = NULL;
	int64_t rv;
	int64_t remaining;

	w->s.e = ERR_INIT;
	CHECK_INT(api_list(w->s.api, &req, true, take_copy, list, &rv, &cont, &remaining, &w->s.e), 0);
	return list;
}

/* ---- beginning, crashing, ending ---- */

static inline void world_control(struct world *w)
{
	control_set all = 0;
	struct err e = ERR_INIT;

	CHECK_INT(control_choose("*", &all, &e), 0);
	w->control = control_new(w->client, all);
	w->sched = sched_new(w->client);
}

static inline void world_uncontrol(struct world *w)
{
	sched_free(w->sched);
	control_free(w->control);
}

static inline void world_restart(struct world *w)
{
	world_uncontrol(w);
	client_free(w->client);
	server_close(&w->s);
	server_open(&w->s);
	w->client = client_local_new(w->s.api, &caller_system);
	world_control(w);
}

/* All of them are there, are ready and take pods. */
static inline void world_nodes(struct world *w)
{
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(w->wall, now);
	for (int i = 1; i <= NODES; i++) {
		auto_free char *name = xasprintf("n%d", i);
		auto_free char *body = xasprintf("{'metadata':{'name':'%s'}}", name);
		auto_free char *status =
			xasprintf("{'status':{'allocatable':{'cpu':'64','memory':'64Gi','pods':'500'},'conditions':[{"
				  "'type':'Ready','status':'True','lastHeartbeatTime':'%s'}]}}",
				  now);
		json_auto_t *made = ask(w, VERB_CREATE, "v1/nodes", "", NULL, body);
		json_auto_t *node = ask(w, VERB_PATCH, "v1/nodes", "", name, "{'spec':{'unschedulable':null}}");

		CHECK(node && patch_status(w, "v1/nodes", node, status));
	}
}

static inline struct world world_new(unsigned seed)
{
	struct world w = { .seed = seed, .s = server_new() };

	w.wall = WALL_AT_ALL;
	clock_fake(w.wall);
	w.s.batch = true;
	map_init(&w.wishes, free);
	map_init(&w.let_go, NULL);
	world_nodes(&w);
	w.client = client_local_new(w.s.api, &caller_system);
	world_control(&w);
	server_settle(&w.s);
	return w;
}

static inline void world_done(struct world *w)
{
	world_uncontrol(w);
	server_settle(&w->s);
	client_free(w->client);
	server_done(&w->s);
	map_done(&w->wishes);
	map_done(&w->let_go);
	clock_fake(-1);
}

/* ---- the nodes ---- */

static inline bool in_phase(const json_t *pod, const char *phase)
{
	return streq(jsonx_str_or(pod, "status.phase", "Pending"), phase);
}

static inline bool has_ended(const json_t *pod)
{
	return in_phase(pod, "Succeeded") || in_phase(pod, "Failed");
}

static inline bool is_going(const json_t *obj)
{
	return jsonx_at(obj, "metadata.deletionTimestamp") != NULL;
}

static inline bool is_of_job(const json_t *pod)
{
	return str_same(jsonx_str(json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0), "kind"), "Job");
}

static inline void pod_end(struct world *w, const json_t *pod, bool failed)
{
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(w->wall, now);
	auto_free char *body = xasprintf(
		"{'status':{'phase':'%s','conditions':[{'type':'Ready','status':'False','lastTransitionTime':"
		"'%s'}],'containerStatuses':[{'name':'c','ready':false,'restartCount':0,'image':'i','imageID':"
		"'i','state':{'terminated':{'exitCode':%d,'finishedAt':'%s'}}}]}}",
		failed ? "Failed" : "Succeeded", now, failed, now);

	patch_status(w, "v1/pods", pod, body);
}

static inline void pod_run(struct world *w, const json_t *pod, bool ready)
{
	char now[CLOCK_RFC3339_LEN];
	const char *ip = jsonx_str(pod, "status.podIP");
	auto_free char *address =
		ip ? xstrdup(ip) : xasprintf("10.9.%u.%u", w->addresses / 250, w->addresses % 250 + 1);

	w->addresses += !ip;
	clock_rfc3339(w->wall, now);
	auto_free char *body =
		xasprintf("{'status':{'phase':'Running','podIP':'%s','podIPs':[{'ip':'%s'}],'conditions':[{'type':"
			  "'Ready','status':'%s','lastTransitionTime':'%s'}]}}",
			  address, address, ready ? "True" : "False", now);

	patch_status(w, "v1/pods", pod, body);
}

static inline bool pod_is_ready(const json_t *pod)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), "Ready"))
			return str_same(jsonx_str(c, "status"), "True");
	return false;
}

/* The next thing that happens to a pod on its node.  Without chance: it runs, is ready, and ends well if it is to. */
static inline void pod_live(struct world *w, const json_t *pod, bool chance)
{
	if (!*jsonx_str_or(pod, "spec.nodeName", ""))
		return;
	if (is_going(pod)) {
		struct api_request req =
			server_request(&w->s, VERB_DELETE, "v1/pods", jsonx_str(pod, "metadata.namespace"),
				       jsonx_str(pod, "metadata.name"));
		json_auto_t *gone = NULL;

		if (!has_ended(pod))
			pod_end(w, pod, true);
		req.grace_seconds = 0;
		req.if_uid = jsonx_str(pod, "metadata.uid");
		gone = server_call(&w->s, &req, NULL);
	} else if (has_ended(pod)) {
		return;
	} else if (in_phase(pod, "Pending")) {
		pod_run(w, pod, !chance || dice(w, 3));
	} else if (is_of_job(pod) && (!chance || dice(w, 2))) {
		pod_end(w, pod, chance && dice(w, 3) == 0);
	} else if (chance && dice(w, 12) == 0) {
		pod_end(w, pod, true); /* evicted */
	} else if (chance || !pod_is_ready(pod)) {
		pod_run(w, pod, !chance || !pod_is_ready(pod));
	}
}

#endif
