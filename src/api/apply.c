// SPDX-License-Identifier: Apache-2.0
/* apply.c - server-side apply: many managers, one object, and a record of who wants what
 *
 * Every write says which fields it set.  An apply replaces the whole wish of its manager: fields it no longer lists and
 * nobody else owns disappear, fields others own with another value are conflicts unless it insists.  Any other write
 * takes what it changes, silently.  The record is metadata.managedFields.
 *
 * An apply in order: overlay the configuration (apply_object.c) -> prune what was only ours -> compare with what was
 * there (fieldwalk.c) -> conflicts -> settle the record (managers.c).
 *
 * Sets of entries written in an older version of the kind are taken as they are: the versions that we serve differ in
 * no field that two managers would share.
 */
#include "api/apply_object.h"
#include "api/managers.h"
#include "api/patch.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define FIRST_MANAGER "before-first-apply" /* owns what was there before anyone kept a record */
#define KUBECTL       "kubectl"
#define LAST_APPLIED  "kubectl.kubernetes.io/last-applied-configuration"

/* Texts of a request that entries borrow. */
struct stamp {
	char api_version[256];
	char time[CLOCK_RFC3339_LEN];
	enum fieldset_scope scope;
	struct typeref type;
};

static void stamp_init(struct stamp *s, const struct apply_request *req)
{
	kind_api_version(req->kind, s->api_version, sizeof(s->api_version));
	clock_rfc3339(req->now, s->time);
	s->type = typeref_of_kind(req->kind);
	if (!(req->kind->flags & KIND_STATUS))
		s->scope = SCOPE_ALL;
	else
		s->scope = req->subresource && streq(req->subresource, "status") ? SCOPE_STATUS : SCOPE_MAIN;
}

static struct manager stamped(const struct stamp *s, const struct apply_request *req, bool applies)
{
	return (struct manager){
		.name = req->manager && *req->manager ? req->manager : "unknown",
		.applies = applies,
		.api_version = s->api_version,
		.subresource = req->subresource ? req->subresource : "",
		.time = s->time,
	};
}

static const json_t *entries_of(const json_t *obj)
{
	const json_t *entries = json_object_get(json_object_get(obj, "metadata"), "managedFields");

	return json_is_array(entries) ? entries : NULL;
}

/* Takes `entries`; NULL removes them. */
static void set_entries(json_t *obj, json_t *entries)
{
	json_t *meta = json_object_get(obj, "metadata");

	if (!entries)
		json_object_del(meta, "managedFields");
	else if (json_is_object(meta))
		json_object_set_new(meta, "managedFields", entries);
	else
		jsonx_set_new(obj, "metadata.managedFields", entries);
}

/* --- writes other than apply --- */

/* [{}] is how a client asks to forget all managers; [] is what clients send that do not know of them. */
static bool asks_for_reset(const json_t *entries)
{
	const json_t *first = json_array_get(entries, 0);

	return json_array_size(entries) == 1 && json_is_object(first) && json_object_size(first) == 0;
}

/* The record to go on from: the client's own if it sent a valid one, else the old.  *ret_base is its JSON. */
static void read_base(const json_t *old, const json_t *obj, struct managers *ret, const json_t **ret_base)
{
	const json_t *sent = entries_of(obj);
	const json_t *was = entries_of(old);
	/* Mostly the client sends back what it got: no need to look closer. */
	bool edited = json_array_size(sent) && !jsonx_equal(sent, was);

	*ret_base = edited && managers_read(sent, false, ret) ? sent : was;
	if (*ret_base == was && !managers_read(was, true, ret))
		*ret_base = NULL;
}

static void own_changes(struct managers *m, struct manager self, json_t *changed)
{
	struct manager *mine = managers_find(m, &self);

	if (!mine) {
		self.set = changed;
		managers_add(m, self);
		return;
	}
	manager_set(mine, fieldset_union(mine->set, changed));
	mine->time = self.time;
	mine->json = NULL;
	json_decref(changed);
}

void apply_track_update(const struct apply_request *req, const json_t *old, json_t *obj)
{
	auto_managers struct managers m = { 0 };
	json_auto_t *removed = NULL;
	json_t *changed = NULL;
	const json_t *base;
	struct stamp s;

	if (asks_for_reset(entries_of(obj))) {
		set_entries(obj, NULL);
		return;
	}
	read_base(old, obj, &m, &base);
	/* An object without a record stays so until someone applies. */
	if (old && m.n == 0) {
		set_entries(obj, NULL);
		return;
	}
	stamp_init(&s, req);
	fieldset_compare(s.type, s.scope, old, obj, &changed, &removed);
	if (!changed && !removed) {
		if (base != entries_of(obj))
			set_entries(obj, json_incref((json_t *)base));
		return;
	}
	managers_subtract(&m, NULL, changed);
	managers_subtract(&m, NULL, removed);
	if (changed)
		own_changes(&m, stamped(&s, req, false), changed);
	set_entries(obj, managers_write(&m));
}

