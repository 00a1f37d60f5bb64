// SPDX-License-Identifier: Apache-2.0
/* patch_strategic.c - Kubernetes' strategic merge: like RFC 7386, but lists merge as the field tables say
 *
 * A list with a merge key is a map in disguise: patch items find their live item by that key.  A list marked
 * FIELD_SET is a set of scalars.  Other lists are replaced.  Directives in the patch refine this:
 *
 *	"$patch": "replace" | "delete"      in a map: take the patch as it is | empty the map
 *	                                    in an item of a keyed list: these items are the list | remove this item
 *	"$retainKeys": [names]              drop live members that are not named
 *	"$deleteFromPrimitiveList/x": [v]   remove these scalars from list x
 *	"$setElementOrder/x": [keys]        order list x; without it the order of the patch's own items counts
 *
 * No directive ever reaches the object: whatever is taken over as it is goes through copy_plain().
 */
#include "api/patch.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

#define DIRECTIVE_PATCH  "$patch"
#define DIRECTIVE_RETAIN "$retainKeys"
#define PREFIX_DELETE    "$deleteFromPrimitiveList/"
#define PREFIX_ORDER     "$setElementOrder/"

static int merge_object(const struct message *m, json_t *obj, const json_t *patch, struct err *e);

static bool is_directive(const char *key)
{
	return streq(key, DIRECTIVE_PATCH) || streq(key, DIRECTIVE_RETAIN) || str_starts(key, PREFIX_DELETE) ||
	       str_starts(key, PREFIX_ORDER);
}

/* A copy without nulls, directives and list items that only carry a directive. */
static json_t *copy_plain(const json_t *v)
{
	json_t *out;
	const char *key;
	json_t *child;
	size_t i;

	if (json_is_object(v)) {
		out = json_object();
		json_object_foreach ((json_t *)v, key, child)
			if (!json_is_null(child) && !is_directive(key))
				json_object_set_new(out, key, copy_plain(child));
		return out;
	}
	if (!json_is_array(v))
		return jsonx_copy(v);
	out = json_array();
	json_array_foreach (v, i, child) {
		if (!json_object_get(child, DIRECTIVE_PATCH))
			json_array_append_new(out, copy_plain(child));
	}
	return out;
}

/* What tells one item from another: its key's value, or itself if the list holds scalars.  Owned; NULL if there is no
 * key. */
static char *item_id(const json_t *item, const char *merge_key)
{
	const json_t *id = merge_key ? json_object_get(item, merge_key) : item;
	struct sbuf text;

	if (!id || json_is_object(id) || json_is_array(id) || json_is_null(id))
		return NULL;
	sbuf_init(&text, LIMIT_BODY);
	jsonx_dump(id, &text);
	return sbuf_steal(&text);
}

/* Position of each item in a list by its id, 1-based so that 0 is "not there".  The first of two equal ids counts. */
static void index_list(struct map *index, const json_t *list, const char *merge_key)
{
	const json_t *item;
	size_t i;

	map_init(index, NULL);
	json_array_foreach (list, i, item) {
		auto_free char *id = item_id(item, merge_key);

		if (id && !map_find(index, id))
			map_set(index, id, (void *)(uintptr_t)(i + 1));
	}
}

static size_t index_find(const struct map *index, const char *id)
{
	return id ? (size_t)(uintptr_t)map_find(index, id) : 0;
}

/* --- the order of a merged list --- */

struct placed {
	json_t *item;
	size_t live; /* where it was in the live list, 0: nowhere */
	size_t rank; /* where the order names it */
};

