// SPDX-License-Identifier: Apache-2.0
/* apply_object.c - overlay and prune, the two halves of an apply, see apply_object.h
 *
 * Values are copied in from the configuration, never shared, because the object is defaulted in place afterwards.
 */
#include "api/apply_object.h"

#include "api/itemlist.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* --- overlay --- */

static int overlay_map(struct typeref t, json_t *obj, const json_t *config, struct err *e);
static json_t *overlay_list(struct typeref t, const json_t *live, const json_t *config, struct err *e);

/* A new reference: what `config` makes of `live` (borrowed, may be NULL, may be changed). */
static json_t *overlay_value(struct typeref t, json_t *live, const json_t *config, struct err *e)
{
	if (json_is_array(config) && typeref_list_type(t) != LIST_ATOMIC)
		return overlay_list(t, json_is_array(live) ? live : NULL, config, e);
	if (json_is_object(config) && !typeref_atomic(t)) {
		json_auto_t *base = json_is_object(live) ? json_incref(live) : json_object();

		return overlay_map(t, base, config, e) < 0 ? NULL : TAKE(base);
	}
	return live && jsonx_equal(live, config) ? json_incref(live) : jsonx_copy(config);
}

static int overlay_member(struct typeref t, json_t *obj, const char *key, const json_t *config, struct err *e)
{
	json_t *live = json_object_get(obj, key);
	json_t *out;

	if (json_is_null(config))
		return 0;
	out = overlay_value(typeref_member(t, key), live, config, e);
	if (!out)
		return err_prefix(e, "%s", key);
	if (out == live)
		json_decref(out);
	else
		json_object_set_new(obj, key, out);
	return 0;
}

static int overlay_map(struct typeref t, json_t *obj, const json_t *config, struct err *e)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)config, key, value)
		if (overlay_member(t, obj, key, value, e) < 0)
			return -1;
	return 0;
}

/* An item that nothing identifies, or two that the same does, cannot be owned. */
static int check_keys(struct itemlist *l, struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *key = itemlist_key(l, i);

		if (key[0] == 'i')
			return err_set(e, ERR_BAD_REQUEST, "element %zu of an associative list omits all key fields",
				       i);
		if (itemlist_find(l, key, SIZE_MAX) != i)
			return err_set(e, ERR_BAD_REQUEST, "duplicate entries for key %.200s", key + 2);
	}
	return 0;
}

/* Two lists while they become one. */
struct zip {
	struct itemlist live, config;
	size_t l, r;   /* how far we are in each */
	size_t shared; /* next configured item that is live too */
};

enum zip_step { TAKE_LIVE, SKIP_LIVE, TAKE_CONFIG };

/* Items in both lists come in the order of the configuration; those only in the live list stay behind the item they
 * follow there. */
static enum zip_step zip_next(struct zip *z)
{
	const char *key;

	if (z->l == z->live.n)
		return TAKE_CONFIG;
	key = itemlist_key(&z->live, z->l);
	if (itemlist_find(&z->config, key, z->r) == SIZE_MAX)
		return TAKE_LIVE;
	while (z->shared < z->config.n &&
	       (z->shared < z->r || itemlist_find(&z->live, itemlist_key(&z->config, z->shared), z->l) == SIZE_MAX))
		z->shared++;
	if (z->r == z->config.n)
		return SKIP_LIVE;
	/* A shared item out of turn is merged when the configuration gets to it. */
	return z->shared < z->config.n && !streq(key, itemlist_key(&z->config, z->shared)) ? SKIP_LIVE : TAKE_CONFIG;
}

static json_t *overlay_item(struct typeref item, struct zip *z, struct err *e)
{
	size_t at = itemlist_find(&z->live, itemlist_key(&z->config, z->r), z->l);
	json_t *live = at == SIZE_MAX ? NULL : json_array_get(z->live.list, at);

	z->l += at == z->l;
	return overlay_value(item, live, json_array_get(z->config.list, z->r++), e);
}

