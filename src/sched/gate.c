// SPDX-License-Identifier: Apache-2.0
/* gate.c - tells the plan what happens in the cluster, and opens the gates that it says (gate_plan.h)
 *
 * Pods are told by whoever has a cache of them already; nodes and queues are followed here.  Before all three are
 * complete nothing is decided.  Where nothing is to be held, because it was asked for or because nodes may not be seen,
 * gates that an earlier operator has set are still opened: nobody else would.
 */
#include "sched/gate.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "sched/gate_plan.h"
#include "sched/gate_probe.h"
#include "sched/gate_rules.h"

#define TURN_NS     (10 * 1000000LL) /* of work in one turn */
#define TURN_MOST   64               /* gangs let in in one turn */
#define SAY_AFTER   200              /* ms: in a burst most are let in by then */
#define SAY_AT_ONCE 64
#define SAY_NEXT    10
#define SAY_EVERY   5000 /* ms between two looks at what has been said */
#define RETRY_MS    1000
#define PBS_SERVER  "default"

struct follower {
	struct gate_follower f;
	struct follower *next;
};

struct doorman {
	struct gate gate;
	struct client *client;
	bool off, gates, delay; /* as asked for */
	enum gate_way way;
	struct gate_plan *plan;
	struct gate_rules *rules; /* NULL: nothing is held */
	struct gate_probe *probe;
	struct informer *nodes, *queues, *servers; /* NULL: not followed */
	bool pbs;
	struct follower *followers;
	struct loop_hook work;
	struct loop_timer say, wake;
	bool pods;      /* are complete */
	unsigned calls; /* under way; the last frees us if `freed` */
	bool freed;
};

/* A pod whose gate is being opened, or that is being deleted. */
struct call {
	struct doorman *d;
	char *uid;
};

static struct doorman *doorman(struct gate *g)
{
	return (struct doorman *)g;
}

/* The client may be gone by now. */
static void doorman_done(struct doorman *d)
{
	gate_plan_free(d->plan);
	free(d);
}

static int64_t now_ms(void)
{
	return clock_wall_micros() / 1000;
}

static bool is_synced(const struct doorman *d)
{
	return d->pods && d->nodes && informer_synced(d->nodes) && (!d->queues || informer_synced(d->queues)) &&
	       (!d->servers || informer_synced(d->servers));
}

static void work_soon(struct doorman *d)
{
	loop_schedule(d->client->loop, &d->work);
}

/* ---- what is done ---- */

static struct call *call_new(struct doorman *d, const char *uid)
{
	struct call *call = xcalloc(1, sizeof(*call));

	*call = (struct call){ .d = d, .uid = xstrdup(uid) };
	d->calls++;
	return call;
}

static void call_done(struct call *call)
{
	struct doorman *d = call->d;

	free(call->uid);
	free(call);
	if (--d->calls == 0 && d->freed)
		doorman_done(d);
}

static void on_opened(void *arg, const json_t *obj, const struct err *e)
{
	struct call *call = arg;
	struct doorman *d = call->d;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && !d->freed) {
		log_warn("open the gate of a pod: %s, trying again if it is still there", e->text);
		gate_plan_failed(d->plan, call->uid);
		loop_timer_set(d->client->loop, &d->wake, RETRY_MS);
	}
	call_done(call);
}

static void open_gate(struct doorman *d, const char *ns, const char *name, const char *uid)
{
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = ns, .name = name };
	json_auto_t *patch = json_pack("{s:{s:s}, s:{s:[{s:s, s:s}]}}", "metadata", "uid", uid, "spec",
				       "schedulingGates", "$patch", "delete", "name", GATE_NAME);

	d->client->ops->patch(d->client, &ref, "strategic", patch, on_opened, call_new(d, uid));
}