static int by_rank(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_live(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->live < y->live ? -1 : x->live > y->live;
}

/* Items that `order` names come in its order; the others keep their place relative to those that were live before. */
static json_t *order_list(const json_t *merged, const json_t *order, const json_t *live, const char *merge_key)
{
	size_t n = json_array_size(merged);
	auto_free struct placed *named = xcalloc(n + 1, sizeof(*named));
	auto_free struct placed *others = xcalloc(n + 1, sizeof(*others));
	size_t nnamed = 0, nothers = 0;
	json_t *out = json_array();
	struct map ranks, places;
	json_t *item;
	size_t i;

	index_list(&ranks, order, merge_key);
	index_list(&places, live, merge_key);
	json_array_foreach (merged, i, item) {
		auto_free char *id = item_id(item, merge_key);
		struct placed p = { item, index_find(&places, id), index_find(&ranks, id) };

		if (p.rank)
			named[nnamed++] = p;
		else
			others[nothers++] = p;
	}
	/* Equal ids cannot occur in `named`, and `others` were all live: neither sort needs to be stable, but for
	 * live duplicates, whose order means nothing. */
	qsort(named, nnamed, sizeof(*named), by_rank);
	qsort(others, nothers, sizeof(*others), by_live);
	for (size_t l = 0, r = 0; l < nnamed || r < nothers;) {
		bool left = r == nothers ||
			    (l < nnamed && named[l].live && others[r].live && named[l].live < others[r].live);

		json_array_append(out, left ? named[l++].item : others[r++].item);
	}
	map_done(&ranks);
	map_done(&places);
	return out;
}

/* --- lists --- */

static json_t *merge_scalars(const json_t *live, const json_t *patch)
{
	json_t *out = json_array();
	const json_t *const both[] = { live, patch };
	struct map seen;
	json_t *item;
	size_t i;

	map_init(&seen, NULL);
	for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
		json_array_foreach (both[k], i, item) {
			auto_free char *id = item_id(item, NULL);

			if (id && map_find(&seen, id))
				continue;
			if (id)
				map_set(&seen, id, out);
			json_array_append_new(out, jsonx_copy(item));
		}
	}
	map_done(&seen);
	return out;
}

/* A list of scalars without those in `gone`. */
static json_t *drop_scalars(const json_t *live, const json_t *gone)
{
	json_t *out = json_array();
	struct map index;
	json_t *item;
	size_t i;

	index_list(&index, gone, NULL);
	json_array_foreach (live, i, item) {
		auto_free char *id = item_id(item, NULL);

		if (!index_find(&index, id))
			json_array_append(out, item);
	}
	map_done(&index);
	return out;
}

/* Items of the patch, sorted by what they ask for. */
struct keyed_patch {
	json_t *items;   /* to merge: borrowed items without a $patch */
	json_t *deleted; /* items whose key names what must go */
	bool replace;
};

static int sort_items(const struct field *f, const json_t *patch, struct keyed_patch *k, struct err *e)
{
	json_t *item;
	size_t i;

	json_array_foreach (patch, i, item) {
		const json_t *directive = json_object_get(item, DIRECTIVE_PATCH);
		const char *what = json_string_value(directive);
		auto_free char *id = item_id(item, f->merge_key);

		if (!json_is_object(item))
			return err_set(e, ERR_BAD_REQUEST, "%s[%zu]: an item of this list must be an object", f->name,
				       i);
		if (directive && what && streq(what, "replace")) {
			k->replace = true;
			continue;
		}
		if (!id)
			return err_set(e, ERR_BAD_REQUEST, "%s[%zu]: map does not contain declared merge key: %s",
				       f->name, i, f->merge_key);
		if (!directive)
			json_array_append(k->items, item);
		else if (what && streq(what, "delete"))
			json_array_append(k->deleted, item);
		else
			return err_set(e, ERR_BAD_REQUEST, "%s[%zu]: unknown $patch directive", f->name, i);
	}
	return 0;
}

/* Live items but the deleted, with patch items merged in, new ones behind. */
static json_t *merge_items(const struct field *f, const json_t *live, const struct keyed_patch *k, struct err *e)
{
	json_auto_t *out = json_array();
	struct map gone, where;
	json_t *item;
	size_t i;

	index_list(&gone, k->deleted, f->merge_key);
	json_array_foreach (live, i, item) {
		auto_free char *id = item_id(item, f->merge_key);

		if (!index_find(&gone, id))
			json_array_append_new(out, jsonx_copy(item));
	}
	map_done(&gone);
	index_list(&where, out, f->merge_key);
	json_array_foreach (k->items, i, item) {
		auto_free char *id = item_id(item, f->merge_key);
		size_t at = index_find(&where, id);

		if (!at) {
			json_array_append_new(out, copy_plain(item));
			map_set(&where, id, (void *)(uintptr_t)json_array_size(out));
		} else if (merge_object(f->msg, json_array_get(out, at - 1), item, e) < 0) {
			map_done(&where);
			err_prefix(e, "%s[%zu]", f->name, i);
			return NULL;
		}
	}
	map_done(&where);
	return TAKE(out);
}

