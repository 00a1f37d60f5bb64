// SPDX-License-Identifier: Apache-2.0
/* deployment_plan.c - the order in which a Deployment's affairs are looked at
 *
 * The number of replicas first, also while it is paused; then the next step of the roll-out; then the status, which is
 * about the ReplicaSets as they will be and the pods as they are.
 */
#include "control/deployment_plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/deployment_parts.h"
#include "control/pod_facts.h"
#include "control/share.h"

/* ---- reading ---- */

static int64_t note_of(const json_t *set, const char *key)
{
	const char *text = json_string_value(json_object_get(jsonx_at(set, "metadata.annotations"), key));
	int64_t n;

	return text && str_int64(text, 0, INT64_MAX, &n) ? n : -1;
}

static struct replica_set read_set(const struct deployment_child *c)
{
	int64_t revision = note_of(c->set, NOTE_REVISION);
	int64_t replicas = jsonx_int_or(c->set, "spec.replicas", 1);

	return (struct replica_set){
		.obj = c->set,
		.name = jsonx_str_or(c->set, "metadata.name", ""),
		.created = time_at(c->set, "metadata.creationTimestamp"),
		.revision = revision > 0 ? revision : 0,
		.replicas = replicas,
		.have = jsonx_int_or(c->set, "status.replicas", 0),
		.ready = jsonx_int_or(c->set, "status.readyReplicas", 0),
		.available = jsonx_int_or(c->set, "status.availableReplicas", 0),
		.desired = note_of(c->set, NOTE_DESIRED),
		.most = note_of(c->set, NOTE_MOST),
		.has_pods = c->has_pods,
		.size = replicas,
	};
}

static int by_age(const void *a, const void *b)
{
	const struct replica_set *x = a, *y = b;

	if (x->created != y->created)
		return x->created < y->created ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void read_bounds(struct rollout *r)
{
	const json_t *bounds = jsonx_at(r->deployment, "spec.strategy.rollingUpdate");

	r->rolling = !str_same(jsonx_str(r->deployment, "spec.strategy.type"), "Recreate");
	if (!r->rolling)
		return;
	r->surge = least(share_of(json_object_get(bounds, "maxSurge"), r->want, true), INT32_MAX);
	r->unavailable = least(share_of(json_object_get(bounds, "maxUnavailable"), r->want, false), r->want);
	/* Percentages of few can both be rounded to nothing: then it would never move. */
	if (!r->surge && !r->unavailable && r->want)
		r->unavailable = 1;
}

static void rollout_init(struct rollout *r, const struct deployment_view *v)
{
	int64_t deadline = jsonx_int_or(v->deployment, "spec.progressDeadlineSeconds", INT32_MAX);

	*r = (struct rollout){ .deployment = v->deployment,
			       .now = v->now,
			       .sets = xcalloc(v->n + 1, sizeof(*r->sets)),
			       .n = v->n,
			       .want = jsonx_int_or(v->deployment, "spec.replicas", 1),
			       .deadline = deadline == INT32_MAX ? -1 : deadline };
	for (size_t i = 0; i < v->n; i++)
		r->sets[i] = read_set(&v->children[i]);
	qsort(r->sets, r->n, sizeof(*r->sets), by_age);
	r->fresh = history_find_fresh(r);
	read_bounds(r);
}

/* ---- deciding ---- */

static void create(const struct rollout *r, struct deployment_plan *p)
{
	p->create = history_make(r, rolling_fresh_size(r, 0));
}

static bool empty_old(struct rollout *r)
{
	bool any = false;

	for (size_t i = 0; i < r->n; i++)
		if (is_old(r, &r->sets[i]) && r->sets[i].replicas > 0) {
			set_size(&r->sets[i], 0);
			any = true;
		}
	return any;
}

static bool old_pods_run(const struct rollout *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_old(r, &r->sets[i]) && (r->sets[i].have > 0 || r->sets[i].has_pods))
			return true;
	return false;
}

static void recreate(struct rollout *r, struct deployment_plan *p)
{
	if (empty_old(r) || old_pods_run(r))
		return;
	if (!r->fresh)
		create(r, p);
	else if (r->fresh->replicas != r->want)
		set_size(r->fresh, r->want);
}

static void roll(struct rollout *r, struct deployment_plan *p)
{
	if (!r->fresh)
		create(r, p);
	else
		rolling_step(r);
}

static void write_sets(const struct rollout *r, struct deployment_plan *p)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct replica_set *s = &r->sets[i];
		json_t *set = history_update(r, s);
		struct deployment_write w = { set, s->replicas, s->size };

		if (set)
			ARRAY_PUSH(p->writes, p->nwrites, p->writes_cap, w);
	}
}

static void number(const struct rollout *r, struct deployment_plan *p)
{
	const json_t *notes = jsonx_at(r->deployment, "metadata.annotations");
	auto_free char *text = xasprintf("%" PRId64, history_number(r));

	if (r->fresh && !str_same(json_string_value(json_object_get(notes, NOTE_REVISION)), text))
		p->revision = TAKE(text);
}

void deployment_plan(const struct deployment_view *v, struct deployment_plan *ret)
{
	bool paused = jsonx_bool_or(v->deployment, "spec.paused", false);
	bool deleting = jsonx_at(v->deployment, "metadata.deletionTimestamp") != NULL;
	struct rollout r;
	bool rolls;

	*ret = (struct deployment_plan){ .again = -1 };
	rollout_init(&r, v);
	rolls = !deleting && !paused && !scale_needed(&r);
	if (rolls && r.rolling)
		roll(&r, ret);
	else if (rolls)
		recreate(&r, ret);
	else if (!deleting)
		scale_to_want(&r);
	if (!deleting) {
		write_sets(&r, ret);
		number(&r, ret);
	}
	if (!deleting && (paused || (rolls && status_complete(&r))))
		history_clean(&r, ret);
	/* What the status says of a new template waits until there is a ReplicaSet to say it of. */
	if (!ret->create)
		ret->status = status_make(&r, rolls, &ret->again);
	free(r.sets);
}

void deployment_plan_done(struct deployment_plan *p)
{
	json_decref(p->create);
	for (size_t i = 0; i < p->nwrites; i++)
		json_decref(p->writes[i].set);
	free(p->writes);
	free(p->remove);
	free(p->revision);
	json_decref(p->status);
}