static void on_taken_back(void *arg, const json_t *obj, const struct err *e)
{
	struct call *call = arg;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && !call->d->freed)
		log_warn("delete a pod whose gang has no room: %s, trying again later", e->text);
	call_done(call);
}

static void take_back(struct doorman *d, const struct gate_decision *one)
{
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = one->ns, .name = one->name };
	json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid", one->uid);

	log_info("take back pod=%s/%s: there is no room for the rest of its gang", one->ns, one->name);
	d->client->ops->remove(d->client, &ref, options, on_taken_back, call_new(d, one->uid));
}

/* "namespace/tfjobs/name" */
static void look(struct doorman *d, const char *key)
{
	const char *plural = strchr(key, '/');
	const char *name = plural ? strchr(plural + 1, '/') : NULL;

	for (const struct follower *f = d->followers; name && f; f = f->next) {
		size_t n = (size_t)(name - plural - 1);
		auto_free char *job = NULL;

		if (strlen(f->f.plural) != n || strncmp(f->f.plural, plural + 1, n) != 0)
			continue;
		job = xasprintf("%.*s%s", (int)(plural - key), key, name);
		f->f.look(f->f.arg, job);
	}
}

static void look_at_all(struct doorman *d)
{
	for (const struct follower *f = d->followers; f; f = f->next)
		f->f.look(f->f.arg, NULL);
}

static void apply(struct doorman *d, const struct gate_decisions *ret)
{
	for (size_t i = 0; i < ret->n; i++) {
		const struct gate_decision *one = &ret->items[i];

		if (one->what == GATE_OPEN)
			open_gate(d, one->ns, one->name, one->uid);
		else if (one->what == GATE_TAKE_BACK)
			take_back(d, one);
		else
			look(d, one->key);
	}
}

/* ---- the turn ---- */

static bool is_over(void *arg)
{
	return clock_mono_ns() >= *(const int64_t *)arg;
}

static void wake_at(struct doorman *d, int64_t at_ms, int64_t now)
{
	if (at_ms != TIME_UNKNOWN)
		loop_timer_set_sooner(d->client->loop, &d->wake, at_ms > now ? at_ms - now + 1 : 1);
}

static void on_work(void *arg)
{
	struct doorman *d = arg;
	int64_t end_ns = clock_mono_ns() + TURN_NS;
	struct world_slice slice = { .now_ms = now_ms(), .stop = is_over, .arg = &end_ns, .most = TURN_MOST };
	struct gate_decisions ret = { 0 };

	if (!is_synced(d))
		return;
	gate_plan_pass(d->plan, &slice, &ret);
	apply(d, &ret);
	if (ret.more)
		work_soon(d);
	else if (gate_plan_waiting(d->plan) && !loop_timer_pending(&d->say))
		loop_timer_set(d->client->loop, &d->say, SAY_AFTER);
	wake_at(d, ret.next_ms, slice.now_ms);
	gate_decisions_done(&ret);
}

static void on_say(void *arg)
{
	struct doorman *d = arg;
	struct gate_decisions ret = { 0 };

	gate_plan_say(d->plan, now_ms(), clock_mono_ms(), SAY_AT_ONCE, &ret);
	apply(d, &ret);
	if (gate_plan_waiting(d->plan))
		loop_timer_set(d->client->loop, &d->say, ret.more ? SAY_NEXT : SAY_EVERY);
	gate_decisions_done(&ret);
}

static void on_wake(void *arg)
{
	struct doorman *d = arg;

	world_touch(gate_plan_world(d->plan));
	work_soon(d);
}

/* ---- what happens ---- */

static void on_node(void *arg, const json_t *obj, const json_t *old)
{
	struct doorman *d = arg;

	if (obj)
		world_set_node(gate_plan_world(d->plan), obj);
	else
		world_remove_node(gate_plan_world(d->plan), jsonx_str_or(old, "metadata.name", ""));
	work_soon(d);
}