static int zip_lists(struct typeref item, struct zip *z, json_t *out, struct err *e)
{
	json_t *v;

	while (z->l < z->live.n || z->r < z->config.n) {
		switch (zip_next(z)) {
		case TAKE_LIVE:
			json_array_append(out, json_array_get(z->live.list, z->l++));
			break;
		case SKIP_LIVE:
			z->l++;
			break;
		case TAKE_CONFIG:
			v = overlay_item(item, z, e);
			if (!v)
				return -1;
			json_array_append_new(out, v);
			break;
		}
	}
	return 0;
}

static json_t *overlay_list(struct typeref t, const json_t *live, const json_t *config, struct err *e)
{
	json_auto_t *out = json_array();
	struct zip z = { 0 };
	int rc;

	itemlist_init(&z.live, t, live);
	itemlist_init(&z.config, t, config);
	rc = check_keys(&z.config, e);
	if (rc == 0)
		rc = zip_lists(typeref_item(t), &z, out, e);
	itemlist_done(&z.live);
	itemlist_done(&z.config);
	return rc < 0 ? NULL : TAKE(out);
}

int apply_overlay(struct typeref t, enum fieldset_scope scope, json_t *obj, const json_t *config, struct err *e)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)config, key, value)
		if (!fieldset_skips(scope, key) && overlay_member(t, obj, key, value, e) < 0)
			return -1;
	return 0;
}

/* --- prune --- */

/* Is the place of `node` itself claimed?  A field that the type names is claimed by whoever has anything below it. */
static bool claims(const json_t *node, bool named)
{
	return node && (fieldset_node_member(node) || (named && fieldset_node_inner(node)));
}

static void prune_value(struct typeref t, json_t *v, const json_t *last, const json_t *owned);

static bool became_empty(const json_t *v)
{
	return (json_is_object(v) && json_object_size(v) == 0) || (json_is_array(v) && json_array_size(v) == 0);
}

static void prune_member(struct typeref t, json_t *obj, const char *key, const json_t *last, const json_t *owned)
{
	json_t *v = json_object_get(obj, key);
	bool named = typeref_named(t, key);

	if (!last || !v)
		return;
	if (claims(last, named) && !claims(owned, named)) {
		json_object_del(obj, key);
		return;
	}
	if (!fieldset_node_inner(last) || became_empty(v))
		return;
	prune_value(typeref_member(t, key), v, last, owned);
	/* Kubernetes leaves null behind, which means absent. */
	if (became_empty(v))
		json_object_del(obj, key);
}

static void prune_list(struct typeref t, json_t *list, const json_t *last, const json_t *owned)
{
	auto_itemlist struct itemlist l = { 0 };
	json_auto_t *kept = json_array();

	itemlist_init(&l, t, list);
	for (size_t i = 0; i < l.n; i++) {
		const json_t *mine = fieldset_child(last, itemlist_key(&l, i));
		const json_t *all = fieldset_child(owned, itemlist_key(&l, i));
		json_t *v = json_array_get(list, i);

		if (claims(mine, false) && !claims(all, false))
			continue;
		if (mine)
			prune_value(typeref_item(t), v, mine, all);
		json_array_append(kept, v);
	}
	json_array_clear(list);
	json_array_extend(list, kept);
}

static void prune_value(struct typeref t, json_t *v, const json_t *last, const json_t *owned)
{
	const char *key;
	json_t *child;
	void *next;

	if (json_is_array(v) && typeref_list_type(t) != LIST_ATOMIC) {
		prune_list(t, v, last, owned);
	} else if (json_is_object(v) && !typeref_atomic(t)) {
		json_object_foreach_safe (v, next, key, child)
			prune_member(t, v, key, fieldset_field(last, key), fieldset_field(owned, key));
	}
}

void apply_prune(struct typeref t, enum fieldset_scope scope, json_t *obj, const json_t *last, const json_t *owned)
{
	const char *key;
	json_t *child;
	void *next;

	json_object_foreach_safe (obj, next, key, child)
		if (!fieldset_skips(scope, key))
			prune_member(t, obj, key, fieldset_field(last, key), fieldset_field(owned, key));
}
