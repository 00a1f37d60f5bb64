// SPDX-License-Identifier: Apache-2.0
/* crd.c - custom kinds come and go with their definitions
 *
 * Every established definition has one `struct custom` in `live`, whose served kinds are in the registry.  A change of
 * its spec makes a new one; the old one is retired, not freed, because requests and watches may still point into it.
 * They are few and small, and end with the process.
 *
 * A definition that is being deleted keeps its finalizer until its objects are gone.  They are deleted a few at a time
 * from the work phase, through the same verbs as everyone's; objects with finalizers of their own are waited for, and a
 * deletion that failed is tried again after a while.
 */
#include "api/crd.h"

#include "api/crd_impl.h"
#include "api/watch.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

#define SWEEP_STEP 64   /* deletions in one turn: well within STALL_BUDGET_MS */
#define RETRY_MS   2000 /* after a deletion or its commit failed */

struct definition {
	char *name;
	struct custom *custom; /* what is served, or NULL */
	json_t *crd;           /* newest state, stored form */
	int store_kind;        /* of its objects */
	bool deleting;
	bool waiting;          /* for objects with finalizers of their own */
	bool recheck;          /* its names may have become free */
	char *at_ns, *at_name; /* where the sweep is */
};

struct crds {
	struct api *api;
	const struct kind *kind; /* CustomResourceDefinition */
	int store_kind;
	struct map live; /* name -> struct definition */
	struct custom **retired;
	size_t nretired, retired_cap;
	struct store_subscriber subscriber;
	struct loop_hook sweep;
	struct loop_timer retry;
	struct store_after swept; /* deletions that may have to be made again */
	bool swept_pending;
	struct store_after after; /* a registration that may have to be undone */
	bool after_pending;
};

int crd_admit(struct api *api, json_t *crd, const json_t *old, struct err *e)
{
	return crd_check(api_registry(api), crd, old, clock_wall(), e);
}

/* --- registration --- */

static void definition_free(void *arg)
{
	struct definition *d = arg;

	custom_free(d->custom);
	json_decref(d->crd);
	free(d->name);
	free(d->at_ns);
	free(d->at_name);
	free(d);
}

static void unregister(struct crds *c, struct definition *d)
{
	const struct kind *k;

	if (!d->custom)
		return;
	for (size_t i = 0; (k = custom_served(d->custom, i)); i++)
		registry_remove(api_registry(c->api), k);
	ARRAY_PUSH(c->retired, c->nretired, c->retired_cap, d->custom);
	d->custom = NULL;
}

static void register_kinds(struct crds *c, struct definition *d)
{
	struct registry *r = api_registry(c->api);
	struct err e = ERR_INIT;
	const struct kind *k;

	unregister(c, d);
	if (!crd_established(d->crd) || crd_is_builtin(r, d->crd))
		return;
	d->custom = custom_new(d->crd, &e);
	if (!d->custom || api_store_kind(c->api, custom_storage(d->custom), &d->store_kind, &e) < 0) {
		log_error("serve custom kind, ignoring name=%s error=%s", d->name, e.text);
		custom_free(TAKE(d->custom));
		return;
	}
	if (d->deleting)
		custom_stop_creating(d->custom);
	for (size_t i = 0; (k = custom_served(d->custom, i)); i++)
		registry_add(r, k);
}

/* True if what is served follows from the same words in both. */
static bool serves_same(const json_t *a, const json_t *b)
{
	return a && b && crd_established(a) == crd_established(b) &&
	       jsonx_equal(json_object_get(a, "spec"), json_object_get(b, "spec")) &&
	       jsonx_equal(jsonx_at(a, "status.acceptedNames"), jsonx_at(b, "status.acceptedNames"));
}

static void take_definition(struct crds *c, const json_t *crd)
{
	const char *name = jsonx_str_or(crd, "metadata.name", "");
	struct definition *d = map_find(&c->live, name);
	bool deleting = jsonx_at(crd, "metadata.deletionTimestamp") != NULL;
	bool same;

	if (!d) {
		d = xcalloc(1, sizeof(*d));
		d->name = xstrdup(name);
		map_set(&c->live, name, d);
	}
	same = serves_same(d->crd, crd);
	json_decref(d->crd);
	d->crd = json_incref((json_t *)crd);
	if (deleting && !d->deleting) {
		d->deleting = true;
		if (d->custom)
			custom_stop_creating(d->custom);
	}
	if (!same)
		register_kinds(c, d);
	if (d->deleting)
		loop_schedule(api_loop(c->api), &c->sweep);
}

/* A definition left: whoever waited for its names is admitted again. */
static void recheck_names(struct crds *c)
{
	size_t pos = 0;
	const char *name;
	void *value;

	while (map_next(&c->live, &pos, &name, &value)) {
		struct definition *d = value;

		d->recheck = !crd_names_accepted(d->crd);
		if (d->recheck)
			loop_schedule(api_loop(c->api), &c->sweep);
	}
}