static json_t *merge_keyed(const struct field *f, const json_t *live, const json_t *patch, const json_t *order,
			   struct err *e)
{
	json_auto_t *items = json_array();
	json_auto_t *deleted = json_array();
	json_auto_t *merged = NULL;
	struct keyed_patch k = { .items = items, .deleted = deleted };

	if (sort_items(f, patch, &k, e) < 0)
		return NULL;
	if (k.replace)
		return copy_plain(items);
	merged = merge_items(f, live, &k, e);
	return merged ? order_list(merged, order ? order : items, live, f->merge_key) : NULL;
}

/* The order that the patch gives must name the patch's own items, in their order; kubectl never sends another. */
static int check_order(const struct field *f, const json_t *patch, const json_t *order, struct err *e)
{
	const char *merge_key = f->merge_key;
	struct map ranks;
	size_t last = 0;
	json_t *item;
	size_t i;
	int rc = 0;

	index_list(&ranks, order, merge_key);
	json_array_foreach (patch, i, item) {
		auto_free char *id = item_id(item, merge_key);
		size_t rank = index_find(&ranks, id);

		if (json_object_get(item, DIRECTIVE_PATCH) || !id)
			continue;
		if (rank <= last && rc == 0)
			rc = err_set(e, ERR_BAD_REQUEST,
				     "the order in patch list %s doesn't match $setElementOrder list", f->name);
		last = rank;
	}
	map_done(&ranks);
	return rc;
}

static bool list_merges(const struct field *f)
{
	return f && f->shape == SHAPE_LIST && (f->merge_key || f->flags & FIELD_SET);
}

/* Replaces obj's list `name` by what the patch's list (or NULL) and the order (or NULL) make of it. */
static int merge_list(const struct field *f, json_t *obj, const json_t *patch, const json_t *order, struct err *e)
{
	const json_t *live = json_object_get(obj, f->name);
	json_auto_t *merged = NULL;
	json_t *out;

	if (!json_is_array(live))
		live = NULL;
	if (!live && !patch)
		return 0;
	if (order && check_order(f, patch, order, e) < 0)
		return -1;
	if (f->merge_key) {
		out = merge_keyed(f, live, patch, order, e);
		if (!out)
			return -1;
	} else {
		merged = merge_scalars(live, patch);
		out = order_list(merged, order ? order : patch, live, NULL);
	}
	json_object_set_new(obj, f->name, out);
	return 0;
}

/* --- maps --- */

static int retain_keys(json_t *obj, const json_t *patch, const json_t *names, struct err *e)
{
	struct map keep;
	const char *key;
	json_t *value;
	void *next;
	size_t i;
	int rc = 0;

	if (!json_is_array(names))
		return err_set(e, ERR_BAD_REQUEST, "$retainKeys must be a list of names");
	map_init(&keep, NULL);
	json_array_foreach (names, i, value) {
		if (json_is_string(value))
			map_set(&keep, json_string_value(value), obj);
	}
	json_object_foreach ((json_t *)patch, key, value)
		if (!is_directive(key) && !json_is_null(value) && !map_find(&keep, key) && rc == 0)
			rc = err_set(e, ERR_BAD_REQUEST, "$retainKeys must name every field of the patch, also %s",
				     key);
	if (rc == 0)
		json_object_foreach_safe (obj, next, key, value)
			if (!map_find(&keep, key))
				json_object_del(obj, key);
	map_done(&keep);
	return rc;
}

static int delete_scalars(json_t *obj, const char *name, const json_t *gone, struct err *e)
{
	const json_t *live = json_object_get(obj, name);

	if (!json_is_array(gone))
		return err_set(e, ERR_BAD_REQUEST, PREFIX_DELETE "%s must be a list", name);
	if (json_is_array(live))
		json_object_set_new(obj, name, drop_scalars(live, gone));
	return 0;
}

/* A field's own message if its value is one, or the message of a map's values. */
static const struct message *member_message(const struct field *f, bool values)
{
	return f && f->type == FIELD_OBJECT && f->shape == (values ? SHAPE_MAP : SHAPE_ONE) ? f->msg : NULL;
}

/* A map with string keys: each value is merged by the message of the values. */
static int merge_map(const struct message *values, json_t *obj, const json_t *patch, struct err *e);

