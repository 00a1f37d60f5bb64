// SPDX-License-Identifier: Apache-2.0
/* owners.c - see owners.h */
#include "sched/owners.h"

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/work_rules.h"
#include "kinds/workloads.h"

#define INFORMERS_MOST 32

struct owners {
	struct owners_handlers handlers;
	struct informer *informers[INFORMERS_MOST];
	size_t n;
	struct map objects; /* uid -> json_t *, one reference */
};

static void decref(void *v)
{
	json_decref(v);
}

const char *controller_uid(const json_t *obj)
{
	const json_t *owner;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, owner)
		if (jsonx_bool_or(owner, "controller", false))
			return jsonx_str(owner, "uid");
	return NULL;
}

static bool keep(void *arg, const json_t *obj)
{
	(void)arg;
	return work_rules_any(obj) || controller_uid(obj) || *work_note(obj, PREEMPTED_ANNOTATION);
}

static bool says_the_same(const json_t *a, const json_t *b)
{
	return jsonx_equal(jsonx_at(a, "metadata.annotations"), jsonx_at(b, "metadata.annotations")) &&
	       str_same(controller_uid(a), controller_uid(b));
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct owners *o = arg;
	const char *was = jsonx_str(old, "metadata.uid");
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");

	if (was && !streq(was, uid)) {
		map_remove(&o->objects, was);
		o->handlers.changed(o->handlers.arg, was, true);
	}
	if (!obj)
		return;
	map_set(&o->objects, uid, json_incref((json_t *)obj));
	if (!was || !streq(was, uid) || !says_the_same(obj, old))
		o->handlers.changed(o->handlers.arg, uid, false);
}

static void on_synced(void *arg)
{
	struct owners *o = arg;

	if (owners_synced(o))
		o->handlers.synced(o->handlers.arg);
}

struct owners *owners_new(struct client *c, const struct owners_handlers *h)
{
	struct owners *o = xcalloc(1, sizeof(*o));
	struct informer_handlers handlers = { .change = on_change, .synced = on_synced, .keep = keep, .arg = o };

	o->handlers = *h;
	map_init(&o->objects, decref);
	for (size_t i = 0; workloads[i] && o->n < INFORMERS_MOST; i++) {
		char version[64];

		if (workloads[i] == &kind_pod)
			continue;
		kind_api_version(workloads[i], version, sizeof(version));
		o->informers[o->n++] = informer_new(
			c, &(struct ref){ .api_version = version, .plural = workloads[i]->plural }, NULL, &handlers);
	}
	return o;
}

void owners_free(struct owners *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		informer_free(o->informers[i]);
	map_done(&o->objects);
	free(o);
}

bool owners_synced(const struct owners *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (!informer_synced(o->informers[i]))
			return false;
	return true;
}

const json_t *owners_above(const struct owners *o, const json_t *obj)
{
	const char *uid = controller_uid(obj);

	return uid ? map_find(&o->objects, uid) : NULL;
}

void owners_each_below(const struct owners *o, const char *uid, void (*fn)(void *arg, const char *uid), void *arg)
{
	const char *below;
	size_t pos = 0;
	void *obj;

	while (map_next(&o->objects, &pos, &below, &obj))
		if (str_same(controller_uid(obj), uid))
			fn(arg, below);
}
