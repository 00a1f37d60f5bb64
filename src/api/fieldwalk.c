// SPDX-License-Identifier: Apache-2.0
/* fieldwalk.c - which paths an object has, and which differ between two versions of it
 *
 * Both walks follow the object and its type together.  A path ends at a scalar, at a value that is owned as a whole
 * (atomic maps and lists) and at anything empty.  Who applies an object owns these ends, the keys of maps and the items
 * of keyed lists; who creates or updates it owns every node that came into being.
 *
 * This runs on every write.  All ends of one walk therefore share a single {} node, and types are looked up only for
 * objects and arrays: a string is an end whatever its type.
 */
#include "api/fieldset.h"
#include "api/itemlist.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* Members that a walk passes over. */
struct skip {
	const char *const *names; /* NULL-terminated */
	const struct skip *metadata;
};

/* What Kubernetes strips from every set; the type and the whole metadata come with the tables below. */
static const char *const skip_meta_names[] = { "name",       "namespace",     "creationTimestamp",
					       "selfLink",   "uid",           "clusterName",
					       "generation", "managedFields", "resourceVersion",
					       NULL };
static const struct skip skip_meta = { skip_meta_names, NULL };
static const char *const skip_all_names[] = { "apiVersion", "kind", NULL };
static const char *const skip_main_names[] = { "apiVersion", "kind", "status", NULL };
static const char *const skip_status_names[] = { "apiVersion", "kind", "metadata", "spec", NULL };

static const struct skip scopes[] = {
	[SCOPE_ALL] = { skip_all_names, &skip_meta },
	[SCOPE_MAIN] = { skip_main_names, &skip_meta },
	[SCOPE_STATUS] = { skip_status_names, &skip_meta },
};

static bool skips(const struct skip *s, const char *key)
{
	for (size_t i = 0; s && s->names[i]; i++)
		if (streq(s->names[i], key))
			return true;
	return false;
}

bool fieldset_skips(enum fieldset_scope scope, const char *member)
{
	return skips(&scopes[scope], member);
}

static const struct skip *below(const struct skip *s, const char *key)
{
	return s && streq(key, "metadata") ? s->metadata : NULL;
}

struct walk {
	json_t *end; /* the one {} */
	bool all;    /* every node is a member, not only ends, keys and items */
};

static bool is_container(const json_t *v)
{
	return json_is_object(v) || json_is_array(v);
}

static bool is_granular_list(struct typeref t, const json_t *v)
{
	return json_is_array(v) && typeref_list_type(t) != LIST_ATOMIC;
}

static bool is_granular_map(struct typeref t, const json_t *v)
{
	return json_is_object(v) && !typeref_atomic(t);
}

/* Adds a node (taken; NULL is none) under "f:name". */
static void add_field(json_t **kids, const char *name, json_t *node)
{
	size_t n = strlen(name);
	char small[128];
	auto_free char *large = NULL;
	char *key = small;

	if (!node)
		return;
	if (!*kids)
		*kids = json_object();
	if (n + 3 > sizeof(small))
		key = large = xmalloc(n + 3);
	key[0] = 'f';
	key[1] = ':';
	memcpy(key + 2, name, n + 1);
	json_object_setn_new_nocheck(*kids, key, n + 2, node);
}

static void add_item(json_t **kids, const char *key, json_t *node)
{
	if (!node)
		return;
	if (!*kids)
		*kids = json_object();
	json_object_set_new_nocheck(*kids, key, node);
}

static json_t *start_node(const struct walk *w, bool member)
{
	json_t *kids = NULL;

	if (member) {
		kids = json_object();
		json_object_set_nocheck(kids, ".", w->end);
	}
	return kids;
}

static json_t *finish_node(const struct walk *w, bool member, json_t *kids)
{
	if (member && json_object_size(kids) == 1) {
		json_decref(kids);
		return json_incref(w->end);
	}
	return kids;
}

static json_t *walk_value(const struct walk *w, struct typeref t, const json_t *v, bool member);

static json_t *walk_map(const struct walk *w, struct typeref t, const json_t *v, bool member, const struct skip *skip)
{
	json_t *kids = start_node(w, member);
	const char *key;
	json_t *child;

	json_object_foreach ((json_t *)v, key, child) {
		if (skips(skip, key))
			continue;
		if (!is_container(child)) {
			/* Applying null asks for nothing, so it owns nothing. */
			if (w->all || !json_is_null(child))
				add_field(&kids, key, json_incref(w->end));
		} else if (below(skip, key)) {
			add_field(&kids, key, walk_map(w, typeref_member(t, key), child, false, below(skip, key)));
		} else {
			add_field(&kids, key,
				  walk_value(w, typeref_member(t, key), child, w->all || !typeref_named(t, key)));
		}
	}
	return finish_node(w, member, kids);
}

static json_t *walk_list(const struct walk *w, struct typeref t, const json_t *v, bool member)
{
	json_t *kids = start_node(w, member);
	struct typeref item = typeref_item(t);
	auto_itemlist struct itemlist l = { 0 };

	itemlist_init(&l, t, v);
	for (size_t i = 0; i < l.n; i++)
		add_item(&kids, itemlist_key(&l, i), walk_value(w, item, json_array_get(v, i), true));
	return finish_node(w, member, kids);
}

