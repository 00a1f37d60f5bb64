// SPDX-License-Identifier: Apache-2.0
/* mirror.c - see mirror.h
 *
 * A node is written here when the cluster's form of it is another than the one last written; so whatever our API makes
 * of that form, it is written once.  If the cluster's form is the same and what people may set is not as the API
 * answered then, somebody has set it.  All of this is in memory only: after a start the cluster is right.
 */
#include "control/mirror.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/calls.h"
#include "control/workqueue.h"
#include "kinds/pbs_nodes.h"

#define NOTES_PREFIX "stoker.dev/"

struct mirror {
	struct informer *here, *there;
	struct calls *near, *far;
	struct workqueue *queue; /* names of nodes */
	struct map written;      /* name -> {"form", "editable"}, as json_t */
};

/* ---- forms ---- */

static json_t *with_prefix(const json_t *map, const char *prefix)
{
	json_t *some = json_object();
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value)
		if (str_starts(key, prefix))
			json_object_set(some, key, value);
	return some;
}

/* Without the times of heartbeats. */
static json_t *conditions_of(const json_t *node)
{
	static const char *const keys[] = { "type", "status", "reason", "message", "lastTransitionTime" };
	json_t *all = json_array();
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(node, "status.conditions"), i, c) {
		json_t *one = json_object();

		for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
			json_object_set(one, keys[k], json_object_get(c, keys[k]));
		json_array_append_new(all, one);
	}
	return all;
}

static void take(json_t *to, const json_t *from, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_set(to, keys[i], json_object_get(from, keys[i]));
}

json_t *mirror_form(const json_t *node)
{
	static const char *const spec_keys[] = { "unschedulable", "taints" };
	static const char *const status_keys[] = { "allocatable", "capacity", "addresses" };
	json_t *spec = json_object();
	json_t *status = json_pack("{s:o}", "conditions", conditions_of(node));
	json_t *metadata = json_pack("{s:s, s:o}", "name", jsonx_str_or(node, "metadata.name", ""), "annotations",
				     with_prefix(jsonx_at(node, "metadata.annotations"), NOTES_PREFIX));
	json_t *labels = jsonx_at(node, "metadata.labels");

	json_object_set(metadata, "labels", labels);
	take(spec, json_object_get(node, "spec"), spec_keys, ARRAY_SIZE(spec_keys));
	take(status, json_object_get(node, "status"), status_keys, ARRAY_SIZE(status_keys));
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "apiVersion", "v1", "kind", "Node", "metadata", metadata, "spec",
			 spec, "status", status);
}

json_t *mirror_editable(const json_t *node)
{
	return json_pack("{s:{s:o, s:o}, s:{s:b}}", "metadata", "labels",
			 with_prefix(jsonx_at(node, "metadata.labels"), PBS_PROPERTY_LABEL), "annotations",
			 with_prefix(jsonx_at(node, "metadata.annotations"), NOTES_PREFIX), "spec", "unschedulable",
			 jsonx_bool_or(node, "spec.unschedulable", false));
}

static json_t *map_patch(const json_t *from, const json_t *to)
{
	json_t *patch = json_object();
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)from, key, value)
		if (!json_object_get(to, key))
			json_object_set_new(patch, key, json_null());
	json_object_foreach ((json_t *)to, key, value)
		if (!json_equal(value, json_object_get(from, key)))
			json_object_set(patch, key, value);
	return patch;
}

json_t *mirror_patch(const json_t *from, const json_t *to)
{
	if (json_equal(from, to))
		return NULL;
	return json_pack("{s:{s:o, s:o}, s:O}", "metadata", "labels",
			 map_patch(jsonx_at(from, "metadata.labels"), jsonx_at(to, "metadata.labels")), "annotations",
			 map_patch(jsonx_at(from, "metadata.annotations"), jsonx_at(to, "metadata.annotations")),
			 "spec", json_object_get(to, "spec"));
}

/* ---- writing here ---- */

static void on_status(void *arg, const struct answer *a)
{
	struct mirror *m = arg;

	if (a->e->kind == ERR_NONE)
		map_set(&m->written, jsonx_str_or(a->what, "metadata.name", ""),
			json_pack("{s:O, s:o}", "form", a->what, "editable", mirror_editable(a->obj)));
}

