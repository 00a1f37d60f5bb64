// SPDX-License-Identifier: Apache-2.0
/* pbs_element.c - see pbs_element.h */
#include "kinds/pbs_element.h"

#include "base/jsonx.h"
#include "base/mem.h"

#define INDEXES  "indexes"
#define MOST_SET (1u << 20)

/* Maps, of which an entry has some keys. */
static bool is_map(const char *field)
{
	return streq(field, "resources") || streq(field, "env") || streq(field, "mail");
}

bool pbs_element_field(const char *field)
{
	static const char *const fields[] = {
		"account",          "env",       "errorPath", "executionTime", "joinPath", "keepFiles",
		"killDelaySeconds", "mail",      "name",      "outputPath",    "priority", "queue",
		"rerunnable",       "resources", "shell",     "umask"
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(fields[i], field))
			return true;
	return false;
}

/* ---- reading ---- */

void pbs_element_read(const char *text, struct pbs_set *ret)
{
	struct err e = ERR_INIT;
	struct pbs_set set = { 0 };
	int slots; /* have a field of their own */

	if (text && *text && pbs_array_parse(text, &set, &slots, &e) == 0)
		*ret = set;
}

static struct pbs_set indexes_of(const json_t *entry)
{
	struct pbs_set set = { 0 };

	pbs_element_read(jsonx_str(entry, INDEXES), &set);
	return set;
}

const json_t *pbs_element_entry(const json_t *spec, int index)
{
	json_t *entry;
	size_t i;

	if (index < 0)
		return NULL;
	json_array_foreach (json_object_get(spec, "elements"), i, entry) {
		struct pbs_set set = indexes_of(entry);
		bool has = pbs_set_has(&set, index);

		pbs_set_done(&set);
		if (has)
			return entry;
	}
	return NULL;
}

json_t *pbs_element_spec(const json_t *spec, int index)
{
	const json_t *entry = pbs_element_entry(spec, index);
	json_t *own;
	const char *field;
	json_t *v;

	if (!entry)
		return json_incref((json_t *)spec);
	own = json_copy((json_t *)spec);
	json_object_foreach ((json_t *)entry, field, v) {
		json_t *was = json_object_get(own, field);

		/* Holds of the array hold its elements as well. */
		if (streq(field, INDEXES) || streq(field, "hold"))
			continue;
		if (is_map(field) && json_is_object(was) && json_is_object(v)) {
			json_t *map = json_copy(was);

			json_object_update(map, v);
			json_object_set_new(own, field, map);
		} else {
			json_object_set(own, field, v);
		}
	}
	return own;
}

json_t *pbs_element_view(const json_t *job, int index)
{
	const json_t *spec = json_object_get(job, "spec");
	json_t *view;

	if (!pbs_element_entry(spec, index))
		return json_incref((json_t *)job);
	view = json_copy((json_t *)job);
	json_object_set_new(view, "spec", pbs_element_spec(spec, index));
	return view;
}

void pbs_element_held(const json_t *spec, struct pbs_set *held)
{
	struct pbs_set set = { 0 };
	json_t *entry;
	size_t i;

	pbs_element_read(jsonx_str(spec, "elementHold"), &set);
	pbs_set_unite(held, &set);
	pbs_set_done(&set);
	json_array_foreach (json_object_get(spec, "elements"), i, entry) {
		if (streq(jsonx_str_or(entry, "hold", "n"), "n"))
			continue;
		set = indexes_of(entry);
		pbs_set_unite(held, &set);
		pbs_set_done(&set);
	}
}

/* ---- writing ---- */

/* What is done to the fields of some elements. */
struct edit {
	const json_t *changes; /* a merge patch, or NULL: */
	const char *letters;
	bool release;
};

static void merge_map(json_t *fields, const char *field, const json_t *more)
{
	const json_t *was = json_object_get(fields, field);
	json_t *map = json_is_object(was) ? json_copy((json_t *)was) : json_object();
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)more, key, v)
		if (json_is_null(v))
			json_object_del(map, key);
		else
			json_object_set(map, key, v);
	if (json_object_size(map))
		json_object_set(fields, field, map);
	else
		json_object_del(fields, field);
	json_decref(map);
}

static void edit_letters(json_t *fields, const struct edit *e)
{
	const char *was = jsonx_str_or(fields, "hold", "n");
	char out[8];
	size_t n = 0;

	for (const char *c = "os"; *c; c++)
		if (e->release ? strchr(was, *c) && !strchr(e->letters, *c) : strchr(was, *c) || strchr(e->letters, *c))
			out[n++] = *c;
	out[n] = 0;
	if (n)
		json_object_set_new(fields, "hold", json_string(out));
	else
		json_object_del(fields, "hold");
}

