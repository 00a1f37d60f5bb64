// SPDX-License-Identifier: Apache-2.0
/* daemonset.c - does what daemonset_plan.c decides, for one DaemonSet at a time
 *
 * When to look at one is keeper.c's to know; a node that came, went or takes other pods than before has all of them
 * looked at.  Before anything else the template's state is kept as a revision: pods carry its hash, and so it can be
 * told which are of the present template.
 *
 * A pod that fails again and again is replaced ever later.
 */
#include "control/daemonset.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/daemonset_plan.h"
#include "control/keeper.h"
#include "control/revisions.h"

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MAX_MS   (15 * 60 * 1000)

struct daemonsets {
	struct owned *owned;
	struct revisions *revisions;
	struct informer *nodes;
	struct keeper *keeper;
	struct map backoffs; /* "uid of the set/node" -> struct backoff */
};

struct backoff {
	int64_t ms, since;
};

/* ---- back-off ---- */

/* A set and who keeps its back-offs. */
struct asker {
	const struct daemonsets *k;
	const char *uid;
};

static int64_t backoff_left(void *arg, const char *node)
{
	const struct asker *a = arg;
	auto_free char *key = xasprintf("%s/%s", a->uid, node);
	const struct backoff *b = map_find(&a->k->backoffs, key);
	int64_t left = b ? b->since + b->ms - clock_awake_ms() : 0;

	return left > 0 ? left : 0;
}

static void back_off(struct daemonsets *k, const char *uid, const char *node)
{
	auto_free char *key = xasprintf("%s/%s", uid, node);
	struct backoff *b = map_find(&k->backoffs, key);
	int64_t now = clock_awake_ms();

	if (!b) {
		b = xcalloc(1, sizeof(*b));
		map_set(&k->backoffs, key, b);
	}
	/* One that ran well for long enough starts anew. */
	if (!b->ms || now - b->since > 2 * BACKOFF_MAX_MS)
		b->ms = BACKOFF_FIRST_MS;
	else
		b->ms = b->ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : b->ms * 2;
	b->since = now;
}

static void forget_backoffs(struct daemonsets *k, const char *uid)
{
	const char *key;
	size_t pos = 0;

	while (map_next(&k->backoffs, &pos, &key, NULL))
		if (str_starts(key, uid))
			map_remove(&k->backoffs, key);
}

/* ---- looking at one ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(jsonx_str_or(*(const json_t *const *)a, "metadata.name", ""),
		      jsonx_str_or(*(const json_t *const *)b, "metadata.name", ""));
}

static size_t sorted_nodes(const struct daemonsets *k, const json_t ***ret)
{
	const json_t **nodes = NULL;
	const json_t *node;
	size_t pos = 0;
	size_t cap = 0;
	size_t n = 0;

	while (informer_next(k->nodes, &pos, &node))
		ARRAY_PUSH(nodes, n, cap, node);
	if (n)
		qsort(nodes, n, sizeof(*nodes), by_name);
	*ret = nodes;
	return n;
}

static void tell_ended(struct daemonsets *k, const json_t *set, const struct daemon_ended *e)
{
	const char *ns = jsonx_str_or(set, "metadata.namespace", "");
	bool failed = e->pod->phase == POD_IS_FAILED;

	events_note(keeper_events(k->keeper), set, failed ? "Warning" : "Normal",
		    failed ? "FailedDaemonPod" : "SucceededDaemonPod",
		    failed ? "Found failed daemon pod %s/%s on node %s, will try to kill it"
			   : "Found succeeded daemon pod %s/%s on node %s, will try to delete it",
		    ns, e->pod->name, e->node);
	if (failed)
		back_off(k, jsonx_str_or(set, "metadata.uid", ""), e->node);
}

static void apply(struct daemonsets *k, const char *key, const json_t *set, const struct daemon_plan *p,
		  const struct revision *now)
{
	for (size_t i = 0; i < p->nended; i++)
		tell_ended(k, set, &p->ended[i]);
	for (size_t i = 0; i < p->ncreate; i++) {
		json_auto_t *pod = daemon_pod(set, p->create[i], now->hash, now->number);

		keeper_create_pod(k->keeper, key, set, pod);
	}
	for (size_t i = 0; i < p->nremove; i++)
		keeper_remove_pod(k->keeper, key, set, p->remove[i]);
	keeper_write_status(k->keeper, key, set, p->status);
	if (p->again >= 0)
		keeper_look_after(k->keeper, key, clock_until_ms(p->again));
	if (p->wait_ms >= 0)
		keeper_look_after(k->keeper, key, p->wait_ms);
}

static void plan_pods(struct daemonsets *k, const char *key, const json_t *set, struct owned_list own,
		      const struct revision *now)
{
	struct asker asker = { k, jsonx_str_or(set, "metadata.uid", "") };
	auto_free const struct pod_facts **pods = xcalloc(own.n + 1, sizeof(*pods));
	auto_free const json_t **nodes = NULL;
	struct daemon_view v = { .set = set,
				 .pods = pods,
				 .npods = own.n,
				 .hash = now->hash,
				 .now = clock_wall(),
				 .create_most = keeper_failures(k->keeper, key) ? 1 : DAEMON_BURST,
				 .backoff = backoff_left,
				 .arg = &asker };
	struct daemon_plan p;

	for (size_t i = 0; i < own.n; i++)
		pods[i] = &own.pods[i]->facts;
	v.nnodes = sorted_nodes(k, &nodes);
	v.nodes = nodes;
	daemon_plan(&v, &p);
	apply(k, key, set, &p, now);
	daemon_plan_done(&p);
}

static void plan(void *arg, const char *key, const json_t *set)
{
	struct daemonsets *k = arg;
	const char *uid = jsonx_str_or(set, "metadata.uid", "");
	struct owned_list own = owned_by(k->owned, uid);
	auto_free const char **used = xcalloc(own.n + 1, sizeof(*used));
	auto_free struct revision *all = NULL;
	struct revision_view v = { .api_version = DAEMON_VERSION,
				   .kind = DAEMON_KIND,
				   .plural = "daemonsets",
				   .owner = set,
				   .used = used,
				   .nused = own.n };
	struct revision_plan p;

	v.n = revisions_of(k->revisions, uid, &all);
	v.all = all;
	for (size_t i = 0; i < own.n; i++) {
		const json_t *labels = jsonx_at(own.pods[i]->facts.obj, "metadata.labels");

		used[i] = json_string_value(json_object_get(labels, LABEL_REVISION_HASH));
	}
	if (revisions_adopt(k->revisions, keeper_calls(k->keeper), key, &v))
		return;
	revision_plan(&v, &p);
	if (!revision_apply(keeper_calls(k->keeper), key, &v, &p) && p.update)
		plan_pods(k, key, set, own, p.update);
	revision_plan_done(&p);
}

/* ---- what happens ---- */