/* The node is there; now what it says of itself. */
static void on_node_written(void *arg, const struct answer *a)
{
	struct mirror *m = arg;
	struct ref ref = { .api_version = "v1", .plural = "nodes", .subresource = "status" };
	json_auto_t *next = NULL;

	if (a->e->kind != ERR_NONE)
		return;
	ref.name = jsonx_str(a->obj, "metadata.name");
	next = json_copy((json_t *)a->obj);
	json_object_set(next, "status", json_object_get(a->what, "status"));
	calls_update(m->near, a->key, &ref, next, on_status, a->what);
}

static void write_here(struct mirror *m, const char *name, const json_t *form, const json_t *ours)
{
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = ours ? name : NULL };
	json_auto_t *next = NULL;
	json_t *metadata;

	if (!ours) {
		calls_create(m->near, name, &ref, form, on_node_written, form);
		return;
	}
	next = json_copy((json_t *)ours);
	metadata = json_copy(json_object_get(ours, "metadata"));
	json_object_set_new(next, "metadata", metadata);
	json_object_set(metadata, "labels", jsonx_at(form, "metadata.labels"));
	json_object_set(metadata, "annotations", jsonx_at(form, "metadata.annotations"));
	json_object_set(next, "spec", json_object_get(form, "spec"));
	calls_update(m->near, name, &ref, next, on_node_written, form);
}

/* ---- writing there ---- */

static void on_pushed(void *arg, const struct answer *a)
{
	struct mirror *m = arg;

	if (a->e->kind == ERR_NONE)
		return;
	log_warn("change node %s of the cluster: %s, taking it back here", a->key, a->e->text);
	map_remove(&m->written, a->key);
}

static void push(struct mirror *m, const char *name, const json_t *patch, const json_t *editable)
{
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = name };
	json_t *written = map_find(&m->written, name);

	json_object_set(written, "editable", (json_t *)editable);
	calls_patch(m->far, name, &ref, "merge", patch, on_pushed, NULL);
}

/* ---- one node ---- */

static void compare(struct mirror *m, const char *name, const json_t *theirs, const json_t *ours)
{
	json_auto_t *form = mirror_form(theirs);
	json_auto_t *now = ours ? mirror_editable(ours) : NULL;
	json_t *written = map_find(&m->written, name);
	json_auto_t *patch = NULL;

	if (!ours || !written || !json_equal(json_object_get(written, "form"), form)) {
		write_here(m, name, form, ours);
		return;
	}
	patch = mirror_patch(json_object_get(written, "editable"), now);
	if (patch)
		push(m, name, patch, now);
	else
		workqueue_forget(m->queue, name);
}

static void look(void *arg, const char *name)
{
	struct mirror *m = arg;
	json_auto_t *theirs = json_incref((json_t *)informer_find(m->there, "", name));
	json_auto_t *ours = json_incref((json_t *)informer_find(m->here, "", name));
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = name };

	if (calls_busy(m->near, name) || calls_busy(m->far, name))
		return; /* on_idle() comes back to it */
	if (theirs) {
		compare(m, name, theirs, ours);
		return;
	}
	map_remove(&m->written, name);
	if (ours)
		calls_remove(m->near, name, &ref, NULL, NULL, NULL);
	else
		workqueue_forget(m->queue, name);
}

static void on_idle(void *arg, const char *key, bool failed)
{
	struct mirror *m = arg;

	workqueue_written(m->queue, key, failed);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct mirror *m = arg;

	workqueue_add(m->queue, jsonx_str_or(obj ? obj : old, "metadata.name", ""));
}

static void on_synced(void *arg)
{
	struct mirror *m = arg;

	if (m->here && m->there && informer_synced(m->here) && informer_synced(m->there))
		workqueue_start(m->queue);
}

static void free_written(void *v)
{
	json_decref(v);
}

struct mirror *mirror_new(struct client *near, struct client *far)
{
	struct mirror *m = xcalloc(1, sizeof(*m));
	struct informer_handlers h = { .change = on_change, .synced = on_synced, .arg = m };
	struct ref nodes = { .api_version = "v1", .plural = "nodes" };

	map_init(&m->written, free_written);
	m->queue = workqueue_new(near->loop, look, m);
	m->near = calls_new(near, on_idle, m);
	m->far = calls_new(far, on_idle, m);
	m->here = informer_new(near, &nodes, NULL, &h);
	m->there = informer_new(far, &nodes, NULL, &h);
	return m;
}

void mirror_free(struct mirror *m)
{
	if (!m)
		return;
	informer_free(m->here);
	informer_free(m->there);
	calls_free(m->near);
	calls_free(m->far);
	workqueue_free(m->queue);
	map_done(&m->written);
	free(m);
}
