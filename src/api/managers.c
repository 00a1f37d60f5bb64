// SPDX-License-Identifier: Apache-2.0
/* managers.c - reads and writes metadata.managedFields, see managers.h
 *
 * An entry that nobody touched is written back as the very JSON it was read from, so that a write which changes nothing
 * leaves the object byte for byte as it was.
 */
#include "api/managers.h"

#include "api/fieldset.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define MAX_UPDATERS 10 /* Kubernetes' figure */
#define OLD_UPDATERS "ancient-changes"

static const char *text_or(const json_t *entry, const char *name, const char *fallback)
{
	const char *s = json_string_value(json_object_get(entry, name));

	return s ? s : fallback;
}

static bool read_entry(const json_t *entry, bool stored, struct manager *ret)
{
	const json_t *set = json_object_get(entry, "fieldsV1");
	const char *operation = text_or(entry, "operation", "");

	if (!json_is_object(entry) || (!streq(operation, "Apply") && !streq(operation, "Update")))
		return false;
	if (!streq(text_or(entry, "fieldsType", ""), "FieldsV1") || (set && !fieldset_valid(set, stored)))
		return false;
	*ret = (struct manager){
		.json = entry,
		.name = text_or(entry, "manager", ""),
		.applies = streq(operation, "Apply"),
		.api_version = text_or(entry, "apiVersion", ""),
		.subresource = text_or(entry, "subresource", ""),
		.time = text_or(entry, "time", ""),
		.set = json_incref((json_t *)set),
	};
	return true;
}

bool managers_read(const json_t *entries, bool stored, struct managers *ret)
{
	auto_managers struct managers m = { 0 };
	struct manager one;
	const json_t *entry;
	size_t i;

	*ret = (struct managers){ 0 };
	json_array_foreach (entries, i, entry) {
		if (!read_entry(entry, stored, &one))
			return false;
		managers_add(&m, one);
	}
	*ret = m;
	m = (struct managers){ 0 };
	return true;
}

void managers_done(struct managers *m)
{
	for (size_t i = 0; i < m->n; i++)
		json_decref(m->v[i].set);
	free(m->v);
}

struct manager *managers_find(const struct managers *m, const struct manager *like)
{
	for (size_t i = 0; i < m->n; i++) {
		struct manager *v = &m->v[i];

		if (v->applies == like->applies && streq(v->name, like->name) &&
		    streq(v->subresource, like->subresource) &&
		    (v->applies || streq(v->api_version, like->api_version)))
			return v;
	}
	return NULL;
}

struct manager *managers_add(struct managers *m, struct manager one)
{
	ARRAY_PUSH(m->v, m->n, m->cap, one);
	return &m->v[m->n - 1];
}

void manager_set(struct manager *m, json_t *set)
{
	if (!fieldset_equal(m->set, set))
		m->json = NULL;
	json_decref(m->set);
	m->set = set;
}

void managers_subtract(struct managers *m, const struct manager *spare, const json_t *paths)
{
	if (!paths)
		return;
	for (size_t i = 0; i < m->n; i++)
		if (&m->v[i] != spare)
			manager_set(&m->v[i], fieldset_difference(m->v[i].set, paths));
}

static void drop_empty(struct managers *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (json_object_size(m->v[i].set) == 0)
			json_decref(m->v[i].set);
		else
			m->v[kept++] = m->v[i];
	}
	m->n = kept;
}

/* Appliers first, then the older ones. */
static int by_age(const void *a, const void *b)
{
	const struct manager *x = a, *y = b;
	int c = x->applies != y->applies ? (x->applies ? -1 : 1) : strcmp(x->time, y->time);

	c = c ? c : strcmp(x->name, y->name);
	c = c ? c : strcmp(x->api_version, y->api_version);
	return c ? c : strcmp(x->subresource, y->subresource);
}

/* The oldest updater of the same version before `end`, or NULL. */
static struct manager *same_version_before(struct managers *m, struct manager *one)
{
	for (struct manager *v = m->v; v < one; v++)
		if (!v->applies && streq(v->api_version, one->api_version))
			return v;
	return NULL;
}

/* Clients come and go under new names; without a ceiling an object that many have touched would only grow.  Entries are
 * sorted: each one too many is poured into the oldest of its version, which loses its name. */
static void cap_updaters(struct managers *m)
{
	size_t updaters = 0;

	for (size_t i = 0; i < m->n; i++)
		updaters += !m->v[i].applies;
	for (size_t i = 0; i < m->n && updaters > MAX_UPDATERS; i++) {
		struct manager *one = &m->v[i];
		struct manager *bucket = one->applies ? NULL : same_version_before(m, one);

		if (!bucket)
			continue;
		manager_set(bucket, fieldset_union(bucket->set, one->set));
		bucket->json = NULL;
		bucket->name = OLD_UPDATERS;
		bucket->subresource = "";
		bucket->time = one->time;
		json_decref(TAKE(one->set));
		updaters--;
	}
	drop_empty(m);
}

static json_t *write_entry(const struct manager *m)
{
	json_t *e;

	if (m->json)
		return json_incref((json_t *)m->json);
	e = json_object();
	json_object_set_new(e, "manager", jsonx_string(m->name));
	json_object_set_new(e, "operation", json_string_nocheck(m->applies ? "Apply" : "Update"));
	json_object_set_new(e, "apiVersion", jsonx_string(m->api_version));
	if (*m->time)
		json_object_set_new(e, "time", jsonx_string(m->time));
	json_object_set_new(e, "fieldsType", json_string_nocheck("FieldsV1"));
	json_object_set(e, "fieldsV1", m->set);
	if (*m->subresource)
		json_object_set_new(e, "subresource", jsonx_string(m->subresource));
	return e;
}

json_t *managers_write(struct managers *m)
{
	json_t *out;

	drop_empty(m);
	if (m->n == 0)
		return NULL;
	if (m->n > 1)
		qsort(m->v, m->n, sizeof(*m->v), by_age);
	if (m->n > MAX_UPDATERS)
		cap_updaters(m);
	out = json_array();
	for (size_t i = 0; i < m->n; i++)
		json_array_append_new(out, write_entry(&m->v[i]));
	return out;
}

void manager_print(const struct manager *m, struct sbuf *out)
{
	sbuf_add_json_string(out, m->name, strlen(m->name));
	if (*m->subresource) {
		sbuf_adds(out, " with subresource ");
		sbuf_add_json_string(out, m->subresource, strlen(m->subresource));
	}
	if (!m->applies)
		sbuf_addf(out, " using %s", m->api_version);
}
