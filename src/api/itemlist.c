// SPDX-License-Identifier: Apache-2.0
/* itemlist.c - keys of list items, see itemlist.h
 *
 * Two versions of a list mostly have the same items in the same places, so a search first looks where the caller
 * points; only a list that was reordered pays for a hash index.
 */
#include "api/itemlist.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define MAX_KEYS 8 /* the longest in Kubernetes has three */

/* How the items of one list are told apart. */
struct rule {
	struct typeref list;
	enum list_type type;
	struct str keys[MAX_KEYS]; /* by name, as FieldsV1 writes them */
	size_t nkeys;
};

static int compare_names(const void *a, const void *b)
{
	const struct str *x = a, *y = b;
	int c = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return c ? c : x->n < y->n ? -1 : x->n > y->n;
}

static void add_value(struct sbuf *out, const json_t *v)
{
	if (json_is_string(v))
		sbuf_add_json_string(out, json_string_value(v), json_string_length(v));
	else
		jsonx_dump(v, out);
}

static bool add_map_key(const struct rule *r, const json_t *item, struct sbuf *out)
{
	size_t found = 0;

	sbuf_adds(out, "k:{");
	for (size_t i = 0; i < r->nkeys; i++) {
		const json_t *v = json_object_getn(item, r->keys[i].p, r->keys[i].n);
		json_auto_t *dflt = !v || json_is_null(v) ? typeref_key_default(r->list, r->keys[i]) : NULL;

		if (dflt)
			v = dflt;
		if (!v || json_is_null(v))
			continue;
		if (found++)
			sbuf_addc(out, ',');
		sbuf_add_json_string(out, r->keys[i].p, r->keys[i].n);
		sbuf_addc(out, ':');
		add_value(out, v);
	}
	sbuf_addc(out, '}');
	return found > 0;
}

static void add_key(const struct rule *r, const json_t *item, size_t i, struct sbuf *out)
{
	size_t start = out->n;

	if (r->type == LIST_SET) {
		sbuf_adds(out, "v:");
		add_value(out, item);
	} else if (!json_is_object(item) || !add_map_key(r, item, out)) {
		out->n = start;
		sbuf_addf(out, "i:%zu", i);
	}
	sbuf_addc(out, '\0');
}

void itemlist_init(struct itemlist *l, struct typeref t, const json_t *list)
{
	struct rule r = { .list = t, .type = typeref_list_type(t) };
	const json_t *item;
	size_t i;

	*l = (struct itemlist){ .list = list, .n = json_array_size(list) };
	sbuf_init(&l->text, SIZE_MAX / 4); /* the list is already in memory: its keys are no larger */
	map_init(&l->index, NULL);
	if (l->n == 0)
		return;
	r.nkeys = typeref_list_keys(t, r.keys, MAX_KEYS);
	qsort(r.keys, r.nkeys, sizeof(r.keys[0]), compare_names);
	l->at = xreallocarray(NULL, l->n, sizeof(*l->at));
	json_array_foreach (list, i, item) {
		l->at[i] = l->text.n;
		add_key(&r, item, i, &l->text);
	}
}

void itemlist_done(struct itemlist *l)
{
	free(l->at);
	sbuf_done(&l->text);
	map_done(&l->index);
}

const char *itemlist_key(const struct itemlist *l, size_t i)
{
	return l->text.p + l->at[i];
}

size_t itemlist_find(struct itemlist *l, const char *key, size_t hint)
{
	if (hint < l->n && streq(itemlist_key(l, hint), key))
		return hint;
	for (size_t i = 0; !l->indexed && i < l->n; i++)
		if (!map_find(&l->index, itemlist_key(l, i)))
			map_set(&l->index, itemlist_key(l, i), (void *)(uintptr_t)(i + 1));
	l->indexed = true;
	return (size_t)(uintptr_t)map_find(&l->index, key) - 1; /* 0 - 1 is SIZE_MAX */
}
