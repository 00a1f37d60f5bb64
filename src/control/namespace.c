// SPDX-License-Identifier: Apache-2.0
/* namespace.c - a namespace that is deleted takes its contents with it
 *
 * For each namespace with a deletionTimestamp: delete every collection in it, see what is left, and when nothing is,
 * give up the namespace's own finalizer; else say in its status what is left (namespace_left.c) and look again a little
 * later (pods have their grace, finalizers their owners). The walk over the resources is one asynchronous step after
 * the other, so a large namespace holds up nothing.
 */
#include "control/namespace.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/namespace_left.h"
#include "control/resources.h"

#define AGAIN_MS  500
#define LOOK_AT   50 /* of each resource's objects, for their finalizers */
#define FINALIZER "kubernetes"

struct namespaces {
	struct client *client;
	struct informer *informer;
	struct workqueue_counts counts;
	struct map sweeps; /* name -> struct sweep, while a namespace is going */
};

/* One namespace on its way out. */
struct sweep {
	struct namespaces *owner;
	char *name;
	struct resources *resources;
	size_t at;
	bool counting; /* deleting first, then counting what is left */
	struct namespace_left left;
	struct loop_timer again;
	bool freed; /* an answer is under way: it frees us */
	bool waiting;
};

static void step(struct sweep *s);

static void sweep_done(struct sweep *s)
{
	loop_timer_done(&s->again);
	resources_free(s->resources);
	namespace_left_done(&s->left);
	free(s->name);
	free(s);
}

static void sweep_drop(void *arg)
{
	struct sweep *s = arg;

	if (s->waiting)
		s->freed = true;
	else
		sweep_done(s);
}

/* An answer has come; false if it came for nobody. */
static bool still_wanted(struct sweep *s)
{
	bool wanted = !s->freed;

	s->waiting = false;
	if (!wanted)
		sweep_done(s);
	return wanted;
}

static void start_over(void *arg);

static void later(struct sweep *s)
{
	loop_timer_set(s->owner->client->loop, &s->again, AGAIN_MS);
}

static void on_finalized(void *arg, const json_t *obj, const struct err *e)
{
	struct sweep *s = arg;

	(void)obj;
	if (!still_wanted(s))
		return;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND)
		later(s);
}

static void finalize(struct sweep *s)
{
	const json_t *ns = informer_find(s->owner->informer, NULL, s->name);
	struct ref ref = { .api_version = "v1", .plural = "namespaces", .name = s->name, .subresource = "finalize" };
	json_auto_t *obj = ns ? jsonx_copy(ns) : NULL;
	json_t *left = json_array();
	json_t *f;
	size_t i;

	if (!obj) {
		json_decref(left);
		return;
	}
	json_array_foreach (jsonx_at(obj, "spec.finalizers"), i, f)
		if (!str_same(json_string_value(f), FINALIZER))
			json_array_append(left, f);
	jsonx_set_new(obj, "spec.finalizers", left);
	s->waiting = true;
	s->owner->client->ops->update(s->owner->client, &ref, obj, on_finalized, s);
}

static void on_deleted(void *arg, const json_t *obj, const struct err *e)
{
	struct sweep *s = arg;

	(void)obj;
	if (!still_wanted(s))
		return;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && e->kind != ERR_NO_METHOD)
		log_warn("delete contents namespace=%s resource=%s: %s, trying again", s->name,
			 s->resources->items[s->at].plural, e->text);
	s->at++;
	step(s);
}

static void on_counted(void *arg, const json_t *list, const struct err *e)
{
	struct sweep *s = arg;

	if (!still_wanted(s))
		return;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND)
		s->left.objects++;
	else if (list)
		namespace_left_add(&s->left, s->resources->items[s->at].api_version, s->resources->items[s->at].plural,
				   list);
	s->at++;
	step(s);
}

static void on_said(void *arg, const json_t *obj, const struct err *e)
{
	struct sweep *s = arg;

	(void)obj;
	if (!still_wanted(s))
		return;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND)
		log_warn("say what is left namespace=%s: %s, ignoring", s->name, e->text);
	later(s);
}

