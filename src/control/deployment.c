// SPDX-License-Identifier: Apache-2.0
/* deployment.c - does what deployment_plan.c decides: one plan at a time for each Deployment
 *
 * It makes, sizes and deletes ReplicaSets; the pods are theirs.  A ReplicaSet that was written is waited for before the
 * next plan, and each write carries the revision it was decided on, so two steps are never taken for one.
 */
#include "control/deployment.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/children.h"
#include "control/deployment_plan.h"
#include "control/keeper.h"
#include "kinds/selector.h"

#define VERSION   "apps/v1"
#define BEHIND_MS 1000

struct deployments {
	struct owned *owned;
	struct keeper *keeper;
	struct children *sets;
};

static const char *name_of(const json_t *obj)
{
	return jsonx_str_or(obj, "metadata.name", "");
}

static const char *uid_of(const json_t *obj)
{
	return jsonx_str_or(obj, "metadata.uid", "");
}

static void write_status(struct deployments *k, const char *key, const json_t *deployment, json_t *status)
{
	json_auto_t *mine = status;

	keeper_write_status(k->keeper, key, deployment, mine);
}

/* ---- a new ReplicaSet ---- */

static void tell_created(struct deployments *k, const struct answer *a, const json_t *deployment)
{
	int64_t replicas = jsonx_int_or(a->obj, "spec.replicas", 0);
	auto_free char *message = xasprintf("Created new replica set \"%s\"", name_of(a->obj));

	children_expect(k->sets, uid_of(deployment), a->obj);
	if (replicas > 0)
		events_note(keeper_events(k->keeper), deployment, "Normal", "ScalingReplicaSet",
			    "Scaled up replica set %s from 0 to %" PRId64, name_of(a->obj), replicas);
	write_status(k, a->key, deployment,
		     deployment_told(deployment, clock_wall(), true, "NewReplicaSetCreated", message));
}

static void tell_refused(struct deployments *k, const struct answer *a, const json_t *deployment, const json_t *set)
{
	auto_free char *message = xasprintf("Failed to create new replica set \"%s\": %s", name_of(set), a->e->text);

	events_note(keeper_events(k->keeper), deployment, "Warning", "ReplicaSetCreateError", "%s", message);
	write_status(k, a->key, deployment,
		     deployment_told(deployment, clock_wall(), false, "ReplicaSetCreateError", message));
}

/* Whoever has the name: our own ReplicaSet that was not seen yet, or another's, and then the next name is tried. */
static void on_holder(void *arg, const struct answer *a)
{
	struct deployments *k = keeper_arg(arg);

	if (a->e->kind != ERR_NONE)
		return;
	if (str_same(jsonx_str(controller_of(a->obj), "uid"), uid_of(a->what)) && deployment_is_new(a->what, a->obj))
		children_expect(k->sets, uid_of(a->what), a->obj);
	else
		write_status(k, a->key, a->what, deployment_collided(a->what));
}

/* What it carries is {"deployment", "set"}. */
static void on_created(void *arg, const struct answer *a)
{
	struct deployments *k = keeper_arg(arg);
	const json_t *deployment = json_object_get(a->what, "deployment");
	const json_t *set = json_object_get(a->what, "set");
	struct ref ref = calls_ref(VERSION, "replicasets", set);

	if (a->e->kind == ERR_NONE)
		tell_created(k, a, deployment);
	else if (a->e->kind == ERR_EXISTS)
		calls_get(a->calls, a->key, &ref, on_holder, deployment);
	else if (!a->e->ncauses || a->e->causes[0].kind != CAUSE_TERMINATING)
		tell_refused(k, a, deployment, set);
}

static void create(struct deployments *k, const char *key, const json_t *deployment, const json_t *set)
{
	struct ref ref = { .api_version = VERSION,
			   .plural = "replicasets",
			   .ns = jsonx_str(deployment, "metadata.namespace") };
	json_auto_t *what = json_pack("{s:O, s:O}", "deployment", deployment, "set", set);

	calls_create(keeper_calls(k->keeper), key, &ref, set, on_created, what);
}

