// SPDX-License-Identifier: Apache-2.0
/* deployment_history.c - templates over time: one ReplicaSet each, numbered by its annotation
 *
 * The numbers only grow.  A template that comes back keeps its ReplicaSet, which gets the next number and a note of
 * those it had.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/deployment_parts.h"
#include "control/pod_facts.h"
#include "control/template_hash.h"

#define NOTE_HISTORY "deployment.kubernetes.io/revision-history"
#define HISTORY_MAX  2000 /* characters of old numbers; Kubernetes keeps as many */

/* ---- the template ---- */

bool deployment_is_new(const json_t *deployment, const json_t *set)
{
	json_auto_t *template = json_copy(jsonx_at(set, "spec.template"));
	json_t *meta = json_copy(json_object_get(template, "metadata"));
	json_t *labels = json_copy(json_object_get(meta, "labels"));

	json_object_del(labels, LABEL_TEMPLATE_HASH);
	json_object_set_new(meta, "labels", labels);
	json_object_set_new(template, "metadata", meta);
	return jsonx_equal(template, jsonx_at(deployment, "spec.template"));
}

struct replica_set *history_find_fresh(struct rollout *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (deployment_is_new(r->deployment, r->sets[i].obj))
			return &r->sets[i];
	return NULL;
}

/* ---- annotations ---- */