static void on_set(void *arg, const char *key, const json_t *obj, const json_t *old)
{
	(void)key;
	if (old && !str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(old, "metadata.uid")))
		forget_backoffs(arg, jsonx_str_or(old, "metadata.uid", ""));
}

static enum keeper_when on_pod(void *arg, const char *key, const struct pod_facts *now, const struct pod_facts *old)
{
	(void)arg;
	(void)key;
	if (!now || !old || now->phase != old->phase || now->deleting != old->deleting || now->ready != old->ready ||
	    now->assigned != old->assigned || now->ready_since != old->ready_since ||
	    !json_equal(jsonx_at(now->obj, "metadata.labels"), jsonx_at(old->obj, "metadata.labels")))
		return KEEPER_NOW;
	return KEEPER_NOT;
}

static void on_node(void *arg, const json_t *obj, const json_t *old)
{
	struct daemonsets *k = arg;
	const json_t *set;
	size_t pos = 0;

	if (!k->keeper ||
	    (obj && old && json_equal(jsonx_at(obj, "metadata.labels"), jsonx_at(old, "metadata.labels")) &&
	     json_equal(jsonx_at(obj, "spec.taints"), jsonx_at(old, "spec.taints"))))
		return;
	while (keeper_next(k->keeper, &pos, &set)) {
		auto_free char *key = keeper_key(set);

		keeper_look(k->keeper, key);
	}
}

static void on_revision(void *arg, const char *owner_key)
{
	struct daemonsets *k = arg;

	keeper_look(k->keeper, owner_key);
}

static void on_synced(void *arg)
{
	struct daemonsets *k = arg;

	if (k->keeper)
		keeper_start(k->keeper);
}

static bool synced(void *arg)
{
	const struct daemonsets *k = arg;

	return informer_synced(k->nodes) && revisions_synced(k->revisions);
}

static const struct keeper_kind daemon_set = {
	.api_version = DAEMON_VERSION,
	.kind = DAEMON_KIND,
	.plural = "daemonsets",
	.component = "daemonset-controller",
	.plan = plan,
	.changed = on_set,
	.pod_changed = on_pod,
	.synced = synced,
};

struct daemonsets *daemonsets_new(struct client *c, struct owned *owned)
{
	struct daemonsets *k = xcalloc(1, sizeof(*k));

	k->owned = owned;
	map_init(&k->backoffs, free);
	k->revisions = revisions_new(c);
	k->nodes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL,
				&(struct informer_handlers){ .change = on_node, .synced = on_synced, .arg = k });
	k->keeper = keeper_new(c, owned, &daemon_set, k);
	revisions_follow(k->revisions,
			 &(struct revisions_handlers){
				 .kind = DAEMON_KIND, .change = on_revision, .synced = on_synced, .arg = k });
	return k;
}

void daemonsets_free(struct daemonsets *k)
{
	if (!k)
		return;
	revisions_unfollow(k->revisions, k);
	keeper_free(k->keeper);
	informer_free(k->nodes);
	revisions_free(k->revisions);
	map_done(&k->backoffs);
	free(k);
}

struct workqueue_counts daemonsets_counts(const struct daemonsets *k)
{
	return keeper_counts(k->keeper);
}