/* --- conflicts --- */

struct conflicts {
	struct err *e;
	struct sbuf message; /* the list of paths, by manager */
	struct sbuf who;
	struct sbuf only; /* the first path */
	size_t n;
};

static void add_conflict(void *arg, const char *path)
{
	struct conflicts *c = arg;

	if (c->n++ == 0)
		sbuf_adds(&c->only, path);
	sbuf_addf(&c->message, "\n- %s", path);
	err_cause(c->e, CAUSE_MANAGER, path, "conflict with %s", c->who.p);
}

static int compare_names(const void *a, const void *b)
{
	const struct manager *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* What `m` owns of what changes, but for paths that are allowed to; a new reference. */
static json_t *contested(const struct manager *m, const json_t *changed, const json_t *allowed)
{
	json_auto_t *both = fieldset_intersection(m->set, changed);

	return fieldset_difference(both, allowed);
}

/* Adds the conflicts with each manager in turn, by name. */
static void collect(const struct managers *m, const struct manager *self, const json_t *changed, const json_t *allowed,
		    struct conflicts *c)
{
	auto_free struct manager **sorted = xreallocarray(NULL, m->n + 1, sizeof(*sorted));

	for (size_t i = 0; i < m->n; i++)
		sorted[i] = &m->v[i];
	qsort(sorted, m->n, sizeof(*sorted), compare_names);
	for (size_t i = 0; i < m->n; i++) {
		json_auto_t *paths = sorted[i] == self ? NULL : contested(sorted[i], changed, allowed);

		if (!paths)
			continue;
		sbuf_reset(&c->who);
		manager_print(sorted[i], &c->who);
		sbuf_addf(&c->message, "%sconflicts with %s:", c->n ? "\n" : "", c->who.p);
		fieldset_each(paths, add_conflict, c);
	}
}

/* Causes must be added to an error that already is a conflict, and its text is known only after they are counted. */
static int check_conflicts(const struct managers *m, const struct manager *self, const json_t *changed,
			   const json_t *allowed, struct err *e)
{
	struct conflicts c = { .e = e };

	/* Whole paths or nothing: the text must not be cut within a character. */
	sbuf_init(&c.message, sizeof(e->text) - 64);
	sbuf_init(&c.who, sizeof(e->text) / 4);
	sbuf_init(&c.only, sizeof(e->text) / 2);
	err_set(e, ERR_CONFLICT, "Apply failed");
	collect(m, self, changed, allowed, &c);
	if (c.n == 1)
		snprintf(e->text, sizeof(e->text), "Apply failed with 1 conflict: conflict with %s: %s", c.who.p,
			 sbuf_str(&c.only).p);
	else if (c.n > 1)
		snprintf(e->text, sizeof(e->text), "Apply failed with %zu conflicts: %s", c.n, c.message.p);
	else
		err_clear(e);
	sbuf_done(&c.message);
	sbuf_done(&c.who);
	sbuf_done(&c.only);
	return c.n ? -1 : 0;
}

/* Someone who moves from `kubectl apply` to `kubectl apply --server-side` owns under another name what the annotation
 * says was applied before: kubectl may take that over.  A new reference. */
static json_t *allowed_conflicts(const struct stamp *s, const char *manager, const json_t *live)
{
	const char *text;
	json_auto_t *last = NULL;
	struct err ignored = ERR_INIT;

	if (!streq(manager, KUBECTL))
		return NULL;
	text = json_string_value(json_object_get(jsonx_at(live, "metadata.annotations"), LAST_APPLIED));
	if (!text || jsonx_parse(text, strlen(text), NULL, NULL, &last, &ignored) < 0 || !json_is_object(last))
		return NULL;
	return fieldset_leaves(s->type, s->scope, last);
}

/* --- apply --- */

/* Whoever uses both kinds of apply must find the annotation telling the truth, or the next `kubectl apply` would bring
 * back, or fail to remove, what was applied here. */
static void refresh_last_applied(const struct stamp *s, const struct apply_request *req, const json_t *config,
				 json_t *obj)
{
	json_t *annotations = jsonx_at(obj, "metadata.annotations");
	json_auto_t *plain = NULL;
	struct sbuf text;

	if (!str_same(req->manager, KUBECTL) || !json_object_get(annotations, LAST_APPLIED))
		return;
	plain = jsonx_copy(config);
	json_object_set_new(plain, "apiVersion", json_string(s->api_version));
	json_object_set_new(plain, "kind", json_string(req->kind->kind));
	json_object_del(jsonx_at(plain, "metadata.annotations"), LAST_APPLIED);
	sbuf_init(&text, LIMIT_ANNOTATIONS);
	jsonx_dump(plain, &text);
	sbuf_addc(&text, '\n');
	if (text.over) /* too large to keep: none is better than a wrong one */
		json_object_del(annotations, LAST_APPLIED);
	else
		json_object_set_new(annotations, LAST_APPLIED, jsonx_stringn(text.p, text.n));
	sbuf_done(&text);
}

/* The union of all sets, with `mine` for the applying manager; a new reference. */
static json_t *owned_by_anyone(const struct managers *m, const struct manager *self, const json_t *mine)
{
	json_t *all = json_incref((json_t *)mine);

	for (size_t i = 0; i < m->n; i++) {
		json_t *wider = &m->v[i] == self ? NULL : fieldset_union(all, m->v[i].set);

		if (&m->v[i] == self)
			continue;
		json_decref(all);
		all = wider;
	}
	return all;
}

static void first_record(const struct stamp *s, const json_t *live, struct managers *m)
{
	struct manager first = {
		.name = FIRST_MANAGER, .api_version = s->api_version, .subresource = "", .time = s->time
	};
	json_auto_t *removed = NULL;

	fieldset_compare(s->type, s->scope, NULL, live, &first.set, &removed);
	if (first.set)
		managers_add(m, first);
}

/* The manager's entry, made if there is none.  Other pointers into m are stale after this. */
static struct manager *own_entry(struct managers *m, struct manager self)
{
	struct manager *mine = managers_find(m, &self);

	return mine ? mine : managers_add(m, self);
}

/* Makes the record tell the outcome; equal sets and an unchanged object leave our entry as it was. */
static void settle(struct managers *m, struct manager *mine, const struct manager *self, json_t *set,
		   const json_t *changed, const json_t *removed)
{
	managers_subtract(m, mine, changed);
	managers_subtract(m, mine, removed);
	if (changed || removed || !fieldset_equal(mine->set, set)) {
		mine->json = NULL;
		mine->time = self->time;
		mine->api_version = self->api_version;
	}
	manager_set(mine, json_incref(set));
}

static int merge_live(const struct stamp *s, const struct apply_request *req, const json_t *live, const json_t *config,
		      json_t *obj, struct err *e)
{
	auto_managers struct managers m = { 0 };
	const struct manager self = stamped(s, req, true);
	json_auto_t *set = fieldset_leaves(s->type, s->scope, config);
	json_auto_t *changed = NULL, *removed = NULL, *owned = NULL, *allowed = NULL;
	struct manager *mine;

	managers_read(entries_of(live), true, &m);
	if (m.n == 0)
		first_record(s, live, &m);
	mine = own_entry(&m, self);
	if (apply_overlay(s->type, s->scope, obj, config, e) < 0)
		return -1;
	owned = owned_by_anyone(&m, mine, set);
	apply_prune(s->type, s->scope, obj, mine->set, owned);
	fieldset_compare(s->type, s->scope, live, obj, &changed, &removed);
	allowed = allowed_conflicts(s, self.name, live);
	if (!req->force && check_conflicts(&m, mine, changed, allowed, e) < 0)
		return -1;
	settle(&m, mine, &self, set, changed, removed);
	set_entries(obj, managers_write(&m));
	refresh_last_applied(s, req, config, obj);
	return 0;
}

static int merge_new(const struct stamp *s, const struct apply_request *req, json_t *obj, struct err *e)
{
	auto_managers struct managers m = { 0 };
	struct manager self = stamped(s, req, true);
	json_auto_t *empty = json_object();

	/* Over nothing, for its complaints: duplicate keys would make the record ambiguous. */
	if (apply_overlay(s->type, s->scope, empty, obj, e) < 0)
		return -1;
	self.set = fieldset_leaves(s->type, s->scope, obj);
	managers_add(&m, self);
	set_entries(obj, managers_write(&m));
	return 0;
}

int apply_merge(const struct apply_request *req, const json_t *live, const json_t *config, json_t **ret_obj,
		struct err *e)
{
	json_auto_t *obj = NULL;
	struct stamp s;

	if (!json_is_object(config))
		return err_set(e, ERR_BAD_REQUEST, "an apply patch must be an object");
	if (json_array_size(entries_of(config)))
		return err_set(e, ERR_BAD_REQUEST, "metadata.managedFields must be nil");
	stamp_init(&s, req);
	obj = jsonx_copy(live ? live : config);
	if ((live ? merge_live(&s, req, live, config, obj, e) : merge_new(&s, req, obj, e)) < 0)
		return -1;
	*ret_obj = TAKE(obj);
	return 0;
}