static void drop_definition(struct crds *c, const char *name)
{
	struct definition *d = map_find(&c->live, name);

	if (!d)
		return;
	if (d->custom)
		watch_hub_retire(api_hub(c->api), d->store_kind);
	unregister(c, d);
	map_remove(&c->live, name);
	recheck_names(c);
}

/* --- from the store --- */

struct loading {
	json_t *list;
};

static bool load_one(void *arg, const struct record *r)
{
	struct loading *l = arg;
	struct err e = ERR_INIT;
	json_t *crd;

	if (jsonx_parse(r->body.p, r->body.n, NULL, NULL, &crd, &e) == 0)
		json_array_append_new(l->list, crd);
	else
		log_error("read stored definition, ignoring name=%s error=%s", r->name, e.text);
	return true;
}

static int load(struct crds *c, struct err *e)
{
	struct store_range range = { .kind = c->store_kind };
	json_auto_t *list = json_array();
	struct loading l = { list };
	size_t i;
	json_t *crd;

	if (store_list(api_store(c->api), &range, load_one, &l, e) < 0)
		return -1;
	json_array_foreach (list, i, crd)
		take_definition(c, crd);
	return 0;
}

/* A commit failed: what was registered ahead of it may not exist.  Start over from the store. */
static void on_commit(void *arg, const struct err *result)
{
	struct crds *c = arg;
	struct err e = ERR_INIT;
	size_t pos = 0;
	const char *name;
	void *value;

	c->after_pending = false;
	if (result->kind == ERR_NONE)
		return;
	while (map_next(&c->live, &pos, &name, &value)) {
		unregister(c, value);
		map_remove(&c->live, name);
	}
	if (load(c, &e) < 0)
		log_error("read definitions again after a failed commit, ignoring error=%s", e.text);
}

void crd_written(struct crds *c, const json_t *crd, const json_t *old)
{
	(void)old;
	take_definition(c, crd);
	if (c->after_pending)
		return;
	c->after_pending = true;
	store_after(api_store(c->api), &c->after);
}

/* An object left: perhaps the last one that a definition waits for. */
static void wake(struct crds *c, int store_kind)
{
	size_t pos = 0;
	const char *name;
	void *value;

	while (map_next(&c->live, &pos, &name, &value)) {
		struct definition *d = value;

		if (!d->deleting || !d->waiting || d->store_kind != store_kind)
			continue;
		d->waiting = false;
		loop_schedule(api_loop(c->api), &c->sweep);
	}
}

static void on_changes(void *arg, const struct change *changes, size_t n)
{
	struct crds *c = arg;

	for (size_t i = 0; i < n; i++) {
		const struct change *ch = &changes[i];

		if (ch->kind != c->store_kind) {
			if (ch->op != STORE_UPDATED)
				wake(c, ch->kind);
		} else if (ch->op == STORE_DELETED) {
			drop_definition(c, ch->name);
		} else {
			take_definition(c, ch->obj);
		}
	}
}

/* --- deletion --- */

static int call(struct crds *c, enum verb verb, const struct kind *k, const char *ns, const char *name, json_t *body,
		struct err *e)
{
	struct api_request req = {
		.caller = &caller_system,
		.verb = verb,
		.kind = k,
		.ns = ns,
		.name = name,
		.body = body,
		.user_agent = "stoker-crd",
		.fields = FIELDS_IGNORE,
		.grace_seconds = -1,
		.propagation = PROPAGATE_BACKGROUND,
	};
	struct api_result result = { 0 };
	int r = api_call(c->api, &req, &result, e);

	api_result_done(&result);
	return r;
}

struct batch {
	json_t *keys; /* [ns, name] pairs */
};

static bool collect(void *arg, const struct record *r)
{
	struct batch *b = arg;

	json_array_append_new(b->keys, json_pack("[s, s]", r->ns, r->name));
	return json_array_size(b->keys) < SWEEP_STEP;
}

static void sweep_to(struct definition *d, const char *ns, const char *name)
{
	free(d->at_ns);
	free(d->at_name);
	d->at_ns = ns ? xstrdup(ns) : NULL;
	d->at_name = name ? xstrdup(name) : NULL;
}

/* Deletes the next few objects; true if there are more to come. */
static bool sweep_step(struct crds *c, struct definition *d, struct err *e)
{
	struct store_range range = { .kind = d->store_kind, .after_ns = d->at_ns, .after_name = d->at_name };
	json_auto_t *keys = json_array();
	struct batch b = { keys };
	size_t i;
	json_t *key;

	if (store_list(api_store(c->api), &range, collect, &b, e) < 0)
		return false;
	json_array_foreach (keys, i, key) {
		const char *ns = json_string_value(json_array_get(key, 0));
		const char *name = json_string_value(json_array_get(key, 1));

		if (call(c, VERB_DELETE, custom_storage(d->custom), ns, name, NULL, e) < 0 && e->kind != ERR_NOT_FOUND)
			return false;
		err_clear(e);
		sweep_to(d, ns, name);
	}
	return json_array_size(keys) == SWEEP_STEP;
}

