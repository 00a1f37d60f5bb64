// SPDX-License-Identifier: Apache-2.0
/* replicas.c - does what replicas_plan.c decides, for ReplicaSets and for ReplicationControllers
 *
 * The two kinds differ in their names and in how their selector is written.  When to look at one is keeper.c's to know.
 *
 * Pods are made in batches of 1, 2, 4, …: each is made when the one before has been seen.  What cannot work (a quota, a
 * template that is refused) thus fails once and not five hundred times.
 */
#include "control/replicas.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/keeper.h"
#include "control/pod_template.h"
#include "control/replicas_plan.h"

struct replicas {
	const struct keeper_kind *kind;
	struct owned *owned;
	struct keeper *keeper;
	struct map batches; /* key -> how many pods the next batch may have, as a number; 1 if absent */
};

/* ---- looking at one ---- */

struct facts_list {
	const struct pod_facts **pods;
	size_t n, cap;
};

static void add_pods(const struct replicas *k, const json_t *obj, struct facts_list *l)
{
	struct owned_list own = owned_by(k->owned, jsonx_str_or(obj, "metadata.uid", ""));

	for (size_t i = 0; i < own.n; i++)
		ARRAY_PUSH(l->pods, l->n, l->cap, &own.pods[i]->facts);
}

/* The pods of all ReplicaSets of a Deployment are related: in a rolling update there are several. */
static void add_related(const struct replicas *k, const json_t *obj, struct facts_list *l)
{
	const char *controller = jsonx_str(controller_of(obj), "uid");
	const json_t *other;
	size_t pos = 0;

	while (controller && keeper_next(k->keeper, &pos, &other))
		if (str_same(jsonx_str(controller_of(other), "uid"), controller))
			add_pods(k, other, l);
	if (!controller)
		add_pods(k, obj, l);
}

static size_t batch_of(struct replicas *k, const char *key)
{
	size_t most = (size_t)(uintptr_t)map_find(&k->batches, key);

	if (keeper_failures(k->keeper, key))
		map_remove(&k->batches, key);
	return most && !keeper_failures(k->keeper, key) ? most : 1;
}

static void apply(struct replicas *k, const char *key, const json_t *obj, const struct replicas_plan *p, size_t batch)
{
	for (size_t i = 0; i < p->create; i++) {
		json_auto_t *pod =
			pod_from_template(jsonx_at(obj, "spec.template"), obj, k->kind->api_version, k->kind->kind);

		keeper_create_pod(k->keeper, key, obj, pod);
	}
	if (p->create == batch)
		map_set(&k->batches, key, (void *)(uintptr_t)(batch < REPLICAS_BURST ? batch * 2 : batch));
	else
		map_remove(&k->batches, key);
	for (size_t i = 0; i < p->nremove; i++)
		keeper_remove_pod(k->keeper, key, obj, p->remove[i]);
	keeper_write_status(k->keeper, key, obj, p->status);
	if (p->again >= 0)
		keeper_look_after(k->keeper, key, clock_until_ms(p->again));
}

static void plan(void *arg, const char *key, const json_t *obj)
{
	struct replicas *k = arg;
	struct facts_list own = { 0 };
	struct facts_list related = { 0 };
	size_t batch = batch_of(k, key);
	struct replicas_view v = { .obj = obj,
				   .now = clock_wall(),
				   .create_most = batch,
				   .create_error = keeper_create_error(k->keeper, key),
				   .remove_error = keeper_remove_error(k->keeper, key) };
	struct replicas_plan p;

	add_pods(k, obj, &own);
	if ((int64_t)own.n > jsonx_int_or(obj, "spec.replicas", 1))
		add_related(k, obj, &related);
	v.pods = own.pods;
	v.n = own.n;
	v.related = related.pods;
	v.nrelated = related.n;
	replicas_plan(&v, &p);
	apply(k, key, obj, &p, batch);
	replicas_plan_done(&p);
	free(own.pods);
	free(related.pods);
}

/* ---- what happens ---- */

static void on_object(void *arg, const char *key, const json_t *obj, const json_t *old)
{
	struct replicas *k = arg;

	if (old && !str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(old, "metadata.uid")))
		map_remove(&k->batches, key);
}

static const struct keeper_kind replica_set = {
	.api_version = "apps/v1",
	.kind = "ReplicaSet",
	.plural = "replicasets",
	.component = "replicaset-controller",
	.plan = plan,
	.changed = on_object,
	.pod_changed = keeper_pod_counts,
};

static const struct keeper_kind replication_controller = {
	.api_version = "v1",
	.kind = "ReplicationController",
	.plural = "replicationcontrollers",
	.component = "replication-controller",
	.plain_selector = true,
	.plan = plan,
	.changed = on_object,
	.pod_changed = keeper_pod_counts,
};

static struct replicas *replicas_new(struct client *c, struct owned *owned, const struct keeper_kind *kind)
{
	struct replicas *k = xcalloc(1, sizeof(*k));

	k->kind = kind;
	k->owned = owned;
	map_init(&k->batches, NULL);
	k->keeper = keeper_new(c, owned, kind, k);
	return k;
}

struct replicas *replicasets_new(struct client *c, struct owned *owned)
{
	return replicas_new(c, owned, &replica_set);
}

struct replicas *replicationcontrollers_new(struct client *c, struct owned *owned)
{
	return replicas_new(c, owned, &replication_controller);
}

void replicas_free(struct replicas *k)
{
	if (!k)
		return;
	keeper_free(k->keeper);
	map_done(&k->batches);
	free(k);
}

struct workqueue_counts replicas_counts(const struct replicas *k)
{
	return keeper_counts(k->keeper);
}