static json_t *walk_value(const struct walk *w, struct typeref t, const json_t *v, bool member)
{
	if (is_granular_map(t, v) && json_object_size(v))
		return walk_map(w, t, v, member, NULL);
	if (is_granular_list(t, v) && (json_array_size(v) || !w->all))
		return walk_list(w, t, v, member);
	return json_incref(w->end);
}

json_t *fieldset_leaves(struct typeref t, enum fieldset_scope scope, const json_t *v)
{
	json_auto_t *end = json_object();
	struct walk w = { .end = end };

	return walk_map(&w, t, v, false, &scopes[scope]);
}

/* --- comparison --- */

/* Nodes under construction; NULL while there is nothing to say. */
struct diff {
	json_t *changed, *removed;
};

static void diff_value(const struct walk *w, struct typeref t, const json_t *old, const json_t *v, struct diff *d);
static void diff_map(const struct walk *w, struct typeref t, const json_t *old, const json_t *v,
		     const struct skip *skip, struct diff *d);

static void diff_member(const struct walk *w, struct typeref t, const char *key, const json_t *old, const json_t *v,
			const struct skip *skip, struct diff *d)
{
	struct diff inner = { 0 };
	struct typeref mt;

	if (old == v)
		return;
	if (!is_container(old) && !is_container(v)) {
		if (!v)
			inner.removed = json_incref(w->end);
		else if (!old || !jsonx_equal(old, v))
			inner.changed = json_incref(w->end);
	} else {
		mt = typeref_member(t, key);
		/* A struct that is always there neither comes nor goes, only its members do. */
		if (below(skip, key) || typeref_struct(mt)) {
			old = old ? old : w->end;
			v = v ? v : w->end;
		}
		if (below(skip, key))
			diff_map(w, mt, old, v, below(skip, key), &inner);
		else
			diff_value(w, mt, old, v, &inner);
	}
	add_field(&d->changed, key, inner.changed);
	add_field(&d->removed, key, inner.removed);
}

static void diff_map(const struct walk *w, struct typeref t, const json_t *old, const json_t *v,
		     const struct skip *skip, struct diff *d)
{
	size_t rest = json_object_size(old); /* members of old not seen yet: none spares the looking up */
	const char *key;
	json_t *child;

	json_object_foreach ((json_t *)v, key, child) {
		const json_t *was = rest ? json_object_get(old, key) : NULL;

		rest -= was != NULL;
		if (!skips(skip, key))
			diff_member(w, t, key, was, child, skip, d);
	}
	if (rest == 0)
		return;
	json_object_foreach ((json_t *)old, key, child)
		if (!json_object_get(v, key) && !skips(skip, key))
			diff_member(w, t, key, child, NULL, skip, d);
}

static void diff_list(const struct walk *w, struct typeref t, const json_t *old, const json_t *v, struct diff *d)
{
	struct typeref item = typeref_item(t);
	auto_itemlist struct itemlist was = { 0 };
	auto_itemlist struct itemlist is = { 0 };

	itemlist_init(&was, t, old);
	itemlist_init(&is, t, v);
	for (size_t i = 0; i < is.n; i++) {
		const char *key = itemlist_key(&is, i);
		size_t at = itemlist_find(&was, key, i);
		struct diff inner = { 0 };

		diff_value(w, item, at == SIZE_MAX ? NULL : json_array_get(old, at), json_array_get(v, i), &inner);
		add_item(&d->changed, key, inner.changed);
		add_item(&d->removed, key, inner.removed);
	}
	for (size_t i = 0; i < was.n; i++)
		if (itemlist_find(&is, itemlist_key(&was, i), i) == SIZE_MAX)
			add_item(&d->removed, itemlist_key(&was, i), walk_value(w, item, json_array_get(old, i), true));
}

/* A value whose shape changed: a map became a string, a list became null. */
static void diff_shapes(const struct walk *w, struct typeref t, const json_t *old, const json_t *v, struct diff *d)
{
	json_auto_t *before = walk_value(w, t, old, true);

	d->changed = walk_value(w, t, v, true);
	d->removed = fieldset_difference(before, d->changed);
}

static void diff_value(const struct walk *w, struct typeref t, const json_t *old, const json_t *v, struct diff *d)
{
	bool maps, lists;

	if (old == v)
		return;
	if (!old || !v) {
		json_t *node = walk_value(w, t, v ? v : old, true);

		*(v ? &d->changed : &d->removed) = node;
		return;
	}
	maps = is_granular_map(t, old) && is_granular_map(t, v);
	lists = is_granular_list(t, old) && is_granular_list(t, v);
	if (maps)
		diff_map(w, t, old, v, NULL, d);
	else if (lists)
		diff_list(w, t, old, v, d);
	else if (!jsonx_equal(old, v))
		diff_shapes(w, t, old, v, d);
}

void fieldset_compare(struct typeref t, enum fieldset_scope scope, const json_t *old, const json_t *v,
		      json_t **ret_changed, json_t **ret_removed)
{
	json_auto_t *end = json_object();
	struct walk w = { .end = end, .all = true };
	struct diff d = { 0 };

	diff_map(&w, t, old ? old : end, v, &scopes[scope], &d);
	*ret_changed = d.changed;
	*ret_removed = d.removed;
}