static int merge_member(const struct field *f, json_t *obj, const char *key, const json_t *value, struct err *e)
{
	json_t *live = json_object_get(obj, key);

	if (json_is_null(value)) {
		json_object_del(obj, key);
		return 0;
	}
	if (json_is_array(value) && list_merges(f) && json_is_array(live))
		return merge_list(f, obj, value, NULL, e);
	if (!json_is_object(value) || !json_is_object(live) || (f && f->flags & FIELD_REPLACE)) {
		json_object_set_new(obj, key, copy_plain(value));
		return 0;
	}
	if (f && f->shape == SHAPE_MAP)
		return merge_map(member_message(f, true), live, value, e);
	return merge_object(member_message(f, false), live, value, e);
}

/* Does what $patch and $retainKeys ask for.  True if that was all. */
static bool directives_done(json_t *obj, const json_t *patch, int *ret, struct err *e)
{
	const json_t *directive = json_object_get(patch, DIRECTIVE_PATCH);
	const json_t *retain = json_object_get(patch, DIRECTIVE_RETAIN);
	const char *what = json_string_value(directive);

	*ret = 0;
	if (!directive) {
		if (retain)
			*ret = retain_keys(obj, patch, retain, e);
		return *ret < 0;
	}
	if (!what || (!streq(what, "replace") && !streq(what, "delete") && !streq(what, "merge")))
		*ret = err_set(e, ERR_BAD_REQUEST, "unknown $patch directive");
	else if (streq(what, "merge"))
		return false;
	else
		json_object_clear(obj);
	if (*ret == 0 && streq(what, "replace")) {
		json_auto_t *plain = copy_plain(patch);

		json_object_update(obj, plain);
	}
	return true;
}

static int merge_map(const struct message *values, json_t *obj, const json_t *patch, struct err *e)
{
	const struct field value_row = { .name = "", .type = FIELD_OBJECT, .shape = SHAPE_ONE, .msg = values };
	const char *key;
	json_t *value;
	int rc;

	if (directives_done(obj, patch, &rc, e))
		return rc;
	json_object_foreach ((json_t *)patch, key, value)
		if (!is_directive(key) && merge_member(values ? &value_row : NULL, obj, key, value, e) < 0)
			return err_prefix(e, "%s", key);
	return 0;
}

/* Does this list take part in ordering by directive, and so is merged with it? */
static const json_t *order_of(const json_t *patch, const char *name)
{
	auto_free char *key = xasprintf(PREFIX_ORDER "%s", name);

	return json_object_get(patch, key);
}

static int merge_ordered(const struct message *m, json_t *obj, const json_t *patch, const char *name,
			 const json_t *order, struct err *e)
{
	const struct field *f = m ? message_field(m, name) : NULL;
	const json_t *list = json_object_get(patch, name);

	if (!json_is_array(order))
		return err_set(e, ERR_BAD_REQUEST, PREFIX_ORDER "%s must be a list", name);
	if (!list_merges(f) || (list && !json_is_array(list)))
		return 0;
	return merge_list(f, obj, list, order, e);
}

static int merge_object(const struct message *m, json_t *obj, const json_t *patch, struct err *e)
{
	const char *key;
	json_t *value;
	int rc;

	if (directives_done(obj, patch, &rc, e))
		return rc;
	/* Deletions first: an order or a value in the same patch is about what remains. */
	json_object_foreach ((json_t *)patch, key, value)
		if (str_starts(key, PREFIX_DELETE) && delete_scalars(obj, key + strlen(PREFIX_DELETE), value, e) < 0)
			return -1;
	json_object_foreach ((json_t *)patch, key, value)
		if (str_starts(key, PREFIX_ORDER) &&
		    merge_ordered(m, obj, patch, key + strlen(PREFIX_ORDER), value, e) < 0)
			return -1;
	json_object_foreach ((json_t *)patch, key, value) {
		const struct field *f = m ? message_field(m, key) : NULL;

		if (is_directive(key) || (json_is_array(value) && list_merges(f) && order_of(patch, key)))
			continue;
		if (merge_member(f, obj, key, value, e) < 0)
			return err_prefix(e, "%s", key);
	}
	return 0;
}

int patch_strategic(const struct message *m, json_t *obj, const json_t *patch, struct err *e)
{
	if (!json_is_object(patch))
		return err_set(e, ERR_BAD_REQUEST, "a strategic merge patch must be an object");
	return merge_object(m, obj, patch, e);
}