static bool is_ours_to_write(const char *key)
{
	static const char *const keys[] = {
		"kubectl.kubernetes.io/last-applied-configuration",
		"deprecated.deployment.rollback.to",
		NOTE_REVISION,
		NOTE_HISTORY,
		NOTE_DESIRED,
		NOTE_MOST,
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (streq(key, keys[i]))
			return true;
	return false;
}

static void copy_notes(const struct rollout *r, json_t *notes)
{
	const char *key;
	json_t *value;

	json_object_foreach (jsonx_at(r->deployment, "metadata.annotations"), key, value)
		if (!is_ours_to_write(key))
			json_object_set(notes, key, value);
}

static void note_number(json_t *notes, const char *key, int64_t n)
{
	json_object_set_new(notes, key, jsonx_stringf("%" PRId64, n));
}

static void note_size(const struct rollout *r, json_t *notes)
{
	note_number(notes, NOTE_DESIRED, r->want);
	note_number(notes, NOTE_MOST, r->want + r->surge);
}

/* Adds a number to the list of those it had; the oldest go when it becomes too long. */
static void note_past(json_t *notes, const char *number)
{
	const char *past = json_string_value(json_object_get(notes, NOTE_HISTORY));

	while (past && *past && strlen(past) + 1 + strlen(number) > HISTORY_MAX) {
		past = strchr(past, ',');
		past = past ? past + 1 : NULL;
	}
	json_object_set_new(notes, NOTE_HISTORY,
			    past && *past ? jsonx_stringf("%s,%s", past, number) : json_string(number));
}

int64_t history_number(const struct rollout *r)
{
	int64_t last = 0;

	for (size_t i = 0; i < r->n; i++)
		if (is_old(r, &r->sets[i]) && r->sets[i].revision > last)
			last = r->sets[i].revision;
	return r->fresh && r->fresh->revision > last ? r->fresh->revision : last + 1;
}

static void note_revision(const struct rollout *r, json_t *notes)
{
	const char *was = json_string_value(json_object_get(notes, NOTE_REVISION));
	int64_t number = history_number(r);

	if (was && r->fresh->revision >= number)
		return;
	if (was)
		note_past(notes, was);
	note_number(notes, NOTE_REVISION, number);
}

/* ---- ReplicaSets ---- */

static void set_min_ready(json_t *spec, const struct rollout *r)
{
	int64_t seconds = jsonx_int_or(r->deployment, "spec.minReadySeconds", 0);

	if (seconds == jsonx_int_or(spec, "minReadySeconds", 0))
		return;
	if (seconds)
		json_object_set_new(spec, "minReadySeconds", json_integer(seconds));
	else
		json_object_del(spec, "minReadySeconds");
}

json_t *history_make(const struct rollout *r, int64_t size)
{
	const json_t *d = r->deployment;
	const char *ns = jsonx_str_or(d, "metadata.namespace", "");
	json_auto_t *template = jsonx_copy(jsonx_at(d, "spec.template"));
	json_t *selector = jsonx_copy(jsonx_at(d, "spec.selector"));
	auto_free char *hash = template_hash(template, jsonx_int_or(d, "status.collisionCount", 0));
	json_t *notes = json_object();
	json_t *spec;

	jsonx_set_new(template, "metadata.labels." LABEL_TEMPLATE_HASH, json_string(hash));
	jsonx_set_new(selector, "matchLabels." LABEL_TEMPLATE_HASH, json_string(hash));
	copy_notes(r, notes);
	note_number(notes, NOTE_REVISION, history_number(r));
	note_size(r, notes);
	spec = json_pack("{s:I, s:o, s:O}", "replicas", (json_int_t)size, "selector", selector, "template", template);
	set_min_ready(spec, r);
	return json_pack("{s:s, s:s, s:{s:o, s:s, s:O, s:o, s:[o]}, s:o}", "apiVersion", "apps/v1", "kind",
			 "ReplicaSet", "metadata", "name",
			 jsonx_stringf("%s-%s", jsonx_str_or(d, "metadata.name", ""), hash), "namespace", ns, "labels",
			 jsonx_at(template, "metadata.labels"), "annotations", notes, "ownerReferences",
			 controller_ref("apps/v1", "Deployment", d), "spec", spec);
}

json_t *history_update(const struct rollout *r, const struct replica_set *s)
{
	json_auto_t *set = json_copy((json_t *)s->obj);
	json_t *meta = json_copy(json_object_get(set, "metadata"));
	json_t *spec = json_copy(json_object_get(set, "spec"));
	json_t *notes = json_copy(json_object_get(meta, "annotations"));

	if (!notes)
		notes = json_object();
	if (!is_old(r, s)) {
		copy_notes(r, notes);
		note_revision(r, notes);
		set_min_ready(spec, r);
	}
	if (s->sized)
		note_size(r, notes);
	if (s->size != s->replicas)
		json_object_set_new(spec, "replicas", json_integer(s->size));
	if (json_object_size(notes) || json_object_get(meta, "annotations"))
		json_object_set_new(meta, "annotations", notes);
	else
		json_decref(notes);
	json_object_set_new(set, "metadata", meta);
	json_object_set_new(set, "spec", spec);
	return json_equal(set, s->obj) ? NULL : TAKE(set);
}

/* ---- what is too old ---- */

static int by_revision(const void *a, const void *b)
{
	const struct replica_set *const *x = a, *const *y = b;

	if ((*x)->revision != (*y)->revision)
		return (*x)->revision < (*y)->revision ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

/* Without pods, and it knows that it is to have none. */
static bool is_empty(const struct replica_set *s)
{
	return !s->have && !s->replicas && !s->size &&
	       jsonx_int_or(s->obj, "metadata.generation", 0) <= jsonx_int_or(s->obj, "status.observedGeneration", 0);
}

void history_clean(const struct rollout *r, struct deployment_plan *p)
{
	int64_t limit = jsonx_int_or(r->deployment, "spec.revisionHistoryLimit", INT32_MAX);
	auto_free const struct replica_set **old = xcalloc(r->n + 1, sizeof(struct replica_set *));
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (is_old(r, &r->sets[i]) && !jsonx_at(r->sets[i].obj, "metadata.deletionTimestamp"))
			old[n++] = &r->sets[i];
	qsort(old, n, sizeof(struct replica_set *), by_revision);
	for (size_t i = 0; (int64_t)i < (int64_t)n - limit; i++)
		if (is_empty(old[i]))
			ARRAY_PUSH(p->remove, p->nremove, p->remove_cap, old[i]->obj);
}