static void on_queue(void *arg, const json_t *obj, const json_t *old)
{
	struct doorman *d = arg;
	struct world *w = gate_plan_world(d->plan);
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");

	if (obj)
		world_queue(w, name, json_object_get(obj, "spec"));
	else if (streq(name, QUEUE_DEFAULT))
		world_queue(w, name, NULL);
	else
		world_remove_queue(w, name);
	work_soon(d);
}

static void on_server(void *arg, const json_t *obj, const json_t *old)
{
	struct doorman *d = arg;

	if (!streq(jsonx_str_or(obj ? obj : old, "metadata.name", ""), PBS_SERVER))
		return;
	world_pbs_server(gate_plan_world(d->plan), json_object_get(obj, "spec"));
	work_soon(d);
}

static void on_synced(void *arg)
{
	work_soon(arg);
}

static void follow_cluster(struct doorman *d, bool queues)
{
	struct informer_handlers n = { .change = on_node, .synced = on_synced, .arg = d };
	struct informer_handlers q = { .change = on_queue, .synced = on_synced, .arg = d };

	struct informer_handlers s = { .change = on_server, .synced = on_synced, .arg = d };

	if (!d->nodes)
		d->nodes = informer_new(d->client, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL, &n);
	if (queues && !d->queues)
		d->queues = informer_new(d->client, &(struct ref){ .api_version = "stoker.dev/v1", .plural = "queues" },
					 NULL, &q);
	if (d->pbs && !d->servers)
		d->servers = informer_new(
			d->client, &(struct ref){ .api_version = "stoker.dev/v1", .plural = "pbsservers" }, NULL, &s);
}

/* Those that were told before it was known that nothing is held. */
static void open_all(struct doorman *d)
{
	struct gate_decisions ret = { 0 };

	gate_plan_open_all(d->plan, &ret);
	apply(d, &ret);
	gate_decisions_done(&ret);
}

static void on_found(void *arg, const struct gate_found *found)
{
	static const char *const words[] = { [GATE_OFF] = "off", [GATE_GATES] = "gates", [GATE_DELAY] = "delay" };
	struct doorman *d = arg;
	enum gate_way way = !found->nodes ? GATE_OFF : d->delay || !found->gates ? GATE_DELAY : GATE_GATES;

	if (way == d->way)
		return;
	if (way == GATE_OFF)
		log_warn("admission is off, gangs are not held back: %s", found->denied);
	else
		log_info("admission by=%s queues=%s", words[way], found->queues ? "cluster" : QUEUE_DEFAULT);
	if (d->gates && way == GATE_DELAY)
		log_warn("the server does not keep spec.schedulingGates: pods are made later instead");
	d->way = way;
	if (way == GATE_OFF)
		open_all(d);
	else
		follow_cluster(d, found->queues);
	look_at_all(d);
}

/* ---- what is asked ---- */

static enum gate_way way(struct gate *g)
{
	return doorman(g)->way;
}

static void follow(struct gate *g, const struct gate_follower *f)
{
	struct doorman *d = doorman(g);
	struct follower *one = xcalloc(1, sizeof(*one));

	*one = (struct follower){ .f = *f, .next = d->followers };
	d->followers = one;
}

static void unfollow(struct gate *g, void *arg)
{
	struct follower **at = &doorman(g)->followers;

	while (*at) {
		struct follower *one = *at;

		if (one->f.arg != arg) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		free(one);
	}
}

static bool is_ours(const struct doorman *d, const json_t *pod)
{
	const char *kind = jsonx_str_or(pod_controller(pod), "kind", "");

	for (const struct follower *f = d->followers; f; f = f->next)
		if (streq(f->f.kind, kind) && !f->f.alone)
			return true;
	return false;
}