/* ---- those there are ---- */

/* What it carries is {"deployment", "from", "to"}. */
static void on_written(void *arg, const struct answer *a)
{
	struct deployments *k = keeper_arg(arg);
	const json_t *deployment = json_object_get(a->what, "deployment");
	int64_t from = jsonx_int_or(a->what, "from", 0);
	int64_t to = jsonx_int_or(a->what, "to", 0);

	if (a->e->kind != ERR_NONE)
		return;
	children_expect(k->sets, uid_of(deployment), a->obj);
	if (from != to)
		events_note(keeper_events(k->keeper), deployment, "Normal", "ScalingReplicaSet",
			    "Scaled %s replica set %s from %" PRId64 " to %" PRId64, from < to ? "up" : "down",
			    name_of(a->obj), from, to);
}

static void write_set(struct deployments *k, const char *key, const json_t *deployment,
		      const struct deployment_write *w)
{
	struct ref ref = calls_ref(VERSION, "replicasets", w->set);
	json_auto_t *what = json_pack("{s:O, s:I, s:I}", "deployment", deployment, "from", (json_int_t)w->from, "to",
				      (json_int_t)w->to);

	calls_update(keeper_calls(k->keeper), key, &ref, w->set, on_written, what);
}

static void remove_set(struct deployments *k, const char *key, const json_t *set)
{
	struct ref ref = calls_ref(VERSION, "replicasets", set);
	json_auto_t *options =
		json_pack("{s:s, s:{s:s, s:s}}", "propagationPolicy", "Background", "preconditions", "uid", uid_of(set),
			  "resourceVersion", jsonx_str_or(set, "metadata.resourceVersion", ""));

	calls_remove(keeper_calls(k->keeper), key, &ref, options, NULL, NULL);
}

static void write_revision(struct deployments *k, const char *key, const json_t *deployment, const char *revision)
{
	struct ref ref = calls_ref(VERSION, "deployments", deployment);
	json_auto_t *patch = json_pack("{s:{s:s, s:{s:s}}}", "metadata", "uid", uid_of(deployment), "annotations",
				       NOTE_REVISION, revision);

	calls_patch(keeper_calls(k->keeper), key, &ref, "merge", patch, NULL, NULL);
}

/* ---- looking at one Deployment ---- */

static void apply(struct deployments *k, const char *key, const json_t *deployment, const struct deployment_plan *p)
{
	if (p->create)
		create(k, key, deployment, p->create);
	for (size_t i = 0; i < p->nwrites; i++)
		write_set(k, key, deployment, &p->writes[i]);
	for (size_t i = 0; i < p->nremove; i++)
		remove_set(k, key, p->remove[i]);
	/* Either write makes the other's revision old. */
	if (p->revision)
		write_revision(k, key, deployment, p->revision);
	else if (p->status)
		keeper_write_status(k->keeper, key, deployment, p->status);
	if (p->again >= 0)
		keeper_look_after(k->keeper, key, clock_until_ms(p->again));
}

static bool claim(struct deployments *k, const char *key, const json_t *deployment)
{
	struct claim_request r = { .owner = deployment,
				   .api_version = VERSION,
				   .kind = "Deployment",
				   .plural = "deployments",
				   .adopt = true };
	struct selector *selector = NULL;
	struct err e = ERR_INIT;
	bool called;

	if (selector_from_json(jsonx_at(deployment, "spec.selector"), &selector, &e) < 0)
		return false;
	r.selector = selector;
	called = children_claim(k->sets, keeper_calls(k->keeper), key, &r);
	selector_free(selector);
	return called;
}

static bool has_pods(const struct deployments *k, const json_t *set)
{
	struct owned_list own = owned_by(k->owned, uid_of(set));

	for (size_t i = 0; i < own.n; i++)
		if (!pod_ended(&own.pods[i]->facts))
			return true;
	return false;
}