static void let_go(struct crds *c, struct definition *d, struct err *e)
{
	json_auto_t *crd = jsonx_copy(d->crd);
	json_t *list = jsonx_at(crd, "metadata.finalizers");
	bool found = false;

	for (size_t i = json_array_size(list); i-- > 0;)
		if (str_same(json_string_value(json_array_get(list, i)), CRD_FINALIZER)) {
			json_array_remove(list, i);
			found = true;
		}
	if (found)
		call(c, VERB_UPDATE, c->kind, "", d->name, crd, e);
}

static void sweep_definition(struct crds *c, struct definition *d)
{
	struct err e = ERR_INIT;

	if (d->custom && sweep_step(c, d, &e)) {
		loop_schedule(api_loop(c->api), &c->sweep);
		return;
	}
	sweep_to(d, NULL, NULL);
	if (e.kind == ERR_NONE && d->custom && store_count(api_store(c->api), d->store_kind, NULL) > 0) {
		d->waiting = true;
		return;
	}
	if (e.kind == ERR_NONE)
		let_go(c, d, &e);
	if (e.kind == ERR_NONE || e.kind == ERR_NOT_FOUND)
		return;
	log_warn("delete objects of custom kind, trying again name=%s error=%s", d->name, e.text);
	loop_timer_set(api_loop(c->api), &c->retry, RETRY_MS);
}

static void on_retry(void *arg)
{
	struct crds *c = arg;

	loop_schedule(api_loop(c->api), &c->sweep);
}

/* The commit of some deletions failed: what is waited for may be what was thought deleted.  Begin anew, later. */
static void on_swept(void *arg, const struct err *result)
{
	struct crds *c = arg;
	size_t pos = 0;
	const char *name;
	void *value;

	c->swept_pending = false;
	if (result->kind == ERR_NONE)
		return;
	while (map_next(&c->live, &pos, &name, &value)) {
		struct definition *d = value;

		d->waiting = false;
		sweep_to(d, NULL, NULL);
	}
	loop_timer_set(api_loop(c->api), &c->retry, RETRY_MS);
}

/* Writing it unchanged makes admission look at its names anew. */
static void readmit(struct crds *c, struct definition *d)
{
	json_auto_t *crd = jsonx_copy(d->crd);
	struct err e = ERR_INIT;

	d->recheck = false;
	if (call(c, VERB_UPDATE, c->kind, "", d->name, crd, &e) < 0)
		log_warn("look again at a definition's names, ignoring name=%s error=%s", d->name, e.text);
}

static void on_sweep(void *arg)
{
	struct crds *c = arg;
	size_t pos = 0;
	const char *name;
	void *value;
	json_auto_t *names = json_array();
	size_t i;
	json_t *v;

	/* By name: a sweep may end a definition and with it its place in the map. */
	while (map_next(&c->live, &pos, &name, &value)) {
		const struct definition *d = value;

		if ((d->deleting && !d->waiting) || d->recheck)
			json_array_append_new(names, json_string(name));
	}
	json_array_foreach (names, i, v) {
		struct definition *d = map_find(&c->live, json_string_value(v));

		if (d && d->deleting)
			sweep_definition(c, d);
		else if (d)
			readmit(c, d);
	}
	if (store_dirty(api_store(c->api)) && !c->swept_pending) {
		c->swept_pending = true;
		store_after(api_store(c->api), &c->swept);
	}
}

/* --- life --- */

int crds_new(struct api *api, struct crds **ret, struct err *e)
{
	struct crds *c = xcalloc(1, sizeof(*c));

	c->api = api;
	c->kind = registry_find(api_registry(api), CRD_GROUP, "v1", CRD_PLURAL);
	c->subscriber = (struct store_subscriber){ .fn = on_changes, .arg = c };
	c->sweep = (struct loop_hook){ .run = on_sweep, .arg = c, .phase = LOOP_WORK };
	c->swept = (struct store_after){ .fn = on_swept, .arg = c };
	c->retry = (struct loop_timer){ .fire = on_retry, .arg = c };
	c->after = (struct store_after){ .fn = on_commit, .arg = c };
	map_init(&c->live, definition_free);
	store_subscribe(api_store(api), &c->subscriber);
	if (api_store_kind(api, c->kind, &c->store_kind, e) < 0 || load(c, e) < 0) {
		crds_free(c);
		return err_prefix(e, "custom resource definitions");
	}
	*ret = c;
	return 0;
}

void crds_free(struct crds *c)
{
	size_t pos = 0;
	const char *name;
	void *value;

	if (!c)
		return;
	store_unsubscribe(api_store(c->api), &c->subscriber);
	loop_unschedule(api_loop(c->api), &c->sweep);
	loop_timer_done(&c->retry);
	if (c->after_pending)
		store_after_cancel(&c->after);
	if (c->swept_pending)
		store_after_cancel(&c->swept);
	while (map_next(&c->live, &pos, &name, &value))
		unregister(c, value);
	map_done(&c->live);
	for (size_t i = 0; i < c->nretired; i++)
		custom_free(c->retired[i]);
	free(c->retired);
	free(c);
}