static void on_pod(struct gate *g, const json_t *pod, bool gone)
{
	struct doorman *d = doorman(g);
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	bool ours = !gone && is_ours(d, pod);

	if (d->way == GATE_OFF && ours && gate_is_closed(pod))
		open_gate(d, jsonx_str_or(pod, "metadata.namespace", ""), jsonx_str_or(pod, "metadata.name", ""), uid);
	if (d->off)
		return;
	if (gone)
		gate_plan_gone(d->plan, uid, now_ms());
	else
		gate_plan_pod(d->plan, pod, ours, now_ms());
	work_soon(d);
}

static void synced(struct gate *g)
{
	doorman(g)->pods = true;
	work_soon(doorman(g));
}

static void wish(struct gate *g, const struct gate_wish *w, bool *ret_go)
{
	struct doorman *d = doorman(g);

	gate_plan_wish(d->plan, w, ret_go, now_ms());
	work_soon(d);
}

static enum gate_state state(struct gate *g, const char *ns, const char *gang, const char **ret_why)
{
	struct doorman *d = doorman(g);
	auto_free char *key = xasprintf("%s/%s", ns, gang);

	return is_synced(d) ? gate_plan_state(d->plan, key, ret_why) : GATE_UNKNOWN;
}

static char *job_key(const char *plural, const json_t *job)
{
	return xasprintf("%s/%s/%s", jsonx_str_or(job, "metadata.namespace", ""), plural,
			 jsonx_str_or(job, "metadata.name", ""));
}

static bool held(struct gate *g, const char *plural, const json_t *job, struct gate_rule *ret)
{
	struct doorman *d = doorman(g);
	auto_free char *key = NULL;
	bool holds;

	if (!d->rules)
		return false;
	holds = gate_rules_held(d->rules, plural, job, now_ms(), ret);
	key = job_key(plural, job);
	/* Of its pods some may stand at the gate already. */
	if (gate_plan_hold(d->plan, key, holds))
		work_soon(d);
	return holds;
}

static void forget(struct gate *g, const char *plural, const json_t *job)
{
	struct doorman *d = doorman(g);

	auto_free char *key = NULL;

	if (!d->rules)
		return;
	gate_rules_forget(d->rules, jsonx_str_or(job, "metadata.uid", ""));
	key = job_key(plural, job);
	gate_plan_hold(d->plan, key, false);
}

static void on_rules(void *arg, const char *key)
{
	look(arg, key);
}

/* ---- life ---- */

struct gate *gate_new(struct client *c, const struct gate_config *config)
{
	static const struct gate_ops ops = { way, follow, unfollow, on_pod, synced, wish, state, held, forget };
	struct doorman *d = xcalloc(1, sizeof(*d));

	d->gate.ops = &ops;
	d->client = c;
	d->pbs = config->pbs;
	d->off = !config->room || streq(config->how, "off");
	d->gates = streq(config->how, "gates");
	d->delay = streq(config->how, "delay");
	d->way = d->off ? GATE_OFF : GATE_ASKING;
	d->plan = gate_plan_new();
	if (!streq(config->how, "off"))
		d->rules = gate_rules_new(c, on_rules, d);
	d->work = (struct loop_hook){ .run = on_work, .arg = d, .phase = LOOP_WORK };
	d->say = (struct loop_timer){ .fire = on_say, .arg = d };
	d->wake = (struct loop_timer){ .fire = on_wake, .arg = d };
	if (!d->off)
		d->probe = gate_probe_new(c, config->ns, on_found, d);
	return &d->gate;
}

void gate_free(struct gate *g)
{
	struct doorman *d = doorman(g);

	if (!g)
		return;
	gate_probe_free(d->probe);
	gate_rules_free(d->rules);
	informer_free(d->nodes);
	informer_free(d->queues);
	informer_free(d->servers);
	loop_unschedule(d->client->loop, &d->work);
	loop_timer_done(&d->say);
	loop_timer_done(&d->wake);
	while (d->followers)
		unfollow(g, d->followers->f.arg);
	d->freed = true;
	if (!d->calls)
		doorman_done(d);
}