static void plan(void *arg, const char *key, const json_t *deployment)
{
	struct deployments *k = arg;
	auto_free const json_t **sets = NULL;
	auto_free struct deployment_child *children = NULL;
	struct deployment_view v = { .deployment = deployment, .now = clock_wall() };
	struct deployment_plan p;

	if (!children_settled(k->sets, uid_of(deployment))) {
		keeper_look_after(k->keeper, key, BEHIND_MS);
		return;
	}
	if (claim(k, key, deployment))
		return;
	v.n = children_of(k->sets, uid_of(deployment), &sets);
	children = xcalloc(v.n + 1, sizeof(*children));
	for (size_t i = 0; i < v.n; i++)
		children[i] = (struct deployment_child){ sets[i], has_pods(k, sets[i]) };
	v.children = children;
	deployment_plan(&v, &p);
	apply(k, key, deployment, &p);
	deployment_plan_done(&p);
}

/* ---- what happens ---- */

static void on_set(void *arg, const char *key)
{
	struct deployments *k = arg;

	if (k->keeper)
		keeper_look(k->keeper, key);
}

static void on_orphan(void *arg, const json_t *set)
{
	struct deployments *k = arg;
	const char *ns = jsonx_str_or(set, "metadata.namespace", "");
	const json_t *deployment;
	size_t pos = 0;

	/* Which of them selects it is seen when they are looked at. */
	while (k->keeper && keeper_synced(k->keeper) && keeper_next(k->keeper, &pos, &deployment))
		if (streq(jsonx_str_or(deployment, "metadata.namespace", ""), ns)) {
			auto_free char *key = keeper_key(deployment);

			keeper_look(k->keeper, key);
		}
}

/* Pods only matter where the last old one is waited for. */
static void on_pod(void *arg, const json_t *owner_ref, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct deployments *k = arg;
	const json_t *any = pod ? pod->obj : old->obj;
	const char *ns = jsonx_str_or(any, "metadata.namespace", "");
	const json_t *set = children_find(k->sets, ns, jsonx_str_or(owner_ref, "name", ""));
	const json_t *ref = controller_of(set);
	auto_free char *key = xasprintf("%s/%s", ns, jsonx_str_or(ref, "name", ""));

	if (k->keeper && ref && (!pod || pod_ended(pod)) &&
	    str_same(jsonx_str(keeper_find(k->keeper, key), "spec.strategy.type"), "Recreate"))
		keeper_look(k->keeper, key);
}

static void on_synced(void *arg)
{
	struct deployments *k = arg;

	if (k->keeper)
		keeper_start(k->keeper);
}

static bool is_synced(void *arg)
{
	struct deployments *k = arg;

	return children_synced(k->sets) && owned_synced(k->owned);
}

static const struct keeper_kind deployment_kind = {
	.api_version = VERSION,
	.kind = "Deployment",
	.plural = "deployments",
	.component = "deployment-controller",
	.plan = plan,
	.synced = is_synced,
};

static const struct children_kind set_kind = {
	.api_version = VERSION,
	.plural = "replicasets",
	.owner = "Deployment",
	.change = on_set,
	.orphan = on_orphan,
	.synced = on_synced,
};

struct deployments *deployments_new(struct client *c, struct owned *owned)
{
	struct deployments *k = xcalloc(1, sizeof(*k));

	k->owned = owned;
	k->sets = children_new(c, &set_kind, k);
	owned_follow(owned, &(struct owned_handlers){ "ReplicaSet", on_pod, NULL, on_synced, k });
	k->keeper = keeper_new(c, NULL, &deployment_kind, k);
	return k;
}

void deployments_free(struct deployments *k)
{
	if (!k)
		return;
	owned_unfollow(k->owned, k);
	keeper_free(k->keeper);
	children_free(k->sets);
	free(k);
}

struct workqueue_counts deployments_counts(const struct deployments *k)
{
	return keeper_counts(k->keeper);
}