static json_t *edited(const json_t *fields, const struct edit *e)
{
	json_t *all = fields ? json_copy((json_t *)fields) : json_object();
	const char *field;
	json_t *v;

	json_object_del(all, INDEXES);
	if (!e->changes)
		edit_letters(all, e);
	json_object_foreach ((json_t *)e->changes, field, v)
		if (json_is_null(v))
			json_object_del(all, field);
		else if (is_map(field) && json_is_object(v))
			merge_map(all, field, v);
		else
			json_object_set(all, field, v);
	return all;
}

/* These elements have these fields (taken over); those that have the same already are in one entry with them. */
static void put(json_t *list, struct pbs_set *elements, json_t *fields)
{
	auto_sbuf struct sbuf text = SBUF(MOST_SET);
	json_t *entry;
	size_t i;

	json_object_del(fields, INDEXES);
	if (!elements->n || !json_object_size(fields)) {
		json_decref(fields);
		return;
	}
	json_array_foreach (list, i, entry) {
		json_auto_t *bare = json_copy(entry);
		struct pbs_set more;

		json_object_del(bare, INDEXES);
		if (!json_equal(bare, fields))
			continue;
		more = indexes_of(entry);
		pbs_set_unite(elements, &more);
		pbs_set_done(&more);
		json_array_remove(list, i);
		break;
	}
	pbs_set_text(elements, &text);
	json_object_set_new(fields, INDEXES, json_string(text.p ? text.p : ""));
	json_array_append_new(list, fields);
}

static json_t *edit(const json_t *list, const struct pbs_set *elements, const struct edit *e)
{
	json_t *out = json_array();
	struct pbs_set rest = { 0 };
	json_t *entry;
	size_t i;

	pbs_set_unite(&rest, elements);
	json_array_foreach ((json_t *)list, i, entry) {
		struct pbs_set others = indexes_of(entry);
		struct pbs_set some = { 0 };

		pbs_set_unite(&some, &others);
		pbs_set_subtract(&others, elements);
		pbs_set_subtract(&some, &others);
		pbs_set_subtract(&rest, &some);
		put(out, &others, json_copy(entry));
		put(out, &some, edited(entry, e));
		pbs_set_done(&others);
		pbs_set_done(&some);
	}
	put(out, &rest, edited(NULL, e));
	pbs_set_done(&rest);
	if (json_array_size(out))
		return out;
	json_decref(out);
	return json_null();
}

json_t *pbs_element_change(const json_t *list, const struct pbs_set *elements, const json_t *changes)
{
	return edit(list, elements, &(struct edit){ .changes = changes });
}

json_t *pbs_element_hold(const json_t *list, const struct pbs_set *elements, const char *letters, bool release)
{
	return edit(list, elements, &(struct edit){ .letters = letters, .release = release });
}

/* What of `now` differs from `old`, as a patch that takes it out of entries. */
static json_t *taken_back(const json_t *now, const json_t *old)
{
	json_t *out = json_object();
	json_auto_t *all = json_object();
	const char *field;
	json_t *v;

	json_object_update(all, (json_t *)old);
	json_object_update(all, (json_t *)now);
	json_object_foreach (all, field, v) {
		const json_t *a = json_object_get(now, field);
		const json_t *b = json_object_get(old, field);

		/* A hold of the array comes on top of theirs. */
		if (streq(field, "elements") || streq(field, "hold") || (a && b && json_equal(a, b)))
			continue;
		json_object_set_new(out, field, is_map(field) ? taken_back(a, b) : json_null());
	}
	return out;
}

void pbs_element_overrule(json_t *spec, const json_t *old)
{
	const json_t *list = json_object_get(spec, "elements");
	json_auto_t *less = NULL;
	struct pbs_set all = { 0 };
	json_t *left;

	if (!json_array_size(list) || !jsonx_equal(list, json_object_get(old, "elements")))
		return;
	less = taken_back(spec, old);
	if (!json_object_size(less))
		return;
	pbs_element_read(jsonx_str(spec, "array.request"), &all);
	left = pbs_element_change(list, &all, less);
	pbs_set_done(&all);
	if (json_is_null(left))
		json_object_del(spec, "elements");
	else
		json_object_set(spec, "elements", left);
	json_decref(left);
}