/* Puts what is left into the namespace's status, if that is news. */
static void say(struct sweep *s)
{
	struct client *c = s->owner->client;
	struct ref ref = { .api_version = "v1", .plural = "namespaces", .name = s->name, .subresource = "status" };
	const json_t *old = jsonx_at(informer_find(s->owner->informer, NULL, s->name), "status.conditions");
	json_t *conditions = namespace_left_conditions(&s->left, old, clock_wall());
	json_auto_t *patch = json_pack("{s:{s:o}}", "status", "conditions", conditions);

	if (json_equal(conditions, old)) {
		later(s);
		return;
	}
	s->waiting = true;
	c->ops->patch(c, &ref, "merge", patch, on_said, s);
}

/* The next resource, or the next half, or the end. */
static void step(struct sweep *s)
{
	struct client *c = s->owner->client;
	struct ref ref = { .ns = s->name };

	while (s->at < s->resources->n && !s->resources->items[s->at].namespaced)
		s->at++;
	if (s->at < s->resources->n) {
		ref.api_version = s->resources->items[s->at].api_version;
		ref.plural = s->resources->items[s->at].plural;
		s->waiting = true;
		if (s->counting)
			c->ops->list(c, &ref, &(struct list_options){ .limit = LOOK_AT }, on_counted, s);
		else
			c->ops->remove(c, &ref, NULL, on_deleted, s);
		return;
	}
	if (!s->counting) {
		s->counting = true;
		s->at = 0;
		namespace_left_reset(&s->left);
		step(s);
	} else if (s->left.objects) {
		say(s);
	} else {
		finalize(s);
	}
}

static void on_resources(void *arg, struct resources *list, const struct err *e)
{
	struct sweep *s = arg;

	if (!still_wanted(s)) {
		resources_free(list);
		return;
	}
	if (!list) {
		log_warn("list the API's resources: %s, trying again", e->text);
		later(s);
		return;
	}
	resources_free(s->resources);
	s->resources = list;
	s->at = 0;
	s->counting = false;
	step(s);
}

static void start_over(void *arg)
{
	struct sweep *s = arg;

	s->owner->counts.looked++;
	s->waiting = true;
	resources_load(s->owner->client, on_resources, s);
}

bool namespace_plan(const json_t *ns)
{
	json_t *f;
	size_t i;

	if (!jsonx_at(ns, "metadata.deletionTimestamp"))
		return false;
	json_array_foreach (jsonx_at(ns, "spec.finalizers"), i, f)
		if (str_same(json_string_value(f), FINALIZER))
			return true;
	return false;
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct namespaces *n = arg;
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");
	struct sweep *s = map_find(&n->sweeps, name);

	if (!obj || !namespace_plan(obj)) {
		if (s)
			map_remove(&n->sweeps, name);
		return;
	}
	if (s)
		return;
	s = xcalloc(1, sizeof(*s));
	s->owner = n;
	s->name = xstrdup(name);
	s->again = (struct loop_timer){ .fire = start_over, .arg = s };
	map_set(&n->sweeps, name, s);
	n->counts.added++;
	start_over(s);
}

struct namespaces *namespaces_new(struct client *c)
{
	struct namespaces *n = xcalloc(1, sizeof(*n));
	struct informer_handlers h = { .change = on_change, .arg = n };

	n->client = c;
	map_init(&n->sweeps, sweep_drop);
	n->informer = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "namespaces" }, NULL, &h);
	return n;
}

void namespaces_free(struct namespaces *n)
{
	if (!n)
		return;
	informer_free(n->informer);
	map_done(&n->sweeps);
	free(n);
}

/* One whose answers are awaited is being looked at. */
struct workqueue_counts namespaces_counts(const struct namespaces *n)
{
	struct workqueue_counts c = n->counts;
	const char *name;
	size_t pos = 0;
	void *sweep;

	while (map_next(&n->sweeps, &pos, &name, &sweep))
		c.later += loop_timer_pending(&((const struct sweep *)sweep)->again);
	return c;
}
